//! Deletion of conversations and workspaces by a host that is not root, to which file modes apply.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use test_support::{Missing, Ran};
use tool_std::workspace::Workspaces;

/// The variable that names the part of a case that a child process runs, for example as a different user.
pub(crate) const CHILD: &str = "STD_TESTS_KERNEL_CHILD";

/// Runs the part of a case that the variable [`CHILD`] names. Returns false if the variable is not set.
pub(crate) fn child() -> bool {
    let Some(name) = std::env::var_os(CHILD) else {
        return false;
    };
    println!("child begins");
    match name.to_str() {
        Some("removes_read_only_files") => removes_read_only_files(),
        Some("skips_unremovable_files") => skips_unremovable_files(),
        Some("packs_work") => crate::hosts::packs_work(),
        Some("mounts_stay") => crate::restrict::mounts_stay(),
        other => panic!("unknown part {other:?}"),
    }
    true
}

/// Runs [`child`] in a child process as a user that is subject to file modes.
fn as_nobody(name: &str, root: &Path) -> Ran {
    fs::set_permissions(root, fs::Permissions::from_mode(0o777)).unwrap();
    let own = root.join("tests");
    fs::copy(std::env::current_exe().unwrap(), &own).unwrap();
    let mut nobody = std::process::Command::new("setpriv");
    nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    nobody.arg(&own).env(CHILD, name);
    nobody.env("ROOT", root.join("ws")).current_dir(root);
    match nobody.output() {
        Ok(said) if String::from_utf8_lossy(&said.stdout).contains("child begins") => {
            assert!(said.status.success(), "{said:?}");
            Ok(())
        }
        _ => Err(Missing::new(
            "only root can run a program as a different user with `setpriv`",
        )),
    }
}

/// Creates a tree like Go's module cache, with folders whose modes forbid their owner to write, list or enter them.
fn locked_tree(base: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    let set = |path: PathBuf, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::create_dir_all(base.join("go/mod/a@v1/b/c")).unwrap();
    for file in ["go/mod/a@v1/go.mod", "go/mod/a@v1/b/c/x.go"] {
        fs::write(base.join(file), "").unwrap();
        set(base.join(file), 0o444);
    }
    for (folder, mode) in [
        ("go/mod/a@v1/b/c", 0o000),
        ("go/mod/a@v1/b", 0o555),
        ("go/mod/a@v1", 0o311),
        ("go/mod", 0o555),
        ("go", 0o000),
    ] {
        set(base.join(folder), mode);
    }
    set(base.to_owned(), 0o500);
}

// S1-89, S1-90: read-only files and folders are deleted, even if file modes apply to the host.
pub(crate) fn read_only_files_are_deleted_case() -> Ran {
    let root = tempfile::tempdir().unwrap();
    as_nobody("removes_read_only_files", root.path())?;
    Ok(())
}

fn removes_read_only_files() {
    let root = PathBuf::from(std::env::var_os("ROOT").unwrap());
    let workspaces = Workspaces::new(&root);
    for id in ["one", "two"] {
        let workspace = workspaces.open("acme", id).unwrap();
        workspace.dir().unwrap();
        locked_tree(workspace.path());
        assert!(
            fs::read_dir(workspace.path().join("go")).is_err(),
            "file modes do not apply to this user"
        );
    }
    assert!(workspaces.delete_conversation("acme", "one").unwrap());
    assert_eq!(
        fs::read_dir(root.join("acme/conversations"))
            .unwrap()
            .count(),
        1
    );
    assert!(workspaces.delete_instance("acme").unwrap());
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

// S1-89: if some files cannot be removed, all other files, in particular tokens, are removed nevertheless.
pub(crate) fn deleting_a_workspace_skips_unremovable_files_case() -> Ran {
    let root = tempfile::tempdir().unwrap();
    let base = root.path().join("ws/acme");
    // These files belong to a different user, and the host may not delete files in their folders.
    let stuck = ["conversations/a/stuck/in", "conversations/b/stuck/in"];
    for folder in stuck {
        fs::create_dir_all(base.join(folder)).unwrap();
        fs::write(base.join(folder).join("x"), "").unwrap();
    }
    for file in ["conversations/a/file", "conversations/z/file"] {
        fs::create_dir_all(base.join(file).parent().unwrap()).unwrap();
        fs::write(base.join(file), "").unwrap();
    }
    for id in ["a", "b"] {
        fs::create_dir_all(base.join("git-state").join(id)).unwrap();
        fs::write(base.join("git-state").join(id).join("token"), "t").unwrap();
        fs::create_dir_all(base.join("conversation-ids")).unwrap();
        fs::write(base.join("conversation-ids").join(id), id).unwrap();
    }
    let give = |path: &Path| {
        let _ = std::os::unix::fs::lchown(path, Some(65534), Some(65534));
    };
    let mut all = vec![root.path().join("ws")];
    while let Some(path) = all.pop() {
        if stuck.iter().any(|stuck| path == base.join(stuck)) {
            continue;
        }
        give(&path);
        if path.is_dir() {
            all.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
    }
    as_nobody("skips_unremovable_files", root.path())?;
    // A host with the necessary permissions deletes the remaining files.
    let workspaces = Workspaces::new(root.path().join("ws"));
    assert!(workspaces.delete_instance("acme").unwrap());
    assert_eq!(fs::read_dir(root.path().join("ws")).unwrap().count(), 0);
    Ok(())
}

fn skips_unremovable_files() {
    let root = PathBuf::from(std::env::var_os("ROOT").unwrap());
    let workspaces = Workspaces::new(&root);
    let left = |below: &Path| -> Vec<String> {
        let (mut all, mut files) = (vec![below.to_owned()], Vec::new());
        while let Some(path) = all.pop() {
            if path.is_dir() {
                all.extend(
                    fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
            } else {
                files.push(path.file_name().unwrap().to_str().unwrap().to_owned());
            }
        }
        files.sort_unstable();
        files
    };
    let message = workspaces.delete_conversation("acme", "a").unwrap_err();
    assert!(message.to_string().contains("denied"), "{message}");
    assert_eq!(left(&root), ["a", "b", "file", "token", "x", "x"]);
    assert!(!root.join("acme/conversations/a").exists());
    assert!(root.join("acme/git-state/b/token").exists());
    let message = workspaces.delete_instance("acme").unwrap_err();
    assert!(message.to_string().contains("denied"), "{message}");
    assert!(!root.join("acme").exists());
    assert_eq!(left(&root), ["x", "x"]);
    assert!(workspaces.delete_instance("acme").is_err());
}
