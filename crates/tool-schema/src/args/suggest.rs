//! Suggestions for misspelled names.

use strsim::osa_distance;

/// Maximum number of characters of a name that is compared. A longer name is not treated as misspelled.
const LONGEST: usize = 80;

/// Returns at most `max` candidates that are most similar to a name, best first.
///
/// Case and separators are ignored. The edit distance may be at most a third of the length of the longer name, or one if that name has 2 to 5
/// characters. A candidate that differs more, but contains the name or is contained in it, ranks last; the contained name needs at least four
/// characters.
pub fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
    max: usize,
) -> Vec<&'a str> {
    let wanted = fold(name);
    if wanted.is_empty() || wanted.chars().count() > LONGEST {
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
fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | '.' | ' ' | '/' | ':'))
        .flat_map(char::to_lowercase)
        .take(LONGEST + 1)
        .collect()
}

fn rank(wanted: &str, candidate: &str) -> Option<usize> {
    let (wanted_length, length) = (wanted.chars().count(), candidate.chars().count());
    let (shortest, longest) = (wanted_length.min(length), wanted_length.max(length));
    let limit = (longest / 3).max(usize::from(longest > 1));
    if longest > LONGEST || candidate.is_empty() {
        return None;
    }
    if longest - shortest <= limit {
        // The distance counts insertions, deletions, replacements and swaps of neighbouring characters.
        let distance = osa_distance(wanted, candidate);
        if distance <= limit {
            return Some(distance);
        }
    }
    let (short, long) = if wanted_length < length {
        (wanted, candidate)
    } else {
        (candidate, wanted)
    };
    (shortest > 3 && long.contains(short)).then_some(LONGEST + longest - shortest)
}
