//! Files that are passed between threads.

use std::sync::Arc;

use futures::StreamExt as _;
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt as _};
use serde::Deserialize;
use serde_json::json;
use tool_agent::files::ThreadFiles;
use tool_agent::runtime::{
    AgentResult, ParentThread, PromptTool, ResultAttachment, Resumable, Session, Subagent,
};
use tool_core::prelude::*;
use tool_core::store::Role;

use crate::promises::{commander, send, stored};
use crate::support::{
    Host, Log, agent, calls, context, entry, in_conversation, only_child, payload, results, text,
    thinking, worker,
};

/// The arguments of the researcher.
#[derive(Deserialize, StrictSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Task {
    /// The task.
    task: String,
    /// The files.
    files: Vec<String>,
}

fn files(store: &Arc<InMemory>, cx: &ToolContext) -> ThreadFiles {
    let store: Arc<dyn ObjectStore> = store.clone();
    ThreadFiles::new(store, cx.thread().unwrap())
}

/// Returns all paths of files in a text.
fn paths(text: &str) -> Vec<String> {
    let parts = text.split("/attachments/").skip(1);
    let end = |part: &str| part.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
    parts
        .map(|part| {
            format!(
                "/attachments/{}",
                part[..end(part).unwrap_or(part.len())].trim_end_matches('.')
            )
        })
        .collect()
}

// S4-32, S4-58: the files of a call are copied to paths of the child, which can be read after the originals are deleted.
#[tokio::test]
async fn files_are_copied_into_the_child() {
    let (host, log, store) = (Host::new(), Log::default(), Arc::new(InMemory::new()));
    let cx = context().build();
    let own = files(&store, &cx);
    let path = own
        .write("Q3 report (final).pdf", b"report".to_vec())
        .await
        .unwrap();
    assert!(path.starts_with("/attachments/Q3-report-final-"), "{path}");
    let arguments =
        json!({"task": format!("Read {path}."), "files": [path, "/attachments/none.pdf"]});
    let chief = agent(
        "chief",
        &log,
        [calls([("researcher", arguments)]), text("Done.")],
    );
    let tool = Subagent::new("researcher")
        .init_user_message("task")
        .init_attachments("files");
    let runtime = host
        .runtime()
        .files(store.clone())
        .agent(entry(chief).subagent(tool))
        .agent(worker(agent("researcher", &log, [text("Read.")])).arguments::<Task>())
        .build()
        .unwrap();
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    let row = only_child(&runtime, &cx).await;
    let child = in_conversation(row.thread.conversation());
    let first = log.of("researcher")[0].last(Role::User);
    let copies = paths(&first);
    assert_eq!(copies.len(), 1, "{first}");
    assert!(!first.contains(&path), "{first}");
    own.remove_all().await.unwrap();
    assert_eq!(
        files(&store, &child).read(&copies[0]).await.unwrap(),
        b"report"
    );
    let result = payload(&results(&host, &cx).await[0]);
    assert_eq!(result.skipped_attachments, ["/attachments/none.pdf"]);
}

/// Writes the report.
#[tool]
async fn report(files: &ThreadFiles) -> Result<AgentResult, ToolError> {
    let path = files.write("result.csv", b"1,308".to_vec()).await?;
    let mut result = AgentResult::success(format!("The table is in {path}."));
    result.attachments.push(ResultAttachment::Path(path));
    result.attachments.push(ResultAttachment::New {
        name: "note.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        data: "bm90ZQ==".to_owned(),
    });
    Ok(result)
}

// S4-59, S4-60: the files of a result are copied into the parent, for calls that wait and for delivered messages, and no message names a path of the other thread.
#[tokio::test]
async fn files_of_a_result_are_copied_into_the_parent() {
    for blocking in [true, false] {
        let (host, log, store) = (Host::new(), Log::default(), Arc::new(InMemory::new()));
        let cx = context().build();
        let chief = thinking("chief", &log, |request| {
            let first = request.texts(Role::User).len() == 1 && request.step() == 0;
            Ok(if first {
                let arguments = json!({"agent": "researcher", "name": "one", "message": "Go.", "attachments": []});
                calls([("subagent_create", arguments)])
            } else {
                text("Done.")
            })
        });
        let researcher = agent("researcher", &log, [calls([("report", json!({}))])]);
        let tool = Subagent::new("researcher")
            .blocking(blocking)
            .resumable(Resumable::new());
        let runtime = host
            .runtime()
            .files(store.clone())
            .agent(entry(chief).subagent(tool))
            .agent(
                worker(researcher.tools(|_| toolset![report]))
                    .session(Session::new().stop_tool("report")),
            )
            .build()
            .unwrap();
        runtime.respond("chief", "Go.", &cx).await.unwrap();
        runtime.idle().await;
        let row = only_child(&runtime, &cx).await;
        let child = in_conversation(row.thread.conversation());
        let (own, of_child) = (files(&store, &cx), files(&store, &child));
        let childs = of_child.list().await.unwrap();
        assert_eq!(childs.len(), 1);
        of_child.remove_all().await.unwrap();

        let messages = host.turns().messages(&cx, None).await.unwrap();
        let all: String = messages
            .iter()
            .map(|message| message.content.as_str())
            .collect();
        assert!(!all.contains(&childs[0]), "{all}");
        let named = paths(&all);
        assert!(!named.is_empty());
        for path in &named {
            assert!(own.exists(path).await.unwrap(), "{path}");
        }
        let mut contents = Vec::new();
        for path in own.list().await.unwrap() {
            contents.push(String::from_utf8(own.read(&path).await.unwrap()).unwrap());
        }
        contents.sort_unstable();
        assert_eq!(contents, ["1,308", "note"]);
        for request in log.of("chief") {
            for message in &request.messages {
                assert!(!message.content.contains(&childs[0]));
            }
        }
    }
}

// S4-60: if the sender has no file with a path in its message, the path is replaced, because it could name a file of the child.
#[tokio::test]
async fn path_of_another_thread_is_not_passed_on() {
    let (host, log, store) = (Host::new(), Log::default(), Arc::new(InMemory::new()));
    let cx = context().build();
    let foreign = files(&store, &in_conversation("other"));
    let foreign = foreign
        .write("secret.txt", b"secret".to_vec())
        .await
        .unwrap();
    let arguments = json!({"task": format!("Read {foreign}."), "files": [foreign]});
    let chief = agent(
        "chief",
        &log,
        [calls([("researcher", arguments)]), text("Done.")],
    );
    let tool = Subagent::new("researcher")
        .init_user_message("task")
        .init_attachments("files");
    let runtime = host
        .runtime()
        .files(store.clone())
        .agent(entry(chief).subagent(tool))
        .agent(worker(agent("researcher", &log, [text("Read.")])).arguments::<Task>())
        .build()
        .unwrap();
    runtime.respond("chief", "Go.", &cx).await.unwrap();
    assert_eq!(
        log.of("researcher")[0].last(Role::User),
        "Read [missing file]."
    );
    let row = only_child(&runtime, &cx).await;
    let child = in_conversation(row.thread.conversation());
    assert!(files(&store, &child).list().await.unwrap().is_empty());
}

// A path whose name is hidden or contains other segments is not the path of a file, even if the object store has such an object.
#[tokio::test]
async fn hidden_and_foreign_objects_are_not_files() {
    let store = Arc::new(InMemory::new());
    let own = files(&store, &context().build());
    let path = own.write("report.pdf", b"report".to_vec()).await.unwrap();
    let mut objects = store.list(None);
    let place = objects.next().await.unwrap().unwrap().location.to_string();
    let folder = place
        .strip_suffix(path.rsplit('/').next().unwrap())
        .unwrap();
    for name in [".env", "inner/report.pdf", "../secret.txt"] {
        let object = object_store::path::Path::parse(format!("{folder}{name}"));
        if let Ok(object) = object {
            store
                .put(&object, b"secret".as_slice().into())
                .await
                .unwrap();
        }
        let path = format!("/attachments/{name}");
        assert!(!own.exists(&path).await.unwrap(), "{path}");
        assert!(own.read(&path).await.is_err(), "{path}");
    }
    assert!(own.exists(&path).await.unwrap());
}

// A prompt uses the files of the thread that called it: its tools read them, its sub-agents get copies of them, and the files of their results are
// copied into that thread.
#[tokio::test]
async fn prompt_uses_the_files_of_its_caller() {
    /// Reads a file.
    #[tool]
    async fn read(
        files: &ThreadFiles,
        /// The path.
        path: String,
    ) -> Result<String, ToolError> {
        let bytes = files.read(&path).await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    let (host, log, store) = (Host::new(), Log::default(), Arc::new(InMemory::new()));
    let cx = context().build();
    let own = files(&store, &cx);
    let path = own.write("report.pdf", b"report".to_vec()).await.unwrap();
    let helper = thinking("helper", &log, move |request| {
        let message = format!("Read {path}.");
        let create =
            json!({"agent": "worker", "name": "one", "message": message, "attachments": []});
        Ok(match request.step() {
            0 => calls([("read", json!({"path": path})), ("subagent_create", create)]),
            1 => calls([send(request, &message)]),
            _ => text("Done."),
        })
    });
    let reporter = thinking("worker", &log, |_| Ok(calls([("report", json!({}))])));
    let runtime = host
        .runtime()
        .files(store.clone())
        .agent(entry(commander(&log, "helper")).prompt(PromptTool::new("helper")))
        .agent(
            entry(helper.tools(|_| toolset![read]))
                .expose("Helps.")
                .subagent(Subagent::new("worker").resumable(Resumable::new())),
        )
        .agent(
            worker(reporter.tools(|_| toolset![report]))
                .session(Session::new().stop_tool("report")),
        )
        .build()
        .unwrap();
    runtime.respond("chief", "call Go.", &cx).await.unwrap();
    let helper = only_child(&runtime, &cx).await;
    let helper = in_conversation(helper.thread.conversation());
    let made = results(&host, &helper).await;
    assert_eq!(made.len(), 3);
    assert_eq!(made[0].text, "report");
    let row = only_child(&runtime, &helper).await;
    let of_worker = files(&store, &in_conversation(row.thread.conversation()));
    for request in log.of("worker") {
        let copies = paths(&request.last(Role::User));
        assert_eq!(copies.len(), 1, "{request:?}");
        assert_eq!(of_worker.read(&copies[0]).await.unwrap(), b"report");
    }
    assert_eq!(log.of("worker").len(), 2);
    for result in &made[1..] {
        let attachments = payload(result).attachments;
        assert_eq!(attachments.len(), 2);
        for attachment in attachments {
            let ResultAttachment::Path(path) = attachment else {
                panic!("{attachment:?}")
            };
            assert!(own.exists(&path).await.unwrap(), "{path}");
        }
    }
    assert!(files(&store, &helper).list().await.unwrap().is_empty());
}

// A notification names the copies of files in the thread of the parent, and no path of the sub-agent's thread.
#[tokio::test]
async fn files_of_a_notification_are_copied_into_the_parent() {
    /// Sends a file to the parent.
    #[tool]
    async fn notify(
        #[context] parent: ParentThread,
        files: &ThreadFiles,
    ) -> Result<&'static str, ToolError> {
        let path = files.write("draft.csv", b"draft".to_vec()).await?;
        parent.notify(&format!("The draft is {path}.")).await?;
        Ok("sent")
    }

    let (host, log, store) = (Host::new(), Log::default(), Arc::new(InMemory::new()));
    let notifying = agent(
        "worker",
        &log,
        [calls([("notify", json!({}))]), text("Done.")],
    );
    let tool = Subagent::new("worker")
        .blocking(false)
        .resumable(Resumable::new());
    let runtime = host
        .runtime()
        .files(store.clone())
        .agent(entry(commander(&log, "worker")).subagent(tool))
        .agent(worker(notifying.tools(|_| toolset![notify])))
        .build()
        .unwrap();
    let cx = context().build();
    runtime.respond("chief", "create Go.", &cx).await.unwrap();
    runtime.idle().await;
    let row = only_child(&runtime, &cx).await;
    let child = in_conversation(row.thread.conversation());
    let own = files(&store, &child).list().await.unwrap().remove(0);
    let messages = stored(&host, &cx).await;
    assert!(!messages.contains(&own), "{messages}");
    let copies = paths(&messages);
    assert!(!copies.is_empty(), "{messages}");
    for path in copies {
        assert_eq!(files(&store, &cx).read(&path).await.unwrap(), b"draft");
    }
}
