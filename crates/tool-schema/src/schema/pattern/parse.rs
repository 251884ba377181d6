//! Parser from a pattern to a tree: one loop with a stack of the open groups.
#![allow(
    clippy::cast_possible_truncation,
    reason = "every number that is cast to u8 or u16 is checked against a limit in the range of that type"
)]

use super::PatternError::{self, Lookaround, Syntax, TooLarge};
use super::class::CLASS_ESCAPE;
use super::run::{MAX_RANGES, MAX_SETS, Op, Program, Set, Step};
use super::{MAX_STEPS, attempt};
use tool_rules::Rule;

/// Maximum number of nodes of a tree, before counted repetitions are expanded.
const MAX_NODES: usize = 512;

/// Maximum number of open groups, plus one. Const evaluation allows 128 nested calls, and writing a repeated group needs four of
/// them.
const MAX_DEPTH: usize = 21;

/// Marks the absence of a node.
pub(super) const NIL: u16 = u16::MAX;

/// Marks a repetition without an upper bound.
pub(super) const UNBOUNDED: u16 = u16::MAX;

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Byte,
    Set,
    Start,
    End,
    /// Matches one of its children, each a `Sequence`.
    Group,
    /// Matches its children in order.
    Sequence,
}

/// A node of the tree. Children are linked from the last to the first, because the steps of a pattern are created in this order.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) value: u8,
    pub(super) min: u16,
    pub(super) max: u16,
    pub(super) last_child: u16,
    pub(super) previous: u16,
}

/// Bit for a node that starts with `^`.
const STARTS: u8 = 1;
/// Bit for a node that ends with `$`.
const ENDS: u8 = 1 << 1;

/// State of an open group, or of the complete pattern.
#[derive(Clone, Copy)]
struct Frame {
    last_alternative: u16,
    last_item: u16,
    /// The bits of `STARTS` and `ENDS` that every closed alternative has.
    anchors: u8,
    /// The bits of `STARTS` and `ENDS` of the current alternative.
    item_anchors: u8,
}

impl Frame {
    const NEW: Self = Self {
        last_alternative: NIL,
        last_item: NIL,
        anchors: STARTS | ENDS,
        item_anchors: 0,
    };
}

pub(super) struct Parser<'a> {
    pub(super) source: &'a [u8],
    pub(super) at: usize,
    pub(super) nodes: [Node; MAX_NODES],
    node_count: usize,
    frames: [Frame; MAX_DEPTH],
    depth: usize,
    pub(super) program: Program,
}

/// Compiles `source` into a program.
pub(super) const fn parse(source: &str) -> Result<Program, PatternError> {
    let mut parser = Parser::new(source.as_bytes());
    let root = attempt!(parser.tree());
    parser.program.entry = attempt!(parser.write(root, 0));
    Ok(parser.program)
}

impl<'a> Parser<'a> {
    const fn new(source: &'a [u8]) -> Self {
        let accept = Step {
            op: Op::Accept,
            value: 0,
            next: 0,
            other: 0,
        };
        let set = Set {
            ascii: 0,
            first: 0,
            count: 0,
            flags: 0,
        };
        let node = Node {
            kind: Kind::Sequence,
            value: 0,
            min: 1,
            max: 1,
            last_child: NIL,
            previous: NIL,
        };
        Self {
            source,
            at: 0,
            nodes: [node; MAX_NODES],
            node_count: 0,
            frames: [Frame::NEW; MAX_DEPTH],
            depth: 0,
            program: Program {
                steps: [accept; MAX_STEPS],
                sets: [set; MAX_SETS],
                ranges: [(0, 0); MAX_RANGES],
                step_count: 1,
                entry: 0,
                set_count: 0,
                range_count: 0,
                starts_anchored: false,
                ends_anchored: false,
            },
        }
    }

    /// Returns the byte at `self.at + ahead`; 0 past the end, which no syntax rule matches.
    pub(super) const fn peek(&self, ahead: usize) -> u8 {
        if self.at + ahead < self.source.len() {
            self.source[self.at + ahead]
        } else {
            0
        }
    }

    /// Parses the complete pattern and returns its root node.
    const fn tree(&mut self) -> Result<u16, PatternError> {
        while self.at < self.source.len() {
            match self.source[self.at] {
                b'|' => {
                    self.at += 1;
                    attempt!(self.close_alternative());
                }
                b'(' => attempt!(self.open_group()),
                b')' if self.depth == 0 => {
                    return Err(Syntax(&Rule::PATTERN_GROUP_CLOSE));
                }
                b')' => {
                    self.at += 1;
                    let (group, anchors) = attempt!(self.close_group());
                    self.depth -= 1;
                    attempt!(self.push_item(group, anchors));
                }
                b'*' | b'+' | b'?' | b'{' => {
                    return Err(Syntax(&Rule::PATTERN_REPEAT));
                }
                b']' | b'}' => {
                    return Err(Syntax(&Rule::PATTERN_BRACKET));
                }
                _ => attempt!(self.item()),
            }
        }
        if self.depth > 0 {
            return Err(Syntax(&Rule::PATTERN_GROUP_OPEN));
        }
        let (root, anchors) = attempt!(self.close_group());
        self.program.starts_anchored = anchors & STARTS != 0;
        self.program.ends_anchored = anchors & ENDS != 0;
        Ok(root)
    }

    /// Parses an anchor, or a character or class with its quantifier.
    const fn item(&mut self) -> Result<(), PatternError> {
        let byte = self.source[self.at];
        if matches!(byte, b'^' | b'$') {
            self.at += 1;
            let (kind, anchors) = if byte == b'^' {
                (Kind::Start, STARTS)
            } else {
                (Kind::End, ENDS)
            };
            let node = attempt!(self.node(kind, 0, NIL));
            // An anchor cannot have a quantifier: `tree` rejects the quantifier in its next iteration.
            self.link_item(node, anchors);
            return Ok(());
        }
        let (kind, value) = match byte {
            b'[' => (Kind::Set, attempt!(self.class())),
            b'.' => {
                self.at += 1;
                let mut set = self.open_set();
                set.ascii = 1 << b'\n' | 1 << b'\r';
                attempt!(self.add_range(&mut set, 0x2028, 0x2029));
                (Kind::Set, attempt!(self.close_set(set, true)))
            }
            // This common case needs no call, because each call costs time in const evaluation.
            byte if byte != b'\\' && byte < 128 => {
                self.at += 1;
                (Kind::Byte, byte)
            }
            _ => {
                let mut set = self.open_set();
                let character = attempt!(self.character(&mut set, false));
                if character < 128 {
                    (Kind::Byte, character as u8)
                } else {
                    if character != CLASS_ESCAPE {
                        attempt!(self.add_range(&mut set, character, character));
                    }
                    (Kind::Set, attempt!(self.close_set(set, false)))
                }
            }
        };
        let node = attempt!(self.node(kind, value, NIL));
        self.push_item(node, 0)
    }

    const fn node(&mut self, kind: Kind, value: u8, last_child: u16) -> Result<u16, PatternError> {
        if self.node_count == MAX_NODES {
            return Err(TooLarge);
        }
        let number = self.node_count;
        self.node_count += 1;
        self.nodes[number] = Node {
            kind,
            value,
            min: 1,
            max: 1,
            last_child,
            previous: NIL,
        };
        Ok(number as u16)
    }

    /// Parses the quantifier of `node`, if any, and adds the node to the current alternative.
    const fn push_item(&mut self, node: u16, anchors: u8) -> Result<(), PatternError> {
        let (min, max) = attempt!(self.quantifier());
        self.nodes[node as usize].min = min;
        self.nodes[node as usize].max = max;
        self.link_item(node, if min > 0 { anchors } else { 0 });
        Ok(())
    }

    const fn link_item(&mut self, node: u16, anchors: u8) {
        let frame = &mut self.frames[self.depth];
        self.nodes[node as usize].previous = frame.last_item;
        // The first item decides how the alternative starts, the last item how it ends.
        let starts = if frame.last_item == NIL {
            anchors
        } else {
            frame.item_anchors
        };
        frame.item_anchors = starts & STARTS | anchors & ENDS;
        frame.last_item = node;
    }

    const fn close_alternative(&mut self) -> Result<(), PatternError> {
        let last_item = self.frames[self.depth].last_item;
        let sequence = attempt!(self.node(Kind::Sequence, 0, last_item));
        let frame = &mut self.frames[self.depth];
        self.nodes[sequence as usize].previous = frame.last_alternative;
        frame.last_alternative = sequence;
        frame.last_item = NIL;
        frame.anchors &= frame.item_anchors;
        frame.item_anchors = 0;
        Ok(())
    }

    /// Closes the current group; returns its node and its anchors.
    const fn close_group(&mut self) -> Result<(u16, u8), PatternError> {
        attempt!(self.close_alternative());
        let frame = self.frames[self.depth];
        let group = attempt!(self.node(Kind::Group, 0, frame.last_alternative));
        Ok((group, frame.anchors))
    }

    const fn open_group(&mut self) -> Result<(), PatternError> {
        self.at += 1;
        if self.peek(0) == b'?' {
            match (self.peek(1), self.peek(2)) {
                (b':', _) => self.at += 2,
                (b'=' | b'!', _) | (b'<', b'=' | b'!') => return Err(Lookaround),
                (b'<' | b'P', _) => {
                    return Err(Syntax(&Rule::PATTERN_NAMED_GROUP));
                }
                _ => {
                    return Err(Syntax(&Rule::PATTERN_FLAGS));
                }
            }
        }
        if self.depth + 1 == MAX_DEPTH {
            return Err(TooLarge);
        }
        self.depth += 1;
        self.frames[self.depth] = Frame::NEW;
        Ok(())
    }

    /// Parses `* + ? {n} {n,} {n,m}`, optionally lazy; returns `(1, 1)` if there is no quantifier.
    const fn quantifier(&mut self) -> Result<(u16, u16), PatternError> {
        let counts = match self.peek(0) {
            b'*' => (0, UNBOUNDED),
            b'+' => (1, UNBOUNDED),
            b'?' => (0, 1),
            b'{' => {
                self.at += 1;
                let Some(min) = self.number() else {
                    return Err(Syntax(&Rule::PATTERN_COUNT));
                };
                let mut max = min;
                if self.peek(0) == b',' {
                    self.at += 1;
                    max = match self.number() {
                        Some(max) => max,
                        None => UNBOUNDED,
                    };
                }
                if self.peek(0) != b'}' {
                    return Err(Syntax(&Rule::PATTERN_COUNT));
                }
                if min > max {
                    return Err(Syntax(&Rule::PATTERN_COUNT_ORDER));
                }
                (min, max)
            }
            _ => return Ok((1, 1)),
        };
        self.at += 1;
        if self.peek(0) == b'?' {
            self.at += 1;
        }
        Ok(counts)
    }

    /// Parses decimal digits. A number of 10,000 or more is returned as `HUGE`, which exceeds every limit.
    const fn number(&mut self) -> Option<u16> {
        const HUGE: u16 = 10_000;
        let first = self.at;
        let mut number = 0;
        while self.peek(0).is_ascii_digit() {
            number = if number < HUGE / 10 {
                number * 10 + (self.source[self.at] - b'0') as u16
            } else {
                HUGE
            };
            self.at += 1;
        }
        if self.at == first { None } else { Some(number) }
    }
}
