//! Schemas read at run time: from an MCP server, a file or a plugin.
//!
//! [`read`] turns JSON Schema (draft 2020-12, draft-07's `definitions`, and the deviations that servers use in practice) into the same tree that a
//! Rust type has. So the same guard validates the arguments, and the same walk writes each provider's dialect. [`judge`] decides which providers
//! accept a schema text unchanged. This module also checks rules that no Rust type can break.

mod doc;
mod fault;
mod freeze;
mod judge;
mod node;
mod non_strict;
mod read;
mod restore;
mod words;

use core::fmt;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::Value;
use tool_rules::Rule;

pub use fault::{SchemaFault, Target, Targets, Verdicts};
pub use non_strict::{NonStrict, non_strict};

use crate::schema::Schema;
use crate::schema::dialect::{self, Dialect};
use crate::schema::rules::{self, Survey};
pub use doc::Doc;
use node::Node;
pub use non_strict::adapted;

/// Decides which targets accept a schema text unchanged.
///
/// ```
/// use serde_json::json;
/// use tool_schema::dynamic::{Target, judge};
///
/// let verdicts = judge(&json!({"type": "object", "properties": {"q": {"type": "string"}}}));
/// assert!(verdicts.accepts(Target::Mcp));
/// assert!(!verdicts.accepts(Target::OpenAi)); // open, and `q` is not required
/// ```
pub fn judge(schema: &Value) -> Verdicts {
    judge::judge(&Doc::from(schema))
}

/// Reads a schema, or returns every reason why it cannot be read.
///
/// The keys of a [`Value`] are sorted unless `serde_json/preserve_order` is enabled. Models write their keys in the order of the
/// schema, so prefer [`read_text`] if you have the text.
///
/// ```
/// use serde_json::json;
/// use tool_schema::dialect::Dialect;
/// use tool_schema::dynamic::read;
///
/// let schema = read(&json!({"type": "object", "properties": {"q": {"type": "string"}}}))?;
/// assert!(schema.text(Dialect::OpenAi).contains(r#""additionalProperties":false"#));
/// assert!(schema.faults(Dialect::OpenAi).is_empty());
/// # Ok::<(), Vec<tool_schema::dynamic::SchemaFault>>(())
/// ```
pub fn read(schema: &Value) -> Result<DynSchema, Vec<SchemaFault>> {
    intern(&Doc::from(schema))
}

/// Reads a schema from its JSON text and preserves the order of its keys.
pub fn read_text(text: &str) -> Result<DynSchema, Vec<SchemaFault>> {
    match serde_json::from_str::<Doc>(text) {
        Ok(doc) => intern(&doc),
        Err(error) => Err(vec![refusal(&Rule::JSON_NOT_JSON, &error)]),
    }
}

/// Reads the schema of a tool's output, whose root may have any type. If the root is not an object or is a union, the schema is wrapped in an
/// object with the single key `result`; the second value is then `true`. Such a schema is refused if it has a reference to anything but a definition.
///
/// ```
/// use serde_json::json;
/// use tool_schema::dynamic::read_output;
///
/// let (_, wrapped) = read_output(&json!({"type": "array", "items": {"type": "string"}}))?;
/// assert!(wrapped);
/// # Ok::<(), Vec<tool_schema::dynamic::SchemaFault>>(())
/// ```
pub fn read_output(schema: &Value) -> Result<(DynSchema, bool), Vec<SchemaFault>> {
    const PLACE: &str = "/properties/result";
    let faults = match read(schema) {
        Ok(schema) => return Ok((schema, false)),
        Err(faults) => faults,
    };
    let at_root = |fault: &SchemaFault| fault.pointer.is_empty() && fault.rule.starts_with("root-");
    // A reference to the root would refer to the wrapper instead.
    if !faults.iter().any(at_root) || refers_to_root(schema) {
        return Err(faults);
    }
    let mut wrapped = serde_json::json!({
        "type": "object",
        "properties": {"result": schema},
        "required": ["result"],
        "additionalProperties": false,
    });
    for key in ["$defs", "definitions"] {
        if let Some(defs) = schema.get(key) {
            wrapped[key] = defs.clone();
        }
    }
    let within = |mut fault: SchemaFault| {
        if let Some(pointer) = fault.pointer.strip_prefix(PLACE) {
            fault.pointer = pointer.to_owned();
        }
        fault
    };
    match read(&wrapped) {
        Ok(schema) => Ok((schema, true)),
        Err(faults) => Err(faults.into_iter().map(within).collect()),
    }
}

fn refers_to_root(schema: &Value) -> bool {
    match schema {
        Value::Object(entries) => entries.iter().any(|(key, value)| match value {
            Value::String(to) if key == "$ref" => {
                !to.starts_with("#/$defs/") && !to.starts_with("#/definitions/")
            }
            other => refers_to_root(other),
        }),
        Value::Array(items) => items.iter().any(refers_to_root),
        _ => false,
    }
}

/// A schema read at run time.
///
/// # Memory
///
/// The tree is `&'static`, like the tree of a Rust type, so it is never freed. Each distinct text of a valid schema is kept for
/// the lifetime of the process, and its tree is created once, however often a server sends the text. All texts together may take at
/// most [`KEPT_LIMIT`] bytes. Above this limit, the rule `limit-kept` rejects new texts. So a server that changes its schemas on every
/// call cannot exhaust the memory.
#[derive(Clone, Copy)]
pub struct DynSchema(&'static Kept);

/// Maximum number of bytes of distinct schema texts that a process keeps. The trees take about ten times as much.
pub const KEPT_LIMIT: usize = 16 << 20;

struct Kept {
    text: String,
    schema: &'static Schema,
    node: Node,
    notes: Vec<SchemaFault>,
}

#[derive(Default)]
struct Interner {
    kept: HashMap<String, &'static Kept>,
    bytes: usize,
}

static INTERNER: LazyLock<Mutex<Interner>> = LazyLock::new(Mutex::default);

fn refusal(rule: &Rule, fact: &dyn fmt::Display) -> SchemaFault {
    SchemaFault::new(rule, "", Targets::ALL, &[fact])
}

/// Reads a schema whose keys are in order, once for each text.
pub fn intern(doc: &Doc) -> Result<DynSchema, Vec<SchemaFault>> {
    let text = doc.text();
    // Nothing panics while the lock is held, and no incomplete entry is ever inserted.
    let mut interner = INTERNER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = interner.kept.get(&text) {
        return Ok(DynSchema(kept));
    }
    let read::Read { node, notes } = read::read(doc)?;
    if interner.bytes + text.len() > KEPT_LIMIT {
        return Err(vec![refusal(&Rule::JSON_KEPT, &KEPT_LIMIT)]);
    }
    interner.bytes += text.len();
    let kept: &'static Kept = Box::leak(Box::new(Kept {
        schema: freeze::freeze(&node),
        text: text.clone(),
        node,
        notes,
    }));
    interner.kept.insert(text, kept);
    Ok(DynSchema(kept))
}

impl DynSchema {
    /// Returns the schema tree, for the guard and other code that walks schemas.
    pub fn schema(self) -> &'static Schema {
        self.0.schema
    }

    /// Returns the original schema as compact JSON text.
    pub fn original(self) -> &'static str {
        &self.0.text
    }

    /// Returns the schema rendered in a provider's dialect.
    pub fn text(self, dialect: Dialect) -> String {
        dialect::schema_text(self.0.schema, dialect)
    }

    /// Returns the size of the schema, as counted against the limits of a request.
    pub fn survey(self) -> Survey {
        rules::survey(self.0.schema)
    }

    /// Returns why a provider would reject the schema even in its own dialect; empty if the provider accepts it.
    pub fn faults(self, dialect: Dialect) -> Vec<SchemaFault> {
        verdicts(&self.text(dialect))
            .against(dialect.into())
            .cloned()
            .collect()
    }

    /// Returns the differences between the original schema and the tree: constraints that only the description states, branches of a choice that
    /// were merged, and open objects below the root that the tree closes. The guard checks only the tree; the server that runs the tool checks the
    /// original.
    pub fn notes(self) -> &'static [SchemaFault] {
        &self.0.notes
    }

    /// Rewrites validated arguments to match the original schema: removes an optional key with the value null if the original does
    /// not accept null, and adds null for a missing key that the original requires and that accepts null.
    pub fn restore(self, arguments: &mut Value) {
        restore::restore(&self.0.node, arguments);
    }
}

/// Renders the schema in each of these dialects, or returns why the provider would reject the schema. Dialects with the same text
/// are checked once.
pub fn judged(
    schema: DynSchema,
    dialects: impl Iterator<Item = Dialect>,
) -> impl Iterator<Item = (Dialect, Result<String, Vec<SchemaFault>>)> {
    let mut known: Vec<(String, Verdicts)> = Vec::new();
    dialects.map(move |dialect| {
        let text = schema.text(dialect);
        let at = known.iter().position(|(other, _)| *other == text);
        let at = at.unwrap_or_else(|| {
            known.push((text.clone(), verdicts(&text)));
            known.len() - 1
        });
        let target = Target::from(dialect);
        let faults = known.get(at).map(|(_, verdicts)| verdicts.against(target));
        let faults: Vec<SchemaFault> = faults.into_iter().flatten().cloned().collect();
        (
            dialect,
            if faults.is_empty() {
                Ok(text)
            } else {
                Err(faults)
            },
        )
    })
}

/// Checks a schema text that this crate rendered.
fn verdicts(text: &str) -> Verdicts {
    match serde_json::from_str::<Doc>(text) {
        Ok(doc) => judge::judge(&doc),
        Err(error) => Verdicts::new(vec![refusal(&Rule::JSON_NOT_JSON, &error)]),
    }
}

impl fmt::Debug for DynSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynSchema").field(&self.0.text).finish()
    }
}

/// Two schemas are equal if their original texts are equal.
impl PartialEq for DynSchema {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for DynSchema {}
