#![allow(dead_code, reason = "the point is that the names exist")]

use tool_core::{ToolError as Failure, tool};

pub struct Option;
pub struct Result;
pub struct Box;
pub struct Vec;
pub enum Some {}
pub enum Ok {}
pub trait Clone {}
pub trait Send {}
pub mod core {}
pub mod std {}
pub mod serde {}
type Word = ::std::string::String;
pub struct String;

/// A filter.
#[derive(::serde::Deserialize, ::serde::Serialize, ::tool_core::StrictSchema)]
pub struct Filter {
    /// A word.
    pub word: Word,
}

/// Echoes a word.
#[tool(example("One", { "word": "a", "filter": null }))]
pub async fn echo(
    /// A word.
    word: Word,
    /// A filter.
    filter: ::std::option::Option<Filter>,
) -> ::std::result::Result<Word, Failure> {
    drop(filter);
    ::std::result::Result::Ok(word)
}

fn main() {}
