//! Tokenizer of the search index: splits a text into normalized words.

/// Calls `word` with every word of `text`, in lower case and without English plural endings. The text is split at each character that is not
/// alphanumeric and at `camelCase` boundaries: `listPullRequests` becomes `list`, `pull`, `request`. One-letter words are skipped.
pub(super) fn each(text: &str, mut word: impl FnMut(&str)) {
    let mut lower = String::new();
    for part in text.split(|c: char| !c.is_alphanumeric()) {
        let mut rest = part;
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(hump(rest));
            rest = tail;
            lower.clear();
            lower.extend(head.chars().flat_map(char::to_lowercase));
            singular(&mut lower);
            if lower.chars().nth(1).is_some() {
                word(&lower);
            }
        }
    }
}

/// Returns the byte offset of the first `camelCase` boundary: before an upper-case letter that does not follow an upper-case letter,
/// and before the last of several upper-case letters if a lower-case letter follows (`HTTPServer`). Without a boundary, returns the length.
fn hump(word: &str) -> usize {
    let mut letters = word.char_indices().peekable();
    let Some((_, mut before)) = letters.next() else {
        return 0;
    };
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let begins = letter.is_uppercase()
            && (!before.is_uppercase() || next.is_some_and(char::is_lowercase));
        if begins {
            return at;
        }
        before = letter;
    }
    word.len()
}

/// Removes a plural ending by the three rules of Harman's S-stemmer (JASIS 42(1), 1991): `queries`, `matches`, `files`. Unlike the S-stemmer, it also
/// removes the `e` of `es` after a sibilant.
fn singular(word: &mut String) {
    let ends = |ending: &str, but: &[&str]| {
        word.len() > ending.len() + 1
            && word.ends_with(ending)
            && !but.iter().any(|but| word.ends_with(but))
    };
    if ends("ies", &["eies", "aies"]) {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if ends("es", &["aes", "ees", "oes"]) {
        // `files` keeps its `e`, `matches` does not: `es` is an ending only after a sibilant.
        let stem = &word[..word.len() - 2];
        let hiss = ["s", "x", "z", "ch", "sh"]
            .iter()
            .any(|end| stem.ends_with(end));
        word.truncate(word.len() - if hiss { 2 } else { 1 });
    } else if ends("s", &["us", "ss", "is"]) {
        word.truncate(word.len() - 1);
    }
}

#[cfg(test)]
mod tests {
    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        super::each(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn words_are_split_and_case_folded() {
        let cases: &[(&str, &[&str])] = &[
            ("listPullRequests", &["list", "pull", "request"]),
            ("github__search_code", &["github", "search", "code"]),
            ("HTTPServer2", &["http", "server2"]),
            ("queries, matches & files", &["query", "match", "file"]),
            (
                "status address analysis",
                &["status", "address", "analysis"],
            ),
            ("boxes fees shoes", &["box", "fee", "shoe"]),
            ("Über-Größe", &["über", "größe"]),
            ("a b", &[]),
            ("", &[]),
            ("İstanbul", &["i\u{307}stanbul"]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), *expected, "{text}");
        }
    }
}
