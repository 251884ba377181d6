//! Workspaces, which are the folders of conversations.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use tool_core::prelude::*;
use tool_core::{Effect, ErrorKind};
use tool_std::workspace::{Reader, Workspace, WorkspaceError, Workspaces, Writer};

fn root() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn open(workspaces: &Workspaces, conversation: &str) -> Workspace {
    workspaces.open("acme", conversation).unwrap()
}

// S1-69: a conversation's folder is `{root}/{workspace}/conversations/{conversation}`.
#[test]
fn workspace_path_has_the_documented_layout() {
    let root = root();
    let workspaces = Workspaces::new(root.path());
    let path = |instance, id| workspaces.open(instance, id).unwrap().path().to_owned();
    let below = |tail: &str| root.path().join(tail);
    assert_eq!(
        path("acme", "slack:channel:U123"),
        below("acme/conversations/slack_channel_U123")
    );
    assert_eq!(
        path("a-1", "plain.id-9_"),
        below("a-1/conversations/plain.id-9_")
    );
    assert_eq!(path("0", "a/../b"), below("0/conversations/a_.._b"));
    assert_eq!(path("0", "ä\0 é"), below("0/conversations/____"));
}

// S1-70: the root is `WORKSPACES_ROOT` or the default, and it is an absolute path.
#[test]
fn root_is_the_variable_or_the_default_and_absolute() {
    // The variable is set in a child process, because a test must not change the environment of the test program.
    let at = |root: Option<&str>| {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args([
            "--exact",
            "workspace::child_prints_the_root",
            "--nocapture",
            "--ignored",
        ]);
        child.env_remove("WORKSPACES_ROOT").env("PRINTS", "yes");
        child.current_dir("/tmp");
        if let Some(root) = root {
            child.env("WORKSPACES_ROOT", root);
        }
        let said = String::from_utf8(child.output().unwrap().stdout).unwrap();
        let line = said.lines().find_map(|line| line.split("root=").nth(1));
        PathBuf::from(line.unwrap_or_else(|| panic!("{said}")))
    };
    assert_eq!(at(None), Path::new("/tmp/packages/engine/workspaces"));
    assert_eq!(at(Some("")), Path::new("/tmp/packages/engine/workspaces"));
    assert_eq!(at(Some("/var/ws")), Path::new("/var/ws"));
    assert_eq!(at(Some("ws")), Path::new("/tmp/ws"));
}

#[test]
#[ignore = "other tests start it as a child process"]
fn child_prints_the_root() {
    let workspaces = Workspaces::from_env();
    let root = workspaces.root().to_owned();
    // Changing the current folder or the variable does not change the root.
    std::env::set_current_dir("/").unwrap();
    for later in [Some("/var/later"), Some(""), None] {
        temp_env::with_var("WORKSPACES_ROOT", later, || {
            assert_eq!(workspaces.root(), root);
            assert_eq!(workspaces.clone().root(), root);
        });
    }
    println!("root={}", root.display());
}

// S1-70: the variable is read once, so a later change does not move conversations to a different root.
#[test]
fn root_is_read_from_the_variable_once() {
    let (first, later) = (root(), root());
    // The variable is set in a child process, because a test must not change the environment of the test program.
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "workspace::child_writes_after_the_variable_has_changed",
            "--ignored",
        ])
        .env("WORKSPACES_ROOT", first.path())
        .env("LATER_ROOT", later.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}"
    );
    let note = |root: &Path| root.join("acme/conversations/c1/note.txt");
    assert_eq!(fs::read_to_string(note(first.path())).unwrap(), "kept");
    assert!(!note(later.path()).exists());
    // A new `Workspaces` value reads the variable again.
    assert!(later.path().join("acme/conversations/c2").is_dir());
}

#[test]
#[ignore = "other tests start it as a child process"]
fn child_writes_after_the_variable_has_changed() {
    let workspaces = Workspaces::from_env();
    let later = std::env::var_os("LATER_ROOT").unwrap();
    temp_env::with_var("WORKSPACES_ROOT", Some(later), || {
        let folder = open(&workspaces, "c1").path().to_owned();
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("note.txt"), "kept").unwrap();
        let folder = open(&Workspaces::from_env(), "c2").path().to_owned();
        fs::create_dir_all(folder).unwrap();
    });
}

// S1-71: `open` and `delete_instance` refuse an invalid workspace name.
#[test]
fn invalid_workspace_name_is_refused() {
    let root = root();
    let workspaces = Workspaces::new(root.path());
    for slug in [
        "", "A", "-a", "a/b", "a_b", "..", ".", "a.b", "ä", "a\0", "a ", "/", "a\n",
    ] {
        let refused = workspaces.open(slug, "c");
        assert!(
            matches!(refused, Err(WorkspaceError::Instance(_))),
            "{slug:?}"
        );
        let refused = workspaces.delete_instance(slug);
        assert!(
            matches!(refused, Err(WorkspaceError::Instance(_))),
            "{slug:?}"
        );
    }
    for slug in ["a", "0", "acme", "a-b", "a-", "9-9"] {
        workspaces.open(slug, "c").unwrap();
    }
    assert!(!root.path().join("A").exists());
}

// S1-71: `Workspaces::open` accepts exactly the names that `InstanceSlug` accepts. Earlier, the context accepted `acme_eu` and `Workspaces`
// refused it, so tools could not use files in that workspace.
#[test]
fn workspaces_accept_the_slugs_of_contexts() {
    let root = root();
    let workspaces = Workspaces::new(root.path());
    let mut slugs = 0;
    for a in 0..=127_u8 {
        for b in 0..=127_u8 {
            let text: String = [a, b].map(char::from).into_iter().collect();
            let slug = text.parse::<tool_core::InstanceSlug>();
            let opened = workspaces.open(&text, "c");
            assert_eq!(slug.is_ok(), opened.is_ok(), "{text:?}");
            slugs += usize::from(slug.is_ok());
        }
    }
    assert_eq!(slugs, 36 * 37);
    workspaces.open(&"a".repeat(63), "c").unwrap();
}

// S1-72: an empty id, `.` and `..` are refused. The folder of the id `.git` has a different name.
#[test]
fn empty_and_dot_ids_are_refused() {
    let root = root();
    let workspaces = Workspaces::new(root.path());
    for id in ["", ".", ".."] {
        let refused = workspaces.open("acme", id);
        assert!(
            matches!(refused, Err(WorkspaceError::Conversation(_))),
            "{id:?}"
        );
    }
    assert_eq!(open(&workspaces, "...").path().file_name().unwrap(), "...");
    // Git would use a folder named `.git` as the repository of all folders next to it.
    for id in [".git", ".GIT", ".Git"] {
        let path = open(&workspaces, id).path().to_owned();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.len() > 4 && name.starts_with(id), "{name}");
    }
}

// S1-72: ids that map to the same characters have different folders, and each id keeps its folder.
#[test]
fn colliding_ids_share_no_files_and_keep_their_folders() {
    let root = root();
    let ids = ["a:b", "a_b", "a/b", "a b", "a\0b", "aäb", "a😀b"];
    let paths: Vec<PathBuf> = {
        let workspaces = Workspaces::new(root.path());
        ids.iter()
            .map(|id| open(&workspaces, id).path().to_owned())
            .collect()
    };
    assert_eq!(paths[0], root.path().join("acme/conversations/a_b"));
    for (i, path) in paths.iter().enumerate() {
        assert!(!paths[..i].contains(path), "{path:?}");
        assert_eq!(path.parent(), paths[0].parent());
    }
    // A new `Workspaces` value opens the ids in a different order, like another process.
    let workspaces = Workspaces::new(root.path());
    for (id, path) in ids.iter().zip(&paths).rev() {
        assert_eq!(open(&workspaces, id).path(), path);
    }
    // An id that equals the generated folder name of another id gets a different folder.
    let guessed = paths[1].file_name().unwrap().to_str().unwrap();
    assert!(!paths.contains(&open(&workspaces, guessed).path().to_owned()));
    // The folders are also different if that id is opened first.
    let other = Workspaces::new(root.path().join("other"));
    assert_eq!(open(&other, guessed).path().file_name().unwrap(), guessed);
    open(&other, "a:b");
    assert_ne!(open(&other, "a_b").path(), open(&other, guessed).path());
}

// S1-72: long ids that differ only at the end have different folders. The folder of an id with 200 characters has the id as its name.
#[test]
fn long_ids_have_separate_folders() {
    let root = root();
    let workspaces = Workspaces::new(root.path());
    let long = "x".repeat(10_000);
    let (one, other) = (
        open(&workspaces, &format!("{long}1")),
        open(&workspaces, &format!("{long}2")),
    );
    assert_ne!(one.path(), other.path());
    one.dir().unwrap();
    other.dir().unwrap();
    let most = "y".repeat(200);
    assert_eq!(open(&workspaces, &most).path().file_name().unwrap(), &*most);
}

// S1-72: colliding ids that are opened at the same time get different folders.
#[test]
fn colliding_ids_opened_concurrently_get_separate_folders() {
    for _ in 0..50 {
        let root = root();
        let paths: Vec<PathBuf> = std::thread::scope(|scope| {
            let threads: Vec<_> = [":", "/", " ", "_", ":", "/"]
                .map(|mark| {
                    let workspaces = Workspaces::new(root.path());
                    scope.spawn(move || open(&workspaces, &format!("a{mark}b")).path().to_owned())
                })
                .into_iter()
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert_eq!((&paths[0], &paths[1]), (&paths[4], &paths[5]));
        for (i, path) in paths[..4].iter().enumerate() {
            assert!(!paths[..i].contains(path), "{paths:?}");
        }
        let names = fs::read_dir(root.path().join("acme/conversation-ids")).unwrap();
        assert_eq!(
            names.count(),
            4,
            "the number of files differs from the number of ids"
        );
    }
}

// S1-79: the folder is created on first use.
#[test]
fn folder_is_created_on_first_use() {
    let root = root();
    let workspaces = Workspaces::new(root.path().join("not/yet"));
    let workspace = open(&workspaces, "c");
    assert!(!workspace.path().exists());
    workspace.dir().unwrap();
    assert!(workspace.path().is_dir());
    assert_eq!(workspace.dir().unwrap().entries().unwrap().count(), 0);
}

// S1-76: no part of the path to a workspace may be a symbolic link.
#[cfg(unix)]
#[test]
fn links_in_the_workspace_path_are_refused() {
    use std::os::unix::fs::symlink;

    let outside = root();
    for part in ["acme", "acme/conversations", "acme/conversations/c"] {
        let root = root();
        let link = root.path().join(part);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(outside.path(), &link).unwrap();
        let opened = Workspaces::new(root.path()).open("acme", "c");
        assert!(opened.is_err() || opened.unwrap().dir().is_err(), "{part}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "{part}");
    }
}

// S1-89: `delete_instance` removes the tree of a workspace and keeps other workspaces.
#[test]
fn deleting_a_workspace_removes_its_tree() {
    let root = root();
    let workspaces = Workspaces::new(root.path());
    for (instance, id) in [("acme", "a:b"), ("acme", "a_b"), ("acme-eu", "c")] {
        let workspace = workspaces.open(instance, id).unwrap();
        let dir = workspace.dir().unwrap();
        dir.create_dir_all(".repos/o/r/.git/objects").unwrap();
        dir.write(".repos/o/r/.git/HEAD", "ref").unwrap();
        dir.write("file", "text").unwrap();
    }
    assert!(workspaces.delete_instance("acme").unwrap());
    let left: Vec<_> = fs::read_dir(root.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["acme-eu"]);
    assert!(
        root.path()
            .join("acme-eu/conversations/c/.repos/o/r/.git/HEAD")
            .exists()
    );
    assert!(!workspaces.delete_instance("acme").unwrap());
    // Folder names can be used again.
    let fresh = open(&workspaces, "a_b");
    assert_eq!(fresh.path().file_name().unwrap(), "a_b");
    assert_eq!(fresh.dir().unwrap().entries().unwrap().count(), 0);
    // A root that was never used contains nothing to delete.
    assert!(
        !Workspaces::new(root.path().join("none"))
            .delete_instance("acme")
            .unwrap()
    );
}

// S1-89: `delete_instance` does not follow links, and works for every depth of folders.
#[cfg(unix)]
#[test]
fn deleting_a_workspace_follows_no_link_at_any_depth() {
    use std::os::unix::fs::symlink;

    let (root, outside) = (root(), root_with_a_file());
    let workspaces = Workspaces::new(root.path());
    let workspace = open(&workspaces, "c");
    let dir = workspace.dir().unwrap();
    dir.create_dir("in").unwrap();
    symlink(outside.path(), workspace.path().join("link")).unwrap();
    symlink(
        outside.path().join("kept"),
        workspace.path().join("in/link"),
    )
    .unwrap();
    // These folders are deeper than the longest path that the system accepts.
    let mut deep = dir.try_clone().unwrap();
    for _ in 0..3000 {
        deep.create_dir("d").unwrap();
        deep = deep.open_dir("d").unwrap();
    }
    deep.write("bottom", "").unwrap();
    drop(deep);
    assert!(workspaces.delete_instance("acme").unwrap());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    assert_eq!(
        fs::read_to_string(outside.path().join("kept")).unwrap(),
        "kept"
    );

    // If the folder of the workspace is a link, only the link is deleted.
    symlink(outside.path(), root.path().join("acme")).unwrap();
    assert!(workspaces.delete_instance("acme").unwrap());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    assert!(outside.path().join("kept").exists());
}

// S1-90: deleting a conversation removes only its folder and its tokens. The reference implementation cannot delete conversations.
#[test]
fn deleting_a_conversation_removes_only_its_folder_and_tokens() {
    let root = root();
    let workspaces = Workspaces::new(root.path());
    let below = |tail: &str| root.path().join(tail);
    // The first two ids collide, so the second gets a generated folder name. The second id is a prefix of the third id.
    for id in ["a:b", "a_b", "a_b.", "c"] {
        let workspace = open(&workspaces, id);
        workspace.dir().unwrap().create_dir("in").unwrap();
        workspace.dir().unwrap().write("in/file", "text").unwrap();
        let name = workspace.path().file_name().unwrap();
        let state = below("acme/git-state").join(name).join("o~r-1");
        fs::create_dir_all(&state).unwrap();
        fs::write(state.join("token"), "t").unwrap();
    }
    fs::write(below("acme/notes"), "the operator's").unwrap();
    fs::create_dir_all(below("acme/backup/a_b")).unwrap();
    let names = |tail: &str| {
        let mut names: Vec<_> = fs::read_dir(below(tail))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    };
    let (folders, ids) = (names("acme/conversations"), names("acme/conversation-ids"));
    assert_eq!(
        (folders.len(), names("acme/git-state")),
        (4, folders.clone())
    );
    assert!(workspaces.delete_conversation("acme", "a:b").unwrap());
    let rest: Vec<_> = folders
        .iter()
        .filter(|name| *name != "a_b")
        .cloned()
        .collect();
    assert_eq!(rest.len(), 3);
    assert_eq!(
        (names("acme/conversations"), names("acme/git-state")),
        (rest.clone(), rest)
    );
    assert!(below("acme/backup/a_b").exists() && below("acme/notes").exists());
    // The id stays reserved, so that no other conversation gets its paths.
    assert_eq!(names("acme/conversation-ids"), ids);
    let fresh = open(&workspaces, "a:b");
    assert_eq!(fresh.path(), below("acme/conversations/a_b"));
    assert_eq!(fresh.dir().unwrap().entries().unwrap().count(), 0);
    assert!(workspaces.delete_conversation("acme", "a:b").unwrap());
    assert!(!workspaces.delete_conversation("acme", "a:b").unwrap());
}

// S1-90: deleting a conversation that never existed creates nothing.
#[test]
fn deleting_an_unknown_conversation_creates_nothing() {
    let root = root();
    let workspaces = Workspaces::new(root.path().join("ws"));
    assert!(!workspaces.delete_conversation("acme", "c").unwrap());
    assert!(!root.path().join("ws").exists());
    open(&workspaces, "c");
    assert!(!workspaces.delete_conversation("acme", "other").unwrap());
    assert!(!workspaces.delete_conversation("beta", "c").unwrap());
    assert_eq!(fs::read_dir(root.path().join("ws")).unwrap().count(), 1);
    for (instance, id) in [("A", "c"), ("acme", ".."), ("acme", "")] {
        assert!(workspaces.delete_conversation(instance, id).is_err());
    }
}

// S1-90: deleting a conversation does not follow links.
#[cfg(unix)]
#[test]
fn deleting_a_conversation_follows_no_link() {
    use std::os::unix::fs::symlink;

    let (root, outside) = (root(), root_with_a_file());
    let workspaces = Workspaces::new(root.path());
    let workspace = open(&workspaces, "c");
    workspace.dir().unwrap().create_dir("in").unwrap();
    symlink(outside.path(), workspace.path().join("link")).unwrap();
    symlink(outside.path(), workspace.path().join("in/link")).unwrap();
    let state = root.path().join("acme/git-state");
    fs::create_dir(&state).unwrap();
    symlink(outside.path(), state.join("c")).unwrap();
    assert!(workspaces.delete_conversation("acme", "c").unwrap());
    assert!(fs::symlink_metadata(state.join("c")).is_err());
    // A link in place of the folder is deleted. If a parent folder is a link, the files in its target are unchanged.
    symlink(outside.path(), workspace.path()).unwrap();
    assert!(workspaces.delete_conversation("acme", "c").unwrap());
    fs::remove_dir(&state).unwrap();
    let there = root_with_a_file();
    fs::create_dir(there.path().join("c")).unwrap();
    symlink(there.path(), &state).unwrap();
    assert!(workspaces.delete_conversation("acme", "c").is_err());
    assert!(there.path().join("c").exists());
    assert_eq!(
        fs::read_to_string(outside.path().join("kept")).unwrap(),
        "kept"
    );
}

fn root_with_a_file() -> tempfile::TempDir {
    let outside = root();
    fs::write(outside.path().join("kept"), "kept").unwrap();
    outside
}

// S1-78: a handle declares its effect and opens the workspace of the caller. If the context lacks `Workspaces`, the workspace or the conversation, or
// if one of these names is invalid, only the operator's text contains the cause.
#[test]
fn handle_has_its_effect_and_opens_the_callers_workspace() {
    assert_eq!(Reader::EFFECT, Effect::READ);
    assert_eq!(Writer::EFFECT, Effect::READ.union(Effect::WRITE));
    let root = root();
    let workspaces = Workspaces::new(root.path());
    let cx = |instance: &str, id: &str| {
        ToolContext::builder()
            .workspace(instance)
            .conversation(id)
            .with(workspaces.clone())
            .build()
    };
    let reader: Reader = cx("acme", "a").get().unwrap();
    assert_eq!((reader.instance(), reader.conversation()), ("acme", "a"));
    let writer: Writer = cx("acme", "b").get().unwrap();
    assert_ne!(writer.path(), reader.path());

    let given = open(&workspaces, "given");
    let fixed = ToolContext::builder().with(given.clone()).build();
    assert_eq!(fixed.get::<Reader>().unwrap().path(), given.path());

    for (cx, absent) in [
        (ToolContext::anonymous(), "`Workspaces`"),
        (
            ToolContext::builder()
                .with(workspaces.clone())
                .conversation("c")
                .build(),
            "`workspace`",
        ),
        (
            ToolContext::builder()
                .with(workspaces.clone())
                .workspace("acme")
                .build(),
            "`conversation`",
        ),
        (cx("ACME", "c"), "not a workspace name"),
        (cx("acme", ".."), "not a valid conversation id"),
    ] {
        let error = cx.get::<Reader>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(
            error.operator_text().contains(absent),
            "{}",
            error.operator_text()
        );
        assert!(!error.model_text().contains(absent));
    }
}
