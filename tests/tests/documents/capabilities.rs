//! Consistency of `docs/capabilities.md` with the tests that it names.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use tool_tests::sources::each_source;

/// The number of lines below a comment that are searched for the test, and the number of lines that are searched for the name of a test.
const REACH: usize = 12;

/// The tests of each file, by the file's path in the repository.
type Tests = BTreeMap<String, BTreeSet<String>>;

/// The tests and the ids in their comments, read from the sources.
#[derive(Default)]
struct Sources {
    tests: Tests,
    /// The tests by the capability's id in the comment above them.
    claims: BTreeMap<String, Tests>,
}

/// A row of the list.
#[derive(Debug)]
struct Row {
    id: String,
    what: String,
    tests: Vec<(String, String)>,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

/// Returns whether a word is a capability's id: a letter S, a digit, a hyphen and a number, or a letter M and a number.
fn is_id(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(number) = word.strip_prefix('M') {
        return is_number(number);
    }
    let parts = word.strip_prefix('S').and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(group, number)| group.len() == 1 && is_number(group) && is_number(number))
}

fn ids(line: &str) -> impl Iterator<Item = &str> {
    line.split(|char: char| !(char.is_ascii_alphanumeric() || matches!(char, '-' | '_')))
        .filter(|word| is_id(word))
}

/// Returns the name of the function that a line declares.
pub(crate) fn fn_name(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_word = before.is_empty() || before.ends_with([' ', '(']);
    let end = rest
        .find(|char: char| !(char.is_alphanumeric() || char == '_'))
        .unwrap_or(rest.len());
    (is_word && end > 0).then(|| &rest[..end])
}

/// Returns whether a line has a test attribute: `#[test]`, `#[tokio::test(…)]`.
pub(crate) fn has_attribute(line: &str) -> bool {
    let Some((_, attribute)) = line.split_once("#[") else {
        return false;
    };
    let end = attribute.find(['(', ']', ' ']).unwrap_or(attribute.len());
    let name = &attribute[..end];
    name == "test" || name.ends_with("::test")
}

/// Returns the test that begins at the first line: with a test attribute, or with a function whose name ends with `_case` (a case of a `suite!`).
fn test_at<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let first = lines.first()?;
    if has_attribute(first) {
        return lines.iter().take(REACH).find_map(|line| fn_name(line));
    }
    fn_name(first).filter(|name| name.ends_with("_case"))
}

impl Sources {
    fn read() -> Self {
        let (mut all, root) = (Self::default(), repository());
        each_source(&root, &mut |path| {
            let name = path.strip_prefix(&root).unwrap().to_string_lossy();
            all.add(&name.replace('\\', "/"), &fs::read_to_string(path).unwrap());
        });
        all
    }

    fn add(&mut self, file: &str, source: &str) {
        let lines: Vec<_> = source.lines().collect();
        let put = |tests: &mut Tests, test: &str| {
            tests
                .entry(file.to_owned())
                .or_default()
                .insert(test.to_owned());
        };
        for (at, line) in lines.iter().enumerate() {
            if let Some(test) = test_at(&lines[at..]) {
                put(&mut self.tests, test);
            }
            if !line.trim_start().starts_with("//") {
                continue;
            }
            let below = (at + 1..lines.len()).take(REACH);
            let Some(test) = below.into_iter().find_map(|at| test_at(&lines[at..])) else {
                continue;
            };
            for id in ids(line) {
                put(self.claims.entry(id.to_owned()).or_default(), test);
            }
        }
    }

    /// Returns the expected last column of a capability's row.
    fn expected(&self, id: &str) -> String {
        let files = self.claims.get(id).into_iter().flatten();
        let files = files.map(|(file, tests)| {
            let tests: Vec<_> = tests.iter().map(|test| format!("`{test}`")).collect();
            format!("`{file}`: {}", tests.join(", "))
        });
        files.collect::<Vec<_>>().join("; ")
    }
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(repository().join("docs/capabilities.md")).unwrap();
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<_> = line
            .strip_prefix("| ")?
            .strip_suffix(" |")?
            .split(" | ")
            .collect();
        let [id, what, proofs] = cells[..] else {
            panic!("the row does not have three columns: {line}");
        };
        is_id(id).then(|| Row {
            id: id.to_owned(),
            what: what.to_owned(),
            tests: proofs
                .split("; ")
                .flat_map(|proof| named(id, proof))
                .collect(),
        })
    });
    rows.collect()
}

/// Returns the tests in one part of a row's last column. The part has a file and its tests, each in back quotes.
fn named(id: &str, proof: &str) -> Vec<(String, String)> {
    let bare = |text: &str| {
        let bare = text
            .strip_prefix('`')
            .and_then(|text| text.strip_suffix('`'));
        bare.unwrap_or_else(|| panic!("{id}: write `FILE`: `TEST`, `TEST` and not {proof}"))
            .to_owned()
    };
    let (file, tests) = proof.split_once(": ").unwrap_or((proof, ""));
    let file = bare(file);
    tests
        .split(", ")
        .map(|test| (file.clone(), bare(test)))
        .collect()
}

/// Fails the test and prints the findings, unless the list is empty.
#[track_caller]
fn none(found: &[String]) {
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

// Each test in a row exists, and the comment above it has the capability's id.
#[test]
fn each_named_test_exists_and_names_its_capability() {
    let sources = Sources::read();
    let has = |tests: Option<&Tests>, file: &str, test: &str| {
        tests
            .and_then(|tests| tests.get(file))
            .is_some_and(|tests| tests.contains(test))
    };
    let mut wrong = Vec::new();
    for Row { id, tests, .. } in rows() {
        for (file, test) in tests {
            if !has(Some(&sources.tests), &file, &test) {
                wrong.push(format!("{id}: {file} has no test `{test}`"));
            } else if !has(sources.claims.get(&id), &file, &test) {
                wrong.push(format!(
                    "{id}: no comment above `{test}` in {file} names {id}: remove the test from the row, or name the id there"
                ));
            }
        }
    }
    none(&wrong);
}

// If a comment above a test has a capability's id, the capability's row names the file of the test.
#[test]
fn each_claim_has_a_row_that_names_its_file() {
    let (sources, rows) = (Sources::read(), rows());
    let mut missing = Vec::new();
    for (id, files) in &sources.claims {
        let row = rows.iter().find(|row| row.id == *id);
        let listed =
            |file: &String| row.is_some_and(|row| row.tests.iter().any(|(own, _)| own == file));
        for file in files.keys().filter(|file| !listed(file)) {
            missing.push(format!(
                "{id}: the row does not name {file}; its last column is: {}",
                sources.expected(id)
            ));
        }
    }
    none(&missing);
}

#[test]
fn each_capability_has_one_row_in_one_form() {
    let rows = rows();
    assert!(rows.len() > 150, "only {} rows were found", rows.len());
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for Row { id, what, tests } in &rows {
        if !seen.insert(id) {
            wrong.push(format!("{id} has more than one row"));
        }
        if tests.is_empty() {
            wrong.push(format!("{id} names no test"));
        }
        let parts = what.matches("in part: ").count() + what.matches("; owed: ").count();
        let is_whole = parts == 0 && !what.contains("owed");
        let is_in_part = parts == 2 && what.starts_with("in part: ");
        if !is_whole && !is_in_part {
            wrong.push(format!("{id}: write `in part: …; owed: …` and not: {what}"));
        }
    }
    none(&wrong);
}

#[test]
fn comments_are_read_with_the_test_below_them() {
    let id = |group: &str, number: u32| format!("{group}{number}");
    let (first, second) = (id("S1-", 27), id("M", 3));
    let source = format!(
        "// {first}, {second}: urls\n#[tokio::test(start_paused = true)]\nasync fn one() {{}}\n\n// {first}\nfn two_case() {{}}\n\
         // X{first} {first}x M M3a\n#[test]\nfn three() {{}}\n/// {second}\nstruct Bare;\n"
    );
    let mut sources = Sources::default();
    sources.add("a.rs", &source);
    let all = sources.tests["a.rs"].iter().map(String::as_str);
    assert_eq!(all.collect::<Vec<_>>(), ["one", "three", "two_case"]);
    assert_eq!(sources.expected(&first), "`a.rs`: `one`, `two_case`");
    assert_eq!(sources.expected(&second), "`a.rs`: `one`");
    assert_eq!(sources.claims.len(), 2);
}
