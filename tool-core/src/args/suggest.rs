//! Suggestions for misspelled names.

/// Maximum number of characters of a name that is compared. A longer name is not a misspelling.
const LONGEST: usize = 80;

/// The candidates that are most similar to a name, best first, at most `max` of them.
///
/// Case and separators are ignored. Of the rest, a third of the name may differ, or one character of a short name. A name that contains
/// the other one as a whole ranks last.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
    max: usize,
) -> Vec<&'a str> {
    let wanted = fold(name);
    if wanted.is_empty() || wanted.len() > LONGEST {
        return Vec::new();
    }
    let mut ranked: Vec<(usize, &str)> = candidates
        .filter_map(|candidate| Some((rank(&wanted, &fold(candidate))?, candidate)))
        .collect();
    // Sorting by rank and name makes the result independent of the order of the candidates.
    ranked.sort_unstable();
    ranked.dedup();
    ranked.truncate(max);
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Converts a name to lower case without separators.
fn fold(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | '.' | ' ' | '/' | ':'))
        .flat_map(char::to_lowercase)
        .take(LONGEST + 1)
        .collect()
}

fn rank(wanted: &[char], candidate: &[char]) -> Option<usize> {
    let length = wanted.len().max(candidate.len());
    let limit = (length / 3).max(usize::from(length > 1));
    if length > LONGEST || candidate.is_empty() {
        return None;
    }
    if wanted.len().abs_diff(candidate.len()) <= limit {
        let distance = distance(wanted, candidate);
        if distance <= limit {
            return Some(distance);
        }
    }
    let (short, long) = if wanted.len() < candidate.len() {
        (wanted, candidate)
    } else {
        (candidate, wanted)
    };
    (short.len() > 3 && long.windows(short.len()).any(|part| part == short))
        .then_some(LONGEST + long.len() - short.len())
}

/// The edit distance: insertions, deletions, replacements and swaps of neighbours.
fn distance(left: &[char], right: &[char]) -> usize {
    let width = right.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut row: Vec<usize> = (0..width).collect();
    let mut next: Vec<usize> = vec![0; width];
    let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
    let mut previous = None;
    for (i, a) in left.iter().enumerate() {
        if let Some(first) = next.first_mut() {
            *first = i + 1;
        }
        for (j, b) in right.iter().enumerate() {
            let mut cost = (at(&row, j) + usize::from(a != b))
                .min(at(&row, j + 1) + 1)
                .min(at(&next, j) + 1);
            if j > 0 && previous == Some(b) && right.get(j - 1) == Some(a) {
                cost = cost.min(at(&before, j - 1) + 1);
            }
            if let Some(cell) = next.get_mut(j + 1) {
                *cell = cost;
            }
        }
        previous = Some(a);
        std::mem::swap(&mut before, &mut row);
        std::mem::swap(&mut row, &mut next);
    }
    at(&row, right.len())
}
