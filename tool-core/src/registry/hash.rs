//! Hash function for tool names.

use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type BuildNameHasher = BuildHasherDefault<NameHasher>;

/// Hashes eight bytes at a time, each mixed by one wide multiplication.
///
/// `SipHash` protects a table with untrusted keys against names that were constructed to collide. The host fills this table before the first call and does not
/// change it later, so a name that a model constructs to collide costs only one comparison.
#[derive(Default)]
pub(crate) struct NameHasher(u64);

/// Both constants are hexadecimal digits of pi, which have no pattern, so that short names are spread as well. The last digit of `FACTOR` is one
/// greater than the digit of pi, because the factor must be odd.
const SEED: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0x1319_8a2e_0370_7345;

impl NameHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        let wide = u128::from(self.0.rotate_left(5) ^ word ^ SEED) * u128::from(FACTOR);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are 64 bits")]
        let folded = ((wide >> 64) ^ (wide & u128::from(u64::MAX))) as u64;
        self.0 = folded;
    }
}

impl Hasher for NameHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
            self.mix(u64::from_le_bytes(*chunk));
            rest = after;
        }
        let tail = match (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) << 24 ^ u64::from(u32::from_le_bytes(*last))
            }
            _ => rest
                .iter()
                .fold(0, |tail, byte| tail << 8 | u64::from(*byte)),
        };
        self.mix(tail ^ (bytes.len() as u64) << 56);
    }

    /// Ignores the byte that `str` adds after a text, because the length is hashed already.
    #[inline]
    fn write_u8(&mut self, _: u8) {}

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::BuildNameHasher;

    #[test]
    fn similar_names_differ_in_both_hash_halves() {
        let hash = |name: &str| BuildNameHasher::default().hash_one(name);
        let hashes: Vec<u64> = (0..1_000).map(|i| hash(&format!("search_{i}"))).collect();
        let low: HashSet<u64> = hashes.iter().map(|hash| hash % 4_096).collect();
        let high: HashSet<u64> = hashes.iter().map(|hash| hash >> 52).collect();
        // Random hashes would occupy 887 of the 4096 places on average.
        assert!(
            low.len() > 800 && high.len() > 800,
            "{} {}",
            low.len(),
            high.len()
        );
        assert_ne!(hash("a"), hash("a\0"));
        assert_ne!(hash(""), hash("\0"));
    }
}
