//! Errors with two texts: one for the model and one for the operator.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt::{self, Write as _};
use std::time::Duration;

use crate::args::Issue;
use crate::need::VariableNeed;
use crate::redact::{Redact, Redactor};

mod shown;
mod unknown_tool;

pub use shown::{SHOWN_ERRORS, ShownError};
pub(crate) use unknown_tool::{renamed_tool, unknown_tool};

/// Why a call has no output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No tool of this name is visible.
    UnknownTool,
    /// The arguments do not match the schema.
    InvalidArguments,
    /// The call is not allowed, for example by a policy.
    Denied,
    /// The call waits for a person: for an approval, or for variables. With a [wait](ToolError::retry_after), it waits for a time.
    Pending,
    /// The tool itself failed.
    Failed,
    /// The deadline of the call passed.
    TimedOut,
    /// The turn or the call was cancelled, or the caller dropped the call.
    Cancelled,
    /// The body of the tool panicked.
    Panicked,
    /// A limit was exceeded: a limit of the host, for example on calls or on open approvals, or the limit of a service that the tool calls.
    RateLimited,
    /// The result of the call is unknown, for example because the process ended while the call ran. The call may have had an effect.
    Interrupted,
    /// The tool lacks something that the host has to supply, or the call could not be made, for example because a store failed or the host is
    /// shutting down.
    Unavailable,
}

impl ErrorKind {
    /// Returns the kind with this name, and [`Failed`](Self::Failed) for an unknown name, which a different version may have written.
    #[cfg(feature = "host")]
    pub(crate) fn from_word(word: &str) -> Self {
        [
            Self::UnknownTool,
            Self::InvalidArguments,
            Self::Denied,
            Self::Pending,
            Self::TimedOut,
            Self::Cancelled,
            Self::Panicked,
            Self::RateLimited,
            Self::Interrupted,
            Self::Unavailable,
        ]
        .into_iter()
        .find(|kind| kind.as_str() == word)
        .unwrap_or(Self::Failed)
    }

    /// Returns the name of the kind, for stores and telemetry.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::InvalidArguments => "invalid_arguments",
            Self::Denied => "denied",
            Self::Pending => "pending",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Panicked => "panicked",
            Self::RateLimited => "rate_limited",
            Self::Interrupted => "interrupted",
            Self::Unavailable => "unavailable",
        }
    }
}

/// The error of a call, with one text for the model and one for the operator.
///
/// The model reads only [`model_text`](ToolError::model_text). `?` on a foreign error keeps that error for the operator
/// and gives the model a general sentence with an audit id, because texts of foreign errors may contain paths, queries and keys. To show
/// more, call [`ToolError::new`], [`ToolError::shown`] or [`ToolError::expose`], or mark your own errors with
/// [`derive(ToolError)`](derive@crate::ToolError).
///
/// ```
/// use tool_core::{ErrorKind, ToolError};
///
/// fn read() -> Result<String, ToolError> {
///     Ok(std::fs::read_to_string("/nowhere/at/all")?)
/// }
/// let error = read().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Failed);
/// assert!(!error.model_text().contains("No such file"));
/// assert!(error.operator_text().contains("No such file"));
/// assert!(error.expose().model_text().contains("No such file"));
///
/// let own = ToolError::new("the index is being rebuilt, try again in a minute");
/// assert_eq!(own.model_text(), "the index is being rebuilt, try again in a minute");
/// ```
///
/// `ToolError` does not implement [`std::error::Error`], so that `?` can convert every type that implements it.
#[doc(alias("isError", "is_error", "ModelRetry", "tool error"))]
pub struct ToolError(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    model: ModelText,
    operator: Option<String>,
    source: Option<Box<dyn StdError + Send + Sync + 'static>>,
    issues: Vec<Issue>,
    variables: Vec<VariableNeed>,
    audit_id: u64,
    retry_after: Option<Duration>,
}

/// The text that the model reads.
enum ModelText {
    /// A text written for the model.
    Own(Cow<'static, str>),
    /// A general sentence with the audit id.
    General,
    /// The text of the foreign error, with its causes.
    Source,
    /// One sentence per issue.
    Issues,
}

impl ToolError {
    /// Creates an error for an expected failure, with a text for the model.
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self::of(ErrorKind::Failed, text)
    }

    /// Creates an error of a kind, with a text for the model.
    pub fn of(kind: ErrorKind, text: impl Into<Cow<'static, str>>) -> Self {
        Self::with_face(kind, ModelText::Own(text.into()))
    }

    /// Creates an error from a foreign error whose text the model may read.
    pub fn shown(error: impl Into<Box<dyn StdError + Send + Sync + 'static>>) -> Self {
        Self::foreign(error).expose()
    }

    /// Creates an error from a foreign error whose text the model must not read; `?` does this for every [`std::error::Error`]. In your own
    /// error types, [`derive(ToolError)`](derive@crate::ToolError) marks the errors that the model may read.
    ///
    /// This also accepts types that do not implement `Error`, such as `anyhow::Error` and `Box<dyn Error + Send + Sync>`.
    pub fn foreign(error: impl Into<Box<dyn StdError + Send + Sync + 'static>>) -> Self {
        let error = error.into();
        let face = match shown::text(&*error) {
            Some(text) => ModelText::Own(text.into()),
            None => ModelText::General,
        };
        let mut this = Self::with_face(ErrorKind::Failed, face);
        this.0.source = Some(error);
        this
    }

    /// Creates an error for a missing value or service that the host has to supply. The model reads that the tool is not available, and the operator reads the
    /// name of the missing item.
    pub fn unavailable(what: impl fmt::Display) -> Self {
        let mut this = Self::of(
            ErrorKind::Unavailable,
            "the tool is not available here: the host has not set it up",
        );
        this.0.operator = Some(format!("{what} is absent"));
        this
    }

    /// Creates an error for arguments that do not match the schema.
    pub fn invalid_arguments(issues: Vec<Issue>) -> Self {
        let mut this = Self::with_face(ErrorKind::InvalidArguments, ModelText::Issues);
        this.0.issues = issues;
        this
    }

    /// Creates an error for required variables without a value. The call waits until the user has supplied them.
    ///
    /// ```
    /// use tool_core::{ErrorKind, ToolError, VariableNeed};
    ///
    /// let error = ToolError::variables_required(vec![VariableNeed::new("REGION")]);
    /// assert_eq!(error.kind(), ErrorKind::Pending);
    /// assert_eq!(error.missing_variables()[0].name, "REGION");
    /// assert!(error.model_text().starts_with("variables_required: `REGION`"));
    /// ```
    pub fn variables_required(missing: Vec<VariableNeed>) -> Self {
        let mut text = String::from("variables_required: ");
        for (i, need) in missing.iter().enumerate() {
            let _ = write!(text, "{}`{}`", if i == 0 { "" } else { ", " }, need.name);
            if let Some(description) = &need.description {
                let _ = write!(text, " ({})", description.trim_end_matches('.'));
            }
        }
        text.push_str(match missing.len() {
            1 => " has no value, the call can be made when the user has supplied it",
            _ => " have no value, the call can be made when the user has supplied them",
        });
        let mut this = Self::of(ErrorKind::Pending, text);
        this.0.variables = missing;
        this
    }

    fn with_face(kind: ErrorKind, model: ModelText) -> Self {
        let audit_id = if matches!(model, ModelText::General) {
            audit::next()
        } else {
            0
        };
        Self(Box::new(Inner {
            kind,
            model,
            operator: None,
            source: None,
            issues: Vec::new(),
            variables: Vec::new(),
            audit_id,
            retry_after: None,
        }))
    }

    /// Adds a text that only the operator reads.
    #[must_use]
    pub fn operator(mut self, text: impl Into<String>) -> Self {
        self.0.operator = Some(text.into());
        self
    }

    /// Sets the time after which a retry may work.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// Lets the model read the text of the foreign error, with its causes.
    #[must_use]
    pub fn expose(mut self) -> Self {
        if self.0.source.is_some() {
            self.0.model = ModelText::Source;
        }
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the problems with the arguments; empty for errors that [`invalid_arguments`](Self::invalid_arguments) did not create.
    pub fn issues(&self) -> &[Issue] {
        &self.0.issues
    }

    /// Returns the variables that the user has to supply before the call can run; empty for other errors.
    pub fn missing_variables(&self) -> &[VariableNeed] {
        &self.0.variables
    }

    /// Returns the time after which a retry may work.
    pub fn wait(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns the wait of an error that suspends a run: the call or the model waits for a time, and not for a person.
    #[cfg(feature = "host")]
    pub(crate) fn suspends(&self) -> Option<Duration> {
        let waits = self.kind() == ErrorKind::Pending && self.missing_variables().is_empty();
        self.wait().filter(|_| waits)
    }

    /// Returns the id under which the operator finds the cause. Only an error that was created with a general sentence for the model has an id.
    pub fn audit_id(&self) -> Option<String> {
        (self.0.audit_id != 0).then(|| format!("{:016x}", self.0.audit_id))
    }

    /// Returns the text that the model reads.
    pub fn model_text(&self) -> String {
        let inner = &*self.0;
        let mut text = match &inner.model {
            ModelText::Issues => issues_text(&inner.issues),
            ModelText::Own(text) => text.to_string(),
            ModelText::Source => inner.source.as_deref().map_or_else(String::new, chain),
            ModelText::General => format!(
                "the tool failed; details are in the host's log under audit id {:016x}",
                inner.audit_id
            ),
        };
        if let Some(wait) = inner.retry_after {
            let _ = write!(text, " (try again after {} s)", wait.as_secs().max(1));
        }
        text
    }

    /// Returns the text that the operator reads, with all details.
    pub fn operator_text(&self) -> String {
        let inner = &*self.0;
        let source = inner.source.as_deref().map(chain);
        let mut text = match &inner.model {
            // The foreign error's text begins with the text for the model, so it is not repeated.
            ModelText::Own(own) if source.as_ref().is_some_and(|all| all.starts_with(&**own)) => {
                String::new()
            }
            ModelText::Own(_) | ModelText::Issues => self.model_text(),
            ModelText::General | ModelText::Source => String::new(),
        };
        for part in [inner.operator.clone(), source].into_iter().flatten() {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&part);
        }
        if let Some(id) = self.audit_id() {
            let _ = write!(text, " (audit id {id})");
        }
        text
    }

    /// Returns the foreign error that this error was created from, if any.
    pub fn source(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.0.source.as_deref()
    }
}

/// Writes one sentence per problem.
fn issues_text(issues: &[Issue]) -> String {
    let mut text = String::from("the arguments do not fit the schema: ");
    for (i, issue) in issues.iter().enumerate() {
        text.push_str(if i == 0 { "" } else { "; " });
        let Issue {
            pointer,
            expected,
            found,
        } = issue;
        if !pointer.is_empty() {
            let _ = write!(text, "`{pointer}`: ");
        }
        let _ = write!(text, "expected {expected}, found {found}");
    }
    text
}

/// Writes an error with its causes, as anyhow prints them.
fn chain(error: &(dyn StdError + Send + Sync + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Many errors repeat their cause at the end of their own text.
        if !text.ends_with(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}

/// An error that `?` converts into a [`ToolError`]. The trait exists so that rustc reports any other type once, with a hint for the fix.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`?` cannot convert `{Self}` into a `ToolError`",
    label = "this error does not implement `std::error::Error + Send + Sync`: write `.map_err(ToolError::foreign)` before the `?`, or, if it is not `Send`, `.map_err(|error| ToolError::foreign(error.to_string()))`"
)]
pub trait IntoToolError: StdError + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<E: StdError + Send + Sync + 'static> IntoToolError for E {}

impl<E: IntoToolError> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::foreign(error)
    }
}

/// Prints the text for the model, so that an error that is formatted into a message exposes no private text.
impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.model_text())
    }
}

/// Prints the kind and the text for the operator.
impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("kind", &self.0.kind)
            .field("text", &self.operator_text())
            .finish_non_exhaustive()
    }
}

impl Redactor {
    /// Redacts the secrets in both texts of an error. The foreign error is kept unless it contains a secret.
    pub fn error(&self, error: ToolError) -> ToolError {
        self.clean(error).into_inner()
    }
}

impl Redact for ToolError {
    /// Redacts secrets in both texts. The foreign error is kept if neither its `Display` nor its `Debug` text contains a secret.
    fn masked(mut self, redactor: &Redactor) -> Self {
        // Each field is named, so that the compiler reports a new field that is not handled.
        let Inner {
            kind: _,
            model,
            operator,
            source,
            issues,
            variables,
            audit_id: _,
            retry_after: _,
        } = &mut *self.0;
        if let ModelText::Own(text) = model {
            redactor.replace_cow(text);
        }
        if let Some(text) = operator {
            redactor.replace(text);
        }
        *issues = std::mem::take(issues).masked(redactor);
        *variables = std::mem::take(variables).masked(redactor);
        if let Some(foreign) = source.as_deref() {
            let text = chain(foreign);
            // The `Debug` text may have parts that the `Display` text does not have.
            let debug = format!("{foreign:?}");
            if let Cow::Owned(masked) = redactor.redact(&text) {
                *source = Some(masked.into());
            } else if matches!(redactor.redact(&debug), Cow::Owned(_)) {
                *source = Some(text.into());
            }
        }
        self
    }
}

mod audit {
    //! Audit ids that differ between errors and between processes. They are identifiers, not secrets.

    use std::sync::atomic::AtomicU64;

    use crate::env;

    static COUNT: AtomicU64 = AtomicU64::new(0);

    pub(super) fn next() -> u64 {
        env::unique(&COUNT).max(1)
    }
}
