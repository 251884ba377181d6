//! Conversion of arguments from the tree's form of a missing value to the form of the original schema.
//!
//! A model may omit an optional value or send null for it, but the server that sent the schema may reject one of the two.

use serde_json::{Map, Value};

use super::doc::Doc;
use super::node::{Absence, Node, Owned, Property, class_of};

/// Rewrites validated arguments in place.
pub(super) fn restore(root: &Node, arguments: &mut Value) {
    Restorer { open: Vec::new() }.node(root, arguments);
}

struct Restorer<'a> {
    /// The named nodes around the current one, which references refer to.
    open: Vec<&'a Node>,
}

impl<'a> Restorer<'a> {
    fn node(&mut self, node: &'a Node, value: &mut Value) {
        let held = self.open.len();
        if node.name.is_some() {
            self.open.push(node);
        }
        self.inside(node, value);
        self.open.truncate(held);
    }

    fn inside(&mut self, node: &'a Node, value: &mut Value) {
        match (&node.kind, value) {
            (Owned::Optional(inner) | Owned::Constrained(inner, _), value) => {
                self.node(inner, value);
            }
            (Owned::Array { items, .. }, Value::Array(values)) => {
                for value in values {
                    self.node(items, value);
                }
            }
            (Owned::Tuple(items), Value::Array(values)) => {
                for (item, value) in items.iter().zip(values) {
                    self.node(item, value);
                }
            }
            (Owned::Map(inner), Value::Object(map)) => {
                for value in map.values_mut() {
                    self.node(inner, value);
                }
            }
            (Owned::Object(properties), Value::Object(map)) => self.object(properties, map),
            (Owned::Tagged { tag, variants }, value) => {
                let chosen = value.get(tag).and_then(Value::as_str);
                let variant = variants
                    .iter()
                    .find(|(name, _)| Some(name.as_str()) == chosen);
                if let Some((_, variant)) = variant {
                    self.node(variant, value);
                }
            }
            (Owned::Untagged(variants), value) => {
                if let Some(variant) = variants.iter().find(|variant| matches(variant, value)) {
                    self.node(variant, value);
                }
            }
            (Owned::Ref(name), value) => {
                let target = self
                    .open
                    .iter()
                    .rposition(|open| open.name.as_ref() == Some(name));
                if let Some(at) = target {
                    let target = self.open[at];
                    // The nodes between the target and the reference do not enclose the target.
                    let inner = self.open.split_off(at);
                    self.node(target, value);
                    self.open.truncate(at);
                    self.open.extend(inner);
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, properties: &'a [Property], map: &mut Map<String, Value>) {
        for property in properties {
            match (map.get_mut(&property.name), property.absence) {
                (Some(Value::Null), Absence::LeftOut) => {
                    map.remove(&property.name);
                }
                (Some(value), _) => self.node(&property.node, value),
                (None, Absence::Null) => {
                    map.insert(property.name.clone(), Value::Null);
                }
                (None, _) => {}
            }
        }
    }
}

/// Returns whether this is the variant of an untagged union that accepted the value; the variants are disjoint.
fn matches(variant: &Node, value: &Value) -> bool {
    if variant.classes() & class_of(&Doc::from(value)) == 0 {
        return false;
    }
    let (Owned::Object(properties), Value::Object(map)) = (&variant.kind, value) else {
        return true;
    };
    let needed = |property: &&Property| {
        !matches!(property.node.kind, Owned::Optional(_)) && property.default.is_none()
    };
    let known = map
        .keys()
        .all(|key| properties.iter().any(|property| property.name == *key));
    known
        && properties.iter().filter(needed).all(|property| {
            map.get(&property.name)
                .is_some_and(|value| match (&property.node.kind, value) {
                    (Owned::Enum(values), Value::String(text)) => {
                        values.iter().any(|(held, _)| held == text)
                    }
                    (_, value) => property.node.classes() & class_of(&Doc::from(value)) != 0,
                })
        })
}
