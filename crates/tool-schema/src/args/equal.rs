//! Equality of JSON values: `1` equals `1.0`, and the order of keys is ignored.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::bytes::{decode, encode};
use super::number::Decimal;
use super::scan::Cursor;

/// Returns whether two values without surrounding white space are equal.
pub(super) fn same(left: &str, right: &str) -> bool {
    if left == right {
        return true;
    }
    match (left.as_bytes().first(), right.as_bytes().first()) {
        (Some(b'"'), Some(b'"')) => {
            (left.contains('\\') || right.contains('\\'))
                && decode(inside(left)) == decode(inside(right))
        }
        (Some(b'-' | b'0'..=b'9'), Some(b'-' | b'0'..=b'9')) => {
            Decimal::new(left).compare(&Decimal::new(right)) == Ordering::Equal
        }
        (Some(b'['), Some(b'[')) | (Some(b'{'), Some(b'{')) => normal(left) == normal(right),
        _ => false,
    }
}

/// Returns the normal form of a value: two values have the same normal form if and only if they are equal.
pub(super) fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write(&mut Cursor::new(text), &mut out);
    out
}

fn inside(string: &str) -> &str {
    string
        .get(1..string.len().saturating_sub(1))
        .unwrap_or_default()
}

/// Writes the normal form of the value under the cursor. The guard has walked the text, so it is valid.
fn write(cursor: &mut Cursor<'_>, out: &mut String) {
    let start = cursor.at;
    match cursor.peek() {
        b'"' => {
            if let Ok(string) = cursor.string() {
                out.push_str(&encode(&decode(cursor.slice(string.start, string.end))));
            }
        }
        b'-' | b'0'..=b'9' => {
            if cursor.number().is_ok() {
                // Writing to a `String` cannot fail.
                let _ = write!(out, "{}", Decimal::new(cursor.slice(start, cursor.at)));
            }
        }
        b'[' => {
            out.push('[');
            cursor.at += 1;
            let mut more = cursor.space() != b']';
            while more {
                write(cursor, out);
                out.push(',');
                more = cursor.another(b']').unwrap_or(false);
            }
            cursor.at += 1;
            out.push(']');
        }
        b'{' => {
            let mut members = Vec::new();
            cursor.at += 1;
            let mut more = cursor.space() != b'}';
            while more {
                let Ok(key) = cursor.key() else { return };
                let mut member = encode(&decode(cursor.slice(key.start, key.end)));
                if cursor.colon().is_err() {
                    return;
                }
                member.push(':');
                write(cursor, &mut member);
                members.push(member);
                more = cursor.another(b'}').unwrap_or(false);
            }
            cursor.at += 1;
            members.sort_unstable();
            out.push('{');
            out.push_str(&members.join(","));
            out.push('}');
        }
        _ => {
            if cursor.skip().is_ok() {
                out.push_str(cursor.slice(start, cursor.at));
            }
        }
    }
}
