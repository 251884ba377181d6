//! Tests of runs of the chat: concurrent, resumed, stopped and failed runs, and runs in two processes.

use std::time::Duration;

use serde_json::json;
use test_support::Ran;
use tool_core::store::{RunCause, RunFilter, RunState, Workspace};

use crate::host::{Host, Kind, Process, message};

/// Waits until the newest run of the conversation has ended, and returns the cause of its end.
async fn ended(process: &Process, conversation: &str) -> RunCause {
    loop {
        let filter = RunFilter {
            conversation: Some(conversation.to_owned()),
            ..RunFilter::default()
        };
        let rows = process
            .turns
            .runs(&Workspace::new("acme"), &filter)
            .await
            .unwrap();
        if let Some(newest) = rows.first()
            && newest.state == RunState::Ended
        {
            return newest.cause.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

// Two conversations of one user, and conversations with the same name in two workspaces, run at the same time and do not mix.
pub(crate) async fn conversations_run_at_the_same_time(kind: Kind) -> Ran {
    let host = Host::start(kind).await;
    let one = host.first.begin("one", "slow", "one ").await;
    let other = host.first.begin("other", "slow", "one ").await;
    let path = "/chat/one";
    let globex = host
        .first
        .send("POST", path, "ann-of-globex", Some(&message("hello")))
        .await;
    assert_eq!(globex.said(), "Hello.");
    host.world.release("one");
    assert!(one.rest().await.contains("two"));
    host.world.release("other");
    assert!(other.rest().await.contains("two"));
    assert_eq!(
        host.first.stored("globex", "one").await[0],
        "user: \"hello\""
    );
    let acme = host.first.stored("acme", "one").await;
    assert_eq!((acme.len(), acme[0].as_str()), (2, "user: \"slow\""));
    Ok(())
}

// A request during a run is a conflict and stores nothing, in this process and in a different one; the run is not disturbed.
pub(crate) async fn second_request_during_a_run_is_refused(kind: Kind) -> Ran {
    let host = Host::start(kind).await;
    let other = host.process().await;
    let running = host.first.begin("main", "slow", "one ").await;
    for process in [&host.first, &other] {
        let problem = process.say("main", "hello").await.refused(409);
        assert!(
            problem["detail"].as_str().unwrap().contains("/stop"),
            "{problem}"
        );
    }
    host.world.release("main");
    assert!(running.rest().await.contains("two"));
    assert_eq!(host.first.stored("acme", "main").await.len(), 2);
    // Of many requests at once, exactly one begins a run.
    let body = message("slow");
    let both = [&host.first, &other, &host.first, &other]
        .map(|process| process.request("POST", "/chat/race", "ann-of-acme"));
    let both = both.map(|request| {
        request
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
    });
    let mut statuses: Vec<u16> = futures::future::join_all(both)
        .await
        .into_iter()
        .map(|response| response.unwrap().status().as_u16())
        .collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409]);
    assert_eq!(host.first.stored("acme", "race").await, ["user: \"slow\""]);
    host.world.release("race");
    assert_eq!(ended(&host.first, "race").await, RunCause::Replied);
    Ok(())
}

// A run continues without a client, and its answer is stored.
pub(crate) async fn disconnected_client_does_not_stop_the_run(kind: Kind) -> Ran {
    let host = Host::start(kind).await;
    drop(host.first.begin("main", "slow", "one ").await);
    tokio::time::sleep(Duration::from_millis(100)).await;
    host.world.release("main");
    assert_eq!(ended(&host.first, "main").await, RunCause::Replied);
    assert!(host.first.stored("acme", "main").await[1].contains("one two"));
    assert_eq!(host.world.requests(), 1);
    Ok(())
}

// A resumed stream has the same contents as the first stream from its beginning, for any number of clients. Without a run, it is empty.
pub(crate) async fn stream_is_resumed_from_its_beginning(kind: Kind) -> Ran {
    let host = Host::start(kind).await;
    let first = host.first.begin("main", "slow", "one ").await;
    let (one, two, ()) = tokio::join!(
        host.first.resume("main"),
        host.first.resume("main"),
        async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            host.world.release("main");
        }
    );
    let first = first.rest().await;
    assert_eq!(
        (one.text.as_str(), two.text.as_str()),
        (first.as_str(), first.as_str())
    );
    assert_eq!(one.types()[..3], ["start", "start-step", "text-start"]);
    // The process removes a stream shortly after its end. Until then, the complete stream is returned.
    loop {
        let idle = host.first.resume("main").await;
        if idle.status == 204 {
            assert_eq!(idle.text, "");
            return Ok(());
        }
        assert_eq!(idle.text, first);
    }
}

// A run of a different process is shown by its stored messages, and the stream ends with the run.
pub(crate) async fn stream_of_another_process_shows_stored_messages(kind: Kind) -> Ran {
    let host = Host::start(kind).await;
    let other = host.process().await;
    let first = host.first.begin("main", "slow", "one ").await;
    let (shown, ()) = tokio::join!(other.resume("main"), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        host.world.release("main");
    });
    assert_eq!(shown.said(), "one two");
    let start = first.rest().await;
    assert!(
        start.contains(r#""messageId":"answer-1""#)
            && shown.text.contains(r#""messageId":"answer-1""#)
    );
    // The stream contains a request for each of the two approvals.
    let chunks = host.first.say("mail", "mail").await.types();
    assert_eq!(
        chunks
            .iter()
            .filter(|kind| *kind == "tool-approval-request")
            .count(),
        2
    );
    Ok(())
}

// A stopped run ends immediately, and the text that the user has seen is part of the thread.
pub(crate) async fn run_is_stopped_and_its_text_is_kept(kind: Kind) -> Ran {
    let host = Host::start(kind).await;
    let running = host.first.begin("main", "slow", "one ").await;
    assert_eq!(host.first.stop("main").await.status, 204);
    let text = running.rest().await;
    assert!(
        text.ends_with("data: {\"type\":\"abort\"}\n\ndata: [DONE]\n\n"),
        "{text}"
    );
    assert_eq!(ended(&host.first, "main").await, RunCause::Cancelled);
    assert_eq!(host.first.stop("main").await.status, 204);
    assert_eq!(host.first.say("main", "hello").await.said(), "Hello.");
    let seen = host.world.last_request();
    assert!(
        seen.contains(r#""text":"one ""#) && seen.contains(r#""truncated":true"#),
        "{seen}"
    );
    Ok(())
}

// A run is stopped through the store by a process that does not drive it.
pub(crate) async fn run_of_another_process_is_stopped(kind: Kind) -> Ran {
    let host = Host::start(kind).await;
    let other = host.process().await;
    let running = host.first.begin("main", "slow", "one ").await;
    assert_eq!(other.stop("main").await.status, 204);
    let text = running.rest().await;
    assert!(text.contains(r#"{"type":"abort"}"#), "{text}");
    assert_eq!(ended(&other, "main").await, RunCause::Cancelled);
    Ok(())
}

// If the model fails, the user sees a generic text without details of the error. The next request answers the message.
pub(crate) async fn failed_model_ends_the_stream_with_a_generic_text(kind: Kind) -> Ran {
    let host = Host::start(kind).await;
    let failed = host.first.say("main", "fail once").await;
    let types = failed.types();
    assert_eq!(types[types.len() - 3..], ["error", "finish-step", "finish"]);
    assert!(!failed.text.contains("sk-secret"), "{}", failed.text);
    assert_eq!(ended(&host.first, "main").await, RunCause::Failed);
    let mut again = message("fail once");
    again["trigger"] = json!("regenerate-message");
    assert_eq!(host.first.post("main", &again).await.said(), "Hello.");
    // The message is not stored twice, and a stored answer is not generated again.
    assert_eq!(host.first.stored("acme", "main").await.len(), 2);
    let _ = host.first.post("main", &again).await.refused(409);
    Ok(())
}

// A panic of the host's model ends the stream and the run, and the conversation can be continued.
pub(crate) async fn panic_of_the_model_ends_the_stream(kind: Kind) -> Ran {
    let host = Host::start(kind).await;
    let failed = host.first.say("main", "panic").await;
    assert!(failed.types().contains(&"error".to_owned()));
    ended(&host.first, "main").await;
    assert_eq!(host.first.say("main", "hello").await.said(), "Hello.");
    Ok(())
}

// The run of a dead process does not have a stream, and the next message continues the conversation when the lease has expired.
pub(crate) async fn run_continues_after_the_death_of_its_process(kind: Kind) -> Ran {
    let host = Host::start(kind).await;
    let cx = tool_core::ToolContext::builder()
        .workspace("acme")
        .conversation("main")
        .build();
    let dead = host.process().await;
    let begun = dead.turns.begin(&cx).await.unwrap();
    // The value is never dropped, so the run does not end, like the run of a killed process.
    std::mem::forget(begun);
    let _ = host.first.say("main", "hello").await.refused(409);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(host.first.resume("main").await.status, 204);
    assert_eq!(host.first.say("main", "hello").await.said(), "Hello.");
    Ok(())
}
