//! Validation of a stored tool against the rules of the providers.

use std::sync::Arc;

use serde_json::Value;
use tool_rules::Rule;
use tool_schema::__private0::judged;

use super::{StoredTools, ToolFault};
use crate::args::Issue;
use crate::schema::dialect::Dialect;
use crate::schema::dynamic::{self, SchemaFault};
use crate::store::{ResolvedTool, ToolSchema};
use crate::tool::{ToolDef, wire_of};

impl ToolFault {
    fn new(pointer: impl Into<String>, text: impl Into<String>) -> Self {
        let (pointer, text) = (pointer.into(), text.into());
        Self { pointer, text }
    }

    fn of_schema(place: &str, fault: &SchemaFault) -> Self {
        let SchemaFault {
            rule,
            pointer,
            text,
            ..
        } = fault;
        Self::new(format!("{place}{pointer}"), format!("[{rule}] {text}"))
    }

    fn of_example(issue: &Issue) -> Self {
        let Issue {
            pointer,
            expected,
            found,
        } = issue;
        Self::new(
            pointer.as_str(),
            format!("expected {expected}, found {found}"),
        )
    }
}

/// Returns the faults of an argument schema. A fault that concerns several providers is returned once.
pub(super) fn input_faults(place: &str, schema: &ToolSchema) -> Vec<ToolFault> {
    let mut faults: Vec<ToolFault> = Vec::new();
    let mut add = |found: &[SchemaFault]| {
        for fault in found {
            let fault = ToolFault::of_schema(place, fault);
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    };
    match dynamic::read_text(schema.text()) {
        Err(found) => add(&found),
        Ok(schema) => {
            for (_, text) in judged(schema, Dialect::ALL.into_iter()) {
                if let Err(found) = text {
                    add(&found);
                }
            }
        }
    }
    faults
}

/// Returns the faults that prevent outputs from being validated against a schema.
pub(super) fn output_faults(place: &str, schema: &ToolSchema) -> Vec<ToolFault> {
    let found = match serde_json::from_str::<Value>(schema.text()) {
        Ok(value) => dynamic::read_output(&value).err().unwrap_or_default(),
        Err(error) => return vec![ToolFault::new(place, format!("not JSON: {error}"))],
    };
    let fault = |fault| ToolFault::of_schema(place, fault);
    found.iter().map(fault).collect()
}

impl StoredTools {
    /// Validates and builds a tool, or returns its faults.
    pub(super) fn build(&self, found: &ResolvedTool) -> Result<ToolDef, Vec<ToolFault>> {
        let mut faults = Vec::new();
        if wire_of(&found.tool.name).is_none() {
            faults.push(ToolFault::new("/name", Rule::DYNAMIC_TOOL_NAME.message));
        }
        if let Some(text) = &found.tool.description
            && text.trim().is_empty()
        {
            let text = Rule::DYNAMIC_DESCRIPTION_MISSING.message;
            faults.push(ToolFault::new("/description", text));
        }
        match (found.input_schema(), found.output_schema()) {
            (Some(input), Some(output)) => {
                faults.extend(input_faults("/input_schema", input));
                faults.extend(output_faults("/output_schema", output));
            }
            _ => faults.push(ToolFault::new(
                "/function",
                "the function has no version that the tool can run: publish a version or pin one",
            )),
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let tool = self.unchecked(found);
        let tool = tool.map_err(|why| vec![ToolFault::new("/function", why)])?;
        // The schemas are valid, so these faults concern other parts, such as the name of a secret.
        let def = tool.into_unproven_def().map_err(|texts| {
            let faults = texts.into_iter().map(|text| ToolFault::new("", text));
            faults.collect::<Vec<_>>()
        })?;
        let issues = def.example_issues();
        if !issues.is_empty() {
            return Err(issues.iter().map(ToolFault::of_example).collect());
        }
        Ok(ToolDef::dynamic(Arc::new(def)))
    }
}
