//! Comparison of embeddings: exactly by their cosine, and approximately by codes of one bit for each dimension.
//!
//! The embeddings of a large scope take long to read: 3 kB each with 768 dimensions. A code is 32 times shorter. A search in a large scope reads the
//! codes, keeps the [`Candidates`] whose codes differ from the code of the query in the fewest bits, and compares only the embeddings of these
//! candidates exactly ([`nearest`]). In a scope of at most [`MOST_EXACT`] embeddings, the search compares all of them exactly.
//!
//! This module contains only arithmetic. The stores read and write the embeddings and the codes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The maximum number of embeddings in a scope for which a search compares all of them exactly.
pub(crate) const MOST_EXACT: usize = 1_024;

/// The minimum number of candidates of a search in more than [`MOST_EXACT`] embeddings.
const LEAST_CANDIDATES: usize = 512;

/// Returns the number of candidates of a search for `limit` embeddings: 8 for each result, and at least 512.
pub(crate) fn candidates(limit: usize) -> usize {
    limit.saturating_mul(8).max(LEAST_CANDIDATES)
}

/// Returns the cosine of two vectors of unit length; `None` if they have different numbers of dimensions.
pub(crate) fn cosine(one: &[f32], other: &[f32]) -> Option<f64> {
    if one.len() != other.len() {
        return None;
    }
    // Eight sums, so that the compiler can use vector instructions.
    let (ones, others) = (one.as_chunks::<8>(), other.as_chunks::<8>());
    let mut sums = [0.0_f32; 8];
    for (one, other) in ones.0.iter().zip(others.0) {
        for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
            *sum += one * other;
        }
    }
    let rest = ones.1.iter().zip(others.1).map(|(one, other)| one * other);
    Some(f64::from(sums.iter().sum::<f32>() + rest.sum::<f32>()))
}

/// Returns the keys of at most `limit` vectors with the largest cosines, and these cosines, best first. Equal cosines keep their order. All vectors
/// have unit length, and vectors with a different number of dimensions are left out.
pub(crate) fn nearest<K, V: AsRef<[f32]>>(
    vector: &[f32],
    vectors: impl IntoIterator<Item = (K, V)>,
    limit: usize,
) -> Vec<(K, f64)> {
    let cosines = vectors.into_iter().filter_map(|(key, values)| {
        let cosine = cosine(vector, values.as_ref())?;
        Some((key, cosine))
    });
    let mut cosines: Vec<(K, f64)> = cosines.collect();
    cosines.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    cosines.truncate(limit);
    cosines
}

/// The number of rounds of the rotation.
const ROUNDS: usize = 3;

/// Returns the code of a vector: one bit for each dimension of the rotated vector, which is 1 if the value is positive. Bit `n` of word `w` is
/// dimension `64 * w + n`; the bits after the last dimension are 0.
///
/// The rotation keeps all cosines. Without it, models whose first dimensions vary more than the others would have bad codes: each bit counts the
/// same, so the many dimensions that hardly vary would outweigh the few dimensions that vary much.
///
/// Databases store codes, so a change of this function requires a migration.
pub(crate) fn code(values: &[f32]) -> Vec<u64> {
    let rotated = rotated(values);
    let words = rotated.chunks(64).map(|values| {
        let bits = values.iter().zip(0_u32..);
        bits.fold(0, |word, (value, bit)| {
            word | (u64::from(*value > 0.0) << bit)
        })
    });
    words.collect()
}

/// Rotates a vector by a fixed pseudo-random rotation: each round changes the signs of about half of the dimensions, and then transforms the first
/// `n` dimensions and, if `n` is less than the number of dimensions, the last `n` dimensions. `n` is the largest power of two that is at most the
/// number of dimensions.
fn rotated(values: &[f32]) -> Vec<f32> {
    let mut values = values.to_vec();
    let Some(block) = values.len().checked_ilog2().map(|bits| 1 << bits) else {
        return values;
    };
    let rest = values.len() - block;
    let mut random = SplitMix(0);
    for _ in 0..ROUNDS {
        for values in values.chunks_mut(64) {
            let word = random.next();
            for (value, bit) in values.iter_mut().zip(0_u32..) {
                if (word >> bit) & 1 == 1 {
                    *value = -*value;
                }
            }
        }
        values.get_mut(..block).map(transform);
        if rest > 0 {
            values.get_mut(rest..).map(transform);
        }
    }
    values
}

/// Applies the Walsh-Hadamard transform, scaled so that the length of the vector does not change. The number of values must be a power of two.
fn transform(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (ones, others) = pair.split_at_mut(half);
            for (one, other) in ones.iter_mut().zip(others) {
                (*one, *other) = (*one + *other, *one - *other);
            }
        }
        half *= 2;
    }
    let length = f64::from(u32::try_from(values.len()).unwrap_or(u32::MAX));
    #[expect(clippy::cast_possible_truncation, reason = "a factor from 0 to 1")]
    let scale = length.sqrt().recip() as f32;
    for value in values {
        *value *= scale;
    }
}

/// The generator `SplitMix64`, from Steele, Lea and Flood (OOPSLA 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// Returns the words of a code as bytes, little-endian.
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    expect(dead_code, reason = "only databases store codes")
)]
pub(crate) fn code_bytes(code: &[u64]) -> Vec<u8> {
    code.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns the number of [bytes](code_bytes) of the code of a vector with this number of dimensions.
#[cfg_attr(
    not(any(feature = "sqlite", feature = "postgres")),
    expect(dead_code, reason = "only databases store codes")
)]
pub(crate) fn code_size(dimensions: usize) -> usize {
    dimensions.div_ceil(64) * 8
}

/// The keys whose codes are nearest to the code of a query.
pub(crate) struct Candidates<K> {
    code: Vec<u64>,
    /// The number of candidates of a search in more than [`MOST_EXACT`] codes.
    most: usize,
    /// The heap of candidates. Its first entry is the worst candidate.
    best: BinaryHeap<(u32, Reverse<K>)>,
    total: usize,
}

impl<K: Ord> Candidates<K> {
    /// Creates an empty list of candidates for the `limit` vectors that are nearest to `values`.
    pub(crate) fn new(values: &[f32], limit: usize) -> Self {
        let most = candidates(limit);
        Self {
            code: code(values),
            most,
            best: BinaryHeap::with_capacity(most.max(MOST_EXACT) + 1),
            total: 0,
        }
    }

    /// Adds a vector with its code as words.
    pub(crate) fn add(&mut self, key: K, code: &[u64]) {
        let pairs = self.code.iter().zip(code);
        let distance = pairs.map(|(one, other)| (one ^ other).count_ones()).sum();
        self.insert(key, distance);
    }

    /// Adds a vector with its code as [bytes](code_bytes).
    #[cfg_attr(
        not(any(feature = "sqlite", feature = "postgres")),
        expect(dead_code, reason = "only databases store codes")
    )]
    pub(crate) fn add_bytes(&mut self, key: K, code: &[u8]) {
        let pairs = self.code.iter().zip(code.as_chunks::<8>().0);
        let distances = pairs.map(|(one, other)| (one ^ u64::from_le_bytes(*other)).count_ones());
        let distance = distances.sum();
        self.insert(key, distance);
    }

    fn insert(&mut self, key: K, distance: u32) {
        self.total += 1;
        let candidate = (distance, Reverse(key));
        if self.best.len() < self.most.max(MOST_EXACT) {
            self.best.push(candidate);
        } else if let Some(mut worst) = self.best.peek_mut()
            && candidate < *worst
        {
            *worst = candidate;
        }
    }

    /// Returns the candidates: all keys if at most [`MOST_EXACT`] were added, otherwise the keys with the nearest codes. Of keys with equal
    /// distances, larger keys count as nearer.
    pub(crate) fn keys(self) -> Vec<K> {
        let is_exact = self.total <= MOST_EXACT;
        let mut best = self.best.into_sorted_vec();
        if !is_exact {
            best.truncate(self.most);
        }
        best.into_iter().map(|(_, Reverse(key))| key).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    // A change of the codes requires a migration, because databases store them.
    #[test]
    fn codes_are_stable() {
        let values: Vec<f32> = (0..70_u8).map(|place| f32::from(place) - 20.0).collect();
        assert_eq!(code(&values), [556_151_969_140_050_933, 15]);
        assert_eq!(code_bytes(&[1, 2]).len(), 16);
        assert!(code(&[]).is_empty());
    }

    #[test]
    fn rotation_keeps_cosines() {
        for dimensions in [1, 2, 3, 64, 100, 768] {
            let vector = |seed| {
                let mut random = SplitMix(seed);
                let values = (0..dimensions).map(|_| random.next() % 100);
                let values = values.map(|value| f32::from(u8::try_from(value).unwrap()) - 50.0);
                let values: Vec<f32> = values.collect();
                let length = values.iter().map(|value| value * value).sum::<f32>();
                let values = values.iter().map(|value| value / length.sqrt());
                values.collect::<Vec<_>>()
            };
            let (one, other) = (vector(1), vector(2));
            let before = cosine(&one, &other).unwrap();
            let after = cosine(&rotated(&one), &rotated(&other)).unwrap();
            assert!(
                (before - after).abs() < 1e-5,
                "{dimensions}: {before} {after}"
            );
        }
    }

    #[test]
    fn words_and_bytes_have_the_same_distance() {
        let query = [1.0, -1.0, 1.0, 1.0];
        let other = code(&[1.0, 1.0, -1.0, 1.0]);
        let (mut words, mut bytes) = (Candidates::new(&query, 1), Candidates::new(&query, 1));
        words.add(1, &other);
        bytes.add_bytes(1, &code_bytes(&other));
        assert_eq!(words.best.peek(), Some(&(2, Reverse(1))));
        assert_eq!(bytes.best.peek(), words.best.peek());
    }

    #[test]
    fn few_vectors_are_all_candidates_and_many_are_bounded() {
        let far = code(&[-1.0; 64]);
        let near = code(&[1.0; 64]);
        let mut candidates = Candidates::new(&[1.0; 64], 1);
        for key in 0..MOST_EXACT {
            candidates.add(key, &far);
        }
        assert_eq!(candidates.keys().len(), MOST_EXACT);

        let mut candidates = Candidates::new(&[1.0; 64], 1);
        candidates.add(0, &near);
        for key in 1..=MOST_EXACT {
            candidates.add(key, &far);
        }
        let keys = candidates.keys();
        assert_eq!(keys.len(), LEAST_CANDIDATES);
        // The nearest key is the first, and newer keys are before older keys.
        assert_eq!(keys[..2], [0, MOST_EXACT]);
    }
}
