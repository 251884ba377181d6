//! Views with a summary in place of the oldest rounds.

use std::sync::{Arc, Mutex};

use tool_agent::model::{ModelObserver, OutputFormat};
use tool_agent::window::{Compaction, MemorySummaryStore, SummaryStore as _, Window, Windowed};
use tool_core::prelude::StrictSchema;
use tool_core::store::{Role, ThreadId};
use tool_core::turn::{Model as _, ModelMessage, ModelRequest, StopReason};
use tool_core::{ToolCall, ToolContext, ToolError, toolset};
use tool_wire::Provider;

use super::support::{
    Random, Recorder, Thread, Unreported, add, ask, ask_with, compaction, usage, window,
};
use super::trimming::check;

fn compacting(most: u64, compaction: Compaction) -> Window {
    window(most)
        .keep_rounds(1)
        .compact(compaction)
        .build()
        .unwrap()
}

/// Returns a thread of five turns with about 2,170 bytes, and a question.
fn long(conversation: &str) -> Thread {
    let mut thread = Thread::new(conversation);
    thread.system("Be brief.");
    for _ in 0..5 {
        thread.turn(100);
    }
    thread.user("and now?");
    thread
}

// The oldest rounds are replaced with one message of the role user, and the rest is unchanged. The summariser gets whole rounds as text and no tools.
#[tokio::test]
async fn summary_replaces_the_oldest_rounds() {
    let thread = long("main");
    let (model, summariser) = (Recorder::text("ok"), Recorder::text("They counted."));
    let window = compacting(2_600, compaction(&summariser));
    let mut windowed = Windowed::new(model.clone(), window);
    ask_with(&mut windowed, &thread, &toolset![add])
        .await
        .unwrap();
    let seen = model.last();
    assert_eq!(seen.contents()[0], r#""Be brief.""#);
    let summary: String = serde_json::from_str(seen.contents()[1]).unwrap();
    assert!(
        summary.starts_with("# Summary of the earlier conversation\n"),
        "{summary}"
    );
    assert!(summary.ends_with("\n\nThey counted."), "{summary}");
    assert_eq!(seen.messages[1].role, Role::User);
    let kept = &seen.messages[2..];
    assert_eq!(kept, &thread.messages[thread.messages.len() - kept.len()..]);
    assert_eq!(kept[0].role, Role::User);
    assert_eq!(seen.tools, 1);
    let asked = summariser.last();
    assert_eq!(
        (summariser.count(), asked.tools, asked.messages.len()),
        (1, 0, 2)
    );
    let text: String = serde_json::from_str(asked.contents()[1]).unwrap();
    let removed = thread.messages.len() - kept.len() - 1;
    let lines: Vec<serde_json::Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    assert_eq!(lines.len(), removed);
    assert!(lines[0]["user"].as_str().unwrap().starts_with("qqq"));
    assert_eq!(lines[1]["assistant"]["calls"][0]["name"], "add");
    assert!(
        lines[2]["result"]["text"]
            .as_str()
            .unwrap()
            .starts_with("rrr")
    );
    assert!(!text.contains("Be brief"));
}

// A later compaction sends the summary so far and only the rounds after it. Until then, the beginning of the view stays the same.
#[tokio::test]
async fn summary_is_extended() {
    let mut thread = long("main");
    let model = Recorder::text("ok");
    let summariser = Recorder::with(|request| {
        let text = &request.messages[1].content;
        let so_far = if text.contains("They counted.") {
            "They counted. Again."
        } else {
            "They counted."
        };
        Ok(ModelMessage::text(so_far))
    });
    let mut windowed = Windowed::new(model.clone(), compacting(2_600, compaction(&summariser)));
    for _ in 0..8 {
        ask(&mut windowed, &thread).await.unwrap();
        thread.says("ok");
        thread.turn(60);
        thread.user("and now?");
    }
    let summaries: Vec<String> = model
        .seen()
        .iter()
        .map(|seen| seen.contents()[1].to_owned())
        .collect();
    let requests = summariser.count();
    assert!((2..=4).contains(&requests), "{requests}");
    assert!(summaries[0].contains("They counted.\"") && summaries[1] == summaries[0]);
    assert!(summaries[7].contains("They counted. Again."));
    // No round is sent to the summariser twice.
    let (mut seen, all) = (0, summariser.seen());
    for asked in &all {
        let text: String = serde_json::from_str(asked.contents()[1]).unwrap();
        seen += text
            .lines()
            .filter(|line| line.starts_with("{\"result\""))
            .count();
    }
    let results = thread
        .messages
        .iter()
        .filter(|it| it.role == Role::Tool)
        .count();
    assert!(seen < results, "{seen} of {results}");
    for result in model
        .last()
        .messages
        .iter()
        .filter(|it| it.role == Role::Tool)
    {
        assert!(result.seq > 12);
    }
}

// If the summariser fails, returns no text or is interrupted, no round is removed. If the request is too long without a summary, the oldest rounds
// are left out of the request.
#[tokio::test]
async fn failed_summary_discards_nothing() {
    let thread = long("main");
    let size = thread.bytes();
    let cut = |stop| {
        let mut message = ModelMessage::text("They");
        (message.truncated, message.stop) = (true, Some(stop));
        message
    };
    let summarisers = [
        Recorder::with(|_| Err(ToolError::new("overloaded"))),
        Recorder::text(" \n"),
        Recorder::with(|_| Ok(ModelMessage::calls([ToolCall::new("c", "add", "{}")]))),
        Recorder::with(move |_| Ok(cut(StopReason::Cut))),
        Recorder::with(move |_| Ok(cut(StopReason::Filtered))),
    ];
    for summariser in summarisers {
        let model = Recorder::text("ok");
        let roomy = compacting(size + 200, compaction(&summariser));
        let mut windowed = Windowed::new(model.clone(), roomy);
        ask(&mut windowed, &thread).await.unwrap();
        assert_eq!(model.last().messages, thread.messages);
        assert_eq!(summariser.count(), 1);
        // The next request does not call the summariser again.
        ask(&mut windowed, &thread).await.unwrap();
        assert_eq!(summariser.count(), 1);
        let tight = compacting(size - 200, compaction(&summariser));
        let mut windowed = Windowed::new(model.clone(), tight);
        ask(&mut windowed, &thread).await.unwrap();
        let seen = model.last();
        assert!(seen.messages.len() < thread.messages.len() - 4);
        check(&thread, &seen, 1);
        // The next request begins with the same message.
        let mut longer = thread.clone();
        longer.says("ok");
        longer.user(&"m".repeat(200));
        ask(&mut windowed, &longer).await.unwrap();
        assert_eq!(model.last().seqs()[..4], seen.seqs()[..4]);
    }
}

// A summary that is too long is cut, and ends with a marker. This includes a reply that reached the limit on tokens of the summariser.
#[tokio::test]
async fn long_summary_is_cut() {
    let thread = long("main");
    for reply in ["é".repeat(5_000), "short".to_owned()] {
        let is_long = reply.len() > 300;
        let summariser = Recorder::with(move |_| {
            let mut message = ModelMessage::text(reply.clone());
            if !is_long {
                (message.truncated, message.stop) = (true, Some(StopReason::Length));
            }
            Ok(message)
        });
        let model = Recorder::text("ok");
        let window = compacting(2_600, compaction(&summariser));
        ask(&mut Windowed::new(model.clone(), window), &thread)
            .await
            .unwrap();
        let seen = model.last();
        let summary: String = serde_json::from_str(seen.contents()[1]).unwrap();
        assert!(summary.ends_with("\n[the rest was cut]"), "{summary}");
        let text = summary.split("\n\n").nth(2).unwrap();
        assert!(serde_json::to_string(text).unwrap().len() <= 300);
        assert_eq!(is_long, text.len() > 250, "{text}");
    }
}

// A compaction that makes the request less than 20 % shorter is not used, and is tried again when the thread has grown by a tenth of the maximum size
// of a request. With a store, this also applies to later runs.
#[tokio::test]
async fn summary_that_gains_too_little_is_not_used() {
    let store = MemorySummaryStore::default();
    let mut thread = Thread::new("main");
    for _ in 0..2 {
        thread.turn(100);
    }
    thread.user(&"q".repeat(1_000));
    let size = thread.bytes();
    // The first turn is a fifth of the thread, and the summary has as many bytes as this turn.
    let summariser = Recorder::with(|_| Ok(ModelMessage::text("s".repeat(250))));
    let model = Recorder::text("ok");
    let window = compacting(size + 300, compaction(&summariser).store(store.clone()));
    for run in 0..3 {
        ask(&mut Windowed::new(model.clone(), window.clone()), &thread)
            .await
            .unwrap();
        assert_eq!(model.last().messages, thread.messages);
        assert_eq!(summariser.count(), 1, "{run}");
    }
    thread.user(&"q".repeat(250));
    ask(&mut Windowed::new(model.clone(), window.clone()), &thread)
        .await
        .unwrap();
    assert_eq!(summariser.count(), 2);
    // No request is sent to the summariser if even an empty summary would save too little.
    let mut thread = Thread::new("other");
    thread.turn(20);
    thread.turn(20);
    thread.user(&"q".repeat(1_700));
    ask(&mut Windowed::new(model.clone(), window), &thread)
        .await
        .unwrap();
    assert_eq!(model.last().messages, thread.messages);
    assert_eq!(summariser.count(), 2);
}

// The rounds before an open call are summarised, and the round with the call and the rounds after it are not.
#[tokio::test]
async fn summary_ends_before_an_open_call() {
    let mut thread = Thread::new("main");
    for _ in 0..4 {
        thread.turn(100);
    }
    thread.user("first");
    let open = thread.calls(2);
    thread.result(open, 1, "two");
    for _ in 0..4 {
        thread.turn(100);
    }
    thread.user("last");
    let (model, summariser) = (Recorder::text("ok"), Recorder::text("They counted."));
    let window = compacting(4_300, compaction(&summariser));
    let mut windowed = Windowed::new(model.clone(), window);
    ask(&mut windowed, &thread).await.unwrap();
    let seen = model.last();
    assert_eq!(seen.seqs()[1..], (17..=36).collect::<Vec<u64>>());
    assert!(seen.contents()[0].contains("They counted."));
    // A result that arrives later is in the view.
    thread.result(open, 0, "one");
    ask(&mut windowed, &thread).await.unwrap();
    assert!(
        model
            .last()
            .contents()
            .iter()
            .any(|it| it.contains("\"one\""))
    );
}

// A long conversation is summarised in several requests of a bounded size, and a round that is longer than the bound is cut.
#[tokio::test]
async fn requests_of_the_summariser_are_bounded() {
    let mut thread = Thread::new("main");
    thread.user("read it");
    let seq = thread.calls(1);
    thread.result(seq, 0, &"x".repeat(3_000));
    for _ in 0..20 {
        thread.turn(100);
    }
    thread.user("and now?");
    let (model, summariser) = (Recorder::text("ok"), Recorder::text("They counted."));
    let window = compacting(4_000, compaction(&summariser).most_input_tokens(1_500));
    ask(&mut Windowed::new(model.clone(), window), &thread)
        .await
        .unwrap();
    let asked = summariser.seen();
    assert!(asked.len() > 5, "{}", asked.len());
    for (at, asked) in asked.iter().enumerate() {
        // The limit does not include the escapes of the JSON lines, the summary so far and the text around them.
        assert!(
            asked.contents()[1].len() < 2_600,
            "{}",
            asked.contents()[1].len()
        );
        assert_eq!(at > 0, asked.contents()[1].contains("The summary so far"));
    }
    assert!(asked[0].contents()[1].contains("[the rest was cut]"));
    assert!(model.last().contents()[0].contains("They counted."));
}

// The tokens that the summariser's messages do not report, such as those of failed attempts, are counted for each of its requests.
#[tokio::test]
async fn unreported_tokens_of_the_summariser_are_unsettled() {
    let mut thread = Thread::new("main");
    for _ in 0..20 {
        thread.turn(100);
    }
    thread.user("and now?");
    let (model, summariser) = (Recorder::text("ok"), Recorder::text("They counted."));
    let compaction = Compaction::new(Unreported::new(&summariser))
        .most_summary_tokens(300)
        .most_input_tokens(1_500);
    let mut windowed = Windowed::new(model, compacting(4_000, compaction));
    ask(&mut windowed, &thread).await.unwrap();
    let requests = summariser.count();
    assert!(requests > 2, "{requests}");
    let tokens = windowed.unsettled_usage().map(|it| it.input_tokens);
    let expected = Unreported::TOKENS * u64::try_from(requests).unwrap();
    assert_eq!(tokens, Some(expected));
    assert_eq!(windowed.unmeasured_requests() as usize, requests);
}

/// A number.
#[derive(StrictSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Number {
    /// The number.
    value: i32,
}

// A summary is not shown as a part of the answer, and the format of the answer does not apply to it.
#[tokio::test]
async fn summary_is_not_a_part_of_the_answer() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorder = |text: &'static str| {
        let seen = seen.clone();
        Recorder::with(move |request| {
            let has_observer = request.cx.get::<ModelObserver>().is_ok();
            let has_format = request.cx.get::<OutputFormat>().is_ok();
            seen.lock().unwrap().push((text, has_observer, has_format));
            Ok(ModelMessage::text(text))
        })
    };
    let window = compacting(2_600, compaction(&recorder("summary")));
    let mut windowed = Windowed::new(recorder("answer"), window);
    let observer = ModelObserver::new(|_| {});
    let format = OutputFormat::new::<Number>().unwrap();
    let cx = ToolContext::anonymous().derive().with(observer);
    let thread = long("main");
    let request = ModelRequest {
        messages: &thread.messages,
        tools: &toolset![],
        step: 1,
        cx: &cx.with(format).build(),
    };
    windowed.next(request).await.unwrap();
    let expected = [("summary", false, false), ("answer", true, true)];
    assert_eq!(*seen.lock().unwrap(), expected);
}

// The tokens of the summariser are returned once, even if its summary is not used. They are not part of the usage of the message.
#[tokio::test]
async fn tokens_of_the_summariser_are_unsettled() {
    for text in ["They counted.", ""] {
        let summariser = Recorder::with(move |_| {
            let mut message = ModelMessage::text(text);
            message.usage = Some(usage(500, 40));
            Ok(message)
        });
        let model = Recorder::with(|_| {
            let mut message = ModelMessage::text("ok");
            message.usage = Some(usage(1_000, 10));
            Ok(message)
        });
        let window = compacting(2_600, compaction(&summariser));
        let mut windowed = Windowed::new(model, window);
        let message = ask(&mut windowed, &long("main")).await.unwrap();
        assert_eq!(message.usage, Some(usage(1_000, 10)));
        assert_eq!(windowed.unsettled_usage(), Some(usage(500, 40)));
        assert_eq!(windowed.unsettled_usage(), None);
    }
}

// Conversations do not share summaries, even if they share a model or a store.
#[tokio::test]
async fn conversations_do_not_share_summaries() {
    let store = MemorySummaryStore::default();
    let summariser = Recorder::with(|request| {
        let name = request.messages[1].thread.conversation();
        Ok(ModelMessage::text(format!("This is {name}.")))
    });
    let model = Recorder::text("ok");
    for compaction in [
        compaction(&summariser),
        compaction(&summariser).store(store),
    ] {
        let window = compacting(2_600, compaction);
        let mut shared = Windowed::new(model.clone(), window.clone());
        let mut own = Windowed::new(model.clone(), window);
        for name in ["ann", "bob", "ann", "bob"] {
            for windowed in [&mut shared, &mut own.clone()] {
                ask(windowed, &long(name)).await.unwrap();
                let text = model.last().contents()[1].to_owned();
                assert!(text.ends_with(&format!("This is {name}.\"")), "{text}");
            }
        }
        let (ann, bob) = (long("ann"), long("bob"));
        let both = futures::future::join(ask(&mut shared, &ann), ask(&mut own, &bob)).await;
        assert!(both.0.is_ok() && both.1.is_ok());
    }
}

// A later run uses the stored summary without a request to the summariser. A summary of messages that were erased is not used.
#[tokio::test]
async fn stored_summary_is_used_by_later_runs() {
    let store = MemorySummaryStore::default();
    let (model, summariser) = (Recorder::text("ok"), Recorder::text("They counted."));
    let window = compacting(2_600, compaction(&summariser).store(store.clone()));
    let thread = long("main");
    let first = {
        ask(&mut Windowed::new(model.clone(), window.clone()), &thread)
            .await
            .unwrap();
        model.last()
    };
    ask(&mut Windowed::new(model.clone(), window.clone()), &thread)
        .await
        .unwrap();
    assert_eq!(
        (summariser.count(), model.last().messages),
        (1, first.messages)
    );
    let id = ThreadId::new("acme", "main").unwrap();
    let stored = store.get(&id).await.unwrap().unwrap();
    assert_eq!(
        (&*stored.text, stored.read),
        ("They counted.", thread.messages.last().unwrap().seq)
    );
    assert!(!format!("{stored:?}").contains("counted"));
    let json = serde_json::to_string(&stored).unwrap();
    assert_eq!(
        serde_json::from_str::<tool_agent::window::StoredSummary>(&json).unwrap(),
        stored
    );
    // After an erasure, the numbers of the messages continue.
    let mut erased = thread.clone();
    erased.erase();
    for _ in 0..2 {
        for _ in 0..3 {
            erased.turn(100);
        }
        erased.user("and now?");
        ask(&mut Windowed::new(model.clone(), window.clone()), &erased)
            .await
            .unwrap();
    }
    assert_eq!(model.seen()[2].messages, erased.messages[..13]);
    assert!(model.last().contents()[0].contains("They counted."));
    assert_eq!(summariser.count(), 2);
    assert!(!summariser.last().contents()[1].contains("They counted."));
    store.remove(&id);
    ask(&mut Windowed::new(model.clone(), window), &thread)
        .await
        .unwrap();
    assert_eq!(summariser.count(), 3);
}

// The tokens that the provider reported in this run, or in the last message of an earlier run, decide when a summary is written.
#[tokio::test]
async fn reported_tokens_trigger_a_compaction() {
    for (in_this_run, reported, compacted) in [
        (true, 7_000, true),
        (true, 3_000, false),
        (false, 7_000, true),
        (false, 3_000, false),
    ] {
        let model = Recorder::with(move |_| {
            let mut message = ModelMessage::text("ok");
            message.usage = Some(usage(reported, 1));
            Ok(message)
        });
        let summariser = Recorder::text("They counted.");
        let mut windowed = Windowed::new(model, compacting(8_000, compaction(&summariser)));
        let mut thread = long("main");
        let mut message = ask(&mut windowed, &thread).await.unwrap();
        assert_eq!(summariser.count(), 0);
        if in_this_run {
            message.usage = None;
        } else {
            windowed = windowed.clone();
        }
        thread.model(&message);
        thread.user("and now?");
        ask(&mut windowed, &thread).await.unwrap();
        assert_eq!(
            summariser.count() == 1,
            compacted,
            "{in_this_run} {reported}"
        );
    }
}

// For random threads, each provider accepts the view with a summary: calls and results are together, open calls are kept, and the view begins with a
// message of a user.
#[tokio::test]
async fn views_of_random_threads_are_accepted() {
    let mut random = Random(7);
    let mut used = 0;
    for _ in 0..400 {
        let thread = random.thread("main");
        let (model, summariser) = (Recorder::text("ok"), Recorder::text("They counted."));
        let most = 1_500 + random.below(5_000);
        let mut windowed = Windowed::new(model.clone(), compacting(most, compaction(&summariser)));
        if ask(&mut windowed, &thread).await.is_err() {
            continue;
        }
        let mut seen = model.last();
        for provider in Provider::ALL {
            assert!(provider.history(&seen.messages).is_ok());
        }
        let is_summary = |text: &str| text.starts_with("\"# Summary of the earlier");
        if let Some(at) = seen.contents().iter().position(|it| is_summary(it)) {
            used += 1;
            let before = &seen.messages[..at];
            assert!(before.iter().all(|it| it.role == Role::System));
            let sent = Provider::Anthropic.history(&seen.messages).unwrap();
            assert!(sent.messages[0].get().contains("# Summary of the earlier"));
            // The messages after the summary fulfil the conditions of every view, except that the summary is the first message of a user.
            let summary = seen.messages.remove(at);
            assert!(thread.messages.iter().any(|it| it.seq == summary.seq));
            check(&thread, &seen, 1);
        } else {
            check(&thread, &seen, 1);
        }
    }
    assert!(used > 50, "{used}");
}
