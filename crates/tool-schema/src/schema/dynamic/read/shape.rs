//! The reader of the `type` keyword, objects and arrays.

use tool_rules::Rule;

use super::scalar::{bounded, number};
use super::{Reader, quiet};
use crate::schema::dynamic::doc::Doc;
use crate::schema::dynamic::node::{Absence, Bounds, Node, Owned, Property, class_of};

impl Reader<'_> {
    /// Reads a node by its `type`, or by its other keywords if it has none.
    pub(super) fn typed(&mut self, doc: &Doc, root: bool) -> Node {
        let types: Vec<&str> = doc.types().collect();
        if doc.has("type") && types.is_empty() {
            return self.fault(&Rule::JSON_TYPE_EMPTY, &[]);
        }
        let types = if types.is_empty() {
            guessed(doc)
        } else {
            types
        };
        if types.is_empty() {
            return Node::new(Owned::Any);
        }
        let mut nodes = Vec::new();
        for name in types {
            nodes.push(self.of_type(doc, name, root));
        }
        self.combine(nodes)
    }

    fn of_type(&mut self, doc: &Doc, name: &str, root: bool) -> Node {
        match name {
            "string" => self.string(doc),
            "integer" => number(
                doc,
                Owned::Integer {
                    not_zero: doc.has("not"),
                },
            ),
            "number" => number(doc, Owned::Number),
            "boolean" => Node::new(Owned::Boolean),
            "null" => Node::new(Owned::Null),
            "array" => self.array(doc),
            "object" => self.object(doc, root),
            other => self.fault(&Rule::JSON_TYPE_UNKNOWN, &[&other]),
        }
    }

    fn array(&mut self, doc: &Doc) -> Node {
        let fixed = doc.get("prefixItems").or_else(|| {
            doc.get("items")
                .filter(|items| matches!(items, Doc::Array(_)))
        });
        if let Some(fixed) = fixed {
            return self.tuple(doc, fixed.items());
        }
        let items = match doc.get("items") {
            Some(items) => self.below(&["items"], |reader| reader.node(items, false)),
            None => Node::new(Owned::Any),
        };
        let unique = doc.get("uniqueItems") == Some(&Doc::Boolean(true));
        let bounds = Bounds {
            min_items: doc.get("minItems").and_then(Doc::as_count),
            max_items: doc.get("maxItems").and_then(Doc::as_count),
            ..Bounds::default()
        };
        bounded(
            Owned::Array {
                items: Box::new(items),
                unique,
            },
            bounds,
        )
    }

    fn tuple(&mut self, doc: &Doc, fixed: &[Doc]) -> Node {
        let length = Some(fixed.len());
        let ends = doc.get("items") == Some(&Doc::Boolean(false))
            || doc.get("additionalItems") == Some(&Doc::Boolean(false))
            || doc.get("maxItems").and_then(Doc::as_count) == length;
        let full = doc.get("minItems").and_then(Doc::as_count) == length;
        if !ends || !full {
            return self.fault(&Rule::JSON_TUPLE_OPEN, &[]);
        }
        let items = fixed
            .iter()
            .enumerate()
            .map(|(index, item)| {
                self.below(&["prefixItems", &index.to_string()], |reader| {
                    reader.node(item, false)
                })
            })
            .collect();
        Node::new(Owned::Tuple(items))
    }

    fn object(&mut self, doc: &Doc, root: bool) -> Node {
        let mut words = String::new();
        for (keyword, what) in [("minProperties", "At least"), ("maxProperties", "At most")] {
            if let Some(count) = doc.get(keyword).and_then(Doc::as_count) {
                self.note(&Rule::JSON_PROPERTY_COUNT_STATED, &[]);
                words = format!("{words} {what} {count} properties.");
            }
        }
        let properties = doc.get("properties").map(Doc::entries).unwrap_or_default();
        let additional = doc.get("additionalProperties");
        let mut node = match additional {
            Some(values @ Doc::Object(entries)) if entries.iter().any(|(key, _)| !quiet(key)) => {
                if !properties.is_empty() {
                    return self.fault(&Rule::JSON_MAP_AND_OBJECT, &[]);
                }
                let values = self.below(&["additionalProperties"], |reader| {
                    reader.node(values, false)
                });
                Node::new(Owned::Map(Box::new(values)))
            }
            // An object without properties accepts any keys if `additionalProperties` accepts every value. Below the root, it also does so if
            // `additionalProperties` and `properties` are absent.
            Some(Doc::Boolean(true) | Doc::Object(_)) if properties.is_empty() => {
                Node::new(Owned::Map(Node::boxed(Owned::Any)))
            }
            None if properties.is_empty() && !root && !doc.has("properties") => {
                Node::new(Owned::Map(Node::boxed(Owned::Any)))
            }
            _ => {
                if additional != Some(&Doc::Boolean(false)) && !root {
                    self.note(&Rule::JSON_OBJECT_CLOSED, &[]);
                }
                self.properties(doc, properties)
            }
        };
        node.say(words.trim());
        node
    }

    fn properties(&mut self, doc: &Doc, properties: &[(String, Doc)]) -> Node {
        let required: Vec<&str> = doc
            .get("required")
            .map(Doc::items)
            .unwrap_or_default()
            .iter()
            .filter_map(Doc::as_str)
            .collect();
        for name in &required {
            if !properties.iter().any(|(key, _)| key == name) {
                self.fault(&Rule::JSON_REQUIRED_UNKNOWN, &[name]);
            }
        }
        let fields = properties
            .iter()
            .map(|(name, child)| {
                self.below(&["properties", name], |reader| {
                    reader.property(name, child, required.contains(&name.as_str()))
                })
            })
            .collect();
        Node::new(Owned::Object(fields))
    }

    fn property(&mut self, name: &str, child: &Doc, required: bool) -> Property {
        let mut node = self.node(child, false);
        let mut description = core::mem::take(&mut node.description);
        let nullable = node.classes() & class_of(&Doc::Null) != 0;
        let absence = match (required, nullable) {
            (true, true) => Absence::Null,
            (false, false) => Absence::LeftOut,
            _ => Absence::Either,
        };
        let mut default = None;
        if !required {
            match child
                .get("default")
                .filter(|default| **default != Doc::Null)
            {
                Some(value) if !nullable && fits(&node, value) => default = Some(value.clone()),
                // Null has its own meaning here, or the default does not match, so the default is only stated in the description.
                Some(value) => {
                    let gap = if description.is_empty() { "" } else { " " };
                    description = format!("{description}{gap}Default: {}.", value.text());
                }
                None => {}
            }
        }
        if !required && default.is_none() {
            node = node.optional();
        }
        Property {
            name: name.to_owned(),
            description,
            node,
            default,
            absence,
        }
    }
}

/// Returns the type that the keywords imply, for a node without `type`.
fn guessed(doc: &Doc) -> Vec<&'static str> {
    const SPEAKS: &[(&str, &[&str])] = &[
        (
            "object",
            &[
                "properties",
                "additionalProperties",
                "required",
                "minProperties",
                "maxProperties",
            ],
        ),
        (
            "array",
            &[
                "items",
                "prefixItems",
                "minItems",
                "maxItems",
                "uniqueItems",
            ],
        ),
        ("string", &["pattern", "minLength", "maxLength", "format"]),
        (
            "number",
            &[
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "multipleOf",
            ],
        ),
    ];
    SPEAKS
        .iter()
        .filter(|(_, keywords)| keywords.iter().any(|keyword| doc.has(keyword)))
        .map(|(name, _)| *name)
        .take(1)
        .collect()
}

/// Returns whether a default has the type of the node. The guard inserts such a default if a model omits the property.
fn fits(node: &Node, value: &Doc) -> bool {
    match (&node.inner().kind, value) {
        (Owned::Any, _) => true,
        (Owned::Integer { .. }, value) => value.as_integer().is_some(),
        (Owned::Enum(listed), Doc::String(text)) => listed.iter().any(|(held, _)| held == text),
        (Owned::IntegerEnum(listed), value) => value
            .as_integer()
            .is_some_and(|value| listed.iter().any(|(held, _)| *held == value)),
        (Owned::Array { items, .. }, Doc::Array(values)) => {
            values.iter().all(|value| fits(items, value))
        }
        (Owned::Map(values), Doc::Object(entries)) => {
            entries.iter().all(|(_, value)| fits(values, value))
        }
        (Owned::Object(properties), Doc::Object(entries)) => {
            let known = |(name, value): &(String, Doc)| {
                properties
                    .iter()
                    .any(|property| property.name == *name && fits(&property.node, value))
            };
            let there = |property: &Property| {
                property.absence == Absence::LeftOut
                    || entries.iter().any(|(name, _)| *name == property.name)
            };
            entries.iter().all(known) && properties.iter().all(there)
        }
        // Only the JSON type of the default is checked, because the guard inserts a default without a check of its bounds or its format.
        (Owned::String | Owned::Format(_) | Owned::Number | Owned::Boolean, value) => {
            node.inner().classes() & class_of(value) != 0
        }
        _ => false,
    }
}
