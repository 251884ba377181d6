//! Rules that only `tool-mcp` checks: for texts of the tools of MCP servers, and for schemas that values cannot be validated against.

use crate::dialects::NONE;
use crate::rule::rules;

rules! { "mcp":
    MCP_SCHEMA = "schema", "values cannot be validated against the schema: {0}", "calls with invalid arguments would be sent to the server", NONE;
    MCP_TEXT_LENGTH = "text-length", "the text has {0} bytes, and at most {1} are allowed", "long descriptions leave fewer tokens for the conversation", NONE;
    MCP_HIDDEN_TEXT = "hidden-text", "the text contains characters that are not displayed: {0}", "instructions that a person cannot see", NONE;
    MCP_BYTES = "limit-size", "the schema has {0} bytes, and at most {1} are allowed", "a limit of this crate", NONE;
    MCP_SUBSCHEMAS = "limit-size", "the schema contains more than {0} subschemas", "a limit of this crate", NONE;
    MCP_CHOICES = "limit-size", "too many subschemas apply to the same value, nest `anyOf`, `allOf`, `oneOf` and `not` less deeply", "a value would take too long to validate", NONE;
    MCP_REFERENCES = "limit-depth", "too many schemas are nested in each other or refer to each other", "a limit of this crate", NONE;
    MCP_RECURSIVE = "recursive-type", "a `$ref` leads back to its own schema without a property or an item in between, put one in between", "a validation would not end", NONE;
    MCP_REF_EXTERNAL = "ref-target", "`{0}` is outside of this schema, and nothing is fetched: write the definition under `$defs`", "a server could make the host request any address", NONE;
    MCP_ID = "ref-target", "a schema within the schema has an `$id`, which is not supported: refer to it by its JSON pointer, such as `#/$defs/name`", "a limit of this crate", NONE;
}
