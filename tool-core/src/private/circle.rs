//! Detection of types that contain each other: the macros find a cycle by type names, and trait resolution confirms the cycle here.
//!
//! A derive writes an impl of [`Holds`] for the type of each field. When a later derive finds a path of type names that leads back to its own type, it checks
//! that path here. If a name on the path means a different type, the check does not report a cycle.

use std::marker::PhantomData;

use tool_schema::__private0::REPORTED;

use crate::schema::{Schema, StrictSchema};

/// A step of a path: to the field type with this number, followed by the path `Rest`.
pub struct Step<const NUMBER: usize, Rest>(PhantomData<fn() -> Rest>);

/// The end of a path.
pub struct Here;

/// Implemented if the path `Path` leads from the type to `Target`.
pub trait Holds<Path, Target> {}

impl<T> Holds<Here, T> for T {}

/// `<Circle<F, T, Path, Target>>::CLOSED`: whether the path `Path` leads from `T` to `Target`; `F` is the type of the field that names `T`.
pub struct Circle<F, T, Path, Target>(PhantomData<(F, T, Path, Target)>);

impl<F, T: Holds<Path, Target>, Path, Target> Circle<F, T, Path, Target> {
    /// The path leads to `Target`.
    pub const CLOSED: bool = true;
    /// A placeholder for the field's schema, which would be infinite.
    pub const NODE: &'static Schema = REPORTED;
}

/// Fallback for a path that does not lead to `Target`.
pub trait Open {
    /// The path does not lead to `Target`.
    const CLOSED: bool = false;
    /// The schema of the field.
    const NODE: &'static Schema;
}

impl<F: StrictSchema, T, Path, Target> Open for Circle<F, T, Path, Target> {
    const NODE: &'static Schema = F::SCHEMA;
}
