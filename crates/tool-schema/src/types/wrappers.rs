//! `StrictSchema` for `Option`, smart pointers and other wrappers that serde reads transparently.

use core::cmp::Reverse;
use std::borrow::{Cow, ToOwned};
use std::rc::Rc;
use std::sync::Arc;

use crate::schema::{Kind, Schema, StrictSchema};

impl<T: StrictSchema> StrictSchema for Option<T> {
    const SCHEMA: &'static Schema = &Schema::new(Kind::Optional(T::SCHEMA));
}

impl<T: StrictSchema + ?Sized> StrictSchema for Box<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
}

impl<T: StrictSchema + ?Sized> StrictSchema for Arc<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
}

impl<T: StrictSchema + ?Sized> StrictSchema for Rc<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
}

impl<T: StrictSchema> StrictSchema for Reverse<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
}

impl<T: ToOwned + ?Sized> StrictSchema for Cow<'_, T>
where
    T::Owned: StrictSchema,
{
    const SCHEMA: &'static Schema = <T::Owned as StrictSchema>::SCHEMA;
}
