//! The error texts of the macros.
//!
//! Lower case, no final period, code in backticks, the rule in brackets first, then what to write instead.

pub(crate) mod tool;

use std::fmt::{Display, Write};

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

// Lists of options.
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

/// The syntax of an option, for errors that say which token is missing.
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
        "no warning has the rule id `{rule}`, known are {}",
        list(known)
    )
}

// Documentation.
pub(crate) const DOC_NOT_LITERAL: &str =
    "a description must be literal text, write it out as `///` lines";

// JSON tokens and numbers.
pub(crate) const JSON_EXPECTED: &str = "expected a JSON value: `null`, `true`, `false`, a number, text in quotes, `[…]` or `{ \"key\": … }`";
pub(crate) const JSON_KEY: &str = "expected a key in quotes, as in `{ \"key\": 1 }`";
pub(crate) const NUMBER_EXPECTED: &str = "expected a number, written out";
pub(crate) const NUMBER_PLAIN: &str =
    "write the number as JSON does: decimal, without a type suffix, digits after the point";
pub(crate) const NUMBER_TOO_LARGE: &str = "the number is too large";

pub(crate) fn json_key_twice(key: &str) -> String {
    format!("the key `{key}` appears twice, remove one")
}

// Constraints.
pub(crate) const RANGE_EXPECTED: &str =
    "expected a range of numbers, such as `range = 1..=50` or `range = 0.0..`";
pub(crate) const LENGTH_EXPECTED: &str =
    "expected a number of characters, such as `length = 1..=200` or `length = 8`";
pub(crate) const RANGE_EMPTY: &str =
    "[constraint] this range is empty, write the smaller number first";
pub(crate) const COUNT_EXPECTED: &str = "expected a whole number, zero or more";
pub(crate) const ITEMS_EMPTY: &str = "[constraint] `max_items` is smaller than `min_items`";
pub(crate) const MULTIPLE_OF_ZERO: &str = "[constraint] `multiple_of` must be greater than zero";
pub(crate) const FORMAT_URI: &str = "[format-uri] not every provider takes URL formats, drop the format and check the text in the tool";

pub(crate) fn format_unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    format!(
        "[format-unknown] no strict mode supports the format `{name}`, known are {}",
        list(known)
    )
}

pub(crate) fn pattern_and_format(format: &str) -> String {
    format!(
        "[constraint] the format `{format}` fixes the text already, drop the pattern or the format"
    )
}

// Attributes of serde.
pub(crate) const STRUCT_TAG: &str = "[struct-tag] `tag` on a struct writes a key that serde then ignores when reading, make it a field of an enum type with one variant";
pub(crate) const VARIANT_UNTAGGED: &str = "[untagged] one variant without a tag makes the whole enum ambiguous, tag every variant or none";
pub(crate) const SERDE_GETTER: &str = "[serde-type] `getter` belongs to `remote`, whose type is not this one, describe the remote type with `#[schema(as = Type)]` where it is used";
pub(crate) const DEFAULT_PATH: &str = "[default-value] the compiler cannot read this function's value, and a model may send null as well as leave the key out: state the value with `#[schema(default = …)]`";
pub(crate) const VARIANT_SKIP: &str = "[variant-skip] a variant that is sent but never read cannot be stated, use `#[serde(skip)]` or let it be read";
pub(crate) const VARIANT_SPLIT: &str =
    "[variant-rename] a variant has one name in both directions, drop `serialize`/`deserialize`";
pub(crate) const UNIT_UNTAGGED: &str = "[null-ambiguity] without a tag a unit variant is `null` on the wire, the same as an absent value, give it a tag";
pub(crate) const CONTENT_WITHOUT_TAG: &str = "`content` needs a `tag`";
pub(crate) const TAG_AND_UNTAGGED: &str = "an enum is tagged or untagged, not both";

pub(crate) fn serde_unknown(word: impl Display) -> String {
    format!(
        "[serde-unknown] the effect of `{word}` on the JSON here is not known, so no schema can match it, remove it"
    )
}

pub(crate) fn serde_identifier(word: impl Display) -> String {
    format!(
        "[serde-type] `{word}` is for keys of a hand-written `Deserialize`, not for a value that a model fills in"
    )
}

pub(crate) fn serde_other_type(word: impl Display) -> String {
    format!("[serde-type] `{word}` writes a different type, state it with `#[schema(as = Type)]`")
}

pub(crate) fn unknown_case(case: &str, known: &[&str]) -> String {
    format!(
        "serde knows no convention `{case}`, known are {}",
        list(known)
    )
}

// Types.
pub(crate) const UNION: &str = "[union] a `union` has no wire format, use an enum";
pub(crate) const UNIT_STRUCT: &str = "[unit-type] a unit struct carries nothing and is `null` on the wire, remove the field that has it or write `struct Name {}`";
pub(crate) const TUPLE_STRUCT: &str =
    "[tuple] a list of different types has no strict schema, use named fields";
pub(crate) const TUPLE_VARIANT: &str =
    "[tuple] a list of different types has no strict schema, use named fields: `Variant { … }`";
pub(crate) const EMPTY_ENUM: &str =
    "[enum-empty] no value of this enum exists, add a variant that is not skipped";
pub(crate) const TRANSPARENT_FIELDS: &str =
    "`transparent` needs exactly one field that is not skipped";
pub(crate) const INTEGER_DATA: &str =
    "`integer` needs variants without data and without a tag: each is its discriminant on the wire";
pub(crate) const DESERIALIZE_TWICE: &str = "[serde-type] `deserialize` implements `serde::Deserialize`, and so does the derive next to it: keep one, `deserialize` for the rules of the schema";
pub(crate) const DESERIALIZE_BY_SERDE: &str = "[serde-type] the derive does not read this type by itself, so `deserialize` has nothing to read it by: derive `serde::Deserialize` in its place";
pub(crate) const INTEGER_AND_AS: &str =
    "[as-type] `as` states a different type for the whole enum, keep one of `as` and `integer`";
pub(crate) const INTEGER_BY_NAME: &str = "[serde-type] serde's derive reads and writes the names of the variants, and `integer` states their numbers: derive `serde_repr::Deserialize_repr` and `serde_repr::Serialize_repr` instead, or add `#[serde(try_from = \"u8\", into = \"u8\")]`";
pub(crate) const VARIANT_OTHER: &str = "[variant-other] only the values that the schema lists reach serde, so `other` never applies: remove it, or write `#[schema(allow(variant-other))]` where the type is also read elsewhere";
pub(crate) const FLATTEN_GENERIC: &str = "[flatten] flattening is computed before type parameters are known, write the fields out or make the type concrete";
pub(crate) const REFERENCE: &str =
    "what a model fills in is owned, take `String`, `Vec<T>` or `Box<T>` instead of a reference";
pub(crate) const RECURSIVE_GENERIC: &str = "[recursive-type] a generic type cannot contain itself: its schema would have no name, make the type concrete or use a flat list with parent ids";
pub(crate) const RECURSIVE_TYPE: &str =
    "`recursive` needs a field type that ends in a named type, such as `Option<Box<Folder>>`";
pub(crate) const BOUNDS_ON_CONTAINER: &str =
    "bounds belong on a field, only a newtype takes them on the type";
pub(crate) const BOUNDS_TWICE: &str =
    "the field inside states bounds already, keep them in one place";
pub(crate) const DEFAULT_ON_CONTAINER: &str =
    "`default` belongs on a field, a type alone is never absent";
pub(crate) const AUDIT_EXPECTED: &str =
    "expected `audit = value`, `audit = preview` or `audit = length`";
pub(crate) const AUDIT_ON_NEWTYPE: &str =
    "`audit` belongs on a named field or a parameter, say it where this type is used";
pub(crate) const SKIPPED_WORDS: &str = "a skipped field is not part of the schema, remove this";
pub(crate) const FLATTEN_WORDS: &str =
    "a flattened field has no value of its own on the wire, state this on the fields inside";
pub(crate) const VALUE_WORDS_UNIT: &str = "a variant without data takes no `as`";

// Names and documentation.
pub(crate) fn property_key(key: &str) -> String {
    let what = if key.is_empty() {
        "an empty key cannot".to_owned()
    } else if key.len() > 64 {
        format!("`{key}` is longer than 64 characters and cannot")
    } else {
        format!("`{key}` cannot")
    };
    format!(
        "[property-key] {what} be a key for every provider, rename it to snake_case with `#[serde(rename = \"…\")]`"
    )
}

pub(crate) fn duplicate_key(key: &str) -> String {
    format!("[duplicate-key] the key `{key}` is taken by another field, rename one")
}

pub(crate) fn duplicate_variant(name: &str) -> String {
    format!("[duplicate-key] the name `{name}` is taken by another variant, rename one")
}

pub(crate) fn tag_key(key: &str) -> String {
    format!("[duplicate-key] the key `{key}` is the enum's tag, rename the field or the tag")
}

pub(crate) const EMPTY_VARIANT: &str =
    "[enum-empty-string] an empty name cannot be a value for every provider, rename the variant";

pub(crate) fn case_only(name: &str, other: &str) -> String {
    format!(
        "[enum-case-only] `{name}` and `{other}` differ in case only, which a model may not keep apart, rename one"
    )
}

pub(crate) fn field_description(name: &str) -> String {
    format!(
        "[field-description-missing] a model does not know what `{name}` is for, say so in a `///` doc comment"
    )
}
