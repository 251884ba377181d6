//! How a command ends.

use std::process::ExitCode;

/// The exit codes of every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything is as it should be.
    Ok,
    /// The tool failed, or a check found something.
    Failed,
    /// The command was used wrongly: a flag, a name, a file that cannot be read.
    Usage,
    /// The call was not allowed: hidden, denied, or nobody approved it.
    Refused,
    /// Ctrl-C.
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

    /// The code as a word, for machines.
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

/// Why a command could not do its work, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) text: String,
    /// What to do instead.
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

/// Output that nobody reads any more (`… | head`) is no failure.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::of(Exit::Ok, String::new());
        }
        Self::of(Exit::Failed, format!("input or output failed: {error}"))
    }
}
