//! Size limits of the providers.

use core::fmt::Display;

use tool_rules::Rule;

use crate::schema::dynamic::doc::Doc;
use crate::schema::dynamic::fault::SchemaFault;

/// The size of a schema.
#[derive(Default)]
struct Count {
    properties: usize,
    values: usize,
    characters: usize,
    /// Number of properties that are not required. Anthropic counts these properties and `unions` without following references.
    optionals: usize,
    unions: usize,
    deepest: usize,
    /// Whether the schema has an enum of more than 250 values with more than 15,000 characters.
    large_enum: bool,
}

pub(super) fn faults(root: &Doc) -> Vec<SchemaFault> {
    let mut count = Count::default();
    count.node(root, 0, true);
    let mut faults = Vec::new();
    let mut over = |broken: bool, rule: &Rule, count: &dyn Display| {
        if broken {
            faults.push(SchemaFault::new(rule, "", rule.targets, &[count]));
        }
    };
    let Count {
        properties,
        values,
        characters,
        optionals,
        unions,
        deepest,
        large_enum,
    } = count;
    over(deepest > 10, &Rule::JSON_DEPTH, &deepest);
    over(deepest > 15, &Rule::JSON_DEPTH_GEMINI, &deepest);
    over(properties > 5000, &Rule::JSON_PROPERTIES, &properties);
    over(characters > 120_000, &Rule::JSON_CHARACTERS, &characters);
    over(values > 1000, &Rule::JSON_ENUM_VALUES, &values);
    over(large_enum, &Rule::JSON_ENUM_CHARACTERS, &"");
    over(optionals > 24, &Rule::JSON_OPTIONALS, &optionals);
    over(unions > 15, &Rule::JSON_UNIONS, &unions);
    faults
}

impl Count {
    /// Counts a node. `open` is false inside of definitions, whose optional fields and unions are not counted.
    fn node(&mut self, node: &Doc, depth: usize, open: bool) {
        let depth = depth + usize::from(node.has("properties"));
        self.deepest = self.deepest.max(depth);
        if depth > super::DEEPEST {
            return;
        }
        let required = node.get("required").map(Doc::items).unwrap_or_default();
        for (key, value) in node.entries() {
            match key.as_str() {
                "properties" => {
                    for (name, child) in value.entries() {
                        self.properties += 1;
                        self.characters += name.chars().count();
                        if open {
                            let needed = required.iter().any(|item| item.as_str() == Some(name));
                            self.optionals += usize::from(!needed);
                            self.unions += usize::from(
                                child.has("anyOf")
                                    || matches!(child.get("type"), Some(Doc::Array(_))),
                            );
                        }
                        self.node(child, depth, open);
                    }
                }
                "$defs" | "definitions" => {
                    for (name, child) in value.entries() {
                        self.characters += name.chars().count();
                        self.node(child, 0, false);
                    }
                }
                "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                    for child in value.items() {
                        self.node(child, depth, open);
                    }
                }
                "items" | "additionalProperties" => self.node(value, depth, open),
                "enum" => self.listed(value.items()),
                "const" => self.characters += value.as_str().map_or(0, |text| text.chars().count()),
                _ => {}
            }
        }
    }

    fn listed(&mut self, values: &[Doc]) {
        let characters: usize = values
            .iter()
            .filter_map(Doc::as_str)
            .map(|text| text.chars().count())
            .sum();
        self.values += values.len();
        self.characters += characters;
        self.large_enum |= values.len() > 250 && characters > 15_000;
    }
}
