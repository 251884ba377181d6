//! Adaptation of a schema to the keywords documented for Gemini's `parametersJsonSchema`. Other constraints are written into the description.

use tool_rules::Rule;

use super::{Adapter, get};
use crate::schema::dynamic::doc::Doc;

type Entries = Vec<(String, Doc)>;

const KNOWN: [&str; 22] = [
    "$anchor",
    "$defs",
    "$id",
    "$ref",
    "additionalProperties",
    "anyOf",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "oneOf",
    "prefixItems",
    "properties",
    "propertyOrdering",
    "required",
    "title",
    "type",
    "default",
];

/// Keywords that restrict no values, so the description does not repeat them.
const SILENT: [&str; 6] = [
    "$comment",
    "$schema",
    "deprecated",
    "readOnly",
    "writeOnly",
    "examples",
];

impl Adapter {
    pub(super) fn gemini(&mut self, entries: &mut Entries) {
        self.tuple(entries);
        self.definitions(entries);
        self.values(entries);
        let unknown: Vec<String> = entries
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| !KNOWN.contains(&name.as_str()))
            .collect();
        for key in unknown {
            if SILENT.contains(&key.as_str()) || key.starts_with("x-") {
                entries.retain(|(name, _)| *name != key);
                self.change(&Rule::JSON_KEYWORD_LEFT_OUT, &[&key]);
            } else {
                self.take_out(entries, &key, &Rule::JSON_KEYWORD_REMOVED);
            }
        }
        if get(entries, "$ref").is_some() {
            let beside =
                |name: &str| !name.starts_with('$') && !matches!(name, "description" | "default");
            let beside: Vec<String> = entries
                .iter()
                .map(|(name, _)| name.clone())
                .filter(|name| beside(name))
                .collect();
            for key in beside {
                self.take_out(entries, &key, &Rule::JSON_REF_SIBLING_REMOVED);
            }
        }
    }

    /// Rewrites `definitions` of earlier drafts to `$defs`.
    fn definitions(&mut self, entries: &mut Entries) {
        if let Some(Doc::String(to)) = entries
            .iter_mut()
            .find(|(name, _)| name == "$ref")
            .map(|(_, value)| value)
            && let Some(name) = to.strip_prefix("#/definitions/")
        {
            *to = format!("#/$defs/{name}");
        }
        if !self.pointer.is_empty() {
            return;
        }
        let Some(at) = entries.iter().position(|(name, _)| name == "definitions") else {
            return;
        };
        let (_, old) = entries.remove(at);
        self.change(&Rule::JSON_DRAFT_DEFINITIONS, &[]);
        let more = old.entries().to_vec();
        match entries.iter_mut().find(|(name, _)| name == "$defs") {
            Some((_, Doc::Object(held))) => held.extend(more),
            _ => entries.push(("$defs".to_owned(), Doc::Object(more))),
        }
    }

    /// Rewrites `const` as `enum`, and removes an `enum` that lists other values than numbers and non-empty strings.
    fn values(&mut self, entries: &mut Entries) {
        let listed = |value: &Doc| match value {
            Doc::String(text) => !text.is_empty(),
            other => matches!(other, Doc::Number(_)),
        };
        if let Some(at) = entries.iter().position(|(name, _)| name == "const") {
            let is_listed = entries.get(at).is_some_and(|(_, value)| listed(value));
            if is_listed && get(entries, "enum").is_none() {
                let (_, value) = entries.remove(at);
                self.change(&Rule::JSON_CONST_WRITTEN, &[]);
                entries.push(("enum".to_owned(), Doc::Array(vec![value])));
            }
        }
        let odd =
            |(name, value): &(String, Doc)| name == "enum" && !value.items().iter().all(listed);
        if entries.iter().any(odd) {
            self.take_out(entries, "enum", &Rule::JSON_ENUM_REMOVED);
        }
    }
}
