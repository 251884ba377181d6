//! The benchmarked tool and its gates in tool-core.

use tool_core::{
    Audit, DynamicTool, Gate, Rules,
    policy::{Policy, Rule, SharedPolicy},
    prelude::*,
    store::MemoryStore,
};

use crate::work::{self, Hit};

/// The conditions that each hit of a search must meet.
#[derive(Debug, StrictSchema)]
pub struct Filter {
    /// The language of the repository.
    pub lang: Lang,
    /// Tags that must all be present.
    pub tags: Vec<String>,
    /// The minimum number of stars.
    pub min_stars: Option<u32>,
}

/// The programming language of a repository.
#[derive(Debug, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    Rust,
    Go,
    Python,
    TypeScript,
    C,
}

/// Searches an index of repositories. Use it before answering a question about one.
#[tool(read_only)]
pub async fn search(
    /// The text to search for.
    query: String,
    /// The number of hits to return.
    limit: Option<u32>,
    /// The conditions that each hit must meet.
    filter: Option<Filter>,
) -> Result<Vec<Hit>, ToolError> {
    Ok(work::search(&query, limit, filter.and_then(|filter| filter.min_stars)))
}

/// Returns a similar tool with a number in its name and a smaller schema, created at run time, to fill a registry.
#[must_use]
pub fn twin(number: usize) -> DynamicTool {
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "query": { "type": "string", "description": "What to search for." } },
        "required": ["query"],
        "additionalProperties": false,
    });
    let body = async |arguments: serde_json::Value, _: ToolContext| Ok::<_, ToolError>(arguments);
    DynamicTool::new(format!("search_{number}"), "Searches an index of repositories.", &schema, body)
}

/// Returns a policy of 20 rules. Five rules match the tool but not the tenant, so that they are evaluated. The last rule allows the call.
fn policy() -> SharedPolicy {
    let mut builder = Policy::builder();
    for i in 0..14 {
        builder = builder.rule(Rule::deny(format!("other_{i}")).tools([format!("other_{i}*")]));
    }
    for tenant in ["globex", "initech", "umbrella", "hooli", "stark"] {
        builder = builder.rule(Rule::deny(format!("not_{tenant}")).tools(["search*"]).tenants([tenant]));
    }
    builder.rule(Rule::allow("reading").tools(["search*"])).share().expect("a policy")
}

/// Returns the tools behind a full gate: visibility by rules, a policy of 20 rules, and an audit if `rows` is true.
#[must_use]
pub fn gated(registry: &Registry, rows: bool) -> (Toolset, ToolContext) {
    let mut gate = Gate::builder();
    if rows {
        gate = gate.audit(Audit::best_effort(MemoryStore::default()));
    }
    let gate = gate.build();
    let context = ToolContext::builder().workspace("acme").user("ann").agent("clerk").conversation("th-1").build();
    let rules = Rules::default().policy(&policy()).deny(["delete_everything"]);
    (registry.toolset(&context, &rules).through(&gate), context)
}
