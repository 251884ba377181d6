//! Procedural macros of tool-core: `#[tool]`, `#[derive(StrictSchema)]`, `#[derive(ToolError)]` and `tool_stream!`. Use them through that crate.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod allow;
mod case;
mod constraint;
mod derive;
mod docs;
mod errors;
#[cfg(test)]
mod expansions;
mod failure;
mod half;
mod json;
mod paths;
mod reads;
mod serde_attr;
mod siblings;
mod spans;
mod stream;
mod texts;
mod tool;
mod types;
mod words;

/// Derives a schema that every strict mode accepts, or reports an error at the token that prevents such a schema.
#[doc = include_str!("../docs/strict_schema.md")]
#[doc(alias(
    "json schema",
    "JsonSchema",
    "structured output",
    "response_format",
    "pydantic"
))]
#[proc_macro_derive(StrictSchema, attributes(schema, serde))]
pub fn derive_strict_schema(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive::derive(input.into()).into()
}

/// Lets the model read selected errors of your own error type.
#[doc = include_str!("../docs/tool_error.md")]
#[proc_macro_derive(ToolError, attributes(shown, schema))]
pub fn derive_tool_error(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    failure::derive(input.into()).into()
}

/// Turns a fn into a registered tool with a strict schema, which the compiler checks.
#[doc = include_str!("../docs/tool.md")]
#[doc = include_str!("../docs/options.md")]
#[doc(alias(
    "function calling",
    "function_call",
    "function_tool",
    "tool_call",
    "tool calling",
    "tool use",
    "FastMCP",
    "mcp.tool",
    "structured output"
))]
#[proc_macro_attribute]
pub fn tool(
    attr: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    tool::expand(attr.into(), item.into()).into()
}

/// Emits the tokens in its parentheses after the annotated item.
///
/// `#[tool]` writes this attribute on the struct of the arguments, with all other generated items in its parentheses. In an `impl` or a `trait`,
/// where structs are not allowed, rustc then drops the struct with its attributes and reports one error.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn beside(
    tokens: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let mut all = item;
    all.extend(tokens);
    all
}

/// Implements `tool_core::tool_stream!`; the path of tool-core comes first, in parentheses.
#[doc(hidden)]
#[proc_macro]
pub fn tool_stream_inner(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    stream::expand(input.into()).into()
}
