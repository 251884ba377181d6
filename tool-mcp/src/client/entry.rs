//! A tool as it was read, and what was found out about it once.

use std::sync::{Arc, OnceLock};

use rmcp::model::{JsonObject, Tool};
use serde_json::Value;
use tool_core::schema::dynamic::Fault;

use super::check::Checked;
use super::text::{self, Found};

type Compiled = Result<Arc<Checked>, Fault>;

/// One tool of a list.
#[derive(Debug)]
pub(crate) struct Entry {
    /// As models and people are shown it.
    pub(crate) tool: Tool,
    /// Why it may not be shown.
    pub(crate) found: Found,
    /// What was taken out of its texts, as the host wants it.
    pub(crate) cleaned: Vec<Fault>,
    input: OnceLock<Compiled>,
    output: OnceLock<Compiled>,
}

impl Entry {
    /// Looks at a tool, whose texts are cleaned where the host wants that.
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

    /// What arguments are held to where a model is not.
    pub(crate) fn input(&self) -> &Compiled {
        self.input.get_or_init(|| compile(&self.tool.input_schema))
    }

    /// What outputs are held to, where the server says.
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
