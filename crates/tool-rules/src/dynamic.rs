//! Rules for JSON Schema that is read, checked or adapted at run time. The constant of each rule begins with `JSON_`.
//!
//! Many messages have a fixed form: `is refused` for a keyword that a target rejects, and `cannot be checked in advance` for a constraint that the
//! reader cannot check. The messages about adapted schemas describe the change.

use crate::dialects::{A, ALL, AP, J, M, NONE, O, OA, OAJP, OAP, OAPM, OP, P};
use crate::rule::rules;

rules! { "dynamic":
    // Rules for the root of a schema.
    JSON_ROOT_NOT_OBJECT = "root-not-object", "a tool's arguments are an object, put `\"type\": \"object\"` at the root", "every provider: `got 'type: \"array\"'`, `input_schema.type: Field required`", ALL;
    JSON_ROOT_TYPE_SET = "root-not-object", "`type` is set to `object` at the root", "every provider: `input_schema.type: Field required`", ALL;
    JSON_ROOT_KEYWORD = "root-union", "`{0}` may not be at the root, put the choice in a property", "OpenAI: `schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level`; Anthropic: `input_schema does not support oneOf, allOf, or anyOf at the top level`", OAJP;
    JSON_ROOT_UNION = "root-union", "the root allows several shapes, put the choice in a property", "every provider: no `anyOf`, `oneOf` or `enum` at the top level", OAJP;
    JSON_ROOT_KEYWORD_REMOVED = "root-union", "`{0}` is removed and stated in the description", "OpenAI, Anthropic, Gemini: no `oneOf`, `anyOf` or `allOf` at the top level", OAJP;
    JSON_ROOT_INLINED = "ref-inline", "the root's `$ref` is replaced by its definition", "clients need `type` at the root", OAP.and(J).and(M);

    // Rules for types of values.
    JSON_NOT_JSON = "untyped-value", "the schema is not JSON: {0}", "every provider", ALL;
    JSON_NOT_SCHEMA = "untyped-value", "a schema must be an object or a boolean", "every provider", ALL;
    JSON_BOOLEAN = "untyped-value", "a boolean is not a schema here, write a type", "OpenAI, Anthropic, Gemini; the MCP TypeScript SDK drops the whole list of tools", OAPM;
    JSON_BOOLEAN_WRITTEN = "untyped-value", "`{0}` is written as an object", "clients and providers accept only objects as schemas", OAPM.and(J);
    JSON_NO_TYPE = "untyped-value", "there is no `type`, write one", "OpenAI: `schema must have a 'type' key`; Anthropic's SDK; Gemini", OAP;
    JSON_TYPE_EMPTY = "untyped-value", "`type` contains no type name, write one", "every provider", ALL;
    JSON_TYPE_UNKNOWN = "untyped-value", "`{0}` is not a type, write `string`, `number`, `integer`, `boolean`, `array`, `object` or `null`", "every provider", ALL;
    JSON_TYPE_LIST = "type-array", "`type` may not be a list, write one type and `nullable`", "Gemini: `type` is one name", P;

    // Rules for objects and their properties.
    JSON_OPEN_OBJECT = "open-object", "the object is open, set `additionalProperties` to false", "OpenAI, Anthropic, Bedrock: `'additionalProperties' must be explicitly set to false`", OA;
    JSON_OBJECT_CLOSED = "open-object", "the object is closed: keys that are not among its properties are refused", "OpenAI, Anthropic, Bedrock: 400 for an open object", OA;
    JSON_MAP = "map-type", "a map is refused, take a list of entries with key and value", "OpenAI, Anthropic, Bedrock: 400; Gemini and an Anthropic SDK send an empty object", OA;
    JSON_MAP_AND_OBJECT = "map-type", "an object may not have both known and arbitrary properties, use a list of entries for the arbitrary properties", "OpenAI, Anthropic, Bedrock: 400", OA;
    JSON_NO_PROPERTIES = "zero-args", "there are no `properties`, write an empty object", "OpenAI: `object schema missing properties`; Cerebras", OP;
    JSON_PROPERTIES_EMPTY = "zero-args", "`properties` may not be empty, leave the schema out", "Gemini", P;
    JSON_PROPERTIES_ADDED = "zero-args", "an empty `properties` is added", "OpenAI: `object schema missing properties`", O;
    JSON_KEY = "property-key", "`{0}` is not a key that providers accept, use 1 to 64 letters, digits and `_`", "Anthropic, Bedrock (top level), Gemini, Claude Code", AP;
    JSON_REQUIRED_NOT_LIST = "required-unknown", "`required` must be a list of property keys", "every provider", ALL;
    JSON_REQUIRED_UNKNOWN = "required-unknown", "`{0}` is required but is not a property, add it to `properties` or remove it from `required`", "OpenAI, Gemini: 400", OP;
    JSON_OPTIONAL = "optional-not-nullable", "`{0}` is not in `required`, add it there and allow null", "OpenAI: `'required' is required to be supplied`", O;
    JSON_PATTERN_PROPERTIES = "pattern-properties", "`{0}` is refused, take a list of entries with key and value", "OpenAI, Anthropic, Gemini", OAP;
    JSON_PATTERN_PROPERTIES_UNREAD = "pattern-properties", "keys by pattern cannot be checked in advance, take a list of entries", "OpenAI, Anthropic, Gemini", OAP;
    JSON_PROPERTY_NAMES = "property-names", "`{0}` is refused, take a list of entries with key and value", "OpenAI, also without strict mode (vercel/ai#20621); Anthropic, Gemini", OAP;
    JSON_PROPERTY_NAMES_UNREAD = "property-names", "rules for keys cannot be checked in advance, take a list of entries", "OpenAI, also without strict mode (vercel/ai#20621); Anthropic, Gemini", OAP;
    JSON_PROPERTY_NAMES_REMOVED = "property-names", "`{0}` is removed and stated in the description", "OpenAI, also without strict mode (vercel/ai#20621)", O;
    JSON_PROPERTY_COUNT = "property-count", "`{0}` is refused, state it in the description", "OpenAI, Anthropic, Bedrock", OAP;
    JSON_PROPERTY_COUNT_STATED = "property-count", "the number of properties is stated in the description, and checked where the tool runs", "OpenAI, Anthropic, Bedrock", OA;
    JSON_UNEVALUATED_PROPERTIES = "unevaluated", "`{0}` is refused, close each object with `additionalProperties`", "OpenAI, Anthropic, llguidance", OAP;
    JSON_UNEVALUATED_ITEMS = "unevaluated", "`{0}` is refused, take a list of one type", "OpenAI, Anthropic, llguidance", OAP;
    JSON_UNEVALUATED_PROPERTIES_UNREAD = "unevaluated", "`unevaluatedProperties` next to a choice cannot be checked in advance, close each branch", "OpenAI, Anthropic, llguidance", OAP;
    JSON_UNEVALUATED_ITEMS_UNREAD = "unevaluated", "`unevaluatedItems` cannot be checked in advance, give the list one item type", "OpenAI, Anthropic, llguidance", OAP;

    // Rules for arrays and their items.
    JSON_NO_ITEMS = "array-no-items", "there are no `items`, give the list an item type", "OpenAI, Gemini, VS Code: `tool parameters array type must have items`", OP;
    JSON_ITEMS_ADDED = "array-no-items", "an `items` that accepts everything is added", "OpenAI: `array schema missing items` (fastcore#798)", O;
    JSON_ITEMS_LIST = "tuple", "`items` may not be a list, take an object with named properties", "OpenAI: `array schema missing items`; Anthropic, Gemini", OAP;
    JSON_PREFIX_ITEMS = "tuple", "`{0}` is refused, take an object with named properties", "OpenAI: `array schema missing items`; Anthropic, Gemini", OAP;
    JSON_ADDITIONAL_ITEMS = "tuple", "`{0}` is refused, take a list of one type", "OpenAI, Gemini", OP;
    JSON_TUPLE_OPEN = "tuple", "a list of several types must have a fixed length: `minItems` and `maxItems`", "no dialect can express it", ALL;
    JSON_FIXED_ARRAY = "fixed-array", "a fixed length is refused, state it in the description", "Anthropic, Bedrock", A;
    JSON_MIN_ITEMS = "min-items-over-1", "`minItems` may only be 0 or 1, state it in the description", "Anthropic: `For 'array' type, 'minItems' values other than 0 or 1 are not supported`", A;
    JSON_MAX_ITEMS = "max-items", "`maxItems` is refused, state it in the description", "Anthropic, Bedrock", A;
    JSON_UNIQUE_ITEMS = "unique-items", "`{0}` is refused, state it in the description", "OpenAI, Anthropic, Gemini, llguidance, vLLM", OAP;
    JSON_CONTAINS = "contains", "`{0}` is refused, state it in the description", "OpenAI, Anthropic, Bedrock, llguidance, vLLM", OAP;
    JSON_CONTAINS_UNREAD = "contains", "`contains` cannot be checked in advance, state it in the description", "OpenAI, Anthropic, Bedrock, llguidance, vLLM", OAP;

    // Rules for enums and constants.
    JSON_ENUM_EMPTY = "enum-empty", "the enum allows no value, add one", "every provider", OAJP;
    JSON_ENUM_COMPLEX = "enum-complex", "an enum can contain only strings, numbers, booleans and null", "Anthropic", OAP;
    JSON_ENUM_MIXED = "enum-mixed", "all values must be of one type", "OpenAI: all values have the same type; Gemini", OP;
    JSON_ENUM_REMOVED = "enum-mixed", "`{0}` is removed and stated in the description", "Gemini", J;
    JSON_ENUM_TYPE_LIST = "enum-type-array", "an enum may not have a list as its `type`, write `anyOf` of the enum and null", "Anthropic: 400", A;
    JSON_ENUM_NOT_TEXT = "enum-non-string", "an enum can contain only strings", "Gemini: `TYPE_STRING`", P;
    JSON_VALUES_STATED = "enum-non-string", "the values are stated in the description, and checked where the tool runs", "Gemini: `TYPE_STRING`", P;
    JSON_ENUM_EMPTY_TEXT = "enum-empty-string", "an enum may not contain an empty string", "Gemini: `cannot be empty`", P;
    JSON_CONST = "const", "`{0}` is refused, write a one-value `enum`", "Gemini: unknown name", P;
    JSON_CONST_WRITTEN = "const", "`const` is written as an `enum` of one value", "Gemini: unknown name", J;

    // Rules for choices and conditions.
    JSON_ONE_OF = "one-of", "`{0}` is refused, write `anyOf` of shapes that exclude each other", "OpenAI: `'oneOf' is not permitted`; Anthropic: `Schema type 'oneOf' is not supported`; Gemini", OAP;
    JSON_ALL_OF = "all-of", "`allOf` is refused, write one merged schema", "OpenAI; Anthropic, if `allOf` contains a `$ref`; Gemini", OAP;
    JSON_ALL_OF_ENDLESS = "all-of", "the schema is merged with itself, or with too many others, write one merged schema", "a limit of this crate", NONE;
    JSON_ALL_OF_TARGET = "all-of", "`{0}` has no target in this schema, define it under `$defs`", "every provider: `reference to undefined schema`", ALL;
    JSON_ALL_OF_DIFFERS = "all-of", "`{0}` has two different values, write one merged schema", "no dialect can express it", ALL;
    JSON_ANY_OF_NOT_ALONE = "anyof-siblings", "`anyOf` must be the only keyword, move the others into the branches", "Gemini: `must be the only field`; llama.cpp, outlines", P;
    JSON_CHOICE_NOT_ALONE = "anyof-siblings", "`{0}` may not be next to `{1}`, move it into the branches", "Gemini: `must be the only field`; llama.cpp, outlines", P;
    JSON_UNION_OVERLAP = "union-overlap", "branches {0} and {1} cannot be distinguished, give each a tag", "`anyOf` does not identify the intended branch; llguidance refuses the schema", NONE;
    JSON_UNION_MERGED = "union-overlap", "branches of one type are merged, and each value is checked against the branches where the tool runs", "`anyOf` does not identify the intended branch; llguidance refuses the schema", NONE;
    JSON_NOT = "conditional", "`{0}` is refused, state what is allowed instead", "OpenAI, Anthropic, Gemini, llguidance", OAP;
    JSON_CONDITION = "conditional", "`{0}` is refused, model the cases as an enum", "OpenAI, Anthropic, Gemini, llguidance", OAP;
    JSON_NOT_UNREAD = "conditional", "`{0}` cannot be checked in advance, state what is allowed", "OpenAI, Anthropic, Gemini, llguidance", OAP;
    JSON_CONDITION_UNREAD = "conditional", "`{0}` cannot be checked in advance, model the cases as a choice", "OpenAI, Anthropic, Gemini, llguidance", OAP;

    // Rules for references and definitions.
    JSON_REF_NOT_TEXT = "ref-target", "`$ref` must be a string, such as `#/$defs/name`", "every provider", ALL;
    JSON_REF_MISSING = "ref-target", "`{0}` has no target in this schema, define it under `$defs`", "every provider: `reference to undefined schema`", ALL;
    JSON_REF_ITSELF = "ref-target", "`{0}` only refers to itself, write a schema in its place", "no value has the schema", ALL;
    JSON_REF_NOT_DEFINITION = "ref-target", "`{0}` is not a definition, put it under `$defs`", "OpenAI", O;
    JSON_REF_DYNAMIC = "ref-target", "`{0}` cannot be resolved in advance, use `$ref`", "OpenAI, Anthropic, Gemini", OAP;
    JSON_REF = "ref-inline", "`{0}` is refused, write the definition in its place", "Gemini: unknown name; clients", P;
    JSON_DEFINITIONS = "ref-inline", "`{0}` is refused, write the definitions in their places", "Gemini: unknown name; clients", P;
    JSON_REF_NOT_ALONE = "ref-siblings", "`{0}` may not be next to `$ref`, wrap the reference in a one-branch `anyOf`", "OpenAI: `$ref cannot have keywords`; Gemini; Anthropic's SDK and llama.cpp drop the others", O.and(J);
    JSON_REF_TAGGED = "tagged-newtype-ref", "`{0}` may not be next to `$ref`, wrap the reference in a one-branch `anyOf`", "OpenAI: `$ref cannot have keywords`; Gemini; Anthropic, llama.cpp and xgrammar drop the tag silently", O.and(J);
    JSON_REF_ENDLESS = "ref-siblings", "the schema is merged with itself, or with too many others, write one merged schema", "a limit of this crate", NONE;
    JSON_REF_TARGET = "ref-siblings", "`{0}` has no target in this schema, define it under `$defs`", "every provider: `reference to undefined schema`", ALL;
    JSON_REF_DIFFERS = "ref-siblings", "`{0}` has two different values, write one merged schema", "no dialect can express it", ALL;
    JSON_REF_SIBLING_REMOVED = "ref-siblings", "`{0}` is removed and stated in the description", "Gemini", J;
    JSON_RECURSIVE = "recursive-type", "the schema contains itself, take a flat list with parent ids", "Anthropic, Bedrock, Gemini: 400", AP;
    JSON_RECURSIVE_REQUIRED = "recursive-type", "the schema contains itself through required properties, make one of them optional", "Gemini", J;

    // Rules for strings and numbers.
    JSON_PATTERN_LOOKAROUND = "pattern-lookaround", "look-around, back-references and word boundaries are refused, write the pattern without them", "OpenAI, Anthropic, Bedrock, llguidance", OA;
    JSON_PATTERN_LOOKAROUND_STATED = "pattern-lookaround", "the pattern is stated in the description, and checked where the tool runs: {0}", "OpenAI, Anthropic, Bedrock, llguidance", OA;
    JSON_PATTERN_SYNTAX_STATED = "pattern-syntax", "the pattern is stated in the description, and checked where the tool runs: {0}", "a pattern that does not compile matches nothing", NONE;
    JSON_FORMAT_ON_NUMBER = "format-on-number", "`{0}` is not a format of numbers, leave it out", "Gemini allows four; Ajv clients fail (Gemini CLI#6948)", P;
    JSON_FORMAT_URI = "format-uri", "`uri` is refused, state in the description that it is a URL", "OpenAI: `'uri' is not a valid format`; Gemini; llama.cpp", OP;
    JSON_FORMAT_URI_STATED = "format-uri", "the URL format is stated in the description, and checked where the tool runs", "OpenAI: `'uri' is not a valid format`; Gemini; llama.cpp", OP;
    JSON_FORMAT_UNKNOWN = "format-unknown", "`{0}` is not a format that providers know, state it in the description", "OpenAI, Anthropic, Gemini, llguidance, outlines", OAP;
    JSON_FORMAT_UNKNOWN_STATED = "format-unknown", "the format `{0}` is stated in the description, and checked where the tool runs", "OpenAI, Anthropic, Gemini, llguidance, outlines", OAP;
    JSON_FORMAT_GEMINI = "format-gemini", "`{0}` is refused, state it in the description", "Gemini", P;
    JSON_NUMERIC_BOUNDS = "numeric-bounds", "`{0}` is refused, state it in the description", "Anthropic, Bedrock: 400; Gemini refuses `exclusive…` and `multipleOf`; vLLM `multipleOf`", AP;

    // Rules for all other keywords.
    JSON_DEFAULT = "default-keyword", "`{0}` is refused, state it in the description", "OpenAI: `'default' is not permitted`; VS Code", O;
    JSON_EXAMPLES = "examples-keyword", "`{0}` is refused, state it in the description", "OpenAI, Gemini", OP;
    JSON_KEYWORD = "meta-keyword", "`{0}` is refused, leave it out", "Gemini: unknown name; VS Code; OpenAI checks that `$id` is a URI", OAP;
    JSON_KEYWORD_REMOVED = "meta-keyword", "`{0}` is removed and stated in the description", "Gemini: unknown name", J;
    JSON_KEYWORD_LEFT_OUT = "meta-keyword", "`{0}` is left out", "Gemini: unknown name", J;
    JSON_DRAFT_EXCLUSIVE = "old-draft", "`{0}` is written as in draft 2020-12", "Anthropic: `It must match JSON Schema draft 2020-12`", A;
    JSON_DRAFT_REQUIRED = "old-draft", "`required` without a list is removed", "Anthropic: `It must match JSON Schema draft 2020-12`", A;
    JSON_DRAFT_NULLABLE = "old-draft", "`nullable` without a type is removed", "Anthropic: `It must match JSON Schema draft 2020-12`", A;
    JSON_DRAFT_ITEMS = "old-draft", "a list in `items` is written as `prefixItems`", "OpenAI: `array schema missing items`; Anthropic: `It must match JSON Schema draft 2020-12`; Gemini", OA.and(J);
    JSON_DRAFT_DEFINITIONS = "old-draft", "`definitions` is written as `$defs`", "Gemini: unknown name", J;

    // Rules for the size of schemas and tools.
    JSON_TOO_DEEP = "limit-depth", "schemas are nested more than {0} levels deep, flatten them", "a limit of this crate, above that of every provider", ALL;
    JSON_DEPTH = "limit-depth", "objects are nested {0} deep, 10 is the limit", "OpenAI: `11 levels of nesting exceeds limit of 10.`", O;
    JSON_DEPTH_GEMINI = "limit-depth", "objects are nested {0} deep, about 15 is the limit", "Gemini", P;
    JSON_TOO_LARGE = "limit-size", "the schema expands to more than {0} nodes or {1} levels", "a limit of this crate", ALL;
    JSON_PROPERTIES = "limit-size", "there are {0} properties, 5000 is the limit", "OpenAI", O;
    JSON_CHARACTERS = "limit-size", "names and values take {0} characters, 120000 is the limit", "OpenAI", O;
    JSON_ENUM_VALUES = "limit-enum", "enums list {0} values, 1000 is the limit", "OpenAI", O;
    JSON_ENUM_CHARACTERS = "limit-enum", "an enum of more than 250 values takes more than 15000 characters", "OpenAI", O;
    JSON_OPTIONALS = "limit-optional", "{0} properties may be left out, 24 is the limit", "Anthropic: `too many optional parameters … (limit: 24)`", A;
    JSON_UNIONS = "limit-union", "{0} properties are unions, 15 is the largest number that works", "Anthropic: `too many parameters with union types … limit: 16`; requests with 16 hang", A;
    JSON_KEPT = "limit-kept", "more than {0} bytes of different schemas were read in this process", "a limit of this crate", NONE;
}
