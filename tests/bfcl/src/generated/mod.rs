// Written by `cargo run -p bfcl-gen`, do not edit.

//! The function definitions of the sample as typed tools.

#![allow(
    missing_docs,
    reason = "the definitions document parameters and fields, never the types and values"
)]
#![allow(
    clippy::doc_markdown,
    clippy::doc_lazy_continuation,
    clippy::doc_link_with_quotes,
    clippy::too_long_first_doc_paragraph,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "the texts are the leaderboard's, word for word"
)]
#![allow(
    clippy::struct_field_names,
    clippy::enum_variant_names,
    clippy::struct_excessive_bools,
    clippy::fn_params_excessive_bools,
    clippy::similar_names,
    clippy::many_single_char_names,
    clippy::unreadable_literal,
    reason = "the shapes are the leaderboard's"
)]

pub mod part_01;
pub mod part_02;
pub mod part_03;
pub mod part_04;
pub mod part_05;
pub mod part_06;
pub mod part_07;
pub mod part_08;
