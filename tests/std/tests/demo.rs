//! `log_hello_world` and `slow_count`.

use futures::StreamExt as _;
use tool_core::prelude::*;
use tool_std::demo::slow_count;

// S2-21, S2-28
#[tokio::test(start_paused = true)]
async fn a_slow_count_says_every_number_and_ends_in_the_last() {
    let tools = Registry::builder()
        .tool::<slow_count>()
        .build()
        .unwrap()
        .open();
    let call = ToolCall::new("1", "slow_count", r#"{"to": 3}"#);
    let cx = ToolContext::anonymous();
    let began = tokio::time::Instant::now();
    let events: Vec<_> = tools.stream(call, &cx).collect().await;
    let numbers: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ToolEvent::Progress(value) => Some(value.get().to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(
        numbers,
        [r#"{"count":1}"#, r#"{"count":2}"#, r#"{"count":3}"#]
    );
    let Some(ToolEvent::Done(result)) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(result.model_text(), r#"{"count":3}"#);
    assert_eq!(began.elapsed().as_secs(), 3);
}
