//! Writer of the tree of a pattern as steps, from the last step to the first.
//!
//! Each node is written with the index of the step that follows it. Therefore only the jump back of a loop is set later, and a counted repetition
//! writes its node again.
#![allow(
    clippy::cast_possible_truncation,
    reason = "every number that is cast to u8 or u16 is checked against a limit in the range of that type"
)]

use super::PatternError::{self, TooLarge};
use super::parse::{Kind, NIL, Node, Parser, UNBOUNDED};
use super::run::{Op, Step};
use super::{MAX_STEPS, attempt};

impl Parser<'_> {
    /// Writes the steps of `node` with its repetitions before step `next`. Returns the index of the first step, which is `next`
    /// itself if the node takes no step.
    pub(super) const fn write(&mut self, node: u16, next: u8) -> Result<u8, PatternError> {
        let Node {
            kind,
            value,
            min,
            max,
            ..
        } = self.nodes[node as usize];
        let mut first = next;
        let mut required = min;
        if max == UNBOUNDED {
            first = attempt!(self.write_loop(node, next, min > 0));
            required = required.saturating_sub(1);
        } else {
            let mut optional = max - min;
            while optional > 0 {
                let before = first;
                first = match kind {
                    Kind::Byte => attempt!(self.step(Op::Byte, value, before, Some(next))),
                    Kind::Set => attempt!(self.step(Op::Set, value, before, Some(next))),
                    _ => {
                        let body = attempt!(self.write_once(node, before));
                        if body == before {
                            break;
                        }
                        attempt!(self.step(Op::Fork, 0, body, Some(next)))
                    }
                };
                optional -= 1;
            }
        }
        while required > 0 {
            let body = attempt!(self.write_once(node, first));
            // A node without steps has none in the next iteration either: `(){9}` ends here.
            if body == first {
                break;
            }
            first = body;
            required -= 1;
        }
        Ok(first)
    }

    /// Writes `x*`, or `x+` if `once` is set.
    const fn write_loop(&mut self, node: u16, next: u8, once: bool) -> Result<u8, PatternError> {
        let Node { kind, value, .. } = self.nodes[node as usize];
        let turn = match kind {
            Kind::Byte => attempt!(self.step(Op::Byte, value, 0, Some(next))),
            Kind::Set => attempt!(self.step(Op::Set, value, 0, Some(next))),
            _ => attempt!(self.step(Op::Fork, 0, 0, Some(next))),
        };
        let body = match kind {
            Kind::Byte | Kind::Set if !once => turn,
            _ => attempt!(self.write_once(node, turn)),
        };
        let first_of_turn = match kind {
            Kind::Byte | Kind::Set => turn,
            _ => body,
        };
        self.program.steps[turn as usize].next = first_of_turn;
        Ok(if once { body } else { turn })
    }

    /// Writes `node` once, without its repetitions.
    const fn write_once(&mut self, node: u16, next: u8) -> Result<u8, PatternError> {
        let Node {
            kind,
            value,
            last_child,
            ..
        } = self.nodes[node as usize];
        let op = match kind {
            Kind::Byte => Op::Byte,
            Kind::Set => Op::Set,
            Kind::Start => Op::Start,
            Kind::End => Op::End,
            Kind::Sequence => {
                let mut first = next;
                let mut child = last_child;
                while child != NIL {
                    first = attempt!(self.write(child, first));
                    child = self.nodes[child as usize].previous;
                }
                return Ok(first);
            }
            Kind::Group => {
                let mut first = attempt!(self.write_once(last_child, next));
                let mut child = self.nodes[last_child as usize].previous;
                while child != NIL {
                    let start = attempt!(self.write_once(child, next));
                    if start != first {
                        first = attempt!(self.step(Op::Fork, 0, start, Some(first)));
                    }
                    child = self.nodes[child as usize].previous;
                }
                return Ok(first);
            }
        };
        self.step(op, value, next, None)
    }

    /// Adds a step and returns its index.
    const fn step(
        &mut self,
        op: Op,
        value: u8,
        next: u8,
        other: Option<u8>,
    ) -> Result<u8, PatternError> {
        let count = self.program.step_count as usize;
        if count == MAX_STEPS {
            return Err(TooLarge);
        }
        let number = count as u8;
        let other = match other {
            Some(other) => other,
            None => number,
        };
        self.program.steps[count] = Step {
            op,
            value,
            next,
            other,
        };
        self.program.step_count += 1;
        Ok(number)
    }
}
