//! Tools with which an agent reaches people: questions to the user of a conversation.
//!
//! | tool | runs |
//! |---|---|
//! | [`ask_user`] | at the client: the turn waits for the user's answers |
//!
//! [`ask_user`] is a [client tool](tool_core::DynamicTool::client), so it is not linked: add it to the registry of a program whose client can show questions.
//!
//! The tools have no secrets. Texts of people are untrusted input: if a model acts on them, the policy of the host should limit the calls that the model can
//! make.

mod ask;

pub use ask::{
    AnswerError, AnswerState, QuestionOption, UserAnswer, UserAnswers, UserQuestion, UserQuestions,
    ask_user,
};
