//! The results that examples promise, against the output's own schema.

use crate::args::{self, Repair};
use crate::schema::dynamic;
use crate::tool::ToolDef;

/// Example results that the output could not be, in words. Where the output type derives `StrictSchema` the compiler has asked
/// this already; a type that only knows `JsonSchema` is asked here. Nothing is told where there is no schema to ask.
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
                "the result {} of an example does not fit the output: {}",
                result.text,
                why.join("; ")
            ))
        })
        .collect()
}
