//! The `ask_user` tool: structured questions, which the client shows to the user.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::schema::dialect::{output_schema_text, schema_text};
use tool_core::{ClientCheck, DynamicTool, ErrorKind};

/// Questions to the user: the arguments of [`ask_user`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct UserQuestions {
    /// The questions, which the user sees together.
    #[schema(min_items = 1, max_items = 5)]
    pub questions: Vec<UserQuestion>,
}

/// A question to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct UserQuestion {
    /// An id for the answer, such as `color`. Each question has its own id.
    #[schema(length = 1..=64)]
    pub id: String,
    /// The text of the question.
    #[schema(length = 1..=1000)]
    pub question: String,
    /// The options to choose from. An empty list asks for a text.
    #[schema(max_items = 6)]
    pub options: Vec<QuestionOption>,
    /// Whether the user may choose more than one option.
    pub multi_select: bool,
    /// Whether the user may write a text instead of or beside the options.
    pub allow_free_text: bool,
}

/// An option of a question. Answers name it by its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct QuestionOption {
    /// The short text of the option, which is also its id. Each option of a question has its own label.
    #[schema(length = 1..=200)]
    pub label: String,
    /// What the option means, if the label does not say it.
    #[schema(length = 0..=1000)]
    pub description: Option<String>,
}

/// The answers of the user: the output of [`ask_user`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct UserAnswers {
    /// Whether the user has answered.
    pub status: AnswerState,
    /// One answer for each question; empty while the user has not answered.
    pub answers: Vec<UserAnswer>,
}

/// Whether the user has answered the questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerState {
    /// The user has answered.
    Answered,
    /// The user replies later, with a message. The model should end its turn.
    Deferred,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct UserAnswer {
    /// The id of the question.
    pub id: String,
    /// The labels of the options that the user chose.
    pub selected: Vec<String>,
    /// The text that the user wrote.
    pub text: Option<String>,
}

/// Why questions or answers are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// Two questions or two answers have the same id, or two options of a question have the same label.
    #[error("the id `{0}` occurs twice: give each question, option and answer its own id")]
    Twice(String),
    /// An answer chooses one option twice.
    #[error("the answer to `{question}` chooses `{option}` twice: name each chosen option once")]
    ChosenTwice {
        /// The id of the question.
        question: String,
        /// The label of the option.
        option: String,
    },
    /// A question has no options and allows no text, so it cannot be answered.
    #[error(
        "the question `{0}` has no options and allows no text: add options, or set `allow_free_text`"
    )]
    Unanswerable(String),
    /// An answer is for a question that was not asked.
    #[error("the answer has the id `{0}`, which no question has: use the ids of the questions")]
    UnknownQuestion(String),
    /// An answer names an option that the question does not have.
    #[error("the question `{question}` has no option `{option}`: use the labels of its options")]
    UnknownOption {
        /// The id of the question.
        question: String,
        /// The option of the answer.
        option: String,
    },
    /// An answer chooses several options of a question that allows one.
    #[error("the question `{0}` allows one option: choose one")]
    TooManyOptions(String),
    /// An answer has a text, and the question allows none.
    #[error("the question `{0}` allows no text: choose an option")]
    TextNotAllowed(String),
    /// A question has no answer, or its answer has neither an option nor a text.
    #[error(
        "the question `{0}` has no answer: answer each question, or send the status `deferred` without answers"
    )]
    Unanswered(String),
    /// Answers were sent although the user replies later.
    #[error(
        "answers with the status `deferred` must be empty: remove the answers, or send the status `answered`"
    )]
    Deferred,
}

impl UserQuestions {
    /// Checks the conditions that a schema cannot express: ids of questions are unique, labels of options are unique within a question, and each
    /// question can be answered.
    pub fn check(&self) -> Result<(), AnswerError> {
        let mut ids = BTreeSet::new();
        for question in &self.questions {
            if !ids.insert(&question.id) {
                return Err(AnswerError::Twice(question.id.clone()));
            }
            if question.options.is_empty() && !question.allow_free_text {
                return Err(AnswerError::Unanswerable(question.id.clone()));
            }
            let mut labels = BTreeSet::new();
            let mut options = question.options.iter();
            if let Some(option) = options.find(|option| !labels.insert(&option.label)) {
                return Err(AnswerError::Twice(option.label.clone()));
            }
        }
        Ok(())
    }

    /// Checks answers against these questions. An interface that calls this before it supplies the answers can let the user correct them. Answers are
    /// checked again when they are supplied; if they do not match the questions, the model reads the error in place of the answers.
    ///
    /// ```
    /// use tool_std::human::{AnswerError, AnswerState, QuestionOption, UserAnswer, UserAnswers, UserQuestion, UserQuestions};
    ///
    /// let option = |label: &str| QuestionOption { label: label.into(), description: None };
    /// let question = UserQuestion {
    ///     id: "color".into(),
    ///     question: "Which color?".into(),
    ///     options: vec![option("red"), option("blue")],
    ///     multi_select: false,
    ///     allow_free_text: false,
    /// };
    /// let questions = UserQuestions { questions: vec![question] };
    /// let answer = |option: &str| UserAnswer { id: "color".into(), selected: vec![option.into()], text: None };
    /// let answers = |option| UserAnswers { status: AnswerState::Answered, answers: vec![answer(option)] };
    /// assert_eq!(questions.accept(&answers("red")), Ok(()));
    /// assert!(matches!(questions.accept(&answers("green")), Err(AnswerError::UnknownOption { .. })));
    /// ```
    pub fn accept(&self, given: &UserAnswers) -> Result<(), AnswerError> {
        if given.status == AnswerState::Deferred {
            return given
                .answers
                .is_empty()
                .then_some(())
                .ok_or(AnswerError::Deferred);
        }
        let mut answered = BTreeSet::new();
        for answer in &given.answers {
            let mut questions = self.questions.iter();
            let Some(question) = questions.find(|question| question.id == answer.id) else {
                return Err(AnswerError::UnknownQuestion(answer.id.clone()));
            };
            if !answered.insert(&answer.id) {
                return Err(AnswerError::Twice(answer.id.clone()));
            }
            question.accept(answer)?;
        }
        let mut questions = self.questions.iter();
        match questions.find(|question| !answered.contains(&question.id)) {
            Some(question) => Err(AnswerError::Unanswered(question.id.clone())),
            None => Ok(()),
        }
    }
}

impl UserQuestion {
    fn accept(&self, answer: &UserAnswer) -> Result<(), AnswerError> {
        let mut chosen = BTreeSet::new();
        for label in &answer.selected {
            if !self.options.iter().any(|option| option.label == *label) {
                return Err(AnswerError::UnknownOption {
                    question: self.id.clone(),
                    option: label.clone(),
                });
            }
            if !chosen.insert(label) {
                return Err(AnswerError::ChosenTwice {
                    question: self.id.clone(),
                    option: label.clone(),
                });
            }
        }
        if chosen.len() > 1 && !self.multi_select {
            return Err(AnswerError::TooManyOptions(self.id.clone()));
        }
        let text = answer.text.as_deref().map(str::trim);
        let has_text = text.is_some_and(|text| !text.is_empty());
        if has_text && !self.allow_free_text {
            return Err(AnswerError::TextNotAllowed(self.id.clone()));
        }
        if chosen.is_empty() && !has_text {
            return Err(AnswerError::Unanswered(self.id.clone()));
        }
        Ok(())
    }
}

/// Returns the tool `ask_user`, which asks the user 1 to 5 questions. Add it with [`RegistryBuilder::dynamic`](tool_core::RegistryBuilder::dynamic).
///
/// The client runs the tool: the turn ends with [`Outcome::Client`](tool_core::turn::Outcome::Client) and the arguments [`UserQuestions`]. The client shows the
/// questions and supplies [`UserAnswers`] with [`Turns::supply`](tool_core::turn::Turns::supply); the next call that drives the turn continues with
/// them. If the user replies later, the client supplies answers with the status `deferred`, and the model ends its turn.
///
/// Questions that cannot be answered, such as two with one id, do not reach the client: the model reads the error. Answers that do not match the
/// questions, such as an unknown option, are replaced by an error that the model reads.
///
/// ```
/// use serde_json::{json, value::to_raw_value};
/// use tool_core::store::MemoryStore;
/// use tool_core::turn::{ClientResult, ModelMessage, Turn, Turns};
/// use tool_core::{Registry, ToolCall, ToolContext};
/// use tool_std::human::{AnswerState, UserAnswers, ask_user};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Registry::builder().dynamic(ask_user()).build()?.open();
/// let turns = Turns::new(MemoryStore::default());
/// let cx = ToolContext::builder().workspace("acme").conversation("main").build();
///
/// let questions = json!({"questions": [{
///     "id": "name", "question": "What is your name?", "options": [], "multi_select": false, "allow_free_text": true
/// }]});
/// let call = ToolCall::new("call_0", "ask_user", questions.to_string());
/// let message = turns.record(ModelMessage::calls([call]), &cx).await?;
/// let Turn::Client(calls) = turns.run(&tools, &message, &cx).await? else { unreachable!() };
///
/// let later = UserAnswers { status: AnswerState::Deferred, answers: vec![] };
/// let result = ClientResult::output(&*calls[0].id, to_raw_value(&later)?);
/// let Turn::Complete(results) = turns.supply(&tools, [result], &cx).await? else { unreachable!() };
/// assert_eq!(results[0].text, r#"{"status":"deferred","answers":[]}"#);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn ask_user() -> DynamicTool {
    let input = schema_text(UserQuestions::SCHEMA, Dialect::JsonSchema);
    let output = serde_json::from_str(&output_schema_text(UserAnswers::SCHEMA));
    let description = "Asks the user questions and waits for the answers. Use it if you cannot continue without a decision of the user. Ask related \
        questions together. If the status is `deferred`, end your turn: the user replies later with a message.";
    DynamicTool::client("ask_user", description, input, &output.unwrap_or(Value::Bool(true)))
        .category("human")
        .read_only()
        .example(
            json!({"questions": [{
                "id": "format",
                "question": "In which format do you want the report?",
                "options": [{"label": "PDF", "description": null}, {"label": "HTML", "description": "A page for the browser"}],
                "multi_select": false,
                "allow_free_text": true
            }]}),
            Some(json!({"status": "answered", "answers": [{"id": "format", "selected": ["PDF"], "text": null}]})),
        )
        .client_check(FitsQuestions)
}

/// The check of the tool `ask_user`: it checks the questions before the client gets them, and the answers when the client supplies them.
struct FitsQuestions;

impl ClientCheck for FitsQuestions {
    fn check_arguments(&self, questions: &Value) -> Result<(), ToolError> {
        read::<UserQuestions>(questions)?
            .check()
            .map_err(|error| refused(&error))
    }

    fn check_result(&self, questions: &Value, answers: &Value) -> Result<(), ToolError> {
        let questions: UserQuestions = read(questions)?;
        let accepted = questions.accept(&read(answers)?);
        accepted.map_err(|error| refused(&error))
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, ToolError> {
    Ok(T::deserialize(value)?)
}

fn refused(error: &AnswerError) -> ToolError {
    ToolError::of(ErrorKind::InvalidArguments, error.to_string())
}
