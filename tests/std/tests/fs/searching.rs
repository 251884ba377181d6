//! The `find_files` and `search_files` tools.

use std::fs;

use serde_json::{Value, json};
use tool_std::fs::{Limits, search_files};
use tool_std::workspace::{Reader, Workspaces};

use crate::place::Place;

fn tree() -> Place {
    let place = Place::new();
    place.put("src/main.rs", "fn main() {\n    run();\n}\n");
    place.put(
        "src/run.rs",
        "/// Runs.\npub fn run() {\n    todo(\"a.b\");\n}\n",
    );
    place.put("src/deep/er/x.rs", "fn x() {}\n");
    place.put("tests/run.json", "{\"run\": 1}\n");
    place.put("README.md", "# Run\nrun it\n");
    place.put("target/out.rs", "fn run() {}\n");
    place.put(".hidden/h.rs", "fn run() {}\n");
    place.put(".git/config", "run = hook\n");
    place.put("sub/.git/config.rs", "fn run() {}\n");
    place.put(".gitignore", "target/\n*.log\n");
    place.put("a.log", "run\n");
    place
}

fn paths(out: &Value) -> Vec<&str> {
    out["paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| path.as_str().unwrap())
        .collect()
}

/// Returns `path:line` of each matching line.
fn places(out: &Value) -> Vec<String> {
    let files = out["files"].as_array().unwrap();
    let lines = files.iter().flat_map(|file| {
        let lines = file["lines"].as_array().unwrap().iter();
        lines
            .filter(|line| line["matched"] == true)
            .map(move |line| format!("{}:{}", file["path"].as_str().unwrap(), line["line"]))
    });
    lines.collect()
}

// find_files: files are found by name or by path.
#[tokio::test]
async fn files_are_found_by_name_or_path() {
    let place = tree();
    for (arguments, found) in [
        (
            json!({"pattern": "*.rs"}),
            vec!["src/deep/er/x.rs", "src/main.rs", "src/run.rs"],
        ),
        (
            json!({"pattern": "./src/*.rs"}),
            vec!["src/main.rs", "src/run.rs"],
        ),
        (
            json!({"pattern": "**/run.*"}),
            vec!["src/run.rs", "tests/run.json"],
        ),
        (
            json!({"pattern": "*.{md,json}"}),
            vec!["README.md", "tests/run.json"],
        ),
        (
            json!({"pattern": "deep/**", "path": "src"}),
            vec!["src/deep/er/x.rs"],
        ),
        (
            json!({"pattern": "*", "path": "tests"}),
            vec!["tests/run.json"],
        ),
        (
            json!({"pattern": "main.rs", "path": "src/main.rs"}),
            vec!["src/main.rs"],
        ),
        (json!({"pattern": "../*"}), vec![]),
        (json!({"pattern": "/etc/*"}), vec![]),
        (
            json!({"pattern": "*.rs", "ignored": true, "path": "target"}),
            vec!["target/out.rs"],
        ),
        (json!({"pattern": "*.log", "ignored": true}), vec!["a.log"]),
        (
            json!({"pattern": "h.rs", "hidden": true}),
            vec![".hidden/h.rs"],
        ),
        (
            json!({"pattern": "config*", "hidden": true, "ignored": true}),
            vec![],
        ),
    ] {
        let out = place.ok("find_files", arguments.clone()).await;
        assert_eq!(paths(&out), found, "{arguments}");
        assert_eq!(
            (&out["total"], &out["truncated"]),
            (&json!(found.len()), &json!(false))
        );
    }
    let message = place.fails("find_files", json!({"pattern": "a[b"})).await;
    assert!(
        message.starts_with("`a[b` is not a glob: ")
            && message.ends_with("write one such as `src/**/*.rs`"),
        "{message}"
    );
    let message = place
        .fails("find_files", json!({"pattern": "*", "path": "none"}))
        .await;
    assert_eq!(
        message,
        "`none` does not exist, `list_directory` and `find_files` list the files that do"
    );
}

// find_files: many files are returned in pages, in a fixed order. If a folder has more files than one search visits, the note of `find_files` and
// `search_files` says so.
#[tokio::test]
async fn found_files_are_returned_in_pages_and_in_order() {
    let place = Place::new();
    for n in 0..50 {
        place.put(&format!("d{}/f{n:02}", n % 7), "");
    }
    let (mut all, mut offset) = (Vec::new(), Some(0));
    while let Some(at) = offset {
        let out = place
            .ok(
                "find_files",
                json!({"pattern": "*", "limit": 20, "offset": at}),
            )
            .await;
        assert_eq!(out["total"], 50);
        all.extend(paths(&out).into_iter().map(str::to_owned));
        offset = out["next_offset"].as_u64();
    }
    assert!(all.len() == 50 && all.is_sorted());

    let place = Place::limited(Limits::default().walked(10));
    for n in 0..50 {
        place.put(&format!("f{n:02}"), "");
    }
    let note = "there are more than 10 files and only that many were searched, give the `path` of a folder that has fewer";
    let out = place.ok("find_files", json!({"pattern": "*"})).await;
    assert_eq!(
        (&out["total"], &out["truncated"], &out["note"]),
        (&json!(10), &json!(true), &json!(note))
    );
    assert_eq!(out["next_offset"], Value::Null);
    let out = place.ok("search_files", json!({"pattern": "absent"})).await;
    assert_eq!(
        (&out["matches"], &out["truncated"], &out["note"]),
        (&json!(0), &json!(true), &json!(note))
    );
    place.put("d/x", "");
    for tool in ["find_files", "search_files"] {
        let out = place.ok(tool, json!({"pattern": "x", "path": "d"})).await;
        assert_eq!(
            (&out["truncated"], &out["note"]),
            (&json!(false), &Value::Null)
        );
    }
}

// find_files, search_files: git's ignore rules in the workspace apply, but not the rules of the folders above it.
#[tokio::test]
async fn ignore_files_above_the_workspace_do_not_apply() {
    let place = Place::new();
    for above in [
        place.path.parent().unwrap(),
        place.around(),
        &place.around().join("ws"),
    ] {
        fs::create_dir_all(above.join(".git")).unwrap();
        fs::write(above.join(".gitignore"), "*\n").unwrap();
        fs::write(above.join(".ignore"), "*\n").unwrap();
    }
    for path in [
        "a.txt",
        "b.tmp",
        "keep.tmp",
        "out/x",
        "d/out/y",
        "d/e/b.tmp",
        "d/e/only",
        "d/e/f/only",
        "z/only",
    ] {
        place.put(path, "text\n");
    }
    place.put(".gitignore", "\u{feff}*.tmp\n!keep.tmp\n/out\n# none\n[\n");
    place.put("d/e/.gitignore", "/only\n!b.tmp\n");
    place.put("z/.gitignore", "only\n");
    place.put("z/.ignore", "!only\n");
    let all = [
        "a.txt",
        "d/e/b.tmp",
        "d/e/f/only",
        "d/out/y",
        "keep.tmp",
        "z/only",
    ];
    let out = place.ok("find_files", json!({"pattern": "*"})).await;
    assert_eq!(paths(&out), all);
    let out = place.ok("search_files", json!({"pattern": "text"})).await;
    assert_eq!(places(&out), all.map(|path| format!("{path}:1")));
    // Rules of folders between the workspace and the searched folder apply too.
    let out = place
        .ok("find_files", json!({"pattern": "*", "path": "d/e/f"}))
        .await;
    assert_eq!(paths(&out), ["d/e/f/only"]);
    place.put("d/e/f/c.tmp", "");
    place.put("y/c.tmp", "");
    assert_eq!(
        paths(
            &place
                .ok("find_files", json!({"pattern": "*", "path": "y"}))
                .await
        ),
        Vec::<&str>::new()
    );
    assert_eq!(
        paths(
            &place
                .ok("find_files", json!({"pattern": "*", "path": "out"}))
                .await
        ),
        ["out/x"]
    );
}

// search_files: matching lines are returned with their numbers.
#[tokio::test]
async fn lines_are_found_with_their_numbers() {
    let place = tree();
    for (arguments, found) in [
        (
            json!({"pattern": "fn\\s+\\w+\\("}),
            vec!["src/deep/er/x.rs:1", "src/main.rs:1", "src/run.rs:2"],
        ),
        (
            json!({"pattern": "run"}),
            vec![
                "README.md:2",
                "src/main.rs:2",
                "src/run.rs:2",
                "tests/run.json:1",
            ],
        ),
        (
            json!({"pattern": "RUN", "ignore_case": true, "glob": "*.md"}),
            vec!["README.md:1", "README.md:2"],
        ),
        (json!({"pattern": "^# Run$"}), vec!["README.md:1"]),
        (
            json!({"pattern": "(\"a.b\")", "literal": true}),
            vec!["src/run.rs:3"],
        ),
        (
            json!({"pattern": "run", "glob": "src/*.rs"}),
            vec!["src/main.rs:2", "src/run.rs:2"],
        ),
        (
            json!({"pattern": "run", "path": "src", "glob": "run.rs"}),
            vec!["src/run.rs:2"],
        ),
        (
            json!({"pattern": "run", "path": "README.md"}),
            vec!["README.md:2"],
        ),
        (
            json!({"pattern": "run", "hidden": true, "ignored": true, "glob": "{h,out,config}.*"}),
            vec![".hidden/h.rs:1", "target/out.rs:1"],
        ),
        (
            json!({"pattern": "hook", "hidden": true, "ignored": true}),
            vec![],
        ),
    ] {
        let out = place.ok("search_files", arguments.clone()).await;
        assert_eq!(places(&out), found, "{arguments}");
        assert_eq!(
            (&out["matches"], &out["truncated"]),
            (&json!(found.len()), &json!(false))
        );
    }
    let message = place.fails("search_files", json!({"pattern": "a("})).await;
    assert!(
        message.starts_with("`a(` is not a regular expression")
            && message.ends_with("set `literal` to search for this exact text"),
        "{message}"
    );
}

// search_files: a match is returned with its context lines.
#[tokio::test]
async fn match_is_returned_with_its_context_lines() {
    let place = Place::new();
    place.put("a", "1\n2\nhit\n4\nhit\n6\n7\n8\n9\nhit\n");
    let shown = async |arguments: Value| -> Vec<(u64, bool)> {
        let out = place.ok("search_files", arguments).await;
        let lines = out["files"][0]["lines"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        lines
            .iter()
            .map(|line| (line["line"].as_u64().unwrap(), line["matched"] == true))
            .collect()
    };
    let (hit, near) = (true, false);
    assert_eq!(
        shown(json!({"pattern": "hit", "context": 1})).await,
        [
            (2, near),
            (3, hit),
            (4, near),
            (5, hit),
            (6, near),
            (9, near),
            (10, hit)
        ]
    );
    assert_eq!(
        shown(json!({"pattern": "hit", "context": 1, "limit": 1})).await,
        [(2, near), (3, hit), (4, near)]
    );
    assert_eq!(
        shown(json!({"pattern": "hit", "context": 1, "limit": 1, "offset": 1})).await,
        [(5, hit), (6, near)]
    );
    assert_eq!(
        shown(json!({"pattern": "hit", "context": 2, "offset": 2})).await,
        [(8, near), (9, near), (10, hit)]
    );
    assert_eq!(shown(json!({"pattern": "hit", "offset": 3})).await, []);
}

// search_files: the pages have the same matches in the same order in every run, although several threads search.
#[tokio::test]
async fn matches_are_returned_in_pages_and_in_order() {
    let place = Place::new();
    for n in 0..200 {
        place.put(
            &format!("d{}/f{n:03}", n % 9),
            "x\nhit\ny\nhit\n".repeat(1 + n % 3),
        );
    }
    let all = places(
        &place
            .ok("search_files", json!({"pattern": "hit", "limit": 1000}))
            .await,
    );
    assert_eq!(all.len(), 798);
    for _ in 0..3 {
        let (mut read, mut offset) = (Vec::new(), Some(0));
        while let Some(at) = offset {
            let out = place
                .ok(
                    "search_files",
                    json!({"pattern": "hit", "limit": 100, "offset": at}),
                )
                .await;
            assert_eq!(out["truncated"], !out["next_offset"].is_null());
            read.extend(places(&out));
            offset = out["next_offset"].as_u64();
        }
        assert_eq!(read, all);
    }
    // The pages are also correct with context lines and from each offset.
    let whole = json!({"pattern": "hit", "context": 1, "limit": 1000});
    let whole = place.ok("search_files", whole).await;
    for (offset, limit) in [(1, 1), (3, 100), (397, 3), (790, 100), (797, 1), (798, 1)] {
        let some = json!({"pattern": "hit", "context": 1, "limit": limit, "offset": offset});
        let out = place.ok("search_files", some).await;
        let end = (offset + limit).min(798);
        assert_eq!(places(&out), all[offset..end]);
        assert_eq!(
            out["next_offset"].as_u64(),
            (end < 798).then_some(end as u64)
        );
        // Each line of a page is also in the complete result.
        for file in out["files"].as_array().unwrap() {
            let of = whole["files"].as_array().unwrap();
            let of = of.iter().find(|of| of["path"] == file["path"]).unwrap();
            let lines = file["lines"].as_array().unwrap();
            for line in lines {
                assert!(of["lines"].as_array().unwrap().contains(line), "{line}");
            }
        }
    }
    let place = Place::limited(Limits::default().bytes(10));
    place.put("f", "hit 1\nhit 2\nhit 3\nhit 4\n");
    let out = place.ok("search_files", json!({"pattern": "hit"})).await;
    assert_eq!((places(&out).len(), &out["next_offset"]), (3, &json!(3)));
}

// search_files: binary files and a file with a line of 2 MiB are not searched, and long lines are cut.
#[tokio::test]
async fn binary_files_are_skipped_and_long_lines_are_cut() {
    let place = Place::new();
    place.put("bin", b"hit\0hit\n");
    place.put(
        "wide",
        format!("{}hit\nhit{}\n", "ä".repeat(400), "ö".repeat(400)),
    );
    place.put("latin1", b"hit caf\xe9\r\n");
    place.put("huge", [&b"x".repeat(2 << 20)[..], b"hit\n"].concat());
    let out = place.ok("search_files", json!({"pattern": "hit"})).await;
    assert_eq!(places(&out), ["latin1:1", "wide:1", "wide:2"]);
    assert_eq!(out["skipped"], 1);
    assert_eq!(out["files"][0]["lines"][0]["text"], "hit caf\u{fffd}");
    let text = out["files"][1]["lines"][0]["text"].as_str().unwrap();
    assert_eq!(text, format!("{}…", "ä".repeat(250)));
}

// Searches with these patterns are refused or take less than 128 MiB. Earlier, one pattern took 1.6 GB and 40 s.
#[tokio::test]
async fn no_pattern_takes_much_memory() {
    let place = Place::new();
    place.put(
        "a.txt",
        "a quick brown fox jumps over ä lazy dog 0123456789\n".repeat(200),
    );
    let before = peak();
    for pattern in [
        "\\w".repeat(500),
        "\\w{1000}".to_owned(),
        "(\\w{100}){100}".to_owned(),
        "(\\w+\\s+){40}x".to_owned(),
        "\\w?".repeat(333),
        "(.*)".repeat(250),
        "a.{900}b".to_owned(),
        "\\b.".repeat(333),
        "[\\pL\\pM]".repeat(125),
        "\\pL".repeat(333),
        format!("[{}]", "\\w\\W".repeat(249)),
    ] {
        for ignore_case in [false, true] {
            let arguments = json!({ "pattern": pattern, "ignore_case": ignore_case });
            let result = place.call("search_files", arguments).await;
            if let Some(error) = result.error() {
                let message = error.model_text();
                assert!(message.contains("is too large: repeat less"), "{message}");
            }
        }
    }
    let grown = peak() - before;
    assert!(grown < 128 << 10, "{grown} KiB");
    // Typical patterns are accepted.
    for pattern in [
        r"(?i)\bfn\s+\w+\s*\(",
        r"\w+\s+\w+\s+\w+",
        r"^\s*(pub\s+)?(async\s+)?fn\s+[\w<>]+",
    ] {
        place
            .ok("search_files", json!({ "pattern": pattern }))
            .await;
    }
}

// The search of a cancelled call fails with `Cancelled`, whatever the pattern is.
#[test]
fn cancelled_search_ends_with_each_pattern() {
    let place = Place::new();
    place.put("a.txt", "a quick brown fox\n".repeat(1_000));
    let cancellation = tool_core::CancellationToken::new();
    let cx = tool_core::ToolContext::builder()
        .workspace("acme")
        .conversation("conv1")
        .with(Workspaces::new(place.around().join("ws")))
        .cancellation(cancellation.clone())
        .build();
    let reader: Reader = cx.get().unwrap();
    let search = |pattern: &str| {
        let (pattern, path) = (pattern.to_owned(), String::from("."));
        let limits = Limits::default();
        search_files(
            &cx, &reader, &limits, pattern, path, None, false, false, 0, false, false, 100, 0,
        )
    };
    let patterns = [
        "fox".to_owned(),
        "(.*)".repeat(250),
        "a.{90}b".to_owned(),
        "(\\w+\\s+){4}x".to_owned(),
    ];
    for pattern in &patterns {
        search(pattern).unwrap();
    }
    cancellation.cancel();
    for pattern in &patterns {
        let error = search(pattern).unwrap_err();
        assert_eq!(error.kind(), tool_core::ErrorKind::Cancelled, "{pattern}");
    }
}

/// Returns the peak memory of this process in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

// The number and length of ignore rules are limited, and dropped rules are reported. Earlier, a long `.gitignore` took 480 MB, and rules after
// 20,000 patterns were dropped without a report.
#[tokio::test]
async fn ignore_rules_are_bounded_and_dropped_rules_reported() {
    let found = async |place: &Place, hidden: bool| {
        let arguments = json!({ "pattern": "*", "hidden": hidden });
        place.ok("find_files", arguments).await
    };
    let place = Place::new();
    place.put("first", "");
    place.put("last", "");
    let many: String = (0..999)
        .map(|n| format!("x{n}\n"))
        .collect::<Vec<_>>()
        .concat();
    place.put(
        ".gitignore",
        format!("first\n# {}\n{many}", "-".repeat(100)),
    );
    let out = found(&place, false).await;
    assert_eq!((paths(&out), &out["note"]), (vec!["last"], &Value::Null));
    // The file has one pattern more than the limit.
    place.put(".gitignore", format!("first\n{many}last\n"));
    let out = found(&place, false).await;
    assert_eq!(paths(&out), ["last"]);
    let note = out["note"].as_str().unwrap();
    assert!(
        note.contains("only the beginning of `.gitignore`"),
        "{note}"
    );
    // The file is longer than the limit, and the truncated line at the limit is ignored.
    place.put(
        ".gitignore",
        format!("first\n#{}\nlast", "-".repeat(64 << 10)),
    );
    let out = found(&place, false).await;
    assert_eq!(paths(&out), ["last"]);
    assert!(out["note"].as_str().unwrap().contains("64 KiB"));
    let out = place
        .ok("search_files", json!({ "pattern": "nothing" }))
        .await;
    assert!(out["note"].as_str().unwrap().contains("64 KiB"));
    // Many ignore files together exceed a limit.
    let place = Place::new();
    for n in 0..12 {
        place.put(&format!("d{n:02}/.gitignore"), format!("gone\n{many}"));
        place.put(&format!("d{n:02}/gone"), "");
    }
    let out = found(&place, false).await;
    assert!(
        out["note"]
            .as_str()
            .unwrap()
            .contains("10000 patterns in all")
    );
}

// S1-31: the note states whether a part of an ignore file was applied.
#[tokio::test]
async fn note_states_whether_any_pattern_of_an_ignore_file_was_applied() {
    let place = Place::new();
    place.put("first", "");
    // The only line is longer than the limit.
    place.put(".gitignore", "x".repeat((64 << 10) + 1));
    let out = place.ok("find_files", json!({ "pattern": "*" })).await;
    let note = out["note"].as_str().unwrap();
    assert!(
        note.starts_with("no pattern of `.gitignore` was applied"),
        "{note}"
    );

    // Earlier files have as many patterns as all files together may have. The walk begins in the folder of the last file, so the order is known.
    let place = Place::new();
    let many = "x\n".repeat(1_000);
    let mut folder = String::new();
    for n in 0..10 {
        folder = format!("{folder}d{n}/");
        place.put(&format!("{folder}.gitignore"), &many);
    }
    place.put(&format!("{folder}last/.gitignore"), "gone\n");
    place.put(&format!("{folder}last/gone"), "");
    let out = place
        .ok(
            "find_files",
            json!({ "pattern": "*", "path": format!("{folder}last") }),
        )
        .await;
    assert_eq!(paths(&out).len(), 1);
    let note = out["note"].as_str().unwrap();
    assert!(
        note.starts_with(&format!(
            "no pattern of `{folder}last/.gitignore` was applied"
        )),
        "{note}"
    );
}
