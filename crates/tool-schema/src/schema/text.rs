//! JSON writer for const evaluation.
//!
//! One [`Out`] serves both passes, each for all dialects at once. Without a buffer it counts bytes. With a buffer it writes each
//! fragment once and records which dialects it belongs to ([`Run`]), so that [`pick`] can copy a dialect's text in a few long
//! pieces. Const evaluation takes about 5 µs for a call or for a step over one byte, and `str::len` is three calls. So fragments
//! are copied whole, the length of a literal is a constant ([`put!`]), lengths are read before a loop, and the counters
//! share one integer.

mod runs;

use tool_rules::{Dialect, Dialects};

use runs::raw;
pub(super) use runs::{Run, pick};

/// Width of one counter in bits. The counters of all dialects share a `u128`: with five dialects, a text may have 32 MiB.
#[allow(clippy::cast_possible_truncation, reason = "at most 8 dialects")]
const BITS: u32 = 128 / Dialect::COUNT as u32;

/// For each set of dialects: a one in the counter of each dialect in the set.
pub(super) const SPREAD: &[u128; 1 << Dialect::COUNT] = &{
    let mut table = [0; 1 << Dialect::COUNT];
    let mut set = 0;
    while set < table.len() {
        let mut dialect = 0;
        while dialect < Dialect::COUNT {
            if set >> dialect & 1 == 1 {
                table[set] |= 1 << (BITS as usize * dialect);
            }
            dialect += 1;
        }
        set += 1;
    }
    table
};

/// Maximum number of recursive types in one schema tree.
pub(super) const MOST_DEFINITIONS: usize = 16;

/// A recursive type that a `Kind::Ref` refers to; it is written under `$defs`.
#[derive(Clone, Copy)]
pub(super) struct Definition {
    /// Name of the Rust type, or of the definition in a schema read at run time.
    pub(super) name: &'static str,
    /// Module of the Rust type, which distinguishes types of the same name.
    pub(super) module: &'static str,
    /// The number of the type among the types of the same name, counted from 1.
    pub(super) number: usize,
}

/// Output of the JSON writer: a byte counter for each dialect, or one buffer with a list that assigns its bytes to dialects.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each flag is an independent property of a walk"
)]
pub(super) struct Out<'a> {
    pub(super) counts: u128,
    /// Number of bytes that all wanted dialects share.
    pub(super) common: usize,
    /// Whether bytes are only counted, because there is no buffer.
    pub(super) counting: bool,
    buffer: Option<(&'a mut [u8], &'a mut [Run])>,
    len: usize,
    /// Number of runs so far.
    turns: usize,
    /// Dialects of the last run; 0 before the first.
    turned: u8,
    overflow: bool,
    /// The wanted dialects, as a set.
    pub(super) mask: u8,
    /// Whether the schema describes a tool's output and not its arguments.
    pub(super) output: bool,
    /// Whether keys may need escaping, because the rule `property-key` was not checked.
    pub(super) foreign_keys: bool,
    /// Types that a `Kind::Ref` refers to and that were found so far.
    learnt: [Definition; MOST_DEFINITIONS],
    named: usize,
    /// The number of types that were recorded when the walk began. Only these are written as definitions.
    pub(super) settled: usize,
    /// Whether the tree refers to more than [`MOST_DEFINITIONS`] recursive types.
    pub(super) crowded: bool,
}

impl<'a> Out<'a> {
    /// Creates a writer that counts the bytes of all dialects in `mask`.
    pub(super) const fn count(mask: u8) -> Self {
        Self {
            counts: 0,
            common: 0,
            counting: true,
            buffer: None,
            len: 0,
            turns: 0,
            turned: 0,
            overflow: false,
            mask: mask & Dialects::ALL.bits(),
            output: false,
            foreign_keys: false,
            learnt: [Definition {
                name: "",
                module: "",
                number: 1,
            }; MOST_DEFINITIONS],
            named: 0,
            settled: 0,
            crowded: false,
        }
    }

    /// Creates a writer for all dialects in `mask`. `runs` needs at most one entry per byte.
    pub(super) const fn write(mask: u8, buffer: &'a mut [u8], runs: &'a mut [Run]) -> Self {
        let mut out = Self::count(mask);
        out.buffer = Some((buffer, runs));
        out.counting = false;
        out
    }

    /// Resets the output, but keeps the types found so far.
    pub(super) const fn rewind(&mut self) {
        self.counts = 0;
        self.common = 0;
        self.len = 0;
        self.turns = 0;
        self.turned = 0;
        self.overflow = false;
        self.settled = self.named;
    }

    /// Records that the tree refers to a type.
    pub(super) const fn learn(&mut self, name: &'static str, module: &'static str) {
        let (mut number, mut at) = (1, 0);
        while at < self.named {
            let known = self.learnt[at];
            if same(known.name, name) {
                if same(known.module, module) {
                    return;
                }
                number += 1;
            }
            at += 1;
        }
        if self.named < MOST_DEFINITIONS {
            self.learnt[self.named] = Definition {
                name,
                module,
                number,
            };
            self.named += 1;
        } else {
            self.crowded = true;
        }
    }

    /// Returns the recorded type at this index, if any.
    pub(super) const fn learnt(&self, at: usize) -> Option<Definition> {
        if at < self.named {
            Some(self.learnt[at])
        } else {
            None
        }
    }

    /// Removes the recorded type at this index, because the tree does not contain it.
    pub(super) const fn forget(&mut self, at: usize) {
        self.named -= 1;
        self.learnt[at] = self.learnt[self.named];
    }

    /// Returns whether this walk found types that were not known when it began, so that a second walk is needed.
    pub(super) const fn has_news(&self) -> bool {
        self.named != self.settled
    }

    /// Returns the definition of this type, if it has one.
    pub(super) const fn definition(&self, name: &str, module: &str) -> Option<Definition> {
        let mut at = 0;
        while at < self.settled {
            let known = self.learnt[at];
            if same(known.name, name) && same(known.module, module) {
                return Some(known);
            }
            at += 1;
        }
        None
    }

    /// Writes the name of a definition. Each further type with the same name gets a hyphen and a number. No Rust name contains a hyphen, so the names
    /// are unique.
    pub(super) const fn put_name(&mut self, mask: u8, definition: Definition) {
        self.put_escaped(mask, definition.name);
        if definition.number > 1 {
            self.put(mask, "-");
            self.put_magnitude(mask, definition.number as u128);
        }
    }

    /// Returns the number of bytes of each dialect.
    pub(super) const fn counted(&self) -> [usize; Dialect::COUNT] {
        let mut counts = [0; Dialect::COUNT];
        let mut dialect = 0;
        while dialect < Dialect::COUNT {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "masked to the bits of a counter"
            )]
            let count = (self.counts >> (BITS as usize * dialect)) as usize & ((1 << BITS) - 1);
            counts[dialect] = if self.mask >> dialect & 1 == 1 {
                count + self.common
            } else {
                0
            };
            dialect += 1;
        }
        counts
    }

    /// Returns the number of bytes written so far.
    pub(super) const fn position(&self) -> usize {
        self.len
    }

    /// Returns the number of bytes and of runs written, or `None` if there is no buffer or a buffer was too small.
    pub(super) const fn written(&self) -> Option<(usize, usize)> {
        if self.counting || self.overflow {
            None
        } else {
            Some((self.len, self.turns))
        }
    }

    /// Returns whether the buffer is filled to the last byte. A buffer for one dialect must be filled, because otherwise the two passes disagree.
    pub(super) const fn is_exact(&self) -> bool {
        match (&self.buffer, self.written()) {
            (Some((buffer, _)), Some((len, _))) => len == buffer.len(),
            _ => false,
        }
    }

    /// Writes `text` unchanged for the dialects in `mask`.
    pub(super) const fn put(&mut self, mask: u8, text: &str) {
        let mask = mask & self.mask;
        if mask == 0 {
            return;
        }
        if !self.counting {
            self.copy(mask, text);
        } else if mask == self.mask {
            self.common += text.len();
        } else {
            self.counts += SPREAD[mask as usize] * text.len() as u128;
        }
    }

    /// Copies `text` to the buffer for the dialects in `mask`, all of which must be wanted.
    pub(super) const fn copy(&mut self, mask: u8, text: &str) {
        let len = text.len();
        if len == 0 {
            return;
        }
        let Some((buffer, runs)) = &mut self.buffer else {
            self.overflow = true;
            return;
        };
        if mask != self.turned {
            if self.turns == runs.len() {
                self.overflow = true;
                return;
            }
            let start = self.len;
            runs[self.turns] = Run { mask, start };
            self.turns += 1;
            self.turned = mask;
        }
        if raw::copy(buffer, self.len, text.as_bytes(), 0, len) {
            self.len += len;
        } else {
            self.overflow = true;
        }
    }

    /// Writes `text` escaped for the inside of a JSON string.
    pub(super) const fn put_escaped(&mut self, mask: u8, text: &str) {
        let mask = mask & self.mask;
        if mask == 0 {
            return;
        }
        let bytes = text.as_bytes();
        let len = bytes.len();
        let (mut total, mut at) = (len, 0);
        while at < len {
            match bytes[at] {
                b'"' | b'\\' | b'\n' | b'\r' | b'\t' => total += 1,
                0..0x20 => total += 5,
                _ => {}
            }
            at += 1;
        }
        if self.counting {
            self.counts += SPREAD[mask as usize] * total as u128;
            return;
        }
        if total == len {
            self.copy(mask, text);
            return;
        }
        let mut rest = text;
        while !rest.is_empty() {
            let bytes = rest.as_bytes();
            let len = bytes.len();
            let mut plain = 0;
            while plain < len && !is_special(bytes[plain]) {
                plain += 1;
            }
            // Special bytes are ASCII, so both cuts are at character boundaries.
            let (head, tail) = rest.split_at(plain);
            self.put(mask, head);
            rest = tail;
            if !rest.is_empty() {
                self.put_special(mask, bytes[plain]);
                rest = rest.split_at(1).1;
            }
        }
    }

    const fn put_special(&mut self, mask: u8, byte: u8) {
        match byte {
            b'"' => self.put(mask, "\\\""),
            b'\\' => self.put(mask, "\\\\"),
            b'\n' => self.put(mask, "\\n"),
            b'\r' => self.put(mask, "\\r"),
            b'\t' => self.put(mask, "\\t"),
            _ => {
                let digits = "0123456789abcdef";
                self.put(mask, if byte < 16 { "\\u000" } else { "\\u001" });
                let nibble = (byte & 15) as usize;
                self.put(mask, digits.split_at(nibble).1.split_at(1).0);
            }
        }
    }

    /// Writes an integer.
    pub(super) const fn put_integer(&mut self, mask: u8, value: i128) {
        if value >= 0 && value < 10 {
            #[allow(
                clippy::cast_sign_loss,
                clippy::cast_possible_truncation,
                reason = "one digit"
            )]
            self.put(mask, "0123456789".split_at(value as usize).1.split_at(1).0);
            return;
        }
        if value < 0 {
            self.put(mask, "-");
        }
        self.put_magnitude(mask, value.unsigned_abs());
    }

    /// Writes an unsigned integer.
    pub(super) const fn put_magnitude(&mut self, mask: u8, value: u128) {
        let mut digits = [0_u8; 39];
        let mut at = digits.len();
        let mut rest = value;
        loop {
            at -= 1;
            #[allow(clippy::cast_possible_truncation, reason = "one digit")]
            let digit = (rest % 10) as u8;
            digits[at] = b'0' + digit;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        #[allow(unsafe_code, reason = "const evaluation pays per byte for a check")]
        // SAFETY: the bytes are ASCII digits.
        let text = unsafe { raw::text(digits.split_at(at).1) };
        self.put(mask, text);
    }
}

/// Returns a buffer that [`Out`] filled as text.
///
/// # Safety
///
/// Only an [`Out`] or [`pick`] may have written the buffer, and must have filled it with complete texts to the last byte.
#[allow(
    unsafe_code,
    reason = "const evaluation pays 5 µs per byte for a check"
)]
pub(super) const unsafe fn filled(bytes: &[u8]) -> &str {
    // SAFETY: `Out` and `pick` copy whole `&str`s only, and the caller promises that nothing else wrote the buffer.
    unsafe { raw::text(bytes) }
}

const fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Writes text for the dialects of a mask. Counting takes a few steps without a call, and the length of a literal is a constant.
macro_rules! put {
    (@add $out:expr, $mask:expr, $text:expr, $len:expr) => {{
        let mask = $mask & $out.mask;
        if mask != 0 {
            if !$out.counting {
                $out.copy(mask, $text);
            } else if mask == $out.mask {
                $out.common += $len;
            } else {
                $out.counts += crate::schema::text::SPREAD[mask as usize] * $len as u128;
            }
        }
    }};
    ($out:expr, $mask:expr, $text:literal $(,)?) => {
        crate::schema::text::put!(@add $out, $mask, $text, const { $text.len() })
    };
    ($out:expr, $mask:expr, const $text:expr $(,)?) => {
        crate::schema::text::put!(@add $out, $mask, $text, const { $text.len() })
    };
    ($out:expr, $mask:expr, $text:expr $(,)?) => {
        $out.put($mask, $text)
    };
}
pub(super) use put;

/// Returns whether two strings are equal.
pub(super) const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let len = left.len();
    if len != right.len() {
        return false;
    }
    let mut at = 0;
    while at < len {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}
