//! The contracts of the file tools: effects, examples and schemas.

use tool_core::{Effect, testing};

use crate::place::tools;

const READ: Effect = Effect::READ;
const WRITE: Effect = Effect::READ.union(Effect::WRITE);

// S1-29, S1-63, S1-64, S1-65, M16: each tool passes the test kit and has at least two examples.
#[test]
fn every_tool_has_a_valid_definition() {
    let tools = tools();
    assert_eq!(tools.names().count(), 7);
    for name in tools.names() {
        let def = tools.get(name).unwrap();
        let found = testing::violations(def);
        assert!(found.is_empty(), "{found:?}");
        assert!(def.examples().len() >= 2, "{name} has too few examples");
    }
}

// M4: the effects of a tool follow from the handles in its parameters.
#[test]
fn effects_follow_from_the_handles() {
    let tools = tools();
    for (name, effect, read_only, destructive) in [
        ("read_file", READ, true, false),
        ("read_file_parts", READ, true, false),
        ("list_directory", READ, true, false),
        ("find_files", READ, true, false),
        ("search_files", READ, true, false),
        ("write_file", WRITE.union(Effect::DESTROY), false, true),
        ("edit_file", WRITE, false, false),
    ] {
        let def = tools.get(name).unwrap();
        assert_eq!(def.effect(), effect, "{name}");
        assert_eq!(
            (def.hints().read_only, def.hints().destructive),
            (read_only, destructive),
            "{name}"
        );
    }
}
