//! Symbolic links that lead out of the workspace.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::json;

use super::{CANARY, Trial};

/// Returns link targets that are outside of the workspace.
fn targets(trial: &Trial) -> Vec<PathBuf> {
    let above = trial.place.path.parent().unwrap().to_owned();
    let around = trial.place.around().to_owned();
    let mut targets: Vec<PathBuf> = [
        "..",
        "../",
        "../.",
        "../conv2",
        "../conv2/secret",
        "../conv2/deep",
        "../conv1x",
        "../conv1x/secret",
        "../conv",
        "../../..",
        "../../../../outside",
        "../../../../outside/secret",
        "a/../../conv2",
        "./.././conv2/secret",
        "a/b/../../../conv2",
        "/",
        "/etc",
        "/etc/passwd",
        "/proc/self/root",
        "/proc/self/cwd",
        "/proc/self/environ",
        "/proc/self/fd",
        "/dev/null",
        "/dev/zero",
        "/dev/stdin",
        "/dev/tty",
        // These files do not exist, and a write must not create them.
        "../new",
        "../conv2/new",
        "../conv2/new/deeper",
        "../../../../outside/new",
        "/tmp/not-there-yet/new",
    ]
    .map(PathBuf::from)
    .into();
    for folder in [
        above.join("conv2"),
        above.join("conv1x"),
        above.clone(),
        around.join("outside"),
        around.join("ws/../outside"),
    ] {
        targets.push(folder.join("secret"));
        targets.push(folder.join("new"));
        targets.push(folder.join("deep"));
        targets.push(folder);
    }
    for fd in 0..20 {
        targets.push(format!("/proc/self/fd/{fd}").into());
    }
    targets
}

// S1-76, S1-78: no tool follows a link to a target outside.
#[tokio::test]
async fn no_tool_follows_a_link_outside() {
    let trial = Trial::new();
    let base = trial.place.path.clone();
    let targets = targets(&trial);
    assert!(targets.len() >= 65);
    for target in &targets {
        // The paths below name the link, files behind the link, a link to the link, and a link in a subfolder.
        symlink(target, base.join("link")).unwrap();
        symlink("link", base.join("second")).unwrap();
        symlink("../../second", base.join("a/b/third")).unwrap();
        for path in [
            "link",
            "link/",
            "link/.",
            "link/secret",
            "link/deep/secret",
            "link/new",
            "link/new/er",
            "link/../conv2/secret",
            "second",
            "second/secret",
            "second/new",
            "a/b/third",
            "a/b/third/deep",
            "a/b/third/new",
            "./a/../link/secret",
            "none/../second/secret",
            &base.join("link/secret").display().to_string(),
        ] {
            // Tools resolve `..` in the text of the path, so `link/..` is the workspace.
            if path.contains("..") {
                trial.every_tool(path).await;
            } else {
                trial.refused(path).await;
            }
        }
        trial.every_tool(".").await;
        trial.every_tool("a").await;
        assert_eq!(
            fs::read_link(base.join("link")).unwrap(),
            *target,
            "a tool replaced the link"
        );
        for link in ["link", "second", "a/b/third"] {
            fs::remove_file(base.join(link)).unwrap();
        }
        let _ = fs::remove_dir_all(base.join("conv2"));
    }
    trial.is_untouched();
    assert!(!trial.place.path.parent().unwrap().join("new").exists());
    assert!(!PathBuf::from("/tmp/not-there-yet").exists());
}

// S1-76: tools read through a link to a target inside, but never write through it.
#[tokio::test]
async fn a_link_that_stays_inside_is_read_and_never_written_through() {
    let trial = Trial::new();
    let base = &trial.place.path;
    symlink("a/b", base.join("folder")).unwrap();
    symlink("a/b/inside.txt", base.join("link")).unwrap();
    symlink("loop", base.join("loop")).unwrap();
    symlink("pong", base.join("ping")).unwrap();
    symlink("ping", base.join("pong")).unwrap();
    symlink("nowhere", base.join("dangling")).unwrap();
    symlink(base.join("a"), base.join("absolute")).unwrap();
    for path in ["link", "folder/inside.txt"] {
        let out = trial.place.ok("read_file", json!({"path": path})).await;
        assert_eq!(out["content"], "inside\n");
    }
    let out = trial
        .place
        .ok("list_directory", json!({"path": "folder"}))
        .await;
    assert_eq!(out["total_entries"], 1);
    for (path, target) in [
        ("link", "a/b/inside.txt"),
        ("folder/inside.txt", "a/b"),
        ("folder/new", "a/b"),
        ("dangling", "nowhere"),
    ] {
        let message = trial
            .place
            .fails("write_file", json!({"path": path, "content": "x"}))
            .await;
        let name = path.split('/').next().unwrap();
        assert_eq!(
            message,
            format!("`{path}`: `{name}` is a link to `{target}`, write the path of its target")
        );
        let edit = json!({"path": path, "old_text": "inside", "new_text": "x"});
        assert_eq!(trial.place.fails("edit_file", edit).await, message);
    }
    for path in [
        "loop",
        "ping",
        "pong/x",
        "absolute",
        "absolute/b/inside.txt",
        "dangling",
    ] {
        trial.refused(path).await;
    }
    assert_eq!(trial.place.holds("a/b/inside.txt"), "inside\n");
    // A directory walk does not follow links, so it ends and lists each file once.
    let out = trial.place.ok("find_files", json!({"pattern": "*"})).await;
    assert_eq!(out["paths"], json!(["a/b/inside.txt", "file"]));
    let out = trial
        .place
        .ok("search_files", json!({"pattern": "inside"}))
        .await;
    assert_eq!(out["matches"], 2);
    // A search may start at a link.
    for start in ["folder", "link"] {
        let args = json!({"pattern": "inside", "path": start, "glob": "*.txt"});
        let out = trial.place.ok("search_files", args).await;
        assert_eq!(out["files"][0]["path"], "a/b/inside.txt");
    }
    trial.is_untouched();
}

// S1-78: ignore rules are read only from regular files inside.
#[tokio::test]
async fn ignore_rules_are_read_only_from_regular_files() {
    use rustix::fs::{CWD, Mode, mkfifoat};

    let trial = Trial::new();
    let base = &trial.place.path;
    let all = json!(["a/b/inside.txt", "file"]);
    for name in [".gitignore", ".ignore", "a/.gitignore", "a/b/.ignore"] {
        for target in [
            "../conv2/secret",
            "../../conv2/secret",
            "../../../conv2/secret",
            "/etc/passwd",
            "/dev/zero",
            "file",
        ] {
            symlink(target, base.join(name)).unwrap();
            let out = trial.place.ok("find_files", json!({"pattern": "*"})).await;
            assert_eq!(out["paths"], all);
            fs::remove_file(base.join(name)).unwrap();
        }
        mkfifoat(CWD, base.join(name), Mode::RWXU).unwrap();
        let out = trial.place.ok("find_files", json!({"pattern": "*"})).await;
        assert_eq!(out["paths"], all);
        fs::remove_file(base.join(name)).unwrap();
        fs::create_dir(base.join(name)).unwrap();
        let out = trial
            .place
            .ok("search_files", json!({"pattern": CANARY}))
            .await;
        assert_eq!(out["matches"], 0);
        fs::remove_dir(base.join(name)).unwrap();
        trial.outside.is_quiet(name);
    }
    trial.is_untouched();
}
