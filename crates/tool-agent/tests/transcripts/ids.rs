//! Random names in a transcript. They are replaced by numbers, in the order in which they occur.

/// Returns the words of a text that a predicate accepts, without duplicates, in order.
fn words(text: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        if is_wanted(word) && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

fn is_hex(text: &str, length: usize) -> bool {
    let digits = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    text.len() == length && text.bytes().all(digits)
}

fn has_id(word: &str, kind: &str) -> bool {
    word.strip_prefix(kind).is_some_and(|id| is_hex(id, 24))
}

/// Returns the references of sub-agents in a text, without duplicates, in order.
pub(crate) fn child_ids(text: &str) -> Vec<String> {
    words(text, |word| has_id(word, "sub_"))
}

/// Returns the paths of files in a text, without duplicates, in order.
pub(crate) fn paths(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split("/attachments/").skip(1) {
        let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
        let name = part[..end.unwrap_or(part.len())].trim_end_matches('.');
        let path = format!("/attachments/{name}");
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// Returns the ids of requests for variables in a text, without duplicates, in order.
pub(crate) fn request_ids(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split("/variables/").skip(1) {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric());
        let id = part[..end.unwrap_or(part.len())].to_owned();
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

/// Replaces random names by numbers.
pub(crate) fn numbered(text: &str) -> String {
    let mut text = text.to_owned();
    for kind in ["sub_", "prompt_"] {
        let ids = words(&text, |word| has_id(word, kind));
        for (id, number) in ids.iter().zip(1..) {
            text = text.replace(id, &format!("{kind}{number}"));
        }
    }
    let mut number = 0;
    for path in paths(&text) {
        let (stem, extension) = path.rsplit_once('.').unwrap_or((&path, ""));
        let Some((stem, _)) = stem.rsplit_once('-').filter(|(_, id)| is_hex(id, 8)) else {
            continue;
        };
        number += 1;
        text = text.replace(&path, &format!("{stem}-{number}.{extension}"));
    }
    // The ids of requests for variables, of approvals and of runs.
    let others = words(&text, |word| {
        let id = word.rsplit_once('_').map_or(word, |(_, id)| id);
        [16, 24, 32, 48, 64]
            .iter()
            .any(|length| is_hex(id, *length))
    });
    for (id, number) in others.iter().zip(1..) {
        text = text.replace(id, &format!("id-{number}"));
    }
    text
}
