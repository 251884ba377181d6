//! Checks of example results against the output schema.

use crate::args::{self, Repair};
use crate::schema::dynamic;
use crate::tool::ToolDef;

/// Returns a text for each example result that does not match the output schema. If the output type derives `StrictSchema`, the compiler has checked
/// this already. A type that has only `JsonSchema` is checked here. Without a schema that this crate can read, nothing is checked.
pub(crate) fn result_faults(def: &ToolDef) -> Vec<String> {
    if def
        .examples()
        .iter()
        .all(|example| example.result.is_none())
    {
        return Vec::new();
    }
    let Some(Ok(schema)) = def.output_schema().map(|text| dynamic::read_text(&text)) else {
        return Vec::new();
    };
    let results = def.examples().iter().filter_map(|example| example.result);
    results
        .filter_map(|result| {
            let issues = args::admit(schema.schema(), result.text, Repair::Off).err()?;
            let why: Vec<String> = issues
                .iter()
                .map(|issue| {
                    format!(
                        "`{}`: expected {}, found {}",
                        issue.pointer, issue.expected, issue.found
                    )
                })
                .collect();
            Some(format!(
                "the result {} of an example does not match the output schema: {}",
                result.text,
                why.join("; ")
            ))
        })
        .collect()
}
