//! The cost of 10,000 tools that a program imports at run time: building a registry of them, indexing it, and searching it.
//!
//! `cargo run --release --bin imported`

use std::{
    hint::black_box,
    time::Instant,
};

use benches::counting::{Counting, allocations, kept};
use serde_json::{Value, json};
use tool_core::{DynamicTool, prelude::*, search::ToolSearch};

#[global_allocator]
static ALLOCATOR: Counting<true> = Counting;

const TOOLS: usize = 10_000;
const SERVICES: [&str; 10] = ["github", "gitlab", "linear", "jira", "slack", "notion", "drive", "calendar", "mail", "billing"];
const VERBS: [&str; 10] = ["list", "get", "create", "update", "delete", "search", "archive", "assign", "move", "share"];
const NOUNS: [&str; 10] = ["issue", "file", "user", "project", "comment", "message", "page", "event", "invoice", "branch"];

/// Returns the schema of a tool as a server lists it: seven parameters, one of which is a record.
fn schema(i: usize) -> Value {
    let noun = NOUNS[i / 100 % 10];
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": format!("The {noun} to work on, as its list names it.") },
            "query": { "type": ["string", "null"], "description": "Words that the result has to have." },
            "limit": { "type": ["integer", "null"], "minimum": 1, "maximum": 100, "description": "How many results to return." },
            "order": { "type": "string", "enum": ["newest", "oldest", "relevance"], "description": "Which results come first." },
            "labels": { "type": "array", "items": { "type": "string" }, "description": format!("Labels that the {noun} has.") },
            "place": {
                "type": "object",
                "properties": {
                    "workspace": { "type": "string", "description": "Workspace in which to look." },
                    "folder": { "type": ["string", "null"], "description": "Folder below it." }
                },
                "required": ["workspace", "folder"],
                "additionalProperties": false
            },
            "notify": { "type": "boolean", "description": "Whether to tell those who watch it." }
        },
        "required": ["id", "query", "limit", "order", "labels", "place", "notify"],
        "additionalProperties": false
    })
}

fn tools(schemas: Vec<Value>) -> Vec<DynamicTool> {
    let tools = schemas.into_iter().enumerate().map(|(i, schema)| {
        let (service, verb, noun) = (SERVICES[i % 10], VERBS[i / 10 % 10], NOUNS[i / 100 % 10]);
        let about = format!("Use this to {verb} a {noun} of {service} that the user may see, and get the result as a list of {noun}s.");
        let body = |_: Value, _: ToolContext| async { Ok::<_, ToolError>(1) };
        DynamicTool::new(format!("{service}_{verb}_{noun}_{i}"), about, schema, body)
    });
    tools.collect()
}

fn main() {
    let counts = || (allocations(), kept());
    println!("| {TOOLS} tools | ms | allocations per tool |\n|---|---|---|");
    let each = |many: u64| many as f64 / TOOLS as f64;
    let row = |what: &str, began: Instant, before: (u64, u64)| {
        let (ms, after) = (began.elapsed().as_secs_f64() * 1e3, counts());
        println!("| {what} | {ms:.0} | {:.0} |", each(after.0 - before.0));
    };
    let texts: Vec<String> = (0..TOOLS).map(|i| schema(i).to_string()).collect();
    let (began, before) = (Instant::now(), counts());
    let schemas: Vec<Value> = texts.iter().map(|text| serde_json::from_str(text).expect("JSON")).collect();
    row("their schemas, read by `serde_json` as values", began, before);
    let empty = before.1;
    let (began, before) = (Instant::now(), counts());
    let tools = tools(schemas);
    row("`DynamicTool::new`", began, before);
    let (began, before) = (Instant::now(), counts());
    let registry = tools.into_iter().fold(Registry::builder(), |builder, tool| builder.dynamic(tool)).build().expect("a registry");
    row("`RegistryBuilder::build`", began, before);
    let each_keeps = each(counts().1 - empty) / 1024.0;
    let (began, before) = (Instant::now(), counts());
    let all = registry.open();
    let search = ToolSearch::new(&all);
    row("`ToolSearch::new`", began, before);

    println!("\nA tool takes {each_keeps:.1} KB of memory, its schema {:.1} KB as text.", each(texts.iter().map(|text| text.len() as u64).sum()) / 1024.0);
    println!("\n| a search for | median, µs | best, µs |\n|---|---|---|");
    for query in ["invoice", "archive a page of notion", "use the list of a user to get and see the result", "id query limit order labels place folder workspace notify"] {
        let mut times: Vec<f64> = (0..200)
            .map(|_| {
                let began = Instant::now();
                black_box(search.find(black_box(query), &all));
                began.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("| {query} | {:.0} | {:.0} |", times[100], times[0]);
    }
}
