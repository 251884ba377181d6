//! Consistency of the list of ignored tests with the sources.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use tool_tests::sources::each_source;

use crate::capabilities::fn_name;

/// Returns the names of the functions below an `#[ignore]` attribute.
fn ignored(source: &str) -> Vec<&str> {
    let lines: Vec<_> = source.lines().collect();
    let attributes = lines.iter().enumerate();
    attributes
        .filter(|(_, line)| line.trim_start().starts_with("#[ignore"))
        .map(|(at, _)| lines[at..].iter().find_map(|line| fn_name(line)).unwrap())
        .collect()
}

// The list is compared with the output of the tests only at the end of `.ci/run`. This test finds a missing line earlier.
#[test]
fn each_ignored_test_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let list = fs::read_to_string(root.join(".ci/ignored/all")).unwrap();
    let listed: Vec<_> = list
        .lines()
        .map(|line| line.split('#').next().unwrap().trim())
        .filter(|line| !line.is_empty())
        .collect();
    let mut found = 0;
    each_source(&root, &mut |path| {
        for name in ignored(&fs::read_to_string(path).unwrap()) {
            let ends = |line: &&&str| line.rsplit([' ', ':']).next() == Some(name);
            assert!(
                listed.iter().any(|line| ends(&line)),
                "`.ci/ignored/all` does not list `{name}` of {}",
                path.display()
            );
            found += 1;
        }
    });
    assert_eq!(found, listed.len(), "`.ci/ignored/all` lists other tests");
}
