//! Files and addresses in messages between threads.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use serde_json::json;
use tool_agent::files::ThreadFiles;
use tool_agent::runtime::{AgentResult, ResultAttachment, Resumable, Session, Subagent};
use tool_core::prelude::*;
use tool_core::store::Role;

use crate::promises::{commander, stored};
use crate::promises_limits::creator;
use crate::support::{
    Host, Log, agent, calls, context, entry, in_conversation, only_child, payload, results, text,
    worker,
};

fn files(store: &Arc<InMemory>, cx: &ToolContext) -> ThreadFiles {
    let store: Arc<dyn ObjectStore> = store.clone();
    ThreadFiles::new(store, cx.thread().unwrap())
}

// A URL whose path resembles the path of a file is passed on unchanged.
#[tokio::test]
async fn web_address_in_a_message_is_not_a_file() {
    let (host, log, store) = (Host::new(), Log::default(), Arc::new(InMemory::new()));
    let runtime = host
        .runtime()
        .files(store)
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(agent("worker", &log, [text("Read.")])))
        .build()
        .unwrap();
    let message = "See https://jira.example.com/attachments/123.pdf now.";
    let cx = context().build();
    let asked = format!("call {message}");
    runtime.respond("chief", asked, &cx).await.unwrap();
    assert_eq!(log.of("worker")[0].last(Role::User), message);
}

// The data of an error contains the paths of the copies in the parent's thread, as the text of the error does.
#[tokio::test]
async fn data_of_an_error_names_no_path_of_the_sub_agent() {
    /// Fails with the path of a file.
    #[tool]
    async fn fail(files: &ThreadFiles) -> Result<AgentResult, ToolError> {
        let path = files.write("draft.csv", b"1".to_vec()).await?;
        Ok(AgentResult::error("not complete").code("draft", Some(json!({"see": path}))))
    }

    let (host, log, store) = (Host::new(), Log::default(), Arc::new(InMemory::new()));
    let failing = agent("worker", &log, [calls([("fail", json!({}))])]);
    let runtime = host
        .runtime()
        .files(store.clone())
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(failing.tools(|_| toolset![fail])).session(Session::new().stop_tool("fail")))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    let child = in_conversation(row.thread.conversation());
    let own = files(&store, &child).list().await.unwrap().remove(0);
    let copy = files(&store, &cx).list().await.unwrap().remove(0);
    let messages = stored(&host, &cx).await;
    assert!(messages.contains(&copy), "{messages}");
    assert!(!messages.contains(&own), "{messages}");
}

// At most 100 files in a message are copied, which limits the requests to the object store.
#[tokio::test]
async fn copied_files_of_a_message_are_limited() {
    let (host, log, store) = (Host::new(), Log::default(), Arc::new(InMemory::new()));
    let runtime = host
        .runtime()
        .files(store.clone())
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(worker(agent("worker", &log, [text("Read.")])))
        .build()
        .unwrap();
    let cx = context().build();
    let own = files(&store, &cx);
    let mut message = "call Read".to_owned();
    for at in 0..101 {
        let path = own.write(&format!("{at}.txt"), b"1".to_vec()).await;
        message.push(' ');
        message.push_str(&path.unwrap());
    }
    runtime.respond("chief", message, &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    let child = in_conversation(row.thread.conversation());
    assert_eq!(files(&store, &child).list().await.unwrap().len(), 100);
    let read = log.of("worker")[0].last(Role::User);
    assert!(read.ends_with(" [missing file]"), "{read}");
}

// S4-58: a file in `subagent_create` that does not exist is skipped and reported, and the sub-agent starts without it.
#[tokio::test]
async fn missing_file_of_a_creation_is_reported() {
    let (host, log, store) = (Host::new(), Log::default(), Arc::new(InMemory::new()));
    let cx = context().build();
    let own = files(&store, &cx);
    let path = own.write("report.pdf", b"report".to_vec()).await.unwrap();
    let runtime = host
        .runtime()
        .files(store.clone())
        .agent(entry(creator(&log)).subagent(Subagent::new("worker").resumable(Resumable::new())))
        .agent(worker(agent("worker", &log, [text("Read.")])))
        .build()
        .unwrap();
    let call = json!({
        "agent": "worker", "name": "one", "message": "Read it.", "attachments": ["/attachments/none.pdf", path],
    });
    let call = call.to_string();
    runtime.respond("chief", call, &cx).await.unwrap();
    let result = results(&host, &cx).await.remove(0);
    assert!(!result.is_error(), "{}", result.text);
    assert_eq!(
        payload(&result).skipped_attachments,
        ["/attachments/none.pdf"]
    );
    let row = only_child(&runtime, &cx).await;
    let child = in_conversation(row.thread.conversation());
    let copies = files(&store, &child).list().await.unwrap();
    assert_eq!(copies.len(), 1);
    let first = log.of("worker")[0].last(Role::User);
    assert_eq!(first, format!("Read it.\nattachment: {}", copies[0]));
}

// A file of a result that does not exist in the thread of the sub-agent is skipped and reported.
#[tokio::test]
async fn missing_file_of_a_result_is_reported() {
    /// Returns a file that exists and one that does not.
    #[tool]
    async fn deliver(files: &ThreadFiles) -> Result<AgentResult, ToolError> {
        let path = files.write("table.csv", b"1".to_vec()).await?;
        let mut result = AgentResult::success("Done.");
        result.attachments = vec![
            ResultAttachment::Path(path),
            ResultAttachment::Path("/attachments/none.pdf".to_owned()),
        ];
        Ok(result)
    }

    let (host, log, store) = (Host::new(), Log::default(), Arc::new(InMemory::new()));
    let delivering = agent("worker", &log, [calls([("deliver", json!({}))])]);
    let runtime = host
        .runtime()
        .files(store.clone())
        .agent(entry(commander(&log, "worker")).subagent(Subagent::new("worker")))
        .agent(
            worker(delivering.tools(|_| toolset![deliver]))
                .session(Session::new().stop_tool("deliver")),
        )
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let result = results(&host, &cx).await.remove(0);
    let copy = files(&store, &cx).list().await.unwrap().remove(0);
    let delivered = payload(&result);
    assert_eq!(delivered.attachments, [ResultAttachment::Path(copy)]);
    assert_eq!(delivered.skipped_attachments, ["/attachments/none.pdf"]);
    let line = "\nskipped attachment, which was not passed on: /attachments/none.pdf";
    assert!(result.text.contains(line), "{}", result.text);
}

// Without an object store, files are neither passed on nor stored in messages, and the results name them.
#[tokio::test]
async fn files_without_an_object_store_are_reported() {
    /// Returns two files.
    #[tool(read_only)]
    fn deliver() -> Result<AgentResult, ToolError> {
        let mut result = AgentResult::success("Done.");
        result.attachments = vec![
            ResultAttachment::Path("/attachments/table.csv".to_owned()),
            ResultAttachment::New {
                name: "note.txt".to_owned(),
                media_type: "text/plain".to_owned(),
                data: "bm90ZQ==".to_owned(),
            },
        ];
        Ok(result)
    }

    let (host, log) = (Host::new(), Log::default());
    let delivering = agent("worker", &log, [calls([("deliver", json!({}))])]);
    let runtime = host
        .runtime()
        .agent(
            entry(creator(&log)).subagent(
                Subagent::new("worker")
                    .blocking(false)
                    .resumable(Resumable::new()),
            ),
        )
        .agent(
            worker(delivering.tools(|_| toolset![deliver]))
                .session(Session::new().stop_tool("deliver")),
        )
        .build()
        .unwrap();
    let call = json!({
        "agent": "worker", "name": "one", "message": "Go.", "attachments": ["/attachments/none.pdf"],
    });
    let cx = context().build();
    let call = call.to_string();
    runtime.respond("chief", call, &cx).await.unwrap();
    runtime.idle().await;
    let result = payload(&results(&host, &cx).await[0]);
    assert_eq!(result.skipped_attachments, ["/attachments/none.pdf"]);
    let messages = stored(&host, &cx).await;
    assert!(messages.contains("subagent_result"), "{messages}");
    assert!(messages.contains("note.txt"), "{messages}");
    assert!(messages.contains("table.csv"), "{messages}");
    assert!(!messages.contains("bm90ZQ=="), "{messages}");
}
