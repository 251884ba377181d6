//! The `write_file` and `edit_file` tools.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use serde_json::json;
use tool_std::fs::Limits;

use crate::place::Place;

// S1-75, S1-79, writeFile: missing folders are created with the file.
#[tokio::test]
async fn a_file_is_written_with_the_folders_that_it_needs() {
    let place = Place::new();
    let out = place
        .ok(
            "write_file",
            json!({"path": "x/../a/b/c.txt", "content": "größe"}),
        )
        .await;
    assert_eq!(
        out,
        json!({"path": "a/b/c.txt", "size_bytes": 7, "created": true})
    );
    assert_eq!(place.holds("a/b/c.txt"), "größe");
    assert!(!place.path.join("x").exists());
    let out = place
        .ok("write_file", json!({"path": "a/b/c.txt", "content": ""}))
        .await;
    assert_eq!(
        out,
        json!({"path": "a/b/c.txt", "size_bytes": 0, "created": false})
    );
    assert_eq!(place.holds("a/b/c.txt"), "");
    let names: Vec<_> = fs::read_dir(place.path.join("a/b"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["c.txt"], "a temporary file remains");
}

// S1-74: absolute paths are refused, including Windows paths.
#[tokio::test]
async fn absolute_paths_are_refused() {
    let place = Place::new();
    let inside = place.path.join("a").display().to_string();
    for path in [
        "/etc/passwd",
        "C:\\x",
        "C:/x",
        "c:x",
        "\\x",
        "\\\\host\\share\\x",
        "//x",
        &inside,
    ] {
        for (tool, arguments) in [
            ("write_file", json!({"path": path, "content": "x"})),
            (
                "edit_file",
                json!({"path": path, "old_text": "a", "new_text": "b"}),
            ),
        ] {
            let message = place.fails(tool, arguments).await;
            assert_eq!(
                message,
                format!(
                    "`{path}` is absolute, write the path relative to the workspace, such as `notes/plan.md`"
                )
            );
        }
    }
    assert_eq!(fs::read_dir(&place.path).unwrap().count(), 0);
}

// writeFile: `overwrite: false` creates a file atomically and keeps an existing one.
#[tokio::test]
async fn without_overwrite_an_existing_file_is_kept() {
    let place = Place::new();
    let write = |content: &str| json!({"path": "once", "content": content, "overwrite": false});
    let out = place.ok("write_file", write("first")).await;
    assert_eq!(out["created"], true);
    let message = place.fails("write_file", write("second")).await;
    assert_eq!(
        message,
        "`once` already exists: set `overwrite` to true to replace it, or change a part of it with `edit_file`"
    );
    assert_eq!(place.holds("once"), "first");
}

// writeFile: of concurrent calls with `overwrite: false`, exactly one creates the file.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn exactly_one_of_concurrent_writers_creates_the_file() {
    let place = Place::new();
    for round in 0..20 {
        let path = format!("{round}");
        let calls = (0..8).map(|n| {
            let content = n.to_string().repeat(100_000);
            place.call(
                "write_file",
                json!({"path": path, "content": content, "overwrite": false}),
            )
        });
        let results = futures::future::join_all(calls).await;
        let made: Vec<usize> = results
            .iter()
            .enumerate()
            .filter(|(_, result)| !result.is_error())
            .map(|(n, _)| n)
            .collect();
        assert_eq!(made.len(), 1);
        assert_eq!(place.holds(&path), made[0].to_string().repeat(100_000));
    }
}

// writeFile: the file is replaced by a new file with the same mode, so a reader that has opened the old file reads the old content.
#[tokio::test]
async fn a_file_is_replaced_in_one_step_and_keeps_its_mode() {
    let place = Place::new();
    place.put("run.sh", "old");
    let path = place.path.join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    let before = fs::metadata(&path).unwrap();
    let old = fs::File::open(&path).unwrap();
    place
        .ok("write_file", json!({"path": "run.sh", "content": "new"}))
        .await;
    let after = fs::metadata(&path).unwrap();
    assert_ne!(before.ino(), after.ino());
    assert_eq!(after.mode() & 0o7777, 0o750);
    assert_eq!(std::io::read_to_string(old).unwrap(), "old");
    place
        .ok(
            "edit_file",
            json!({"path": "run.sh", "old_text": "new", "new_text": "newer"}),
        )
        .await;
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o750);
}

// writeFile: the error for a path that cannot be written explains what to do.
#[tokio::test]
async fn unwritable_paths_are_reported_with_what_to_do() {
    let place = Place::limited(Limits::default().written_bytes(10));
    place.put("file", "text");
    place.put("folder/file", "text");
    for (path, message) in [
        (".", "`.` is the workspace itself, write the path of a file"),
        (
            "new/",
            "`new` is written like a folder, write the path of a file",
        ),
        (
            "new/..",
            "`.` is written like a folder, write the path of a file",
        ),
        (
            "folder",
            "`folder` is a folder, write the path of a file in it",
        ),
        ("file/x", "`file/x` uses a file as a folder"),
    ] {
        assert_eq!(
            place
                .fails("write_file", json!({"path": path, "content": "x"}))
                .await,
            message
        );
    }
    let message = place
        .fails(
            "write_file",
            json!({"path": "new", "content": "12345678901"}),
        )
        .await;
    assert!(
        message.contains("would have 11 bytes, more than the 10"),
        "{message}"
    );
    let message = place
        .fails(
            "edit_file",
            json!({"path": "file", "old_text": "t", "new_text": "12345", "replace_all": true}),
        )
        .await;
    assert!(
        message.contains("would have 12 bytes, more than the 10"),
        "{message}"
    );
    assert_eq!(place.holds("file"), "text");
    assert!(!place.path.join("new").exists());
}

// edit_file: an edit replaces exact text that occurs once, or all occurrences on request.
#[tokio::test]
async fn edit_replaces_exact_text_that_occurs_once() {
    let place = Place::new();
    place.put("a", "one\ntwo\nthree\ntwo\n");
    let edit = |old: &str, new: &str, all: bool| json!({"path": "a", "old_text": old, "new_text": new, "replace_all": all});
    let out = place.ok("edit_file", edit("one\ntwo", "1\n2", false)).await;
    assert_eq!(
        out,
        json!({"path": "a", "size_bytes": 14, "replacements": 1, "line": 1})
    );
    assert_eq!(place.holds("a"), "1\n2\nthree\ntwo\n");
    let out = place.ok("edit_file", edit("three\n", "", false)).await;
    assert_eq!(
        (&out["line"], place.holds("a").as_str()),
        (&json!(3), "1\n2\ntwo\n")
    );
    place.put("a", "two two\nx\ntwo\n");
    let message = place.fails("edit_file", edit("two", "2", false)).await;
    assert_eq!(
        message,
        "`old_text` is in `a` 3 times (lines 1, 1, 3): add lines around it that make it unique, or set `replace_all`"
    );
    assert_eq!(place.holds("a"), "two two\nx\ntwo\n");
    let out = place.ok("edit_file", edit("two", "2", true)).await;
    assert_eq!(
        (&out["replacements"], place.holds("a").as_str()),
        (&json!(3), "2 2\nx\n2\n")
    );
}

// edit_file: the length of the result is checked before the text is built, because the text may not fit in memory.
#[tokio::test]
async fn edit_with_an_oversized_result_is_refused() {
    let place = Place::new();
    place.put("a", "a".repeat(1 << 20));
    let new = "b".repeat(1_000_000);
    let edit = json!({"path": "a", "old_text": "a", "new_text": new, "replace_all": true});
    assert_eq!(
        place.fails("edit_file", edit).await,
        "`a` would have 1048576000000 bytes, more than the 10485760 that may be written: write several files"
    );
    assert_eq!(place.holds("a").len(), 1 << 20);
    // A result whose length is the limit is accepted. The length of the old text does not count.
    let place = Place::limited(Limits::default().written_bytes(10));
    place.put("a", "aa1234567");
    let edit =
        |new: &str| json!({"path": "a", "old_text": "a", "new_text": new, "replace_all": true});
    let message = place.fails("edit_file", edit("xyz")).await;
    assert!(message.contains("would have 13 bytes"), "{message}");
    let place = Place::limited(Limits::default().written_bytes(13));
    place.put("a", "aa1234567");
    place.ok("edit_file", edit("xyz")).await;
    assert_eq!(place.holds("a"), "xyzxyz1234567");
}

// edit_file: the limit of `write_file` applies.
#[tokio::test]
async fn file_too_long_to_edit_is_reported() {
    let place = Place::limited(Limits::default().written_bytes(10));
    place.put("a", "12345678901");
    let edit = json!({"path": "a", "old_text": "1", "new_text": "", "replace_all": true});
    let message = place.fails("edit_file", edit).await;
    assert!(
        message.starts_with(
            "`a` is longer than the 10 bytes that may be written, so it cannot be edited"
        ),
        "{message}"
    );
}

// edit_file: the error for a missing text names the likely cause.
#[tokio::test]
async fn missing_text_is_reported_with_the_likely_cause() {
    let place = Place::new();
    place.put("a", "fn  main() {\r\n\tlet x = 1;\r\n}\r\n");
    let message = async |old: &str| {
        place
            .fails(
                "edit_file",
                json!({"path": "a", "old_text": old, "new_text": "y"}),
            )
            .await
    };
    assert!(message("{\n\tlet x").await.ends_with(
        "the lines of the file end with `\\r\\n`, write these line ends in `old_text` too"
    ));
    assert!(
        message("fn main() {").await.ends_with(
            "the file has it with different white space, copy it exactly from `read_file`"
        )
    );
    assert!(
        message("let z")
            .await
            .ends_with("read the file again and copy the text exactly")
    );
    let same = json!({"path": "a", "old_text": "x", "new_text": "x"});
    assert_eq!(
        place.fails("edit_file", same).await,
        "`old_text` and `new_text` are the same, nothing would change"
    );
    let none = json!({"path": "b", "old_text": "x", "new_text": "y"});
    assert_eq!(
        place.fails("edit_file", none).await,
        "`b` does not exist, `list_directory` and `find_files` list the files that do"
    );
    assert!(
        message("")
            .await
            .starts_with("the arguments do not fit the schema")
    );
    place.put("bin", b"\0\x01");
    let binary = json!({"path": "bin", "old_text": "x", "new_text": "y"});
    assert!(
        place
            .fails("edit_file", binary)
            .await
            .contains("is a binary file")
    );
}

// If two calls edit a file concurrently, every edit that succeeds is in the file.
#[test]
fn concurrent_edits_lose_no_change() {
    const EDITS: usize = 400;
    let place = Place::new();
    // The file is long enough to make reads and writes of both calls overlap.
    let rest = "the rest\n".repeat(2_000);
    place.put("x", format!("a 0\nb 0\n{rest}"));
    let edit = |who: &str| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let mut done = 0;
        while done < EDITS {
            let arguments = json!({
                "path": "x",
                "old_text": format!("{who} {done}\n"),
                "new_text": format!("{who} {}\n", done + 1),
            });
            match runtime.block_on(place.call("edit_file", arguments)).error() {
                None => done += 1,
                Some(error) => {
                    let message = error.model_text();
                    assert!(
                        message.contains("in the meantime"),
                        "after {who} {done}: {message}"
                    );
                }
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| edit("a"));
        scope.spawn(|| edit("b"));
    });
    assert_eq!(place.holds("x"), format!("a {EDITS}\nb {EDITS}\n{rest}"));
}
