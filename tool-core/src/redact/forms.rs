//! The spellings of a secret that the scanner searches for: plain, hex, base64, and lists of its bytes.
//!
//! The module [`escape`](super::escape) handles escapes within each spelling.

use std::borrow::Cow;

use super::list::SEPARATORS;

/// One spelling of a secret.
#[derive(Clone)]
pub(super) struct Form {
    /// The bytes to search for.
    pub(super) bytes: Vec<u8>,
    /// Whether the form may continue on the next line.
    pub(super) wraps: bool,
    /// The low bits of the character before the form, which belong to the secret.
    pub(super) lead: Option<Bits>,
    /// The high bits of the character after the form, which belong to the secret.
    pub(super) tail: Option<Bits>,
}

/// Some bits of a base64 character.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Bits {
    mask: u8,
    value: u8,
}

impl Bits {
    /// Returns whether a character is a base64 character with these bits.
    pub(super) fn admits(self, character: u8) -> bool {
        digit(character).is_some_and(|digit| digit & self.mask == self.value)
    }
}

/// Returns the value of a base64 character, of either alphabet.
fn digit(character: u8) -> Option<u8> {
    Some(match character {
        b'A'..=b'Z' => character - b'A',
        b'a'..=b'z' => character - b'a' + 26,
        b'0'..=b'9' => character - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

const STANDARD: [u8; 64] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: [u8; 64] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns the variants in which tools may pass on a secret: unchanged, with its line breaks as LF or as CRLF, and each of these without the
/// white space around it.
pub(super) fn variants(secret: &str) -> Vec<Cow<'_, str>> {
    let mut variants = vec![Cow::Borrowed(secret)];
    if secret.contains('\n') {
        let lf = secret.replace("\r\n", "\n");
        variants.push(Cow::Owned(lf.replace('\n', "\r\n")));
        variants.push(Cow::Owned(lf));
    }
    let trimmed = |variant: &Cow<'_, str>| Cow::Owned(variant.trim().to_owned());
    variants.extend(variants.iter().map(trimmed).collect::<Vec<_>>());
    variants.sort();
    variants.dedup();
    variants
}

/// Returns the plain, hex and base64 spellings, without duplicates.
pub(super) fn of(secret: &[u8]) -> Vec<Form> {
    let mut forms = vec![plain(secret.to_vec(), false)];
    for digits in [b"0123456789abcdef", b"0123456789ABCDEF"] {
        let hex = secret
            .iter()
            .flat_map(|byte| {
                [
                    digits[usize::from(byte >> 4)],
                    digits[usize::from(byte & 15)],
                ]
            })
            .collect();
        add(&mut forms, plain(hex, true));
    }
    for before in 0..3 {
        for alphabet in [&STANDARD, &URL_SAFE] {
            add(&mut forms, base64(secret, before, alphabet));
        }
    }
    forms
}

/// Returns the first two bytes of the secret as the beginning of a list: decimal with a comma, and hex with each separator. Empty for a shorter
/// secret.
pub(super) fn lists(secret: &[u8]) -> Vec<Vec<u8>> {
    let [first, second, ..] = secret else {
        return Vec::new();
    };
    let mut lists = vec![format!("{first},{second}"), format!("{first}, {second}")];
    for separator in SEPARATORS.map(char::from) {
        lists.push(format!("{first:02x}{separator}{second:02x}"));
        lists.push(format!("{first:02X}{separator}{second:02X}"));
    }
    lists.into_iter().map(String::into_bytes).collect()
}

fn plain(bytes: Vec<u8>, wraps: bool) -> Form {
    Form {
        bytes,
        wraps,
        lead: None,
        tail: None,
    }
}

fn add(forms: &mut Vec<Form>, form: Form) {
    if !forms.iter().any(|other| other.bytes == form.bytes) {
        forms.push(form);
    }
}

/// Returns the base64 characters that consist only of bits of the secret, if `before` other bytes precede it in its group of three,
/// and the bits of the secret in the characters around them.
fn base64(secret: &[u8], before: usize, alphabet: &[u8; 64]) -> Form {
    let bit = |at: usize| {
        let byte = (at / 8).checked_sub(before).and_then(|at| secret.get(at));
        byte.map_or(0, |byte| byte >> (7 - at % 8) & 1)
    };
    let sextet = |at: usize| (at * 6..at * 6 + 6).fold(0, |sum, at| sum << 1 | bit(at));
    let (start, end) = (before * 8, (before + secret.len()) * 8);
    let (first, last) = (start.div_ceil(6), end / 6);
    let lead = (!start.is_multiple_of(6)).then(|| Bits {
        mask: 0x3f >> (start % 6),
        value: sextet(first - 1),
    });
    let tail = (!end.is_multiple_of(6)).then(|| Bits {
        mask: 0x3f & !(0x3f >> (end % 6)),
        value: sextet(last),
    });
    Form {
        bytes: (first..last)
            .map(|at| alphabet[usize::from(sextet(at))])
            .collect(),
        wraps: true,
        lead,
        tail,
    }
}
