//! Rules for the declarations of `#[tool]`: names, descriptions, effects, secrets and variables; also for tools that are created at run time.

use crate::dialects::{A, AP, NONE, OAJP};
use crate::rule::rules;

rules! { "tool":
    TOOL_NAME = "tool-name", "a tool's name starts with a letter and has at most 64 letters, digits, `_` and `-`, write a different name: `name = \"…\"`", "OpenAI, Anthropic, Bedrock, Mistral; Gemini (first character)", OAJP;
    DYNAMIC_TOOL_NAME = "tool-name", "start with a letter and use at most 64 letters, digits, `_` and `-`, or write two such parts as `namespace:name`", "OpenAI, Anthropic, Bedrock, Mistral; Gemini (first character)", OAJP;
    DYNAMIC_DESCRIPTION_MISSING = "tool-description-missing", "a tool needs a description, write what it does and when to use it", "Bedrock: description has at least one character", A;
    FIELD_DESCRIPTION_MISSING = "field-description-missing", "`{0}` has no description, write above it in `///` what the model should put there{1}", "a model guesses the meaning from the name", NONE;
    PARAM_KEY = "property-key", "the key `{0}` does not match `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`, rename it with `#[arg(rename = \"…\")]`", "Anthropic, Bedrock (top level), Gemini, Claude Code", AP;
    DUPLICATE_PARAM = "duplicate-key", "two arguments have the key `{0}`, rename one with `#[arg(rename = \"…\")]`", "silent loss of one of them", NONE;
    DEFAULT_OF_OPTION = "default-value", "`None` is never passed, because the default also replaces null: take `{0}`, or remove `default`", "the default replaces null and a missing key", NONE;
    READ_ONLY_AND_DESTRUCTIVE = "effect", "a tool that only reads destroys nothing, keep one of `read_only` and `destructive`", "the two contradict each other", NONE;
    READ_ONLY_WRITES = "effect", "`{0}` can write, remove `read_only` or take a host value that only reads", "a tool that only reads is repeated and run without approval", NONE;
    SECRET_KEY_EMPTY = "secret-spec", "the key is empty, name the entry in the host's store", "the host cannot look it up", NONE;
    SECRET_CHOICES_MISSING = "secret-spec", "a `select` secret has no choices, list at least one", "nothing can be chosen", NONE;
    SECRET_CHOICE_EMPTY = "secret-spec", "a choice of a `select` secret is empty, write its text", "an empty choice is not visible", NONE;
    SECRET_TWICE = "secret-spec", "a secret is declared twice, declare it once", "the two may differ", NONE;
    SECRET_OPTIONAL = "secret-spec", "a call without this secret would fail, though `optional` says that the tool works without it: take `Option<{0}>`, or remove `optional`", "the two contradict each other", NONE;
    VARIABLE_OPTIONAL = "variable-spec", "a call without this variable would fail, though `optional` says that the tool works without it: take `Option<{0}>`, or remove `optional`", "the two contradict each other", NONE;
    VARIABLE_KINDS = "variable-spec", "a variable is secret in one place and plain in another, declare it once", "a plain value is not redacted", NONE;
}
