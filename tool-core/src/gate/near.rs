//! Names near to one that is not there.

use crate::error::{ErrorKind, ToolError};

/// Most names that are offered.
const MOST: usize = 5;
/// Longest name that is compared; a model that writes a longer one did not misspell.
const LONGEST: usize = 128;

/// The error for a name that is not there. A hidden tool's name is not among those given here, so it answers the same.
pub(crate) fn unknown<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> ToolError {
    let near = nearest(names, wanted);
    let shown: String = wanted.chars().take(LONGEST).collect();
    ToolError::of(
        ErrorKind::UnknownTool,
        match near.as_slice() {
            [] => format!("there is no tool `{shown}`"),
            [one] => format!("there is no tool `{shown}`, did you mean `{one}`?"),
            many => format!("there is no tool `{shown}`, did you mean one of `{}`?", many.join("`, `")),
        },
    )
}

/// Up to five names, nearest first; equally near ones in their own order.
fn nearest<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> Vec<&'a str> {
    if wanted.is_empty() || wanted.len() > LONGEST {
        return Vec::new();
    }
    let wanted_plain = plain(wanted);
    let mut near: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let name_plain = plain(name);
            let far = name_plain.len().max(wanted_plain.len());
            let distance = distance(&wanted_plain, &name_plain);
            let part = name_plain.len().min(wanted_plain.len()) >= 3 && contains(&wanted_plain, &name_plain);
            // A third of the letters may differ; part of a name is near as well, but after those.
            if distance * 3 <= far {
                Some((distance, name))
            } else {
                part.then_some((LONGEST + distance, name))
            }
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// Lower case letters and digits alone: `searchDocs`, `search-docs` and `search_docs` are one.
fn plain(name: &str) -> Vec<char> {
    name.chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn contains(a: &[char], b: &[char]) -> bool {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    long.windows(short.len()).any(|window| window == short)
}

/// Optimal string alignment: insert, remove, replace, swap neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
