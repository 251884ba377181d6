//! The cost of computing a turn's visible tools out of 10,000, and of evaluating a policy of 20 rules for a call.
//!
//! `cargo run --release --bin visibility`

use std::{hint::black_box, time::Instant};

use serde_json::{Value, json};
use tool_core::{
    DynamicTool, Effect, Enablement, Rules, Runtime, SecretNeed,
    policy::{Condition, Policy, PolicyRequest, Rule, SharedPolicy},
    prelude::*,
};

const TOOLS: usize = 10_000;
const ROUNDS: usize = 400;

fn registry() -> Registry {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string", "description": "Where." } },
        "required": ["path"],
        "additionalProperties": false
    });
    let categories = ["web", "files", "memory", "knowledge", "crm", "room", "agent", "general"];
    let tool = |i: usize| {
        let body = |_: Value, _: ToolContext| async { Ok::<_, ToolError>(1) };
        let mut tool = DynamicTool::new(name(i), "Does something.", &schema, body).category(categories[i % 8]);
        if i % 8 == 5 {
            tool = tool.harness();
        }
        if i % 3 == 0 {
            tool = tool.secret(SecretNeed::new(["a_key", "b_key", "c_key"][i % 9 / 3]));
        }
        if i % 7 == 0 { tool.destructive() } else { tool }
    };
    (0..TOOLS).fold(Registry::builder(), |builder, i| builder.dynamic(tool(i))).build().expect("a registry")
}

fn name(i: usize) -> String {
    format!("{}_{i}", ["search", "read_file", "write_file", "list_contacts"][i % 4])
}

fn policy() -> SharedPolicy {
    let mut builder = Policy::builder()
        .rule(Rule::deny("crm").categories(["crm"]).tenants(["acme"]))
        .rule(Rule::ask("destroys").effects(Effect::DESTROY).when(Condition::new("/path").prefix("/srv/")));
    for i in 0..18 {
        let rule = if i % 2 == 0 { Rule::deny(format!("r{i}")) } else { Rule::ask(format!("r{i}")) };
        builder = builder.rule(rule.tools([format!("other_{i}*")]).when(Condition::new("/path").glob("/etc/*")));
    }
    builder.share().expect("a policy")
}

/// Prints the median and the best of many rounds, in microseconds.
fn measure<T>(what: &str, mut run: impl FnMut() -> T) {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            black_box(run());
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("| {what} | {:.1} | {:.1} |", times[ROUNDS / 2], times[0]);
}

fn main() {
    let registry = registry();
    let cx = ToolContext::builder().workspace("acme").user("u-1").agent("chief").secret("a_key", "sk-1").build();
    let rows = |step: usize| (0..TOOLS).step_by(step).map(name).fold(Enablement::default(), Enablement::manual);
    let shared = policy();
    let usual = || Rules::default().memory(false).policy(&shared).deny((0..20).map(name));
    let chat = usual().enablement(rows(50));
    println!("| {TOOLS} tools | median, µs | best, µs |\n|---|---|---|");
    for (what, rules) in [
        ("no rules", Rules::default()),
        ("flag, 20 denied names, policy of 20 rules", usual()),
        ("the rules above and 200 rows", chat.clone()),
        ("the rules above and 200 rows, in a room", chat.clone().runtime(Runtime::Room)),
        ("the rules above and 200 rows, in a sub-agent", usual().for_sub_agent(&chat)),
        ("the rules above and 10,000 rows", usual().enablement(rows(1))),
        ("an allow list of 10,000 names", usual().allow((0..TOOLS).map(name))),
    ] {
        let seen = registry.toolset(&cx, &rules).len();
        measure(&format!("{what} ({seen} visible)"), || registry.toolset(&cx, &rules));
    }
    let (current, tool) = (shared.current(), registry.get("search_0").expect("a tool"));
    let arguments = r#"{"path":"/tmp/x"}"#;
    let request = PolicyRequest { tool, tenant: "acme", principal: "u-1", agent: Some("chief"), arguments };
    measure("1,000 decisions on 20 rules, without prepared data", || {
        (0..1_000).map(|_| current.decide(black_box(&request)).four_eyes).filter(|eyes| *eyes).count()
    });
}
