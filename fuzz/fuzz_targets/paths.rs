//! Fuzzes workspace paths: nothing panics, accepted paths stay inside the workspace, and no tool shows a file outside of it.
//!
//! `cargo +nightly fuzz run paths -- -max_total_time=600 -max_len=512`

#![no_main]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tool_std::fs::{Limits, read_text};
use tool_std::workspace::{Workspace, WorkspacePath, Workspaces};

const CANARY: &str = "canary-3f9c";

/// A workspace that contains links to paths outside of it, and neighbouring folders with a file.
static PLACE: LazyLock<(PathBuf, Workspace)> = LazyLock::new(|| {
    let root = std::env::temp_dir().join(format!("fuzz-paths-{}", std::process::id()));
    let workspace = Workspaces::new(&root).open("acme", "conv1").unwrap();
    let dir = workspace.dir().unwrap();
    dir.create_dir_all("a/b").unwrap();
    dir.write("a/b/inside.txt", "inside\n").unwrap();
    for name in ["conv2", "conv1x"] {
        let beside = workspace.path().with_file_name(name);
        fs::create_dir_all(&beside).unwrap();
        fs::write(beside.join("s"), CANARY).unwrap();
    }
    for (link, target) in [("u", ".."), ("r", "/"), ("s", "../conv2/s"), ("a/u", "../.."), ("i", "a/b")] {
        symlink(target, workspace.path().join(link)).unwrap();
    }
    (root, workspace)
});

fuzz_target!(|text: &str| {
    let (_, workspace) = &*PLACE;
    // `@` is replaced with the workspace's own path, which the fuzzer could not guess.
    let text = text.replace('@', &workspace.path().display().to_string());
    if let Ok(path) = WorkspacePath::relative(&text) {
        stays(&path, workspace);
        assert!(!text.starts_with('/') && !text.contains('\0'));
    }
    if let Ok(path) = workspace.resolve(&text) {
        stays(&path, workspace);
        let content = read_text(workspace, &path, 0, &Limits::default());
        let told = content.map_or_else(|error| error.operator_text(), |text| text.content);
        assert!(!told.contains(CANARY) && !told.contains("root:"), "{text:?}: {told}");
    }
});

/// Asserts that a path only names entries below the workspace, and is unchanged when it is parsed again.
fn stays(path: &WorkspacePath, workspace: &Workspace) {
    let joined = workspace.path().join(path);
    assert!(joined.starts_with(workspace.path()), "{path:?}");
    let parts: Vec<_> = Path::new(path.as_str()).components().collect();
    let plain = |part: &Component<'_>| matches!(part, Component::Normal(_));
    assert!(path.as_str() == "." || parts.iter().all(plain), "{path:?}");
    assert_eq!(WorkspacePath::relative(path.as_str()).as_ref(), Ok(path));
}
