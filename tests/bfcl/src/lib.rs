//! Test of tool-core on real input: the function definitions of the Berkeley Function Calling Leaderboard as typed tools.
//!
//! The build script generates [`generated`], one tool for each definition that Rust types can express. [`compare`] sends every gold call (the
//! recorded correct call) and five spoiled variants of each through the dispatcher, and compares each verdict with the verdict of the `jsonschema`
//! crate for the original schema after all its objects were closed. `cargo run -p bfcl` prints the report.

pub mod arrived;
pub mod compare;
pub mod oracle;
pub mod report;
pub mod spoil;

/// The function definitions of the sample as typed tools.
#[allow(
    missing_docs,
    reason = "the definitions document parameters and fields, never the types and values"
)]
#[allow(
    clippy::doc_markdown,
    clippy::doc_lazy_continuation,
    clippy::doc_link_with_quotes,
    clippy::too_long_first_doc_paragraph,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "the texts are the leaderboard's, word for word"
)]
#[allow(
    clippy::struct_field_names,
    clippy::enum_variant_names,
    clippy::struct_excessive_bools,
    clippy::fn_params_excessive_bools,
    clippy::similar_names,
    clippy::many_single_char_names,
    clippy::unreadable_literal,
    reason = "the shapes are the leaderboard's"
)]
pub mod generated {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}
