//! Tools that fetch web pages as text and query search engines.
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
//! Both tools use the [`Http`](crate::http::Http) of the context, so its guard, limits and certificates apply to pages and to redirects of search
//! engines. Results are cited: the client gets each URL and the time of retrieval in addition to the output.
//!
//! A host can let a service read the pages, such as [`Firecrawl`], which runs the scripts of a page: see [`Pages`].
//!
//! The text of a page is untrusted input. If a host lets a model act on this text, the policy of the host should limit the calls that the model can
//! make.
//!
//! Cost: see the table of the [crate](crate#cost).

mod article;
mod choice;
mod engines;
mod firecrawl;
mod page;
mod pages;
mod search;

pub use choice::Search;
pub use engines::{Brave, DuckDuckGo, SearXng, SerpApi, Tavily};
pub use firecrawl::Firecrawl;
pub use page::{Link, Page, PageCitation, fetch_webpage};
pub use pages::{FetchedPage, PageProvider, Pages};
pub use search::{
    Depth, SearchHit, SearchProvider, SearchQuery, SearchResult, SearchResults, search_web,
};
