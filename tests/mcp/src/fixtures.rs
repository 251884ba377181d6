//! Prompts, resources and tools exactly as the conformance suite expects them.

use rmcp::ErrorData;
use rmcp::model::{
    ContentBlock, ImageContent, JsonObject, Prompt, PromptArgument, PromptMessage,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, Tool,
};
use serde_json::{Value, json};

use crate::tools::IMAGE;

/// Converts a JSON object to a schema. Any other value becomes an empty schema.
fn schema(value: Value) -> JsonObject {
    match value {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

/// Returns a tool without arguments.
fn plain(name: &'static str, description: &'static str) -> Tool {
    Tool::new(
        name,
        description,
        schema(json!({ "type": "object", "properties": {} })),
    )
}

fn with_text(name: &'static str, description: &'static str, argument: &str) -> Tool {
    let argument = json!({ argument: { "type": "string" } });
    let required: Vec<&String> = argument
        .as_object()
        .into_iter()
        .flat_map(|object| object.keys())
        .collect();
    let of = json!({ "type": "object", "properties": argument, "required": required });
    Tool::new(name, description, schema(of))
}

pub(crate) fn custom_header() -> Tool {
    let value = json!({ "type": "string", "x-mcp-header": "Value" });
    let of = json!({ "type": "object", "properties": { "value": value }, "required": ["value"] });
    Tool::new(
        "test_custom_header",
        "Takes a parameter from a header",
        schema(of),
    )
}

/// Returns the tools that `#[tool]` cannot express: they send requests or logs to the client, or strict modes refuse their schemas.
pub(crate) fn tools() -> Vec<Tool> {
    let mut tools = vec![
        plain("test_tool_with_logging", "Writes logs for the client"),
        with_text("test_sampling", "Asks the client's model", "prompt"),
        with_text("test_elicitation", "Asks the client's user", "message"),
        plain("test_elicitation_sep1034_defaults", "Asks with defaults"),
        plain("test_elicitation_sep1330_enums", "Asks with choices"),
        Tool::new(
            "json_schema_2020_12_tool",
            "Uses many keywords of JSON Schema",
            schema(schema_2020_12()),
        ),
        custom_header(),
        plain("test_missing_capability", "Needs sampling"),
        plain(
            "test_streaming_elicitation",
            "Needs an answer from the user",
        ),
        plain(
            "test_logging_tool",
            "Writes a log if the client requests it",
        ),
    ];
    tools.extend(crate::rounds::NAMES.map(|name| plain(name, "Needs answers from the client")));
    tools
}

fn schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": {
            "$anchor": "address",
            "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
        } },
        "properties": { "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" } },
        "allOf": [{ "anyOf": [{ "required": ["name"] }, { "required": ["address"] }] }],
        "if": { "required": ["address"] },
        "then": { "properties": { "address": { "required": ["street"] } } },
        "else": { "required": ["name"] },
        "additionalProperties": false
    })
}

/// Returns the elicitation form with default values.
pub(crate) fn defaults() -> Value {
    json!({ "type": "object", "properties": {
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true }
    } })
}

/// Returns the elicitation form with every kind of choice.
pub(crate) fn choices() -> Value {
    let titled = |word: &str| {
        let option = |value: &str, title: &str| json!({ "const": value, "title": format!("{title} {word}") });
        json!([
            option("value1", "First"),
            option("value2", "Second"),
            option("value3", "Third")
        ])
    };
    let options = json!(["option1", "option2", "option3"]);
    json!({ "type": "object", "properties": {
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } }
    } })
}

pub(crate) fn prompts() -> Vec<Prompt> {
    let argument = |name: &str, required| {
        PromptArgument::new(name)
            .with_description("An argument")
            .with_required(required)
    };
    let plain = |name: &str| Prompt::new(name, Some("A prompt of the suite"), None);
    vec![
        plain("test_simple_prompt"),
        Prompt::new(
            "test_prompt_with_arguments",
            Some("A prompt with arguments"),
            Some(vec![argument("arg1", true), argument("arg2", true)]),
        ),
        Prompt::new(
            "test_prompt_with_embedded_resource",
            Some("A prompt with a resource"),
            Some(vec![argument("resourceUri", true)]),
        ),
        plain("test_prompt_with_image"),
        plain("test_input_required_result_prompt"),
    ]
}

pub(crate) fn prompt(name: &str, arguments: &JsonObject) -> Option<Vec<PromptMessage>> {
    let text = |name: &str| {
        arguments
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let user = |content| PromptMessage::new(Role::User, content);
    Some(match name {
        "test_simple_prompt" => vec![user(ContentBlock::text(
            "This is a simple prompt for testing.",
        ))],
        "test_prompt_with_arguments" => {
            let (first, second) = (text("arg1"), text("arg2"));
            let text = format!("Prompt with arguments: arg1='{first}', arg2='{second}'");
            vec![user(ContentBlock::text(text))]
        }
        "test_prompt_with_embedded_resource" => vec![
            user(ContentBlock::resource(ResourceContents::text(
                "Embedded resource content for testing.",
                text("resourceUri"),
            ))),
            user(ContentBlock::text(
                "Please process the embedded resource above.",
            )),
        ],
        "test_prompt_with_image" => vec![
            user(ContentBlock::Image(ImageContent::new(IMAGE, "image/png"))),
            user(ContentBlock::text("Please analyze the image above.")),
        ],
        _ => return None,
    })
}

pub(crate) fn resources() -> Vec<Resource> {
    vec![
        Resource::new("test://static-text", "Static Text Resource").with_mime_type("text/plain"),
        Resource::new("test://static-binary", "Static Binary Resource").with_mime_type("image/png"),
    ]
}

pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("test://template/{id}/data", "Dynamic Resource")
            .with_mime_type("application/json"),
    ]
}

pub(crate) fn resource(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let id = uri
        .strip_prefix("test://template/")
        .and_then(|rest| rest.strip_suffix("/data"));
    let contents = match (uri, id) {
        ("test://static-text", _) => {
            ResourceContents::text("This is the content of the static text resource.", uri)
        }
        ("test://static-binary", _) => {
            ResourceContents::blob(IMAGE, uri).with_mime_type("image/png")
        }
        (_, Some(id)) => {
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
        }
        _ => {
            let data = Some(json!({ "uri": uri }));
            return Err(ErrorData::resource_not_found(
                format!("there is no resource {uri}"),
                data,
            ));
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}
