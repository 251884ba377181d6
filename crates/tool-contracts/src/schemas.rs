//! The schemas of all contracts.

use tool_core::StrictSchema;
use tool_core::schema::Schema;

use crate::ToolContract;

/// The schemas of one contract.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ContractSchema {
    /// The name of the tool.
    pub name: &'static str,
    /// The schema of the arguments.
    pub input: &'static Schema,
    /// The schema of the result; `None` if the result can contain any JSON, which a strict schema cannot describe.
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
