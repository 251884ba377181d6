//! The types and the body of the benchmarked tool. The types for tool-core, which do not need serde, are in `ours`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Narrows a search.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct Filter {
    /// Language of the repository.
    pub lang: Lang,
    /// Tags that must all be present.
    pub tags: Vec<String>,
    /// Fewest stars.
    pub min_stars: Option<u32>,
}

/// A language.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    Rust,
    Go,
    Python,
    TypeScript,
    C,
}

/// The arguments as one struct, for crates that require that.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct Arguments {
    /// What to search for.
    pub query: String,
    /// How many hits to return.
    pub limit: Option<u32>,
    /// Narrow the search.
    pub filter: Option<Filter>,
}

/// One result.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// Title of the page.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// How well it fits.
    pub score: f64,
}

/// The results, for crates that need an object at the root.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Hits {
    /// Best first.
    pub hits: Vec<Hit>,
}

/// The JSON arguments of a call that returns `hits` results.
#[must_use]
pub fn arguments(hits: u32) -> String {
    format!(
        r#"{{"query":"async runtime","limit":{hits},"filter":{{"lang":"rust","tags":["tokio","executor"],"min_stars":100}}}}"#
    )
}

/// The body of the tool.
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
