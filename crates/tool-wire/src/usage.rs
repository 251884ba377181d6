//! Sums of token counts, for providers whose count of the input excludes cached tokens.

/// Returns the tokens of the whole input: the tokens that no cache contains, the tokens read from a cache, and the tokens written to a cache.
pub(super) fn whole_input(fresh: Option<u64>, read: Option<u64>, written: Option<u64>) -> u64 {
    let counts = [fresh, read, written].into_iter().flatten();
    counts.fold(0, u64::saturating_add)
}

/// Splits the tokens that were written to a cache into tokens that are kept for 5 minutes and tokens that are kept for 1 hour. If the provider did
/// not split them, all of them count as kept for 5 minutes, which is the default of the providers.
pub(super) fn by_ttl(written: Option<u64>, hours: Option<u64>) -> (Option<u64>, Option<u64>) {
    let hours = match written {
        Some(written) => hours.map(|hours| hours.min(written)),
        None => hours,
    };
    let minutes = written.map(|written| written - hours.unwrap_or_default());
    (minutes, hours)
}
