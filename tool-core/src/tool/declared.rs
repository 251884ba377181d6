//! The variables that tools declare.

use super::ToolDef;
use crate::context::variables::{Declarations, VariableClash};

impl Declarations {
    /// Adds the variables that tools declare, for example the tools of a toolset ([`Toolset::tools`](crate::Toolset::tools)).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`add`](Self::add).
    pub fn tools<'a>(
        &mut self,
        tools: impl IntoIterator<Item = &'a ToolDef>,
    ) -> Result<(), VariableClash> {
        let tools = tools.into_iter();
        let tools = tools.filter(|tool| !tool.variables().is_empty());
        self.add_all(tools.map(|tool| (format!("tool `{}`", tool.name()), tool.variables())))
    }
}
