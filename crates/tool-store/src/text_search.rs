//! Full-text search that is the same on every database: the terms of a text, their quoting, the ranking of candidates and the fusion of rankings.
//!
//! A store keeps [`index_text`] of each row in its full-text index, and looks up the rows that contain a term of [`query_terms`]. The index only
//! finds candidates. [`rank`] orders them by BM25 with the statistics of the caller's own rows, because `bm25` of FTS5 counts the rows of all tenants
//! (so a score depends on the rows of other tenants), and `ts_rank` of PostgreSQL is not BM25: it does not weigh how rare a term is.
//!
//! Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without a space between words, and the tokenizers of FTS5 and PostgreSQL make one
//! token of a whole sentence. Korean words have suffixes. Runs of these scripts are therefore split into overlapping pairs of characters.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::digest::sha256;

/// The maximum number of terms of a query. Further terms are ignored.
pub const MOST_QUERY_TERMS: usize = 32;

/// The maximum length of a term, in characters. The rest of a longer word, such as a line of an encoded file, is ignored.
const MOST_TERM: usize = 64;

/// The constant of reciprocal rank fusion, from Cormack, Clarke and Buettcher (SIGIR 2009).
const FUSION: f64 = 60.0;

/// The weight of the score of a search by words in [`fuse_scores`], relative to the weight of a cosine.
const WORDS_WEIGHT: f64 = 0.4;

/// The saturation of a term's frequency in BM25.
const SATURATION: f64 = 1.2;

/// The weight of a document's length in BM25.
const LENGTH_WEIGHT: f64 = 0.75;

/// Returns whether a character belongs to a script that is written without spaces between words, or to Hangul, whose words have suffixes.
fn is_unspaced(letter: char) -> bool {
    matches!(
        u32::from(letter),
        0x0E00..=0x0EFF // Thai, Lao
            | 0x1000..=0x109F // Burmese
            | 0x1100..=0x11FF // Hangul
            | 0x1780..=0x17FF // Khmer
            | 0x3005..=0x3007 // ideographic iteration mark, closing mark and zero
            | 0x3041..=0x309F // Hiragana
            | 0x30A1..=0x30FA // Katakana
            | 0x30FC..=0x30FF
            | 0x31F0..=0x31FF
            | 0x3400..=0x4DBF // ideographs
            | 0x4E00..=0x9FFF
            | 0xA960..=0xA97F // Hangul
            | 0xAC00..=0xD7FF
            | 0xF900..=0xFAFF // ideographs
            | 0x20000..=0x3FFFF
    )
}

/// Returns the text in lower case, without compatibility forms and without the accents of Latin, Greek and Cyrillic letters.
fn folded(text: &str) -> String {
    let letters = text
        .nfkd()
        .filter(|letter| !matches!(letter, '\u{300}'..='\u{36F}'));
    letters.nfc().flat_map(char::to_lowercase).collect()
}

/// A sequence of letters, digits and combining marks of a text.
enum Run {
    /// A word of other characters.
    Word(String),
    /// Characters that [`is_unspaced`] accepts.
    Unspaced(Vec<char>),
}

fn runs(text: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut is_open = false;
    for letter in folded(text).chars() {
        if !letter.is_alphanumeric() && !is_combining_mark(letter) {
            is_open = false;
            continue;
        }
        let last = if is_open { runs.last_mut() } else { None };
        match (last, is_unspaced(letter)) {
            (Some(Run::Unspaced(run)), true) => run.push(letter),
            (Some(Run::Word(word)), false) => word.push(letter),
            (_, true) => runs.push(Run::Unspaced(vec![letter])),
            (_, false) => runs.push(Run::Word(letter.to_string())),
        }
        is_open = true;
    }
    runs
}

fn shortened(word: &str) -> String {
    word.chars().take(MOST_TERM).collect()
}

/// Returns the terms of a text for an index, separated by spaces. A term contains only letters, digits and combining marks, so an index that splits a
/// text at spaces contains exactly these terms.
///
/// A run of a script without spaces adds its pairs of characters, and each character alone, so that a query of one character finds it.
///
/// ```
/// use tool_store::text_search::index_text;
///
/// assert_eq!(index_text("The Café, at 5pm"), "the cafe at 5pm");
/// assert_eq!(index_text("去東京都"), "去 去東 東 東京 京 京都 都");
/// ```
pub fn index_text(text: &str) -> String {
    let mut terms = Vec::new();
    for run in runs(text) {
        match run {
            Run::Word(word) => terms.push(shortened(&word)),
            Run::Unspaced(letters) => {
                for (place, letter) in letters.iter().enumerate() {
                    terms.push(letter.to_string());
                    if let Some(next) = letters.get(place + 1) {
                        terms.push(format!("{letter}{next}"));
                    }
                }
            }
        }
    }
    terms.join(" ")
}

/// Returns the different terms of a query, in their order, at most [`MOST_QUERY_TERMS`]. A query without letters, digits and combining marks has no
/// terms, and finds nothing.
///
/// ```
/// use tool_store::text_search::query_terms;
///
/// assert_eq!(query_terms("Tea AND \"tea\" OR c++"), ["tea", "and", "or", "c"]);
/// assert_eq!(query_terms("東京都"), ["東京", "京都"]);
/// ```
pub fn query_terms(query: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for run in runs(query) {
        match run {
            Run::Word(word) => terms.push(shortened(&word)),
            Run::Unspaced(letters) if letters.len() == 1 => {
                terms.extend(letters.iter().map(char::to_string));
            }
            Run::Unspaced(letters) => {
                let pairs = letters.windows(2).map(|pair| pair.iter().collect());
                terms.extend(pairs);
            }
        }
    }
    let mut known = BTreeSet::new();
    terms.retain(|term: &String| known.insert(term.clone()));
    terms.truncate(MOST_QUERY_TERMS);
    terms
}

/// Returns a term as a string of an FTS5 query. Without quotes, FTS5 reads `AND`, `col:x`, `*` and `-x` as its syntax.
///
/// ```
/// assert_eq!(tool_store::text_search::fts5_string("say \"x\""), "\"say \"\"x\"\"\"");
/// ```
pub fn fts5_string(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
}

/// Returns a term as a quoted lexeme of a `tsquery` of PostgreSQL.
///
/// ```
/// assert_eq!(tool_store::text_search::tsquery_string(r"it's \"), r"'it''s \\'");
/// ```
pub fn tsquery_string(term: &str) -> String {
    format!("'{}'", term.replace('\\', "\\\\").replace('\'', "''"))
}

/// Returns the hash of a content, as hexadecimal digits. Contents that differ only in case, in the length or kind of white space, in white space at
/// the ends, in compatibility forms of Unicode or in final full stops have the same hash.
///
/// ```
/// use tool_store::text_search::content_hash;
///
/// assert_eq!(content_hash("Ada likes  tea."), content_hash(" ada likes tea"));
/// assert_ne!(content_hash("Ada likes tea"), content_hash("Ada likes tea?"));
/// ```
pub fn content_hash(content: &str) -> String {
    let content: String = content.nfkc().flat_map(char::to_lowercase).collect();
    let words: Vec<&str> = content.split_whitespace().collect();
    let content = words.join(" ");
    let content = content.trim_end_matches(['.', '。', ' ']);
    sha256(&["content", content])
}

/// A candidate of a search: its key, and its [`index_text`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<K> {
    /// Identifies the row.
    pub key: K,
    /// The terms of the row, from [`index_text`].
    pub terms: String,
}

/// Ranks candidates by BM25 (k1 = 1.2, b = 0.75), best first. Candidates without a term of the query are left out, and equal scores keep their order.
///
/// A score is the BM25 value divided by its upper bound, which is the sum of the weights of the query's terms times k1 + 1, so the score is larger
/// than 0 and less than 1. A term that no row contains lowers the scores of all rows.
///
/// `total` is the number of rows of the caller's scopes, from which the candidates come. The number of rows with a term and the average length are
/// counted in the candidates.
///
/// ```
/// use tool_store::text_search::{Candidate, index_text, query_terms, rank};
///
/// let row = |key, text| Candidate { key, terms: index_text(text) };
/// let rows = [row(1, "tea in the morning"), row(2, "coffee in the morning"), row(3, "green tea")];
/// let ranked = rank(&query_terms("green tea"), &rows, 3);
/// assert_eq!(ranked.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [3, 1]);
/// ```
pub fn rank<K: Clone>(query: &[String], candidates: &[Candidate<K>], total: u64) -> Vec<(K, f64)> {
    let wanted: BTreeMap<&str, usize> = query.iter().map(String::as_str).zip(0..).collect();
    let mut frequency = vec![0_u32; query.len()];
    let mut counted = Vec::with_capacity(candidates.len());
    let mut length = 0.0;
    for candidate in candidates {
        let mut counts = vec![0_u32; query.len()];
        let mut words = 0_u32;
        for term in candidate.terms.split(' ') {
            words += 1;
            if let Some(count) = wanted.get(term).and_then(|place| counts.get_mut(*place)) {
                *count += 1;
            }
        }
        for (frequency, count) in frequency.iter_mut().zip(&counts) {
            *frequency += u32::from(*count > 0);
        }
        length += f64::from(words);
        counted.push((counts, f64::from(words)));
    }
    let average = length / number(candidates.len()).max(1.0);
    let total = number(candidates.len()).max(number(total));
    let weights = frequency.iter().map(|frequency| {
        let frequency = f64::from(*frequency);
        (1.0 + (total - frequency + 0.5) / (frequency + 0.5)).ln()
    });
    let weights: Vec<f64> = weights.collect();
    let limit = weights.iter().sum::<f64>() * (SATURATION + 1.0);
    let mut ranked = Vec::new();
    for (candidate, (counts, words)) in candidates.iter().zip(counted) {
        let norm = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * words / average);
        let scores = counts.iter().zip(&weights).map(|(count, weight)| {
            let count = f64::from(*count);
            weight * count * (SATURATION + 1.0) / (count + norm)
        });
        let score: f64 = scores.sum();
        if score > 0.0 {
            ranked.push((candidate.key.clone(), score / limit));
        }
    }
    ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    ranked
}

fn number(count: impl TryInto<u32>) -> f64 {
    f64::from(count.try_into().unwrap_or(u32::MAX))
}

/// Fuses rankings by reciprocal rank (k = 60), best first. Only ranks count, not scores. A key that is in several rankings comes before a key that
/// has the same rank in only one of them. Keys with equal scores keep the order in which they first occur in the rankings.
///
/// ```
/// let fused = tool_store::text_search::fuse(&[vec!["a", "b", "c"], vec!["b", "d"]]);
/// assert_eq!(fused.iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["b", "a", "d", "c"]);
/// ```
pub fn fuse<K: Clone + Ord>(rankings: &[Vec<K>]) -> Vec<(K, f64)> {
    let mut places: BTreeMap<&K, usize> = BTreeMap::new();
    let mut fused: Vec<(K, f64)> = Vec::new();
    for ranking in rankings {
        for (place, key) in ranking.iter().enumerate() {
            let score = 1.0 / (FUSION + number(place) + 1.0);
            if let Some((_, sum)) = places.get(key).and_then(|place| fused.get_mut(*place)) {
                *sum += score;
            } else {
                places.insert(key, fused.len());
                fused.push((key.clone(), score));
            }
        }
    }
    fused.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    fused
}

/// Fuses the results of a search by words and of a search by meaning (by embeddings) by their scores, best first. The fused score is
/// `(cosine + 0.4 × score by words) / 1.4`.
///
/// `words` has scores of [`rank`], and `meanings` has cosines. Both are best first and were searched with the same `limit`, in the rows of one
/// caller, so that no score depends on rows that the caller cannot read. A key that only one search returned gets the lowest score of the other list,
/// because its score in the other search cannot be higher. If a search by words returned fewer than `limit` results, the other keys contain no word
/// of the query, and get 0.
///
/// A fusion by rank ([`fuse`]) counts a weak result as much as a good result of the same rank. With k = 60, and lists of up to 60 results, any key in
/// both lists comes before the first key that is in only one list, so a search with many weak results displaces the results of the other search.
///
/// ```
/// use tool_store::text_search::fuse_scores;
///
/// let words = [("the user likes cake", 0.1)];
/// let meanings = [("Ada drinks tea", 0.7), ("Ada drinks water", 0.5), ("the user likes cake", 0.1)];
/// let fused = fuse_scores(&words, &meanings, 20);
/// let keys: Vec<&str> = fused.iter().map(|(key, _)| *key).collect();
/// assert_eq!(keys, ["Ada drinks tea", "Ada drinks water", "the user likes cake"]);
/// ```
pub fn fuse_scores<K: Clone + Ord>(
    words: &[(K, f64)],
    meanings: &[(K, f64)],
    limit: usize,
) -> Vec<(K, f64)> {
    let lowest = |list: &[(K, f64)]| list.last().map_or(0.0, |(_, score)| *score);
    let without_words = if words.len() < limit {
        0.0
    } else {
        lowest(words)
    };
    let without_meaning = lowest(meanings);
    let scores = |list: &[(K, f64)]| list.iter().cloned().collect::<BTreeMap<K, f64>>();
    let (by_words, by_meaning) = (scores(words), scores(meanings));
    let only_words = words
        .iter()
        .filter(|(key, _)| !by_meaning.contains_key(key));
    let fused = meanings.iter().chain(only_words).map(|(key, _)| {
        let words = by_words.get(key).copied().unwrap_or(without_words);
        let cosine = by_meaning.get(key).copied().unwrap_or(without_meaning);
        let score = (cosine + WORDS_WEIGHT * words) / (1.0 + WORDS_WEIGHT);
        (key.clone(), score)
    });
    let mut fused: Vec<(K, f64)> = fused.collect();
    fused.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    fused
}

#[cfg(test)]
mod tests;
