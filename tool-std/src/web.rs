//! Web pages as text, and search engines.
//!
//! ```text
//! fetch_webpage {"url": "https://example.com/post"}
//!
//! {"url":"https://example.com/post","title":"A post","markdown":"The first paragraph, with [a link](https://example.com/a).",
//!  "links":[{"text":"a link","url":"https://example.com/a"}],"truncated":false,
//!  "citation":{"source":"web","source_id":"https://example.com/post","retrieved_at":"2026-03-01T09:30:00Z"}}
//!
//! search_web {"query": "rust serde rename", "limit": 1}
//!
//! {"query":"rust serde rename","provider":"tavily","results":[{"rank":1,"title":"Field attributes · Serde",
//!  "url":"https://serde.rs/field-attrs.html","snippet":"#[serde(rename = \"name\")] …","score":0.93}]}
//! ```
//!
//! Both go through the [`Http`](crate::http::Http) of the context, so its guard, its limits and its certificates hold for pages and for
//! what search engines send on to. What is found is cited: the client gets each URL with the time beside the output.
//!
//! What a page says is somebody else's text. A host that lets a model act on it should let its policy know that.
//!
//! Cost: 39 crates beyond those of the feature `http`.

mod article;
mod choice;
mod engines;
mod page;
mod parse;
mod search;

pub use choice::Search;
pub use engines::{Brave, DuckDuckGo, SearXng, SerpApi, Tavily};
pub use page::{Link, Page, PageCitation, fetch_webpage};
pub use search::{
    Depth, SearchHit, SearchProvider, SearchQuery, SearchResult, SearchResults, search_web,
};
