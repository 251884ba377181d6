//! The reasons why a document cannot be indexed.

use std::fmt;

use tool_core::store::DocumentRow;

/// Why a document cannot be indexed. Stores contain the [code](Self::code).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DocumentFault {
    /// `UNSUPPORTED_TYPE`: no text can be extracted from this MIME type, or the program lacks the feature for it.
    UnsupportedType,
    /// `NOT_TEXT`: the MIME type is a text, and the content is not UTF-8.
    NotText,
    /// `CRASH_LIMIT`: the processes that indexed the document died.
    CrashLimit,
}

impl DocumentFault {
    /// Every fault.
    pub const ALL: &'static [Self] = &[Self::UnsupportedType, Self::NotText, Self::CrashLimit];

    /// Returns the code, such as `NOT_TEXT`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::UnsupportedType => "UNSUPPORTED_TYPE",
            Self::NotText => "NOT_TEXT",
            Self::CrashLimit => DocumentRow::CRASH_LIMIT,
        }
    }

    /// Returns the fault with this code; `None` for an unknown code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.code() == code)
    }

    const fn explanation(self) -> &'static str {
        match self {
            Self::UnsupportedType => {
                "this type of document cannot be searched, write its text as Markdown"
            }
            Self::NotText => "the document is not UTF-8 text, write it in UTF-8",
            Self::CrashLimit => {
                "the document ended the process that indexed it several times, write it in smaller parts"
            }
        }
    }
}

impl fmt::Display for DocumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.explanation())
    }
}

/// Returns the text for a stored fault.
pub(super) fn explained(code: &str) -> String {
    DocumentFault::from_code(code).map_or_else(|| code.to_owned(), |fault| fault.to_string())
}
