//! Round trips of the messages that `Turns` stores in a thread.

use tool_core::store::*;
use tool_core::turn::{MessageError, ModelMessage, Turn, TurnError, Turns, UserMessage};
use tool_core::{Part, ToolContext, prelude::*};

use crate::each_store;
use crate::thread;

trait Both: ThreadStore + RunStore + Clone {}
impl<T: ThreadStore + RunStore + Clone> Both for T {}

fn cx(conversation: &str) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .conversation(conversation)
        .build()
}

fn picture() -> Part {
    Part::base64("image/png", "iVBORw0KGgo=").named("ø\0\u{1f4c8}.png")
}

/// Draws an image.
#[tool(to_model_output = drawn)]
async fn draw() -> Vec<u8> {
    vec![1]
}

fn drawn(_: &Vec<u8>) -> ModelOutput {
    ModelOutput::parts([Part::text("a chart"), picture()])
}

/// Returns the roles and contents of a conversation.
async fn contents(store: &impl Both, conversation: &str) -> Vec<(Role, String)> {
    let messages = store.read(&thread(conversation), None).await.unwrap();
    let messages = messages.into_iter();
    messages
        .map(|message| (message.role, message.content))
        .collect()
}

each_store! {
    // System messages, the parts of user messages and results, and reasoning are read back unchanged, separately for each conversation
    #[test]
    async fn system_messages_parts_and_reasoning_round_trip(store: impl Both) {
        let turns = Turns::new(store.clone());
        let question = UserMessage::from([
            Part::text("What is \"this\"?\n"),
            picture(),
            Part::url("application/pdf", "https://example.com/a.pdf"),
        ]);
        for (name, system) in [("t", "You are Ada."), ("u", "You are Bob.")] {
            let cx = cx(name);
            assert_eq!(turns.instruct(system, &cx).await.unwrap(), 1);
            assert_eq!(turns.say(question.clone(), &cx).await.unwrap(), 2);
            assert_eq!(turns.say("Only text", &cx).await.unwrap(), 3);
            let message = ModelMessage {
                reasoning: format!("I am told: {system}"),
                ..ModelMessage::calls([ToolCall::new("c0", "draw", "{}")])
            };
            let message = turns.record(message, &cx).await.unwrap();
            let turn = turns.run(&tool_core::toolset![draw], &message, &cx).await.unwrap();
            assert!(matches!(turn, Turn::Complete(_)));
        }
        for (name, system) in [("t", "You are Ada."), ("u", "You are Bob.")] {
            let messages = contents(&store, name).await;
            let roles: Vec<Role> = messages.iter().map(|(role, _)| *role).collect();
            assert_eq!(roles, [Role::System, Role::User, Role::User, Role::Assistant, Role::Tool]);
            assert_eq!(serde_json::from_str::<String>(&messages[0].1).unwrap(), system);
            assert_eq!(serde_json::from_str::<UserMessage>(&messages[1].1).unwrap(), question);
            assert_eq!(messages[2].1, r#""Only text""#);
            let thought: ModelMessage = serde_json::from_str(&messages[3].1).unwrap();
            assert_eq!(thought.reasoning, format!("I am told: {system}"));
            let last = turns.last(&cx(name)).await.unwrap().unwrap();
            assert_eq!(*last.message(), thought);
            let result: tool_core::turn::ToolMessage = serde_json::from_str(&messages[4].1).unwrap();
            assert_eq!(&*result.model.unwrap().to_parts(), [Part::text("a chart"), picture()]);
        }
    }

    // A message with an invalid media type, an empty message and a blank system message are refused and not stored
    #[test]
    async fn message_that_no_provider_accepts_is_not_stored(store: impl Both) {
        let turns = Turns::new(store.clone());
        let wrong = [
            turns.say(Part::base64("png", "AAAA"), &cx("t")).await,
            turns.say(Vec::new(), &cx("t")).await,
            turns.instruct(" ", &cx("t")).await,
        ];
        for stored in wrong {
            assert!(matches!(stored, Err(TurnError::Message(_))), "{stored:?}");
        }
        let empty = turns.say(Vec::new(), &cx("t")).await;
        assert!(matches!(empty, Err(TurnError::Message(MessageError::Empty))));
        assert_eq!(contents(&store, "t").await, []);
        assert_eq!(turns.say("Hello", &cx("t")).await.unwrap(), 1);
    }
}
