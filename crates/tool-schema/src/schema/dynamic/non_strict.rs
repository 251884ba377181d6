//! Schemas for tools without strict mode: the original, changed only where the provider would reject the request.
//!
//! `docs/rules.md` lists what each provider rejects without strict mode, in the section on tools that are not strict. A
//! keyword that has to be removed is listed in the changes, and stated in a description if it restricts values. Exceptions are keywords
//! of earlier drafts without an equivalent, such as a boolean `required`. Arguments are validated against the original.

mod gemini;
mod root;

use core::fmt::Display;

use serde_json::Value;
use tool_rules::Rule;

use super::doc::Doc;
use super::fault::{SchemaFault, Target, Targets};
use super::judge;
use crate::schema::dialect::Dialect;

/// A schema for a tool without strict mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonStrict {
    /// The schema as sent to the provider.
    pub schema: String,
    /// The differences from the original, and the reasons for them.
    pub changes: Vec<SchemaFault>,
}

/// Adapts a schema to the keywords that this provider accepts for a tool without strict mode. Returns the faults of a schema that the provider
/// would reject in any form.
///
/// ```
/// use serde_json::json;
/// use tool_schema::dialect::Dialect;
/// use tool_schema::dynamic::non_strict;
///
/// let filter = json!({"type": "object", "properties": {"filter": {"type": "object", "additionalProperties": {}}}});
/// let sent = non_strict(&filter, Dialect::Anthropic)?;
/// assert_eq!((sent.schema, sent.changes.len()), (filter.to_string(), 0));
/// # Ok::<(), Vec<tool_schema::dynamic::SchemaFault>>(())
/// ```
pub fn non_strict(schema: &Value, dialect: Dialect) -> Result<NonStrict, Vec<SchemaFault>> {
    adapted(&Doc::from(schema), dialect)
}

/// Adapts a schema whose keys are in order, as [`non_strict`] does.
pub fn adapted(doc: &Doc, dialect: Dialect) -> Result<NonStrict, Vec<SchemaFault>> {
    let mut adapter = Adapter {
        dialect,
        pointer: String::new(),
        depth: 0,
        changes: Vec::new(),
        faults: Vec::new(),
    };
    let mut doc = doc.clone();
    adapter.root(&mut doc);
    if adapter.faults.is_empty() {
        adapter.node(&mut doc);
    }
    if dialect == Dialect::Gemini && adapter.faults.is_empty() {
        let verdicts = judge::judge(&doc);
        adapter
            .faults
            .extend(verdicts.against(Target::Gemini).cloned());
    }
    if adapter.faults.is_empty() {
        Ok(NonStrict {
            schema: doc.text(),
            changes: adapter.changes,
        })
    } else {
        Err(adapter.faults)
    }
}

struct Adapter {
    dialect: Dialect,
    pointer: String,
    depth: usize,
    changes: Vec<SchemaFault>,
    faults: Vec<SchemaFault>,
}

/// Maximum length of a constraint that is repeated in a description, in bytes.
const LONGEST: usize = 400;

/// Keywords whose value is a schema.
const ONE: [&str; 11] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas.
const MANY: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
/// Keywords whose value is an object of schemas.
const NAMED: [&str; 6] = [
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

impl Adapter {
    fn told(&self, rule: &Rule, facts: &[&dyn Display]) -> SchemaFault {
        let targets = Targets::only(Target::from(self.dialect));
        SchemaFault::new(rule, &self.pointer, targets, facts)
    }

    fn change(&mut self, rule: &Rule, facts: &[&dyn Display]) {
        let told = self.told(rule, facts);
        self.changes.push(told);
    }

    fn fault(&mut self, rule: &Rule, facts: &[&dyn Display]) {
        let told = self.told(rule, facts);
        self.faults.push(told);
    }

    const fn is(&self, dialect: Dialect) -> bool {
        self.dialect as u8 == dialect as u8
    }

    fn below(&mut self, steps: &[&str], visit: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        judge::push_steps(&mut self.pointer, steps);
        if self.depth < judge::DEEPEST {
            self.depth += 1;
            visit(self);
            self.depth -= 1;
        } else {
            self.fault(&Rule::JSON_TOO_DEEP, &[&judge::DEEPEST]);
        }
        self.pointer.truncate(length);
    }

    /// Adapts a schema node: the root, or a node below it.
    fn node(&mut self, node: &mut Doc) {
        if let Doc::Boolean(all) = *node
            && !self.is(Dialect::JsonSchema)
        {
            // Clients and providers accept only objects as schemas.
            self.change(&Rule::JSON_BOOLEAN_WRITTEN, &[&all]);
            let never = ("not".to_owned(), Doc::Object(Vec::new()));
            *node = Doc::Object(if all { Vec::new() } else { vec![never] });
        }
        let Doc::Object(entries) = node else {
            return;
        };
        match self.dialect {
            Dialect::OpenAi => self.open_ai(entries),
            Dialect::Anthropic => self.newest_draft(entries),
            Dialect::Gemini => self.gemini(entries),
            // These dialects accept every keyword.
            _ => {}
        }
        for (key, value) in entries {
            self.child(key, value);
        }
    }

    fn child(&mut self, key: &str, value: &mut Doc) {
        match value {
            Doc::Array(items) if MANY.contains(&key) => {
                for (at, item) in items.iter_mut().enumerate() {
                    self.below(&[key, &at.to_string()], |adapter| adapter.node(item));
                }
            }
            Doc::Object(entries) if NAMED.contains(&key) => {
                for (name, value) in entries {
                    // A value of `dependencies` may also be a list of names.
                    if !matches!(value, Doc::Array(_)) {
                        self.below(&[key, name], |adapter| adapter.node(value));
                    }
                }
            }
            // A boolean that closes or opens an object or an array stays unchanged.
            Doc::Boolean(_) if matches!(key, "additionalProperties" | "additionalItems") => {}
            Doc::Boolean(_) if key.starts_with("unevaluated") => {}
            value if ONE.contains(&key) => self.below(&[key], |adapter| adapter.node(value)),
            _ => {}
        }
    }

    /// Removes a keyword from a node and states its value in the node's description.
    fn take_out(&mut self, entries: &mut Vec<(String, Doc)>, key: &str, rule: &Rule) {
        let Some(at) = entries.iter().position(|(name, _)| name == key) else {
            return;
        };
        let (_, value) = entries.remove(at);
        self.change(rule, &[&key]);
        let text = value.text();
        let mut sentence = format!("`{key}`: ");
        if text.len() > LONGEST {
            sentence.push_str(
                text.get(..text.floor_char_boundary(LONGEST))
                    .unwrap_or_default(),
            );
            sentence.push('…');
        } else {
            sentence.push_str(&text);
        }
        let description = entries.iter_mut().find(|(name, _)| name == "description");
        if let Some((_, Doc::String(description))) = description {
            description.push_str(if description.is_empty() { "" } else { "\n" });
            description.push_str(&sentence);
        } else {
            entries.retain(|(name, _)| name != "description");
            entries.push(("description".to_owned(), Doc::String(sentence)));
        }
    }

    fn open_ai(&mut self, entries: &mut Vec<(String, Doc)>) {
        self.take_out(entries, "propertyNames", &Rule::JSON_PROPERTY_NAMES_REMOVED);
        self.tuple(entries);
        let types = kinds(entries);
        if types.contains(&"object") && get(entries, "properties").is_none() {
            self.change(&Rule::JSON_PROPERTIES_ADDED, &[]);
            entries.push(("properties".to_owned(), Doc::Object(Vec::new())));
        }
        if kinds(entries).contains(&"array") && get(entries, "items").is_none() {
            self.change(&Rule::JSON_ITEMS_ADDED, &[]);
            entries.push(("items".to_owned(), Doc::Object(Vec::new())));
        }
    }

    /// Rewrites or removes keywords of earlier drafts and of `OpenAPI`, because Anthropic accepts only draft 2020-12.
    fn newest_draft(&mut self, entries: &mut Vec<(String, Doc)>) {
        self.tuple(entries);
        for (exclusive, bound) in [
            ("exclusiveMinimum", "minimum"),
            ("exclusiveMaximum", "maximum"),
        ] {
            let Some(Doc::Boolean(is_exclusive)) = get(entries, exclusive) else {
                continue;
            };
            let is_exclusive = *is_exclusive;
            self.change(&Rule::JSON_DRAFT_EXCLUSIVE, &[&exclusive]);
            entries.retain(|(name, _)| name != exclusive);
            if is_exclusive
                && let Some((name, _)) = entries.iter_mut().find(|(name, _)| name == bound)
            {
                exclusive.clone_into(name);
            }
        }
        if matches!(get(entries, "required"), Some(Doc::Boolean(_) | Doc::Null)) {
            self.change(&Rule::JSON_DRAFT_REQUIRED, &[]);
            entries.retain(|(name, _)| name != "required");
        }
        if get(entries, "nullable").is_some() && get(entries, "type").is_none() {
            self.change(&Rule::JSON_DRAFT_NULLABLE, &[]);
            entries.retain(|(name, _)| name != "nullable");
        }
    }

    /// Rewrites a tuple of earlier drafts: a list in `items` becomes `prefixItems`, and `additionalItems` becomes `items`.
    fn tuple(&mut self, entries: &mut [(String, Doc)]) {
        let Some(at) = entries
            .iter()
            .position(|(name, value)| name == "items" && matches!(value, Doc::Array(_)))
        else {
            return;
        };
        self.change(&Rule::JSON_DRAFT_ITEMS, &[]);
        if let Some((name, _)) = entries.get_mut(at) {
            "prefixItems".clone_into(name);
        }
        if let Some((name, _)) = entries
            .iter_mut()
            .find(|(name, _)| name == "additionalItems")
        {
            "items".clone_into(name);
        }
    }
}

fn get<'a>(entries: &'a [(String, Doc)], key: &str) -> Option<&'a Doc> {
    entries
        .iter()
        .find(|(name, _)| name == key)
        .map(|(_, value)| value)
}

/// Returns the types in the `type` keyword of a node.
fn kinds(entries: &[(String, Doc)]) -> Vec<&str> {
    match get(entries, "type") {
        Some(Doc::String(name)) => vec![name],
        Some(Doc::Array(names)) => names.iter().filter_map(Doc::as_str).collect(),
        _ => Vec::new(),
    }
}
