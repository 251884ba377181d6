//! Models with a context window.

use serde_json::json;
use tool_agent::window::{Window, Windowed};
use tool_core::turn::{Outcome, TurnError};

use crate::standin::{StandIn, events, json_response};
use crate::support::{World, answer, anthropic, tools};

// A request that the provider refuses as too long is sent again once, without the oldest rounds.
#[tokio::test]
async fn request_that_is_too_long_is_shortened_once() {
    let error = json!({"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}});
    let refused = json_response(400, &[], &error);
    for (second, is_answered) in [(events(answer("Done.")), true), (refused.clone(), false)] {
        let done = events(answer("Done."));
        let server = StandIn::start(vec![
            done.clone(),
            done.clone(),
            done,
            refused.clone(),
            second,
        ])
        .await;
        let window = Window::builder(100_000).keep_rounds(1).build().unwrap();
        let mut model = Windowed::new(anthropic(&server).build().unwrap(), window);
        let world = World::new().await;
        let mut last = world.turns.drive(&mut model, tools, &world.cx).await;
        for _ in 0..3 {
            assert!(matches!(last, Ok(Outcome::Answered(_))), "{last:?}");
            last = world
                .turns
                .respond("Again. ".repeat(500), &mut model, tools, &world.cx)
                .await;
        }
        assert_eq!(matches!(last, Ok(Outcome::Answered(_))), is_answered);
        assert_eq!(matches!(last, Err(TurnError::Model(_))), !is_answered);
        assert_eq!(model.model().error().is_some(), !is_answered);
        let lengths = server
            .received()
            .into_iter()
            .map(|it| it.body["messages"].as_array().unwrap().len());
        assert_eq!(lengths.collect::<Vec<_>>(), [1, 3, 5, 7, 3]);
    }
}
