//! The error texts of the macros.
//!
//! A text begins in lower case, is without a final period, and has code in backticks. It states what is wrong and then what to write instead. The
//! messages of rules, which begin with an id in brackets, are in the crate `tool-rules`.

pub(crate) mod tool;

use std::fmt::{Display, Write};

use tool_rules::Rule;

/// Formats a list: `a`, `b`, `c`.
pub(crate) fn list(words: impl IntoIterator<Item = impl Display>) -> String {
    let mut out = String::new();
    for word in words {
        if !out.is_empty() {
            out.push_str(", ");
        }
        let _ = write!(out, "`{word}`");
    }
    out
}

// Texts about lists of options.
pub(crate) fn list_expected(attr: &syn::Attribute) -> String {
    let name = attr
        .path()
        .get_ident()
        .map_or_else(|| "schema".to_owned(), ToString::to_string);
    let example = if name == "serde" {
        "rename = \"name\""
    } else {
        "range = 1..=50"
    };
    format!("expected a list in parentheses, such as `#[{name}({example})]`")
}

/// Returns the syntax of an option, for errors that name the missing token.
pub(crate) fn usage(word: &str) -> Option<&'static str> {
    let usages = [
        ("range", "range = 1..=50"),
        ("length", "length = 1..=200"),
        ("pattern", "pattern = \"^[a-z]+$\""),
        ("format", "format = \"date\""),
        ("multiple_of", "multiple_of = 5"),
        ("min_items", "min_items = 1"),
        ("max_items", "max_items = 10"),
        ("default", "default = 10"),
        ("as", "as = String"),
        ("rename", "rename = \"name\""),
        ("allow", "allow(rule)"),
        ("name", "name = \"search_docs\""),
        ("alias", "alias = \"find_docs\""),
        ("title", "title = \"Search the docs\""),
        ("category", "category = \"search\""),
        ("tags", "tags(\"docs\", \"search\")"),
        ("approval", "approval = asks"),
        ("to_model_output", "to_model_output = summary"),
        ("timeout", "timeout = \"5s\""),
        ("output_limit", "output_limit = 4096"),
        ("providers", "providers(openai, anthropic)"),
        ("secret", "secret(\"key\")"),
        ("variable", "variable(\"NAME\")"),
        ("rename_all", "rename_all = \"camelCase\""),
        ("input", "input = SearchInput"),
        ("crate", "crate = my_crate::tool_core"),
        ("label", "label = \"API key\""),
        ("description", "description = \"Where to find it\""),
        ("select", "select(\"first\", \"second\")"),
        ("tag", "tag = \"kind\""),
        ("content", "content = \"value\""),
    ];
    usages
        .iter()
        .find(|(known, _)| *known == word)
        .map(|(_, usage)| *usage)
}

pub(crate) fn word_twice(word: impl Display) -> String {
    format!("`{word}` is stated twice, keep one")
}

pub(crate) fn unknown_rule(rule: impl Display, known: &[&str]) -> String {
    format!(
        "no warning has the rule id `{rule}`, expected one of {}",
        list(known)
    )
}

// Texts about doc comments.
pub(crate) const DOC_NOT_LITERAL: &str =
    "a description must be literal text, write it out as `///` lines";

// Texts about JSON tokens and numbers.
pub(crate) const JSON_EXPECTED: &str = "expected a JSON value: `null`, `true`, `false`, a number, text in quotes, `[…]` or `{ \"key\": … }`";
pub(crate) const JSON_KEY: &str = "expected a key in quotes, as in `{ \"key\": 1 }`";
pub(crate) const NUMBER_EXPECTED: &str = "expected a number literal";
pub(crate) const NUMBER_PLAIN: &str =
    "write the number as in JSON: decimal, without a type suffix, with digits after the point";
pub(crate) const NUMBER_TOO_LARGE: &str =
    "the number is too large, write an integer that fits in `i128` or a finite `f64`";

pub(crate) fn json_key_twice(key: &str) -> String {
    format!("the key `{key}` appears twice, remove one")
}

// Error texts about the bounds of fields.
pub(crate) const RANGE_EXPECTED: &str =
    "expected a range of numbers, such as `range = 1..=50` or `range = 0.0..`";
pub(crate) const LENGTH_EXPECTED: &str =
    "expected a number of characters, such as `length = 1..=200` or `length = 8`";
pub(crate) const RANGE_EMPTY: &str = Rule::RANGE_EMPTY.message;
pub(crate) const COUNT_EXPECTED: &str = "expected a whole number, zero or more";
pub(crate) const ITEMS_EMPTY: &str = Rule::ITEMS_EMPTY.message;
pub(crate) const MULTIPLE_OF_ZERO: &str = Rule::MULTIPLE_OF_ZERO.message;
pub(crate) const FORMAT_URI: &str = Rule::FORMAT_URI.message;

pub(crate) fn format_unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    Rule::FORMAT_NAME
        .message_with(&[&name, &list(known)])
        .to_string()
}

pub(crate) fn pattern_and_format(format: &str) -> String {
    Rule::FORMAT_AND_PATTERN
        .message_with(&[&format])
        .to_string()
}

// Texts about serde's attributes.
pub(crate) const STRUCT_TAG: &str = Rule::STRUCT_TAG.message;
pub(crate) const VARIANT_UNTAGGED: &str = Rule::VARIANT_UNTAGGED.message;
pub(crate) const SERDE_GETTER: &str = Rule::SERDE_GETTER.message;
pub(crate) const DEFAULT_PATH: &str = Rule::DEFAULT_PATH.message;
pub(crate) const VARIANT_SKIP: &str = Rule::VARIANT_SKIP.message;
pub(crate) const VARIANT_SPLIT: &str = Rule::VARIANT_RENAME.message;
pub(crate) const UNIT_UNTAGGED: &str = Rule::UNIT_UNTAGGED.message;
pub(crate) const CONTENT_WITHOUT_TAG: &str =
    "`content` needs a `tag`, write `tag = \"kind\"` next to it";
pub(crate) const TAG_AND_UNTAGGED: &str =
    "an enum is tagged or untagged, keep one of `tag` and `untagged`";

pub(crate) fn serde_unknown(word: impl Display) -> String {
    Rule::SERDE_UNKNOWN.message_with(&[&word]).to_string()
}

pub(crate) fn serde_identifier(word: impl Display) -> String {
    Rule::SERDE_IDENTIFIER.message_with(&[&word]).to_string()
}

pub(crate) fn serde_other_type(word: impl Display) -> String {
    Rule::SERDE_OTHER_TYPE.message_with(&[&word]).to_string()
}

pub(crate) fn unknown_case(case: &str, known: &[&str]) -> String {
    format!(
        "serde has no naming convention `{case}`, expected one of {}",
        list(known)
    )
}

// Error texts about the syntax of types.
pub(crate) const UNION: &str = Rule::UNION.message;
pub(crate) const UNIT_STRUCT: &str = Rule::UNIT_STRUCT.message;
pub(crate) const TUPLE_STRUCT: &str = Rule::TUPLE.message;
pub(crate) const TUPLE_VARIANT: &str = Rule::TUPLE_VARIANT.message;
pub(crate) const EMPTY_ENUM: &str = Rule::ENUM_EMPTY.message;
pub(crate) const TRANSPARENT_FIELDS: &str =
    "`transparent` needs exactly one field that is not skipped";
pub(crate) const INTEGER_DATA: &str = "`integer` needs an enum without a tag and variants without data: the JSON value of a variant is its discriminant";
pub(crate) const DESERIALIZE_TWICE: &str = Rule::DESERIALIZE_TWICE.message;
pub(crate) const DESERIALIZE_BY_SERDE: &str = Rule::DESERIALIZE_BY_SERDE.message;
pub(crate) const INTEGER_AND_AS: &str = Rule::INTEGER_AND_AS.message;
pub(crate) const INTEGER_BY_NAME: &str = Rule::INTEGER_BY_NAME.message;
pub(crate) const VARIANT_OTHER: &str = Rule::VARIANT_OTHER.message;
pub(crate) const FLATTEN_GENERIC: &str = Rule::FLATTEN_GENERIC.message;
pub(crate) const REFERENCE: &str =
    "arguments are owned values, take `String`, `Vec<T>` or `Box<T>` instead of a reference";
pub(crate) const RECURSIVE_GENERIC: &str = Rule::RECURSIVE_GENERIC.message;
pub(crate) const RECURSIVE_TYPE: &str =
    "`recursive` needs a field type that ends in a named type, such as `Option<Box<Folder>>`";
pub(crate) const BOUNDS_ON_CONTAINER: &str =
    "bounds belong on a field, only a newtype can have them on the type";
pub(crate) const BOUNDS_TWICE: &str =
    "the field inside states bounds already, keep them in one place";
pub(crate) const DEFAULT_ON_CONTAINER: &str =
    "`default` belongs on a named field or a parameter, only these can be absent";
pub(crate) const AUDIT_EXPECTED: &str =
    "expected `audit = value`, `audit = preview` or `audit = length`";
pub(crate) const AUDIT_ON_NEWTYPE: &str =
    "`audit` belongs on a named field or a parameter, write it where this type is used";
pub(crate) const SKIPPED_WORDS: &str = "a skipped field is not part of the schema, remove this";
pub(crate) const FLATTEN_WORDS: &str = "a flattened field has no value of its own on the wire, state this on the fields of the flattened type";
pub(crate) const VALUE_WORDS_UNIT: &str = "a variant without data cannot have `as`, remove it";

// Texts about names and documentation.
pub(crate) fn property_key(key: &str) -> String {
    Rule::PROPERTY_KEY.message_with(&[&key]).to_string()
}

pub(crate) fn duplicate_key(key: &str) -> String {
    Rule::DUPLICATE_KEY.message_with(&[&key]).to_string()
}

pub(crate) fn duplicate_variant(name: &str) -> String {
    Rule::VARIANT_KEY_TWICE.message_with(&[&name]).to_string()
}

pub(crate) fn tag_key(key: &str) -> String {
    Rule::TAG_KEY.message_with(&[&key]).to_string()
}

pub(crate) const EMPTY_VARIANT: &str = Rule::ENUM_EMPTY_STRING.message;

pub(crate) fn case_only(name: &str, other: &str) -> String {
    Rule::ENUM_CASE_ONLY
        .message_with(&[&name, &other])
        .to_string()
}

pub(crate) fn field_description(name: &str) -> String {
    Rule::FIELD_DESCRIPTION_MISSING
        .message_with(&[&name, &""])
        .to_string()
}
