//! Secrets written as lists of bytes: `[115, 51]` and `73:33`.

use super::escape;
use super::scan::Walked;
use super::tree::Tree;

/// Separators between the bytes of a hex list.
pub(super) const SEPARATORS: [u8; 3] = *b":- ";

/// The continuation of a list after an item.
enum Next {
    /// The position of the next item.
    Item(usize),
    /// The text ends before it is clear whether an item follows.
    Cut,
    /// The list has no further item.
    No,
}

/// Reads a list of decimal numbers: a JSON array of bytes, or the `Debug` output of a byte slice.
pub(super) fn decimal(tree: &Tree, text: &[u8], at: usize, last: bool, walked: &mut Walked) {
    let item = |at: usize| {
        let digits = text[at..].iter().take(4);
        let digits = digits.take_while(|byte| byte.is_ascii_digit());
        let (mut value, mut count) = (0_u16, 0);
        for digit in digits {
            value = value * 10 + u16::from(digit - b'0');
            count += 1;
        }
        let whole = last || at + count < text.len();
        match u8::try_from(value) {
            Ok(value) if whole && (1..4).contains(&count) => Item::Byte(value, at + count),
            _ if !whole && count < 4 => Item::Cut,
            _ => Item::No,
        }
    };
    let next = |at: usize| match text.get(at) {
        Some(b',') => {
            let next = escape::blanks(text, at + 1);
            if escape::is_cut_break(text, next) {
                Next::Cut
            } else {
                Next::Item(next)
            }
        }
        Some(_) => Next::No,
        None => Next::Cut,
    };
    read(tree, at, last, walked, item, next);
}

/// Reads hex bytes with a separator between them, as in fingerprints and dumps.
pub(super) fn hex(tree: &Tree, text: &[u8], at: usize, last: bool, walked: &mut Walked) {
    // Encoders write one case and one separator throughout.
    let (mut upper, mut separator) = (None, None);
    let item = |at: usize| {
        let mut value = 0;
        for byte in [text.get(at), text.get(at + 1)] {
            let Some(byte) = byte else { return Item::Cut };
            let Some(digit) = char::from(*byte).to_digit(16) else {
                return Item::No;
            };
            if byte.is_ascii_alphabetic()
                && *upper.get_or_insert(byte.is_ascii_uppercase()) != byte.is_ascii_uppercase()
            {
                return Item::No;
            }
            value = value << 4 | digit;
        }
        Item::Byte(value.to_be_bytes()[3], at + 2)
    };
    let next = |at: usize| {
        let byte = match text.get(at) {
            None => return Next::Cut,
            // In a dump, a line break replaces a space.
            Some(b'\n' | b'\r' | b'\\') => b' ',
            Some(byte) => *byte,
        };
        if !SEPARATORS.contains(&byte) || *separator.get_or_insert(byte) != byte {
            return Next::No;
        }
        let after = at + usize::from(text[at] == byte);
        if escape::is_cut_break(text, after) {
            return Next::Cut;
        }
        match escape::line_break(text, after) {
            Some(next) => Next::Item(next),
            None if after > at => Next::Item(after),
            None => Next::No,
        }
    };
    read(tree, at, last, walked, item, next);
}

enum Item {
    Byte(u8, usize),
    Cut,
    No,
}

fn read(
    tree: &Tree,
    mut at: usize,
    last: bool,
    walked: &mut Walked,
    mut item: impl FnMut(usize) -> Item,
    mut next: impl FnMut(usize) -> Next,
) {
    let mut node = 0;
    loop {
        let (value, end) = match item(at) {
            Item::Byte(value, end) => (value, end),
            Item::Cut => {
                walked.open |= !last;
                return;
            }
            Item::No => return,
        };
        let Some(through) = tree.step(node, value) else {
            return;
        };
        node = through;
        if let Some(which) = tree.end(node)
            && walked.longest.is_none_or(|(longest, _)| longest < end)
        {
            walked.longest = Some((end, which));
        }
        if tree.is_leaf(node) {
            return;
        }
        at = match next(end) {
            Next::Item(at) => at,
            Next::Cut => {
                walked.open |= !last;
                return;
            }
            Next::No => return,
        };
    }
}
