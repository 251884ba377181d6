//! Decoding of escapes: the escapes of JSON, Rust, C and Python strings, percent-encoding, and HTML references.

use super::entity;

/// Maximum number of nested percent-encodings that are decoded.
const DEPTH: usize = 3;

/// A way to decode the text at a position.
pub(super) enum Escape {
    /// The end of the text cuts off an escape.
    Cut,
    /// The decoded bytes; the text continues at `next`.
    Bytes {
        bytes: [u8; 4],
        len: usize,
        next: usize,
    },
}

impl Escape {
    fn byte(byte: u8, next: usize) -> Self {
        Self::Bytes {
            bytes: [byte, 0, 0, 0],
            len: 1,
            next,
        }
    }

    pub(super) fn character(character: char, next: usize) -> Self {
        let mut bytes = [0; 4];
        let len = character.encode_utf8(&mut bytes).len();
        Self::Bytes { bytes, len, next }
    }
}

/// Returns whether an escape may begin with this byte.
pub(super) const fn begins(byte: u8) -> bool {
    matches!(byte, b'\\' | b'%' | b'+' | b'&')
}

/// The meaning of two bytes as an escape.
pub(super) enum Simple {
    /// The bytes are not an escape.
    No,
    /// The escape is complete and means this byte.
    Byte(u8),
    /// The bytes begin a longer escape.
    Longer,
}

/// Decodes two bytes as an escape, without the bytes that follow them. A `+` is an escape by itself.
pub(super) const fn simple(first: u8, second: u8) -> Simple {
    match (first, second) {
        (b'+', _) => Simple::Byte(b' '),
        (b'%', b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F')
        | (b'&', b'#' | b'a'..=b'z' | b'A'..=b'Z')
        | (b'\\', b'u' | b'U' | b'x' | b'0'..=b'3') => Simple::Longer,
        (b'\\', b'"' | b'\\' | b'/' | b'\'') => Simple::Byte(second),
        (b'\\', b'a') => Simple::Byte(7),
        (b'\\', b'b') => Simple::Byte(8),
        (b'\\', b't') => Simple::Byte(b'\t'),
        (b'\\', b'n') => Simple::Byte(b'\n'),
        (b'\\', b'v') => Simple::Byte(11),
        (b'\\', b'f') => Simple::Byte(12),
        (b'\\', b'r') => Simple::Byte(b'\r'),
        _ => Simple::No,
    }
}

/// Decodes the escape at `at` in every way in which it can be read.
pub(super) fn read(text: &[u8], at: usize, each: &mut impl FnMut(Escape)) {
    match &text[at..] {
        [b'+', ..] => each(Escape::byte(b' ', at + 1)),
        [b'%', ..] => percent(text, at, each),
        [b'&', ..] => entity::read(text, at, each),
        [b'\\', rest @ ..] => backslash(rest, at + 1, each),
        _ => {}
    }
}

/// Decodes percent-encoding: `%41`, `%2541` and `%252541` are all `A`.
fn percent(text: &[u8], at: usize, each: &mut impl FnMut(Escape)) {
    let mut from = at + 1;
    for _ in 0..DEPTH {
        match hex(&text[from..], 2) {
            Digits::Value(value) => {
                each(Escape::byte(value.to_be_bytes()[3], from + 2));
                if value != u32::from(b'%') {
                    return;
                }
            }
            Digits::Cut => return each(Escape::Cut),
            Digits::No => return,
        }
        from += 2;
    }
}

/// Decodes an escape after its backslash; `rest` begins at `at`.
fn backslash(rest: &[u8], at: usize, each: &mut impl FnMut(Escape)) {
    match rest {
        [] | [b'u'] => each(Escape::Cut),
        [b'u', b'{', digits @ ..] => braced(digits, at + 2, each),
        [b'u', digits @ ..] => unicode(digits, at + 1, each),
        [b'x', digits @ ..] => match hex(digits, 2) {
            Digits::Value(value) => each(Escape::byte(value.to_be_bytes()[3], at + 3)),
            Digits::Cut => each(Escape::Cut),
            Digits::No => {}
        },
        [b'U', digits @ ..] => match hex(digits, 8) {
            Digits::Value(value) => scalar(value, at + 9, each),
            Digits::Cut => each(Escape::Cut),
            Digits::No => {}
        },
        [b'0'..=b'3', ..] => octal(rest, at, each),
        [letter, ..] => {
            if let Simple::Byte(byte) = simple(b'\\', *letter) {
                each(Escape::byte(byte, at + 1));
            }
        }
    }
}

/// Decodes an octal escape: `\0`, or `\` and three digits such as `\303`.
fn octal(rest: &[u8], at: usize, each: &mut impl FnMut(Escape)) {
    if rest.first() == Some(&b'0') {
        each(Escape::byte(0, at + 1));
    }
    let digits = rest.iter().take(3);
    let digits = digits.take_while(|byte| matches!(byte, b'0'..=b'7'));
    let (mut value, mut count) = (0_u8, 0);
    for digit in digits {
        value = value << 3 | (digit - b'0');
        count += 1;
    }
    if count == 3 {
        each(Escape::byte(value, at + 3));
    } else if rest.len() == count {
        each(Escape::Cut);
    }
}

/// Decodes `\u{41}`, as Rust writes it; `digits` begins after the brace, at `at`.
fn braced(digits: &[u8], at: usize, each: &mut impl FnMut(Escape)) {
    const MOST: usize = 6;
    let count = digits
        .iter()
        .take(MOST)
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    match digits.get(count) {
        Some(b'}') if count > 0 => {
            if let Digits::Value(value) = hex(digits, count) {
                scalar(value, at + count + 1, each);
            }
        }
        None => each(Escape::Cut),
        Some(_) => {}
    }
}

fn scalar(code: u32, next: usize, each: &mut impl FnMut(Escape)) {
    if let Some(character) = char::from_u32(code) {
        each(Escape::character(character, next));
    }
}

/// Decodes `\uXXXX`, or a surrogate pair of two such escapes; `digits` begins after the `u`, at `at`.
fn unicode(digits: &[u8], at: usize, each: &mut impl FnMut(Escape)) {
    let unit = match hex(digits, 4) {
        Digits::Value(unit) => unit,
        Digits::Cut => return each(Escape::Cut),
        Digits::No => return,
    };
    if !(0xd800..0xdc00).contains(&unit) {
        return scalar(unit, at + 4, each);
    }
    let low = match &digits[4..] {
        [] | [b'\\'] => Digits::Cut,
        [b'\\', b'u', digits @ ..] => hex(digits, 4),
        _ => Digits::No,
    };
    match low {
        Digits::Value(low @ 0xdc00..0xe000) => {
            let code = 0x10000 + ((unit - 0xd800) << 10 | (low - 0xdc00));
            scalar(code, at + 10, each);
        }
        Digits::Cut => each(Escape::Cut),
        _ => {}
    }
}

/// Returns the position after the white space at `at`, which may be escaped. Skips at most [`BLANKS`].
pub(super) fn blanks(text: &[u8], mut at: usize) -> usize {
    for _ in 0..BLANKS {
        at = match &text[at..] {
            [b' ' | b'\t' | b'\r' | b'\n', ..] => at + 1,
            [b'\\', b'n' | b'r' | b't', ..] => at + 2,
            _ => break,
        };
    }
    at
}

/// Maximum number of white space characters that are skipped between two parts of a secret. In most cases, this is the indentation of a line.
pub(super) const BLANKS: usize = 64;

/// Returns the position after a line break at `at`, which may be escaped, and after the indentation of the next line.
pub(super) fn line_break(text: &[u8], at: usize) -> Option<usize> {
    matches!(
        &text[at..],
        [b'\n', ..] | [b'\r', b'\n', ..] | [b'\\', b'n', ..] | [b'\\', b'r', b'\\', b'n', ..]
    )
    .then(|| blanks(text, at))
}

/// Returns whether the text ends before it is clear that a line break begins at `at`.
pub(super) fn is_cut_break(text: &[u8], at: usize) -> bool {
    matches!(
        &text[at..],
        [b'\r' | b'\\'] | [b'\\', b'r'] | [b'\\', b'r', b'\\']
    )
}

enum Digits {
    Value(u32),
    Cut,
    No,
}

fn hex(text: &[u8], count: usize) -> Digits {
    let mut value = 0;
    for at in 0..count {
        let Some(byte) = text.get(at) else {
            return Digits::Cut;
        };
        let Some(digit) = char::from(*byte).to_digit(16) else {
            return Digits::No;
        };
        value = value << 4 | digit;
    }
    Digits::Value(value)
}
