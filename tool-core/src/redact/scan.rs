//! Where secrets stand in a text.

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::escape::{self, Escape, Simple};
use super::forms::{self, Bits};
use super::list;
use super::places::Places;
use super::tree::Tree;

/// As much of a form as the first look asks for.
pub(super) const GLANCE: usize = 12;

/// Up to so many forms aho-corasick is a table, which is quicker than a thorough look; beyond, it is not.
const GLANCES: usize = 100;

/// The secrets to look for, in every form.
pub(super) struct Scanner {
    /// Every form of every secret.
    forms: Tree,
    /// The secrets themselves, for lists of their bytes.
    plain: Tree,
    ends: Vec<End>,
    /// Finds where a form may begin that neither an escape nor a line break interrupts.
    pub(super) glance: Option<AhoCorasick>,
    /// Whether a form may begin with this byte, escaped or not.
    begins: [bool; 256],
    /// Whether a form begins with this byte.
    starts: [bool; 256],
    /// Whether a form begins with these two bytes, a bit for each pair.
    pairs: Vec<u64>,
    /// Whether it may stand before a form of base64 and hold bits of it.
    leads: [bool; 256],
    /// A `+` may stand for a space.
    pub(super) plus: bool,
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
pub(super) struct Walked {
    /// The longest form: where it ends, and which it is.
    pub(super) longest: Option<(usize, u32)>,
    /// More text may make a form of it, or a longer one.
    pub(super) open: bool,
}

impl Scanner {
    /// `None` where there is nothing to look for.
    pub(super) fn new<'a>(secrets: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut this = Self {
            forms: Tree::new(),
            plain: Tree::new(),
            ends: Vec::new(),
            glance: None,
            begins: [false; 256],
            starts: [false; 256],
            pairs: vec![0; 1 << 10],
            leads: [false; 256],
            plus: false,
        };
        let mut glances = BTreeSet::new();
        for (secret, text) in secrets.enumerate() {
            this.plus |= text.contains(' ');
            for variant in forms::variants(text) {
                this.know(secret, variant.as_bytes(), &mut glances);
            }
        }
        if this.ends.is_empty() {
            return None;
        }
        for glance in &glances {
            this.starts[usize::from(glance[0])] = true;
            let (word, bit) = pair(glance[0], glance[1]);
            this.pairs[word] |= bit;
        }
        this.begins = this.starts;
        for byte in *b"\\%&" {
            this.begins[usize::from(byte)] = true;
        }
        this.begins[usize::from(b'+')] |= this.plus;
        // Without it, every look is a thorough one.
        if glances.len() <= GLANCES {
            this.glance = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostFirst)
                .build(&glances)
                .ok();
        }
        Some(this)
    }

    /// Adds a secret in one of its variants.
    fn know(&mut self, secret: usize, variant: &[u8], glances: &mut BTreeSet<Vec<u8>>) {
        for form in forms::of(variant) {
            glances.insert(form.bytes[..form.bytes.len().min(GLANCE)].to_vec());
            if let Some(bits) = form.lead {
                for byte in 0..=u8::MAX {
                    self.leads[usize::from(byte)] |= bits.admits(byte);
                }
            }
            let end = u32::try_from(self.ends.len()).ok();
            let node = self.forms.insert(&form.bytes, form.wraps);
            // Of two secrets of one value the first has the say.
            if node.end.is_none() {
                node.end = end;
                self.ends.push(End {
                    secret,
                    lead: form.lead,
                    tail: form.tail,
                });
            }
        }
        glances.extend(forms::lists(variant));
        let node = self.plain.insert(variant, false);
        if node.end.is_none() {
            node.end = u32::try_from(self.ends.len()).ok();
            self.ends.push(End {
                secret,
                lead: None,
                tail: None,
            });
        }
    }

    /// Finds all there is, in a text that is whole or, where it is not `last`, goes on.
    pub(super) fn scan(&self, text: &[u8], last: bool) -> Found {
        let mut found = Found {
            spans: Vec::new(),
            settled: text.len(),
        };
        let mut places = Places::new(self, text, last);
        while let Some(at) = places.next() {
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

    /// Whether two bytes are worth a closer look.
    #[inline]
    pub(super) fn may_begin(&self, first: u8, second: Option<&u8>) -> bool {
        self.begins[usize::from(first)] && self.are_worth_a_look(first, second)
    }

    fn are_worth_a_look(&self, first: u8, second: Option<&u8>) -> bool {
        let Some(&second) = second else {
            return true;
        };
        let (word, bit) = pair(first, second);
        if self.pairs[word] & bit != 0 {
            return true;
        }
        // The byte by itself, with an escape or a line break behind it.
        let opaque = escape::begins(second) || matches!(second, b'\n' | b'\r');
        if opaque && self.starts[usize::from(first)] {
            return true;
        }
        match escape::simple(first, second) {
            Simple::Byte(byte) => self.starts[usize::from(byte)],
            Simple::Longer => true,
            Simple::No => false,
        }
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

    /// Reads from `at` on as far as there is a form.
    fn walk(&self, text: &[u8], at: usize, last: bool) -> Walked {
        let mut walked = Walked::default();
        self.read(text, at, last, &mut walked);
        if text[at].is_ascii_hexdigit() {
            list::hex(&self.plain, text, at, last, &mut walked);
        }
        if text[at].is_ascii_digit() {
            list::decimal(&self.plain, text, at, last, &mut walked);
        }
        walked
    }

    /// Reads a text from `at` on, through every way in which its escapes can be read.
    fn read(&self, text: &[u8], at: usize, last: bool, walked: &mut Walked) {
        let mut ways = Vec::new();
        let mut taken = BTreeSet::new();
        let mut way = Some((0, at));
        while let Some((mut node, mut at)) = way {
            loop {
                if let Some(which) = self.forms.end(node) {
                    if walked.longest.is_none_or(|(end, _)| end < at) {
                        walked.longest = Some((at, which));
                    }
                    walked.open |=
                        !last && at == text.len() && self.ends[which as usize].tail.is_some();
                }
                let goes_on = !self.forms.is_leaf(node);
                let Some(&byte) = text.get(at) else {
                    walked.open |= !last && goes_on;
                    break;
                };
                let plain = self.forms.step(node, byte);
                if escape::begins(byte) {
                    escape::read(text, at, &mut |escape| match escape {
                        Escape::Bytes { bytes, len, next } => {
                            let through = bytes[..len]
                                .iter()
                                .try_fold(node, |node, byte| self.forms.step(node, *byte));
                            if let Some(through) = through
                                && taken.insert((through, next))
                            {
                                ways.push((through, next));
                            }
                        }
                        Escape::Cut => walked.open |= !last && goes_on,
                    });
                }
                if self.forms.wraps(node) && matches!(byte, b'\n' | b'\r' | b'\\') {
                    walked.open |= !last && escape::is_cut_break(text, at);
                    if let Some(next) = escape::line_break(text, at)
                        && taken.insert((node, next))
                    {
                        ways.push((node, next));
                    }
                }
                let Some(next) = plain else { break };
                (node, at) = (next, at + 1);
            }
            way = ways.pop();
        }
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
