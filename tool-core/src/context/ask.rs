//! Questions that a running tool asks its user (elicitation).

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::ToolContext;
use crate::args::{self, Repair};
use crate::error::{ErrorKind, ToolError};
use crate::schema::StrictSchema;
use crate::schema::dialect::{Dialect, schema_text};

/// A question of a running tool to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The text that the user reads.
    pub message: String,
    /// JSON Schema of the answer, which is one object.
    pub schema: String,
}

impl Question {
    /// Creates a question whose answer is an object of this JSON Schema.
    pub fn new(message: impl Into<String>, schema: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            schema: schema.into(),
        }
    }
}

/// The user's answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// The user filled in the form.
    Given(T),
    /// The user does not want to answer.
    Declined,
    /// The user closed the form without a choice.
    Dismissed,
}

impl<T> Answer<T> {
    /// Returns the form, if the user filled it in.
    pub fn given(self) -> Option<T> {
        match self {
            Self::Given(form) => Some(form),
            Self::Declined | Self::Dismissed => None,
        }
    }
}

/// Sends a question to the user and returns the answer. Hosts implement this trait, for example with a chat or an MCP client.
#[doc(alias("elicitation", "ask the user"))]
pub trait Asker: Send + Sync + 'static {
    /// Asks the question and waits for the answer as JSON text. The caller validates the answer against the question's schema.
    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer<Box<RawValue>>, ToolError>>;
}

/// The asker of a context, as a host value.
#[derive(Clone)]
struct Asking(Arc<dyn Asker>);

impl ToolContext {
    /// Returns the same context with an asker: questions of tools are sent to the user with `asker`.
    #[must_use]
    pub fn with_asker(&self, asker: Arc<dyn Asker>) -> Self {
        self.with_service(Asking(asker))
    }

    /// Returns the same context, but its user cannot be asked: a tool that asks a question gets the error `Unavailable`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use futures::future::BoxFuture;
    /// use serde_json::value::RawValue;
    /// use tool_core::{Answer, Asker, Question, ToolContext, ToolError};
    ///
    /// struct AlwaysDeclines;
    /// impl Asker for AlwaysDeclines {
    ///     fn ask(&self, _: Question) -> BoxFuture<'_, Result<Answer<Box<RawValue>>, ToolError>> {
    ///         Box::pin(async { Ok(Answer::Declined) })
    ///     }
    /// }
    /// let cx = ToolContext::anonymous().with_asker(Arc::new(AlwaysDeclines));
    /// assert!(cx.can_ask());
    /// assert!(!cx.without_asker().can_ask());
    /// ```
    #[must_use]
    pub fn without_asker(&self) -> Self {
        self.without_service::<Asking>()
    }

    /// Returns whether the user on whose behalf the tool runs can be asked.
    pub fn can_ask(&self) -> bool {
        self.service::<Asking>().is_some()
    }

    /// Asks the user on whose behalf the tool runs, and waits for the answer.
    ///
    /// `T` is a flat form: an object of texts, numbers, booleans and choices. Secrets of the turn are redacted in the message.
    ///
    /// A run that waits for an answer may be dropped in the meantime, like any run. Some hosts then run the body of a read-only or
    /// idempotent tool again and pass it the answers that the user gave before, so a tool should ask before it has an effect.
    ///
    /// # Errors
    ///
    /// Fails with `Unavailable` if the user cannot be asked, with the error of the [`Asker`] if it fails, and with `InvalidArguments` if the answer
    /// does not match the form.
    ///
    /// ```
    /// use tool_core::prelude::*;
    ///
    /// /// The place of a table.
    /// #[derive(Deserialize, StrictSchema)]
    /// struct Place {
    ///     /// The city.
    ///     city: String,
    /// }
    ///
    /// /// Books a table.
    /// #[tool(idempotent)]
    /// async fn book(cx: &ToolContext) -> Result<String, ToolError> {
    ///     match cx.ask::<Place>("In which city?").await?.given() {
    ///         Some(place) => Ok(format!("booked in {}", place.city)),
    ///         None => Ok("nothing was booked".to_owned()),
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), tool_core::RegistryError> {
    /// let tools = Registry::builder().tool::<book>().build()?.open();
    /// let result = tools.call(ToolCall::new("1", "book", "{}"), &ToolContext::anonymous()).await;
    /// assert_eq!(result.error().map(ToolError::kind), Some(tool_core::ErrorKind::Unavailable));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ask<T: StrictSchema + DeserializeOwned>(
        &self,
        message: impl Into<String>,
    ) -> Result<Answer<T>, ToolError> {
        let Some(Asking(asker)) = self.service() else {
            return Err(ToolError::of(
                ErrorKind::Unavailable,
                "the tool asks the user a question, and no user can be asked here",
            )
            .operator("the context has no asker, or the client cannot ask its user"));
        };
        let message = self.redactor().redact(&message.into()).into_owned();
        let question = Question::new(message, schema_text(T::SCHEMA, Dialect::Mcp));
        let answer = match asker.ask(question).await? {
            Answer::Given(answer) => answer,
            Answer::Declined => return Ok(Answer::Declined),
            Answer::Dismissed => return Ok(Answer::Dismissed),
        };
        let misfit = |error: ToolError| {
            let why = error.model_text();
            ToolError::of(
                ErrorKind::InvalidArguments,
                why.replacen(
                    "the arguments do not fit the schema",
                    "the answer does not fit the form",
                    1,
                ),
            )
        };
        let admitted = super::check(T::SCHEMA, answer.get(), Repair::Safe, self).map_err(misfit)?;
        match args::read::by_serde::<T>(&admitted.text) {
            Ok(form) => Ok(Answer::Given(form.value)),
            Err(unread) => Err(misfit(ToolError::invalid_arguments(unread.issues))),
        }
    }
}
