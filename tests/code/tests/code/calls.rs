//! Tests of tool calls from code. Each call passes the gate.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use serde_json::json;
use tool_code::{Limits, Status};
use tool_core::policy::{Condition, Policy, PolicyVerdict, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, CallId, MemoryStore, Scope, ThreadId};
use tool_core::{Audit, Effect, ExposeSecret as _, Gate, Rules, ToolContextBuilder};

use crate::support::{Diary, builder, gave, limits, message, run_with, short};

/// A counter of the calls that run at the same time.
#[derive(Clone, Default)]
struct Room(Arc<(AtomicUsize, AtomicUsize)>);
tool_core::host_value!(Room, Effect::READ);

impl Room {
    async fn visit(&self) {
        let (inside, most) = &*self.0;
        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
        most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(30)).await;
        inside.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }
}

/// A [`Room`] for tools that write.
#[derive(Clone, Default)]
struct Editor(Room);
tool_core::host_value!(Editor, Effect::WRITE);

/// Reads a page.
#[tool]
async fn read_page(
    room: &Room,
    diary: &Diary,
    /// The number of the page.
    page: u32,
) -> u32 {
    diary.write(format!("read {page}"));
    room.visit().await;
    diary.write(format!("end {page}"));
    page * 10
}

/// Writes a page.
#[tool]
async fn write_page(
    editor: &Editor,
    diary: &Diary,
    /// The number of the page.
    page: u32,
) -> String {
    diary.write(format!("write {page}"));
    editor.0.visit().await;
    diary.write(format!("end {page}"));
    format!("page {page} is written")
}

/// Always fails.
#[tool(read_only)]
fn fail() -> Result<u32, ToolError> {
    Err(ToolError::new(
        "the index is being rebuilt, try again in a minute",
    ))
}

fn context(diary: &Diary, room: &Room, editor: &Editor) -> ToolContextBuilder {
    ToolContext::builder()
        .with(diary.clone())
        .with(room.clone())
        .with(editor.clone())
}

#[tokio::test]
async fn reads_run_together_and_writes_alone_and_in_order() {
    let (diary, room, editor) = (Diary::default(), Room::default(), Editor::default());
    let cx = context(&diary, &room, &editor).build();
    let setup = builder()
        .limits(Limits {
            parallel: 3,
            ..limits()
        })
        .build()
        .unwrap();
    let code = "return await Promise.all([
        tools.read_page({ page: 1 }), tools.read_page({ page: 2 }), tools.read_page({ page: 3 }), tools.read_page({ page: 4 }),
        tools.write_page({ page: 5 }), tools.write_page({ page: 6 }), tools.read_page({ page: 7 }), tools.write_page({ page: 8 }),
    ])";
    let result = setup
        .start(code, &toolset![read_page, write_page], &cx)
        .finish()
        .await
        .unwrap();
    assert_eq!(
        gave(&result),
        json!([
            10,
            20,
            30,
            40,
            "page 5 is written",
            "page 6 is written",
            70,
            "page 8 is written"
        ])
    );
    assert_eq!((room.most(), editor.0.most()), (3, 1));
    let lines = diary.read();
    let begun: Vec<&str> = lines
        .iter()
        .filter(|line| !line.starts_with("end"))
        .map(String::as_str)
        .collect();
    assert_eq!(
        begun,
        [
            "read 1", "read 2", "read 3", "read 4", "write 5", "write 6", "read 7", "write 8"
        ]
    );
    // No other call runs at the same time as a call that writes.
    let mut open: Vec<&str> = Vec::new();
    for line in &lines {
        let (what, page) = line.split_once(' ').unwrap();
        match what {
            "end" => open.retain(|known| !known.ends_with(page)),
            "write" => assert!(open.is_empty(), "{line} in {lines:?}"),
            _ => assert!(
                !open.iter().any(|known| known.starts_with("write")),
                "{line} in {lines:?}"
            ),
        }
        if what != "end" {
            open.push(line);
        }
    }
}

// M18: calls from code pass the same gate as any nested call.
#[tokio::test]
async fn calls_from_code_pass_the_gate_and_record_their_parent() {
    let (diary, room, editor) = (Diary::default(), Room::default(), Editor::default());
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .build();
    let policy = Policy::builder()
        .rule(
            Rule::deny("far")
                .tools(["write_page"])
                .when(Condition::new("/page").greater(100))
                .reason("there is no such page"),
        )
        .otherwise(PolicyVerdict::Allow)
        .build()
        .unwrap();
    let registry = Registry::builder()
        .tool::<read_page>()
        .tool::<write_page>()
        .tool::<fail>()
        .build()
        .unwrap();
    let cx = context(&diary, &room, &editor)
        .workspace("acme")
        .conversation("main")
        .build();
    let main = ThreadId::new("acme", "main").unwrap();
    let identity = CallId::in_thread(&main, 2, 0);
    let rules = Rules::default()
        .policy(&SharedPolicy::new(policy))
        .deny(["fail"]);
    let tools = registry.toolset(&cx, &rules).through(&gate);
    let tools = builder().build().unwrap().instead_of(&tools, &cx).unwrap();
    let code = "
        const seen: unknown[] = [await tools.read_page({ page: 1 })];
        await tools.write_page({ page: 2 });
        for (const call of [() => tools.write_page({ page: 101 }), () => tools.write_page({ page: -1 }), () => tools.read_page({}), () => (tools as any).fail({})]) {
            try { seen.push(await call()) } catch (error) { seen.push([error.kind ?? error.name, error.message]) }
        }
        return seen;";
    let result = tools
        .call(
            ToolCall::new("c-1", "run_code", json!({ "code": code }).to_string()),
            &cx.for_call(identity.clone()),
        )
        .await;
    let output: serde_json::Value = serde_json::from_str(result.output().unwrap().get()).unwrap();
    assert_eq!(output["status"], "success", "{output}");
    assert_eq!(output["result"][0], 10);
    let kinds: Vec<&str> = (1..5)
        .map(|at| output["result"][at][0].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "denied",
            "invalid_arguments",
            "invalid_arguments",
            "ReferenceError"
        ],
        "{output}"
    );
    assert!(
        output["result"][1][1]
            .as_str()
            .unwrap()
            .contains("there is no such page"),
        "{output}"
    );
    assert_eq!(diary.read(), ["read 1", "end 1", "write 2", "end 2"]);

    let rows = AuditSink::export(&store, Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    let nested: Vec<_> = rows.iter().filter(|row| row.tool != "run_code").collect();
    assert_eq!(nested.len(), 5, "{rows:#?}");
    let outer: Vec<_> = nested.iter().map(|row| row.identity.outer()).collect();
    assert_eq!(outer, vec![Some(identity); 5], "{nested:#?}");
    // The order of rows within one millisecond is not defined.
    let mut outcomes: Vec<&str> = nested
        .iter()
        .filter_map(|row| row.outcome.as_deref())
        .collect();
    outcomes.sort_unstable();
    assert_eq!(
        outcomes,
        [
            "denied",
            "invalid_arguments",
            "invalid_arguments",
            "ok",
            "ok"
        ]
    );
}

// M18: code cannot forge a permit: it cannot call tools that need an approval, names outside the run's list, or more tools than the limit of calls.
#[tokio::test]
async fn tools_outside_the_permit_are_not_called() {
    /// Removes all entries.
    #[tool(destructive)]
    fn remove(diary: &Diary) -> u8 {
        diary.write("removed");
        0
    }
    /// Sends a mail.
    #[tool(approval)]
    fn send(diary: &Diary) -> u8 {
        diary.write("sent");
        0
    }
    /// Logs the call, and returns 0.
    #[tool(read_only)]
    fn look(diary: &Diary) -> u8 {
        diary.write("looked");
        0
    }
    let diary = Diary::default();
    let cx = ToolContext::builder().with(diary.clone()).build();
    let gate = Gate::builder().build();
    let tools = toolset![remove, send, look].through(&gate);
    let setup = builder()
        .limits(Limits {
            calls: 3,
            ..limits()
        })
        .build()
        .unwrap();
    let run = async |code: &str| setup.start(code, &tools, &cx).finish().await.unwrap();
    for name in [
        "remove",
        "send",
        "run_code",
        "describe_api",
        "call_tool",
        "constructor",
        "__proto__",
        "hasOwnProperty",
        "",
    ] {
        let result = run(&format!("return await tools[{name:?}]({{}})")).await;
        assert_eq!(result.status, Status::Error, "{name}: {result:?}");
    }
    let result = run("import { remove } from 'tools'; return await remove({})").await;
    assert_eq!(result.status, Status::LinkError);
    assert_eq!(diary.read(), Vec::<String>::new());
    // Code cannot exceed the run's limit of calls: not in parallel, not in sequence, and not with a different syntax of the call.
    let flood = "const all = await Promise.allSettled(Array.from({ length: 50 }, () => tools.look({})));
        const late = []; for (const f of [() => tools.look({}), () => tools['look'].call(null, {}), () => Reflect.apply(tools.look, tools, [{}])])
            try { await f(); late.push('called') } catch (error) { late.push(error.kind) }
        return [all.filter(one => one.status === 'fulfilled').length, late]";
    assert_eq!(
        gave(&run(flood).await),
        json!([3, ["rate_limited", "rate_limited", "rate_limited"]])
    );
    assert_eq!(diary.read().len(), 3);
}

// M18: a gate that is set only on the toolset with `run_code` also applies to the calls that code makes.
#[tokio::test]
async fn gate_of_run_code_also_applies_to_its_calls() {
    /// Removes all entries.
    #[tool(destructive)]
    fn remove(diary: &Diary) -> u8 {
        diary.write("removed");
        0
    }
    let diary = Diary::default();
    let cx = ToolContext::builder().with(diary.clone()).build();
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let setup = builder().build().unwrap();
    let tools = setup
        .instead_of(&toolset![remove, fail], &cx)
        .unwrap()
        .through(&gate);
    let code =
        json!({ "code": "try { await tools.fail() } catch {} await tools.remove(); return 1" });
    let result = tools
        .call(ToolCall::new("c-1", "run_code", code.to_string()), &cx)
        .await;
    assert_eq!(
        result.error().map(ToolError::kind),
        Some(tool_core::ErrorKind::Pending),
        "{result:?}"
    );
    assert_eq!(diary.read(), Vec::<String>::new());
    let rows = AuditSink::export(&store, Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    let of = |tool: &str| rows.iter().filter(|row| row.tool == tool).count();
    assert_eq!(
        (of("run_code"), of("fail"), of("remove")),
        (1, 1, 1),
        "{rows:#?}"
    );
}

#[tokio::test]
async fn a_tool_that_fails_is_an_error_that_code_can_catch() {
    let tools = toolset![fail];
    let result = run_with(limits(), &tools, "try { await tools.fail() } catch (error) { return [error.name, error.kind, error.message] }").await;
    assert_eq!(
        gave(&result),
        json!([
            "ToolError",
            "failed",
            "the index is being rebuilt, try again in a minute"
        ])
    );
    let result = run_with(limits(), &tools, "let a: number;\n\nawait tools.fail();").await;
    let error = result.error.as_ref().unwrap();
    assert_eq!(
        (result.status, &*error.name, error.line),
        (Status::Error, "ToolError", Some(3)),
        "{error:?}"
    );
    let result = run_with(limits(), &tools, "tools.fail(); return 1").await;
    assert_eq!(
        (result.status, message(&result)),
        (
            Status::Error,
            "unhandled promise rejection: the index is being rebuilt, try again in a minute"
        )
    );
}

#[tokio::test]
async fn unawaited_calls_finish_before_the_run_ends() {
    let (diary, room, editor) = (Diary::default(), Room::default(), Editor::default());
    let cx = context(&diary, &room, &editor).build();
    let setup = builder().build().unwrap();
    let result = setup
        .start(
            "tools.write_page({ page: 1 }); return 'sent'",
            &toolset![write_page],
            &cx,
        )
        .finish()
        .await
        .unwrap();
    assert_eq!(gave(&result), json!("sent"));
    assert_eq!(diary.read(), ["write 1", "end 1"]);
}

#[tokio::test]
async fn long_texts_pass_and_oversized_ones_are_refused() {
    /// Repeats a text.
    #[tool(read_only)]
    fn repeat(
        /// The text to repeat.
        text: String,
        /// The number of repetitions.
        times: u32,
    ) -> String {
        text.repeat(times as usize)
    }
    let tools = toolset![repeat];
    let result = run_with(limits(), &tools, "const text = '\\u{1f980}\\\\\\0\\u2028'.repeat(20_000); const back = await tools.repeat({ text, times: 2 }); return [back === text + text, back.length]").await;
    assert_eq!(gave(&result), json!([true, 200_000]));
    let result = run_with(limits(), &tools, "try { await tools.repeat({ text: 'x'.repeat(2e6), times: 1 }) } catch (error) { return [error.kind, error.message] }").await;
    assert_eq!(gave(&result)[0], "invalid_arguments");
    let result = run_with(limits(), &tools, "try { await tools.repeat({ text: 'x'.repeat(1000), times: 2000 }) } catch (error) { return error.message }").await;
    assert!(
        gave(&result).as_str().unwrap().contains("ask for less"),
        "{result:?}"
    );
}

#[tokio::test]
async fn ending_a_run_drops_its_calls() {
    /// Writes to the diary when it is dropped.
    struct Dropped(Diary);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.write("dropped");
        }
    }
    /// Waits until it is cancelled.
    #[tool(read_only)]
    async fn hang(diary: &Diary) -> u8 {
        let _dropped = Dropped(diary.clone());
        diary.write("begun");
        std::future::pending().await
    }
    let diary = Diary::default();
    let cx = ToolContext::builder().with(diary.clone()).build();
    let setup = builder().limits(short()).build().unwrap();
    let result = setup
        .start("await tools.hang({})", &toolset![hang], &cx)
        .finish()
        .await
        .unwrap();
    assert_eq!(result.status, Status::Terminated);
    assert_eq!(diary.read(), ["begun", "dropped"]);
}

// S4-06: cancelling the call ends the run.
#[tokio::test]
async fn cancelling_the_call_ends_the_process() {
    let setup = builder().build().unwrap();
    let token = tool_core::CancellationToken::new();
    let cx = ToolContext::builder().cancellation(token.clone()).build();
    let tools = setup.instead_of(&toolset![], &cx).unwrap();
    let call = ToolCall::new("c-7", "run_code", r#"{"code":"for (;;);"}"#);
    let (result, handle) = tokio::join!(tools.call(call, &cx), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let handle = setup.runs().remove(0);
        assert_eq!(handle.call_id(), Some("c-7"));
        token.cancel();
        handle
    });
    assert_eq!(
        result.error().map(ToolError::kind),
        Some(tool_core::ErrorKind::Cancelled)
    );
    assert!(!handle.running());
}

#[tokio::test]
async fn a_call_of_run_code_is_ended_by_its_handle() {
    let setup = builder().build().unwrap();
    let cx = ToolContext::anonymous();
    let tools = setup.instead_of(&toolset![], &cx).unwrap();
    let call = ToolCall::new("c-8", "run_code", r#"{"code":"console.log(1); for (;;);"}"#);
    let (result, ()) = tokio::join!(tools.call(call, &cx), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        setup.runs()[0].terminate("the operator has had enough");
    });
    let output: serde_json::Value = serde_json::from_str(result.output().unwrap().get()).unwrap();
    assert_eq!(
        (&output["status"], &output["error"]["message"]),
        (&json!("terminated"), &json!("the operator has had enough"))
    );
}

// M8: results of tools are redacted before code receives them, so code cannot transform a secret to bypass redaction.
#[tokio::test]
async fn code_receives_redacted_secrets() {
    /// Returns its secret.
    #[tool(read_only)]
    fn tell(#[secret("api_key")] key: SecretString) -> String {
        format!("the key is {}", key.expose_secret())
    }
    let cx = ToolContext::builder()
        .secret("api_key", "sk-very-secret-4711")
        .build();
    let setup = builder().build().unwrap();
    let code = "const told = await tools.tell(); console.log(told); report([...told]); return [...told].reverse().join('')";
    for tools in [
        toolset![tell],
        toolset![tell].through(&Gate::builder().build()),
    ] {
        let result = setup.start(code, &tools, &cx).finish().await.unwrap();
        assert_eq!(result.status, Status::Success, "{:?}", result.error);
        let text = serde_json::to_string(&result).unwrap();
        for spelling in ["4711", "1174", "\"4\",\"7\",\"1\",\"1\""] {
            assert!(!text.contains(spelling), "{text}");
        }
    }
}

#[tokio::test]
async fn a_client_sees_the_log_while_the_code_runs() {
    let cx = ToolContext::anonymous();
    let tools = builder()
        .build()
        .unwrap()
        .instead_of(&toolset![], &cx)
        .unwrap();
    let code = json!({ "code": "console.log('one'); console.warn('two'); return 3" });
    let call = ToolCall::new("c-1", "run_code", code.to_string());
    let events: Vec<ToolEvent> = tools.stream(call, &cx).collect().await;
    let steps: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            ToolEvent::Progress(step) => Some(step.get()),
            _ => None,
        })
        .collect();
    assert_eq!(
        steps,
        [
            r#"{"level":"info","text":"one"}"#,
            r#"{"level":"warn","text":"two"}"#
        ]
    );
}
