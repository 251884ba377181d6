//! The schemas of all contracts.

use std::fmt;

use serde_json::{Map, Value};
use tool_core::schema::Schema;
use tool_core::schema::dialect::{Dialect, output_schema_text, schema_text};
use tool_core::{StrictSchema, ToolDef};

use crate::ToolContract;

/// The schemas of one contract.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ContractSchema {
    /// The name of the tool.
    pub name: &'static str,
    /// The schema of the arguments.
    pub input: &'static Schema,
    /// The schema of the result; `None` if no strict schema describes the result, for example because it contains any JSON.
    pub output: Option<&'static Schema>,
}

impl ContractSchema {
    pub(crate) fn of<T: ToolContract<Input: StrictSchema, Output: StrictSchema>>() -> Self {
        Self {
            name: T::NAME,
            input: <T::Input as StrictSchema>::SCHEMA,
            output: Some(<T::Output as StrictSchema>::SCHEMA),
        }
    }

    pub(crate) fn open<T: ToolContract<Input: StrictSchema>>() -> Self {
        Self {
            name: T::NAME,
            input: <T::Input as StrictSchema>::SCHEMA,
            output: None,
        }
    }

    /// Compares a tool with the contract. A host can use this in a test of its own implementation of a tool.
    ///
    /// Descriptions, titles, examples and defaults may be different, and the tool may restrict a string to an enum. The result is not compared if the
    /// contract has no schema for it.
    ///
    /// ```
    /// use tool_core::prelude::*;
    ///
    /// /// Writes a greeting.
    /// #[tool]
    /// fn log_hello_world(
    ///     /// The text to write.
    ///     text: String,
    /// ) -> u32 {
    ///     u32::from(text.is_empty())
    /// }
    ///
    /// let registry = Registry::builder().tool::<log_hello_world>().build()?;
    /// let contracts = tool_contracts::schemas();
    /// let contract = contracts.iter().find(|contract| contract.name == "log_hello_world").unwrap();
    /// let error = contract.check(registry.get("log_hello_world").unwrap()).unwrap_err();
    /// assert!(error.to_string().starts_with("the arguments of `log_hello_world` at `/properties/"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the first difference.
    pub fn check(&self, tool: &ToolDef) -> Result<(), ContractMismatch> {
        // In the dialect of OpenAI, an argument with a default may be null, like an optional argument.
        let input = |schema| value(&schema_text(schema, Dialect::OpenAi));
        let found = |part, (pointer, contract, tool)| ContractMismatch {
            name: self.name,
            part,
            pointer,
            contract,
            tool,
        };
        if let Some(difference) = difference(&input(self.input), &input(tool.input()), "") {
            return Err(found("arguments", difference));
        }
        let Some(schema) = self.output else {
            return Ok(());
        };
        let output = tool.output_schema();
        let output = output.map_or(Value::Null, |schema| value(&schema));
        match difference(&value(&output_schema_text(schema)), &output, "") {
            Some(difference) => Err(found("result", difference)),
            None => Ok(()),
        }
    }
}

/// A difference between a tool and its contract.
#[derive(Clone, Debug, PartialEq)]
pub struct ContractMismatch {
    name: &'static str,
    part: &'static str,
    pointer: String,
    contract: Value,
    tool: Value,
}

impl fmt::Display for ContractMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            part,
            pointer,
            contract,
            tool,
        } = self;
        write!(
            f,
            "the {part} of `{name}` at `{pointer}`: the contract has {contract}, the tool has {tool}"
        )
    }
}

impl std::error::Error for ContractMismatch {}

/// Parses a schema, and removes what the comparison ignores.
fn value(text: &str) -> Value {
    let mut value = serde_json::from_str(text).unwrap_or_default();
    strip(&mut value);
    value
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for key in ["description", "title", "default", "examples", "$schema"] {
                // A key of `properties` is the name of a field, and its value is a schema.
                if !map.get(key).is_some_and(Value::is_object) {
                    map.remove(key);
                }
            }
            // A minimum of 0 allows the same values as no minimum.
            for key in ["minLength", "minItems"] {
                if map.get(key).and_then(Value::as_u64) == Some(0) {
                    map.remove(key);
                }
            }
            // The order of the required fields has no meaning.
            if let Some(Value::Array(required)) = map.get_mut("required") {
                required.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
            }
            map.values_mut().for_each(strip);
        }
        Value::Array(list) => list.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Returns the JSON pointer of the first difference, and both values.
fn difference(contract: &Value, tool: &Value, at: &str) -> Option<(String, Value, Value)> {
    let differ = || Some((at.to_owned(), contract.clone(), tool.clone()));
    match (contract, tool) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let narrowed = is_string(ours) && theirs.contains_key("enum");
            let added = |key: &&String| !(ours.contains_key(*key) || narrowed && *key == "enum");
            if let Some(key) = theirs.keys().find(added) {
                let both = (Value::Null, theirs[key].clone());
                return Some((format!("{at}/{key}"), both.0, both.1));
            }
            ours.iter().find_map(|(key, value)| {
                let other = theirs.get(key).unwrap_or(&Value::Null);
                difference(value, other, &format!("{at}/{key}"))
            })
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            let mut pairs = ours.iter().zip(theirs).enumerate();
            pairs.find_map(|(at_item, (one, other))| {
                difference(one, other, &format!("{at}/{at_item}"))
            })
        }
        _ if contract == tool => None,
        _ => differ(),
    }
}

fn is_string(schema: &Map<String, Value>) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("string") && !schema.contains_key("enum")
}

/// Returns the schemas of all contracts, in the order of [`NAMES`](crate::NAMES).
///
/// ```
/// use tool_core::schema::dialect::{Dialect, schema_text};
///
/// let all = tool_contracts::schemas();
/// let find = all.iter().find(|contract| contract.name == "find_files").unwrap();
/// assert!(schema_text(find.input, Dialect::Mcp).contains(r#""pattern""#));
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "schema")))]
pub fn schemas() -> Vec<ContractSchema> {
    crate::all()
}
