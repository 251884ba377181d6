//! Adaptation of the root of a schema to providers that require an object without `anyOf` and similar keywords.

use tool_rules::Rule;

use super::{Adapter, get, kinds};
use crate::schema::dialect::Dialect;
use crate::schema::dynamic::doc::Doc;
use crate::schema::dynamic::words::key_of;

type Entries = Vec<(String, Doc)>;

/// Maximum number of references in a chain, and of nested choices.
const DEEPEST: usize = 16;

impl Adapter {
    /// Makes the root an object with named properties, as far as the dialect requires it.
    pub(super) fn root(&mut self, root: &mut Doc) {
        let whole = root.clone();
        let Doc::Object(entries) = root else {
            self.fault(&Rule::JSON_ROOT_NOT_OBJECT, &[]);
            return;
        };
        if self.is(Dialect::JsonSchema) {
            return;
        }
        self.inline(entries, &whole);
        match get(entries, "type") {
            Some(Doc::String(name)) if name == "object" => {}
            Some(_) if !kinds(entries).contains(&"object") => {
                self.fault(&Rule::JSON_ROOT_NOT_OBJECT, &[]);
                return;
            }
            _ => {
                self.change(&Rule::JSON_ROOT_TYPE_SET, &[]);
                entries.retain(|(name, _)| name != "type");
                entries.insert(0, ("type".to_owned(), Doc::String("object".to_owned())));
            }
        }
        if self.is(Dialect::Mcp) {
            return;
        }
        self.choices(entries, &whole);
        if self.is(Dialect::Anthropic) {
            let properties = get(entries, "properties").map_or(&[][..], Doc::entries);
            let odd = properties.iter().find(|(name, _)| !key_of(name, true));
            if let Some((name, _)) = odd {
                let name = name.chars().take(64).collect::<String>();
                self.fault(&Rule::JSON_KEY, &[&name]);
            }
        }
    }

    /// Replaces a reference at the root with its target.
    fn inline(&mut self, entries: &mut Entries, whole: &Doc) {
        let mut last = String::new();
        for _ in 0..DEEPEST {
            let Some(to) = get(entries, "$ref")
                .and_then(Doc::as_str)
                .map(str::to_owned)
            else {
                return;
            };
            let Some(Doc::Object(target)) = target(whole, &to) else {
                self.fault(&Rule::JSON_REF_MISSING, &[&to]);
                return;
            };
            self.change(&Rule::JSON_ROOT_INLINED, &[]);
            entries.retain(|(name, _)| name != "$ref");
            for (name, value) in target {
                if get(entries, name).is_none() {
                    entries.push((name.clone(), value.clone()));
                }
            }
            last = to;
        }
        self.fault(&Rule::JSON_REF_ITSELF, &[&last]);
    }

    /// Removes `anyOf` and similar keywords from the root. The properties of all alternatives become properties of the root.
    fn choices(&mut self, entries: &mut Entries, whole: &Doc) {
        let refused: &[&str] = if self.is(Dialect::Anthropic) {
            &["allOf", "anyOf", "oneOf"]
        } else {
            &["allOf", "anyOf", "oneOf", "enum", "not"]
        };
        let found: Vec<&str> = refused
            .iter()
            .copied()
            .filter(|key| get(entries, key).is_some())
            .collect();
        if found.is_empty() {
            return;
        }
        let merged = shape(&Doc::Object(entries.clone()), whole, DEEPEST);
        for key in &found {
            self.take_out(entries, key, &Rule::JSON_ROOT_KEYWORD_REMOVED);
        }
        let Some(merged) = merged else {
            return;
        };
        let own = get(entries, "properties").map_or(0, |own| own.entries().len());
        if merged.properties.len() > own {
            // `additionalProperties` would refuse the properties of the alternatives.
            entries.retain(|(name, _)| name != "additionalProperties");
        }
        let required: Vec<Doc> = merged.required.into_iter().map(Doc::String).collect();
        entries.retain(|(name, _)| name != "properties" && name != "required");
        entries.push(("properties".to_owned(), Doc::Object(merged.properties)));
        if !required.is_empty() {
            entries.push(("required".to_owned(), Doc::Array(required)));
        }
    }
}

/// Returns the target of a reference within the schema.
fn target<'a>(whole: &'a Doc, to: &str) -> Option<&'a Doc> {
    whole.at(to.strip_prefix('#')?)
}

/// The properties that an object may have, and the names of the required ones.
#[derive(Clone, Debug, Default)]
struct Shape {
    properties: Entries,
    required: Vec<String>,
}

/// Collects the properties of an object schema and of its alternatives; `None` if it accepts no object.
fn shape(schema: &Doc, whole: &Doc, levels: usize) -> Option<Shape> {
    if *schema == Doc::Boolean(false) {
        return None;
    }
    if schema.types().next().is_some() && !schema.says_type("object") {
        return None;
    }
    let named = schema.get("required").map_or(&[][..], Doc::items);
    let mut merged = Shape {
        properties: schema
            .get("properties")
            .map_or(&[][..], Doc::entries)
            .to_vec(),
        required: named
            .iter()
            .filter_map(Doc::as_str)
            .map(str::to_owned)
            .collect(),
    };
    let Some(levels) = levels.checked_sub(1) else {
        return Some(merged);
    };
    let referred = schema.get("$ref").and_then(Doc::as_str);
    let referred = referred.and_then(|to| target(whole, to));
    let all = schema.get("allOf").map_or(&[][..], Doc::items);
    for part in referred.into_iter().chain(all) {
        let part = shape(part, whole, levels)?;
        for (name, value) in part.properties {
            both(&mut merged.properties, name, value, "allOf");
        }
        merged.required.extend(part.required);
    }
    for key in ["anyOf", "oneOf"] {
        let Some(branches) = schema.get(key) else {
            continue;
        };
        let shapes = branches
            .items()
            .iter()
            .filter_map(|branch| shape(branch, whole, levels));
        let shapes: Vec<Shape> = shapes.collect();
        let mut choices = Entries::new();
        for (name, value) in shapes.iter().flat_map(|shape| &shape.properties) {
            both(&mut choices, name.clone(), value.clone(), "anyOf");
        }
        for (name, value) in choices {
            both(&mut merged.properties, name, value, "allOf");
        }
        let mut always = shapes.first()?.required.clone();
        always.retain(|name| shapes.iter().all(|shape| shape.required.contains(name)));
        merged.required.extend(always);
    }
    let mut seen = Vec::new();
    merged.required.retain(|name| {
        let is_new = !seen.contains(name);
        seen.push(name.clone());
        is_new
    });
    Some(merged)
}

/// Adds a property. If a different schema exists for the name, both are joined with `key` (`allOf` or `anyOf`).
fn both(properties: &mut Entries, name: String, value: Doc, key: &str) {
    let Some((_, held)) = properties.iter_mut().find(|(held, _)| *held == name) else {
        properties.push((name, value));
        return;
    };
    if *held == value || value == Doc::Boolean(true) || value == Doc::Object(Vec::new()) {
        return;
    }
    if let Doc::Object(entries) = held
        && let [(only, Doc::Array(branches))] = &mut entries[..]
        && only == key
    {
        if !branches.contains(&value) {
            branches.push(value);
        }
        return;
    }
    let before = std::mem::replace(held, Doc::Null);
    *held = Doc::Object(vec![(key.to_owned(), Doc::Array(vec![before, value]))]);
}
