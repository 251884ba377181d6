//! The tools of the pack `web` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `fetch_webpage`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct FetchWebpage {
    /// The whole URL, `https://…` or `http://…`, of a page on the internet.
    #[cfg_attr(feature = "schema", schema(length = 1..=4096))]
    pub url: String,
    /// The maximum number of characters of the text to return.
    #[cfg_attr(feature = "schema", schema(range = 100..=200000))]
    pub max_chars: Option<u32>,
}

impl ToolContract for FetchWebpage {
    const NAME: &'static str = "fetch_webpage";
    type Input = Self;
    type Output = Page;
}

/// The arguments of `search_web`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SearchWeb {
    /// The query, as for a search engine.
    #[cfg_attr(feature = "schema", schema(length = 1..=400))]
    pub query: String,
    /// The maximum number of results to return.
    #[cfg_attr(feature = "schema", schema(range = 1..=20))]
    pub limit: Option<u32>,
    /// The depth of the search. Not every engine supports it.
    pub depth: Option<Depth>,
}

impl ToolContract for SearchWeb {
    const NAME: &'static str = "search_web";
    type Input = Self;
    type Output = SearchResults;
}

/// The text of a web page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Page {
    /// The URL of the page, after all redirects.
    pub url: String,
    /// The title of the page, at most 300 characters.
    pub title: Option<String>,
    /// The main text of the page, as Markdown.
    pub markdown: String,
    /// The links in the main text, each once: the first 100, with at most 1,000 characters in total, or `max_chars` if that is more.
    pub links: Vec<Link>,
    /// Whether text of the page was left out, or links were left out because of the limit of their characters.
    pub truncated: bool,
    /// The citation of the page.
    pub citation: PageCitation,
}

/// A link of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Link {
    /// The text of the link, at most 200 characters.
    pub text: String,
    /// The URL of the link.
    pub url: String,
}

/// The source of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PageCitation {
    /// The kind of the source: `web`.
    pub source: String,
    /// The URL of the page.
    pub source_id: String,
    /// The time at which the page was read, in ISO 8601.
    pub retrieved_at: String,
}

/// The depth of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum Depth {
    /// A fast search with short excerpts.
    Basic,
    /// A slower search with more text of each page.
    Advanced,
}

/// The results of a search engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SearchResults {
    /// The query that was searched.
    pub query: String,
    /// The name of the search engine.
    pub provider: String,
    /// The pages, best first.
    pub results: Vec<SearchResult>,
}

/// One page of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SearchResult {
    /// The rank of the page; 1 is the best.
    pub rank: u32,
    /// The title of the page, at most 300 characters.
    pub title: String,
    /// The URL of the page.
    pub url: String,
    /// A part of the text of the page, at most 2,000 characters.
    pub snippet: String,
    /// The score of the match, if the engine reports one.
    pub score: Option<f64>,
}
