//! Where in a JSON text the next value stands.

/// A list or record that is open.
enum Open {
    List(usize),
    /// Its last key, as it is written.
    Record(String),
}

/// The JSON pointer (RFC 6901) of the value that would follow the beginning of a text that is written without blanks.
pub(super) fn after(begin: &str) -> String {
    let mut open = Vec::new();
    let mut rest = begin.chars();
    // The last string, which is a key where a colon follows.
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

/// The rest of a string behind its first quote, its escapes read.
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
