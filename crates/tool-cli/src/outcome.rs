//! Exit codes and failures of commands.

use std::process::ExitCode;

/// The exit codes of every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded, with code 0.
    Ok,
    /// The tool failed, a check reported a problem, or the command could not be completed.
    Failed,
    /// The command line is wrong, for example a flag, a name, an address, or a file that cannot be read.
    Usage,
    /// The call or the request was not allowed: the tool is hidden, the call was denied or not approved, or the access token does not permit the
    /// request.
    Refused,
    /// The user pressed Ctrl-C, or the call was cancelled.
    Interrupted,
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Interrupted => 130,
        }
    }

    /// Returns the name of the exit code in JSON output.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Refused => "refused",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The reason why a command failed, and a remedy.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) text: String,
    /// An action that may solve the problem.
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::of(Exit::Usage, text)
    }

    pub(crate) fn of(exit: Exit, text: impl Into<String>) -> Self {
        Self {
            exit,
            text: text.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A closed pipe (`… | head`) is not a failure.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::of(Exit::Ok, String::new());
        }
        Self::of(Exit::Failed, format!("input or output failed: {error}"))
    }
}
