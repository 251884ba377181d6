//! Tests of the settings that still protect a run if the configuration was changed after the check.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tool_core::ToolContext;

use super::Git;
use super::command::{Command, Remote};
use super::repository::Repository;
use super::session::{Parts, Session};
use crate::isolate::Isolation;
use crate::workspace::Workspaces;

struct Site {
    root: tempfile::TempDir,
    session: Session,
    repository: Repository,
}

impl Site {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspaces::new(root.path().join("ws"))
            .open("acme", "c1")
            .unwrap();
        workspace.dir().unwrap();
        let top = workspace.path().join("site");
        let git = Git::new()
            .host(&format!("file://{}/srv", root.path().display()))
            .unwrap();
        let cx = ToolContext::builder()
            .with(git)
            .with(Isolation::GroupOnly)
            .build();
        let session = Parts::of(&cx, workspace).unwrap().begin();
        let repository = Repository {
            home: session.parts.workspace.path().to_owned(),
            top: top.clone(),
            shown: String::from("site"),
            kept: None,
            config: Vec::new(),
            shallow: Vec::new(),
        };
        let site = Self {
            root,
            session,
            repository,
        };
        plain(
            &["init", "-q", "-b", "main", top.to_str().unwrap()],
            site.root.path(),
        );
        fs::write(top.join("a.md"), "one\n").unwrap();
        plain(&["add", "."], &top);
        plain(&["commit", "-qm", "x"], &top);
        let bare = site.root.path().join("srv/o/r.git");
        plain(
            &["clone", "-q", "--bare", ".", bare.to_str().unwrap()],
            &top,
        );
        fs::write(top.join("a.md"), "other\n").unwrap();
        let lines = format!("#!/bin/sh\necho \"$*\" >> {}\n", site.ran().display());
        let evil = site.root.path().join("evil");
        fs::create_dir(&evil).unwrap();
        for name in [
            "run",
            "pre-commit",
            "post-checkout",
            "reference-transaction",
        ] {
            fs::write(evil.join(name), &lines).unwrap();
            fs::set_permissions(evil.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        site
    }

    fn ran(&self) -> PathBuf {
        self.root.path().join("ran")
    }

    /// Runs git commands of the tools, without the check of the configuration.
    async fn everything(&self) {
        let (session, repository) = (&self.session, &self.repository);
        let settings = session.settings();
        let url = format!("file://{}/srv/o/r.git", self.root.path().display());
        let remote = Remote {
            address: &settings.address,
            url: &url,
            credentials: None,
            helper: None,
            pushes: true,
        };
        for command in [
            super::status::command(repository, "all", &[]),
            super::diff::command(repository),
            super::log::command(repository, "HEAD", 5),
            Command::new("add").arg("a.md").on(repository).writes(),
            super::commit::command(repository, ("Bot", "bot@example.org")).stdin(b"x".to_vec()),
            Command::new("switch")
                .args(["--quiet", "--create", "side"])
                .on(repository)
                .writes(),
        ] {
            let word = command.word;
            let output = session.run(command).await.unwrap();
            assert_eq!(output.code, 0, "{word}: {}", output.stderr);
        }
        super::fetch::fetch(session, repository, remote, "main")
            .await
            .unwrap();
        let commit = Command::new("rev-parse").arg("main").on(repository);
        let commit = session.succeed(commit).await.unwrap();
        let pushed = super::push::push(session, repository, remote, ("main", commit.trim()))
            .await
            .unwrap();
        assert_eq!(pushed.code, 0, "{}", pushed.stderr);
    }
}

fn plain(args: &[&str], folder: &Path) {
    let mut git = std::process::Command::new("git");
    git.args(args).current_dir(folder);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "Ann")
            .env(format!("GIT_{who}_EMAIL"), "ann@example.org");
    }
    let output = git.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

// S1-84: git commands start no program that an unchecked configuration names
#[tokio::test]
async fn run_settings_override_an_unchecked_git_config() {
    for (text, attributes) in [
        ("[core]\n fsmonitor = EVIL/run", ""),
        ("[core]\n hooksPath = EVIL", ""),
        (
            "[core]\n sshCommand = EVIL/run\n gitProxy = EVIL/run\n askPass = EVIL/run",
            "",
        ),
        (
            "[core]\n editor = EVIL/run\n pager = EVIL/run\n[sequence]\n editor = EVIL/run",
            "",
        ),
        (
            "[pager]\n status = EVIL/run\n log = EVIL/run\n diff = EVIL/run",
            "",
        ),
        ("[diff]\n external = EVIL/run", ""),
        ("[diff \"x\"]\n command = EVIL/run", "*.md diff=x"),
        ("[diff \"x\"]\n textconv = EVIL/run", "*.md diff=x"),
        ("[commit]\n gpgSign = true\n[gpg]\n program = EVIL/run", ""),
        (
            "[commit]\n gpgSign = true\n[gpg]\n format = ssh\n[gpg \"ssh\"]\n defaultKeyCommand = EVIL/run",
            "",
        ),
        (
            "[log]\n showSignature = true\n[gpg]\n program = EVIL/run",
            "",
        ),
        (
            "[push]\n gpgSign = if-asked\n[gpg]\n program = EVIL/run",
            "",
        ),
        ("[include]\n path = EVIL/config", ""),
        ("[includeIf \"gitdir:/**\"]\n path = EVIL/config", ""),
        ("[credential]\n helper = !EVIL/run", ""),
        (
            "[alias]\n status = !EVIL/run\n diff = !EVIL/run\n fetch = !EVIL/run",
            "",
        ),
        (
            "[remote \"origin\"]\n url = ext::EVIL/run\n uploadpack = EVIL/run\n receivepack = EVIL/run",
            "",
        ),
        (
            "[url \"ext::EVIL/run \"]\n insteadOf = ssh://\n[protocol \"ext\"]\n allow = always",
            "",
        ),
        (
            "[gc]\n auto = 1\n recentObjectsHook = EVIL/run\n[maintenance]\n auto = true",
            "",
        ),
        (
            "[submodule]\n recurse = true\n[status]\n submoduleSummary = true",
            "",
        ),
        ("[core]\n worktree = /\n bare = false", ""),
    ] {
        let site = Site::new();
        let evil = site.root.path().join("evil");
        fs::write(
            evil.join("config"),
            format!("[core]\n fsmonitor = {}/run\n", evil.display()),
        )
        .unwrap();
        let config = site.repository.top.join(".git/config");
        let before = fs::read_to_string(&config).unwrap();
        let text = text.replace("EVIL", &evil.display().to_string());
        fs::write(config, format!("{before}{text}\n")).unwrap();
        if !attributes.is_empty() {
            fs::write(site.repository.top.join(".gitattributes"), attributes).unwrap();
        }
        site.everything().await;
        let ran = fs::read_to_string(site.ran()).ok();
        assert_eq!(ran, None, "{text}");
    }
}
