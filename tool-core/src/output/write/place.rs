//! JSON pointer of the value at which writing stopped.

/// An array or object that is not closed yet.
enum Open {
    List(usize),
    /// The last key, with its escapes decoded.
    Record(String),
}

/// Returns the JSON pointer (RFC 6901) of the value that follows `begin`, a JSON text without white space that is not complete.
pub(super) fn after(begin: &str) -> String {
    let mut open = Vec::new();
    let mut rest = begin.chars();
    // `text` is the last string, which is a key if a colon follows.
    let mut text = String::new();
    while let Some(c) = rest.next() {
        match c {
            '"' => text = string(&mut rest),
            '[' => open.push(Open::List(0)),
            '{' => open.push(Open::Record(String::new())),
            ']' | '}' => drop(open.pop()),
            ':' => {
                if let Some(Open::Record(key)) = open.last_mut() {
                    *key = std::mem::take(&mut text);
                }
            }
            ',' => {
                if let Some(Open::List(index)) = open.last_mut() {
                    *index += 1;
                }
            }
            _ => {}
        }
    }
    let mut pointer = String::new();
    for open in open {
        pointer.push('/');
        pointer += &match open {
            Open::List(index) => index.to_string(),
            Open::Record(key) => key.replace('~', "~0").replace('/', "~1"),
        };
    }
    pointer
}

/// Reads the rest of a string after its opening quote, and decodes its escapes.
fn string(rest: &mut std::str::Chars<'_>) -> String {
    let mut quoted = String::from('"');
    while let Some(c) = rest.next() {
        quoted.push(c);
        match c {
            '"' => break,
            '\\' => quoted.extend(rest.next()),
            _ => {}
        }
    }
    serde_json::from_str(&quoted).unwrap_or_default()
}
