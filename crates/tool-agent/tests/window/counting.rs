//! Counts of tokens: the estimate, and the tokens that the provider reports.

use tool_agent::window::{EstimatedTokens, TokenCounter, Windowed};
use tool_core::store::Role;
use tool_core::turn::{ModelMessage, UserMessage, Written};
use tool_core::{Part, ToolCall, toolset};

use super::support::{Recorder, Thread, add, ask, ask_with, usage, window};

// The estimate counts the content that a provider gets: texts, calls and results by their length, and files at a constant instead of their bytes.
#[test]
fn estimate_counts_what_is_sent() {
    let mut thread = Thread::new("main");
    thread.user(&"a".repeat(41));
    thread.user("日本語");
    thread.says("\"\"\"\"");
    thread.model(&ModelMessage::calls([ToolCall::new(
        "id-is-not-counted",
        "add!",
        "{\"a\":12}",
    )]));
    thread.result(4, 0, "four");
    thread.model(&ModelMessage {
        text: "four".to_owned(),
        reasoning: "is not sent".repeat(100),
        written: Some(Written {
            provider: "chat".to_owned(),
            origin: None,
            messages: "w".repeat(400),
        }),
        ..ModelMessage::default()
    });
    let counts: Vec<u64> = thread
        .messages
        .iter()
        .map(|it| EstimatedTokens.message(it))
        .collect();
    assert_eq!(
        counts,
        [11 + 8, 3 + 8, 1 + 8, 1 + 2 + 8 + 8, 1 + 1 + 8, 100 + 8]
    );
    let mut picture = thread.messages[0].clone();
    let parts = [
        Part::text("1234"),
        Part::base64("image/png", "A".repeat(100_000)),
    ];
    picture.content = serde_json::to_string(&UserMessage::new(parts)).unwrap();
    assert_eq!(EstimatedTokens.message(&picture), 1 + 1_600 + 8);
    picture.content = serde_json::to_string(&UserMessage::new([Part::base64(
        "text/csv",
        "A".repeat(16_000),
    )]))
    .unwrap();
    assert_eq!(EstimatedTokens.message(&picture), 3_000 + 8);
    assert_eq!(EstimatedTokens.tools(&toolset![]), 0);
    assert!((30..300).contains(&EstimatedTokens.tools(&toolset![add])));
}

// The tokens that the provider reported for a request replace the estimate of that request, and only the messages after it are estimated.
#[tokio::test]
async fn reported_tokens_replace_the_estimate() {
    for (reported, whole) in [
        (None, true),
        (Some(700), true),
        (Some(6_000), true),
        (Some(7_000), false),
    ] {
        let mut thread = Thread::new("main");
        thread.user(&"q".repeat(698));
        thread.model(&ModelMessage {
            text: "a".repeat(490),
            usage: reported.map(|tokens| usage(tokens, 1)),
            ..ModelMessage::default()
        });
        let rest = thread.messages[1].content.len();
        // With the last message of the user, 1,500 tokens follow the measured request.
        thread.user(&"q".repeat(1_498 - rest));
        let model = Recorder::text("ok");
        let window = window(10_000).keep_rounds(0).build().unwrap();
        ask(&mut Windowed::new(model.clone(), window), &thread)
            .await
            .unwrap();
        // 7,000 + 1,500 is above the trigger of 8,000, and 6,000 + 1,500 is not.
        assert_eq!(model.last().messages.len() == 3, whole, "{reported:?}");
    }
}

// A report of less than half of the estimate probably belongs to a different request, so half of the estimate counts.
#[tokio::test]
async fn implausible_report_counts_as_half_of_the_estimate() {
    // The measured request has an estimate of 10,000 tokens, and 2,900 or 3,100 tokens follow it. The trigger is at 8,000 tokens.
    for (reported, rest, whole) in [
        (1, 2_900, true),
        (1, 3_100, false),
        (4_000, 2_900, true),
        (4_000, 3_100, false),
        (5_200, 2_900, false),
    ] {
        let mut thread = Thread::new("main");
        thread.user(&"q".repeat(9_998));
        thread.model(&ModelMessage {
            text: "a".repeat(490),
            usage: Some(usage(reported, 1)),
            ..ModelMessage::default()
        });
        let answer = thread.messages[1].content.len();
        thread.user(&"q".repeat(rest - 2 - answer));
        let model = Recorder::text("ok");
        let window = window(10_000).keep_rounds(0).build().unwrap();
        ask(&mut Windowed::new(model.clone(), window), &thread)
            .await
            .unwrap();
        let seen = model.last().messages.len() == 3;
        assert_eq!(seen, whole, "{reported} {rest}");
    }
}

// Tools and the reserve count towards the limit.
#[tokio::test]
async fn tools_and_the_reserve_are_counted() {
    let mut thread = Thread::new("main");
    thread.turn(100);
    thread.turn(100);
    thread.user("last");
    let size = thread.bytes();
    // Below the trigger, the limit itself is exact.
    for (tools, most, whole) in [
        (toolset![], size + 50, true),
        (toolset![], size + 49, false),
        (toolset![add], size + 60, true),
        (toolset![add], size + 59, false),
    ] {
        let window = window(most).reserve(50).trigger_percent(100).keep_rounds(1);
        let model = Recorder::text("ok");
        let mut windowed = Windowed::new(model.clone(), window.build().unwrap());
        ask_with(&mut windowed, &thread, &tools).await.unwrap();
        assert_eq!(
            model.last().messages.len() == thread.messages.len(),
            whole,
            "{most}"
        );
        assert_eq!(model.last().messages[0].role, Role::User);
    }
}
