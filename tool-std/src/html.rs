//! Conversion of HTML to Markdown, for the packs that read pages and documents.

use htmd::HtmlToMarkdown;
use htmd::options::{BulletListMarker, Options};
use tokio::sync::Semaphore;

mod parse;

#[cfg(feature = "web")]
pub(crate) use parse::parse;
pub(crate) use parse::{TooMuch, parse_until};

/// Stack size of the thread that reads a page. Only a deeply nested page uses much of this memory.
const STACK: usize = 64 << 20;

/// Maximum number of pages that are read at the same time.
const READERS: usize = 8;

/// Converts HTML to Markdown. The HTML must be an output of the parser.
pub(crate) fn markdown(html: &str) -> String {
    let converter = HtmlToMarkdown::builder()
        .scripting_enabled(false)
        .options(Options {
            bullet_list_marker: BulletListMarker::Dash,
            ul_bullet_spacing: 1,
            ol_number_spacing: 1,
            ..Options::default()
        })
        .build();
    // The HTML was just produced by the parser, so this does not fail; if it did, an empty text would be better than an error.
    let markdown = converter.convert(html).unwrap_or_default();
    markdown.trim().to_owned()
}

/// Selector of the elements that are not part of a document's text.
#[cfg(feature = "knowledge-html")]
const NO_TEXT: &str = "script, style, noscript, template, iframe, object, svg, math, canvas, nav, [role=navigation], img, picture, video, audio";

/// Returns a whole document as Markdown, with its title as the first heading. Removes the elements of [`NO_TEXT`], but not the header and the footer:
/// unlike in a web page, they belong to the text of a document. Fails if the document is too complex or is not parsed by the deadline.
#[cfg(feature = "knowledge-html")]
pub(crate) fn document(html: &str, deadline: std::time::Instant) -> Result<String, TooMuch> {
    let document = parse_until(html, deadline)?;
    let title = text_of(&document.select_single("title").text());
    document.select(NO_TEXT).remove();
    let body = markdown(&document.select_single("body").inner_html());
    Ok(match title {
        Some(title) if !body.starts_with(&format!("# {title}")) => {
            format!("# {title}\n\n{body}").trim_end().to_owned()
        }
        _ => body,
    })
}

/// Joins a text into one line; `None` if it is blank.
pub(crate) fn text_of(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Runs `work` in a thread with a large stack; `None` if it panics, or no thread can be started. A thread cannot be stopped from outside, so it
/// counts as one of the [`READERS`] until it ends, even if its call has timed out.
pub(crate) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    static PLACES: Semaphore = Semaphore::const_new(READERS);
    let place = PLACES.acquire().await.ok()?;
    let (done, result) = futures::channel::oneshot::channel();
    std::thread::Builder::new()
        .name("page".to_owned())
        .stack_size(STACK)
        .spawn(move || {
            let _place = place;
            drop(done.send(work()));
        })
        .ok()?;
    result.await.ok()
}
