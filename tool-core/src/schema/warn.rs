//! Compiler warnings that depend on const evaluation.
//!
//! `const _: () = <LimitOptional<{ CONDITION }>>::W;` warns exactly when the condition holds: the constant of the `true` side is
//! deprecated, and its note is the message.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "a rule's id in brackets is no link"
)]

macro_rules! warnings {
    ($($name:ident: $note:literal;)*) => {$(
        #[doc = $note]
        pub struct $name<const HIT: bool>;
        impl $name<true> {
            /// Warns where it is named.
            #[deprecated(note = $note)]
            pub const W: () = ();
        }
        impl $name<false> {
            /// Says nothing.
            pub const W: () = ();
        }
    )*};
}

warnings! {
    LimitOptional: "[limit-optional] more than 10 optional fields: Anthropic refuses some tools from 11 on, group the rarely used ones in a struct or require some";
    LimitUnion: "[limit-union] more than 8 unions: Anthropic takes 16 in a whole request, use fewer";
    IntRange: "[int-range] whole numbers of 128 bits lose digits in most clients, take a `String` or an `i64`";
    ToolNameClient: "[tool-name-client] names above 50 characters, with capitals or with dots are cut or refused by some clients, shorten it";
    ToolDescriptionLong: "[tool-description-long] more than 1024 characters: some clients cut the description, move detail to the fields";
    Untagged: "[untagged] variants that only their keys tell apart are guessed by models, add `#[serde(tag = \"kind\")]`";
    VariantAlias: "[variant-alias] an alias is not in the schema, a model will not use it";
    ExternalTag: "[external-tag] variants as keys are harder for models, add `#[serde(tag = \"kind\")]`";
    PatternAnchors: "[pattern-anchors] a pattern without `^` and `$` matches a part of the text, and llama.cpp refuses it";
}

use crate::schema::dialect::{Dialect, Spec};
use crate::schema::rules::{MOST_OPTIONALS, MOST_UNIONS, Survey};

/// Whether [`LimitOptional`] warns; what is refused as well is told once.
pub const fn many_optionals(spec: &Spec, survey: &Survey) -> bool {
    survey.optionals > 10
        && survey.optionals <= MOST_OPTIONALS
        && spec.providers.contains(Dialect::Anthropic)
}

/// Whether [`LimitUnion`] warns; what is refused as well is told once.
pub const fn many_unions(spec: &Spec, survey: &Survey) -> bool {
    survey.unions > 8 && survey.unions <= MOST_UNIONS && spec.providers.contains(Dialect::Anthropic)
}
