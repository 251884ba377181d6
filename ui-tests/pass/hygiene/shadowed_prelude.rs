#![allow(dead_code, reason = "the test needs only the names of these items")]

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

/// The record `Filter` of this test.
#[derive(::serde::Deserialize, ::serde::Serialize, ::tool_core::StrictSchema)]
pub struct Filter {
    /// The field `word` of `Filter`.
    pub word: Word,
}

/// Echoes a word, for this test.
#[tool(example("One", { "word": "a", "filter": null }))]
pub async fn echo(
    /// The argument `word` of the tool.
    word: Word,
    /// The argument `filter` of the tool.
    filter: ::std::option::Option<Filter>,
) -> ::std::result::Result<Word, Failure> {
    drop(filter);
    ::std::result::Result::Ok(word)
}

fn main() {}
