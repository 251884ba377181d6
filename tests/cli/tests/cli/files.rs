//! Tests of files in results and in progress: their descriptions, the redaction of secrets, and `--save`.

use std::fs;
use std::path::Path;

use crate::support::{gallery, gallery_with_key};

const KEY: &str = "key-4711-xyz";

// Earlier bug: progress was printed as base64.
#[test]
fn file_in_progress_is_described() {
    let ran = gallery(&["call", "draw_steps"]).succeeds();
    assert!(
        ran.err.contains("draw_steps [image/png, 70 bytes]"),
        "{ran:?}"
    );
    assert!(!ran.err.contains("iVBOR"), "{ran:?}");
    assert_eq!(ran.out, "1\n");
    // With `--format json`, the complete file is printed.
    let json = gallery(&["call", "draw_steps", "--format", "json"]).succeeds();
    assert!(json.out.contains("data:image/png;base64,iVBOR"), "{json:?}");
}

// Earlier bug: a file that was left out because of a secret was described as if it were in the output.
#[test]
fn file_with_a_secret_is_reported_as_left_out() {
    let ran = gallery_with_key(&["call", "keep_key"], KEY).succeeds();
    assert_eq!(
        ran.out,
        "[text/plain, k.txt: left out because it contains a secret]\n"
    );
    assert!(!ran.err.contains("--format json"), "{ran:?}");
    let ran = gallery_with_key(&["call", "keep_key_in_parts"], KEY).succeeds();
    assert!(
        ran.out
            .contains("[text/plain, k.txt: left out because it contains a secret]"),
        "{ran:?}"
    );
    assert!(
        ran.out.contains("[text/plain, fine.txt, 4 bytes]"),
        "{ran:?}"
    );
}

// Earlier bug: texts between files were printed as JSON.
#[test]
fn texts_of_parts_are_printed_as_text() {
    let ran = gallery(&["call", "show_pages"]).succeeds();
    assert_eq!(
        ran.out,
        "Before\n[image/png, page.png, 70 bytes]\nAfter\n[text/plain, page.png, 6 bytes]\n"
    );
    assert!(ran.err.contains("--save FOLDER"), "{ran:?}");
}

#[track_caller]
fn saved(tool: &[&str], folder: &Path) -> Vec<String> {
    let words = [&["call"], tool, &["--save", folder.to_str().unwrap()]].concat();
    let ran = gallery(&words).succeeds();
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in &names {
        assert!(
            ran.err
                .contains(&format!("{}", folder.join(name).display())),
            "{ran:?}"
        );
    }
    names
}

// Earlier bug: a file could not be saved.
#[test]
fn files_of_each_type_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let pixel = |name: &str| {
        let bytes = fs::read(folder.path().join(name)).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() == 70, "{name}");
        fs::remove_file(folder.path().join(name)).unwrap();
    };
    let at = folder.path();
    assert_eq!(saved(&["draw_pixel", "--name", "a.png"], at), ["a.png"]);
    pixel("a.png");
    assert_eq!(saved(&["show_part"], at), ["part.png"]);
    pixel("part.png");
    assert_eq!(saved(&["show_model"], at), ["model.png"]);
    pixel("model.png");
    // A file without a name is named after the tool and the media type.
    assert_eq!(saved(&["record_sound"], at), ["record_sound.wav"]);
    fs::remove_file(at.join("record_sound.wav")).unwrap();
    // A file that is hidden from the model is saved as well.
    assert_eq!(saved(&["write_report"], at), ["report.txt"]);
    assert_eq!(fs::read(at.join("report.txt")).unwrap(), b"all sales");
    fs::remove_file(at.join("report.txt")).unwrap();
    // The second of two files with one name gets a number.
    assert_eq!(saved(&["show_pages"], at), ["page-2.png", "page.png"]);
    assert_eq!(fs::read(at.join("page-2.png")).unwrap(), b"second");
    pixel("page.png");
}

#[test]
fn existing_file_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.csv");
    fs::write(&file, "mine").unwrap();
    let into = folder.path().to_str().unwrap();
    let ran = gallery(&["call", "export_rows", "--save", into]).succeeds();
    assert!(ran.err.contains("rows-2.csv"), "{ran:?}");
    assert!(
        ran.err.contains("a file `rows.csv` already exists"),
        "{ran:?}"
    );
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    assert_eq!(
        fs::read(folder.path().join("rows-2.csv")).unwrap(),
        b"a,b\n"
    );
}

#[test]
fn saved_names_do_not_leave_the_folder() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("new/inner");
    let into = folder.to_str().unwrap();
    for (name, expected) in [
        ("../../evil.png", "evil.png"),
        ("/etc/passwd.png", "passwd.png"),
        (r"C:\temp\evil2.png", "evil2.png"),
        ("..", "draw_pixel.png"),
        ("a/..", "draw_pixel-2.png"),
        (".hidden", "hidden"),
        ("a\u{1b}[31mb\n.png", "a[31mb.png"),
        ("\u{202e}gnp.exe.png", "gnp.exe.png"),
        ("CON.png", "_CON.png"),
    ] {
        let ran = gallery(&["call", "draw_pixel", "--name", name, "--save", into]).succeeds();
        assert!(folder.join(expected).is_file(), "{name:?}: {ran:?}");
    }
    let long = format!("{}.png", "ä".repeat(300));
    gallery(&["call", "draw_pixel", "--name", &long, "--save", into]).succeeds();
    let all: Vec<_> = fs::read_dir(&folder).unwrap().collect();
    assert_eq!(all.len(), 10);
    assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn link_in_the_folder_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    let into = folder.path().join("in");
    fs::create_dir(&into).unwrap();
    std::os::unix::fs::symlink(&elsewhere, into.join("rows.csv")).unwrap();
    gallery(&["call", "export_rows", "--save", into.to_str().unwrap()]).succeeds();
    assert!(!elsewhere.exists());
    assert_eq!(fs::read(into.join("rows-2.csv")).unwrap(), b"a,b\n");
}

#[test]
fn unsaved_output_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().to_str().unwrap();
    let ran = gallery(&["call", "link_file", "--save", into]).succeeds();
    assert!(ran.err.contains("https://example.com/a.png"), "{ran:?}");
    let ran = gallery_with_key(&["call", "keep_key", "--save", into], KEY).succeeds();
    assert!(ran.err.contains("contains a secret"), "{ran:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let ran = gallery(&["call", "ask_first", "--approve", "--save", into]).succeeds();
    assert!(ran.err.contains("no file"), "{ran:?}");
    // The `--save` folder is checked before the tool runs.
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let ran = gallery(&["call", "export_rows", "--save", file.to_str().unwrap()]);
    ran.fails(2, &["--save", "file"]);
    assert_eq!(ran.out, "");
}

#[test]
fn saved_files_are_listed_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().to_str().unwrap();
    let words = ["call", "export_rows", "--save", into, "--format", "json"];
    let ran = gallery(&words).succeeds();
    assert_eq!(
        ran.json()["saved"][0]["path"],
        folder.path().join("rows.csv").to_str().unwrap()
    );
    assert_eq!(ran.json()["saved"][0]["problem"], serde_json::Value::Null);
    assert!(!ran.err.contains("rows.csv"), "{ran:?}");
    let without = gallery(&["call", "export_rows", "--format", "json"]).succeeds();
    assert_eq!(without.json()["saved"].as_array().unwrap().len(), 0);
}

#[cfg(unix)]
#[test]
fn unwritable_folder_fails_the_command_but_prints_the_result() {
    // Creating a file in `/proc` fails, even for root.
    if !Path::new("/proc/self").is_dir() {
        return;
    }
    let ran = gallery(&["call", "export_rows", "--save", "/proc/self"]);
    ran.fails(1, &["not saved:", "`rows.csv` cannot be saved", "help:"]);
    assert!(ran.out.contains("[text/csv, rows.csv, 4 bytes]"), "{ran:?}");
}
