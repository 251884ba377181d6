//! Scanner that finds secrets in a text.

use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::candidates::Places;
use super::escape::{self, Escape, Simple};
use super::forms::{self, Bits};
use super::list;
use super::tree::Tree;

/// Maximum number of bytes of a form that the fast search compares.
pub(super) const GLANCE: usize = 12;

/// Maximum number of patterns of the fast search: beginnings of forms and of lists. Up to this number, aho-corasick builds a table and is faster than
/// a thorough search; with more patterns, it is not faster.
const GLANCES: usize = 100;

/// Scanner for a set of secrets, in every form.
pub(super) struct Scanner {
    /// Every form of every secret.
    forms: Tree,
    /// The secrets themselves, to find lists of their bytes.
    plain: Tree,
    ends: Vec<End>,
    /// Fast search for positions where a form or a list may begin, if neither an escape nor a line break interrupts it. `None` if every search is
    /// thorough.
    pub(super) glance: Option<AhoCorasick>,
    /// Whether a form may begin with this byte, escaped or not.
    begins: [bool; 256],
    /// Whether a form begins with this byte.
    starts: [bool; 256],
    /// Whether a form begins with these two bytes, a bit for each pair.
    pairs: Vec<u64>,
    /// Whether this byte may precede a base64 form and contain bits of the secret.
    leads: [bool; 256],
    /// Whether a `+` may encode a space of a secret: true if a secret contains a space.
    pub(super) plus: bool,
}

/// The end of a form.
struct End {
    /// Index of the secret.
    secret: usize,
    lead: Option<Bits>,
    tail: Option<Bits>,
}

/// A range of text that has to be redacted.
pub(super) struct Span {
    pub(super) range: Range<usize>,
    /// Index of the secret whose placeholder replaces the range.
    pub(super) secret: usize,
}

/// The secrets that were found in a text.
pub(super) struct Found {
    /// The ranges in order, without overlaps.
    pub(super) spans: Vec<Span>,
    /// The text before this position is settled: no text that follows can change its result.
    pub(super) settled: usize,
}

/// The result of a thorough search at one position.
#[derive(Default)]
pub(super) struct Walked {
    /// The end of the longest form in the text, and its index in [`Scanner::ends`].
    pub(super) longest: Option<(usize, u32)>,
    /// Whether more text may complete a form, or a longer one.
    pub(super) open: bool,
}

impl Scanner {
    /// Returns `None` if there are no secrets.
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
        // Without the fast search, every search is thorough.
        if glances.len() <= GLANCES {
            this.glance = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostFirst)
                .build(&glances)
                .ok();
        }
        Some(this)
    }

    /// Adds one variant of a secret.
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
            // Of two secrets with the same value, the first one is reported.
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

    /// Finds all secrets in a text. If `last` is false, the text continues.
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

    /// Returns whether a form may begin with these two bytes.
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
        // The first byte may be plain, with an escape or a line break after it.
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

    /// Moves `settled` back and removes the spans that the following text could still change.
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

    /// Returns the range to redact, including adjacent characters that contain bits of the secret.
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

    /// Searches for forms that begin at `at`.
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

    /// Reads a text from `at` on, in every way in which its escapes can be decoded.
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

/// Returns the index in `pairs` and the bit for two bytes.
fn pair(first: u8, second: u8) -> (usize, u64) {
    let index = usize::from(first) << 8 | usize::from(second);
    (index / 64, 1 << (index % 64))
}

impl Found {
    /// Adds a span, which begins at most one character before the last one. Overlapping spans are merged.
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
