//! Runs of many random texts for one type.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::case::{Case, Disagreement, Known, Verdict};
use crate::mutate::text;
use crate::random::Random;

/// The number of texts on which both decoders agreed, by verdict, and the number of known differences.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// The count of [`Verdict::Exact`].
    pub exact: usize,
    /// The count of [`Verdict::Edited`].
    pub edited: usize,
    /// The count of [`Verdict::Unfit`].
    pub unfit: usize,
    /// The count of [`Verdict::Refused`].
    pub refused: usize,
    /// The count of each known difference, in the order of [`Known::ALL`].
    pub known: [usize; Known::ALL.len()],
}

impl Tally {
    const fn knows(&mut self, known: Known) {
        self.known[known as usize] += 1;
    }

    /// Adds the counts of a second tally.
    pub const fn add(&mut self, other: Self) {
        self.exact += other.exact;
        self.edited += other.edited;
        self.unfit += other.unfit;
        self.refused += other.refused;
        let mut at = 0;
        while at < Known::ALL.len() {
            self.known[at] += other.known[at];
            at += 1;
        }
    }
}

/// A text on which the two decoders disagree without a known reason, or with which one of them panics.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The name of the type.
    pub name: &'static str,
    /// The text, shortened to the parts that cause the disagreement.
    pub text: String,
    /// The results of both decoders.
    pub why: Disagreement,
}

/// Returns the random text that the generator writes for a type and a seed.
#[must_use]
pub fn written(case: &Case, seed: u64) -> String {
    text(&mut Random::new(seed), case.schema)
}

/// Compares the two decoders on random texts for a type. Returns the counts, and the first failure of each kind.
pub fn run(case: &Case, seed: u64, texts: usize) -> (Tally, Vec<Failure>) {
    let named = case.name.bytes().fold(seed, |seed, byte| {
        seed.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte)
    });
    let mut random = Random::new(named);
    let mut tally = Tally::default();
    let mut failures: Vec<Failure> = Vec::new();
    for _ in 0..texts {
        let text = text(&mut random, case.schema);
        match compare(case, &text) {
            Ok(Verdict::Exact) => tally.exact += 1,
            Ok(Verdict::Edited) => tally.edited += 1,
            Ok(Verdict::Unfit) => tally.unfit += 1,
            Ok(Verdict::Refused) => tally.refused += 1,
            Err(Disagreement {
                known: Some(known), ..
            }) => tally.knows(known),
            Err(why) if failures.iter().any(|failure| failure.why.what == why.what) => {}
            Err(why) => {
                let unknown =
                    |other: &Disagreement| other.what == why.what && other.known.is_none();
                let text = shrunk(case, &text, unknown);
                let why = compare(case, &text).err().unwrap_or(why);
                failures.push(Failure {
                    name: case.name,
                    text,
                    why,
                });
            }
        }
    }
    (tally, failures)
}

fn compare(case: &Case, text: &str) -> Result<Verdict, Disagreement> {
    catch_unwind(AssertUnwindSafe(|| (case.compare)(text))).unwrap_or_else(|_| {
        Err(Disagreement {
            what: "a panic",
            own: String::new(),
            twin: String::new(),
            known: None,
        })
    })
}

/// Removes the parts of a text that are not necessary for the disagreement.
fn shrunk(case: &Case, text: &str, unknown: impl Fn(&Disagreement) -> bool) -> String {
    let mut text: Vec<char> = text.chars().collect();
    let mut size = text.len().div_ceil(2).max(1);
    let mut tries = 4000;
    loop {
        let mut at = 0;
        let mut smaller = false;
        while at < text.len() && tries > 0 {
            tries -= 1;
            let end = (at + size).min(text.len());
            let mut shorter = text.clone();
            shorter.drain(at..end);
            let whole: String = shorter.iter().collect();
            if compare(case, &whole).is_err_and(|why| unknown(&why)) {
                text = shorter;
                smaller = true;
            } else {
                at += size;
            }
        }
        if size == 1 && !smaller || tries == 0 {
            return text.into_iter().collect();
        }
        size = size.div_ceil(2);
    }
}
