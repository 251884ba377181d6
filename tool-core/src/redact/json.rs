//! Redaction of secrets in JSON text, which stays valid JSON.
//!
//! Strings are decoded before the search, so a secret in JSON within JSON is found too. A number that contains a secret becomes a string with the
//! placeholder. A secret that spans several values, such as a key file that is JSON itself, is not found this way: the smallest value that encloses
//! it is replaced by the placeholder.

use std::borrow::Cow;
use std::ops::Range;

use super::Redactor;

/// Maximum number of secrets spanning several values that are redacted one by one.
const ROUNDS: u32 = 16;

impl Redactor {
    /// Redacts every secret in JSON text, which stays valid JSON. Borrows the text if it contains no secrets.
    ///
    /// Secrets in text that is not JSON are redacted too, but a placeholder may have the quotes of a JSON string.
    pub fn redact_json<'a>(&self, json: &'a str) -> Cow<'a, str> {
        if self.0.is_none() || !may_nest(json) && self.first(json).is_none() {
            return Cow::Borrowed(json);
        }
        let mut text = self.leaves(json);
        for round in 0.. {
            let Some((range, mask)) = self.first(&text) else {
                break;
            };
            let Some(value) = smallest(&text, &range) else {
                return Cow::Owned(self.redact(&text).into_owned());
            };
            let mut changed = text.into_owned();
            // Each round reads the whole text. After the last round, the placeholder replaces the whole text.
            let value = if round < ROUNDS {
                value
            } else {
                0..changed.len()
            };
            changed.replace_range(value, &quoted(&mask));
            text = Cow::Owned(changed);
        }
        text
    }

    /// Returns the range of the first secret in a text, and its placeholder.
    fn first(&self, text: &str) -> Option<(Range<usize>, String)> {
        let known = self.0.as_ref()?;
        let span = known
            .scanner
            .scan(text.as_bytes(), true)
            .spans
            .into_iter()
            .next()?;
        Some((span.range, known.masks[span.secret].clone()))
    }

    /// Redacts secrets in each string and number separately.
    fn leaves<'a>(&self, json: &'a str) -> Cow<'a, str> {
        let mut changed = String::new();
        let mut done = 0;
        for token in Tokens::new(json) {
            if matches!(token.kind, Kind::Open | Kind::Close) {
                continue;
            }
            let text = &json[token.range.clone()];
            let value = match token.kind {
                Kind::Text if text.contains('\\') => match serde_json::from_str(text) {
                    Ok(value) => Cow::Owned(value),
                    Err(_) => continue,
                },
                Kind::Text => Cow::Borrowed(&text[1..text.len() - 1]),
                _ => Cow::Borrowed(text),
            };
            if let Cow::Owned(masked) = self.redact(&value) {
                changed.push_str(&json[done..token.range.start]);
                changed.push_str(&quoted(&masked));
                done = token.range.end;
            }
        }
        if done == 0 {
            return Cow::Borrowed(json);
        }
        changed.push_str(&json[done..]);
        Cow::Owned(changed)
    }
}

/// Returns whether decoding the strings may reveal another escape. If not, one search in the JSON text finds everything.
fn may_nest(json: &str) -> bool {
    let json = json.as_bytes();
    let mut escapes = memchr::memchr_iter(b'\\', json);
    escapes.any(|at| matches!(json.get(at + 1), Some(b'\\' | b'u')))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the smallest value or key that encloses `range`.
fn smallest(json: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let around = |value: &Range<usize>| value.start <= range.start && range.end <= value.end;
    let mut open = Vec::new();
    for token in Tokens::new(json) {
        let value = match token.kind {
            Kind::Open => {
                open.push(token.range.start);
                continue;
            }
            Kind::Close => open.pop()?..token.range.end,
            Kind::Text | Kind::Other => token.range,
        };
        // The value that ends first is the innermost.
        if around(&value) {
            return Some(value);
        }
    }
    None
}

/// Iterator over the tokens of JSON text, without separators and white space.
struct Tokens<'a> {
    json: &'a [u8],
    at: usize,
}

struct Token {
    kind: Kind,
    range: Range<usize>,
}

#[derive(Clone, Copy)]
enum Kind {
    Open,
    Close,
    /// A string, with its quotes.
    Text,
    /// A number, a boolean or `null`.
    Other,
}

impl<'a> Tokens<'a> {
    fn new(json: &'a str) -> Self {
        Self {
            json: json.as_bytes(),
            at: 0,
        }
    }

    /// Returns the end of the string that begins at `from`.
    fn string(&self, from: usize) -> usize {
        let mut at = from + 1;
        while let Some(found) =
            memchr::memchr2(b'"', b'\\', self.json.get(at..).unwrap_or_default())
        {
            at += found;
            if self.json[at] == b'"' {
                return at + 1;
            }
            at += 2;
        }
        self.json.len()
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':');
        let from = self.at + self.json[self.at..].iter().position(|byte| !blank(byte))?;
        let (kind, end) = match self.json[from] {
            b'{' | b'[' => (Kind::Open, from + 1),
            b'}' | b']' => (Kind::Close, from + 1),
            b'"' => (Kind::Text, self.string(from)),
            _ => {
                let ends =
                    |byte: &u8| blank(byte) || matches!(byte, b'}' | b']' | b'{' | b'[' | b'"');
                let rest = &self.json[from..];
                (
                    Kind::Other,
                    from + rest.iter().position(ends).unwrap_or(rest.len()),
                )
            }
        };
        self.at = end;
        Some(Token {
            kind,
            range: from..end,
        })
    }
}
