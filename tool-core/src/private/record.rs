//! Argument structs as lists of fields, so that generic code replaces the code that a derive would write for every struct.

use super::list::List;

/// A struct of arguments, as a list of its fields. Its traits follow from the traits of the list: one bound and one line for
/// each trait, while a derive would write out every field again.
pub trait Record: Sized {
    /// Name of the struct.
    const NAME: &'static str;
    /// Keys in JSON, in order.
    const KEYS: &'static [&'static str];
    /// Names of the fields, in order.
    const FIELDS: &'static [&'static str] = Self::KEYS;
    /// The types of the fields: `(A, (B, ()))`.
    type List: List;

    /// Returns references to the fields.
    fn refs(&self) -> <Self::List as List>::Refs<'_>;

    /// Builds the struct from its fields.
    fn build(list: Self::List) -> Self;
}
