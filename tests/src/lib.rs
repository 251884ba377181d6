//! What the tests share.

pub mod admits;
pub mod lint;
pub mod spelling;

/// The programs in the pages for each audience.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../docs/tool-author.md")]
    struct ToolAuthor;

    #[doc = include_str!("../../docs/host.md")]
    struct Host;

    #[doc = include_str!("../../docs/operator.md")]
    struct Operator;
}
