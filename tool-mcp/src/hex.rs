//! Bytes as text.

use std::fmt::Write as _;

/// Writes bytes as lower-case hex.
pub(crate) fn hex(bytes: impl IntoIterator<Item = u8>, text: &mut String) {
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
}
