//! Verbatim JSON: texts that are sent exactly as they were written.
//!
//! rmcp stores results and schemas as `serde_json::Value`s, which sort their keys and round big numbers. A text that is JSON already is put into the
//! message as a placeholder, `{"<key>":"<the text>"}` with a key that no client can guess, and the transports replace the placeholder with the text
//! when they write.
//!
//! Every quote of JSON within JSON would need an escape, so quotes are replaced with a byte that hardly any text contains. A text that contains this
//! byte gets a different key, and its quotes are escaped.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rmcp::model::{Extensions, JsonObject};
use serde_json::Value;

/// A random name that differs in every process, so that neither a tool nor a client can guess it.
static KEY: LazyLock<String> = LazyLock::new(|| {
    let seed = RandomState::new();
    format!(
        "verbatim-{:016x}{:016x}",
        seed.hash_one(0),
        RandomState::new().hash_one(1)
    )
});

/// The start of every placeholder, up to the letter that identifies the encoding of quotes.
static OPEN: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(format!("{{\"{}-", *KEY).as_bytes()).into_owned());

/// The byte that replaces quotes: it needs no escape, and hardly any text contains it.
const DELETE: u8 = 0x7f;
/// Marks a text whose quotes are replaced by [`DELETE`].
const SWAPPED: char = 's';
static SWAPPED_KEY: LazyLock<String> = LazyLock::new(|| format!("{}-{SWAPPED}", *KEY));
/// Marks a text whose quotes are escaped.
const ESCAPED: char = 'e';
static ESCAPED_KEY: LazyLock<String> = LazyLock::new(|| format!("{}-{ESCAPED}", *KEY));

/// Request extension that this crate's transports set, because they render the responses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rendered;

/// Returns whether the response to a request is rendered. A host may serve this handler over a transport of rmcp or over its own transport.
pub(crate) fn is_rendered(extensions: &Extensions) -> bool {
    #[cfg(feature = "http")]
    if let Some(parts) = extensions.get::<http::request::Parts>() {
        return parts.extensions.get::<Rendered>().is_some();
    }
    extensions.get::<Rendered>().is_some()
}

/// Converts a JSON text for a message: to a placeholder if it will be rendered, otherwise to the parsed value.
pub(crate) fn value(text: &str, rendered: bool) -> Value {
    if rendered {
        return Value::Object(place(text));
    }
    serde_json::from_str(text).unwrap_or_default()
}

/// Works like [`value`], but for an object.
pub(crate) fn object(text: &str, rendered: bool) -> JsonObject {
    match value(text, rendered) {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Returns the placeholder of a JSON text.
fn place(text: &str) -> JsonObject {
    let (key, quote) = if memchr::memchr(DELETE, text.as_bytes()).is_some() {
        (&*ESCAPED_KEY, b'"')
    } else {
        (&*SWAPPED_KEY, DELETE)
    };
    // A message is one line; between tokens, a space is equivalent to a line break.
    let line = text.bytes().map(|byte| match byte {
        b'\n' | b'\r' => b' ',
        b'"' => quote,
        other => other,
    });
    let line = String::from_utf8(line.collect()).unwrap_or_default();
    let mut place = JsonObject::new();
    place.insert(key.clone(), Value::String(line));
    place
}

/// Replaces the placeholders in a message with their texts.
pub(crate) fn render(message: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut at) = OPEN.find(message) else {
        return Cow::Borrowed(message);
    };
    let open = OPEN.needle().len();
    let mut out = Vec::with_capacity(message.len());
    let mut rest = message;
    loop {
        out.extend_from_slice(&rest[..at]);
        rest = match &rest[at + open..] {
            [way, b'"', b':', b'"', inside @ ..] => text(inside, *way, &mut out),
            other => other,
        };
        match OPEN.find(rest) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// Decodes a JSON string and skips its end and the closing brace; only the escapes that `serde_json` writes can occur.
fn text<'a>(mut rest: &'a [u8], way: u8, out: &mut Vec<u8>) -> &'a [u8] {
    let quote = if char::from(way) == SWAPPED {
        DELETE
    } else {
        b'"'
    };
    let unswapped = |byte: &u8| if *byte == quote { b'"' } else { *byte };
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        out.extend(rest[..at].iter().map(unswapped));
        if rest[at] == b'"' {
            return rest.get(at + 2..).unwrap_or_default();
        }
        match rest.get(at + 1) {
            // A tab between tokens is the only control character: `place` replaces line breaks, and JSON strings escape control characters.
            Some(b't') => out.push(b'\t'),
            Some(&escaped) => out.push(escaped),
            None => return &[],
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend(rest.iter().map(unswapped));
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_json_is_written_verbatim() {
        let odd = "{\"b\":1.10,\n\"a\":[\"\\u0041 \\\"x\\\" \\\\ \\n\\t\",\t340282366920938463463374607431768211456]}";
        // This text contains the byte that replaces quotes.
        let odder = odd.replace('x', "\u{7f}\\\"é");
        let places = [place(odd), place(&odder), place("[]"), place("\u{7f}")];
        let message =
            serde_json::json!({ "one": places[0], "two": [places[1], places[2], 3, places[3]] });
        let written = serde_json::to_vec(&message).unwrap();
        let rendered = render(&written);
        let [odd, odder] = [odd, &odder].map(|text| text.replace('\n', " "));
        let expected = format!("{{\"one\":{odd},\"two\":[{odder},[],3,\u{7f}]}}");
        assert_eq!(String::from_utf8_lossy(&rendered), expected);
    }

    #[test]
    fn quotes_are_escaped_only_where_they_must_be() {
        let escapes = |text: &str| serde_json::to_string(&place(text)).unwrap().contains('\\');
        assert!(!escapes(r#"["a","b"]"#));
        assert!(escapes("[\"a\",\"\u{7f}\"]"));
    }

    #[test]
    fn a_message_without_texts_is_not_copied() {
        assert!(matches!(render(br#"{"a":"verbatim-0"}"#), Cow::Borrowed(_)));
    }
}
