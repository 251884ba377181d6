//! Where secrets stand in a text.

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::escape::{self, Escape};
use super::forms::{self, Bits};

/// As much of a form as the first look asks for.
const GLANCE: usize = 12;

/// Up to so many forms aho-corasick is a table, which is quicker than a thorough look; beyond, it is not.
const GLANCES: usize = 100;

/// Every form of every secret, as one tree of bytes.
pub(super) struct Scanner {
    nodes: Vec<Node>,
    ends: Vec<End>,
    /// Finds where a form may begin that no escape interrupts.
    glance: Option<AhoCorasick>,
    /// Whether a form may begin with this byte, escaped or not.
    begins: [bool; 256],
    /// Whether a form begins with these two bytes, a bit for each pair.
    pairs: Vec<u64>,
    /// Whether it may stand before a form of base64 and hold bits of it.
    leads: [bool; 256],
    /// A `+` may stand for a space.
    plus: bool,
}

#[derive(Default)]
struct Node {
    /// Sorted by byte.
    edges: Vec<(u8, u32)>,
    /// A form that is complete here.
    end: Option<u32>,
}

/// Where a form ends.
struct End {
    /// Whose it is.
    secret: usize,
    lead: Option<Bits>,
    tail: Option<Bits>,
}

/// A stretch of text that has to be masked.
pub(super) struct Span {
    pub(super) range: Range<usize>,
    /// Whose mask stands there.
    pub(super) secret: usize,
}

/// What was found in a text.
pub(super) struct Found {
    /// In order, apart from one another.
    pub(super) spans: Vec<Span>,
    /// What stands before this cannot be changed by anything that follows the text.
    pub(super) settled: usize,
}

/// What begins at a position.
#[derive(Default)]
struct Walked {
    /// The longest form: where it ends, and which it is.
    longest: Option<(usize, u32)>,
    /// More text may make a form of it, or a longer one.
    open: bool,
}

impl Scanner {
    /// `None` where there is nothing to look for.
    pub(super) fn new<'a>(secrets: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut tree = vec![Node::default()];
        let (mut ends, mut glances) = (Vec::new(), Vec::new());
        let (mut leads, mut plus) = ([false; 256], false);
        for (secret, text) in secrets.enumerate() {
            plus |= text.contains(' ');
            let variants = forms::variants(text);
            for form in variants.iter().flat_map(|text| forms::of(text.as_bytes())) {
                let at = insert(&mut tree, &form.bytes);
                glances.push(form.bytes[..form.bytes.len().min(GLANCE)].to_vec());
                if let Some(bits) = form.lead {
                    for byte in 0..=u8::MAX {
                        leads[usize::from(byte)] |= bits.admits(byte);
                    }
                }
                // Of two secrets of one value the first has the say.
                if tree[at].end.is_none() {
                    tree[at].end = u32::try_from(ends.len()).ok();
                    ends.push(End {
                        secret,
                        lead: form.lead,
                        tail: form.tail,
                    });
                }
            }
        }
        // Without it, every look is a thorough one.
        let glance = (glances.len() <= GLANCES)
            .then(|| {
                AhoCorasick::builder()
                    .match_kind(MatchKind::LeftmostFirst)
                    .build(&glances)
                    .ok()
            })
            .flatten();
        if ends.is_empty() {
            return None;
        }
        let (mut begins, mut pairs) = ([false; 256], vec![0; 1 << 10]);
        for (byte, node) in &tree[0].edges {
            begins[usize::from(*byte)] = true;
            for (next, _) in &tree[*node as usize].edges {
                let (word, bit) = pair(*byte, *next);
                pairs[word] |= bit;
            }
        }
        begins[usize::from(b'\\')] = true;
        begins[usize::from(b'%')] = true;
        begins[usize::from(b'+')] |= plus;
        Some(Self {
            nodes: tree,
            ends,
            glance,
            begins,
            pairs,
            leads,
            plus,
        })
    }

    /// Finds all there is, in a text that is whole or, where it is not `last`, goes on.
    pub(super) fn scan(&self, text: &[u8], last: bool) -> Found {
        let mut found = Found {
            spans: Vec::new(),
            settled: text.len(),
        };
        let Some(from) = self.first(text, last) else {
            return found;
        };
        for at in from..text.len() {
            if !self.may_begin(text[at], text.get(at + 1)) {
                continue;
            }
            let walked = self.walk(text, at, last);
            if let Some((end, which)) = walked.longest {
                found.add(self.span(text, at, end, which));
            }
            if walked.open {
                found.settled = at;
                break;
            }
        }
        if !last {
            self.settle(text, &mut found);
        }
        found
    }

    /// Where the thorough look has to begin, if at all.
    fn first(&self, text: &[u8], last: bool) -> Option<usize> {
        let escape = if self.plus {
            memchr::memchr3(b'\\', b'%', b'+', text)
        } else {
            memchr::memchr2(b'\\', b'%', text)
        };
        let Some(glance) = self.glance.as_ref().filter(|_| escape.is_none()) else {
            return Some(0);
        };
        let hit = glance.find(text).map(|hit| hit.start());
        if last {
            return hit;
        }
        // A form may begin at the end; without escapes it is in sight from its glance on.
        let near = text.len().saturating_sub(GLANCE - 1);
        Some(hit.map_or(near, |hit| hit.min(near)))
    }

    /// Whether two bytes are worth a closer look.
    fn may_begin(&self, first: u8, second: Option<&u8>) -> bool {
        self.begins[usize::from(first)]
            && (escape::begins(first)
                || second.is_none_or(|second| {
                    let (word, bit) = pair(first, *second);
                    self.pairs[word] & bit != 0 || escape::begins(*second)
                }))
    }

    /// Takes back what the text that follows could still change.
    fn settle(&self, text: &[u8], found: &mut Found) {
        let before = found.settled.checked_sub(1).map(|at| text[at]);
        if before.is_some_and(|byte| self.leads[usize::from(byte)]) {
            found.settled -= 1;
        }
        while let Some(span) = found.spans.last()
            && span.range.end > found.settled
        {
            found.settled = found.settled.min(span.range.start);
            found.spans.pop();
        }
    }

    /// The stretch to mask: with the characters beside it that hold bits of the secret.
    fn span(&self, text: &[u8], at: usize, end: usize, which: u32) -> Span {
        let known = &self.ends[which as usize];
        let beside = |bits: Option<Bits>, byte: Option<&u8>| match (bits, byte) {
            (Some(bits), Some(byte)) => usize::from(bits.admits(*byte)),
            _ => 0,
        };
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        Span {
            range: at - beside(known.lead, before)..end + beside(known.tail, text.get(end)),
            secret: known.secret,
        }
    }

    /// Reads from `at` on as far as there is a form, through every way in which its escapes can be read.
    fn walk(&self, text: &[u8], at: usize, last: bool) -> Walked {
        let mut walked = Walked::default();
        let mut ways = Vec::new();
        let mut taken = BTreeSet::new();
        let mut way = Some((0, at));
        while let Some((mut node, mut at)) = way {
            loop {
                if let Some(which) = self.nodes[node].end {
                    if walked.longest.is_none_or(|(end, _)| end < at) {
                        walked.longest = Some((at, which));
                    }
                    walked.open |=
                        !last && at == text.len() && self.ends[which as usize].tail.is_some();
                }
                let Some(&byte) = text.get(at) else {
                    walked.open |= !last && !self.nodes[node].edges.is_empty();
                    break;
                };
                let plain = self.step(node, byte);
                if escape::begins(byte) {
                    match escape::read(text, at) {
                        Escape::Bytes { bytes, len, next } => {
                            let through = bytes[..len]
                                .iter()
                                .try_fold(node, |node, byte| self.step(node, *byte));
                            if let Some(through) = through
                                && (plain.is_none() || taken.insert((through, next)))
                            {
                                ways.push((through, next));
                            }
                        }
                        Escape::Cut => walked.open |= !last && !self.nodes[node].edges.is_empty(),
                        Escape::No => {}
                    }
                }
                let Some(next) = plain else { break };
                (node, at) = (next, at + 1);
            }
            way = ways.pop();
        }
        walked
    }

    fn step(&self, node: usize, byte: u8) -> Option<usize> {
        let edges = &self.nodes[node].edges;
        let at = edges.binary_search_by_key(&byte, |(byte, _)| *byte).ok()?;
        Some(edges[at].1 as usize)
    }
}

/// Where the bit of two bytes is.
fn pair(first: u8, second: u8) -> (usize, u64) {
    let index = usize::from(first) << 8 | usize::from(second);
    (index / 64, 1 << (index % 64))
}

impl Found {
    /// Adds what begins no earlier than the last one, less one character; what overlaps becomes one.
    fn add(&mut self, span: Span) {
        match self.spans.last_mut() {
            Some(before) if span.range.start < before.range.end => {
                before.range.start = before.range.start.min(span.range.start);
                before.range.end = before.range.end.max(span.range.end);
            }
            _ => self.spans.push(span),
        }
    }
}

/// Adds a form to the tree; where it ends.
fn insert(tree: &mut Vec<Node>, form: &[u8]) -> usize {
    let mut node = 0;
    for byte in form {
        node = match tree[node]
            .edges
            .binary_search_by_key(byte, |(byte, _)| *byte)
        {
            Ok(at) => tree[node].edges[at].1 as usize,
            Err(at) => {
                let next = tree.len();
                tree.push(Node::default());
                // Secrets that need more nodes than this do not fit into memory either.
                tree[node]
                    .edges
                    .insert(at, (*byte, u32::try_from(next).unwrap_or(u32::MAX)));
                next
            }
        };
    }
    node
}
