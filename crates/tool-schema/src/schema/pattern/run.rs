//! The compiled program of a pattern and its matcher.
#![allow(
    clippy::cast_possible_truncation,
    reason = "a step, set or range number is below MAX_STEPS, MAX_SETS or MAX_RANGES, each at most 256"
)]

use core::fmt;

use super::{MAX_STEPS, PatternError, parse};

/// Maximum number of different classes in one program. ASCII literals need no class.
pub(super) const MAX_SETS: usize = 32;

/// Maximum number of non-ASCII ranges of all classes of a program together.
pub(super) const MAX_RANGES: usize = 64;

/// The operation of a [`Step`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    /// The end of the pattern: the text matches.
    Accept,
    /// Matches the ASCII character `Step::value`.
    Byte,
    /// Matches a character of the set at index `Step::value`.
    Set,
    /// Continues at both `next` and `other`.
    Fork,
    /// Continues only at the start of the text.
    Start,
    /// Continues only at the end of the text.
    End,
}

/// One instruction. Entering a step also enters `other`, unless `other` is the step itself: so `x?` and `x*` of a single
/// character take one step, and `x{0,64}` takes 64.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) op: Op,
    pub(super) value: u8,
    pub(super) next: u8,
    pub(super) other: u8,
}

/// A character class: a bitmap for ASCII, ranges and flags for other characters.
#[derive(Clone, Copy)]
pub(super) struct Set {
    pub(super) ascii: u128,
    /// Index of its first range in `Program::ranges`; `count` ranges belong to it.
    pub(super) first: u8,
    pub(super) count: u8,
    pub(super) flags: u8,
}

/// `[^…]`: matches the non-ASCII characters that the ranges and the other flags do not match. `ascii` is already inverted.
pub(super) const NEGATED: u8 = 1;
/// The class contains `\s`.
pub(super) const SPACES: u8 = 1 << 1;
/// The class contains `\S`.
pub(super) const NON_SPACES: u8 = 1 << 2;

/// A compiled pattern without borrowed data, so that it can come from a constant or from a schema read at run time.
pub(crate) struct Program {
    /// The instructions; step 0 is `Op::Accept`.
    pub(super) steps: [Step; MAX_STEPS],
    pub(super) sets: [Set; MAX_SETS],
    pub(super) ranges: [(u32, u32); MAX_RANGES],
    pub(super) step_count: u16,
    pub(super) entry: u8,
    pub(super) set_count: u8,
    pub(super) range_count: u8,
    /// Whether every alternative starts with `^`, so that a match can only start at the beginning of the text.
    pub(super) starts_anchored: bool,
    pub(super) ends_anchored: bool,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The arrays are omitted, because their output would be too long to read.
        f.debug_struct("Program")
            .field("steps", &self.step_count)
            .field("anchored", &self.is_anchored())
            .finish_non_exhaustive()
    }
}

/// The states of one simulation. Of the arrays, only `seen` is cleared between characters.
struct States {
    /// Bitmap of the steps entered at the current position of the text.
    seen: [u64; MAX_STEPS / 64],
    /// The entered steps that wait for a character: one half for the current position, the other for the previous one.
    waiting: [[u8; MAX_STEPS]; 2],
    half: usize,
    count: usize,
    /// Steps still to enter. Each step pushes at most once, when it is first seen.
    stack: [u8; MAX_STEPS],
}

impl Program {
    /// Compiles `source`, or returns why it cannot be compiled.
    pub(crate) const fn parse_str(source: &str) -> Result<Self, PatternError> {
        parse::parse(source)
    }

    /// Returns whether every alternative starts with `^` and ends with `$` in the source text.
    pub(crate) const fn is_anchored(&self) -> bool {
        self.starts_anchored && self.ends_anchored
    }

    /// Returns whether the pattern matches somewhere in `text`.
    pub(crate) const fn is_match(&self, text: &str) -> bool {
        let text = text.as_bytes();
        let end = text.len();
        let mut states = States {
            seen: [0; MAX_STEPS / 64],
            waiting: [[0; MAX_STEPS]; 2],
            half: 0,
            count: 0,
            stack: [0; MAX_STEPS],
        };
        if self.enter(&mut states, self.entry, true, end == 0) {
            return true;
        }
        let mut at = 0;
        while at < end {
            if self.starts_anchored && states.count == 0 {
                return false;
            }
            // Here and below, ASCII is handled without a call, because each call costs time in const evaluation.
            let (character, width) = if text[at] < 128 {
                (text[at] as u32, 1)
            } else {
                decode(text, at)
            };
            at += width;
            let (half, count) = (states.half, states.count);
            states.half = 1 - half;
            states.count = 0;
            states.seen = [0; MAX_STEPS / 64];
            let mut index = 0;
            while index < count {
                let step = self.steps[states.waiting[half][index] as usize];
                let takes = match step.op {
                    Op::Byte => character == step.value as u32,
                    _ if character < 128 => {
                        self.sets[step.value as usize].ascii >> character & 1 == 1
                    }
                    _ => self.has_beyond_ascii(step.value, character),
                };
                if takes && self.enter(&mut states, step.next, false, at == end) {
                    return true;
                }
                index += 1;
            }
            if !self.starts_anchored && self.enter(&mut states, self.entry, false, at == end) {
                return true;
            }
        }
        false
    }

    /// Enters `step` and every step reachable from it without a character. Returns whether one of them accepts.
    const fn enter(&self, states: &mut States, step: u8, at_start: bool, at_end: bool) -> bool {
        let mut number = step;
        let mut pending = 0;
        loop {
            let (word, bit) = (number as usize / 64, 1 << (number % 64));
            let step = self.steps[number as usize];
            let mut go_on = false;
            if states.seen[word] & bit == 0 {
                states.seen[word] |= bit;
                match step.op {
                    Op::Accept => return true,
                    Op::Byte | Op::Set => {
                        states.waiting[states.half][states.count] = number;
                        states.count += 1;
                    }
                    Op::Fork => go_on = true,
                    Op::Start => go_on = at_start,
                    Op::End => go_on = at_end,
                }
                if step.other != number {
                    states.stack[pending] = step.other;
                    pending += 1;
                }
            }
            if go_on {
                number = step.next;
            } else if pending > 0 {
                pending -= 1;
                number = states.stack[pending];
            } else {
                return false;
            }
        }
    }

    /// Returns whether the set at index `number` contains the non-ASCII `character`.
    const fn has_beyond_ascii(&self, number: u8, character: u32) -> bool {
        let set = &self.sets[number as usize];
        let mut has = if set.flags & (SPACES | NON_SPACES) == 0 {
            false
        } else if is_wide_space(character) {
            set.flags & SPACES != 0
        } else {
            set.flags & NON_SPACES != 0
        };
        let mut index = set.first as usize;
        let after = index + set.count as usize;
        while index < after && !has {
            let (low, high) = self.ranges[index];
            has = low <= character && character <= high;
            index += 1;
        }
        has != (set.flags & NEGATED != 0)
    }
}

/// Returns whether ECMA-262 counts a non-ASCII character as white space or a line terminator.
const fn is_wide_space(character: u32) -> bool {
    matches!(
        character,
        0xA0 | 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x3000 | 0xFEFF
    )
}

/// Decodes the character at `at`; returns it with its length. `text` must be valid UTF-8.
pub(super) const fn decode(text: &[u8], at: usize) -> (u32, usize) {
    let lead = text[at];
    if lead < 0x80 {
        return (lead as u32, 1);
    }
    let second = (text[at + 1] & 0x3F) as u32;
    if lead < 0xE0 {
        return ((lead as u32 & 0x1F) << 6 | second, 2);
    }
    let third = (text[at + 2] & 0x3F) as u32;
    if lead < 0xF0 {
        return ((lead as u32 & 0x0F) << 12 | second << 6 | third, 3);
    }
    let fourth = (text[at + 3] & 0x3F) as u32;
    (
        (lead as u32 & 0x07) << 18 | second << 12 | third << 6 | fourth,
        4,
    )
}
