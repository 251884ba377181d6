//! What one escape stands for: those of JSON strings and percent-encoding.

/// What stands at a position, read as an escape.
pub(super) enum Escape {
    /// None.
    No,
    /// The start of one, cut off by the end of the text.
    Cut,
    /// These bytes; the text goes on at `next`.
    Bytes {
        bytes: [u8; 4],
        len: usize,
        next: usize,
    },
}

/// Whether an escape may begin with it.
pub(super) const fn begins(byte: u8) -> bool {
    matches!(byte, b'\\' | b'%' | b'+')
}

/// Reads the escape that begins at `at`.
pub(super) fn read(text: &[u8], at: usize) -> Escape {
    let rest = &text[at..];
    match rest {
        [b'+', ..] => one(b' ', at + 1),
        [b'%', ..] => match hex(&rest[1..], 2) {
            Digits::Value(value) => one(value.to_be_bytes()[1], at + 3),
            Digits::Cut => Escape::Cut,
            Digits::No => Escape::No,
        },
        [b'\\'] => Escape::Cut,
        [b'\\', b'u', digits @ ..] => unicode(digits, at + 2),
        [b'\\', letter, ..] => match letter {
            b'"' | b'\\' | b'/' => one(*letter, at + 2),
            b'b' => one(8, at + 2),
            b't' => one(b'\t', at + 2),
            b'n' => one(b'\n', at + 2),
            b'f' => one(12, at + 2),
            b'r' => one(b'\r', at + 2),
            _ => Escape::No,
        },
        _ => Escape::No,
    }
}

fn one(byte: u8, next: usize) -> Escape {
    Escape::Bytes {
        bytes: [byte, 0, 0, 0],
        len: 1,
        next,
    }
}

/// `\uXXXX`, or two of them where the first is half of a pair; `digits` begins behind the `u`, at `at`.
fn unicode(digits: &[u8], at: usize) -> Escape {
    let unit = match hex(digits, 4) {
        Digits::Value(unit) => unit,
        Digits::Cut => return Escape::Cut,
        Digits::No => return Escape::No,
    };
    let (code, next) = match unit {
        0xd800..0xdc00 => {
            let low = match &digits[4..] {
                [] | [b'\\'] => return Escape::Cut,
                [b'\\', b'u', digits @ ..] => hex(digits, 4),
                _ => Digits::No,
            };
            match low {
                Digits::Value(low @ 0xdc00..0xe000) => {
                    let (high, low) = (u32::from(unit) - 0xd800, u32::from(low) - 0xdc00);
                    (0x10000 + (high << 10 | low), at + 10)
                }
                Digits::Cut => return Escape::Cut,
                _ => return Escape::No,
            }
        }
        _ => (u32::from(unit), at + 4),
    };
    let Some(character) = char::from_u32(code) else {
        return Escape::No;
    };
    let mut bytes = [0; 4];
    let len = character.encode_utf8(&mut bytes).len();
    Escape::Bytes { bytes, len, next }
}

enum Digits {
    Value(u16),
    Cut,
    No,
}

fn hex(text: &[u8], count: usize) -> Digits {
    let mut value = 0;
    for at in 0..count {
        let Some(byte) = text.get(at) else {
            return Digits::Cut;
        };
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return Digits::No,
        };
        value = value << 4 | u16::from(digit);
    }
    Digits::Value(value)
}
