//! Spoiled variants of a call: mistakes that models make, and inputs that break parsers.
//!
//! A kind only describes the change of the text. The dispatcher and `jsonschema` decide whether the result is still a valid call. Several kinds
//! intentionally do not change the meaning of the call.

mod kinds;
mod sites;
mod spell;

pub use kinds::Kind;

use bfcl_gen::json::Json;
use bfcl_gen::shape::Property;

/// The number of variants of each call.
pub const VARIANTS: usize = 5;

/// A variant of a call.
#[derive(Debug)]
pub struct Variant {
    /// The kind of change.
    pub kind: Kind,
    /// The text of the arguments.
    pub text: String,
}

/// Chooses the variants of each call. The choice is the same in every run, and uses every kind about equally often, as far as the kinds apply.
#[derive(Debug)]
pub struct Spoiler {
    used: [usize; Kind::ALL.len()],
}

impl Default for Spoiler {
    fn default() -> Self {
        Self {
            used: [0; Kind::ALL.len()],
        }
    }
}

impl Spoiler {
    /// Returns five variants of different kinds. `line` is the seed of all random choices.
    pub fn variants(&mut self, line: usize, gold: &Json, properties: &[Property]) -> Vec<Variant> {
        let mut dice = RandomChoices::new(line);
        let mut order: Vec<usize> = (0..Kind::ALL.len()).collect();
        order.sort_by_cached_key(|&kind| (self.used[kind], dice.roll()));
        let mut variants = Vec::new();
        for at in order {
            if variants.len() == VARIANTS {
                break;
            }
            let kind = Kind::ALL[at];
            if let Some(text) = kind.apply(gold, properties, &mut dice) {
                self.used[at] += 1;
                variants.push(Variant { kind, text });
            }
        }
        variants
    }
}

/// A random number generator (`SplitMix64`) whose seed is the number of the line.
#[derive(Debug)]
pub(crate) struct RandomChoices(u64);

impl RandomChoices {
    fn new(line: usize) -> Self {
        Self(line as u64)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Picks one of the items. Returns `None` if the list is empty.
    fn one_of<'t, T>(&mut self, several: &'t [T]) -> Option<&'t T> {
        let length = several.len() as u64;
        let at = self.roll().checked_rem(length)?;
        several.get(usize::try_from(at).ok()?)
    }
}
