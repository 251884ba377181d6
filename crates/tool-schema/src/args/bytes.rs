//! Comparison, escaping and unescaping of JSON strings.

use std::borrow::Cow;

/// Returns whether two byte strings are equal. Strings of 4 to 16 bytes are compared by two overlapping words, because a call of `memcmp` costs more
/// than the comparison.
#[allow(
    clippy::inline_always,
    reason = "a call costs more than the comparison, measured"
)]
#[inline(always)]
pub(super) fn equal(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    if left.len() <= 16
        && let (Some(a), Some(b)) = (left.first_chunk::<8>(), right.first_chunk::<8>())
        && let (Some(c), Some(d)) = (left.last_chunk::<8>(), right.last_chunk::<8>())
    {
        return a == b && c == d;
    }
    if left.len() < 8 {
        if let (Some(a), Some(b)) = (left.first_chunk::<4>(), right.first_chunk::<4>())
            && let (Some(c), Some(d)) = (left.last_chunk::<4>(), right.last_chunk::<4>())
        {
            return a == b && c == d;
        }
        return left.iter().zip(right).all(|(a, b)| a == b);
    }
    left == right
}

/// Unescapes the contents of a string that the cursor has passed.
pub fn decode(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    // The cursor has validated the escapes, so unescaping cannot fail.
    unescape(raw).map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// Replaces escapes, or returns `None` if a `\u` escape is invalid or the text ends within an escape.
fn unescape(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = escape.chars();
        out.push(match chars.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let (first, after) = unit(chars.as_str())?;
                chars = after.chars();
                // `first` is the first half of a surrogate pair. The cursor has validated that the second half follows.
                if first & 0xfc00 == 0xd800 {
                    let (second, after) = unit(after.strip_prefix("\\u")?)?;
                    chars = after.chars();
                    let low = second.checked_sub(0xdc00)?;
                    char::from_u32(0x1_0000 + ((first & 0x3ff) << 10) + low)?
                } else {
                    char::from_u32(first)?
                }
            }
            same => same,
        });
        rest = chars.as_str();
    }
    out.push_str(rest);
    Some(out)
}

/// Parses four hexadecimal digits. Returns their value and the rest of the text.
fn unit(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}

/// Writes text as a JSON string.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                out.push_str("\\u00");
                out.extend(
                    [u32::from(c) >> 4, u32::from(c) & 15]
                        .iter()
                        .filter_map(|d| char::from_digit(*d, 16)),
                );
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
