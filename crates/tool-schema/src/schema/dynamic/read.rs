//! Reader from JSON Schema to the schema tree.
//!
//! A constraint that the tree cannot express is a fault. A constraint that it can express only loosely (such as a format without a validator or a
//! property count) is written into the description and becomes a note: only the server that sent the schema checks it, not the guard. An object
//! below the root that the reader closes, and branches that it merges, become notes as well.

mod choice;
mod merge;
mod scalar;
mod shape;

use core::fmt::Display;

use tool_rules::Rule;

use super::doc::Doc;
use super::fault::{SchemaFault, Targets};
use super::judge::{DEEPEST, push_steps};
use super::node::{Node, Owned};

/// A schema that was read, with the differences from the original: see [`super::DynSchema::notes`].
pub(super) struct Read {
    pub(super) node: Node,
    pub(super) notes: Vec<SchemaFault>,
}

/// Name of the root node, for a reference to `#`.
const ROOT: &str = "Root";

/// Maximum number of nodes after definitions are expanded: a short text can describe a very large tree.
const MOST_NODES: usize = 20_000;

pub(super) fn read(root: &Doc) -> Result<Read, Vec<SchemaFault>> {
    let mut reader = Reader {
        root,
        faults: Vec::new(),
        notes: Vec::new(),
        pointer: String::new(),
        open: vec!["#".into()],
        names: vec![("#".into(), ROOT.into())],
        depth: 0,
        nodes: 0,
        fuel: merge::Fuel::default(),
    };
    let mut node = reader.node(root, true);
    if let Owned::Optional(inner) = node.kind {
        node = *inner;
    }
    match node.bare().kind {
        Owned::Object(_) | Owned::Map(_) => {}
        Owned::Tagged { .. } | Owned::Untagged(_) => {
            let choices = ["anyOf", "oneOf", "allOf"];
            match choices.iter().find(|keyword| root.has(keyword)) {
                Some(keyword) => reader.fault(&Rule::JSON_ROOT_KEYWORD, &[keyword]),
                None => reader.fault(&Rule::JSON_ROOT_UNION, &[]),
            };
        }
        _ => {
            reader.fault(&Rule::JSON_ROOT_NOT_OBJECT, &[]);
        }
    }
    if refers_at_once(&node, ROOT) {
        reader.fault(&Rule::JSON_REF_ITSELF, &[&"#"]);
    }
    node.name = Some(ROOT.into());
    if reader.faults.is_empty() {
        Ok(Read {
            node,
            notes: reader.notes,
        })
    } else {
        Err(reader.faults)
    }
}

struct Reader<'a> {
    root: &'a Doc,
    faults: Vec<SchemaFault>,
    notes: Vec<SchemaFault>,
    pointer: String,
    /// The references whose definitions enclose the current node.
    open: Vec<String>,
    /// References, and the names given to their definitions.
    names: Vec<(String, String)>,
    depth: usize,
    nodes: usize,
    fuel: merge::Fuel,
}

/// Keywords that do not restrict values, or that the reader handles in another place.
const QUIET: &[&str] = &[
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "nullable",
    "discriminator",
    "definitions",
    "xml",
    "externalDocs",
    "contentMediaType",
    "contentEncoding",
    "contentSchema",
    "propertyOrdering",
    "enumNames",
    "markdownDescription",
];

/// Returns whether a keyword does not restrict values, or is handled in another place.
fn quiet(key: &str) -> bool {
    (key.starts_with('$') && key != "$ref" && key != "$dynamicRef")
        || key.starts_with("x-")
        || QUIET.contains(&key)
}

impl Reader<'_> {
    fn fault(&mut self, rule: &Rule, facts: &[&dyn Display]) -> Node {
        let fault = SchemaFault::new(rule, &self.pointer, Targets::ALL, facts);
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
        Node::new(Owned::Any)
    }

    fn note(&mut self, rule: &Rule, facts: &[&dyn Display]) {
        let note = SchemaFault::new(rule, &self.pointer, Targets::NONE, facts);
        self.notes.push(note);
    }

    /// Visits a node below the current one, with the JSON pointer extended by `steps`.
    fn below<T>(&mut self, steps: &[&str], visit: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        push_steps(&mut self.pointer, steps);
        let found = visit(self);
        self.pointer.truncate(length);
        found
    }

    /// Reads a node; `root` marks the schema of the arguments as a whole.
    fn node(&mut self, doc: &Doc, root: bool) -> Node {
        self.nodes += 1;
        if self.nodes > MOST_NODES || self.depth > DEEPEST {
            // Every node that is too deep is reported, but of the nodes beyond the maximum number only the first. Later nodes are skipped.
            if self.nodes <= MOST_NODES + 1 || self.depth > DEEPEST {
                self.nodes = self.nodes.max(MOST_NODES + 1);
                return self.fault(&Rule::JSON_TOO_LARGE, &[&MOST_NODES, &DEEPEST]);
            }
            return Node::new(Owned::Any);
        }
        self.depth += 1;
        let mut node = self.node_inside(doc, root);
        self.depth -= 1;
        if let Some(description) = doc.get("description").and_then(Doc::as_str) {
            // The node's own description replaces the description of a definition.
            node.description = description.trim().to_owned() + &sentences(&node, doc);
        }
        if doc.get("nullable") == Some(&Doc::Boolean(true)) {
            node = node.optional();
        }
        node
    }

    fn node_inside(&mut self, doc: &Doc, root: bool) -> Node {
        match doc {
            Doc::Boolean(true) => return Node::new(Owned::Any),
            Doc::Boolean(false) => return Node::new(Owned::Never),
            Doc::Object(_) => {}
            _ => return self.fault(&Rule::JSON_NOT_SCHEMA, &[]),
        }
        if let Some(refused) = self.refused(doc) {
            return refused;
        }
        if doc.has("$ref") {
            return self.reference(doc);
        }
        if doc.has("allOf") {
            return match merge::all_of(self.root, doc, &mut self.fuel) {
                Ok(merged) => self.node(&merged, root),
                Err(why) => why.fault(self, false),
            };
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = doc.get(keyword) {
                return self.choice_of(doc, keyword, branches.items());
            }
        }
        if let Some(values) = doc.get("enum") {
            return self.listed(doc, values.items());
        }
        if let Some(value) = doc.get("const") {
            return self.listed(doc, core::slice::from_ref(value));
        }
        self.typed(doc, root)
    }

    /// Rejects keywords that the tree cannot express.
    fn refused(&mut self, doc: &Doc) -> Option<Node> {
        const REFUSED: &[(&str, &Rule)] = &[
            ("not", &Rule::JSON_NOT_UNREAD),
            ("if", &Rule::JSON_CONDITION_UNREAD),
            ("dependentRequired", &Rule::JSON_CONDITION_UNREAD),
            ("dependentSchemas", &Rule::JSON_CONDITION_UNREAD),
            ("dependencies", &Rule::JSON_CONDITION_UNREAD),
            ("patternProperties", &Rule::JSON_PATTERN_PROPERTIES_UNREAD),
            ("contains", &Rule::JSON_CONTAINS_UNREAD),
            ("unevaluatedItems", &Rule::JSON_UNEVALUATED_ITEMS_UNREAD),
            ("$dynamicRef", &Rule::JSON_REF_DYNAMIC),
            ("$recursiveRef", &Rule::JSON_REF_DYNAMIC),
        ];
        for (keyword, rule) in REFUSED {
            if *keyword == "not" && is_not_zero(doc) {
                continue;
            }
            let empty = doc.get(keyword).is_none_or(|value| {
                matches!(value, Doc::Object(entries) if entries.is_empty() && *keyword != "not")
            });
            if !empty {
                return Some(self.fault(rule, &[keyword]));
            }
        }
        let names = doc.get("propertyNames");
        if names.is_some_and(|names| {
            *names != Doc::Boolean(true)
                && names.entries().iter().any(|(key, value)| {
                    !(quiet(key) || key == "type" && value.as_str() == Some("string"))
                })
        }) {
            return Some(self.fault(&Rule::JSON_PROPERTY_NAMES_UNREAD, &[]));
        }
        if doc.has("unevaluatedProperties") && (doc.has("anyOf") || doc.has("oneOf")) {
            return Some(self.fault(&Rule::JSON_UNEVALUATED_PROPERTIES_UNREAD, &[]));
        }
        None
    }

    fn reference(&mut self, doc: &Doc) -> Node {
        let Some(to) = doc.get("$ref").and_then(Doc::as_str) else {
            return self.fault(&Rule::JSON_REF_NOT_TEXT, &[]);
        };
        if doc
            .entries()
            .iter()
            .any(|(key, _)| key != "$ref" && !quiet(key))
        {
            // The reference has siblings: schemars writes the tag of an internally tagged enum next to a `$ref`.
            return match merge::beside_reference(self.root, doc, &mut self.fuel) {
                Ok(merged) => self.node(&merged, false),
                Err(why) => why.fault(self, true),
            };
        }
        let name = self.name_for(to);
        if self.open.iter().any(|open| open == to) {
            return Node::new(Owned::Ref(name));
        }
        let Some(target) = to.strip_prefix('#').and_then(|path| self.root.at(path)) else {
            return self.fault(&Rule::JSON_REF_MISSING, &[&to]);
        };
        self.open.push(to.to_owned());
        let mut node = self.node(target, false);
        self.open.pop();
        if refers_at_once(&node, &name) {
            return self.fault(&Rule::JSON_REF_ITSELF, &[&to]);
        }
        // An alias of a definition around this node keeps the name of that definition.
        if !matches!(node.kind, Owned::Ref(_)) {
            node.name = Some(name);
        }
        node
    }

    /// Returns the name of a definition, made unique in the schema.
    fn name_for(&mut self, to: &str) -> String {
        if let Some((_, name)) = self.names.iter().find(|(known, _)| known == to) {
            return name.clone();
        }
        let last = to.rsplit('/').next().unwrap_or(to);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let mut name: String = last
            .chars()
            .map(|c| if plain(c) { c } else { '_' })
            .collect();
        while self.names.iter().any(|(_, taken)| *taken == name) {
            name.push('_');
        }
        self.names.push((to.to_owned(), name.clone()));
        name
    }
}

/// Returns whether a node is a non-zero integer, in the form of `NonZeroI32`'s schema: the only `not` that the tree supports.
fn is_not_zero(doc: &Doc) -> bool {
    let zero = |value: &Doc| value.as_integer() == Some(0);
    let not = doc.get("not");
    doc.types().eq(["integer"])
        && not.is_some_and(|not| not.entries().len() == 1 && not.get("const").is_some_and(zero))
}

/// Returns whether a node is a reference to this name without an object, list, map or tagged union in between: resolving it would never end.
fn refers_at_once(node: &Node, name: &str) -> bool {
    match &node.kind {
        Owned::Ref(to) => to == name,
        Owned::Optional(inner) | Owned::Constrained(inner, _) => refers_at_once(inner, name),
        Owned::Untagged(variants) => variants.iter().any(|variant| refers_at_once(variant, name)),
        _ => false,
    }
}

/// Returns the sentences that the reader added to a node whose description is replaced.
fn sentences(node: &Node, doc: &Doc) -> String {
    // The description of a definition is replaced; sentences that express a keyword are kept.
    if doc.has("$ref") || node.description.is_empty() {
        String::new()
    } else {
        format!(" {}", node.description)
    }
}
