//! Views without the oldest rounds.

use std::collections::HashSet;

use tool_agent::window::{Window, WindowConfigError, Windowed};
use tool_core::store::Role;
use tool_core::turn::ModelMessage;
use tool_wire::Provider;

use super::support::{Random, Recorder, Seen, Thread, ask, usage, view, window};

/// Checks the conditions that hold for every view.
pub(crate) fn check(thread: &Thread, seen: &Seen, keep_rounds: usize) {
    let kept: HashSet<u64> = seen.seqs().into_iter().collect();
    let of = |role: Role| thread.messages.iter().filter(move |it| it.role == role);
    for system in of(Role::System) {
        assert!(kept.contains(&system.seq), "a system message was removed");
    }
    if let Some(user) = of(Role::User).next_back() {
        assert!(
            kept.contains(&user.seq),
            "the last message of the user was removed"
        );
    }
    for open in thread.open() {
        assert!(kept.contains(&open), "an open call was removed");
    }
    for round in of(Role::Assistant).rev().take(keep_rounds) {
        assert!(
            kept.contains(&round.seq),
            "one of the last rounds was removed"
        );
    }
    let first = seen.messages.iter().find(|it| it.role != Role::System);
    assert!(
        first.is_some_and(|it| it.role == Role::User),
        "the view begins with a different role"
    );
    for result in of(Role::Tool) {
        let call = result.answers.unwrap().message;
        let has_call = thread.messages.iter().any(|it| it.seq == call);
        if seen.messages.len() < thread.messages.len() || has_call {
            assert_eq!(
                kept.contains(&result.seq),
                has_call && kept.contains(&call),
                "a call and its result are not together"
            );
        }
    }
    for provider in Provider::ALL {
        let sent = provider.history(&seen.messages).unwrap();
        let sent = serde_json::to_string(&sent.messages).unwrap();
        let placeholders = sent.matches("there is no result").count();
        let whole = provider.history(&thread.messages).unwrap();
        let whole = serde_json::to_string(&whole.messages).unwrap();
        // A request replaces a missing result only if the call is open in the thread.
        assert_eq!(placeholders, whole.matches("there is no result").count());
        for message in of(Role::Assistant).filter(|it| kept.contains(&it.seq)) {
            let said: ModelMessage = serde_json::from_str(&message.content).unwrap();
            for call in &said.calls {
                let id = format!("\"{}\"", call.id);
                // The ids are in the call and in the result, except for Gemini, which has no ids.
                let times = if provider == Provider::Gemini { 0 } else { 2 };
                assert!(sent.matches(&id).count() >= times, "{provider}: {id}");
            }
        }
    }
}

// For random threads and windows, the view keeps what a provider and the user require, and has its messages in the order of the thread.
#[tokio::test]
async fn views_of_random_threads_keep_what_has_to_stay() {
    let mut random = Random(1);
    let (mut shortened, mut refused) = (0, 0);
    for _ in 0..600 {
        let thread = random.thread("main");
        let keep = usize::try_from(random.below(4)).unwrap();
        let most = 500 + random.below(6_000);
        let window = window(most).keep_rounds(keep).build().unwrap();
        let model = Recorder::text("ok");
        if let Err(error) = ask(&mut Windowed::new(model.clone(), window), &thread).await {
            assert!(error.operator_text().contains("does not fit"), "{error:?}");
            assert_eq!(model.count(), 0);
            refused += 1;
            continue;
        }
        let seen = model.last();
        check(&thread, &seen, keep);
        let mut rest = thread.messages.iter();
        for message in &seen.messages {
            assert!(
                rest.any(|it| it == message),
                "a message was changed or moved"
            );
        }
        let size: u64 = seen.messages.iter().map(|it| it.content.len() as u64).sum();
        assert!(size <= most, "{size} of {most}");
        if thread.bytes() * 10 <= most * 8 {
            assert_eq!(seen.messages, thread.messages);
        }
        shortened += usize::from(seen.messages.len() < thread.messages.len());
    }
    assert!(shortened > 100 && refused > 20, "{shortened} {refused}");
}

// A round is removed completely, and the user's message of a turn only with the last round of the turn.
#[tokio::test]
async fn whole_rounds_are_removed() {
    let mut thread = Thread::new("main");
    thread.system("Be brief.");
    thread.user("first");
    let first = thread.calls(2);
    thread.result(first, 0, &"x".repeat(400));
    thread.result(first, 1, &"x".repeat(400));
    let second = thread.calls(1);
    thread.result(second, 0, &"x".repeat(400));
    thread.says("done");
    thread.user("second");
    let view = |most: u64| {
        let window = window(most).keep_rounds(1).build().unwrap();
        let thread = thread.clone();
        async move { view(&window, &thread).await.seqs() }
    };
    assert_eq!(view(5_000).await, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // The first of three rounds is removed. Its question is kept, because the other rounds answer it.
    assert_eq!(view(1_700).await, [1, 2, 6, 7, 8, 9]);
    // The last round is kept, and therefore its question.
    assert_eq!(view(600).await, [1, 2, 8, 9]);
}

// A round with an open call is kept with its question, although newer rounds are removed.
#[tokio::test]
async fn open_calls_stay_with_their_results() {
    let mut thread = Thread::new("main");
    thread.user("first");
    let open = thread.calls(2);
    thread.result(open, 0, "one of two");
    for _ in 0..10 {
        thread.turn(100);
    }
    thread.user("last");
    let window = window(2_000).keep_rounds(1).build().unwrap();
    let seen = view(&window, &thread).await;
    assert_eq!(seen.seqs()[..3], [1, 2, 3]);
    assert!(seen.messages.len() < 20);
    check(&thread, &seen, 1);
}

// Many requests begin at the same message, so that the provider can cache their beginning. A model that has sent no request yet begins at the same message.
#[tokio::test]
async fn cut_stays_for_many_requests() {
    let model = Recorder::text("ok");
    let window = window(10_000).build().unwrap();
    let mut windowed = Windowed::new(model.clone(), window.clone());
    let (mut thread, mut cuts) = (Thread::new("main"), Vec::new());
    for _ in 0..60 {
        thread.user(&"q".repeat(200));
        ask(&mut windowed, &thread).await.unwrap();
        let first = model.last().seqs()[0];
        assert_eq!(view(&window, &thread).await.seqs()[0], first);
        cuts.push(first);
        thread.says(&"a".repeat(200));
    }
    let requests = cuts.len();
    assert!(cuts.is_sorted());
    cuts.dedup();
    // A turn has about 410 bytes, so the shortening from 8,000 to 5,000 bytes is enough for 7 turns.
    assert!(
        (5..=8).contains(&cuts.len()),
        "{cuts:?} in {requests} requests"
    );
    let size: u64 = model
        .last()
        .messages
        .iter()
        .map(|it| it.content.len() as u64)
        .sum();
    assert!((4_000..=8_000).contains(&size), "{size}");
}

// The requests of a later process also begin at the same message if the provider reports the tokens of each
// request.
#[tokio::test]
async fn cut_follows_the_reported_tokens() {
    let model = Recorder::with(|request| {
        // The tokenizer of this provider counts two tokens for each byte.
        let size: u64 = request
            .messages
            .iter()
            .map(|it| it.content.len() as u64)
            .sum();
        let mut message = ModelMessage::text("a".repeat(200));
        message.usage = Some(usage(2 * size, 1));
        Ok(message)
    });
    let window = window(10_000).build().unwrap();
    let mut windowed = Windowed::new(model.clone(), window.clone());
    let (mut thread, mut cuts) = (Thread::new("main"), Vec::new());
    for _ in 0..60 {
        thread.user(&"q".repeat(200));
        let message = ask(&mut windowed, &thread).await.unwrap();
        let seen = model.last();
        assert_eq!(view(&window, &thread).await.seqs(), seen.seqs());
        let size: u64 = seen.messages.iter().map(|it| it.content.len() as u64).sum();
        assert!(2 * size <= 8_500, "{size}");
        cuts.push(seen.seqs()[0]);
        thread.model(&message);
    }
    cuts.dedup();
    assert!((8..=20).contains(&cuts.len()), "{cuts:?}");
}

// If the messages that have to stay are too large, the error states both sizes and what to change, and no request is sent.
#[tokio::test]
async fn thread_that_cannot_fit_is_an_error() {
    let mut thread = Thread::new("main");
    thread.turn(100);
    thread.user(&"x".repeat(1_000));
    let model = Recorder::text("ok");
    let window = window(900).keep_rounds(0).build().unwrap();
    let error = ask(&mut Windowed::new(model.clone(), window), &thread).await;
    let text = error.unwrap_err().operator_text();
    assert!(
        text.contains("about 1002 tokens, and a request may have 900"),
        "{text}"
    );
    assert!(text.contains("raise `most_tokens`"), "{text}");
    assert_eq!(model.count(), 0);
}

// Results that the model has not read are kept, even if `keep_rounds` is 0.
#[tokio::test]
async fn unread_results_stay() {
    let mut thread = Thread::new("main");
    thread.user("go");
    for _ in 0..10 {
        let seq = thread.calls(1);
        thread.result(seq, 0, &"x".repeat(300));
    }
    let window = window(1_000)
        .keep_rounds(0)
        .target_percent(1)
        .build()
        .unwrap();
    assert_eq!(view(&window, &thread).await.seqs(), [1, 20, 21]);
}

#[test]
fn faulty_settings_are_refused() {
    let error = |builder: tool_agent::window::WindowBuilder| builder.build().unwrap_err();
    assert_eq!(
        error(Window::builder(100).reserve(100)),
        WindowConfigError::NoRoom {
            most: 100,
            reserve: 100
        }
    );
    for (trigger, target) in [(50, 50), (101, 50), (50, 0), (0, 0)] {
        let builder = Window::builder(100).trigger_percent(trigger);
        assert_eq!(
            error(builder.target_percent(target)),
            WindowConfigError::Percent { trigger, target }
        );
    }
    let compaction = super::support::compaction(&Recorder::text("ok"));
    assert_eq!(
        error(Window::builder(1_000).reserve(0).compact(compaction)),
        WindowConfigError::Summary {
            most: 300,
            allowed: 250
        }
    );
}
