//! Extraction of the main text of an HTML page, as Markdown.

use std::collections::HashSet;
use std::time::Instant;

use dom_query::Document;
use dom_smoothie::Readability;
use url::Url;

use super::page::Link;
use crate::Excerpt;
use crate::html::{TooMuch, markdown, parse_until, text_of};

/// Maximum number of links in a result.
pub(super) const MOST_LINKS: usize = 100;

/// Maximum length of a link's URL in a result, in bytes. Longer URLs are left out, because a truncated URL would lead elsewhere.
pub(super) const LONGEST_URL: usize = 2_000;

/// Elements that are never the text of a page, even if the page has hardly any other text.
const NAVIGATION: &str = "nav, [role=navigation]";

/// Elements that surround the text of a page or cannot be text.
const AROUND: &str = "header, footer, aside, form, dialog, script, style, noscript, template, iframe, object, svg, math, canvas";

/// The main text of a page.
#[derive(Debug)]
pub(super) struct Article {
    pub(super) title: Option<Excerpt<300>>,
    pub(super) markdown: String,
    pub(super) links: Vec<Link>,
}

/// Finds the main text as a browser's reader mode does. If the page has no main text (a list, a form, a start page), the result is the rest of the
/// page without the elements that surround a text.
///
/// Parsing stops at the deadline, because the call times out then.
pub(super) fn read(html: &str, url: &Url, deadline: Instant) -> Result<Article, TooMuch> {
    let document = parse_until(html, deadline)?;
    document.select(NAVIGATION).remove();
    let title = text_of(&document.select_single("title").text());
    let found = main_text(document.clone(), url).filter(|(_, main)| !main.trim().is_empty());
    let (title, main) = match found {
        Some((found, main)) => (text_of(&found).or(title), main),
        None => (title, rest(&document)),
    };
    let main = parse_until(&main, deadline)?;
    let links = links(&main, url);
    main.select("img, picture, video, audio, script, style")
        .remove();
    let markdown = markdown(&main.html());
    Ok(Article {
        title: title.map(Excerpt::of),
        markdown,
        links,
    })
}

fn main_text(document: Document, url: &Url) -> Option<(String, String)> {
    let article = Readability::with_document(document, Some(url.as_str()), None)
        .and_then(|mut page| page.parse())
        .ok()?;
    Some((article.title, article.content.to_string()))
}

fn rest(document: &Document) -> String {
    document.select(AROUND).remove();
    document.select_single("body").inner_html().to_string()
}

/// Makes the links absolute and removes links that do not lead to a web page. Returns the first [`MOST_LINKS`] of the other links, each once, without
/// links to a fragment of the page itself and without URLs of more than [`LONGEST_URL`] bytes.
fn links(document: &Document, base: &Url) -> Vec<Link> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for node in document.select("a[href]").nodes() {
        let href = node.attr("href").unwrap_or_default();
        let whole = base.join(href.trim()).ok();
        let Some(whole) = whole.filter(|url| matches!(url.scheme(), "http" | "https")) else {
            node.remove_attr("href");
            continue;
        };
        node.set_attr("href", whole.as_str());
        let same_page = whole.fragment().is_some()
            && whole[..url::Position::AfterQuery] == base[..url::Position::AfterQuery];
        let fits = all.len() < MOST_LINKS && whole.as_str().len() <= LONGEST_URL;
        if !same_page && fits && seen.insert(whole.clone()) {
            all.push(Link {
                text: Excerpt::of(text_of(&node.text()).unwrap_or_default()),
                url: whole.into(),
            });
        }
    }
    all
}
