//! Merging of several schemas for the same value into one (`allOf`, and `$ref` with siblings).

use tool_rules::Rule;

use super::{Reader, quiet};
use crate::schema::dynamic::doc::Doc;
use crate::schema::dynamic::node::Node;

/// Remaining budget for merges, because a short text can require a very large number of them.
pub(super) struct Fuel {
    /// Remaining merges for the complete schema.
    pub(super) merges: usize,
    /// Remaining nesting of references and merges.
    pub(super) depth: usize,
}

impl Default for Fuel {
    fn default() -> Self {
        Self {
            merges: 4096,
            depth: 16,
        }
    }
}

/// The reason why schemas cannot be merged.
pub(super) enum Unmerged {
    /// The budget is used up.
    Endless,
    /// The reference has no target.
    Target(String),
    /// The key has two different values.
    Differs(String),
}

impl Unmerged {
    /// Reports the fault, with the rule for keywords next to a reference if `beside` is set, otherwise with the rule for `allOf`.
    pub(super) fn fault(&self, reader: &mut Reader<'_>, beside: bool) -> Node {
        match (self, beside) {
            (Self::Endless, false) => reader.fault(&Rule::JSON_ALL_OF_ENDLESS, &[]),
            (Self::Endless, true) => reader.fault(&Rule::JSON_REF_ENDLESS, &[]),
            (Self::Target(to), false) => reader.fault(&Rule::JSON_ALL_OF_TARGET, &[to]),
            (Self::Target(to), true) => reader.fault(&Rule::JSON_REF_TARGET, &[to]),
            (Self::Differs(key), false) => reader.fault(&Rule::JSON_ALL_OF_DIFFERS, &[key]),
            (Self::Differs(key), true) => reader.fault(&Rule::JSON_REF_DIFFERS, &[key]),
        }
    }
}

/// Merges a node with the branches of its `allOf`.
pub(super) fn all_of(root: &Doc, doc: &Doc, fuel: &mut Fuel) -> Result<Doc, Unmerged> {
    let mut merged = without(doc, "allOf");
    for branch in doc.get("allOf").map(Doc::items).unwrap_or_default() {
        // A single branch is not resolved, so that recursion through its reference is detected.
        if merged.entries().iter().all(|(key, _)| quiet(key))
            && doc.get("allOf").map(Doc::items).map(<[Doc]>::len) == Some(1)
        {
            return Ok(join_quiet(&merged, branch));
        }
        merged = merge(&merged, &resolved(root, branch, fuel)?)?;
    }
    Ok(merged)
}

/// Merges a node with the target of its `$ref`.
pub(super) fn beside_reference(root: &Doc, doc: &Doc, fuel: &mut Fuel) -> Result<Doc, Unmerged> {
    let only = Doc::Object(
        doc.entries()
            .iter()
            .filter(|(key, _)| key == "$ref")
            .cloned()
            .collect(),
    );
    merge(&without(doc, "$ref"), &resolved(root, &only, fuel)?)
}

fn without(doc: &Doc, keyword: &str) -> Doc {
    Doc::Object(
        doc.entries()
            .iter()
            .filter(|(key, _)| key != keyword)
            .cloned()
            .collect(),
    )
}

/// Adds the annotations of the node around a branch to the branch.
fn join_quiet(around: &Doc, branch: &Doc) -> Doc {
    let mut entries = around.entries().to_vec();
    for (key, value) in branch.entries() {
        if !entries.iter().any(|(name, _)| name == key) {
            entries.push((key.clone(), value.clone()));
        }
    }
    Doc::Object(entries)
}

/// Resolves a reference or an `allOf` at the top of a branch.
fn resolved(root: &Doc, branch: &Doc, fuel: &mut Fuel) -> Result<Doc, Unmerged> {
    if fuel.merges == 0 || fuel.depth == 0 {
        return Err(Unmerged::Endless);
    }
    fuel.merges -= 1;
    fuel.depth -= 1;
    let found = resolved_inside(root, branch, fuel);
    fuel.depth += 1;
    found
}

fn resolved_inside(root: &Doc, branch: &Doc, fuel: &mut Fuel) -> Result<Doc, Unmerged> {
    let Some(to) = branch.get("$ref").and_then(Doc::as_str) else {
        return if branch.has("allOf") {
            all_of(root, branch, fuel)
        } else {
            Ok(branch.clone())
        };
    };
    let target = to
        .strip_prefix('#')
        .and_then(|path| root.at(path))
        .ok_or_else(|| Unmerged::Target(to.to_owned()))?;
    let joined = merge(&without(branch, "$ref"), target)?;
    resolved(root, &joined, fuel)
}

fn merge(a: &Doc, b: &Doc) -> Result<Doc, Unmerged> {
    let mut entries = a.entries().to_vec();
    for (key, value) in b.entries() {
        let Some((_, held)) = entries.iter_mut().find(|(name, _)| name == key) else {
            entries.push((key.clone(), value.clone()));
            continue;
        };
        if held == value || quiet(key) {
            continue;
        }
        match (key.as_str(), &mut *held, value) {
            ("properties", Doc::Object(ours), Doc::Object(theirs)) => {
                for (name, property) in theirs {
                    match ours.iter().find(|(key, _)| key == name) {
                        None => ours.push((name.clone(), property.clone())),
                        Some((_, same)) if same == property => {}
                        Some(_) => {
                            return Err(Unmerged::Differs(name.clone()));
                        }
                    }
                }
            }
            ("required", Doc::Array(ours), Doc::Array(theirs)) => {
                for name in theirs {
                    if !ours.contains(name) {
                        ours.push(name.clone());
                    }
                }
            }
            ("additionalProperties", held, Doc::Boolean(false)) => *held = Doc::Boolean(false),
            ("additionalProperties", Doc::Boolean(false), _) => {}
            _ => {
                return Err(Unmerged::Differs(key.clone()));
            }
        }
    }
    Ok(Doc::Object(entries))
}
