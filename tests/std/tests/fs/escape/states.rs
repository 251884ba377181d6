//! Paths to hard links, pipes, devices and `.git` in the workspace.

use std::fs;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::json;
use tool_std::workspace::Workspaces;

use super::{CANARY, Trial};

// S1-78: a hard link to a file outside is refused unless the host allows hard links.
#[tokio::test]
async fn hard_links_are_refused_unless_the_host_allows_them() {
    let secret = |trial: &Trial| trial.place.path.parent().unwrap().join("conv2/secret");
    let trial = Trial::new();
    let base = &trial.place.path;
    fs::hard_link(secret(&trial), base.join("hard")).unwrap();
    fs::hard_link(secret(&trial), base.join("a/b/hard.txt")).unwrap();
    fs::hard_link(secret(&trial), base.join(".gitignore")).unwrap();
    // Discard the events that were caused by creating the links.
    trial.outside.events();
    for path in ["hard", "./hard", "a/b/hard.txt", "a/../hard", ".gitignore"] {
        for (tool, arguments) in super::calls(path) {
            let result = trial.place.call(tool, arguments).await;
            assert!(result.is_error(), "{tool} {path}: {}", result.model_text());
            assert!(!result.model_text().contains(CANARY));
            let message = result.model_text();
            let said = message.contains("has a second name")
                || message.contains("write the path of a folder");
            assert!(said, "{tool}: {message}");
            trial.outside.is_unread(path);
        }
    }
    for path in [".", "a", "a/b"] {
        for (tool, arguments) in super::calls(path) {
            let result = trial.place.call(tool, arguments).await;
            assert!(
                !result.model_text().contains(CANARY),
                "{tool} {path}: {}",
                result.model_text()
            );
            trial.outside.is_unread(path);
        }
    }
    let out = trial
        .place
        .ok("search_files", json!({"pattern": "canary", "hidden": true}))
        .await;
    assert_eq!((&out["matches"], &out["skipped"]), (&json!(0), &json!(3)));
    let out = trial.place.ok("list_directory", json!({"path": "."})).await;
    let hard = out["entries"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["name"] == "hard");
    assert_eq!(hard.unwrap()["size_bytes"], json!(null));
    assert!(fs::read_to_string(secret(&trial)).unwrap().contains(CANARY));

    let trial = Trial::with(Workspaces::allow_hard_links);
    fs::hard_link(secret(&trial), trial.place.path.join("hard")).unwrap();
    let out = trial.place.ok("read_file", json!({"path": "hard"})).await;
    assert!(out["content"].as_str().unwrap().contains(CANARY));
    // Even if hard links are allowed, a write creates a new file under this name and leaves the other hard link unchanged.
    trial
        .place
        .ok("write_file", json!({"path": "hard", "content": "x"}))
        .await;
    assert!(fs::read_to_string(secret(&trial)).unwrap().contains(CANARY));
}

// S1-78: pipes, sockets and devices are refused without waiting.
#[tokio::test]
async fn special_files_are_refused_without_waiting() {
    let trial = Trial::new();
    let base = &trial.place.path;
    mkfifoat(CWD, base.join("pipe"), Mode::RWXU).unwrap();
    let socket = UnixListener::bind(base.join("socket")).unwrap();
    let made = ["pipe", "socket"];
    trial.refuses_special_files(&made).await;
    drop(socket);
}

// Tools do not write below `.git`, in any spelling of the path.
#[tokio::test]
async fn nothing_is_written_in_a_git_folder_of_any_spelling() {
    let trial = Trial::new();
    let place = &trial.place;
    for path in [
        ".git/config",
        "a/.git/hooks/post-checkout",
        ".repos/o/r-1/.git/config",
    ] {
        place.put(path, "kept");
    }
    place.put("b/.git", "gitdir: ../a/.git");
    for path in [
        ".git",
        ".git/",
        ".git/config",
        ".git/new",
        ".git/hooks/pre-commit",
        "a/.git/config",
        "a/.git/hooks/post-checkout",
        "b/.git",
        ".repos/o/r-1/.git/config",
        "c/.git/config",
        "./.git/config",
        "a/../.git/config",
        ".GIT/config",
        ".Git/config",
        ".gIt",
        ".git./config",
        ".git /config",
        ".git::$INDEX_ALLOCATION/config",
        "git~1/config",
        "GIT~1/hooks/x",
        ".g\u{200c}it/config",
        ".\u{200d}git/config",
        "\u{feff}.git/config",
        "c/.GIT/hooks/x",
    ] {
        for (tool, arguments) in [
            ("write_file", json!({"path": path, "content": "x"})),
            (
                "write_file",
                json!({"path": path, "content": "x", "overwrite": false}),
            ),
            (
                "edit_file",
                json!({"path": path, "old_text": "kept", "new_text": "x"}),
            ),
        ] {
            let message = place.fails(tool, arguments).await;
            let said = message.contains("is inside a `.git`, which only git writes")
                || message.contains("is written like a folder");
            assert!(said, "{path}: {message}");
        }
    }
    for path in [
        ".git/config",
        "a/.git/hooks/post-checkout",
        ".repos/o/r-1/.git/config",
    ] {
        assert_eq!(place.holds(path), "kept");
    }
    assert!(
        !place.path.join("c").exists(),
        "the refused call created a folder"
    );
    for path in [".gitignore", ".github/x.yml", "git/config", "x.git/config"] {
        place
            .ok("write_file", json!({"path": path, "content": "x"}))
            .await;
    }
}

// S1-78: files with names that are not UTF-8 or with unreadable modes are skipped or refused.
#[tokio::test]
async fn non_utf8_names_and_unreadable_modes_are_handled() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let trial = Trial::new();
    let base = &trial.place.path;
    let odd = OsStr::from_bytes(b"n\xffme");
    fs::write(base.join(odd), "odd\n").unwrap();
    fs::create_dir(base.join(OsStr::from_bytes(b"f\xfelder"))).unwrap();
    fs::write(
        base.join(OsStr::from_bytes(b"f\xfelder")).join("in"),
        "odd\n",
    )
    .unwrap();
    let out = trial.place.ok("list_directory", json!({"path": "."})).await;
    assert_eq!(out["total_entries"], 4);
    let out = trial.place.ok("find_files", json!({"pattern": "*"})).await;
    assert_eq!(out["paths"], json!(["a/b/inside.txt", "file"]));
    let out = trial
        .place
        .ok("search_files", json!({"pattern": "odd"}))
        .await;
    assert_eq!(out["matches"], 0);
    trial.is_untouched();
}
