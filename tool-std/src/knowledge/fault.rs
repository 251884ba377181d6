//! The reasons why a document cannot be indexed.

use std::fmt;

use tool_core::store::DocumentRow;

/// Why a document cannot be indexed. Stores contain the [code](Self::code).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DocumentFault {
    /// `UNSUPPORTED_TYPE`: the program cannot extract text from this MIME type, for example because it lacks the feature for this type.
    UnsupportedType,
    /// `NOT_TEXT`: the MIME type is a text, and the content is not UTF-8.
    NotText,
    /// `HTML_TOO_COMPLEX`: the HTML has too many elements, its elements are nested too deeply, or its conversion takes too long or fails.
    HtmlTooComplex,
    /// `PDF_ENCRYPTED`: the PDF is encrypted and cannot be decrypted, for example because this needs a password.
    PdfEncrypted,
    /// `PDF_SCANNED`: the PDF contains no text, for example because its pages are images.
    PdfScanned,
    /// `PDF_DAMAGED`: the file cannot be read as a PDF, for example because it is damaged, or because the process that reads it crashes.
    /// A process that the host or a signal such as SIGTERM ends is started again later.
    PdfDamaged,
    /// `PDF_TOO_MUCH_MEMORY`: reading the PDF took more memory than allowed, for example because its streams decompress to a multiple of their size.
    /// A process that ends with SIGKILL without a request of the host counts as well, because the kernel ends it so if the system has no memory left.
    PdfMemory,
    /// `PDF_TIMEOUT`: reading the PDF took longer than allowed.
    PdfTimeout,
    /// `TEXT_TOO_LARGE`: the text of the PDF is longer than a document may be.
    TextTooLarge,
    /// `CRASH_LIMIT`: the leases of the document expired too often, probably because its content crashes the processes that index it.
    CrashLimit,
}

impl DocumentFault {
    /// All faults, in the order of the variants.
    pub const ALL: &'static [Self] = &[
        Self::UnsupportedType,
        Self::NotText,
        Self::HtmlTooComplex,
        Self::PdfEncrypted,
        Self::PdfScanned,
        Self::PdfDamaged,
        Self::PdfMemory,
        Self::PdfTimeout,
        Self::TextTooLarge,
        Self::CrashLimit,
    ];

    /// Returns the code, such as `NOT_TEXT`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::UnsupportedType => "UNSUPPORTED_TYPE",
            Self::NotText => "NOT_TEXT",
            Self::HtmlTooComplex => "HTML_TOO_COMPLEX",
            Self::PdfEncrypted => "PDF_ENCRYPTED",
            Self::PdfScanned => "PDF_SCANNED",
            Self::PdfDamaged => "PDF_DAMAGED",
            Self::PdfMemory => "PDF_TOO_MUCH_MEMORY",
            Self::PdfTimeout => "PDF_TIMEOUT",
            Self::TextTooLarge => "TEXT_TOO_LARGE",
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
            Self::HtmlTooComplex => {
                "the HTML is too complex, write the text of the document as Markdown"
            }
            Self::PdfEncrypted => "the PDF is encrypted, upload a copy without a password",
            Self::PdfScanned => {
                "the PDF contains no text, for example because its pages are images: upload a PDF with text, or write its text as Markdown"
            }
            Self::PdfDamaged => "the file cannot be read as a PDF, export it again",
            Self::PdfMemory => "the PDF needs too much memory, upload it in smaller parts",
            Self::PdfTimeout => "the PDF takes too long to be read, upload it in smaller parts",
            Self::TextTooLarge => {
                "the text of the document is too long, upload it in smaller parts"
            }
            Self::CrashLimit => {
                "the process that indexed the document died several times, write the document in smaller parts"
            }
        }
    }
}

impl fmt::Display for DocumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.explanation())
    }
}

/// Returns the text for a stored code. An unknown code is returned unchanged.
pub(super) fn explained(code: &str) -> String {
    DocumentFault::from_code(code).map_or_else(|| code.to_owned(), |fault| fault.to_string())
}
