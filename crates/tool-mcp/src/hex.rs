//! Lower-case hexadecimal encoding of bytes.

use std::fmt::Write as _;

/// Appends `bytes` to `text` as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: impl IntoIterator<Item = u8>, text: &mut String) {
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
}
