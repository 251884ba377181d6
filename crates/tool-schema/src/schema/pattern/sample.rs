//! Random texts that match a pattern, for tests.

use super::Pattern;
use super::run::{NEGATED, Op, Program, Set};

/// Maximum number of steps on a path through the program.
const LONGEST: usize = 2_000;

/// Follows a random path through the pattern's program and returns the text that it consumes; `None` if the path does not reach the
/// end. `choose(n)` returns a number below `n`. The text may not match, for example if the pattern has an anchor in the middle: check
/// with [`Pattern::is_match`].
pub fn sample(pattern: &Pattern, choose: &mut dyn FnMut(usize) -> usize) -> Option<String> {
    pattern.program.sample(choose)
}

impl Program {
    fn sample(&self, choose: &mut dyn FnMut(usize) -> usize) -> Option<String> {
        let mut text = String::new();
        let mut at = self.entry;
        for _ in 0..LONGEST {
            let step = self.steps.get(usize::from(at))?;
            if step.op != Op::Fork && step.other != at && choose(2) == 0 {
                at = step.other;
                continue;
            }
            match step.op {
                Op::Accept => return Some(text),
                Op::Fork => {
                    at = if choose(2) == 0 {
                        step.next
                    } else {
                        step.other
                    };
                    continue;
                }
                Op::Start | Op::End => {}
                Op::Byte => text.push(char::from(step.value)),
                Op::Set => {
                    let set = self.sets.get(usize::from(step.value))?;
                    text.push(self.member(*set, choose)?);
                }
            }
            at = step.next;
        }
        None
    }

    fn member(&self, set: Set, choose: &mut dyn FnMut(usize) -> usize) -> Option<char> {
        // Prefer printable ASCII characters; then other ASCII characters; use the rest of Unicode only for a class without ASCII characters.
        let ascii = |from: u8, to: u8| {
            (from..to)
                .filter(|byte| set.ascii >> byte & 1 == 1)
                .map(char::from)
                .collect::<Vec<_>>()
        };
        for members in [ascii(b' ', 127), ascii(0, 128)] {
            if !members.is_empty() {
                return members.get(choose(members.len())).copied();
            }
        }
        if set.flags & NEGATED != 0 {
            return Some('é');
        }
        let (first, last) = *self
            .ranges
            .get(usize::from(set.first))
            .filter(|_| set.count > 0)?;
        let width = usize::try_from(last.saturating_sub(first)).unwrap_or(0) + 1;
        char::from_u32(first + u32::try_from(choose(width)).unwrap_or(0))
    }
}
