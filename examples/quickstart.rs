//! Lists the linked tools with their strict schemas for two providers, and makes a valid call, an invalid call, and a streaming call.
//!
//! `cargo run --example quickstart` needs no network and no key.

use futures::StreamExt;
use tool_core::prelude::*;

/// A language of the index.
#[derive(Debug, Clone, Copy, Serialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    /// Rust and its crates.
    Rust,
    /// Python and its packages.
    Python,
}

/// A page that was found.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Hit {
    /// The title of the page.
    pub title: String,
    /// The quality of the match, from 0 to 1.
    pub score: f64,
}

/// Searches the documentation index. Use it before answering a question about a package.
#[tool(
    category = "search",
    example("A plain lookup", { "query": "serde rename" }),
    example("Narrowed", { "query": "derive", "lang": "rust", "limit": 3 }),
)]
pub async fn search_docs(
    /// What to search for.
    query: String,
    /// How many hits to return.
    #[arg(default = 2, range = 1..=50)]
    limit: u32,
    /// The language of the pages; null for all languages.
    lang: Option<Lang>,
) -> Result<Vec<Hit>, ToolError> {
    let about = lang.map_or(String::new(), |lang| format!(" ({lang:?})"));
    let hit = |rank| Hit {
        title: format!("{query}{about}, page {rank}"),
        score: 1.0 / f64::from(rank),
    };
    Ok((1..=limit).map(hit).collect())
}

/// The progress of a survey.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Step {
    /// The number of pages read so far.
    pub pages: u32,
}

/// The result of a survey.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Report {
    /// A sentence for the model.
    pub summary: String,
    /// Every page, for the client.
    pub pages: Vec<String>,
}

/// Reads every page about a topic and reports. Use it for questions that one page does not answer.
#[tool(to_model_output = brief)]
pub fn survey(
    /// The topic of the survey.
    topic: String,
) -> ToolStream<Step, Report> {
    tool_stream! {
        let mut pages = Vec::new();
        for number in 1..=3 {
            pages.push(format!("{topic}, part {number}"));
            yield Step { pages: number };
        }
        Report { summary: format!("{} pages about {topic}", pages.len()), pages }
    }
}

fn brief(report: &Report) -> ModelOutput {
    ModelOutput::text(&report.summary)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Registry::linked()?.open();
    let cx = ToolContext::anonymous();

    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        println!("== the tool definitions in a request to {dialect:?}");
        let definitions: serde_json::Value = serde_json::from_str(&tools.definitions(dialect))?;
        println!("{definitions:#}\n");
    }

    println!("== a valid call");
    let good = tools
        .call(
            ToolCall::new(
                "call_1",
                "search_docs",
                r#"{"query":"serde rename","lang":"rust"}"#,
            ),
            &cx,
        )
        .await;
    println!("{}\n", good.model_text());

    println!("== an invalid call: the error lists every problem, in words that a model can act on");
    let bad = tools
        .call(
            ToolCall::new(
                "call_2",
                "search_docs",
                r#"{"qeury":"serde","limit":500,"lang":"cobol"}"#,
            ),
            &cx,
        )
        .await;
    println!("{}\n", bad.model_text());

    println!("== a call that streams");
    let mut events = std::pin::pin!(tools.stream(
        ToolCall::new("call_3", "survey", r#"{"topic":"macros"}"#),
        &cx
    ));
    while let Some(event) = events.next().await {
        match event {
            ToolEvent::Started => println!("started"),
            ToolEvent::Progress(step) => println!("progress: {step}"),
            ToolEvent::Done(result) => {
                println!("the client gets:  {}", result.output().ok_or("no output")?);
                println!("the model reads:  {}", result.model_text());
            }
        }
    }
    Ok(())
}
