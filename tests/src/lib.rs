//! Helpers that several test programs share.

pub mod admits;
pub mod cargo;
pub mod lint;
pub mod sources;
pub mod spelling;

/// The documentation pages of each audience. Their example programs are compiled as doc tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../docs/tool-author.md")]
    struct ToolAuthor;

    #[doc = include_str!("../../docs/host.md")]
    struct Host;

    #[doc = include_str!("../../docs/operator.md")]
    struct Operator;
}
