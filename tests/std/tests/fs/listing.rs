//! Tests of the `list_directory` tool.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::place::Place;

// S1-79, listDirectory: the folder is created on the first call, and paths in the result are normalised.
#[tokio::test]
async fn an_empty_conversation_has_an_empty_folder() {
    let place = Place::new();
    fs::remove_dir(&place.path).unwrap();
    for path in [".", "./", "a/..", &place.path.display().to_string()] {
        let out = place.ok("list_directory", json!({"path": path})).await;
        let empty = json!({"path": ".", "entries": [], "total_entries": 0, "truncated": false, "next_offset": null});
        assert_eq!(out, empty);
    }
    assert!(place.path.is_dir());
}

// listDirectory: folders are listed first, and hidden names are listed only on request.
#[tokio::test]
async fn folders_are_listed_first_and_hidden_names_only_on_request() {
    let place = Place::new();
    place.put("b.txt", "12345");
    place.put("a.txt", "");
    place.put("z/inner", "");
    place.put(".env", "S=1");
    symlink("b.txt", place.path.join("link")).unwrap();
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        place.path.join("pipe"),
        rustix::fs::Mode::RWXU,
    )
    .unwrap();
    let out = place.ok("list_directory", json!({})).await;
    let entry = |name: &str, kind: &str, size: Value| json!({"name": name, "type": kind, "size_bytes": size});
    let entries = [
        entry("z", "directory", Value::Null),
        entry("a.txt", "file", json!(0)),
        entry("b.txt", "file", json!(5)),
        entry("link", "link", Value::Null),
        entry("pipe", "other", Value::Null),
    ];
    assert_eq!(
        (&out["entries"], &out["total_entries"]),
        (&json!(entries), &json!(5))
    );
    let out = place
        .ok("list_directory", json!({"path": ".", "hidden": true}))
        .await;
    assert_eq!(
        (&out["entries"][1]["name"], &out["total_entries"]),
        (&json!(".env"), &json!(6))
    );
    let message = place
        .fails("list_directory", json!({"path": "b.txt"}))
        .await;
    assert_eq!(message, "`b.txt` is a file, write the path of a folder");
    let message = place.fails("list_directory", json!({"path": "none"})).await;
    assert_eq!(
        message,
        "`none` does not exist, `list_directory` and `find_files` list the files that do"
    );
}

// listDirectory: a page has at most 200 entries, and `next_offset` for the next page.
#[tokio::test]
async fn long_folder_is_listed_in_pages() {
    let place = Place::new();
    for n in 0..450 {
        place.put(&format!("f{n:03}"), "");
    }
    let (mut names, mut offset, mut lengths) = (Vec::new(), Some(0), Vec::new());
    while let Some(at) = offset {
        let out = place
            .ok("list_directory", json!({"path": ".", "offset": at}))
            .await;
        assert_eq!(out["total_entries"], 450);
        assert_eq!(out["truncated"], !out["next_offset"].is_null());
        let entries = out["entries"].as_array().unwrap();
        lengths.push(entries.len());
        names.extend(
            entries
                .iter()
                .map(|entry| entry["name"].as_str().unwrap().to_owned()),
        );
        offset = out["next_offset"].as_u64();
    }
    assert_eq!(lengths, [200, 200, 50]);
    assert_eq!(
        names,
        (0..450).map(|n| format!("f{n:03}")).collect::<Vec<_>>()
    );
}
