//! The forms of a predicate for `approval`.

use tool_core::prelude::*;

mod rules {
    use tool_core::prelude::*;

    pub fn is_long(call: &super::by_path, _: &ToolContext) -> bool {
        call.path.len() > 3
    }
}

fn always(_: &by_a_word_of_the_attribute, _: &ToolContext) -> bool {
    true
}

fn fails(_: &by_result, _: &ToolContext) -> Result<bool, std::io::Error> {
    Ok(true)
}

fn generic<T>(_: &T, _: &ToolContext) -> bool {
    true
}

const POINTER: fn(&by_pointer, &ToolContext) -> bool = |_, _| true;


/// Deletes the item for good.
#[tool(approval = rules::is_long)]
pub fn by_path(
    /// The path of the file.
    path: String,
) {
    drop(path);
}

/// Deletes the item for good.
#[tool(approval = self::always)]
pub fn by_a_word_of_the_attribute() {}

/// Deletes the item for good.
#[tool(approval = fails)]
pub fn by_result() {}

/// Deletes the item for good.
#[tool(approval = generic)]
pub fn by_generic() {}

/// Deletes the item for good.
#[tool(approval = generic::<by_turbofish>)]
pub fn by_turbofish() {}

/// Deletes the item for good.
#[tool(approval = POINTER)]
pub fn by_pointer() {}

/// Deletes the item for good.
#[tool(approval = |call, cx| call.path.is_empty() && cx.secret("k").is_none())]
pub fn by_closure(
    /// The path of the file.
    path: String,
) {
    drop(path);
}

trait Same<A, B> {
    type It;
}

impl<T, A, B> Same<A, B> for T {
    type It = T;
}

fn is_set<A, B>(a: A, b: B) -> bool {
    size_of_val(&a) + size_of_val(&b) > 0
}

/// Deletes the item for good.
#[tool(approval = |call: &<by_types as Same<u8, u16>>::It, _: &ToolContext,| call.path.is_empty(), title = "Delete")]
pub fn by_types(
    /// The path of the file.
    path: String,
) {
    drop(path);
}

/// Deletes the item for good.
#[tool(approval = |self::by_patterns { path, .. }, _| is_set::<usize, bool>(path.len(), true), title = "Delete")]
pub fn by_patterns(
    /// The path of the file.
    path: String,
) {
    drop(path);
}

/// Deletes the item for good.
#[tool(timeout = seconds::<u8, u16>(), title = "Delete")]
pub fn by_timeout() {}

const fn seconds<A, B>() -> std::time::Duration {
    std::time::Duration::from_secs((size_of::<A>() + size_of::<B>()) as u64)
}

fn main() {}
