//! The `read_file` and `read_file_parts` tools.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tool_std::fs::Limits;

use crate::place::Place;

fn numbered(lines: usize) -> String {
    (1..=lines).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "line {n}");
        text
    })
}

// S1-73: an empty path and a NUL byte are refused, each with its own message.
#[tokio::test]
async fn empty_path_and_nul_byte_have_their_own_errors() {
    let place = Place::new();
    place.put("a", "a");
    let empty = place.fails("read_file", json!({"path": ""})).await;
    let nul = place.fails("read_file", json!({"path": "a\0b"})).await;
    assert_eq!(
        empty,
        "the path is empty, write `.` for the workspace itself"
    );
    assert_eq!(nul, "`a\\0b` contains a NUL character, remove it");
    for tool in ["list_directory", "find_files", "search_files"] {
        let args = |path: &str| json!({"path": path, "pattern": "a"});
        let args = |path: &str| match tool {
            "list_directory" => json!({"path": path}),
            _ => args(path),
        };
        assert_eq!(place.fails(tool, args("")).await, empty);
        assert_eq!(place.fails(tool, args("a\0b")).await, nul);
    }
    for path in ["", "a\0b"] {
        let told = place
            .fails("write_file", json!({"path": path, "content": ""}))
            .await;
        assert_eq!(told, if path.is_empty() { &*empty } else { &*nul });
    }
}

// S1-75, S1-79, readFile: the result of a whole file has its size and number of lines. `..` inside the workspace is resolved, and a path that leaves
// the workspace is refused.
#[tokio::test]
async fn whole_file_is_returned_with_its_size_and_lines() {
    let place = Place::new();
    place.put("b.txt", "one\ntwo\nthrée");
    let out = place.ok("read_file", json!({"path": "a/.././b.txt"})).await;
    let whole = json!({
        "path": "b.txt", "content": "one\ntwo\nthrée", "size_bytes": 14, "lines": 3,
        "start_line": 1, "end_line": 3, "truncated": false, "next_offset": null,
    });
    assert_eq!(out, whole);
    for path in ["../b.txt", "a/../../b.txt", "..", "a/../..", "./.././b.txt"] {
        let told = place.fails("read_file", json!({"path": path})).await;
        assert!(
            told.ends_with("leads out of the workspace, write a path that stays in it"),
            "{told}"
        );
    }
    place.put("empty", "");
    let out = place.ok("read_file", json!({"path": "empty"})).await;
    assert_eq!(
        (&out["content"], &out["lines"], &out["truncated"]),
        (&json!(""), &json!(0), &json!(false))
    );
}

// S1-77: an absolute path is read inside the workspace and refused outside.
#[tokio::test]
async fn absolute_path_is_read_only_inside_the_workspace() {
    let place = Place::new();
    place.put(".repos/o/r-1/README.md", "hello");
    let base = place.path.display().to_string();
    let out = place
        .ok(
            "read_file",
            json!({"path": format!("{base}/.repos/o/r-1/README.md")}),
        )
        .await;
    assert_eq!(
        (&out["path"], &out["content"]),
        (&json!(".repos/o/r-1/README.md"), &json!("hello"))
    );
    let out = place
        .ok(
            "read_file",
            json!({"path": format!("{base}/.//.repos/x/../o/r-1/README.md")}),
        )
        .await;
    assert_eq!(out["content"], "hello");

    // Sibling folders are refused, including those whose names begin with or are a prefix of the workspace's name.
    for sibling in ["conv2", "conv1x", "conv"] {
        let folder = place.path.parent().unwrap().join(sibling);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("secret"), "canary").unwrap();
        for path in [
            format!("{}/secret", folder.display()),
            format!("{base}/../{sibling}/secret"),
        ] {
            let told = place.fails("read_file", json!({"path": path})).await;
            assert_eq!(
                told,
                format!(
                    "`{path}` is outside the workspace, write the path relative to the workspace, such as `notes/plan.md`"
                )
            );
        }
    }
    let told = place
        .fails("read_file", json!({"path": "/etc/passwd"}))
        .await;
    assert!(told.contains("is outside the workspace"), "{told}");
}

// S1-77: an absolute path inside the workspace is accepted even if the root is behind a symbolic link.
#[cfg(unix)]
#[tokio::test]
async fn absolute_path_is_inside_if_the_root_is_behind_a_link() {
    use tool_core::prelude::*;
    use tool_std::workspace::Workspaces;

    let place = Place::new();
    let link = place.around().join("link");
    std::os::unix::fs::symlink(place.around().join("ws"), &link).unwrap();
    place.put("a", "text");
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("conv1")
        .with(Workspaces::new(&link))
        .build();
    for base in [
        link.join("acme/conversations/conv1"),
        place.path.canonicalize().unwrap(),
    ] {
        let path = json!({"path": base.join("a")}).to_string();
        let result = place
            .tools
            .call(ToolCall::new("c", "read_file", path), &cx)
            .await;
        assert!(
            result.model_text().contains("text"),
            "{}",
            result.model_text()
        );
    }
}

// readFile: a result has at most 500 lines, and has the offset of the rest.
#[tokio::test]
async fn long_file_is_continued_at_next_offset() {
    let place = Place::new();
    let text = numbered(1234);
    place.put("long", &text);
    let (mut read, mut offset, mut results) = (String::new(), Some(0), Vec::new());
    while let Some(at) = offset {
        let out = place
            .ok("read_file", json!({"path": "long", "offset": at}))
            .await;
        assert_eq!(
            (&out["lines"], &out["size_bytes"]),
            (&json!(1234), &json!(text.len()))
        );
        read.push_str(out["content"].as_str().unwrap());
        results.push((
            out["start_line"].as_u64().unwrap(),
            out["end_line"].as_u64().unwrap(),
            out["truncated"] == true,
        ));
        offset = out["next_offset"].as_u64();
    }
    assert_eq!(read, text);
    assert_eq!(
        results,
        [(1, 500, true), (501, 1000, true), (1001, 1234, false)]
    );

    // An offset past the end returns an empty text and no next offset.
    let out = place
        .ok(
            "read_file",
            json!({"path": "long", "offset": text.len() + 9}),
        )
        .await;
    assert_eq!(
        (&out["content"], &out["next_offset"]),
        (&json!(""), &Value::Null)
    );
}

// readFile: a long line is split only between characters, and an offset inside a character is refused.
#[tokio::test]
async fn long_line_is_continued_at_whole_characters() {
    let place = Place::limited(Limits::default().bytes(10));
    let text = "äöü€😀äöü€😀\nshort\näöü€😀äöü€😀x";
    place.put("wide", text);
    let (mut read, mut offset) = (String::new(), Some(0));
    while let Some(at) = offset {
        let out = place
            .ok("read_file", json!({"path": "wide", "offset": at}))
            .await;
        let part = out["content"].as_str().unwrap();
        assert!(!part.is_empty() && part.len() <= 10);
        let before = text[..usize::try_from(at).unwrap()].matches('\n').count() + 1;
        assert_eq!(out["start_line"], before);
        read.push_str(part);
        offset = out["next_offset"].as_u64();
    }
    assert_eq!(read, text);
    let told = place
        .fails("read_file", json!({"path": "wide", "offset": 1}))
        .await;
    assert!(
        told.contains("take `offset` from the `next_offset` of a result"),
        "{told}"
    );
}

// readFile: `tail` works for files over 8 MiB, and returns at most the last 500 lines. The reference implementation refuses files over 512 KB. `tail`
// and `offset` exclude each other.
#[tokio::test]
async fn tail_works_for_files_of_any_length() {
    let place = Place::new();
    let text = numbered(900_000);
    assert!(text.len() > (8 << 20), "{}", text.len());
    place.put("log", &text);
    for (tail, first, cut) in [
        (1, 900_000, false),
        (3, 899_998, false),
        (500, 899_501, false),
        (900_000, 899_501, true),
    ] {
        let out = place
            .ok("read_file", json!({"path": "log", "tail": tail}))
            .await;
        let content = out["content"].as_str().unwrap();
        assert!(
            content.starts_with(&format!("line {first}\n")) && content.ends_with("line 900000\n"),
            "{tail}"
        );
        assert_eq!(
            (&out["start_line"], &out["end_line"]),
            (&json!(first), &json!(900_000))
        );
        assert_eq!(
            (&out["truncated"], &out["next_offset"]),
            (&json!(cut), &Value::Null)
        );
        assert_eq!(out["lines"], 900_000);
    }
    // The offset is far behind the first piece that is read of the file.
    let at = text.find("line 700000\n").unwrap();
    let out = place
        .ok("read_file", json!({"path": "log", "offset": at}))
        .await;
    assert_eq!(
        (&out["start_line"], &out["end_line"]),
        (&json!(700_000), &json!(700_499))
    );
    assert!(
        out["content"]
            .as_str()
            .unwrap()
            .starts_with("line 700000\n")
    );

    place.put("short", "a\nb");
    let out = place
        .ok("read_file", json!({"path": "short", "tail": 9}))
        .await;
    assert_eq!(
        (&out["content"], &out["truncated"]),
        (&json!("a\nb"), &json!(false))
    );
    let told = place
        .fails(
            "read_file",
            json!({"path": "short", "tail": 1, "offset": 2}),
        )
        .await;
    assert_eq!(
        told,
        "`tail` and `offset` exclude each other, leave one out"
    );
}

// readFile: the end and single lines of a file of 20 MiB can be read, and the end of a file of 257 MiB.
#[tokio::test]
async fn huge_file_is_read_in_pieces() {
    use std::os::unix::fs::FileExt as _;

    let place = Place::new();
    place.put("long", "line\n".repeat(2000));
    let file = place.path.join("long");
    let file = std::fs::File::options().write(true).open(file).unwrap();
    // Unwritten parts of a sparse file use no disk space and are read as NUL, which is a valid character.
    let size = 20 << 20;
    file.write_all_at("\nmiddle €\n".as_bytes(), size / 2)
        .unwrap();
    file.write_all_at(b"\nbefore\nlast\n", size).unwrap();
    let end = size + 13;
    for (arguments, content, line) in [
        (json!({"tail": 2}), "before\nlast\n", 2004),
        (json!({"tail": 1}), "last\n", 2005),
        (json!({"offset": end - 5}), "last\n", 2005),
    ] {
        let mut call = json!({"path": "long"});
        let known = arguments.as_object().unwrap().clone();
        call.as_object_mut().unwrap().extend(known);
        let out = place.ok("read_file", call).await;
        assert_eq!(out["content"], content, "{arguments}");
        assert_eq!(
            (&out["start_line"], &out["lines"], &out["size_bytes"]),
            (&json!(line), &json!(2005), &json!(end))
        );
    }
    let parts = json!({"parts": [
        {"path": "long", "start_line": 2002, "end_line": 2002},
        {"path": "long", "start_line": 1999, "end_line": 2000},
    ]});
    let out = place.ok("read_file_parts", parts).await;
    assert_eq!(out["parts"][0]["text"], "middle €\n");
    assert_eq!(out["parts"][1]["text"], "line\nline\n");
    // The file is now longer than 257 MiB.
    file.write_all_at(b"\nend\n", 257 << 20).unwrap();
    let out = place
        .ok("read_file", json!({"path": "long", "tail": 1}))
        .await;
    assert_eq!(
        (&out["content"], &out["lines"]),
        (&json!("end\n"), &json!(2007))
    );
}

// readFile: a result with long lines has at most 512 KiB and ends at a line end.
#[tokio::test]
async fn long_lines_are_limited_to_512_kib_at_a_line_end() {
    let place = Place::new();
    let line = format!("{}\n", "x".repeat(9_999));
    let text = line.repeat(200);
    place.put("wide", &text);
    let (mut read, mut offset) = (String::new(), Some(0));
    let mut lengths = Vec::new();
    while let Some(at) = offset {
        let out = place
            .ok("read_file", json!({"path": "wide", "offset": at}))
            .await;
        let content = out["content"].as_str().unwrap();
        assert!(content.ends_with('\n'));
        lengths.push(content.len());
        read.push_str(content);
        offset = out["next_offset"].as_u64();
        assert_eq!(out["truncated"], offset.is_some());
    }
    assert_eq!(read, text);
    // 52 such lines fit into 524,288 bytes.
    assert_eq!(lengths, [520_000, 520_000, 520_000, 440_000]);
    let out = place
        .ok("read_file", json!({"path": "wide", "tail": 100}))
        .await;
    assert_eq!(
        (out["content"].as_str().unwrap().len(), &out["truncated"]),
        (520_000, &json!(true))
    );
    // A file whose length is the limit is returned completely, and a file with one more byte is truncated.
    place.put("just", "y".repeat(512 << 10));
    place.put("over", "y".repeat((512 << 10) + 1));
    let out = place.ok("read_file", json!({"path": "just"})).await;
    assert_eq!(
        (out["content"].as_str().unwrap().len(), &out["truncated"]),
        (524_288, &json!(false))
    );
    let out = place.ok("read_file", json!({"path": "over"})).await;
    assert_eq!(
        (out["content"].as_str().unwrap().len(), &out["next_offset"]),
        (524_288, &json!(524_288))
    );
}

// readFile: the tail of a file with long lines is truncated to the limit, at the start of a line if possible.
#[tokio::test]
async fn tail_of_a_file_without_line_ends_fits_the_limit() {
    let place = Place::limited(Limits::default().bytes(10));
    place.put("one", "ä".repeat(100));
    let out = place
        .ok("read_file", json!({"path": "one", "tail": 1}))
        .await;
    assert_eq!(
        (&out["content"], &out["truncated"]),
        (&json!("äääää"), &json!(true))
    );
    place.put("two", format!("{}\nend\n", "x".repeat(50)));
    let out = place
        .ok("read_file", json!({"path": "two", "tail": 2}))
        .await;
    assert_eq!(
        (&out["content"], &out["start_line"]),
        (&json!("end\n"), &json!(2))
    );
}

// readFile: the error for a file that is not text or too long names the reason, and long files without line ends are read correctly.
#[tokio::test]
async fn unreadable_files_are_refused_with_the_reason() {
    let place = Place::limited(Limits::default().file_bytes(9 << 20));
    place.put("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    place.put("latin1", b"caf\xe9 au lait");
    place.put("cut", b"text\xe2\x82");
    place.put("far", [&b"x".repeat(5 << 20)[..], b"\xff"].concat());
    place.put("huge", "x".repeat((9 << 20) + 1));
    for (path, told) in [
        (
            "logo.png",
            "is a binary file (it contains a NUL byte), only text can be read",
        ),
        ("latin1", "is not UTF-8 text from byte 3 on"),
        ("cut", "is not UTF-8 text from byte 4 on"),
        ("far", "is not UTF-8 text from byte 5242880 on"),
        (
            "huge",
            "is longer than the 9437184 bytes that are read of a file",
        ),
    ] {
        let text = place.fails("read_file", json!({"path": path})).await;
        assert!(text.contains(told), "{text}");
        let parts = json!({"parts": [{"path": path, "start_line": 1, "end_line": 2}]});
        assert_eq!(place.fails("read_file_parts", parts).await, text);
    }
    // A character whose bytes are in two pieces is decoded correctly. A piece has 256 KiB.
    let text = format!("{}€{}\n", "x".repeat((4 << 20) - 1), "y".repeat(10));
    place.put("across", &text);
    let out = place
        .ok(
            "read_file",
            json!({"path": "across", "offset": (4 << 20) - 1}),
        )
        .await;
    assert_eq!(out["content"], "€yyyyyyyyyy\n");
    // The file consists of whole pieces, and its last line has no line end.
    place.put("whole", "z".repeat(4 << 20));
    let parts = json!({"parts": [{"path": "whole", "start_line": 1, "end_line": 1}]});
    assert_eq!(
        place.ok("read_file_parts", parts).await["parts"][0]["total_lines"],
        1
    );
    // The file consists of whole pieces, and its last line has a line end.
    place.put("exact", "z\n".repeat(2 << 20));
    let out = place
        .ok("read_file", json!({"path": "exact", "tail": 2}))
        .await;
    assert_eq!(
        (&out["content"], &out["lines"]),
        (&json!("z\nz\n"), &json!(2 << 20))
    );
}

// readFile: the errors for a missing file and for a path that is not a file explain what to do.
#[tokio::test]
async fn missing_paths_and_folders_are_reported_with_what_to_do() {
    let place = Place::new();
    place.put("src/main.rs", "");
    let told = |path: &str| place.fails("read_file", json!({"path": path}));
    assert_eq!(
        told("nothing").await,
        "`nothing` does not exist, `list_directory` and `find_files` list the files that do"
    );
    assert_eq!(
        told("src").await,
        "`src` is a folder, write the path of a file in it"
    );
    assert_eq!(
        told(".").await,
        "`.` is a folder, write the path of a file in it"
    );
    assert_eq!(
        told("src/main.rs/x").await,
        "`src/main.rs/x` uses a file as a folder"
    );
    assert_eq!(
        told("src\\main.rs").await,
        "`src\\main.rs` has a backslash, write `/` between folders"
    );
}

// S2-37, readFileParts: parts are exact line ranges; a range beyond the end is clamped, and the part is flagged.
#[tokio::test]
async fn parts_are_exact_and_ranges_beyond_the_end_are_clamped() {
    let place = Place::new();
    place.put(".repos/o/r-1/lib.rs", numbered(10));
    place.put("b", "one\ntwo");
    place.put("empty", "");
    let part = |path: &str, start: u64, end: u64| json!({"path": path, "start_line": start, "end_line": end});
    let lib = ".repos/o/r-1/lib.rs";
    let parts = [
        part(lib, 3, 5),
        part(lib, 1, 1),
        part(lib, 8, 99),
        part(lib, 40, 50),
        part("b", 2, 2),
        part("empty", 1, 3),
    ];
    let result = place.call("read_file_parts", json!({"parts": parts})).await;
    let out: Value = serde_json::from_str(result.output().unwrap().get()).unwrap();
    let told = |path: &str, start: u64, end: u64, lines: u64, text: &str, clamped: bool| {
        json!({
            "path": path, "start": start, "end": end, "total_lines": lines, "text": text,
            "clamped": clamped, "truncated": false,
        })
    };
    assert_eq!(
        out["parts"],
        json!([
            told(lib, 3, 5, 10, "line 3\nline 4\nline 5\n", false),
            told(lib, 1, 1, 10, "line 1\n", false),
            told(lib, 8, 10, 10, "line 8\nline 9\nline 10\n", true),
            told(lib, 10, 10, 10, "line 10\n", true),
            told("b", 2, 2, 2, "two", false),
            told("empty", 0, 0, 0, "", true),
        ])
    );
    let cited: Vec<_> = result
        .citations()
        .iter()
        .map(|citation| citation.source_id().to_owned())
        .collect();
    assert_eq!(cited[0], format!("{lib}#L3-L5"));

    let told = place
        .fails("read_file_parts", json!({"parts": [part(lib, 5, 3)]}))
        .await;
    assert_eq!(
        told,
        format!("`{lib}`: `end_line` 3 is before `start_line` 5, the range includes both")
    );
    for parts in [
        json!([]),
        json!(vec![part("b", 1, 1); 11]),
        json!([part("b", 0, 1)]),
    ] {
        let told = place
            .fails("read_file_parts", json!({"parts": parts}))
            .await;
        assert!(
            told.starts_with("the arguments do not fit the schema"),
            "{told}"
        );
    }
}

// S2-37, readFileParts: a part has at most 400 lines.
#[tokio::test]
async fn a_part_that_is_too_long_is_cut_and_flagged() {
    let place = Place::new();
    place.put("long", numbered(1000));
    let part = |start: u64, end: u64| json!({"path": "long", "start_line": start, "end_line": end});
    let out = place
        .ok(
            "read_file_parts",
            json!({"parts": [part(101, 900), part(501, 900)]}),
        )
        .await;
    for (part, (start, end, cut)) in out["parts"]
        .as_array()
        .unwrap()
        .iter()
        .zip([(101, 500, true), (501, 900, false)])
    {
        assert_eq!((&part["start"], &part["end"]), (&json!(start), &json!(end)));
        assert_eq!(
            (&part["truncated"], &part["clamped"]),
            (&json!(cut), &json!(false))
        );
        let text = part["text"].as_str().unwrap();
        assert!(
            text.starts_with(&format!("line {start}\n"))
                && text.ends_with(&format!("line {end}\n"))
        );
    }

    // The limit applies to the sum of all parts.
    let place = Place::limited(Limits::default().bytes(20));
    place.put("long", numbered(9));
    let out = place
        .ok(
            "read_file_parts",
            json!({"parts": [part(1, 2), part(1, 2), part(5, 6)]}),
        )
        .await;
    let told: Vec<_> = out["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| (part["text"].as_str().unwrap(), part["truncated"] == true))
        .collect();
    assert_eq!(
        told,
        [("line 1\nline 2\n", false), ("line 1", true), ("", true)]
    );
}
