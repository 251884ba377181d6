//! Files in results and in progress: described, left out and saved.

use crate::support::{gallery, gallery_with_key};

const KEY: &str = "key-4711-xyz";

// Progress was printed as base64
#[test]
fn file_in_progress_is_described() {
    let ran = gallery(&["call", "draw_steps"]).succeeds();
    assert!(
        ran.err.contains("draw_steps [image/png, 70 bytes]"),
        "{ran:?}"
    );
    assert!(!ran.err.contains("iVBOR"), "{ran:?}");
    assert_eq!(ran.out, "1\n");
    // Machines get it whole.
    let json = gallery(&["call", "draw_steps", "--format", "json"]).succeeds();
    assert!(json.out.contains("data:image/png;base64,iVBOR"), "{json:?}");
}

// A file that was left out was described as if it was there
#[test]
fn file_that_holds_a_secret_is_said_to_be_left_out() {
    let ran = gallery_with_key(&["call", "keep_key"], KEY).succeeds();
    assert_eq!(
        ran.out,
        "[text/plain, k.txt: left out because it holds a secret]\n"
    );
    assert!(!ran.err.contains("--format json"), "{ran:?}");
    let ran = gallery_with_key(&["call", "keep_key_in_parts"], KEY).succeeds();
    assert!(
        ran.out
            .contains("[text/plain, k.txt: left out because it holds a secret]"),
        "{ran:?}"
    );
    assert!(
        ran.out.contains("[text/plain, fine.txt, 4 bytes]"),
        "{ran:?}"
    );
}

// Texts between files were printed as JSON
#[test]
fn texts_of_parts_are_printed_as_text() {
    let ran = gallery(&["call", "show_pages"]).succeeds();
    assert_eq!(
        ran.out,
        "Before\n[image/png, page.png, 70 bytes]\nAfter\n[text/plain, page.png, 6 bytes]\n"
    );
}
