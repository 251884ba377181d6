//! Tools of a server's list, with their checked texts and compiled schemas.

use std::sync::{Arc, OnceLock};

use rmcp::model::{JsonObject, Tool};
use serde_json::Value;
use tool_core::schema::dynamic::SchemaFault;

use super::check::Checked;
use super::text::{self, Found};

type Compiled = Result<Arc<Checked>, SchemaFault>;

/// One tool of a server's list.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The tool with the texts that models and people see.
    pub(crate) tool: Tool,
    /// Faults of the tool's texts. A tool with faults must not be shown.
    pub(crate) found: Found,
    /// The parts that were removed from the tool's texts, because the host allows that.
    pub(crate) cleaned: Vec<SchemaFault>,
    input: OnceLock<Compiled>,
    output: OnceLock<Compiled>,
}

impl Entry {
    /// Checks a tool's texts, and cleans them if the host allows that.
    pub(crate) fn new(tool: &Tool, clean: bool) -> Self {
        let mut tool = tool.clone();
        let mut found = text::look(&tool);
        let mut cleaned = Vec::new();
        if clean && !(found.hidden.is_empty() && found.long.is_empty()) {
            text::clean(&mut tool);
            let left = text::look(&tool);
            let before = std::mem::replace(&mut found, left);
            cleaned.extend(before.hidden);
            cleaned.extend(before.long);
            cleaned.retain(|fault| !found.hidden.contains(fault) && !found.long.contains(fault));
        }
        Self {
            tool,
            found,
            cleaned,
            input: OnceLock::new(),
            output: OnceLock::new(),
        }
    }

    /// Returns the compiled input schema, which validates arguments for providers without strict mode.
    pub(crate) fn input(&self) -> &Compiled {
        self.input.get_or_init(|| compile(&self.tool.input_schema))
    }

    /// Returns the compiled output schema, or `None` if the server declares no output schema.
    pub(crate) fn output(&self) -> Option<&Compiled> {
        let schema = self.tool.output_schema.as_deref()?;
        Some(self.output.get_or_init(|| compile(schema)))
    }
}

fn compile(schema: &JsonObject) -> Compiled {
    match Checked::compile(&Value::Object(schema.clone())) {
        Ok(checked) => Ok(Arc::new(checked)),
        Err(fault) => Err(text::shown_fault(&fault)),
    }
}
