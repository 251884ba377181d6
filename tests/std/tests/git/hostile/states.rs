//! Malformed `.git` folders, and `.git` folders that refer to files outside of the workspace.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use tool_std::git::{Pusher, git_push};

use super::target::{Target, copy};
use crate::world::{TOKEN, call, tree};

/// A function that brings a clone into a state in which every tool must fail.
type Spoil = fn(&Target, &Path);

/// The names of the states, each with the function that creates it.
const STATES: [(&str, Spoil); 20] = [
    (".git is a file", |target, outside| {
        fs::rename(target.clone.join(".git"), outside.join("git")).unwrap();
        let to = format!("gitdir: {}\n", outside.join("git").display());
        fs::write(target.clone.join(".git"), to).unwrap();
    }),
    (".git is a link", |target, outside| {
        fs::rename(target.clone.join(".git"), outside.join("git")).unwrap();
        symlink(outside.join("git"), target.clone.join(".git")).unwrap();
    }),
    (".git is a link within the workspace", |target, _| {
        fs::rename(target.clone.join(".git"), target.clone.join("git")).unwrap();
        symlink("git", target.clone.join(".git")).unwrap();
    }),
    ("the repository is a link", |target, outside| {
        fs::rename(&target.clone, outside.join("repository")).unwrap();
        symlink(outside.join("repository"), &target.clone).unwrap();
    }),
    ("commondir", |target, outside| {
        copy(&target.clone.join(".git"), &outside.join("git"));
        let to = outside.join("git").display().to_string();
        fs::write(target.clone.join(".git/commondir"), to).unwrap();
    }),
    ("alternates", |target, outside| {
        copy(&target.clone.join(".git/objects"), &outside.join("objects"));
        let to = outside.join("objects").display().to_string();
        fs::create_dir_all(target.clone.join(".git/objects/info")).unwrap();
        fs::write(target.clone.join(".git/objects/info/alternates"), to).unwrap();
    }),
    ("http-alternates", |target, _| {
        fs::create_dir_all(target.clone.join(".git/objects/info")).unwrap();
        fs::write(
            target.clone.join(".git/objects/info/http-alternates"),
            "http://127.0.0.1:1/",
        )
        .unwrap();
    }),
    ("config.worktree", |target, _| {
        fs::write(
            target.clone.join(".git/config.worktree"),
            "[core]\n worktree = /\n",
        )
        .unwrap();
    }),
    ("objects", |target, outside| {
        leads(target, outside, "objects");
    }),
    ("refs", |target, outside| leads(target, outside, "refs")),
    ("logs", |target, outside| leads(target, outside, "logs")),
    ("HEAD", |target, outside| leads(target, outside, "HEAD")),
    ("index", |target, outside| leads(target, outside, "index")),
    ("config", |target, outside| leads(target, outside, "config")),
    ("packed-refs", |target, outside| {
        leads(target, outside, "packed-refs");
    }),
    ("logs/HEAD", |target, outside| {
        leads(target, outside, "logs/HEAD");
    }),
    ("COMMIT_EDITMSG dangles", |target, outside| {
        symlink(
            outside.join("none"),
            target.clone.join(".git/COMMIT_EDITMSG"),
        )
        .unwrap();
    }),
    ("a hard link to logs/HEAD", |target, outside| {
        let log = target.clone.join(".git/logs/HEAD");
        fs::hard_link(log, outside.join("log")).unwrap();
    }),
    ("a pipe for the configuration", |target, _| {
        pipe(target, "config");
    }),
    ("a pipe for HEAD", |target, _| pipe(target, "HEAD")),
];

fn leads(target: &Target, outside: &Path, name: &str) {
    let (inside, to) = (target.clone.join(".git").join(name), outside.join("moved"));
    fs::rename(&inside, &to).unwrap();
    symlink(to, inside).unwrap();
}

fn pipe(target: &Target, name: &str) {
    let path = target.clone.join(".git").join(name);
    fs::remove_file(&path).unwrap();
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

// S1-76: every tool refuses each state, and no file outside of the workspace changes.
#[tokio::test]
async fn malformed_git_folder_is_refused() {
    let target = Target::new().await;
    for (name, spoil) in STATES {
        target.restore();
        let outside = target.world.path("outside");
        let _ = fs::remove_dir_all(&outside);
        fs::create_dir(&outside).unwrap();
        spoil(&target, &outside);
        let before: Vec<_> = tree(&outside)
            .into_keys()
            .map(|path| (fs::read(&path).ok(), path))
            .collect();
        for (tool, said) in target.everything().await {
            let message = said.expect_err(&format!("{tool} accepted the state: {name}"));
            let known = ["lead git out", "do not follow it", "no repository at"];
            assert!(
                known.iter().any(|text| message.contains(text)),
                "{tool} on {name}: {message}"
            );
        }
        let after: Vec<_> = tree(&outside)
            .into_keys()
            .map(|path| (fs::read(&path).ok(), path))
            .collect();
        assert_eq!(before, after, "{name}");
    }
}

// S1-91: `git_fetch` and `git_push` fail if `HEAD` contains an option, a path or nonsense, and the references of the server do not change.
#[tokio::test]
async fn reference_names_are_never_read_as_arguments() {
    let target = Target::new().await;
    for head in [
        "ref: refs/heads/--upload-pack=touch\n",
        "ref: refs/heads/-f\n",
        "ref: refs/heads/main:refs/heads/x\n",
        "ref: ../../../etc/passwd\n",
        "ref: refs/heads/../../../../x\n",
        "garbage\n",
        "",
    ] {
        target.restore();
        fs::write(target.clone.join(".git/HEAD"), head).unwrap();
        let path = json!({ "path": target.clone });
        let fetched = call(&target.cx, "git_fetch", path).await;
        assert!(fetched.is_error(), "{head:?}: {}", fetched.model_text());
        let git: Pusher = target.cx.get().unwrap();
        let path = target.clone.display().to_string();
        assert!(git_push(&git, None, path, None).await.is_err(), "{head:?}");
    }
    let there = target.world.path("srv/acme/site.git");
    let refs = target
        .world
        .git(&there, &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/heads/feature/x\nrefs/heads/main");
}

// S1-92: the error for a broken repository is short and does not contain the token. A configuration over 64 KiB is refused.
#[tokio::test]
async fn broken_repository_returns_a_readable_error() {
    let target = Target::new().await;
    for (file, content) in [
        (".git/index", &b"DIRC\xff\xff\xff\xff\xff\xff\xff\xff"[..]),
        (".git/packed-refs", b"\xff\xff\0garbage\n"),
        (".git/shallow", b"not a hash\n"),
        (".git/config", b"[core\n"),
        (".git/config", b"\0\0\0"),
    ] {
        target.restore();
        fs::write(target.clone.join(file), content).unwrap();
        for (tool, said) in target.everything().await {
            if let Err(message) = said {
                assert!(
                    !message.is_empty() && message.len() < 700 && !message.contains(TOKEN),
                    "{tool}: {message}"
                );
            }
        }
    }
    target.restore();
    fs::write(target.clone.join(".git/config"), vec![b'\n'; 100_000]).unwrap();
    let (_, said) = target.everything().await.swap_remove(0);
    assert!(said.unwrap_err().contains("64 KiB"));
}
