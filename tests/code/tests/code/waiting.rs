//! Tests of code with tools that may need an approval or ask the user.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::json;
use serde_json::value::RawValue;
use tool_core::policy::{Condition, Policy, PolicyVerdict, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::{CallId, MemoryStore, ThreadId};
use tool_core::{Answer, Approvals, Asker, Audit, ErrorKind, Gate, Question, Reply, Rules};

use crate::support::{Diary, builder};

/// Logs the call, and returns 1.
#[tool(read_only)]
fn look(diary: &Diary) -> u8 {
    diary.write("looked");
    1
}

/// Writes a text to the diary.
#[tool]
fn write(
    diary: &Diary,
    /// The text to write.
    text: String,
) -> usize {
    diary.write(text);
    diary.read().len()
}

/// Sends a mail.
#[tool(approval)]
fn send(diary: &Diary) -> &'static str {
    diary.write("sent");
    "sent"
}

fn is_far(input: &travel, _: &ToolContext) -> bool {
    input.far
}

/// Travels to a place.
#[tool(approval = is_far)]
fn travel(
    /// Whether the place is far away.
    far: bool,
) -> bool {
    far
}

/// Removes an entry.
#[tool(destructive)]
fn remove() -> u8 {
    0
}

/// Returns the region.
#[tool(read_only)]
fn region(#[variable("REGION", description = "The region of the host.")] region: String) -> String {
    region
}

/// The place to travel to.
#[derive(Deserialize, StrictSchema)]
struct Place {
    /// The city.
    city: String,
}

/// Asks the user for a city.
#[tool(read_only)]
async fn ask_city(cx: &ToolContext) -> Result<String, ToolError> {
    Ok(cx
        .ask::<Place>("Which city?")
        .await?
        .given()
        .map_or_else(String::new, |place| place.city))
}

struct FixedAnswer(&'static str);

impl Asker for FixedAnswer {
    fn ask(&self, _: Question) -> BoxFuture<'_, Result<Answer<Box<RawValue>>, ToolError>> {
        let answer = RawValue::from_string(format!(r#"{{"city":"{}"}}"#, self.0));
        Box::pin(async move { Ok(Answer::Given(answer?)) })
    }
}

/// Returns the names of the tools without arguments that a description declares.
fn names(description: &str) -> Vec<&str> {
    let lines = description.lines().map(str::trim);
    lines
        .filter_map(|line| line.split_once("(args?: {}): Promise<"))
        .map(|(name, _)| name)
        .collect()
}

// Tools that may need an approval, and tools whose variable has no value, are not declared. A tool that only asks the user during a call is declared.
#[tokio::test]
async fn tools_that_may_need_an_approval_or_a_variable_are_absent() {
    let (store, diary) = (MemoryStore::default(), Diary::default());
    let gate = Gate::builder()
        .approvals(Approvals::builder(store.clone()).build().unwrap())
        .build();
    let cx = ToolContext::builder().with(diary.clone()).build();
    let tools = toolset![look, send, travel, remove, region, ask_city].through(&gate);
    let setup = builder().build().unwrap();
    let code = setup.instead_of(&tools, &cx).unwrap();
    assert_eq!(
        names(code.get("run_code").unwrap().description()),
        ["ask_city", "look"]
    );
    // If the variable has a value, the tool does not ask for it, so the tool is declared.
    let cx = ToolContext::builder()
        .with(diary.clone())
        .variable("REGION", "north")
        .build();
    let code = setup.instead_of(&tools, &cx).unwrap();
    assert_eq!(
        names(code.get("run_code").unwrap().description()),
        ["ask_city", "look", "region"]
    );
    // A policy rule that may require an approval counts, even if its condition cannot apply.
    let ask = Rule::ask("maybe")
        .tools(["look"])
        .when(Condition::new("/x").exists(true));
    let policy = Policy::builder()
        .rule(ask)
        .rule(Rule::allow("all"))
        .otherwise(PolicyVerdict::Deny)
        .build()
        .unwrap();
    let registry = Registry::builder()
        .tool::<look>()
        .tool::<remove>()
        .build()
        .unwrap();
    let tools = registry
        .toolset(&cx, &Rules::default().policy(&SharedPolicy::new(policy)))
        .through(&gate);
    assert!(
        tools.may_ask("look", &cx)
            && !tools.may_ask("remove", &cx)
            && !tools.may_ask("nothing", &cx)
    );
    let open = toolset![remove];
    assert!(
        !open.may_ask("remove", &cx),
        "an effect requires an approval, although no gate is set"
    );
    assert!(open.through(&gate).may_ask("remove", &cx));
}

#[tokio::test]
async fn questions_from_code_fail_unless_the_host_allows_waiting() {
    let cx = ToolContext::anonymous().with_asker(Arc::new(FixedAnswer("Ulm")));
    let (tools, code) = (
        toolset![ask_city],
        "try { return await tools.ask_city() } catch (error) { return error.kind }",
    );
    let result = builder()
        .build()
        .unwrap()
        .start(code, &tools, &cx)
        .finish()
        .await
        .unwrap();
    assert_eq!(result.result.get(), "\"unavailable\"");
    let result = builder()
        .waiting(true)
        .build()
        .unwrap()
        .start(code, &tools, &cx)
        .finish()
        .await
        .unwrap();
    assert_eq!(result.result.get(), "\"Ulm\"");
}

// If a nested call waits for an approval, the outer call's result contains the ticket. After the answer, calls that have ended are not repeated.
#[tokio::test]
async fn code_resumes_after_its_approval_is_answered() {
    let (store, diary) = (MemoryStore::default(), Diary::default());
    let approvals = Approvals::builder(store.clone()).build().unwrap();
    let gate = Gate::builder()
        .approvals(approvals.clone())
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .build();
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("u-1")
        .conversation("main")
        .with(diary.clone())
        .build();
    // The same call is dispatched twice.
    let main = ThreadId::new("acme", "main").unwrap();
    let cx = cx.for_call(CallId::in_thread(&main, 2, 0));
    let plain = toolset![look, write, send].through(&gate);
    let setup = builder().waiting(true).build().unwrap();
    let tools = setup.instead_of(&plain, &cx).unwrap();
    let code = "const first = await tools.write({ text: 'first' });
        let sent; try { sent = await tools.send() } catch (error) { await tools.write({ text: 'caught' }); sent = error.kind }
        await tools.write({ text: 'last' });
        return [first, sent]";
    let call = || ToolCall::new("c-1", "run_code", json!({ "code": code }).to_string());
    let waits = tools.call(call(), &cx).await;
    assert_eq!(
        waits.error().map(ToolError::kind),
        Some(ErrorKind::Pending),
        "{waits:?}"
    );
    assert_eq!(waits.tickets().len(), 1);
    assert_eq!(diary.read(), ["first"]);

    // The approval is for the nested tool, so it is answered with the toolset that has no `run_code`.
    approvals
        .answer(
            main.workspace(),
            &plain,
            &waits.tickets()[0].token,
            Reply::Approve,
            "boss",
            None,
        )
        .await
        .unwrap();
    let done = tools.call(call(), &cx).await;
    assert!(!done.is_error(), "{done:?}");
    let output: serde_json::Value = serde_json::from_str(&done.model_text()).unwrap();
    assert_eq!(output["result"], json!([1, "sent"]), "{output}");
    assert_eq!(diary.read(), ["first", "sent", "last"]);
}

#[tokio::test]
async fn code_reports_the_variable_that_it_needs() {
    let cx = ToolContext::anonymous();
    let setup = builder().waiting(true).build().unwrap();
    let tools = setup.instead_of(&toolset![region], &cx).unwrap();
    let call = ToolCall::new(
        "c-1",
        "run_code",
        json!({ "code": "return await tools.region()" }).to_string(),
    );
    let result = tools.call(call, &cx).await;
    let error = result.error().unwrap();
    assert_eq!(
        (error.kind(), &*error.missing_variables()[0].name),
        (ErrorKind::Pending, "REGION")
    );
}
