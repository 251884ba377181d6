//! Cleanup of text around JSON: white space, code fences and trailing commas.

use super::scan::Cursor;

/// Returns whether the text is valid JSON.
pub(super) fn is_json(text: &str) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.space();
    cursor.skip().and_then(|()| cursor.end()).is_ok()
}

/// Turns text into valid JSON by removing white space, a byte order mark and a code fence around it, and trailing commas inside. Returns the JSON and
/// a description of each removal, or `None` if the text already is JSON or cannot be cleaned up.
pub(super) fn tidy(text: &str) -> Option<(String, Vec<&'static str>)> {
    if is_json(text) {
        return None;
    }
    let mut what = Vec::new();
    let bare = text.trim_start_matches('\u{feff}').trim();
    if bare.len() < text.len() {
        what.push("removed white space");
    }
    let inner = unfence(bare);
    if inner.is_some() {
        what.push("removed the code fence");
    }
    let inner = inner.unwrap_or(bare);
    if is_json(inner) {
        return Some((inner.to_owned(), what));
    }
    let uncommaed = without_trailing_commas(inner)?;
    what.push("removed trailing commas");
    is_json(&uncommaed).then_some((uncommaed, what))
}

/// Returns the contents of a code fence around the complete text.
fn unfence(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("```")?.strip_suffix("```")?;
    let inner = ["json5", "jsonc", "json", "JSON"]
        .iter()
        .find_map(|word| inner.strip_prefix(word))
        .unwrap_or(inner);
    Some(inner.trim())
}

/// Removes commas between a value and a closing bracket, or returns `None` if there are none.
fn without_trailing_commas(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        if quoted {
            quoted = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c == ',' {
            let rest = text.get(at + 1..).unwrap_or_default().trim_start();
            if rest.starts_with(['}', ']']) && !matches!(last, '{' | '[' | ',' | ':') {
                continue;
            }
        } else {
            quoted = c == '"';
        }
        if !c.is_whitespace() {
            last = c;
        }
        out.push(c);
    }
    (out.len() < text.len()).then_some(out)
}
