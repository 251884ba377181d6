//! Reading of the subschemas in a JSON Schema, and of the parts of a value to which each subschema applies.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use tool_core::schema::dynamic::SchemaFault;
use tool_core::schema::rules::Rule;

use super::graph::Node;
use super::{DEEPEST, refused};

/// Maximum number of subschemas of one schema.
pub(super) const MOST_NODES: usize = 10_000;
/// Keywords whose schema applies to the same value.
const HERE: [&str; 4] = ["not", "if", "then", "else"];
/// Keywords whose list of schemas applies to the same value.
const HERE_MANY: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords whose schemas apply to the same value if the value contains a certain key.
const HERE_NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];

/// The subschemas of a schema.
pub(super) struct Schemas {
    pub(super) nodes: Vec<Node>,
    /// Subschemas that are the target of a reference.
    pub(super) targets: HashSet<usize>,
}

struct Builder<'a> {
    whole: &'a Value,
    known: HashMap<*const Value, usize>,
    nodes: Vec<Node>,
    /// Subschemas that are the target of a reference.
    targets: HashSet<usize>,
    /// Targets of references that are not yet read.
    waiting: Vec<(&'a Value, usize, String)>,
    /// The subschemas with an `$anchor`, or an `$id` that begins with `#`, by that name.
    anchors: HashMap<&'a str, &'a Value>,
}

/// Reads `whole`, which becomes the first node, and every subschema that is reachable from it.
pub(super) fn schemas(whole: &Value) -> Result<Schemas, SchemaFault> {
    let mut builder = Builder {
        whole,
        known: HashMap::new(),
        nodes: Vec::new(),
        targets: HashSet::new(),
        waiting: Vec::new(),
        anchors: HashMap::new(),
    };
    builder.names(whole, &mut String::new(), 0)?;
    builder.node(whole, &mut String::new(), 0)?;
    while let Some((schema, at, mut pointer)) = builder.waiting.pop() {
        builder.fill(schema, at, &mut pointer, 0)?;
    }
    let Builder { nodes, targets, .. } = builder;
    Ok(Schemas { nodes, targets })
}

impl<'a> Builder<'a> {
    /// Collects the anchors, and refuses nested documents and references to other documents, even in unused definitions.
    fn names(
        &mut self,
        value: &'a Value,
        pointer: &mut String,
        depth: usize,
    ) -> Result<(), SchemaFault> {
        if depth > 2 * DEEPEST {
            return Err(too_deep(pointer.clone()));
        }
        let entries = match value {
            Value::Object(entries) => entries,
            Value::Array(items) => {
                return items
                    .iter()
                    .try_for_each(|value| self.names(value, pointer, depth + 1));
            }
            _ => return Ok(()),
        };
        let text = |key| entries.get(key).and_then(Value::as_str);
        if let Some(name) = text("$anchor") {
            self.anchors.insert(name, value);
        }
        if let Some(id) = text("$id").filter(|_| depth > 0) {
            let Some(name) = id.strip_prefix('#') else {
                return Err(refused(&Rule::MCP_ID, pointer.clone(), &[]));
            };
            self.anchors.insert(name, value);
        }
        if let Some(to) = text("$ref").filter(|to| !to.starts_with('#')) {
            return Err(external(to, pointer.clone()));
        }
        for (key, value) in entries {
            // The values of these keywords are data, not schemas.
            if !matches!(key.as_str(), "const" | "default" | "enum" | "examples") {
                let length = pointer.len();
                step(pointer, key);
                self.names(value, pointer, depth + 1)?;
                pointer.truncate(length);
            }
        }
        Ok(())
    }

    /// Returns the node of a schema, and reads the schema if it is new.
    fn node(
        &mut self,
        schema: &'a Value,
        pointer: &mut String,
        depth: usize,
    ) -> Result<usize, SchemaFault> {
        let (at, is_new) = self.reserve(schema)?;
        if is_new {
            self.fill(schema, at, pointer, depth)?;
        }
        Ok(at)
    }

    /// Returns the index of a schema's node, and whether the node is new.
    fn reserve(&mut self, schema: &'a Value) -> Result<(usize, bool), SchemaFault> {
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return Ok((*known, false));
        }
        let at = self.nodes.len();
        if at >= MOST_NODES {
            return Err(refused(
                &Rule::MCP_SUBSCHEMAS,
                String::new(),
                &[&MOST_NODES],
            ));
        }
        self.nodes.push(Node::default());
        self.known.insert(std::ptr::from_ref(schema), at);
        Ok((at, true))
    }

    fn fill(
        &mut self,
        schema: &'a Value,
        at: usize,
        pointer: &mut String,
        depth: usize,
    ) -> Result<(), SchemaFault> {
        if depth > DEEPEST {
            return Err(too_deep(pointer.clone()));
        }
        if let Value::Object(entries) = schema {
            let node = self.keywords(entries, pointer, depth)?;
            self.nodes[at] = node;
        }
        Ok(())
    }

    fn below(
        &mut self,
        schema: &'a Value,
        steps: &[&str],
        pointer: &mut String,
        depth: usize,
    ) -> Result<usize, SchemaFault> {
        let length = pointer.len();
        for name in steps {
            step(pointer, name);
        }
        let node = self.node(schema, pointer, depth + 1);
        pointer.truncate(length);
        node
    }

    fn keywords(
        &mut self,
        entries: &'a Map<String, Value>,
        pointer: &mut String,
        depth: usize,
    ) -> Result<Node, SchemaFault> {
        let mut node = Node::default();
        let mut referred = None;
        for (key, value) in entries {
            let key = key.as_str();
            match (key, value) {
                ("$ref", Value::String(to)) => {
                    let target = self.target(to, pointer)?;
                    let (next, is_new) = self.reserve(target)?;
                    if is_new {
                        self.waiting
                            .push((target, next, to.trim_start_matches('#').to_owned()));
                    }
                    self.targets.insert(next);
                    referred = Some(next);
                    node.here.push(next);
                }
                ("$dynamicRef" | "$recursiveRef", _) => {
                    return Err(refused(&Rule::JSON_REF_DYNAMIC, pointer.clone(), &[&key]));
                }
                (key, value) if HERE.contains(&key) => {
                    node.here.push(self.below(value, &[key], pointer, depth)?);
                }
                (key, Value::Array(branches)) if HERE_MANY.contains(&key) => {
                    for (at, branch) in branches.iter().enumerate() {
                        let step = at.to_string();
                        node.here
                            .push(self.below(branch, &[key, &step], pointer, depth)?);
                    }
                }
                (key, Value::Object(named)) if HERE_NAMED.contains(&key) => {
                    for (name, value) in named.iter().filter(|(_, value)| !value.is_array()) {
                        node.here
                            .push(self.below(value, &[key, name], pointer, depth)?);
                    }
                }
                ("properties", Value::Object(named)) => {
                    for (name, value) in named {
                        let next = self.below(value, &[key, name], pointer, depth)?;
                        node.properties.insert(name.clone(), next);
                    }
                }
                ("patternProperties", Value::Object(named)) => {
                    for (name, value) in named {
                        node.patterns
                            .push(self.below(value, &[key, name], pointer, depth)?);
                    }
                }
                ("additionalProperties" | "unevaluatedProperties", value) => {
                    node.other_keys
                        .push(self.below(value, &[key], pointer, depth)?);
                    node.looks_back |= key == "unevaluatedProperties";
                }
                // A key is a separate value without children.
                ("propertyNames", value) => {
                    node.patterns
                        .push(self.below(value, &[key], pointer, depth)?);
                }
                ("prefixItems" | "items", Value::Array(items)) => {
                    for (at, item) in items.iter().enumerate() {
                        let step = at.to_string();
                        node.prefix
                            .push(self.below(item, &[key, &step], pointer, depth)?);
                    }
                }
                ("items" | "additionalItems", value) => {
                    node.items.push(self.below(value, &[key], pointer, depth)?);
                }
                ("contains" | "unevaluatedItems", value) => {
                    node.every_item
                        .push(self.below(value, &[key], pointer, depth)?);
                    node.looks_back |= key == "unevaluatedItems";
                }
                _ => {}
            }
        }
        // The target of a reference is not nested in the text of this schema.
        let inner = node.below().chain(node.here.iter().copied());
        node.inner = inner.filter(|next| Some(*next) != referred).collect();
        Ok(node)
    }

    /// Returns the target of a reference, which must be in the same document.
    fn target(&self, to: &str, pointer: &str) -> Result<&'a Value, SchemaFault> {
        let found = match to.strip_prefix('#') {
            None => return Err(external(to, pointer.to_owned())),
            Some("") => Some(self.whole),
            Some(path) if path.starts_with('/') => self.whole.pointer(&percent_decoded(path)),
            Some(anchor) => self.anchors.get(anchor).copied(),
        };
        found.ok_or_else(|| refused(&Rule::JSON_REF_MISSING, pointer.to_owned(), &[&to]))
    }
}

fn step(pointer: &mut String, name: &str) {
    pointer.push('/');
    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
}

/// Returns the fault of a reference to another document.
fn external(to: &str, pointer: String) -> SchemaFault {
    refused(&Rule::MCP_REF_EXTERNAL, pointer, &[&to])
}

fn too_deep(pointer: String) -> SchemaFault {
    refused(&Rule::JSON_TOO_DEEP, pointer, &[&DEEPEST])
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = (*first == b'%').then(|| after.get(..2)).flatten();
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
