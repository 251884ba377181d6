//! Types that hold each other: found by name while the macros run, and proven here by the types themselves.
//!
//! A derive writes an impl of [`Holds`] for each type that a field names. When a later derive sees that its own type would be reached again,
//! it asks along that way; a name that means another type leads nowhere and changes nothing.

use std::marker::PhantomData;

use crate::schema::{Schema, StrictSchema};

/// A step along the named types of a type: to the one of this number, and on.
pub struct Step<const NUMBER: usize, Rest>(PhantomData<fn() -> Rest>);

/// The end of a way.
pub struct Here;

/// That `Way` leads from the type to `Target`.
pub trait Holds<Way, Target> {}

impl<T> Holds<Here, T> for T {}

/// `<Circle<F, T, Way, Target>>::CLOSED`: whether `Way` leads from `T` to `Target`; `F` is the type of the field that names `T`.
pub struct Circle<F, T, Way, Target>(PhantomData<(F, T, Way, Target)>);

impl<F, T: Holds<Way, Target>, Way, Target> Circle<F, T, Way, Target> {
    /// It does.
    pub const CLOSED: bool = true;
    /// The field's schema, left open where it would not end.
    pub const NODE: &'static Schema = Schema::REPORTED;
}

/// The answer where the way leads elsewhere.
pub trait Open {
    /// It does not.
    const CLOSED: bool = false;
    /// The field's schema.
    const NODE: &'static Schema;
}

impl<F: StrictSchema, T, Way, Target> Open for Circle<F, T, Way, Target> {
    const NODE: &'static Schema = F::SCHEMA;
}
