//! Validation of task outputs against the JSON Schemas that a model wrote for its plan.
//!
//! Without references such as `$ref`, the validator visits each value at most once for each part of the schema, so the length of the schema limits
//! the work. `tool_core::schema::dynamic` is not used: it stores each schema until the process ends, and models write a new one for each plan.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use tool_core::store::PlanIssue;

/// Maximum length of a schema, in bytes of its JSON.
const MOST_BYTES: usize = 16 * 1024;

/// Maximum depth of a schema.
const DEEPEST: usize = 32;

/// Maximum depth of an output.
const DEEPEST_OUTPUT: usize = 64;

/// Memory limit of a pattern's automaton, in bytes.
const PATTERN_BYTES: usize = 1 << 18;

/// Maximum number of issues that are returned for one output.
const MOST_ISSUES: usize = 16;

/// Maximum length of the text of an issue, in characters.
const MOST_TEXT: usize = 300;

/// Checks that a value is a schema that [`issues`] can use.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    let bytes = schema.to_string().len();
    if bytes > MOST_BYTES {
        return Err(format!(
            "it has {bytes} bytes, and at most {MOST_BYTES} are allowed"
        ));
    }
    if depth(schema) > DEEPEST {
        return Err(format!("it has more than {DEEPEST} levels"));
    }
    if has_reference(schema) {
        return Err(
            "it has a `$ref`, `$dynamicRef` or `$recursiveRef`: write the definition in its place"
                .to_owned(),
        );
    }
    compile(schema).map(drop)
}

/// Returns the faults of an output under a schema.
pub(super) fn issues(schema: &Value, output: &Value) -> Vec<PlanIssue> {
    let place = "/structured_output";
    if depth(output) > DEEPEST_OUTPUT {
        let message =
            format!("the output has more than {DEEPEST_OUTPUT} levels: write it with fewer");
        return vec![PlanIssue::blocking(place, message)];
    }
    let validator = match compile(schema) {
        Ok(validator) => validator,
        Err(why) => {
            return vec![PlanIssue::blocking(
                place,
                format!("the schema of the node cannot be used: {why}"),
            )];
        }
    };
    let errors = validator.iter_errors(output).take(MOST_ISSUES);
    let issues = errors.map(|error| {
        let at = format!("{place}{}", error.instance_path());
        PlanIssue::blocking(
            at,
            cut(&format!(
                "{error}; change the value so that it fits the schema"
            )),
        )
    });
    issues.collect()
}

fn compile(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::regex()
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    let options = jsonschema::options().with_pattern_options(patterns);
    options
        .build(schema)
        .map_err(|error| cut(&error.to_string()))
}

fn cut(text: &str) -> String {
    text.chars().take(MOST_TEXT).collect()
}

fn depth(value: &Value) -> usize {
    let below = match value {
        Value::Object(entries) => entries.values().map(depth).max(),
        Value::Array(items) => items.iter().map(depth).max(),
        _ => None,
    };
    1 + below.unwrap_or(0)
}

fn has_reference(value: &Value) -> bool {
    const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
    match value {
        Value::Object(entries) => entries.iter().any(|(key, value)| {
            REFERENCES.contains(&key.as_str()) && value.is_string() || has_reference(value)
        }),
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}
