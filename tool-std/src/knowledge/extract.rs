//! Text extraction from documents, by MIME type.

use tool_core::store::Document;

use super::fault::DocumentFault;
#[cfg(all(feature = "knowledge-pdf", unix))]
use super::pdf::PdfReader;

/// The MIME types of HTML documents.
#[cfg(feature = "knowledge-html")]
const HTML: &[&str] = &["text/html", "application/xhtml+xml"];

/// Maximum time to convert an HTML document.
#[cfg(feature = "knowledge-html")]
const HTML_TIME: std::time::Duration = std::time::Duration::from_secs(20);

/// The reason why no text was extracted.
#[derive(Debug)]
pub(super) enum NoText {
    /// The document cannot be indexed.
    Fault(DocumentFault),
    /// The host cannot read the document now, for this reason. The document itself is not faulty.
    #[cfg(all(feature = "knowledge-pdf", unix))]
    Host(String),
}

impl From<DocumentFault> for NoText {
    fn from(fault: DocumentFault) -> Self {
        Self::Fault(fault)
    }
}

/// Extracts the text of documents.
#[derive(Clone, Debug, Default)]
pub(super) struct Extractor {
    #[cfg(all(feature = "knowledge-pdf", unix))]
    pub(super) pdf: PdfReader,
}

impl Extractor {
    /// Returns the text of a document, or `None` if the content itself is the text.
    #[cfg_attr(
        not(any(feature = "knowledge-html", feature = "knowledge-pdf")),
        expect(clippy::unused_async, reason = "the readers of other types wait")
    )]
    pub(super) async fn text(&self, mime: &str, content: &[u8]) -> Result<Option<String>, NoText> {
        #[cfg(any(feature = "knowledge-html", feature = "knowledge-pdf"))]
        let essence = mime.split(';').next().unwrap_or_default();
        #[cfg(any(feature = "knowledge-html", feature = "knowledge-pdf"))]
        let essence = essence.trim().to_ascii_lowercase();
        #[cfg(feature = "knowledge-html")]
        if HTML.contains(&essence.as_str()) {
            return Ok(Some(html(mime, content.to_vec()).await?));
        }
        #[cfg(all(feature = "knowledge-pdf", unix))]
        if essence == "application/pdf" {
            return Ok(Some(self.pdf.text(content.to_vec()).await?));
        }
        if !Document::is_text(mime) {
            return Err(DocumentFault::UnsupportedType.into());
        }
        match str::from_utf8(content) {
            Ok(_) => Ok(None),
            Err(_) => Err(DocumentFault::NotText.into()),
        }
    }
}

/// Returns the text of an HTML document as Markdown.
#[cfg(feature = "knowledge-html")]
async fn html(mime: &str, content: Vec<u8>) -> Result<String, DocumentFault> {
    use std::time::Instant;

    use crate::charset::{charset, decode};
    use crate::html::{apart, document};

    let parameters = mime.to_ascii_lowercase();
    let stated = parameters.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        (name.trim() == "charset").then(|| value.trim().trim_matches('"').to_owned())
    });
    let deadline = Instant::now() + HTML_TIME;
    let work = apart(move || {
        let text = decode(&content, stated.as_deref(), charset(&content));
        document(&text, deadline)
    });
    match tokio::time::timeout_at(deadline.into(), work).await {
        Ok(Some(Ok(text))) => Ok(text),
        _ => Err(DocumentFault::HtmlTooComplex),
    }
}
