//! Rules whose violation is a warning and not an error.
//!
//! Const evaluation cannot emit a warning, so `tool-schema` has a deprecated item for each rule, whose note rustc prints. The note must be a literal.
//! The table is therefore a macro that passes its rows to a second macro. In this module, the second macro defines the constants; in `tool-schema`,
//! it defines the deprecated items.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "a rule's id in brackets is not a link"
)]

use crate::dialects::{A, NONE, Targets};
use crate::rule::{Area, Rule};

/// Calls the macro `$then` with the rows of the table of warnings: `NAME, Type, "[id] text", evidence, targets;`.
///
/// `Type` is the name of the item in `tool-schema` that warns.
///
/// ```
/// macro_rules! count {
///     ($($name:ident, $type:ident, $message:literal, $evidence:literal, $targets:expr;)*) => { [$($message),*].len() };
/// }
/// assert!(tool_rules::warnings!(count) > 5);
/// ```
#[macro_export]
macro_rules! warnings {
    ($then:ident) => {
        $then! {
            MANY_OPTIONALS, LimitOptional, "[limit-optional] more than 10 optional fields: Anthropic refuses some tools from 11 on, group the rarely used ones in a struct or require some", "Anthropic: `Schema is too complex`", A;
            MANY_UNIONS, LimitUnion, "[limit-union] more than 8 unions: Anthropic accepts at most 15 in a whole request, use fewer", "Anthropic: `too many parameters with union types … limit: 16`; requests with 16 hang", A;
            INT_RANGE, IntRange, "[int-range] whole numbers of 128 bits lose digits in most clients, take a `String` or an `i64`", "JavaScript clients, models", NONE;
            TOOL_NAME_CLIENT, ToolNameClient, "[tool-name-client] some clients cut or refuse names with more than 50 characters, with capitals or with dots, write a shorter name without them", "Cursor: 60 characters with the server's name; VS Code: lower case", NONE;
            TOOL_DESCRIPTION_LONG, ToolDescriptionLong, "[tool-description-long] more than 1024 characters: some clients cut the description, move detail to the fields", "OpenAI (2024, 2025), VS Code", NONE;
            UNTAGGED, Untagged, "[untagged] models guess between variants that differ only in their keys, write `#[serde(tag = \"kind\")]` instead", "models guess; o1 refuses the same first key in two branches", NONE;
            UNTAGGED_VALUES, UntaggedValues, "[untagged] models guess between variants that differ only in their keys, write `#[serde(tag = \"kind\", content = \"value\")]` instead", "models guess; o1 refuses the same first key in two branches", NONE;
            VARIANT_ALIAS, VariantAlias, "[variant-alias] an alias is not in the schema, a model will not use it", "strict modes admit only what the schema lists", NONE;
            EXTERNAL_TAG, ExternalTag, "[external-tag] variants as keys are harder for models, write `#[serde(tag = \"kind\")]` above the enum", "a union of texts and objects where a variant has no data", NONE;
            EXTERNAL_TAG_VALUES, ExternalTagValues, "[external-tag] variants as keys are harder for models, write `#[serde(tag = \"kind\", content = \"value\")]` above the enum", "a union of texts and objects where a variant has no data", NONE;
            PATTERN_ANCHORS, PatternAnchors, "[pattern-anchors] a pattern without `^` and `$` matches a part of the text, and llama.cpp refuses it", "llama.cpp", NONE;
        }
    };
}

impl Rule {
    /// Creates the rule from a message such as `[id] text`.
    const fn of_message(message: &'static str, evidence: &'static str, targets: Targets) -> Self {
        let mut end = 1;
        while message.as_bytes()[end] != b']' {
            end += 1;
        }
        let (id, text) = message.split_at(end);
        let (_, id) = id.split_at(1);
        let (_, text) = text.split_at("] ".len());
        Self {
            id,
            text,
            message,
            evidence,
            targets,
        }
    }
}

macro_rules! table {
    ($($name:ident, $type:ident, $message:literal, $evidence:literal, $targets:expr;)*) => {
        /// The rules of this area.
        impl Rule {
            $(
                #[doc = $message]
                pub const $name: Self = Self::of_message($message, $evidence, $targets);
            )*
        }

        pub(crate) const AREA: Area = Area { name: "warning", rules: &[$(Rule::$name),*] };
    };
}

warnings!(table);
