//! The contracts of the git tools: effects, examples, schemas and secrets.

use serde_json::json;
use tool_core::{Approval, Effect, ErrorKind, testing};

use crate::world::{World, call, clone, tools};

const READ: Effect = Effect::READ;
const WRITE: Effect = Effect::READ.union(Effect::WRITE);

fn names() -> Vec<String> {
    let tools = tools();
    let own = tools.names().filter(|name| name.starts_with("git_"));
    own.map(str::to_owned).collect()
}

// S1-29, S1-63, S1-64, S1-65, M16: each tool passes the test kit and has labelled examples.
#[test]
fn every_tool_has_a_valid_definition() {
    assert_eq!(names().len(), 8);
    for name in names() {
        let tools = tools();
        let def = tools.get(&name).unwrap();
        let found = testing::violations(def);
        assert!(found.is_empty(), "{found:?}");
        assert!(def.examples().len() >= 2, "{name} has too few examples");
    }
}

// M4: the effects of a tool follow from the handles in its parameters.
#[test]
fn effects_follow_from_the_handles() {
    let tools = tools();
    for (name, effect) in [
        ("git_status", READ),
        ("git_diff", READ),
        ("git_log", READ),
        ("git_commit", WRITE),
        ("git_branch", WRITE),
        ("git_clone", WRITE.union(Effect::EXTERNAL)),
        ("git_fetch", WRITE.union(Effect::EXTERNAL)),
        ("git_push", Effect::ALL),
    ] {
        let def = tools.get(name).unwrap();
        let hints = def.hints();
        assert_eq!(def.effect(), effect, "{name}");
        assert_eq!(hints.read_only, effect == READ, "{name}");
        assert_eq!(
            hints.open_world,
            effect.contains(Effect::EXTERNAL),
            "{name}"
        );
        let asks = matches!(def.approval(), Approval::Always);
        assert_eq!(asks, name == "git_push", "{name}");
    }
}

// S1-50: the tools that contact a server declare the token as an optional secret.
#[test]
fn token_is_declared_as_an_optional_secret() {
    let tools = tools();
    for name in ["git_clone", "git_fetch", "git_push"] {
        let needs = tools.get(name).unwrap().secrets();
        assert_eq!(needs.len(), 1);
        assert_eq!((&*needs[0].key, needs[0].optional), ("github_token", true));
    }
}

#[tokio::test]
async fn a_push_waits_for_an_approval() {
    let world = World::new();
    let cx = world.cx(world.files());
    let path = clone(&cx, "acme/site").await;
    let before = world.git(&world.path("srv/acme/site.git"), &["rev-parse", "main"]);
    let result = call(&cx, "git_push", json!({ "path": path })).await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Pending);
    let after = world.git(&world.path("srv/acme/site.git"), &["rev-parse", "main"]);
    assert_eq!(before, after);
}
