//! What std offers to return.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::{Citation, Failure, IntoOutput, Returned};
use crate::error::ToolError;

impl<T: Serialize + Send + 'static, E: Failure> IntoOutput for Result<T, E> {
    type Value = T;

    fn into_returned(self) -> Result<Returned<T>, ToolError> {
        self.map(Returned::Value).map_err(Failure::into_error)
    }
}

/// `impl<…> IntoOutput for …`, a value as it is.
macro_rules! as_it_is {
    ($( [$($generic:ident),*] $ty:ty ),+ $(,)?) => {$(
        impl<$($generic),*> IntoOutput for $ty
        where
            Self: Serialize + Send + 'static,
        {
            type Value = Self;

            fn into_returned(self) -> Result<Returned<Self>, ToolError> {
                Ok(Returned::Value(self))
            }
        }
    )+};
}

as_it_is! {
    [] (), [] bool, [] char, [] String, [] &'static str, [] Cow<'static, str>, [] PathBuf, [] Duration,
    [] i8, [] i16, [] i32, [] i64, [] i128, [] isize, [] u8, [] u16, [] u32, [] u64, [] u128, [] usize, [] f32, [] f64,
    [] serde_json::Value, [] serde_json::Map<String, serde_json::Value>, [] Citation,
    [T] Option<T>, [T] Vec<T>, [T] VecDeque<T>, [T] Box<T>, [T] BTreeSet<T>,
    [T, S] HashSet<T, S>, [K, V] BTreeMap<K, V>, [K, V, S] HashMap<K, V, S>,
    [A] (A,), [A, B] (A, B), [A, B, C] (A, B, C), [A, B, C, D] (A, B, C, D),
}

impl<T, const N: usize> IntoOutput for [T; N]
where
    Self: Serialize + Send + 'static,
{
    type Value = Self;

    fn into_returned(self) -> Result<Returned<Self>, ToolError> {
        Ok(Returned::Value(self))
    }
}
