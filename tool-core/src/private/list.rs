//! Traits of an argument struct that follow from the traits of its fields.

use core::fmt::{self, Debug, DebugStruct};

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::record::Record;

/// A list of types, nested as `(A, (B, ()))`, so that two impls of a trait cover every length.
pub trait List {
    /// References to the items: `(&A, (&B, ()))`.
    type Refs<'a>
    where
        Self: 'a;
}

impl List for () {
    type Refs<'a> = ();
}

impl<A, R: List> List for (A, R) {
    type Refs<'a>
        = (&'a A, R::Refs<'a>)
    where
        Self: 'a;
}

/// A list of fields that are all [`Debug`].
pub trait DebugList: List {
    /// Writes the fields under their names.
    fn debug_all(refs: Self::Refs<'_>, names: &[&str], to: &mut DebugStruct<'_, '_>);
}

impl DebugList for () {
    fn debug_all((): (), _: &[&str], _: &mut DebugStruct<'_, '_>) {}
}

impl<A: Debug, R: DebugList> DebugList for (A, R) {
    fn debug_all((first, rest): Self::Refs<'_>, names: &[&str], to: &mut DebugStruct<'_, '_>) {
        if let [name, names @ ..] = names {
            to.field(name, first);
            R::debug_all(rest, names, to);
        }
    }
}

/// Implements `Debug` for a [`Record`].
pub fn debug_record<T: Record<List: DebugList>>(
    record: &T,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut to = f.debug_struct(T::NAME);
    T::List::debug_all(record.refs(), T::FIELDS, &mut to);
    to.finish()
}

/// A list of fields that are all [`Clone`].
pub trait CloneList: List {
    /// Clones the fields, in order.
    fn clone_all(refs: Self::Refs<'_>) -> Self;
}

impl CloneList for () {
    fn clone_all((): ()) {}
}

impl<A: Clone, R: CloneList> CloneList for (A, R) {
    fn clone_all((first, rest): Self::Refs<'_>) -> Self {
        (first.clone(), R::clone_all(rest))
    }
}

/// Implements `Clone` for a [`Record`].
pub fn clone_record<T: Record<List: CloneList>>(record: &T) -> T {
    T::build(T::List::clone_all(record.refs()))
}

/// A list of fields that are all [`PartialEq`].
pub trait EqList: List {
    /// Compares the fields in order, up to the first that differs.
    fn eq_all(a: Self::Refs<'_>, b: Self::Refs<'_>) -> bool;
}

impl EqList for () {
    fn eq_all((): (), (): ()) -> bool {
        true
    }
}

impl<A: PartialEq, R: EqList> EqList for (A, R) {
    fn eq_all(a: Self::Refs<'_>, b: Self::Refs<'_>) -> bool {
        a.0 == b.0 && R::eq_all(a.1, b.1)
    }
}

/// Implements `PartialEq` for a [`Record`].
pub fn eq_record<T: Record<List: EqList>>(a: &T, b: &T) -> bool {
    T::List::eq_all(a.refs(), b.refs())
}

/// A list of fields that are all [`Serialize`].
pub trait WriteList: List {
    /// Writes the fields under their keys.
    fn write_all<S: SerializeStruct>(
        refs: Self::Refs<'_>,
        keys: &[&'static str],
        to: &mut S,
    ) -> Result<(), S::Error>;

    /// Writes the only field, without a key.
    fn write_only<S: Serializer>(refs: Self::Refs<'_>, to: S) -> Result<S::Ok, S::Error>;
}

impl WriteList for () {
    fn write_all<S: SerializeStruct>(
        (): (),
        _: &[&'static str],
        _: &mut S,
    ) -> Result<(), S::Error> {
        Ok(())
    }

    fn write_only<S: Serializer>((): (), to: S) -> Result<S::Ok, S::Error> {
        to.serialize_unit()
    }
}

impl<A: Serialize, R: WriteList> WriteList for (A, R) {
    fn write_all<S: SerializeStruct>(
        (first, rest): Self::Refs<'_>,
        keys: &[&'static str],
        to: &mut S,
    ) -> Result<(), S::Error> {
        let [key, keys @ ..] = keys else {
            return Ok(());
        };
        to.serialize_field(key, first)?;
        R::write_all(rest, keys, to)
    }

    fn write_only<S: Serializer>((first, _): Self::Refs<'_>, to: S) -> Result<S::Ok, S::Error> {
        first.serialize(to)
    }
}

/// Implements `Serialize` for a [`Record`]: every key is written, an absent option as null.
pub fn write_record<T: Record<List: WriteList>, S: Serializer>(
    record: &T,
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut to = to.serialize_struct(T::NAME, T::KEYS.len())?;
    T::List::write_all(record.refs(), T::KEYS, &mut to)?;
    to.end()
}

/// Implements `Serialize` for a [`Record`] with all arguments in one field.
pub fn write_transparent<T: Record<List: WriteList>, S: Serializer>(
    record: &T,
    to: S,
) -> Result<S::Ok, S::Error> {
    T::List::write_only(record.refs(), to)
}
