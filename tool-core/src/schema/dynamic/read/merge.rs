//! Several schemas for one value, as one schema.

use super::quiet;
use crate::schema::dynamic::doc::Doc;

/// References that lead to references are followed this far.
const FAR: usize = 16;

/// The node with its `allOf` worked in.
pub(super) fn all_of(root: &Doc, doc: &Doc) -> Result<Doc, String> {
    let mut merged = without(doc, "allOf");
    for branch in doc.get("allOf").map(Doc::items).unwrap_or_default() {
        // A lone reference is kept, so that recursion through it is seen.
        if merged.entries().iter().all(|(key, _)| quiet(key))
            && doc.get("allOf").map(Doc::items).map(<[Doc]>::len) == Some(1)
        {
            return Ok(join_quiet(&merged, branch));
        }
        merged = merge(&merged, &resolved(root, branch)?)?;
    }
    Ok(merged)
}

/// The node with its reference worked in.
pub(super) fn beside_reference(root: &Doc, doc: &Doc) -> Result<Doc, String> {
    let only = Doc::Object(
        doc.entries()
            .iter()
            .filter(|(key, _)| key == "$ref")
            .cloned()
            .collect(),
    );
    merge(&without(doc, "$ref"), &resolved(root, &only)?)
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

/// The branch under the words of the node around it.
fn join_quiet(around: &Doc, branch: &Doc) -> Doc {
    let mut entries = around.entries().to_vec();
    for (key, value) in branch.entries() {
        if !entries.iter().any(|(name, _)| name == key) {
            entries.push((key.clone(), value.clone()));
        }
    }
    Doc::Object(entries)
}

fn resolved(root: &Doc, branch: &Doc) -> Result<Doc, String> {
    let mut branch = branch.clone();
    for _ in 0..FAR {
        let Some(to) = branch.get("$ref").and_then(Doc::as_str) else {
            return if branch.has("allOf") {
                all_of(root, &branch)
            } else {
                Ok(branch)
            };
        };
        let target = to
            .strip_prefix('#')
            .and_then(|path| root.at(path))
            .ok_or_else(|| format!("`{to}` points at nothing in this schema"))?
            .clone();
        branch = merge(&without(&branch, "$ref"), &target)?;
    }
    Err("the schema is merged with itself".into())
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
                                "`{name}` is said twice and differently, write one merged schema"
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
                    "`{key}` is said twice and differently, write one merged schema"
                ));
            }
        }
    }
    Ok(Doc::Object(entries))
}
