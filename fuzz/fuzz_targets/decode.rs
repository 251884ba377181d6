//! Text as bytes from anywhere, read by one of some 340 types in one pass and by the guard with serde: verdicts, values and issues are the same.
//!
//! `cargo +nightly fuzz run decode -- -max_total_time=3600 -dict=fuzz_targets/json.dict`

#![no_main]

use std::sync::LazyLock;

use decode_tests::{Case, cases};
use libfuzzer_sys::fuzz_target;

static CASES: LazyLock<Vec<Case>> = LazyLock::new(cases);

// The first two bytes choose the type, the others are the text.
fuzz_target!(|bytes: &[u8]| {
    let Some(([first, second], text)) = bytes.split_first_chunk() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let case = &CASES[usize::from(u16::from_le_bytes([*first, *second])) % CASES.len()];
    if let Err(disagreement) = (case.compare)(text)
        && disagreement.known.is_none()
    {
        panic!("{}: {disagreement:#?}\n{text}", case.name);
    }
});
