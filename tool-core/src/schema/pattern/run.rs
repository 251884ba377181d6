//! The program of a pattern and its simulation.
#![allow(
    clippy::cast_possible_truncation,
    reason = "a step, set or range number is below MAX_STEPS, MAX_SETS or MAX_RANGES, each at most 256"
)]

use core::fmt;

use super::{MAX_STEPS, PatternError, parse};

/// Different classes one program may hold. ASCII literals take none.
pub(super) const MAX_SETS: usize = 32;

/// Ranges beyond ASCII all classes of a program may hold together.
pub(super) const MAX_RANGES: usize = 64;

/// What a [`Step`] does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    /// The pattern has matched.
    Accept,
    /// Take the ASCII character `Step::value`.
    Byte,
    /// Take a character of the set number `Step::value`.
    Set,
    /// Go on at both `next` and `other`.
    Fork,
    /// Go on at the start of the text only.
    Start,
    /// Go on at the end of the text only.
    End,
}

/// One instruction. Whoever enters it also enters `other`, unless that is the step itself: so `x?`
/// and `x*` of a single character take one step and `x{0,64}` takes 64.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) op: Op,
    pub(super) value: u8,
    pub(super) next: u8,
    pub(super) other: u8,
}

/// A class: a bit map for ASCII, ranges and flags beyond.
#[derive(Clone, Copy)]
pub(super) struct Set {
    pub(super) ascii: u128,
    /// Where its ranges start in `Program::ranges`, and how many they are.
    pub(super) first: u8,
    pub(super) count: u8,
    pub(super) flags: u8,
}

/// `[^…]`: beyond ASCII, what the ranges and the other flags leave out. `ascii` is flipped already.
pub(super) const NEGATED: u8 = 1;
/// The class has `\s` in it.
pub(super) const SPACES: u8 = 1 << 1;
/// The class has `\S` in it.
pub(super) const NON_SPACES: u8 = 1 << 2;

/// A compiled pattern that borrows nothing, so that it can come from a constant or from a schema
/// read at run time.
pub struct Program {
    /// `Op::Accept` is step 0.
    pub(super) steps: [Step; MAX_STEPS],
    pub(super) sets: [Set; MAX_SETS],
    pub(super) ranges: [(u32, u32); MAX_RANGES],
    pub(super) step_count: u16,
    pub(super) entry: u8,
    pub(super) set_count: u8,
    pub(super) range_count: u8,
    /// Every alternative starts with `^`: no later place in the text has to be tried.
    pub(super) starts_anchored: bool,
    pub(super) ends_anchored: bool,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The arrays would fill screens.
        f.debug_struct("Program")
            .field("steps", &self.step_count)
            .field("anchored", &self.is_anchored())
            .finish_non_exhaustive()
    }
}

/// The states of one simulation. Of the arrays only `seen` is cleared between characters.
struct States {
    /// The steps entered at the current place of the text.
    seen: [u64; MAX_STEPS / 64],
    /// Of those, the ones that wait for a character; in the other half, those of the place before.
    waiting: [[u8; MAX_STEPS]; 2],
    half: usize,
    count: usize,
    /// Steps still to enter. Each step pushes at most once, when first seen.
    stack: [u8; MAX_STEPS],
}

impl Program {
    /// Compiles `source`, or says why it cannot.
    pub const fn parse_str(source: &str) -> Result<Self, PatternError> {
        parse::parse(source)
    }

    /// Whether every alternative starts with `^` and ends with `$`, as written.
    pub const fn is_anchored(&self) -> bool {
        self.starts_anchored && self.ends_anchored
    }

    /// Whether the pattern matches somewhere in `text`.
    pub const fn is_match(&self, text: &str) -> bool {
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
            // ASCII is told apart here and below without a call: const evaluation pays for each.
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

    /// Enters `step` and all it leads to without a character. Whether that accepts.
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

    /// Whether the set with this number has `character`, which is not in ASCII.
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

/// Whether ECMA-262 counts a character beyond ASCII as white space or a line end.
const fn is_wide_space(character: u32) -> bool {
    matches!(
        character,
        0xA0 | 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x3000 | 0xFEFF
    )
}

/// The character at `at` and its length. The bytes are those of a `str`.
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
