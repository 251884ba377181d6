//! Devices, mounts and file modes in a workspace.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};
use serde_json::json;
use test_support::{Missing, Ran};
use tool_std::workspace::Workspaces;

use crate::trial::{CANARY, Trial, UNNAMED, calls};

// S1-78: devices are refused immediately, without waiting for them.
pub(crate) async fn devices_are_refused_without_waiting_case() -> Ran {
    let trial = Trial::new();
    let base = &trial.place.path;
    let mut made = Vec::new();
    // The devices are null, zero, and a disk that may not exist.
    for (name, kind, major, minor) in [
        ("null", FileType::CharacterDevice, 1, 3),
        ("zero", FileType::CharacterDevice, 1, 5),
        ("disk", FileType::BlockDevice, 8, 0),
    ] {
        match mknodat(
            CWD,
            base.join(name),
            kind,
            Mode::RWXU,
            makedev(major, minor),
        ) {
            Ok(()) => made.push(name),
            Err(error) => {
                return Err(Missing::new(format_args!(
                    "devices cannot be created here: {error}"
                )));
            }
        }
    }
    trial.refuses_special_files(&made).await;
    Ok(())
}

/// Unmounts all mounts below a folder on drop, including mounts that were moved.
struct Mounts(PathBuf);

impl Drop for Mounts {
    fn drop(&mut self) {
        let all = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let places = all.lines().filter_map(|line| line.split(' ').nth(4));
        for at in places.filter(|at| Path::new(at).starts_with(&self.0)) {
            let _ = unmount(at, UnmountFlags::DETACH);
        }
    }
}

/// Returns the reason for ignoring the case if a mount failed.
fn mounted(made: rustix::io::Result<()>) -> Ran {
    made.map_err(|error| Missing::new(format_args!("nothing can be mounted here: {error}")))
}

// S1-78: bind mounts and other file systems are refused unless the host allows them.
pub(crate) async fn mounts_are_refused_unless_the_host_allows_them_case() -> Ran {
    let trial = Trial::new();
    let base = &trial.place.path;
    let outside = trial.place.around().join("outside");
    for folder in ["bound", "a/bound", "disk"] {
        fs::create_dir(base.join(folder)).unwrap();
    }
    fs::write(base.join("bound.txt"), "").unwrap();
    let mounts = Mounts(trial.place.around().canonicalize().unwrap());
    mounted(mount_bind(&outside, base.join("bound")))?;
    mounted(mount_bind(&outside, base.join("a/bound")))?;
    mounted(mount_bind(outside.join("secret"), base.join("bound.txt")))?;
    mounted(mount(
        "tmpfs",
        base.join("disk"),
        "tmpfs",
        MountFlags::empty(),
        None,
    ))?;
    fs::write(base.join("disk/file"), format!("{CANARY}\n")).unwrap();
    trial.outside.events();
    for path in [
        "bound",
        "bound/",
        "bound/secret",
        "bound/deep",
        "bound/deep/secret",
        "bound/new",
        "bound/new/er",
        "a/bound",
        "a/bound/secret",
        "a/bound/new",
        "bound.txt",
        "disk",
        "disk/file",
        "disk/new",
        "bound/.gitignore",
    ] {
        for (tool, arguments) in calls(path) {
            let result = trial.place.call(tool, arguments).await;
            assert!(result.is_error(), "{tool} {path}: {}", result.model_text());
            assert!(!result.model_text().contains(CANARY), "{tool} {path}");
            trial.outside.is_unread(path);
        }
    }
    for path in [".", "a"] {
        for (tool, arguments) in calls(path) {
            let result = trial.place.call(tool, arguments).await;
            let message = result.model_text();
            assert!(
                !message.contains(CANARY) && !message.contains(UNNAMED),
                "{tool} {path}: {message}"
            );
            trial.outside.is_unread(path);
        }
    }
    let message = trial
        .place
        .fails("read_file", json!({"path": "bound/secret"}))
        .await;
    assert_eq!(
        message,
        "`bound/secret` is on a different file system than the workspace, which the host does not allow"
    );

    // Deleting a conversation or a workspace deletes no file of a mounted folder, and does not change the folder's mode.
    let workspaces = Workspaces::new(trial.place.around().join("ws"));
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o555)).unwrap();
    assert!(workspaces.delete_conversation("acme", "conv1").is_err());
    assert!(outside.join("secret").exists() && outside.join("deep/secret").exists());
    assert_eq!(fs::metadata(&outside).unwrap().mode() & 0o777, 0o555);
    assert!(workspaces.delete_instance("acme").is_err());
    assert!(outside.join("secret").exists() && outside.join("deep/secret").exists());
    drop(mounts);
    assert!(workspaces.delete_instance("acme").unwrap());
    assert!(outside.join("secret").exists() && outside.join("deep/secret").exists());

    let trial = Trial::with(Workspaces::allow_other_devices);
    let at = trial.place.path.join("a");
    let outside = trial.place.around().join("outside");
    let _mounts = Mounts(trial.place.around().canonicalize().unwrap());
    mounted(mount_bind(&outside, &at))?;
    let out = trial
        .place
        .ok("read_file", json!({"path": "a/secret"}))
        .await;
    assert!(out["content"].as_str().unwrap().contains(CANARY));
    let out = trial
        .place
        .ok("search_files", json!({"pattern": CANARY, "path": "a"}))
        .await;
    assert_eq!(out["skipped"], 0);
    assert!(out["matches"].as_u64().unwrap() > 2);
    Ok(())
}

// S1-78: the error for a folder without permission to open it states this reason.
pub(crate) async fn unreadable_folder_is_reported_case() -> Ran {
    if rustix::process::geteuid().is_root() {
        return Err(Missing::new("root can open folders of every mode"));
    }
    let trial = Trial::new();
    let base = &trial.place.path;
    fs::create_dir(base.join("shut")).unwrap();
    fs::write(base.join("shut/file"), "x").unwrap();
    fs::set_permissions(base.join("shut"), fs::Permissions::from_mode(0o000)).unwrap();
    let message = trial
        .place
        .fails("read_file", json!({"path": "shut/file"}))
        .await;
    assert_eq!(message, "`shut/file` cannot be opened: permission denied");
    trial
        .place
        .ok("search_files", json!({"pattern": "x"}))
        .await;
    fs::set_permissions(base.join("shut"), fs::Permissions::from_mode(0o700)).unwrap();
    trial.is_untouched();
    Ok(())
}
