//! Rules that const evaluation checks, for schemas, definitions and sets of tools.

use crate::dialects::{A, ALL, AP, J, M, NONE, O, OA, OAJP, OAP, OAPM, OP, P};
use crate::rule::rules;

rules! { "schema":
    ROOT_NOT_OBJECT = "root-not-object", "the arguments of a tool must be an object, take a struct with named fields", "every provider: `got 'type: \"array\"'`, `input_schema.type: Field required`", ALL;
    ROOT_UNION = "root-union", "the arguments of a tool cannot be an enum, put it into a field: `struct Args { command: Command }`", "every provider: no `anyOf`, `oneOf` or `enum` at the top level", OAJP;
    TOOL_DESCRIPTION_MISSING = "tool-description-missing", "a tool needs a description, write above it in `///` what it does and when to use it", "Bedrock: description has at least one character", A;
    PROPERTY_KEY = "property-key", "the key `{0}` does not match `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`, rename it with `#[serde(rename = \"…\")]`", "Anthropic, Bedrock (top level), Gemini, Claude Code", AP;
    DUPLICATE_KEY = "duplicate-key", "two fields have the key `{0}`, rename one", "silent loss of one of them", NONE;
    MAP_TYPE = "map-type", "maps are open records, take a `Vec` of a struct with a key and a value, or narrow `providers(…)` to gemini, mcp, json_schema", "OpenAI, Anthropic, Bedrock: `'additionalProperties' must be explicitly set to false`", OA;
    MAP_KEY = "map-key", "a key is text in JSON, and these keys are not written as text, so every such call fails: return a `Vec` of a struct with a key and a value", "serde_json: `key must be a string`", NONE;
    UNTYPED_VALUE = "untyped-value", "a type that admits any JSON has no schema, take a concrete type", "OpenAI: `schema must have a 'type' key`; MCP clients drop the whole list of tools", OAPM;
    OPTIONAL_NOT_NULLABLE = "optional-not-nullable", "the field may be absent and cannot be null, make it an `Option` or state the default with `#[schema(default = …)]`", "OpenAI: `'required' is required to be supplied`", O;
    DEFAULT_VALUE = "default-value", "the default does not fit: expected {0}, found {1}", "the default replaces null and a missing key, so it must be valid itself", NONE;
    NULL_AMBIGUITY = "null-ambiguity", "null has two meanings here, name them in an enum", "every provider: the two cannot be distinguished", NONE;
    NULL_ITEM = "null-item", "items cannot be optional, take a `Vec` without `Option`", "null in a list is lost in every dialect in which optional means absent", NONE;
    UNIT_TYPE = "unit-type", "a unit has no value, remove it", "`type: null` is useless to a model", NONE;
    LIMIT_OPTIONAL = "limit-optional", "the tool has {0} optional fields and Anthropic accepts at most {1} in a request, split it or require some", "Anthropic: `too many optional parameters … (limit: 24)`", A;
    LIMIT_UNION = "limit-union", "the tool has {0} unions and Anthropic accepts at most {1} in a request, split it or use fewer", "Anthropic: `too many parameters with union types … limit: 16`; requests with 16 hang", A;
    LIMIT_OPTIONAL_SET = "limit-optional", "the set has {0} optional fields and Anthropic accepts at most {1} in a request, select fewer tools", "Anthropic: `too many optional parameters … (limit: 24)`", A;
    LIMIT_UNION_SET = "limit-union", "the set has {0} unions and Anthropic accepts at most {1} in a request, select fewer tools", "Anthropic: `too many parameters with union types … limit: 16`; requests with 16 hang", A;
    LIMIT_STRICT_TOOLS = "limit-strict-tools", "the set has {0} tools and Anthropic accepts at most {1} strict ones in a request, select fewer", "Anthropic: `Too many strict tools`", A;
    LIMIT_DEPTH = "limit-depth", "the arguments nest {0} objects deep and at most {1} are allowed, flatten them", "OpenAI: `11 levels of nesting exceeds limit of 10.`; Gemini: about 15", OP;
    LIMIT_SIZE = "limit-size", "the arguments have {0} {2} and at most {1} are allowed, split the tool", "OpenAI: 5,000 properties, 1,000 enum values, 120,000 characters, 15,000 characters in a large enum", O;
    LIMIT_TOOLS = "limit-tools", "the set has {0} tools and at most {1} are allowed, select fewer", "OpenAI: `Expected an array with maximum length 128`; VS Code", O.and(M);
    TOOL_NAME_CLASH = "tool-name-clash", "two tools have the name `{0}`, rename one", "every provider", ALL;
    FLATTEN_ENUM = "flatten-enum", "an enum cannot be flattened, put it into a separate field", "OpenAI, Anthropic, Gemini: a union next to properties", OAJP;
    FLATTEN_MAP = "flatten-map", "a map cannot be flattened, it makes the record open", "as map-type; silently dropped under `deny_unknown_fields`", OA;
    FLATTEN_OPTIONAL = "flatten-optional", "an optional record cannot be flattened, its fields would be all present or all absent, put it into a separate field", "no dialect can express it", NONE;
    FLATTEN_TYPE = "flatten-type", "only a struct with named fields can be flattened", "the type has no keys", NONE;
    UNION_OVERLAP = "union-overlap", "the variants `{0}` and `{1}` cannot be distinguished, write {2} instead of `untagged`", "`anyOf` does not identify the intended variant, and serde uses the first that fits", NONE;
    TAGGED_NEWTYPE = "tagged-newtype-ref", "the variant `{0}` of an internally tagged enum must hold a struct, write `content = \"value\"` next to `tag`", "OpenAI: `$ref cannot have keywords`; Anthropic drops the tag silently", O.and(J);
    ENUM_EMPTY_STRING = "enum-empty-string", "a value of an enum cannot be empty, rename the variant", "Gemini: `cannot be empty`", P;
    ENUM_CASE_ONLY = "enum-case-only", "the values `{0}` and `{1}` differ in case only, rename one", "Anthropic does not guarantee the case of enum values", NONE;
    ENUM_DUPLICATE = "enum-duplicate", "two variants have the value `{0}`, rename one", "one of them is unreachable", NONE;
    ENUM_EMPTY = "enum-empty", "an enum without a variant has no value, add a variant that is not skipped", "every provider", OAJP;
    FORMAT_URI = "format-uri", "`url` formats are refused, take a `String` and check it in the body", "a decision of this project; OpenAI: `'uri' is not a valid format`; Gemini; llama.cpp", OP;
    FORMAT_UNKNOWN = "format-unknown", "no provider knows the format `{0}`, take a `String` or a type with an offset such as `chrono::DateTime<Utc>`", "OpenAI, Anthropic, Gemini, llguidance, outlines", OAP;
    ARRAY_NO_ITEMS = "array-no-items", "an array without items has one value only, remove it", "OpenAI, Gemini, VS Code: `tool parameters array type must have items`", OP.and(M);
    TUPLE = "tuple", "tuples are lists of mixed types, take a struct with named fields", "OpenAI: `array schema missing items`; Anthropic, Gemini", OAP;
    BYTES = "bytes", "bytes would be a list of numbers, take a `String` in base64", "a list of numbers wastes tokens; bounds are refused by Anthropic", A;
    MEDIA = "media", "a model cannot write an image, audio or a file: read the user's files from `cx.attachments()`; a type that is only returned may contain one if it derives `Serialize` without `Deserialize`", "a model cannot write bytes, and clients of MCP give structured content to models as text", NONE;
    RECURSIVE_TYPE = "recursive-type", "the type contains itself, take a flat list with parent ids or narrow `providers(…)` to openai, json_schema", "Anthropic, Bedrock, Gemini: 400", AP.and(J).and(M);
    RECURSIVE_CIRCLE = "recursive-type", "`{0}` contains `{1}` again ({2}), write `#[schema(recursive)]` above this field, or take a flat list with parent ids", "a schema of endless size; Anthropic, Bedrock, Gemini: 400", AP.and(J).and(M);
    REF_TARGET = "ref-target", "`{0}` does not enclose this field, so it cannot be referred to", "every provider: `reference to undefined schema`", ALL;
    REF_NAMES = "ref-target", "the type refers to more than {0} types by name, make it simpler", "a limit of this crate", NONE;
    AS_TYPE = "as-type", "the type is read from {0}, and the type after `as` admits {1}, so such a call fails: state a type with the same JSON form, or use the stated type in place of this one", "serde: `invalid type: string \"7\", expected u32`", NONE;
    AS_TYPE_OUT = "as-type", "the type is written as {0}, and the type after `as` states {1}, which clients then expect: state a type with the same JSON form, or use the stated type in place of this one", "MCP clients: the structured content does not match the output schema", M;
    EXAMPLE = "example", "expected {0}, found {1}", "Anthropic refuses a request whose examples do not fit; a stale example misleads", A;
    RESULT = "example-result", "expected {0}, found {1}", "a stale example misleads", NONE;
}
