//! Consistency of `docs/threat-model.md` with the tests that it names.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

#[test]
fn claims_name_tests_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/threat-model.md")).unwrap();
    let mut found = 0;
    let next = page.lines().skip(1).chain([""]);
    let rows = page.lines().zip(next).filter_map(|(line, next)| {
        let header = next.starts_with("|---");
        (line.starts_with("| ") && !header).then_some(line)
    });
    for row in rows {
        let proofs = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let mut file = String::new();
        let mut named = 0;
        for word in proofs.split('`').skip(1).step_by(2) {
            if word.contains('/') {
                assert!(
                    root.join(word).exists(),
                    "docs/threat-model.md names `{word}`, which does not exist"
                );
                named += usize::from(word.starts_with("ui-tests"));
                file = std::fs::read_to_string(root.join(word)).unwrap_or_default();
            } else {
                assert!(
                    file.contains(&format!("fn {word}(")),
                    "docs/threat-model.md names the test `{word}`, which does not exist"
                );
                named += 1;
            }
        }
        assert!(named > 0, "no test is named in the row: {row}");
        found += named;
    }
    assert!(found >= 20, "{found}");
}

// S1-98: the threat model names the four parts of the trust in programs that tools start.
#[test]
fn the_page_names_the_four_parts_of_the_trust_in_programs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/threat-model.md")).unwrap();
    let (_, section) = page.split_once("## Programs that tools start").unwrap();
    for part in [
        "1. **The operator** chooses which agents exist and which secrets each agent has",
        "2. **Prompt and gate** choose which repositories",
        "3. **The boundary of files and the list of variables** limit the damage",
        "4. **Untrusted code** needs a container or a virtual machine (gVisor, Firecracker) for each call",
    ] {
        assert!(section.contains(part), "{part}");
    }
}

// S1-90: the operators' guide describes how to delete a single conversation.
#[test]
fn operator_guide_describes_deleting_a_conversation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/operator.md")).unwrap();
    // The page names every delete method of `Workspaces`.
    let source = std::fs::read_to_string(root.join("tool-std/src/workspace.rs")).unwrap();
    let removes: Vec<_> = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub fn delete_"))
        .filter_map(|rest| rest.split('(').next())
        .collect();
    assert_eq!(removes, ["instance", "conversation"]);
    for what in removes {
        assert!(
            page.contains(&format!("`Workspaces::delete_{what}`")),
            "{what}"
        );
    }
}
