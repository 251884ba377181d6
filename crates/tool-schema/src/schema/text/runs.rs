//! Runs of bytes in the shared buffer, and the copy of one dialect's text out of them.

#[allow(
    unsafe_code,
    reason = "const evaluation has no cheap safe copy, and no unchecked view of bytes as text"
)]
pub(super) mod raw {
    /// Copies `from[start..end]` to `into[at..]`; returns `false` if a range is out of bounds.
    pub(in crate::schema::text) const fn copy(
        into: &mut [u8],
        at: usize,
        from: &[u8],
        start: usize,
        end: usize,
    ) -> bool {
        let room = into.len();
        if start > end || end > from.len() || at > room || end - start > room - at {
            return false;
        }
        // SAFETY: both ranges were just checked, and a shared slice cannot overlap an exclusive one.
        unsafe {
            core::ptr::copy_nonoverlapping(
                from.as_ptr().add(start),
                into.as_mut_ptr().add(at),
                end - start,
            );
        }
        true
    }

    /// Returns bytes as text.
    ///
    /// # Safety
    ///
    /// `bytes` must be UTF-8.
    pub(in crate::schema::text) const unsafe fn text(bytes: &[u8]) -> &str {
        // SAFETY: the caller promises that the bytes are UTF-8.
        unsafe { core::str::from_utf8_unchecked(bytes) }
    }
}

/// The start of a range of bytes that belong to the same dialects; it ends where the next run starts.
#[derive(Clone, Copy)]
pub(in crate::schema) struct Run {
    pub(super) mask: u8,
    pub(super) start: usize,
}

impl Run {
    /// An unused entry of the array of runs.
    pub(in crate::schema) const NONE: Self = Self { mask: 0, start: 0 };
}

/// Copies one dialect's text to `into[at..]`, from a buffer that [`Out`](super::Out) has filled. Returns the length of the text and
/// the positions of `marks` within it.
///
/// # Panics
///
/// If `into` is too short for the text.
pub(in crate::schema) const fn pick(
    dialect: u8,
    written: &[u8],
    (len, turns): (usize, usize),
    runs: &[Run],
    marks: (usize, usize),
    into: &mut [u8],
    at: usize,
) -> (usize, (usize, usize)) {
    let (mut picked, mut places, mut run) = (0, (0, 0), 0);
    while run < turns {
        if runs[run].mask & dialect == 0 {
            run += 1;
            continue;
        }
        let start = runs[run].start;
        // Adjacent runs are copied as one piece.
        while run < turns && runs[run].mask & dialect != 0 {
            run += 1;
        }
        let stop = if run < turns { runs[run].start } else { len };
        let fits = raw::copy(into, at + picked, written, start, stop);
        assert!(fits, "the schema's two passes disagree, please report this");
        places.0 = place(places.0, marks.0, picked, start, stop);
        places.1 = place(places.1, marks.1, picked, start, stop);
        picked += stop - start;
    }
    (picked, places)
}

/// Returns the position in the dialect's text that corresponds to `mark` in the buffer, updated for the piece from `start` to
/// `stop` that follows `picked` copied bytes.
const fn place(known: usize, mark: usize, picked: usize, start: usize, stop: usize) -> usize {
    if mark < start {
        known
    } else if mark < stop {
        picked + (mark - start)
    } else {
        picked + (stop - start)
    }
}
