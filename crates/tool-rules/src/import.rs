//! Rules that only `cargo tool` checks: for JSON definitions that become Rust types, and for definitions that a tool's program sends.

use crate::dialects::NONE;
use crate::rule::rules;

rules! { "import":
    IMPORT_NULL_ITEM = "null-item", "items and variants that may be null have no strict type, remove null from the schema", "null in a list is lost in every dialect in which optional means absent", NONE;
    IMPORT_INTEGER = "int-range", "a whole number of the `enum` does not fit in 64 bits, write the values as text", "the generated enum is read as `i64`", NONE;
    SENT_DESCRIPTION_LONG = "tool-description-long", "the description has {0} characters with the bounds and examples that it states: some clients cut it after {1}, move detail to the fields", "OpenAI (2024, 2025), VS Code", NONE;
}
