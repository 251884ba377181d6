//! Facts about a tool that generated code asks for by its types.

use core::marker::PhantomData;

use futures::Stream;

use crate::effect::Effect;
use crate::error::ToolError;
use crate::output::{IntoOutput, Returned};
use crate::schema::example::check_result;
use crate::schema::{Example, Schema};
use crate::schema::dialect::{HasSpec, Lowered, Render, measure};
use crate::schema::rules::{Path, Report, Survey, survey};
use crate::stream::{Item, ToolStream};

/// What follows from a tool's `Spec`, computed once.
pub trait Facts: HasSpec {
    /// Bytes of its definitions.
    const LENS: [usize; 5] = measure(Self::SPEC);
    /// What a model has to fill in.
    const SURVEY: Survey = survey(Self::SPEC.input);
}

impl<T: HasSpec> Facts for T {}

/// The definitions of `T` in all dialects, of the lengths that `measure` told.
pub struct Texts<T, const A: usize, const B: usize, const C: usize, const D: usize, const E: usize>(PhantomData<T>);

impl<T: HasSpec, const A: usize, const B: usize, const C: usize, const D: usize, const E: usize> Texts<T, A, B, C, D, E> {
    /// By [`Dialect::index`](crate::Dialect::index). Behind fn pointers, so that `cargo check` does not write them.
    pub const TEXT: [fn() -> Lowered; 5] = [
        || Render::<T, A, 0>::LOWERED,
        || Render::<T, B, 1>::LOWERED,
        || Render::<T, C, 2>::LOWERED,
        || Render::<T, D, 3>::LOWERED,
        || Render::<T, E, 4>::LOWERED,
    ];
}

/// The package, or the crate's name where no cargo builds it.
pub const fn krate(package: Option<&'static str>, module: &'static str) -> &'static str {
    if let Some(package) = package {
        return package;
    }
    let bytes = module.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b':' {
        end += 1;
    }
    module.split_at(end).0
}

/// `read_only` holds only where no host parameter can write.
///
/// # Panics
///
/// In const evaluation, at the parameter that can.
#[track_caller]
pub const fn check_read_only(effect: Effect, tool: &str, param: &str, host: &str) {
    if !effect.changes_state() {
        return;
    }
    let mut report = Report::new();
    let tool = Path::owner(tool);
    if report.begin(&tool.field(param), "effect") {
        report.push("`");
        report.push(host);
        report.push("` can write, remove `read_only` or take a host value that only reads");
        report.end();
    }
    report.tell();
}

/// A result stated with an example fits what the tool returns, where that has a strict schema.
///
/// # Panics
///
/// In const evaluation, at the result.
#[track_caller]
pub const fn check_stated_result(output: Option<&Schema>, result: &Example, tool: &str, number: usize) {
    if let Some(output) = output {
        check_result(output, result, tool, number);
    }
}

/// What a tool fn returned as `impl Stream`.
pub fn returned_stream<S>(stream: S) -> Result<Returned<<S::Item as Item>::Final>, ToolError>
where
    S: Stream + Send + 'static,
    S::Item: Item<Progress: 'static, Final: 'static>,
    ToolStream<<S::Item as Item>::Progress, <S::Item as Item>::Final>: IntoOutput<Value = <S::Item as Item>::Final>,
{
    ToolStream::of(stream).into_returned()
}
