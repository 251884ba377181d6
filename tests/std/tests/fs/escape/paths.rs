//! Path texts that lead outside or resemble such paths: `..`, absolute paths and other spellings.

use std::collections::BTreeSet;

use super::Trial;

/// Spellings of `..` and texts that resemble it. Only the first three are resolved as `..` by file systems.
const UPS: [&str; 24] = [
    "..",
    "./..",
    "../.",
    "..\\",
    ".. ",
    " ..",
    "...",
    ". .",
    "..;",
    "%2e%2e",
    "%252e%252e",
    "..%00",
    "..\n",
    "..\t",
    "\u{ff0e}\u{ff0e}",
    "\u{2025}",
    "\u{2024}\u{2024}",
    "..\u{200b}",
    "\u{202e}..",
    "\u{feff}..",
    ".\u{301}.",
    "~",
    "..:",
    "..*",
];

/// Prefixes that resolve to the workspace.
const BEFORE: [&str; 10] = [
    "",
    "./",
    "a/../",
    "a/b/../../",
    "none/../",
    ".//",
    "a//..//",
    "a/./../",
    "./a/../././",
    "a/b/inside.txt/../../../",
];

/// Spellings of `/` and texts that resemble it.
const SLASHES: [&str; 8] = [
    "/", "//", "/./", "\\", "\u{2215}", "\u{2044}", "\u{ff0f}", "%2f",
];

/// Files outside, each with the number of levels above the workspace from which its path is relative.
const TARGETS: [(usize, &str); 5] = [
    (1, "conv2/secret"),
    (1, "conv1x/secret"),
    (1, "conv"),
    (4, "outside/secret"),
    (1, ""),
];

/// Returns paths that lead outside with every method of resolving them.
pub(super) fn out() -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for before in BEFORE {
        for up in &UPS[..3] {
            for slash in &SLASHES[..3] {
                for (depth, target) in TARGETS {
                    paths.insert(format!(
                        "{before}{}{target}",
                        format!("{up}{slash}").repeat(depth)
                    ));
                }
            }
        }
    }
    for depth in [2, 3, 10, 200, 2000] {
        paths.insert("../".repeat(depth));
        paths.insert(format!("{}etc/passwd", "../".repeat(depth)));
        paths.insert(format!(
            "{}{}etc/passwd",
            "a/".repeat(depth - 1),
            "../".repeat(depth)
        ));
    }
    paths
}

/// Returns paths that are absolute on some system, or that a shell or another system would resolve to a path outside.
fn absolute(trial: &Trial) -> BTreeSet<String> {
    let base = trial.place.path.display().to_string();
    let above = trial.place.path.parent().unwrap().display().to_string();
    let around = trial.place.around().display().to_string();
    let mut paths: BTreeSet<String> = [
        "/",
        "//",
        "/.",
        "/..",
        "/etc/passwd",
        "//etc/passwd",
        "///etc//passwd",
        "/./etc/passwd",
        "/../etc/passwd",
        "/dev/stdin",
        "/dev/fd/0",
        "/dev/null",
        "/dev/zero",
        "/proc/self/environ",
        "/proc/self/cwd",
        "/proc/self/root/etc/passwd",
        "/proc/self/fd/0",
        "/proc/self/fd/3",
        "/proc/1/environ",
        "/proc/thread-self/root",
        "C:\\x",
        "C:/x",
        "c:x",
        "C:",
        "./C:/x",
        "a/../C:x",
        "\\",
        "\\x",
        "\\\\host\\share\\x",
        "\\\\?\\C:\\x",
        "\\\\.\\pipe\\x",
        "//host/share/x",
    ]
    .map(str::to_owned)
    .into();
    for fd in 0..40 {
        paths.insert(format!("/proc/self/fd/{fd}/../conv2/secret"));
        paths.insert(format!("/dev/fd/{fd}/deep"));
    }
    for target in [
        "conv2/secret",
        "conv1x/secret",
        "conv/secret",
        "conv1x",
        "conv1.",
        "CONV1/file",
        "conv1 /file",
        "",
    ] {
        paths.insert(format!("{above}/{target}"));
        paths.insert(format!("{base}/../{target}"));
        paths.insert(format!("{base}/a/../../{target}"));
        paths.insert(format!("{base}//..//{target}"));
        paths.insert(format!("{base}/./../{target}"));
        paths.insert(format!("/proc/self/root{above}/{target}"));
        paths.insert(format!("{around}/./ws/acme/conversations/x/../{target}"));
    }
    for tail in [
        "x",
        "\0",
        "/../../conv2/secret",
        "\u{2215}..\u{2215}conv2/secret",
        "\\..\\conv2\\secret",
    ] {
        paths.insert(format!("{base}{tail}"));
    }
    paths.insert(format!("{around}/outside/secret"));
    paths
}

/// Returns paths that resemble paths outside, but are ordinary names inside the workspace.
fn look_alikes() -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for up in &UPS[3..] {
        for slash in SLASHES {
            for (depth, target) in TARGETS {
                paths.insert(format!("{}{target}", format!("{up}{slash}").repeat(depth)));
            }
        }
    }
    for text in [
        "~/.ssh/id_rsa",
        "~root/.profile",
        "$HOME/.profile",
        "${HOME}/x",
        "`pwd`/x",
        "$(pwd)/x",
        "file:///etc/passwd",
        "proc/self/root",
        "etc/passwd",
        "-",
        "--",
        "*",
        "?",
        "|cat /etc/passwd",
        "CON",
        "NUL",
        "aux.txt",
        "a:b",
        "conv2/secret",
        "\u{1f4a9}/..x",
        "..a/secret",
        "a../secret",
        ".../secret",
        "...",
        "\u{202e}txt.exe",
        "\r\n",
        "\u{7f}",
        "a\u{0}b",
        "\0",
        "\0/etc/passwd",
        "..\0/x",
        "file\0.txt",
        "file/",
        "file/.",
        "file/..",
        "a/b/inside.txt/x",
    ] {
        paths.insert(text.to_owned());
    }
    for length in [255, 256, 1000, 4095, 4096, 4097, 70_000] {
        paths.insert("x".repeat(length));
        paths.insert("x/".repeat(length / 2));
        paths.insert(format!("{}conv2/secret", "./".repeat(length / 2)));
        paths.insert("\u{1f4a9}".repeat(length / 4));
    }
    paths
}

// S1-73, S1-74, S1-75, S1-77, S1-78: every tool refuses every path that leads outside.
#[tokio::test]
async fn every_tool_refuses_paths_outside() {
    let trial = Trial::new();
    let (out, absolute, look_alikes) = (out(), absolute(&trial), look_alikes());
    assert!(out.len() + absolute.len() + look_alikes.len() >= 800);
    // Every tool refuses the path and does not create the file.
    for path in out.iter().chain(&absolute) {
        trial.refused(path).await;
    }
    assert_eq!(names(&trial), ["a", "file"]);
    for path in &look_alikes {
        trial.every_tool(path).await;
    }
    trial.is_untouched();
    assert_eq!(
        std::fs::read_dir(trial.place.path.parent().unwrap())
            .unwrap()
            .count(),
        4
    );
}

// S1-78: no search pattern matches files outside.
#[tokio::test]
async fn no_search_pattern_matches_outside() {
    use serde_json::json;

    let trial = Trial::new();
    for path in out()
        .iter()
        .chain(&absolute(&trial))
        .filter(|path| path.len() <= 900 && !path.is_empty())
    {
        for (tool, arguments) in [
            ("find_files", json!({"pattern": path})),
            (
                "find_files",
                json!({"pattern": format!("{path}/**"), "hidden": true, "ignored": true}),
            ),
            ("search_files", json!({"pattern": ".", "glob": path})),
        ] {
            let result = trial.place.call(tool, arguments).await;
            assert!(!result.model_text().contains(super::CANARY), "{path:?}");
            trial.outside.is_quiet(path);
        }
    }
    trial.is_untouched();
}

// S1-77, S1-78: control test: the same calls access files inside.
#[tokio::test]
async fn control_paths_inside_are_reached() {
    let trial = Trial::new();
    for path in [
        "file",
        "./file",
        "a/../file",
        "a//b/..//../file",
        "a/b/inside.txt",
    ] {
        for result in &trial.every_tool(path).await[..3] {
            assert!(
                result.model_text().contains("inside"),
                "{path}: {}",
                result.model_text()
            );
        }
        trial.place.put(path, "inside\n");
    }
}

fn names(trial: &Trial) -> Vec<String> {
    let entries = std::fs::read_dir(&trial.place.path).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
