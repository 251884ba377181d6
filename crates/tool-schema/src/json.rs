//! Parts of JSON text: escaped strings, and objects whose values are not read.

use std::fmt::{self, Write as _};

use serde::Deserialize;
use serde_json::value::RawValue;

/// Writes text as a JSON string.
#[inline]
pub fn quote(out: &mut String, text: &str) {
    out.push('"');
    escape(out, text);
    out.push('"');
}

/// Writes text as the inside of a JSON string.
#[inline]
pub fn escape(out: &mut String, text: &str) {
    if is_plain(text) {
        out.push_str(text);
    } else {
        escape_slow(out, text);
    }
}

#[cold]
fn escape_slow(out: &mut String, text: &str) {
    let mut found = first_special(text.as_bytes());
    let mut rest = text;
    while let Some((plain, special)) = found.and_then(|at| rest.split_at_checked(at)) {
        out.push_str(plain);
        let mut chars = special.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            // The other control characters have no short escape. Writing into a `String` does not fail.
            Some(control) => drop(write!(out, "\\u{:04x}", u32::from(control))),
            None => {}
        }
        rest = chars.as_str();
        found = first_special(rest.as_bytes());
    }
    out.push_str(rest);
}

/// Returns whether no byte needs an escape. The function checks all bytes, sixteen at once, which takes half the time of a search for the first byte
/// that needs one.
#[inline]
pub(crate) fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mask = if let Some(last) = bytes.last_chunk::<16>() {
        // The last sixteen bytes may overlap with the chunks before them.
        let (chunks, _) = bytes.as_chunks::<16>();
        chunks
            .iter()
            .fold(both(last), |mask, chunk| mask | both(chunk))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        special(u64::from_le_bytes(*first)) | special(u64::from_le_bytes(*last))
    } else {
        special(few(bytes))
    };
    mask == 0
}

/// Combines the results of [`special`] for both halves.
#[inline]
fn both(chunk: &[u8; 16]) -> u64 {
    let (halves, _) = chunk.as_chunks::<8>();
    halves
        .iter()
        .fold(0, |mask, half| mask | special(u64::from_le_bytes(*half)))
}

/// Returns a mask whose lowest set bit marks the first byte that is a quote, a backslash or a control character.
///
/// The function checks eight bytes at once. Higher bits may be wrong, because a subtraction borrows from the next byte.
#[inline]
pub(crate) const fn special(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // The XOR moves the quote (0x22) directly after the control characters (below 0x20), and moves no other byte into that range.
    let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (quote_or_control | backslash) & !word & (ONES << 7)
}

/// Returns the index of the first byte that needs an escape.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
        let mask = special(u64::from_le_bytes(*chunk));
        if mask != 0 {
            return Some(bytes.len() - rest.len() + (mask.trailing_zeros() >> 3) as usize);
        }
        rest = after;
    }
    if rest.is_empty() {
        return None;
    }
    // Check the last eight bytes, some of which may be known to be plain, or all bytes if there are fewer than eight.
    let (before, word) = match bytes.last_chunk::<8>() {
        Some(chunk) => (bytes.len() - 8, u64::from_le_bytes(*chunk)),
        None => (0, few(bytes)),
    };
    let mask = special(word);
    (mask != 0).then(|| before + (mask.trailing_zeros() >> 3) as usize)
}

/// Returns up to seven bytes as a word, padded with bytes that need no escape.
#[inline]
fn few(bytes: &[u8]) -> u64 {
    const FILL: u8 = u8::MAX;
    match *bytes {
        [] => u64::MAX,
        [a] => u64::from_le_bytes([a, FILL, FILL, FILL, FILL, FILL, FILL, FILL]),
        [a, b] => u64::from_le_bytes([a, b, FILL, FILL, FILL, FILL, FILL, FILL]),
        [a, b, c] => u64::from_le_bytes([a, b, c, FILL, FILL, FILL, FILL, FILL]),
        [a, b, c, d, ..] => {
            let last = bytes.last_chunk::<4>().copied().unwrap_or_default();
            let low = u64::from(u32::from_le_bytes([a, b, c, d]));
            let high = u64::from(u32::from_le_bytes(last));
            let bits = 8 * (bytes.len() & 7);
            low | high << (bits - 32) | u64::MAX << bits
        }
    }
}

/// The entries of a JSON object, in order.
pub struct Entries<'a>(pub Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Entries<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}
