//! The trait `ToolContract`, which connects the name, the arguments and the result of a tool.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The contract of a tool: its name and the types of its arguments and its result.
///
/// The type of the arguments implements the trait. Use [`NAME`](Self::NAME) instead of a literal, so that the code also works with a version of this
/// crate in which the tool has a new name.
///
/// ```
/// use tool_contracts::ToolContract;
/// use tool_contracts::team::{ConsultTeam, TeamAnswers};
///
/// /// Reads the result of a call of any tool.
/// fn read<T: ToolContract>(text: &str) -> serde_json::Result<T::Output> {
///     serde_json::from_str(text)
/// }
///
/// let answers: TeamAnswers = read::<ConsultTeam>(r#"{"responses":[]}"#)?;
/// assert!(answers.responses.is_empty());
/// assert_eq!(ConsultTeam::NAME, "consult_team");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub trait ToolContract {
    /// The name of the tool.
    const NAME: &'static str;
    /// The arguments of a call, which are a JSON object.
    type Input: Serialize + DeserializeOwned;
    /// The result of a call that succeeds.
    type Output: Serialize + DeserializeOwned;
}
