//! Rules that the derive macros check, for the syntax of types and of their attributes.

use crate::dialects::{AP, J, NONE, OAP};
use crate::rule::rules;

rules! { "derive":
    FORMAT_NAME = "format-unknown", "no provider knows the format `{0}`, expected one of {1}", "OpenAI, Anthropic, Gemini, llguidance, outlines", OAP;
    STRUCT_TAG = "struct-tag", "`tag` on a struct writes a key that serde then ignores when reading, use a field whose type is an enum with one variant instead", "serde does not check the tag of a struct", NONE;
    VARIANT_UNTAGGED = "untagged", "one variant without a tag makes the whole enum ambiguous, tag every variant or none", "a model guesses between the variants", NONE;
    SERDE_GETTER = "serde-type", "`getter` belongs to `remote`, which is for types of other crates, describe the remote type with `#[schema(as = Type)]` where it is used", "the schema would describe a different type", NONE;
    SERDE_IDENTIFIER = "serde-type", "`{0}` is for keys of a hand-written `Deserialize`, not for a value that a model fills in", "the schema would describe a different type", NONE;
    SERDE_OTHER_TYPE = "serde-type", "`{0}` writes a different type, state it with `#[schema(as = Type)]`", "the schema would describe a different type", NONE;
    SERDE_UNKNOWN = "serde-unknown", "the effect of `{0}` on the JSON here is not known, so no schema can describe the JSON, remove the attribute", "the schema might describe a different type", NONE;
    DESERIALIZE_TWICE = "serde-type", "`deserialize` implements `serde::Deserialize`, and so does the derive next to it: keep one of them (`deserialize` also checks the rules of the schema)", "rustc: conflicting implementations", NONE;
    DESERIALIZE_BY_SERDE = "serde-type", "`StrictSchema` generates no reader for this type, so `deserialize` has none to use: derive `serde::Deserialize` instead", "there would be no reader", NONE;
    INTEGER_BY_NAME = "serde-type", "serde's derive reads and writes the names of the variants, and `integer` states their numbers: derive `serde_repr::Deserialize_repr` and `serde_repr::Serialize_repr` instead, or add `#[serde(try_from = \"u8\", into = \"u8\")]`", "serde: `invalid type: integer`", NONE;
    INTEGER_AND_AS = "as-type", "`as` states a different type for the whole enum, keep one of `as` and `integer`", "the two contradict each other", NONE;
    DEFAULT_PATH = "default-value", "the compiler cannot read this function's value, and a model may send null as well as leave the key out: state the value with `#[schema(default = …)]`", "the schema needs the value", NONE;
    VARIANT_SKIP = "variant-skip", "a variant that is sent but never read cannot be stated, use `#[serde(skip)]` or let it be read", "one schema describes both directions", NONE;
    VARIANT_RENAME = "variant-rename", "a variant has one name in both directions, drop `serialize`/`deserialize`", "one schema describes both directions", NONE;
    VARIANT_OTHER = "variant-other", "only the values that the schema lists reach serde, so `other` never applies: remove it, or write `#[schema(allow(variant-other))]` where the type is also read elsewhere", "the variant is unreachable", NONE;
    VARIANT_KEY_TWICE = "duplicate-key", "the name `{0}` is already used by a different variant, rename one", "one of them is unreachable", NONE;
    TAG_KEY = "duplicate-key", "the key `{0}` is the enum's tag, rename the field or the tag", "silent loss of one of them", NONE;
    UNIT_UNTAGGED = "null-ambiguity", "without a tag a unit variant is `null` on the wire, the same as an absent value, give it a tag", "every provider: the two cannot be distinguished", NONE;
    UNIT_STRUCT = "unit-type", "a unit struct has no fields and is `null` on the wire, remove the field that has it or write `struct Name {}`", "`type: null` is useless to a model", NONE;
    UNION = "union", "a `union` has no wire format, use an enum", "serde cannot read it", NONE;
    TUPLE_VARIANT = "tuple", "tuples are lists of mixed types, use named fields: `Variant { … }`", "OpenAI: `array schema missing items`; Anthropic, Gemini", OAP;
    FLATTEN_GENERIC = "flatten", "flattening is computed before type parameters are known, write the fields out or make the type concrete", "a limit of const evaluation", NONE;
    RECURSIVE_GENERIC = "recursive-type", "a generic type cannot contain itself: its schema would have no name, make the type concrete or use a flat list with parent ids", "a schema of endless size; Anthropic, Bedrock, Gemini: 400", AP.and(J);
}
