//! Messages and results that are stored while a call is open.

use tool_core::prelude::*;
use tool_core::store::{Message, Role, ThreadStore};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turn, Turns};
use tool_wire::Provider;

use super::{ANN, Script, cx, drive, pays, texts};
use crate::support::{Host, mail, thread};

/// Returns the messages of a request to a provider, as text.
fn sent(provider: Provider, messages: &[Message]) -> String {
    let history = provider.history(messages).unwrap();
    let messages: Vec<_> = history
        .messages
        .iter()
        .map(|message| message.get())
        .collect();
    format!("[{}]", messages.join(","))
}

/// A model whose first response waits until the test drives the thread a second time.
struct WaitingModel(std::sync::Arc<tokio::sync::Barrier>, u32);

impl Model for WaitingModel {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> futures::future::BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(async {
            self.1 += 1;
            if self.1 > 1 {
                return Ok(ModelMessage::text("paid"));
            }
            self.0.wait().await;
            Ok(ModelMessage::calls([pays("call_0", 5)]))
        })
    }
}

// If two requests drive one thread at the same time, only one of them continues, so the call pays once
#[tokio::test]
async fn only_one_of_two_concurrent_runs_of_a_thread_continues() {
    let host = Host::new();
    let (turns, cx) = (Turns::new(host.store.clone()), cx(&host, ANN));
    let tools = |_: &ToolContext| host.tools.clone();
    turns.say("Pay him 5.", &cx).await.unwrap();
    let both = std::sync::Arc::new(tokio::sync::Barrier::new(2));
    let mut one = WaitingModel(both.clone(), 0);
    let (done, busy) = futures::future::join(turns.drive(&mut one, tools, &cx), async {
        both.wait().await;
        let busy = turns.drive(&mut Script::new([]), tools, &cx).await;
        busy.unwrap()
    })
    .await;
    assert!(
        matches!(&done, Ok(Outcome::Answered(text)) if text == "paid"),
        "{done:?}"
    );
    assert!(
        matches!(&busy, Outcome::Busy(id) if id.number() == 1),
        "{busy:?}"
    );
    assert_eq!(host.mailbox.sent(), 1);
    // The thread can be driven again after the busy outcome.
    let again = turns.drive(&mut Script::new([]), tools, &cx).await.unwrap();
    assert!(
        matches!(&again, Outcome::Answered(text) if text == "paid"),
        "{again:?}"
    );
}

/// Asserts that each text occurs once and that they occur in this order.
#[track_caller]
fn in_order(text: &str, parts: &[&str]) {
    let at = |part: &&str| {
        assert_eq!(text.matches(part).count(), 1, "`{part}` in {text}");
        text.find(part).unwrap()
    };
    let places: Vec<usize> = parts.iter().map(at).collect();
    assert!(places.is_sorted(), "{parts:?} in {text}");
}

// A message that arrives while a call waits for approval is read after the result
#[tokio::test]
async fn a_message_that_arrives_during_an_approval_is_read_after_the_result() {
    let host = Host::new();
    let (turns, cx) = (Turns::new(host.store.clone()), cx(&host, ANN));
    turns.say("Write to him.", &cx).await.unwrap();
    let mut model = Script::new([ModelMessage::calls([mail("call_0")])]);
    let Outcome::Waiting(tickets) = drive(&host, &mut model, &cx).await else {
        panic!()
    };
    turns.say("Are you there?", &cx).await.unwrap();
    // The call still waits for its approval.
    let waits = drive(&host, &mut Script::new([]), &cx).await;
    assert!(matches!(waits, Outcome::Waiting(_)), "{waits:?}");
    host.approve(&tickets[0]).await;

    let mut model = Script::new([ModelMessage::text("I am.")]);
    let outcome = drive(&host, &mut model, &cx).await;
    assert!(
        matches!(&outcome, Outcome::Answered(text) if text == "I am."),
        "{outcome:?}"
    );
    assert_eq!((host.mailbox.sent(), model.1.len()), (1, 1));
    for provider in Provider::ALL {
        let sent = sent(provider, &model.1[0]);
        in_order(&sent, &["Write to him.", "sent to bob", "Are you there?"]);
        assert!(sent.find("send_mail") < sent.find("sent to bob"), "{sent}");
        assert!(!sent.contains("there is no result"), "{provider}: {sent}");
    }
    // A message that was answered is not answered again.
    let outcome = drive(&host, &mut Script::new([]), &cx).await;
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
}

// The next message of the user starts a run with all its steps, even if the last run has used all steps
#[tokio::test]
async fn a_users_message_starts_a_run_with_all_its_steps() {
    let host = Host::new();
    let (turns, cx) = (Turns::new(host.store.clone()).most_steps(1), cx(&host, ANN));
    let tools = |_: &ToolContext| host.tools.clone();
    turns.say("Pay.", &cx).await.unwrap();
    let mut model = Script::new([ModelMessage::calls([pays("call_0", 5)])]);
    let outcome = turns.drive(&mut model, tools, &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::StepLimit), "{outcome:?}");
    turns.say("And now?", &cx).await.unwrap();
    let mut model = Script::new([ModelMessage::text("Paid.")]);
    let outcome = turns.drive(&mut model, tools, &cx).await.unwrap();
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    assert_eq!(host.mailbox.sent(), 1);
}

// If two processes run the calls of one message, each result is stored once
#[tokio::test]
async fn late_result_of_another_process_is_stored_once() {
    let host = Host::new();
    let (turns, cx) = (Turns::new(host.store.clone()), cx(&host, ANN));
    turns.say("Pay.", &cx).await.unwrap();
    let message = ModelMessage::calls([pays("call_0", 5)]);
    let message = turns.record(message, &cx).await.unwrap();
    turns.say("Are you there?", &cx).await.unwrap();
    let (one, other) = tokio::join!(
        turns.run(&host.tools, &message, &cx),
        turns.run(&host.tools, &message, &cx)
    );
    for turn in [one.unwrap(), other.unwrap()] {
        assert!(
            matches!(turn, Turn::Complete(_) | Turn::Busy(_)),
            "{turn:?}"
        );
    }
    assert_eq!(
        texts(turns.run(&host.tools, &message, &cx).await.unwrap()),
        ["5"]
    );
    assert_eq!(host.mailbox.sent(), 1);
    let thread = ThreadStore::read(&host.store, &thread("th-1"), None)
        .await
        .unwrap();
    let results = thread.iter().filter(|message| message.role == Role::Tool);
    assert_eq!(results.count(), 1);
    let mut model = Script::new([ModelMessage::text("Paid.")]);
    drive(&host, &mut model, &cx).await;
    for provider in Provider::ALL {
        let sent = sent(provider, &model.1[0]);
        let (call, hello) = (sent.find("pay").unwrap(), sent.find("Are you").unwrap());
        assert!(call < hello, "{provider}: {sent}");
        assert!(!sent.contains("there is no result"), "{provider}: {sent}");
    }
}

// A call of an older message that was never finished is shown with a placeholder, and the run continues
#[tokio::test]
async fn abandoned_call_is_sent_with_a_placeholder() {
    let host = Host::new();
    let (turns, cx) = (Turns::new(host.store.clone()), cx(&host, ANN));
    turns.say("Pay.", &cx).await.unwrap();
    // The process died here, and the host recorded a second message of the model.
    let given_up = ModelMessage::calls([pays("call_0", 5)]);
    turns.record(given_up, &cx).await.unwrap();
    turns.say("Once more.", &cx).await.unwrap();
    let again = ModelMessage::calls([pays("call_0", 7)]);
    let again = turns.record(again, &cx).await.unwrap();
    assert_eq!(turns.last(&cx).await.unwrap().as_ref(), Some(&again));
    let mut model = Script::new([ModelMessage::text("Paid.")]);
    drive(&host, &mut model, &cx).await;
    assert_eq!(host.mailbox.sent(), 1, "the older call is not run");
    for provider in Provider::ALL {
        let sent = sent(provider, &model.1[0]);
        let placeholder = sent.find("there is no result").unwrap();
        assert!(placeholder < sent.find("Once more.").unwrap(), "{provider}");
        assert_eq!(sent.matches("there is no result").count(), 1, "{provider}");
    }
}

/// A model that stores a new message of the user while it writes its first response.
struct Interrupted(Turns, ToolContext, Vec<usize>);

impl Model for Interrupted {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> futures::future::BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.2.push(request.messages.len());
        Box::pin(async {
            if self.2.len() == 1 {
                self.0.say("One more thing.", &self.1).await.unwrap();
            }
            Ok(ModelMessage::text(format!("answer {}", self.2.len())))
        })
    }
}

// A user's message that is stored while the model writes its last response is answered
#[tokio::test]
async fn a_message_that_arrives_during_the_last_response_is_answered() {
    let host = Host::new();
    let (turns, cx) = (Turns::new(host.store.clone()), cx(&host, ANN));
    let tools = |_: &ToolContext| host.tools.clone();
    turns.say("Hello.", &cx).await.unwrap();
    let mut model = Interrupted(turns.clone(), cx.clone(), Vec::new());
    for answer in ["answer 1", "answer 2"] {
        let outcome = turns.drive(&mut model, tools, &cx).await.unwrap();
        assert!(
            matches!(&outcome, Outcome::Answered(text) if text == answer),
            "{outcome:?}"
        );
    }
    // The model's first response comes before the message that the user wrote in the meantime.
    let messages = ThreadStore::read(&host.store, &thread("th-1"), None).await;
    for provider in Provider::ALL {
        let sent = sent(provider, messages.as_deref().unwrap());
        in_order(
            &sent,
            &["Hello.", "answer 1", "One more thing.", "answer 2"],
        );
    }
}
