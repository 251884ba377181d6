//! Fuzzes the decoding of one of about 340 types, in one pass and by the guard with serde: verdicts, values and issues must be equal.
//!
//! `cargo +nightly fuzz run decode -- -max_total_time=3600 -dict=fuzz_targets/json.dict`

#![no_main]

use std::sync::LazyLock;

use decode_tests::{Case, cases, written};
use libfuzzer_sys::fuzz_target;

static CASES: LazyLock<Vec<Case>> = LazyLock::new(cases);

// Bytes 0 and 1 select the type. If byte 2 is even, the rest is the text. If it is odd, the next eight bytes are a seed from which a text for the
// type is generated, and the rest are changes of three bytes each: an offset in the text and the byte to write there.
fuzz_target!(|bytes: &[u8]| {
    let Some(([first, second, third], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let case = &CASES[usize::from(u16::from_le_bytes([*first, *second])) % CASES.len()];
    let text = if third % 2 == 0 { Some(rest.to_vec()) } else { changed(case, rest) };
    let Some(Ok(text)) = text.map(String::from_utf8) else {
        return;
    };
    if let Err(disagreement) = (case.compare)(&text)
        && disagreement.known.is_none()
    {
        panic!("{}: {disagreement:#?}\n{text}", case.name);
    }
});

fn changed(case: &Case, bytes: &[u8]) -> Option<Vec<u8>> {
    let (seed, changes) = bytes.split_first_chunk()?;
    let mut text = written(case, u64::from_le_bytes(*seed)).into_bytes();
    for change in changes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]]));
        if !text.is_empty() {
            let at = at % text.len();
            text[at] = change[2];
        }
    }
    Some(text)
}
