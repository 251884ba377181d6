//! Access to the variables of a turn.

use super::ToolContext;
use super::secrets::is_short;
use super::variables::Value;
use crate::error::{ErrorKind, ToolError};
use crate::need::{VariableKind, VariableNeed};

impl ToolContext {
    /// Returns a variable; `None` if it has no value, or if the running tool does not declare it.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.value_of(name).map(Value::expose)
    }

    fn value_of(&self, name: &str) -> Option<&Value> {
        let declared = self
            .scope()
            .is_none_or(|scope| scope.tool.variables().iter().any(|need| need.name == name));
        declared.then(|| self.host().variables.get(name)).flatten()
    }

    /// Returns a variable as a value that `Debug` does not print.
    ///
    /// The value is fixed at the beginning of the turn.
    ///
    /// # Errors
    ///
    /// Fails with `Pending` if the variable has no value, so that the user can supply one, and with `Denied` if the tool does not declare the name.
    ///
    /// ```
    /// use tool_core::ToolContext;
    ///
    /// let cx = ToolContext::builder().variable("REGION", "eu").build();
    /// let region = cx.env("REGION").unwrap();
    /// assert_eq!((region.expose(), &*format!("{region:?}")), ("eu", "Text(…)"));
    /// assert_eq!(cx.env("ZONE").unwrap_err().missing_variables()[0].name, "ZONE");
    /// ```
    pub fn env(&self, name: &str) -> Result<&Value, ToolError> {
        if let Some(value) = self.value_of(name) {
            return Ok(value);
        }
        let need = match self.scope() {
            None => VariableNeed {
                name: name.to_owned().into(),
                ..VariableNeed::new("")
            },
            Some(scope) => {
                let mut needs = scope.tool.variables().iter();
                let need = needs.find(|need| need.name == name);
                need.cloned().ok_or_else(|| {
                    ToolError::of(
                        ErrorKind::Denied,
                        "the tool asked for a value that it does not declare",
                    )
                    .operator(format!(
                        "`{}` asked for the variable `{name}`, which it does not declare",
                        scope.tool.name()
                    ))
                })?
            }
        };
        Err(ToolError::variables_required(vec![need]))
    }

    /// Returns the required variables of a tool that have no value.
    pub(crate) fn missing_variables(&self, needs: &[VariableNeed]) -> Vec<VariableNeed> {
        let required = needs.iter().filter(|need| need.required);
        required
            .filter(|need| !self.host().variables.contains_key(&*need.name))
            .cloned()
            .collect()
    }

    /// Returns the name of the first secret variable of a tool that cannot be redacted, and the reason.
    pub(crate) fn open_variable<'a>(
        &self,
        needs: &'a [VariableNeed],
    ) -> Option<(&'a str, &'static str)> {
        needs.iter().find_map(|need| {
            let why = match (self.host().variables.get(&*need.name)?, need.kind) {
                (Value::Text(_), VariableKind::Secret) => {
                    "is declared secret: pass it to `ToolContextBuilder::secret_variable`"
                }
                (Value::Secret(secret), _) if is_short(secret) => {
                    "is secret and has fewer than 6 bytes: use a longer one, which can be redacted"
                }
                _ => return None,
            };
            Some((&*need.name, why))
        })
    }
}
