//! JSON that leaves as it was written.
//!
//! rmcp keeps results and schemas as `serde_json::Value`s, which sort their keys and round big numbers. What is already text is put
//! into a message as an object with one key that no client knows, `{"<key>":"<the text>"}`, and the transports put the text itself in
//! that object's place when they write.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rmcp::model::{Extensions, JsonObject};
use serde_json::Value;

/// A name that differs in every process, so that no tool's output can hold it.
static KEY: LazyLock<String> = LazyLock::new(|| {
    let seed = RandomState::new();
    format!(
        "verbatim-{:016x}{:016x}",
        seed.hash_one(0),
        RandomState::new().hash_one(1)
    )
});

/// What stands before the text.
static OPEN: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(format!("{{\"{}\":\"", *KEY).as_bytes()).into_owned());

/// Stands in the extensions of a request that came by a transport of ours, which renders what it writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rendered;

/// Whether the answer to a request is rendered. A host may serve our handler over a transport of rmcp's or its own.
pub(crate) fn is_rendered(extensions: &Extensions) -> bool {
    #[cfg(feature = "http")]
    if let Some(parts) = extensions.get::<http::request::Parts>() {
        return parts.extensions.get::<Rendered>().is_some();
    }
    extensions.get::<Rendered>().is_some()
}

/// A JSON text in a message: its place where it will be rendered, else what it says.
pub(crate) fn value(text: &str, rendered: bool) -> Value {
    if rendered {
        return Value::Object(place(text));
    }
    serde_json::from_str(text).unwrap_or_default()
}

/// As [`value`], of an object.
pub(crate) fn object(text: &str, rendered: bool) -> JsonObject {
    match value(text, rendered) {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// The place of a JSON text in a message.
fn place(text: &str) -> JsonObject {
    // A message is one line; between tokens, a space says the same as the end of a line.
    let line = if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some() {
        text.replace(['\n', '\r'], " ")
    } else {
        text.to_owned()
    };
    let mut place = JsonObject::new();
    place.insert(KEY.clone(), Value::String(line));
    place
}

/// The message with the texts in their places.
pub(crate) fn render(message: &[u8]) -> Cow<'_, [u8]> {
    let Some(mut at) = OPEN.find(message) else {
        return Cow::Borrowed(message);
    };
    let open = OPEN.needle().len();
    let mut out = Vec::with_capacity(message.len());
    let mut rest = message;
    loop {
        out.extend_from_slice(&rest[..at]);
        rest = text(&rest[at + open..], &mut out);
        match OPEN.find(rest) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// Reads a JSON string's inside and its end with the brace behind it; what `serde_json` escapes is all that can stand there.
fn text<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        if rest[at] == b'"' {
            return rest.get(at + 2..).unwrap_or_default();
        }
        match rest.get(at + 1) {
            // Control characters cannot stand in JSON outside of strings, and are escaped within them.
            Some(b't') => out.push(b'\t'),
            Some(&escaped) => out.push(escaped),
            None => return &[],
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_leave_as_they_were_written() {
        let odd = "{\"b\":1.10,\n\"a\":[\"\\u0041 \\\"x\\\" \\\\ \\n\\t\",\t340282366920938463463374607431768211456]}";
        let message = serde_json::json!({ "one": place(odd), "two": [place("[]"), 3] });
        let written = serde_json::to_vec(&message).unwrap();
        let rendered = render(&written);
        let expected = format!("{{\"one\":{},\"two\":[[],3]}}", odd.replace('\n', " "));
        assert_eq!(String::from_utf8_lossy(&rendered), expected);
    }

    #[test]
    fn a_message_without_texts_is_not_copied() {
        assert!(matches!(render(br#"{"a":"verbatim-0"}"#), Cow::Borrowed(_)));
    }
}
