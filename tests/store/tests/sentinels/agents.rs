//! Agents whose tools try to reveal secrets.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use serde_json::json;
use tool_agent::agent::Agent;
use tool_agent::files::ThreadFiles;
use tool_agent::runtime::{
    AgentEntry, AgentRuntimeBuilder, Immediate, PromptTool, Resumable, Subagent,
};
use tool_core::prelude::*;
use tool_core::store::{Role, ThreadId};
use tool_core::turn::{Model, ModelMessage, ModelRequest};
use tool_core::{Effect, ExposeSecret as _, VariableKind, VariableNeed};

use crate::captured::{Captured, Entry};
use crate::spelling::percent;

/// The conversation of the user, from which the models of all agents identify their scripts.
#[derive(Clone)]
pub(crate) struct Root(pub(crate) ThreadId);
tool_core::host_value!(Root, Effect::NONE);

/// Reveals a secret in each output that a tool has: progress, a note for the audit, and the text of the result or of the error.
fn pass_on(cx: &ToolContext, secret: &SecretString, fails: bool) -> Result<String, ToolError> {
    let secret = secret.expose_secret();
    cx.progress(&json!({"secret": secret}));
    cx.audit("used", &json!({"secret": secret, "url": percent(secret)}));
    let mut text = format!("plain {secret}");
    let _ = write!(text, "\njson {}", json!({"secret": secret}));
    let _ = write!(text, "\nurl https://example.com/?key={}", percent(secret));
    let _ = write!(text, "\nbase64 {}", STANDARD.encode(secret));
    let _ = write!(
        text,
        "\nbasic {}",
        STANDARD.encode(format!("user:{secret}"))
    );
    if fails {
        return Err(ToolError::new(text.clone()).operator(text));
    }
    Ok(text)
}

/// Uses the token of the context.
#[tool(read_only)]
async fn use_token(
    cx: &ToolContext,
    #[variable("TOKEN", secret)] token: SecretString,
    /// Whether the call fails.
    fails: bool,
) -> Result<String, ToolError> {
    pass_on(cx, &token, fails)
}

/// Uses the key and the city of an instance.
#[tool(read_only)]
async fn use_shop(
    cx: &ToolContext,
    #[variable("KEY", secret)] key: SecretString,
    #[variable("CITY", secret)] city: SecretString,
    /// Whether the call fails.
    fails: bool,
) -> Result<String, ToolError> {
    let key = pass_on(cx, &key, fails)?;
    Ok(format!("{key}\n{}", pass_on(cx, &city, fails)?))
}

/// Uses the licence that the user supplies.
#[tool(read_only)]
async fn use_licence(
    cx: &ToolContext,
    #[variable("LICENCE", secret)] licence: SecretString,
    /// Whether the call fails.
    fails: bool,
) -> Result<String, ToolError> {
    pass_on(cx, &licence, fails)
}

/// Reads a file of the thread.
#[tool]
async fn read_file(
    files: &ThreadFiles,
    /// The path.
    path: String,
) -> Result<String, ToolError> {
    let bytes = files.read(&path).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn calls<const N: usize>(calls: [(&str, serde_json::Value); N]) -> ModelMessage {
    let calls = calls.into_iter().zip(1..).map(|((name, arguments), at)| {
        ToolCall::new(format!("call_{at}"), name, arguments.to_string())
    });
    ModelMessage::calls(calls)
}

/// A model that replies by its agent, its tools and the number of messages that it has written in the thread.
#[derive(Clone)]
struct Script {
    agent: &'static str,
    captured: Captured,
}

impl Script {
    fn reply(&self, said: usize, text: &str, tools: &[&str]) -> ModelMessage {
        if tools == ["describe_instance"] {
            return calls([(
                "describe_instance",
                json!({"name": "Shop", "message": "Open."}),
            )]);
        }
        let run = |name: &'static str| (name, json!({"message": "Go."}));
        let twice = |name: &'static str| {
            calls([
                (name, json!({"fails": false})),
                (name, json!({"fails": true})),
            ])
        };
        match (self.agent, said) {
            ("chief", 0) => {
                let files = json!([path_in(text), "/attachments/none.txt"]);
                let reader = json!({"task": format!("Read {}", path_in(text)), "files": files});
                calls([
                    ("reader", reader),
                    run("teller"),
                    run("prompt"),
                    run("licensed"),
                ])
            }
            ("reader", 0) => calls([("read_file", json!({"path": path_in(text)}))]),
            ("reader", _) => ModelMessage::text(format!("I have read {text}")),
            ("teller" | "prompt", 0) => twice("use_token"),
            ("shop", 0) => twice("use_shop"),
            ("licensed", 0) => twice("use_licence"),
            (agent, _) => ModelMessage::text(format!("{agent} has ended.")),
        }
    }
}

/// Returns the first path of a file in a text.
fn path_in(text: &str) -> String {
    let rest = text.split("/attachments/").nth(1).unwrap_or_default();
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
    let name = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
    format!("/attachments/{name}")
}

impl Model for Script {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let Root(root) = request.cx.get().unwrap();
        let thread = request.cx.thread().unwrap();
        self.captured
            .add(Entry::request(root, thread, self.agent, &request));
        let own = request.messages.iter();
        let said = own
            .filter(|message| message.role == Role::Assistant)
            .count();
        let texts: Vec<&str> = request
            .messages
            .iter()
            .map(|message| &*message.content)
            .collect();
        let tools: Vec<&str> = request.tools.names().collect();
        let reply = self.reply(said, &texts.join("\n"), &tools);
        Box::pin(async move {
            // The conversations make progress alternately.
            tokio::task::yield_now().await;
            Ok(reply)
        })
    }
}

/// Adds the agents to a runtime.
pub(crate) fn add(builder: AgentRuntimeBuilder, captured: &Captured) -> AgentRuntimeBuilder {
    let entry = |agent: &'static str| {
        let captured = captured.clone();
        let tools = toolset![use_token, use_shop, use_licence, read_file];
        let own: &[&str] = match agent {
            "reader" => &["read_file"],
            "teller" | "prompt" => &["use_token"],
            "shop" => &["use_shop"],
            "licensed" => &["use_licence"],
            _ => &[],
        };
        let tools = tools.filter(|def| own.contains(&def.name()));
        let agent = Agent::builder(agent, Script { agent, captured });
        AgentEntry::new(agent.tools(move |_| tools.clone()).build().unwrap())
    };
    let child = |agent: &'static str| entry(agent).autonomous().expose("Works.");
    let secret = |name: &'static str| VariableNeed {
        kind: VariableKind::Secret,
        scoped: true,
        ..VariableNeed::new(name)
    };
    let files = json!({
        "type": "object",
        "properties": {
            "task": {"type": "string", "description": "The task."},
            "files": {"type": "array", "description": "The files.", "items": {"type": "string"}},
        },
        "required": ["task", "files"],
        "additionalProperties": false,
    });
    let immediate = Immediate::per_instance()
        .name_env("TITLE")
        .scoped_env(["KEY", "CITY"]);
    let shop = Subagent::new("shop")
        .blocking(false)
        .resumable(Resumable::new())
        .immediate(immediate);
    let reader = Subagent::new("reader")
        .init_user_message("task")
        .init_attachments("files");
    builder
        .agent(
            entry("chief")
                .prompt(PromptTool::new("prompt"))
                .subagent(reader)
                .subagent(Subagent::new("teller"))
                .subagent(Subagent::new("licensed").blocking(false))
                .subagent(shop),
        )
        .agent(entry("prompt").expose("Is a prompt."))
        .agent(child("reader").arguments_schema(files.to_string()))
        .agent(child("teller"))
        .agent(child("licensed").variable(secret("LICENCE")))
        .agent(
            child("shop")
                .variable(secret("KEY"))
                .variable(secret("CITY")),
        )
}

/// Asserts that each agent of each conversation has worked and that secrets were redacted. Otherwise the search for the secrets would prove nothing.
pub(crate) fn check(all: &[Entry], roots: &[ThreadId]) {
    for root in roots {
        let own: Vec<&Entry> = all
            .iter()
            .filter(|entry| entry.root.as_ref() == Some(root))
            .collect();
        for agent in ["chief", "reader", "teller", "prompt", "licensed", "shop"] {
            let start = format!("request of {agent}");
            let requests = own.iter().filter(|entry| entry.text.starts_with(&start));
            assert!(requests.count() >= 2, "{root}: {agent}");
        }
        for name in ["TOKEN", "KEY", "CITY", "LICENCE"] {
            let mask = format!("[secret:{name}]");
            for kind in ["request", "message", "event", "audit"] {
                // Events of sub-agents in the background belong to no conversation of the capture.
                let is_found = all.iter().any(|entry| {
                    let is_own = entry.root.as_ref() == Some(root) || kind == "event";
                    is_own && entry.text.starts_with(kind) && entry.text.contains(&mask)
                });
                assert!(is_found, "{root}: no {kind} with {mask}");
            }
        }
    }
}
