//! Random texts and their spellings.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

/// Returns 16 random hexadecimal digits.
pub(crate) fn random() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// A random text that must not occur in any of these spellings.
pub(crate) struct Sentinel {
    kind: String,
    text: String,
    spellings: Vec<String>,
}

impl Sentinel {
    pub(crate) fn new(kind: &str, text: String) -> Self {
        let spellings = spellings(&text);
        Self {
            kind: kind.to_owned(),
            text,
            spellings,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the random digits of the sentinel.
    pub(crate) fn random(&self) -> &str {
        self.text
            .split('-')
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
    }

    /// Asserts that a text does not contain the sentinel.
    #[track_caller]
    pub(crate) fn is_absent(&self, text: &str) {
        for spelling in &self.spellings {
            assert!(
                !text.contains(spelling),
                "`{spelling}` of the sentinel `{}` is in: {text}",
                self.kind
            );
        }
    }
}

/// Returns the text with JSON escapes, without quotes.
fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Returns the text with JSON escapes, including escapes of letters outside ASCII.
fn ascii(text: &str) -> String {
    let mut ascii = String::new();
    for c in escaped(text).chars() {
        if c.is_ascii() {
            ascii.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(ascii, "\\u{unit:04x}");
            }
        }
    }
    ascii
}

/// Returns the text in percent-encoding.
pub(crate) fn percent(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// Returns the part of the base64 of a text that does not depend on the bytes around it, if it begins at this offset.
fn base64_at(text: &str, offset: usize, engine: &base64::engine::GeneralPurpose) -> String {
    let mut bytes = vec![b'x'; offset];
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(b"xx");
    let encoded = engine.encode(&bytes);
    // The first group also depends on the bytes before the text, and the last groups also depend on the bytes after it.
    encoded[4..encoded.len() - 8].to_owned()
}

fn spellings(text: &str) -> Vec<String> {
    let once = escaped(text);
    let mut all = vec![
        text.to_owned(),
        escaped(&once),
        escaped(&escaped(&once)),
        ascii(text),
        escaped(&ascii(text)),
        once,
        percent(text),
        percent(text).replace("%20", "+"),
        percent(text).to_lowercase(),
        format!("{text:?}"),
    ];
    for engine in [&STANDARD, &URL_SAFE] {
        all.extend((0..3).map(|offset| base64_at(text, offset, engine)));
    }
    // The random part contains no characters that have different spellings.
    let random = text.split('-').nth(1).and_then(|rest| rest.get(..16));
    all.extend(random.map(str::to_owned));
    all
}

#[test]
fn sentinel_is_found_in_each_spelling() {
    let text = format!("key-{}\"/\\+ é?{}", random(), random());
    let sentinel = Sentinel::new("key", text.clone());
    let json = serde_json::json!({"outer": serde_json::json!({"inner": text}).to_string()});
    let found = [
        format!("plain {text}."),
        json.to_string(),
        percent(&text),
        STANDARD.encode(&text),
        STANDARD.encode(format!("user:{text}")),
        URL_SAFE.encode(format!("a{text}")),
        format!("{:?}", [text.as_str()]),
    ];
    for text in found {
        let is_found = std::panic::catch_unwind(|| sentinel.is_absent(&text));
        assert!(is_found.is_err(), "{text}");
    }
    sentinel.is_absent("key-0123456789abcdef");
}
