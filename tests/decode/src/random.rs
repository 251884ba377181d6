//! A seeded random number generator.

/// A splitmix64 random number generator.
#[derive(Debug)]
pub(crate) struct Random(u64);

#[allow(
    clippy::expect_used,
    reason = "an empty choice is a bug in the generator"
)]
impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub(crate) fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).expect("a usize has at most 64 bits");
        usize::try_from(self.next() % count).expect("the value is below a usize")
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn one<T: Copy>(&mut self, values: &[T]) -> T {
        *values
            .get(self.below(values.len()))
            .expect("the list is not empty")
    }
}
