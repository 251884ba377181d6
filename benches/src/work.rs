//! The types and the body of the benchmarked tool. The types for tool-core, which do not need serde, are in `ours`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The conditions that each hit of a search must meet.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct Filter {
    /// The language of the repository.
    pub lang: Lang,
    /// Tags that must all be present.
    pub tags: Vec<String>,
    /// The minimum number of stars.
    pub min_stars: Option<u32>,
}

/// The programming language of a repository.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    Rust,
    Go,
    Python,
    TypeScript,
    C,
}

/// The arguments as one struct, for crates that require a struct.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct Arguments {
    /// The text to search for.
    pub query: String,
    /// The number of hits to return.
    pub limit: Option<u32>,
    /// The conditions that each hit must meet.
    pub filter: Option<Filter>,
}

/// One result of a search.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// The title of the page.
    pub title: String,
    /// The URL of the page.
    pub url: String,
    /// The relevance of the page.
    pub score: f64,
}

/// The results, for crates that need an object at the root.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Hits {
    /// The results, the best one first.
    pub hits: Vec<Hit>,
}

/// Returns the JSON arguments of a call that returns `hits` results.
#[must_use]
pub fn arguments(hits: u32) -> String {
    format!(
        r#"{{"query":"async runtime","limit":{hits},"filter":{{"lang":"rust","tags":["tokio","executor"],"min_stars":100}}}}"#
    )
}

/// Returns results for the query, as the body of the benchmarked tool.
#[must_use]
pub fn search(query: &str, limit: Option<u32>, min_stars: Option<u32>) -> Vec<Hit> {
    let stars = min_stars.unwrap_or_default();
    (0..limit.unwrap_or(3))
        .map(|rank| Hit {
            title: query.to_owned(),
            url: "https://example.org/a/page/about/it".to_owned(),
            score: 1.0 / f64::from(rank + 1) + f64::from(stars),
        })
        .collect()
}
