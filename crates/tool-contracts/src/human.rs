//! The tools with which a model talks to people.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `ask_user`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct AskUser {
    /// The questions, each with a different id.
    #[cfg_attr(feature = "schema", schema(min_items = 1, max_items = 5))]
    pub questions: Vec<UserQuestion>,
}

impl ToolContract for AskUser {
    const NAME: &'static str = "ask_user";
    type Input = Self;
    type Output = UserAnswers;
}

/// One question to the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct UserQuestion {
    /// The id of the question, to which the answer refers.
    #[cfg_attr(feature = "schema", schema(length = 1..=64))]
    pub id: String,
    /// The question, as the user reads it.
    #[cfg_attr(feature = "schema", schema(length = 1..=1000))]
    pub question: String,
    /// The options to choose from; empty for a question that is answered with a text.
    #[cfg_attr(feature = "schema", schema(max_items = 6))]
    pub options: Vec<QuestionOption>,
    /// Whether the user may choose several options.
    pub multi_select: bool,
    /// Whether the user may write a text instead of or besides an option.
    pub allow_free_text: bool,
}

/// One option of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct QuestionOption {
    /// The label of the option, which is also its id in the answer.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub label: String,
    /// An explanation of the option.
    #[cfg_attr(feature = "schema", schema(length = 0..=1000))]
    pub description: Option<String>,
}

/// The result of `ask_user`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct UserAnswers {
    /// Whether the user has answered.
    pub status: AnswerState,
    /// The answers; empty while the user has not answered.
    pub answers: Vec<UserAnswer>,
}

/// Whether the user has answered the questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerState {
    /// The user has answered.
    Answered,
    /// The turn ends, and the answers follow in a later message.
    Deferred,
}

/// The answer to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct UserAnswer {
    /// The id of the question.
    pub id: String,
    /// The labels of the options that the user chose.
    pub selected: Vec<String>,
    /// The text that the user wrote.
    pub text: Option<String>,
}
