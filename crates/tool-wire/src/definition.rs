//! The definition of one tool in a request.

use std::fmt::Write as _;

use serde_json::Value;
use tool_core::{Dialect, ToolDef};

use super::Provider;

/// Returns one element of the tool list, made from the tool's definition in the provider's dialect.
pub(super) fn definition(provider: Provider, def: &ToolDef, strict: bool) -> String {
    let text = def.definition(provider.dialect());
    match provider {
        Provider::Chat => strictness(text, strict),
        Provider::Responses => {
            // The Chat dialect is `{"type":"function","function":{…}}`. Responses has the members of `function` at the top level.
            let inner = text
                .strip_prefix(r#"{"type":"function","function":{"#)
                .and_then(|text| text.strip_suffix("}}"))
                .unwrap_or_default();
            strictness(&format!(r#"{{"type":"function",{inner}}}"#), strict)
        }
        Provider::Anthropic => {
            let schema = def.schema(Dialect::Anthropic);
            let end = text
                .find(INPUT_SCHEMA)
                .map_or(0, |at| at + INPUT_SCHEMA.len() + schema.len());
            let (before, after) = text.split_at(end);
            format!("{before}{}", loosened(after, r#","strict":true"#, strict))
        }
        Provider::Gemini => text.to_owned(),
        Provider::Bedrock => {
            let name = Value::from(def.wire_name());
            let description = Value::from(described(def));
            let schema = def.schema(Dialect::Anthropic);
            format!(
                r#"{{"toolSpec":{{"name":{name},"description":{description},"inputSchema":{{"json":{schema}}},"strict":{strict}}}}}"#
            )
        }
    }
}

/// The text between description and schema. Quotes inside of a JSON string are escaped, so a name or a description cannot contain this text.
const INPUT_SCHEMA: &str = r#"","input_schema":"#;

fn strictness(text: &str, strict: bool) -> String {
    loosened(text, r#"","strict":true,"parameters":"#, strict)
}

/// Returns the text with `true` changed to `false` in the first occurrence of `mark`, unless the tool is strict.
fn loosened(text: &str, mark: &str, strict: bool) -> String {
    if strict {
        return text.to_owned();
    }
    text.replacen(mark, &mark.replace("true", "false"), 1)
}

/// Returns the description followed by the examples, for an API without a field for examples.
fn described(def: &ToolDef) -> String {
    let mut text = def.description().to_owned();
    for (at, example) in def.examples().iter().enumerate() {
        text.push_str(if at == 0 { "\n\nExamples:\n- " } else { "\n- " });
        if let Some(label) = &example.label {
            let _ = write!(text, "{}: ", label.unescape());
        }
        text.push_str(example.input.text);
        if let Some(result) = &example.result {
            let _ = write!(text, " → {}", result.text);
        }
    }
    text
}
