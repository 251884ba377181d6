//! Checks of a server's texts for hidden characters and excessive length.

use std::fmt::Display;

use rmcp::model::{JsonObject, Tool};
use serde_json::Value;
use tool_core::hidden;
use tool_core::schema::dynamic::SchemaFault;
use tool_core::schema::rules::Rule;

use super::check::{MOST_BYTES, refused};

/// Maximum length of a tool's description, and of each text in its schemas, in bytes.
pub const MOST_TEXT: usize = 16 << 10;

/// Maximum length of a tool's name or title, in bytes.
const MOST_NAME: usize = 256;

/// Maximum number of places with hidden characters, and of places with long texts, that are reported for one tool.
const MOST_FAULTS: usize = 16;

/// Maximum number of characters that are reported for one place.
const MOST_CHARACTERS: usize = 4;

/// Maximum length of a name or pointer that is shown, in bytes.
const SHOWN: usize = 200;

/// Faults of a tool's texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Texts with hidden characters.
    pub(crate) hidden: Vec<SchemaFault>,
    /// Texts that exceed their maximum length.
    pub(crate) long: Vec<SchemaFault>,
}

/// Escapes and cuts a short text of a server, such as a name or pointer, for people.
pub(crate) fn shown(text: &str) -> String {
    hidden::show(text, SHOWN).into_owned()
}

/// Escapes and cuts the texts of a fault, which may come from a server, for people.
pub(crate) fn shown_fault(fault: &SchemaFault) -> SchemaFault {
    SchemaFault {
        pointer: shown(&fault.pointer),
        text: hidden::show(&fault.text, 1000).into_owned(),
        rule: fault.rule,
        targets: fault.targets,
    }
}

/// Checks the name, the titles, the description and the schemas of a tool.
pub(crate) fn look(tool: &Tool) -> Found {
    let mut looker = TextChecker::default();
    looker.text("/name", &tool.name, MOST_NAME);
    let annotations = tool.annotations.as_ref();
    let titles = [
        ("/title", tool.title.as_deref()),
        (
            "/annotations/title",
            annotations.and_then(|annotations| annotations.title.as_deref()),
        ),
    ];
    for (place, title) in titles {
        looker.text(place, title.unwrap_or_default(), MOST_NAME);
    }
    looker.text(
        "/description",
        tool.description.as_deref().unwrap_or_default(),
        MOST_TEXT,
    );
    let schemas = [
        ("/inputSchema", Some(&*tool.input_schema)),
        ("/outputSchema", tool.output_schema.as_deref()),
    ];
    for (place, schema) in schemas {
        looker.schema(place, schema);
    }
    looker.found
}

#[derive(Default)]
struct TextChecker {
    found: Found,
}

impl TextChecker {
    fn text(&mut self, place: &str, text: &str, most: usize) {
        if text.len() > most {
            push(
                &mut self.found.long,
                &Rule::MCP_TEXT_LENGTH,
                place,
                &[&text.len(), &most],
            );
        }
        let mut characters = hidden::find(text).map(|(_, c)| format!("U+{:04X}", u32::from(c)));
        let mut listed: Vec<String> = characters.by_ref().take(MOST_CHARACTERS).collect();
        if listed.is_empty() {
            return;
        }
        let more = characters.count();
        if more > 0 {
            listed.push(format!("{more} more"));
        }
        push(
            &mut self.found.hidden,
            &Rule::MCP_HIDDEN_TEXT,
            place,
            &[&listed.join(", ")],
        );
    }

    fn schema(&mut self, place: &str, schema: Option<&JsonObject>) {
        let Some(schema) = schema else {
            return;
        };
        let bytes = serde_json::to_string(schema).map_or(usize::MAX, |text| text.len());
        if bytes > MOST_BYTES {
            push(
                &mut self.found.long,
                &Rule::MCP_TEXT_LENGTH,
                place,
                &[&bytes, &MOST_BYTES],
            );
        }
        self.entries(&mut place.to_owned(), schema);
    }

    fn entries(&mut self, place: &mut String, entries: &JsonObject) {
        for (key, value) in entries {
            self.text(place, key, MOST_TEXT);
            self.below(place, key, value);
        }
    }

    fn below(&mut self, place: &mut String, step: &str, value: &Value) {
        let length = place.len();
        place.push('/');
        place.push_str(&step.replace('~', "~0").replace('/', "~1"));
        match value {
            Value::String(text) => self.text(place, text, MOST_TEXT),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.below(place, &at.to_string(), item);
                }
            }
            Value::Object(entries) => self.entries(place, entries),
            _ => {}
        }
        place.truncate(length);
    }
}

fn push(faults: &mut Vec<SchemaFault>, rule: &Rule, place: &str, facts: &[&dyn Display]) {
    if faults.len() < MOST_FAULTS {
        faults.push(refused(rule, shown(place), facts));
    }
}

/// Removes hidden characters from descriptive texts, and cuts texts that are too long. Names and allowed values are not changed, because the output
/// of a model is compared with these values.
pub(crate) fn clean(tool: &mut Tool) {
    if let Some(title) = &mut tool.title {
        clean_text(title, MOST_NAME);
    }
    if let Some(title) = tool
        .annotations
        .as_mut()
        .and_then(|annotations| annotations.title.as_mut())
    {
        clean_text(title, MOST_NAME);
    }
    if let Some(description) = &mut tool.description {
        let mut text = description.to_string();
        clean_text(&mut text, MOST_TEXT);
        *description = text.into();
    }
    let mut input = Value::Object((*tool.input_schema).clone());
    clean_schema(&mut input);
    if let Value::Object(input) = input {
        tool.input_schema = input.into();
    }
    if let Some(output) = &tool.output_schema {
        let mut output = Value::Object((**output).clone());
        clean_schema(&mut output);
        if let Value::Object(output) = output {
            tool.output_schema = Some(output.into());
        }
    }
}

fn clean_text(text: &mut String, most: usize) {
    const END: &str = " […]";
    if hidden::is_found(text) {
        *text = hidden::remove(text).into_owned();
    }
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most - END.len()));
        text.push_str(END);
    }
}

fn clean_schema(schema: &mut Value) {
    match schema {
        Value::Object(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value) {
                    ("description" | "title" | "$comment", Value::String(text)) => {
                        clean_text(text, MOST_TEXT);
                    }
                    ("default" | "examples", value) => clean_data(value),
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions"
                        | "dependentSchemas",
                        Value::Object(named),
                    ) => named.values_mut().for_each(clean_schema),
                    ("enum" | "const" | "required", _) => {}
                    (_, value) => clean_schema(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean_schema),
        _ => {}
    }
}

/// Cleans values that are only displayed, such as defaults and examples.
fn clean_data(value: &mut Value) {
    match value {
        Value::String(text) => clean_text(text, MOST_TEXT),
        Value::Array(items) => items.iter_mut().for_each(clean_data),
        Value::Object(entries) => entries.values_mut().for_each(clean_data),
        _ => {}
    }
}

/// Returns the value with its hidden characters written as `\u{…}`, for a model.
pub(crate) fn escaped(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(hidden::escape(text)),
        Value::Array(items) => items.iter().map(escaped).collect(),
        Value::Object(entries) => {
            let entries = entries.iter();
            Value::Object(
                entries
                    .map(|(key, value)| (hidden::escape(key).into_owned(), escaped(value)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(value: Value) -> Tool {
        serde_json::from_value(value).unwrap()
    }

    const TAG: &str = "\u{e0041}";

    // Hidden characters are found in names, titles, descriptions and schemas.
    #[test]
    fn hidden_characters_are_found_in_every_text() {
        let plain = || {
            json!({
                "name": "a", "title": "t", "description": "d", "annotations": {"title": "t"},
                "inputSchema": {"type": "object", "title": "t", "properties": {"p": {
                    "description": "d", "enum": ["x"], "default": "x", "examples": ["x"], "title": "t", "const": {"k": "x"},
                }}, "required": ["p"]},
                "outputSchema": {"type": "object", "properties": {"p": {"description": "d"}}},
            })
        };
        assert!(look(&tool(plain())).hidden.is_empty());
        for (place, only_describes) in [
            ("/name", false),
            ("/title", true),
            ("/description", true),
            ("/annotations/title", true),
            ("/inputSchema/title", true),
            ("/inputSchema/properties/p/description", true),
            ("/inputSchema/properties/p/title", true),
            ("/inputSchema/properties/p/default", true),
            ("/inputSchema/properties/p/examples/0", true),
            ("/inputSchema/properties/p/enum/0", false),
            ("/inputSchema/properties/p/const/k", false),
            ("/inputSchema/required/0", false),
            ("/outputSchema/properties/p/description", true),
        ] {
            let mut hidden = plain();
            *hidden.pointer_mut(place).unwrap() =
                json!(format!("x{TAG}\u{200b}\u{202e}\u{1b}[1m\u{feff}y"));
            let mut hidden = tool(hidden);
            let found = look(&hidden);
            assert_eq!(found.hidden.len(), 1, "{place}");
            let told = found.hidden[0].to_string();
            assert_eq!(
                told,
                format!(
                    "`{place}`: [hidden-text] the text contains characters that are not displayed: U+E0041, U+200B, U+202E, U+001B, 1 more"
                )
            );
            clean(&mut hidden);
            assert_eq!(look(&hidden).hidden.is_empty(), only_describes, "{place}");
        }
        let mut key = plain();
        key["inputSchema"]["properties"][format!("q{TAG}")] = json!({});
        let mut key = tool(key);
        clean(&mut key);
        assert_eq!(look(&key).hidden[0].pointer, "/inputSchema/properties");
    }

    // A description of 120 kB is found to be too long, and cut.
    #[test]
    fn long_texts_are_found_and_cut() {
        for (place, most) in [
            ("/description", MOST_TEXT),
            ("/title", MOST_NAME),
            ("/inputSchema/properties/p/description", MOST_TEXT),
        ] {
            let mut long = json!({
                "name": "a", "title": "t", "description": "d",
                "inputSchema": {"type": "object", "properties": {"p": {"description": "d"}}},
            });
            *long.pointer_mut(place).unwrap() = json!("ö".repeat(most / 2));
            assert!(look(&tool(long.clone())).long.is_empty(), "{place}");
            *long.pointer_mut(place).unwrap() = json!("ö".repeat(60_000));
            let mut long = tool(long);
            assert_eq!(look(&long).long[0].pointer, place);
            clean(&mut long);
            assert!(look(&long).long.is_empty(), "{place}");
        }
        let many: serde_json::Map<String, Value> = (0..40)
            .map(|at| (format!("p{at}"), json!({"description": "x".repeat(10_000)})))
            .collect();
        let long =
            tool(json!({"name": "a", "inputSchema": {"type": "object", "properties": many}}));
        assert_eq!(look(&long).long[0].pointer, "/inputSchema");
    }
}
