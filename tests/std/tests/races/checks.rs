//! Checks of the workspace and of the results after a race.

use std::fs;

use serde_json::Value;

use crate::actors::{Actor, Outcome, Turn};
use crate::scene::{FILE, Scene, edited, text};

/// A call and its outcome.
pub(crate) type Done<'a> = (&'a Turn, &'a Outcome);

/// Returns all texts that the file may have, depending on the order of the calls.
pub(crate) fn possible(before: &str, turns: &[Turn]) -> Vec<String> {
    let mut texts = vec![before.to_owned()];
    for turn in turns {
        match turn.actor {
            Actor::WriteFile => texts.push(text(&format!("write {}", turn.name()))),
            Actor::RunCommand => texts.push(text(&format!("command {}", turn.name()))),
            Actor::SwitchBranch => texts.push(text("side")),
            _ => {}
        }
    }
    for turn in turns.iter().filter(|turn| turn.actor == Actor::EditFile) {
        let more: Vec<String> = texts
            .iter()
            .map(|text| edited(text, turn.seat, &turn.name()))
            .collect();
        texts.extend(more);
    }
    texts
}

/// Checks that the file has one of the possible texts, that it contains the change of a successful call if the other call does not change the file,
/// and that it contains both changes if two edits succeeded.
pub(crate) fn file(scene: &Scene, before: &str, done: [Done<'_>; 2]) {
    let turns = done.map(|(turn, _)| *turn);
    let Ok(now) = fs::read_to_string(scene.file()) else {
        panic!("the file is missing after {turns:?}");
    };
    assert!(
        possible(before, &turns).contains(&now),
        "the file has a wrong text after {turns:?}: {}",
        start(&now)
    );
    for (at, (turn, outcome)) in done.iter().enumerate() {
        let (other, other_outcome) = done[1 - at];
        if outcome.is_err() {
            continue;
        }
        let alone = !other.actor.changes_file();
        match turn.actor {
            Actor::WriteFile | Actor::RunCommand if alone => {
                let kind = match turn.actor {
                    Actor::WriteFile => "write",
                    _ => "command",
                };
                assert_eq!(now, text(&format!("{kind} {}", turn.name())), "{turns:?}");
            }
            Actor::EditFile if alone => {
                assert_eq!(now, edited(before, turn.seat, &turn.name()), "{turns:?}");
            }
            // If both edits succeeded, the file must contain both.
            Actor::EditFile if other.actor == Actor::EditFile && other_outcome.is_ok() => {
                let both = edited(before, turn.seat, &turn.name());
                let both = edited(&both, other.seat, &other.name());
                assert_eq!(now, both, "{turns:?}");
            }
            _ => {}
        }
    }
}

/// Checks that the result of a call agrees with its effect.
pub(crate) fn result(scene: &Scene, before: &str, (turn, outcome): Done<'_>, other: &Turn) {
    let Ok(value) = outcome else { return };
    let (name, branch) = (turn.name(), turn.branch());
    match turn.actor {
        Actor::WriteFile => assert_eq!(value["created"], false),
        Actor::EditFile => assert_eq!(value["replacements"], 1),
        Actor::RunCommand => {
            assert_eq!(
                (&value["ended"], &value["stdout"], &value["exit_code"]),
                (&"exited".into(), &format!("{name}\n").into(), &0.into()),
                "{value}"
            );
        }
        Actor::HttpRequest => {
            assert_eq!(value["body"], format!("/request/{name} \"{name}\""));
            let seen = scene.web_server.seen();
            let asked = seen
                .iter()
                .filter(|seen| seen.path() == format!("/request/{name}"));
            assert_eq!(asked.count(), 1, "{turn:?}");
        }
        Actor::HttpGet => assert_eq!(value["body"], format!("/get/{name} ")),
        Actor::FetchWebpage => assert_eq!(value["title"], "How lamps are made"),
        Actor::SearchWeb => assert_eq!(value["results"][0]["title"], name),
        Actor::Commit => commit(scene, turn, value),
        Actor::CreateBranch => {
            scene.git(&["rev-parse", "--verify", &format!("refs/heads/{branch}")]);
            assert!(has_branch(value, &branch), "{branch} {value}");
        }
        Actor::SwitchBranch if !matches!(other.actor, Actor::CreateBranch) => {
            assert_eq!(scene.git(&["symbolic-ref", "--short", "HEAD"]), branch);
        }
        Actor::DeleteBranch => {
            assert_eq!(scene.git(&["branch", "--list", &branch]), "");
        }
        Actor::Fetch => {
            let there = scene.git_there(&["rev-parse", &format!("refs/heads/{branch}")]);
            let here = scene.git(&["rev-parse", &format!("refs/remotes/origin/{branch}")]);
            assert_eq!(here, there);
            assert!(begins(&there, &value["commit"]), "{there} {value}");
            assert_eq!(value["updated"], true, "{value}");
        }
        Actor::Push => {
            let there = scene.git_there(&["rev-parse", &format!("refs/heads/{branch}")]);
            let here = scene.git(&["rev-parse", &format!("refs/heads/{branch}")]);
            let noted = scene.git(&["rev-parse", &format!("refs/remotes/origin/{branch}")]);
            assert_eq!([&here, &noted], [&there, &there]);
            assert!(begins(&there, &value["commit"]), "{there} {value}");
            assert_eq!(value["status"], "created", "{value}");
        }
        Actor::Clone => {
            let path = std::path::PathBuf::from(value["path"].as_str().unwrap());
            let head = scene.world.git(&path, &["rev-parse", "HEAD"]);
            assert!(begins(&head, &value["commit"]), "{head} {value}");
            assert_eq!(
                scene.world.git(&path, &["status", "--porcelain"]),
                "",
                "{value}"
            );
            assert_eq!(
                fs::read_to_string(path.join("README.md")).unwrap(),
                "# Site\n"
            );
            fs::remove_dir_all(path).unwrap();
        }
        Actor::ReadFile => {
            let texts = possible(before, &[*turn, *other]);
            let content = value["content"].as_str().unwrap();
            assert!(
                texts.iter().any(|text| text == content),
                "{other:?} showed {}",
                start(content)
            );
        }
        Actor::ReadFileParts => {
            let texts = possible(before, &[*turn, *other]);
            let content = value["parts"][0]["text"].as_str().unwrap();
            assert!(
                texts.iter().any(|text| text.starts_with(content)),
                "{other:?} showed {}",
                start(content)
            );
        }
        Actor::FindFiles => {
            let found = value["paths"].to_string();
            assert!(
                !found.contains("/.~") || other.actor.writes(),
                "the result has the name of a temporary file: {found}"
            );
        }
        Actor::SearchFiles => assert!(!value["files"].to_string().contains("canary-")),
        Actor::Status => {
            let known = ["main", "side"];
            let is_known =
                |branch: &str| known.contains(&branch) || branch.starts_with("CreateBranch-");
            assert!(value["branch"].as_str().is_some_and(is_known), "{value}");
        }
        Actor::Log => assert!(!value["commits"].as_array().unwrap().is_empty()),
        Actor::SwitchBranch | Actor::ListDirectory | Actor::Diff => {}
    }
}

/// Checks that the commit in a result is the commit that the call created.
fn commit(scene: &Scene, turn: &Turn, value: &Value) {
    let commit = value["commit"].as_str().unwrap();
    let message = scene.git(&["log", "-1", "--format=%s", commit]);
    assert_eq!(message, format!("Commit {}", turn.name()), "{value}");
    let own = scene.git(&["show", &format!("{commit}:{}", turn.own_file())]);
    assert_eq!(own, turn.name(), "{value}");
    let changed = scene.git(&["diff-tree", "--no-commit-id", "--name-only", "-r", commit]);
    assert_eq!(value["files"], changed.lines().count(), "{value}");
    let branch = value["branch"].as_str().unwrap();
    let on = scene.git(&["branch", "--format=%(refname:short)", "--contains", commit]);
    assert!(on.lines().any(|on| on == branch), "{value}: {on}");
    let file = scene.git(&["show", &format!("{commit}:{FILE}")]);
    let mut same = file.lines().skip(2);
    let first = same.next().unwrap();
    assert!(
        same.all(|line| line == first),
        "the committed file has parts of two texts"
    );
}

fn has_branch(value: &Value, name: &str) -> bool {
    let mut all = value["branches"].as_array().unwrap().iter();
    // A result lists at most 200 branches.
    value["truncated"] == true || all.any(|branch| branch["name"] == name)
}

fn begins(hash: &str, short: &Value) -> bool {
    let short = short.as_str().unwrap();
    short.len() >= 7 && hash.starts_with(short)
}

/// Returns the first 200 characters of a text, for a message.
pub(crate) fn start(text: &str) -> String {
    text.chars().take(200).collect()
}
