//! Messages and their rules.

use tool_rules::Rule;

/// Splits a text at its placeholders, which are `{0}` to `{9}` and `{Self}` (replaced by rustc), and returns the parts.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while let Some(found) = text[at..].find('{') {
        at += found;
        let rest = &text[at..];
        let is_fact = matches!(rest.as_bytes(), [_, b'0'..=b'9', b'}', ..]);
        let fact = if is_fact { "{0}" } else { "{Self}" };
        if is_fact || rest.starts_with(fact) {
            pieces.push(&text[begin..at]);
            at += fact.len();
            begin = at;
        } else {
            at += 1;
        }
    }
    pieces.push(&text[begin..]);
    pieces
}

/// Returns whether a printed text is the complete text of the rule with any values in place of the placeholders.
pub(crate) fn fits(rule: &Rule, text: &str) -> bool {
    let pieces = pieces(rule.text);
    let (first, rest) = pieces.split_first().unwrap();
    let Some((last, between)) = rest.split_last() else {
        return text == *first;
    };
    let Some(mut left) = text
        .strip_prefix(first)
        .and_then(|left| left.strip_suffix(last))
    else {
        return false;
    };
    for piece in between {
        match left.split_once(piece) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    true
}

/// Returns the rule with this id and this printed text, or an error if no rule or more than one rule matches.
pub(crate) fn rule_of(id: &str, text: &str) -> Result<&'static Rule, String> {
    let mut found = Rule::all().filter(|rule| rule.id == id && fits(rule, text));
    match (found.next(), found.next()) {
        (Some(rule), None) => Ok(rule),
        (None, _) => Err(format!("no rule has this message: [{id}] {text}")),
        (Some(one), Some(other)) => Err(format!(
            "[{id}] {text}\n  has the text of two rules: {}\n  {}",
            one.text, other.text
        )),
    }
}

/// Parses a text such as `[id] rest`, and returns the id and the rest.
pub(crate) fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (id, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let is_id = id
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    (is_id && !id.is_empty()).then_some((id, rest))
}

/// Returns the messages in a text. A message is `[id] rest` at the beginning of a line or after `: `, up to the end of the line.
pub(crate) fn messages(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .flat_map(|line| {
            line.match_indices('[')
                .map(move |(at, _)| line.split_at(at))
        })
        .filter(|(before, _)| before.is_empty() || before.ends_with(": "))
        .filter_map(|(_, text)| bracketed(text))
}

#[test]
fn a_text_fits_its_rule_only_as_a_whole() {
    let rule = &Rule::RANGE_OUTSIDE;
    assert_eq!(pieces(rule.text), ["the bound `", "` is outside of `", "`"]);
    assert!(fits(rule, "the bound `256` is outside of `u8`"));
    assert!(!fits(
        rule,
        "the bound `256` is outside of `u8`, write less"
    ));
    assert!(!fits(rule, "the bound `256` is not in `u8`"));
    assert_eq!(pieces(Rule::PATTERN_COUNT.text).len(), 1);
    assert_eq!(pieces(Rule::MAP_KEY_TYPE.text).len(), 2);
    assert_eq!(
        rule_of(
            "constraint",
            "the range is empty, write the smaller bound first, and `..=` to include the larger one"
        ),
        Ok(&Rule::RANGE_EMPTY)
    );
    assert!(
        rule_of(
            "effect",
            "the range is empty, write the smaller bound first, and `..=` to include the larger one"
        )
        .is_err()
    );
}
