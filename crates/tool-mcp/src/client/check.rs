//! Validation of values against a server's own JSON Schema.
//!
//! Neither the schema nor the values are trusted, so limits apply to the references of a schema (only to parts of the same schema), to its depth and
//! length, and to the number of steps that a validation takes ([`graph`]).

mod graph;
mod read;
mod words;

use std::fmt;

use jsonschema::{PatternOptions, Retrieve, Uri, Validator};
use serde_json::Value;
use tool_core::schema::dynamic::{SchemaFault, Targets};
use tool_core::schema::rules::Rule;
use tool_core::{Issue, SchemaCheck};

use graph::Graph;

/// Maximum length of a schema that is compiled, in bytes of its JSON.
pub(crate) const MOST_BYTES: usize = 256 << 10;

/// Maximum nesting depth of schemas.
const DEEPEST: usize = 64;

/// Maximum number of issues that are reported for one value.
const MOST_ISSUES: usize = 32;

/// Maximum number of steps that the validation of one value may take.
const MOST_STEPS: u64 = 4_000_000;

/// Stack size of the thread that recurses into a schema; only the pages that are used are allocated.
const STACK: usize = 64 << 20;

/// Maximum product of a value's depth and [`Graph::depth`] for a validation on the caller's stack.
const SHALLOW: usize = 200;

/// Memory limit of each automaton of a pattern, in bytes.
const PATTERN_BYTES: usize = 1 << 20;

/// A compiled schema, with the graph that bounds the steps of a validation.
pub(crate) struct Checked {
    validator: Validator,
    graph: Graph,
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked").finish_non_exhaustive()
    }
}

/// A retriever that refuses to load external schemas.
struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("`{uri}` is not in the schema, and nothing is fetched").into())
    }
}

/// Returns a fault with the rule's text, in which the facts replace the placeholders.
pub(crate) fn refused(rule: &Rule, pointer: String, facts: &[&dyn fmt::Display]) -> SchemaFault {
    SchemaFault {
        rule: rule.id,
        pointer,
        text: rule.text_with(facts).to_string(),
        targets: Targets::ALL,
    }
}

impl Checked {
    /// Compiles a schema, or returns the reason why values cannot be validated against it.
    pub(crate) fn compile(schema: &Value) -> Result<Self, SchemaFault> {
        let bytes = schema.to_string().len();
        if bytes > MOST_BYTES {
            return Err(refused(
                &Rule::MCP_BYTES,
                String::new(),
                &[&bytes, &MOST_BYTES],
            ));
        }
        let graph = Graph::of(schema)?;
        let options = jsonschema::options()
            .with_retriever(Nothing)
            // Each server defines the meaning of a format, so a check here could refuse values that the server accepts.
            .should_validate_formats(false)
            .with_pattern_options(
                PatternOptions::regex()
                    .size_limit(PATTERN_BYTES)
                    .dfa_size_limit(PATTERN_BYTES),
            );
        let built = deeply(|| {
            options.build(schema).map_err(|error| {
                let pointer = error.instance_path().to_string();
                let why = words::cut(&error.to_string(), 300);
                refused(&Rule::MCP_SCHEMA, pointer, &[&why])
            })
        });
        let validator = built.unwrap_or_else(|| {
            Err(refused(
                &Rule::MCP_SCHEMA,
                String::new(),
                &[&"it could not be compiled"],
            ))
        })?;
        Ok(Self { validator, graph })
    }
}

/// Runs recursive work on a stack that is large enough for every schema that [`Graph`]
/// admits. Returns `None` if no thread can be started, or if the work panics.
fn deeply<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("schema".to_owned())
            .stack_size(STACK);
        thread.spawn_scoped(scope, work).ok()?.join().ok()
    })
}

fn depth(value: &Value) -> usize {
    let below = match value {
        Value::Object(entries) => entries.values().map(depth).max(),
        Value::Array(items) => items.iter().map(depth).max(),
        _ => None,
    };
    1 + below.unwrap_or(0)
}

impl Checked {
    fn errors(&self, value: &Value) -> Vec<Issue> {
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        let mut issues = Vec::new();
        for error in self.validator.iter_errors(value) {
            words::tell(&error, &mut issues, 0);
            if issues.len() >= MOST_ISSUES {
                issues.truncate(MOST_ISSUES);
                break;
            }
        }
        issues
    }
}

impl SchemaCheck for Checked {
    fn issues(&self, value: &Value) -> Vec<Issue> {
        if !self.graph.ends(value, MOST_STEPS) {
            return vec![Issue {
                pointer: String::new(),
                expected: "a smaller or less deeply nested value".to_owned(),
                found: "a value that takes too long to check".to_owned(),
            }];
        }
        if depth(value) * self.graph.depth() <= SHALLOW {
            return self.errors(value);
        }
        deeply(|| self.errors(value)).unwrap_or_else(|| {
            vec![Issue {
                pointer: String::new(),
                expected: "a less deeply nested value".to_owned(),
                found: "a deeply nested value that could not be validated".to_owned(),
            }]
        })
    }
}

#[cfg(test)]
mod tests;
