//! Tools that ask another agent.

use std::time::Duration;

use tool_core::CancellationToken;

use super::*;

/// Increments a counter when it is dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn tools(agent: AgentTool) -> Toolset {
    let rules = Rules::default()
        .enablement(Enablement::default().manual("agent:tax-law"))
        .agent_tool(agent);
    registry().toolset(&ToolContext::anonymous(), &rules)
}

fn call(arguments: &Value) -> ToolCall {
    ToolCall::new("1", "ask_tax_law", arguments.to_string())
}

/// Returns an agent that never answers, and the counter of the times that its work was dropped.
fn silent() -> (DynamicTool, Arc<AtomicUsize>) {
    let dropped = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&dropped);
    let tool = AgentTool::tool("tax-law", "Knows the tax law.", move |_, _| {
        let guard = Dropped(Arc::clone(&seen));
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    (tool, dropped)
}

// S1-59: a prompt has 1 to 8000 characters, counted as characters, not bytes.
#[tokio::test]
async fn agent_prompt_length_is_limited() {
    let agent = AgentTool::ask("tax-law", "Knows the tax law.", |prompt, cx| async move {
        let of = cx.tool_name().unwrap_or_default().to_owned();
        Ok(format!("{of}: {} characters", prompt.chars().count()))
    })
    .unwrap();
    let (tools, cx) = (tools(agent), ToolContext::anonymous());
    assert!(tools.names().eq(["ask_tax_law", "spawn_task"]));
    let longest = "ä".repeat(8000);
    let result = tools.call(call(&json!({"prompt": longest})), &cx).await;
    assert_eq!(result.model_text(), "ask_tax_law: 8000 characters");
    let wrong = [
        json!({}),
        json!({"prompt": ""}),
        json!({"prompt": longest + "ä"}),
        json!({"prompt": "hi", "depth": 1}),
    ];
    for arguments in wrong {
        let result = tools.call(call(&arguments), &cx).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{error}");
    }
    for dialect in Dialect::ALL {
        let definition = tools.get("ask_tax_law").unwrap().definition(dialect);
        assert!(definition.contains(r#""name":"ask_tax_law""#));
    }
    let hints = tools.get("ask_tax_law").unwrap().hints();
    assert!(!hints.read_only && hints.open_world && !hints.destructive);
}

// S1-59: an agent has 60 seconds unless the host sets a different timeout; the timeout is an error value.
#[tokio::test(start_paused = true)]
async fn timeout_of_an_agent_is_an_error_value() {
    let (tool, dropped) = silent();
    let tools = tools(AgentTool::new("tax-law", tool).unwrap());
    let began = tokio::time::Instant::now();
    let result = tools
        .call(call(&json!({"prompt": "hi"})), &ToolContext::anonymous())
        .await;
    assert_eq!(began.elapsed().as_secs(), 60);
    assert_eq!(result.error().unwrap().kind(), ErrorKind::TimedOut);
    assert!(!result.model_text().is_empty());
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    let (tool, _) = silent();
    let hasty = AgentTool::new("tax-law", tool.timeout(Duration::from_secs(2))).unwrap();
    let began = tokio::time::Instant::now();
    let result = self::tools(hasty)
        .call(call(&json!({"prompt": "hi"})), &ToolContext::anonymous())
        .await;
    assert_eq!(result.error().unwrap().kind(), ErrorKind::TimedOut);
    assert_eq!(began.elapsed().as_secs(), 2);
}

// S1-59: cancelling the turn drops the agent's work.
#[tokio::test(start_paused = true)]
async fn cancelled_turn_ends_its_agents() {
    let (tool, dropped) = silent();
    let tools = tools(AgentTool::new("tax-law", tool).unwrap());
    let turn = CancellationToken::new();
    let cx = ToolContext::builder().cancellation(turn.clone()).build();
    let asked = tools.call(call(&json!({"prompt": "hi"})), &cx);
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        turn.cancel();
    };
    let (result, ()) = tokio::join!(asked, stop);
    assert_eq!(result.error().unwrap().kind(), ErrorKind::Cancelled);
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

// S1-59: an error of the agent is returned as text, without the agent's text for operators.
#[tokio::test]
async fn error_of_an_agent_is_returned_as_text() {
    let agent = AgentTool::ask("tax-law", "Knows the tax law.", |_, _| async {
        Err(ToolError::new("the agent is on holiday").operator("quota of tenant acme is used up"))
    });
    let result = tools(agent.unwrap())
        .call(call(&json!({"prompt": "hi"})), &ToolContext::anonymous())
        .await;
    assert!(result.is_error());
    assert!(result.model_text().contains("the agent is on holiday"));
    assert!(!result.model_text().contains("acme"));
    let nameless = AgentTool::ask(&"x".repeat(80), "Too long.", |_, _| async {
        Ok(String::new())
    });
    assert!(nameless.unwrap_err().to_string().contains("[tool-name]"));
}
