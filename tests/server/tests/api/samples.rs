//! Sample requests, generated from the OpenAPI document.

use serde_json::{Map, Value, json};
use server_tests::Sample;

/// Returns the schema that a reference of the document points to, or the schema itself.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).unwrap(),
        None => schema,
    }
}

/// Returns valid bodies of an operation: one for each combination of the values of required enum properties. Empty if the operation has no body.
pub(crate) fn bodies(document: &Value, operation: &Value) -> Vec<Value> {
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    if schema.is_null() {
        return Vec::new();
    }
    let schema = resolved(document, schema);
    let mut bodies = vec![Map::new()];
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map_or_else(Vec::new, |names| {
            names.iter().map(|name| name.as_str().unwrap()).collect()
        });
    for (name, property) in schema["properties"].as_object().unwrap() {
        if !required.contains(&name.as_str()) {
            continue;
        }
        let values = values(document, property);
        bodies = bodies
            .iter()
            .flat_map(|body| {
                values.iter().map(|value| {
                    let mut body = body.clone();
                    body.insert(name.clone(), value.clone());
                    body
                })
            })
            .collect();
    }
    bodies.into_iter().map(Value::Object).collect()
}

fn values(document: &Value, schema: &Value) -> Vec<Value> {
    let schema = resolved(document, schema);
    if let Some(values) = schema["enum"].as_array() {
        return values.clone();
    }
    if let Some(one) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        return values(document, &one[0]);
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds[0].as_str(),
        kind => kind.as_str(),
    };
    vec![match kind {
        Some("string") => json!("x"),
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(1),
        Some("array") => json!([]),
        _ => json!({}),
    }]
}

/// Returns the value of a path or query parameter that names a record of the workspace; `None` for a parameter that does not name a record. A new
/// parameter requires a line here.
pub(crate) fn value(name: &str, of: &Sample) -> Option<String> {
    Some(match name {
        "id" => of.approval.clone(),
        "key" => of.effect.clone(),
        "conversation" => of.conversation.clone(),
        "tool" | "name" => of.tool.clone(),
        "principal" | "user" | "owner" => of.principal.clone(),
        "instance" => of.instance.clone(),
        "skill" => of.skill.clone(),
        "request" => of.request.clone(),
        "memory" => of.memory.clone(),
        "file" => of.file.clone(),
        "task" => of.task.clone(),
        // Keys belong to the host and not to a workspace.
        "secret_key" => server_tests::KEY.to_owned(),
        "decision" => of.decision.clone(),
        "agent" => of.agent.clone(),
        "function" => of.function.clone(),
        "version" => of.version.clone(),
        "stored_tool" => of.stored_tool.clone(),
        "assignee" | "call" => format!("{name}-of-{}", of.workspace),
        "number" => "1".to_owned(),
        "kind" => "disable".to_owned(),
        "limit"
        | "cursor"
        | "state"
        | "status"
        | "on"
        | "enabled"
        | "level"
        | "reach"
        | "outcome"
        | "failed"
        | "since"
        | "until"
        | "category"
        | "include_deleted"
        | "source"
        | "target"
        | "part"
        | "requires_confirmation"
        | "shared"
        | "text" => return None,
        other => panic!("the parameter `{other}` has no sample, add it to `samples::value`"),
    })
}

/// Returns the path of an operation with the records of a workspace.
pub(crate) fn path(template: &str, operation: &Value, of: &Sample) -> String {
    let mut path = template.to_owned();
    for parameter in parameters(operation, "path") {
        // In the path of a decision, `id` is the id of the decision; in other paths, it is the id of an approval.
        let value = match (template.contains("/decisions/"), parameter.as_str()) {
            (true, "id") => of.decision.clone(),
            (_, name) => value(name, of)
                .unwrap_or_else(|| panic!("`{name}` is in a path, so it names a record")),
        };
        path = path.replace(&format!("{{{parameter}}}"), &value);
    }
    path
}

/// Returns the names of the parameters of an operation in a part of the request.
pub(crate) fn parameters(operation: &Value, part: &str) -> Vec<String> {
    let all = operation["parameters"].as_array().unwrap();
    let of_part = all.iter().filter(|parameter| parameter["in"] == part);
    of_part
        .map(|parameter| parameter["name"].as_str().unwrap().to_owned())
        .collect()
}
