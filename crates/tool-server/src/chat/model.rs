//! The model of a chat: its trait, and the adapter for the agent loop.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tool_core::ToolError;
use tool_core::turn::{Model, ModelMessage, ModelRequest};
use tool_wire::Delta;

use super::reply::Reply;

/// The model of a host's chat, which streams its replies.
///
/// One value serves every conversation, so it must not store the state of a conversation: each request contains the messages of the thread.
///
/// ```
/// use futures::FutureExt as _;
/// use futures::future::BoxFuture;
/// use tool_core::ToolError;
/// use tool_core::turn::{ModelMessage, ModelRequest};
/// use tool_server::chat::{ChatModel, ReplySink};
/// use tool_wire::{Delta, Provider};
///
/// /// Sends the request to a provider, with the model's name and the key of your account.
/// struct Remote;
///
/// impl Remote {
///     async fn request(&self, body: String) -> Result<Vec<Vec<u8>>, ToolError> {
///         let event = r#"data: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}"#;
///         Ok(vec![format!("{event}\n\n").into_bytes()])
///     }
/// }
///
/// impl ChatModel for Remote {
///     fn reply<'a>(&'a self, request: ModelRequest<'a>, sink: &'a ReplySink) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
///         async move {
///             let history = Provider::Chat.history(request.messages)?;
///             let body = serde_json::json!({"model": "m", "stream": true, "messages": history.messages}).to_string();
///             let mut stream = Provider::Chat.stream();
///             for bytes in self.request(body).await? {
///                 stream.feed(&bytes)?.iter().for_each(|delta| sink.send(delta));
///             }
///             Ok(stream.finish()?.into_message())
///         }
///         .boxed()
///     }
/// }
/// ```
#[doc(alias("LLM", "language model", "streamText"))]
pub trait ChatModel: Send + Sync + 'static {
    /// Returns the next message of the model, and passes its pieces to `sink` as soon as it receives them.
    ///
    /// The user sees a generic text if the model fails; the error is in the log. The future is dropped when the run is stopped. Pieces that were sent
    /// cannot be withdrawn, so repeat a failed request only before the first piece.
    fn reply<'a>(
        &'a self,
        request: ModelRequest<'a>,
        sink: &'a ReplySink,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>>;
}

/// The receiver of the pieces of a streamed reply.
pub struct ReplySink(Arc<Reply>);

impl ReplySink {
    /// Shows a piece to the clients that read the stream.
    pub fn send(&self, delta: &Delta) {
        self.0.delta(delta);
    }
}

/// The model of a chat in the agent loop.
pub(super) struct Streaming {
    model: Arc<dyn ChatModel>,
    sink: ReplySink,
}

impl Streaming {
    pub(super) fn new(model: Arc<dyn ChatModel>, reply: Arc<Reply>) -> Self {
        Self {
            model,
            sink: ReplySink(reply),
        }
    }
}

impl Model for Streaming {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        async move {
            self.sink.0.step();
            let message = self.model.reply(request, &self.sink).await?;
            self.sink.0.message(&message);
            Ok(message)
        }
        .boxed()
    }

    fn interrupted(&mut self) -> Option<ModelMessage> {
        self.sink.0.partial()
    }
}
