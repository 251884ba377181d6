//! Git configuration, attributes and hooks that start a program.

use std::fs;

use serde_json::json;

use super::target::{Target, copy};
use crate::world::script;

/// The configuration, the content of `.gitattributes`, and the commands of plain git that start the program.
type Case = (&'static str, &'static str, &'static [&'static str]);

/// Configuration entries that start a program. The test replaces `EVIL` with its path.
const PROGRAMS: [Case; 47] = [
    ("[core]\n fsmonitor = EVIL", "", &["status"]),
    (
        "[core]\n fsmonitor = true\n fsmonitorHookVersion = 2",
        "",
        &[],
    ),
    ("[core]\n hooksPath = EVILDIR", "", &["commit -am x"]),
    (
        "[core]\n sshCommand = EVIL\n[remote \"origin\"]\n url = ssh://x/y",
        "",
        &["fetch ssh://x/y"],
    ),
    (
        "[core]\n gitProxy = EVIL\n[remote \"origin\"]\n url = git://x/y",
        "",
        &["fetch git://x/y"],
    ),
    ("[core]\n askPass = EVIL", "", &[]),
    ("[core]\n editor = EVIL", "", &["commit -a"]),
    ("[sequence]\n editor = EVIL", "", &[]),
    ("[core]\n pager = EVIL", "", &[]),
    (
        "[pager]\n status = EVIL\n log = EVIL\n diff = EVIL",
        "",
        &[],
    ),
    ("[core]\n alternateRefsCommand = EVIL", "", &[]),
    ("[diff]\n external = EVIL", "", &["diff"]),
    ("[diff \"x\"]\n command = EVIL", "*.md diff=x", &["diff"]),
    ("[diff \"x\"]\n textconv = EVIL", "*.md diff=x", &["diff"]),
    (
        "[diff \"x\"]\n textconv = EVIL\n cachetextconv = true",
        "*.md diff=x",
        &["log -p"],
    ),
    (
        "[filter \"x\"]\n clean = EVIL",
        "*.md filter=x",
        &["add README.md"],
    ),
    (
        "[filter \"x\"]\n smudge = EVIL",
        "*.md filter=x",
        &["checkout README.md"],
    ),
    (
        "[filter \"x\"]\n process = EVIL",
        "*.md filter=x",
        &["add README.md"],
    ),
    (
        "[filter \"x\"]\n clean = EVIL\n required = true",
        "* filter=x",
        &["add ."],
    ),
    ("[filter \"a.b c\"]\n clean = EVIL", "*.md filter=x", &[]),
    (
        "[FILTER \"x\"]\n Clean = EVIL",
        "*.md filter=x",
        &["add README.md"],
    ),
    ("[merge \"x\"]\n driver = EVIL %A", "*.md merge=x", &[]),
    (
        "[commit]\n gpgSign = true\n[gpg]\n program = EVIL",
        "",
        &["commit -am x"],
    ),
    (
        "[commit]\n gpgSign = true\n[gpg]\n format = ssh\n[gpg \"ssh\"]\n program = EVIL\n[user]\n signingKey = key::x",
        "",
        &["commit -am x"],
    ),
    (
        "[commit]\n gpgSign = true\n[gpg]\n format = ssh\n[gpg \"ssh\"]\n defaultKeyCommand = EVIL",
        "",
        &["commit -am x"],
    ),
    (
        "[gpg]\n program = EVIL\n[log]\n showSignature = true",
        "",
        &[],
    ),
    ("[push]\n gpgSign = true\n[gpg]\n program = EVIL", "", &[]),
    ("[alias]\n status = !EVIL\n x = !EVIL", "", &["x"]),
    ("[include]\n path = EVILCONFIG", "", &["status"]),
    (
        "[includeIf \"gitdir:/**\"]\n path = EVILCONFIG",
        "",
        &["status"],
    ),
    (
        "[includeIf \"onbranch:**\"]\n path = EVILCONFIG",
        "",
        &["status"],
    ),
    ("[credential]\n helper = EVIL", "", &[]),
    ("[credential]\n helper = !EVIL", "", &[]),
    (
        "[credential \"http://127.0.0.1\"]\n helper = !EVIL",
        "",
        &[],
    ),
    ("[remote \"origin\"]\n uploadpack = EVIL", "", &["fetch"]),
    (
        "[remote \"origin\"]\n receivepack = EVIL",
        "",
        &["push origin main"],
    ),
    ("[remote \"origin\"]\n vcs = evil", "", &[]),
    (
        "[protocol]\n allow = always\n[remote \"origin\"]\n url = ext::EVIL",
        "",
        &["fetch ext::EVIL"],
    ),
    (
        "[protocol \"ext\"]\n allow = always\n[url \"ext::EVIL \"]\n insteadOf = file://",
        "",
        &["fetch"],
    ),
    ("[submodule \"x\"]\n update = !EVIL", "", &[]),
    (
        "[submodule]\n recurse = true\n[fetch]\n recurseSubmodules = true",
        "",
        &[],
    ),
    ("[uploadpack]\n packObjectsHook = EVIL", "", &[]),
    (
        "[trailer \"x\"]\n command = EVIL\n[trailer \"y\"]\n cmd = EVIL",
        "",
        &[],
    ),
    (
        "[difftool \"x\"]\n cmd = EVIL\n[mergetool \"x\"]\n cmd = EVIL\n[diff]\n tool = x",
        "",
        &[],
    ),
    (
        "[gc]\n auto = 1\n recentObjectsHook = EVIL\n[maintenance]\n auto = true",
        "",
        &[],
    ),
    (
        "[extensions]\n partialClone = origin\n[remote \"origin\"]\n promisor = true\n uploadpack = EVIL",
        "",
        &[],
    ),
    ("[extensions]\n worktreeConfig = true", "", &["status"]),
];

fn fill(text: &str, target: &Target) -> String {
    let path = |below: &str| target.world.path(below).display().to_string();
    text.replace("EVILCONFIG", &path("evil/config"))
        .replace("EVILDIR", &path("evil/hooks"))
        .replace("EVIL", &target.evil())
}

// S1-84, S1-95: no configuration entry starts a program: every tool refuses the entry and names its file.
#[tokio::test]
async fn no_config_entry_starts_a_program() {
    let target = Target::new().await;
    let evil = target.evil();
    fs::write(
        target.world.path("evil/config"),
        format!("[core]\n fsmonitor = {evil}\n"),
    )
    .unwrap();
    for hook in ["pre-commit", "post-checkout", "reference-transaction"] {
        script(
            &target.world.path("evil/hooks").join(hook),
            &format!("exec {evil}"),
        );
    }
    let mut bites = 0;
    for (text, attributes, commands) in PROGRAMS {
        let plant = || {
            target.restore();
            target.config(&fill(text, &target));
            if text.contains("worktreeConfig") {
                let own = target.clone.join(".git/config.worktree");
                fs::write(own, format!("[core]\n fsmonitor = {evil}\n")).unwrap();
            }
            if !attributes.is_empty() {
                fs::write(target.clone.join(".gitattributes"), attributes).unwrap();
            }
        };
        if !commands.is_empty() {
            plant();
            let commands: Vec<String> = commands
                .iter()
                .map(|command| fill(command, &target))
                .collect();
            let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
            target.plainly(&commands);
            assert!(
                target.ran().is_some(),
                "the attack does not work on plain git: {text}"
            );
            bites += 1;
        }
        plant();
        for (tool, said) in target.everything().await {
            let message = said.expect_err(&format!("{tool} took {text}"));
            assert!(
                message.contains(".git/config") || message.contains("config.worktree"),
                "{tool} on {text}: {message}"
            );
        }
        assert_eq!(target.ran(), None, "{text}");
    }
    assert!(bites >= 25, "{bites}");
}

// S1-84: hooks and other files in a repository start no program, and only `git_commit` may fail because of them.
#[tokio::test]
async fn files_in_a_repository_start_no_program() {
    let target = Target::new().await;
    let evil = target.evil();
    let clone = &target.clone;
    target.restore();
    for hook in [
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "post-checkout",
        "pre-push",
        "post-index-change",
        "reference-transaction",
        "pre-auto-gc",
        "fsmonitor-watchman",
        "post-rewrite",
        "proc-receive",
    ] {
        script(
            &clone.join(".git/hooks").join(hook),
            &format!("exec {evil}"),
        );
    }
    fs::write(
        clone.join(".gitattributes"),
        "* filter=lfs diff=lfs merge=lfs working-tree-encoding=UTF-16 ident\n",
    )
    .unwrap();
    fs::create_dir_all(clone.join(".git/info")).unwrap();
    fs::write(clone.join(".git/info/attributes"), "* filter=x diff=x\n").unwrap();
    let modules =
        format!("[submodule \"x\"]\n path = sub\n url = ext::{evil}\n update = !{evil}\n");
    fs::write(clone.join(".gitmodules"), modules).unwrap();
    fs::write(clone.join(".git/description"), "x").unwrap();
    let config = target.world.path(".gitconfig");
    fs::write(config, format!("[core]\n fsmonitor = {evil}\n")).unwrap();
    target.plainly(&["commit --allow-empty -m x"]);
    assert!(
        target.ran().is_some(),
        "the attack does not work on plain git"
    );
    let _ = fs::remove_file(target.world.path("ran"));
    fs::write(clone.join("again"), "again").unwrap();
    for (tool, said) in target.everything().await {
        assert!(said.is_ok() || tool == "git_commit", "{tool}: {said:?}");
    }
    assert_eq!(target.ran(), None);
}

// S1-84: the configuration of a nested repository starts no program, and `git_commit` leaves out an untracked nested repository.
#[tokio::test]
async fn nested_repository_is_not_read() {
    let target = Target::new().await;
    target.restore();
    let (clone, evil) = (&target.clone, target.evil());
    let sub = clone.join("sub");
    fs::create_dir(&sub).unwrap();
    target.world.git(&sub, &["init", "-q", "-b", "main"]);
    fs::write(sub.join("file"), "x").unwrap();
    target.world.git(&sub, &["add", "."]);
    target.world.git(&sub, &["commit", "-qm", "x"]);
    // The first nested repository is committed; the second one is untracked.
    target.world.git(clone, &["add", "sub"]);
    target.world.git(clone, &["commit", "-qm", "Take in"]);
    copy(&sub, &clone.join("loose"));
    for folder in ["sub", "loose"] {
        let config = clone.join(folder).join(".git/config");
        let before = fs::read_to_string(&config).unwrap();
        fs::write(
            config,
            format!("{before}[core]\n fsmonitor = {evil}\n[filter \"x\"]\n clean = {evil}\n"),
        )
        .unwrap();
        fs::write(clone.join(folder).join(".gitattributes"), "* filter=x\n").unwrap();
        fs::write(clone.join(folder).join("file"), "y").unwrap();
    }
    fs::write(clone.join("README.md"), "# Once more\n").unwrap();
    target.plainly(&["status"]);
    assert!(
        target.ran().is_some(),
        "the attack does not work on plain git"
    );
    let _ = fs::remove_file(target.world.path("ran"));
    for (tool, said) in target.everything().await {
        let said = said.unwrap_or_else(|message| panic!("{tool}: {message}"));
        if tool == "git_commit" {
            assert_eq!(
                (&said["files"], &said["left_out"]),
                (&json!(2), &json!(["loose/"]))
            );
        }
    }
    assert_eq!(target.ran(), None);
}
