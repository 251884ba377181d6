//! Merges several schemas for the same value into one (`allOf`, and `$ref` with siblings).

use super::quiet;
use crate::schema::dynamic::doc::Doc;

/// Remaining budget for merges, because a short text can request very many.
pub(super) struct Fuel {
    /// Remaining merges for the whole schema.
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

/// Merges a node with the branches of its `allOf`.
pub(super) fn all_of(root: &Doc, doc: &Doc, fuel: &mut Fuel) -> Result<Doc, String> {
    let mut merged = without(doc, "allOf");
    for branch in doc.get("allOf").map(Doc::items).unwrap_or_default() {
        // A single reference is kept, so that recursion through it is detected.
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
pub(super) fn beside_reference(root: &Doc, doc: &Doc, fuel: &mut Fuel) -> Result<Doc, String> {
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

/// The branch, with the annotations of the node around it.
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
fn resolved(root: &Doc, branch: &Doc, fuel: &mut Fuel) -> Result<Doc, String> {
    if fuel.merges == 0 || fuel.depth == 0 {
        return Err("the schema is merged with itself, or with too many others".into());
    }
    fuel.merges -= 1;
    fuel.depth -= 1;
    let found = resolved_inside(root, branch, fuel);
    fuel.depth += 1;
    found
}

fn resolved_inside(root: &Doc, branch: &Doc, fuel: &mut Fuel) -> Result<Doc, String> {
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
        .ok_or_else(|| format!("`{to}` points to nothing in this schema"))?;
    let joined = merge(&without(branch, "$ref"), target)?;
    resolved(root, &joined, fuel)
}

fn merge(a: &Doc, b: &Doc) -> Result<Doc, String> {
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
                            return Err(format!(
                                "`{name}` has two different values, write one merged schema"
                            ));
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
                return Err(format!(
                    "`{key}` has two different values, write one merged schema"
                ));
            }
        }
    }
    Ok(Doc::Object(entries))
}
