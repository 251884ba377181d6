//! Sizes of the transactions of a long deletion, and of statements with many rows.

use std::time::Duration;

/// The duration that a transaction of a deletion should not exceed. Other writers of a SQLite file wait until the transaction ends.
const LONGEST: Duration = Duration::from_millis(20);

/// The maximum number of rows that the next transaction of a deletion removes, adapted to the duration of the previous transactions.
pub(crate) struct Batches(u32);

impl Batches {
    /// The first size, which is small, so that the first transaction is also short on a slow disk.
    const FIRST: u32 = 100;
    /// The largest size, so that one slow transaction after many fast transactions does not hold its locks for long.
    const LARGEST: u32 = 5_000;

    pub(crate) fn new() -> Self {
        Self(Self::FIRST)
    }

    /// Returns the maximum number of rows that the next transaction removes.
    pub(crate) fn size(&self) -> u32 {
        self.0
    }

    /// Records a transaction. Returns whether the deletion continues: it ends after a transaction that removed fewer rows than its maximum.
    pub(crate) fn next(&mut self, removed: u64, took: Duration) -> bool {
        let was_full = removed >= u64::from(self.0);
        if took > LONGEST / 2 {
            // The size that would have taken half of the limit, if the duration is proportional to the number of rows.
            let rows = u128::from(self.0) * (LONGEST / 2).as_micros() / took.as_micros();
            self.0 = u32::try_from(rows).unwrap_or(self.0).max(1);
        } else {
            self.0 = self.0.saturating_mul(2).min(Self::LARGEST);
        }
        was_full
    }
}

/// Splits rows into batches for statements that contain the values of several rows. The batches have few different sizes, because each size is a
/// different statement in the cache of a connection.
pub(crate) fn few_sizes<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = [64, 16, 4, 1];
        let size = size.into_iter().find(|size| *size <= rows.len())?;
        let (batch, rest) = rows.split_at(size);
        rows = rest;
        Some(batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_have_few_sizes() {
        let rows: Vec<u32> = (0..150).collect();
        let batches: Vec<&[u32]> = few_sizes(&rows).collect();
        let sizes: Vec<usize> = batches.iter().map(|batch| batch.len()).collect();
        assert_eq!(sizes, [64, 64, 16, 4, 1, 1]);
        assert_eq!(batches.concat(), rows);
        assert_eq!(few_sizes::<u32>(&[]).count(), 0);
    }

    #[test]
    fn sizes_follow_the_duration_of_transactions() {
        let mut batches = Batches::new();
        assert!(batches.next(100, Duration::from_millis(1)));
        assert_eq!(batches.size(), 200);
        for _ in 0..20 {
            batches.next(u64::from(batches.size()), Duration::from_millis(1));
        }
        assert_eq!(batches.size(), Batches::LARGEST);
        batches.next(5_000, Duration::from_millis(40));
        assert_eq!(batches.size(), 1_250);
        for _ in 0..20 {
            batches.next(u64::from(batches.size()), Duration::from_secs(5));
        }
        assert_eq!(batches.size(), 1);
        assert!(
            !batches.next(0, Duration::ZERO),
            "an empty transaction is the last"
        );
    }
}
