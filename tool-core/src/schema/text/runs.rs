//! One buffer with the text of all dialects, and how each takes its own out of it.

#[allow(
    unsafe_code,
    reason = "const evaluation has no cheap safe copy, and no unchecked view of bytes as text"
)]
pub(super) mod raw {
    /// Copies `from[start..end]` to `into[at..]`; `false` if that is not there or does not fit.
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

    /// Views bytes as text.
    ///
    /// # Safety
    ///
    /// `bytes` must be UTF-8.
    pub(in crate::schema::text) const unsafe fn text(bytes: &[u8]) -> &str {
        // SAFETY: promised by the caller.
        unsafe { core::str::from_utf8_unchecked(bytes) }
    }
}

/// Bytes of one buffer that the same dialects take, up to the next run.
#[derive(Clone, Copy)]
pub(in crate::schema) struct Run {
    pub(super) mask: u8,
    pub(super) start: usize,
}

impl Run {
    /// Filler.
    pub(in crate::schema) const NONE: Self = Self { mask: 0, start: 0 };
}

/// Copies what one dialect takes of a buffer that [`Out`](super::Out) filled to `into[at..]`. Returns how long that is, and how
/// far into it the positions `marks` of the buffer are.
///
/// # Panics
///
/// If it does not fit.
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
        // Runs that follow each other are one piece.
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

/// How far into the picked text a position of the buffer is, as the piece from `start` to `stop` is added to `picked` bytes.
const fn place(known: usize, mark: usize, picked: usize, start: usize, stop: usize) -> usize {
    if mark < start {
        known
    } else if mark < stop {
        picked + (mark - start)
    } else {
        picked + (stop - start)
    }
}
