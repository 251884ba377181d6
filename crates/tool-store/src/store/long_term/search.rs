//! The search that every store shares: the words of an index, the choice of candidates, and their ranking.

use std::collections::BTreeMap;

use super::{MemoryHit, MemoryQuery, MemoryRow};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use super::{MemoryScope, MemoryType};
use crate::text_search::{Candidate, rank};

/// The maximum number of candidates for each word of a query in each scope: the newest memories with the word.
pub(crate) const CANDIDATES: usize = 256;

/// The maximum number of candidates that are ranked.
const RANKED: usize = 512;

/// Returns the labels of a memory in a full-text index: its scope, and its scope with its type.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) fn labels_of(row: &MemoryRow) -> [String; 2] {
    let scope = row.scope.token();
    [typed(&scope, row.memory_type), scope]
}

/// Returns the labels of the memories in a scope with one of these types. A memory matches if it has at least one of the labels.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) fn wanted_labels(scope: &MemoryScope, types: &[MemoryType]) -> Vec<String> {
    let scope = scope.token();
    if types.is_empty() {
        return vec![scope];
    }
    let types = types.iter();
    types
        .map(|memory_type| typed(&scope, *memory_type))
        .collect()
}

/// Returns a label that is one word for every tokenizer.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn typed(scope: &str, memory_type: MemoryType) -> String {
    format!("{scope}{}", memory_type.as_str().replace('_', ""))
}

/// The condition of one lookup in a full-text index: a memory has one of the labels, and the term.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) struct Lookup<'a> {
    pub(crate) labels: &'a [String],
    pub(crate) term: &'a str,
}

/// Chooses the candidates that are ranked, newest first. `found` contains for each term the numbers of its newest memories. Candidates with rare
/// terms are preferred.
pub(crate) fn best(found: &[Vec<u64>]) -> Vec<u64> {
    let mut scores: BTreeMap<u64, f64> = BTreeMap::new();
    for numbers in found {
        let rarity = 1.0 / f64::from(u32::try_from(numbers.len()).unwrap_or(u32::MAX));
        for number in numbers {
            *scores.entry(*number).or_default() += rarity;
        }
    }
    let mut scores: Vec<(u64, f64)> = scores.into_iter().rev().collect();
    if scores.len() > RANKED {
        scores.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        scores.truncate(RANKED);
        scores.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    }
    scores.into_iter().map(|(number, _)| number).collect()
}

/// Ranks candidates, which are ordered by number, newest first.
pub(crate) fn ranked(
    terms: &[String],
    candidates: &[(MemoryRow, String)],
    query: &MemoryQuery,
) -> Vec<MemoryHit> {
    let keyed = candidates.iter().zip(0..);
    let keyed: Vec<Candidate<usize>> = keyed
        .map(|((_, terms), key)| Candidate {
            key,
            terms: terms.clone(),
        })
        .collect();
    let scores = rank(terms, &keyed, 0);
    let hits = scores.into_iter().filter_map(|(key, score)| {
        let (memory, _) = candidates.get(key)?;
        Some((memory.clone(), score))
    });
    weighted(hits, query)
}

/// Multiplies scores by the weights of their memories, and returns the best results.
pub(crate) fn weighted(
    hits: impl Iterator<Item = (MemoryRow, f64)>,
    query: &MemoryQuery,
) -> Vec<MemoryHit> {
    let hits = hits.filter(|(memory, _)| !memory.is_expired(query.now));
    let hits = hits.map(|(memory, score)| MemoryHit {
        score: score * memory.weight(query.now),
        memory,
    });
    let mut hits: Vec<MemoryHit> = hits.collect();
    hits.sort_by(|one, other| other.score.total_cmp(&one.score));
    hits.truncate(usize::try_from(query.limit).unwrap_or(usize::MAX));
    hits
}
