//! Typed arguments, as a list of their fields: what a derive would write out for every struct is in generic code once.

use super::list::List;

/// A struct of arguments, as a list of its fields. What it can do follows from what the list can do: one bound and one line for
/// each trait, where a derive would write out every field again.
pub trait Record: Sized {
    /// The struct's name.
    const NAME: &'static str;
    /// Keys on the wire, in order.
    const KEYS: &'static [&'static str];
    /// Names of the fields, in order.
    const FIELDS: &'static [&'static str] = Self::KEYS;
    /// `(A, (B, ()))`
    type List: List;

    /// The fields.
    fn refs(&self) -> <Self::List as List>::Refs<'_>;

    /// From its fields.
    fn build(list: Self::List) -> Self;
}
