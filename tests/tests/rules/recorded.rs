//! The compile errors and warnings that `ui-tests` records.

use std::fs;

use crate::message::{messages, rule_of};
use crate::root;

/// A message in a recorded output.
pub(crate) struct Recorded {
    /// The path of the output, from the root of the repository.
    pub(crate) path: String,
    pub(crate) id: String,
    pub(crate) text: String,
}

/// Returns all messages in the recorded outputs of the compiler.
pub(crate) fn recorded() -> Vec<Recorded> {
    let mut all = Vec::new();
    let mut folders = vec![root().join("ui-tests")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "stderr") {
                let output = fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(root()).unwrap();
                all.extend(messages(&output).map(|(id, text)| Recorded {
                    path: path.to_str().unwrap().to_owned(),
                    id: id.to_owned(),
                    text: text.to_owned(),
                }));
            }
        }
    }
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

#[test]
fn every_compile_error_has_the_text_of_its_rule() {
    let all = recorded();
    let wrong: Vec<String> = all
        .iter()
        .filter_map(|found| {
            let why = rule_of(&found.id, &found.text).err()?;
            Some(format!("{}: {why}", found.path))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all.len() > 200, "only {} messages were found", all.len());
}
