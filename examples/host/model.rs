//! A model over HTTP: any server with OpenAI's Chat Completions API.

use futures::future::{BoxFuture, FutureExt as _};
use serde_json::value::RawValue;
use tool_core::turn::{Model, ModelMessage, ModelRequest};
use tool_core::{ExposeSecret as _, prelude::*};
use tool_wire::{Delta, Offer, Provider, SystemPrompt};

/// The format of the server. A different [`Provider`] needs only a different URL and a different [`Body`].
const PROVIDER: Provider = Provider::Chat;

/// The body of a request.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    messages: &'a [Box<RawValue>],
    /// Empty for Chat Completions, where system messages are part of `messages`.
    #[serde(flatten)]
    system: &'a SystemPrompt,
    #[serde(flatten)]
    offer: &'a Offer,
}

/// A client for the model at a URL.
#[derive(Clone)]
pub(crate) struct HttpModel {
    client: reqwest::Client,
    url: String,
    key: SecretString,
}

impl HttpModel {
    /// Creates a client. `base` is the part of the URL before `/chat/completions`.
    pub(crate) fn new(base: &str, key: SecretString) -> Self {
        Self {
            client: reqwest::Client::new(),
            url: format!("{base}/chat/completions"),
            key,
        }
    }

    async fn ask(&self, request: ModelRequest<'_>) -> Result<ModelMessage, ToolError> {
        // Both calls fail only for a thread or a tool that the provider would refuse.
        let offer = PROVIDER.offer(request.tools).map_err(ToolError::foreign)?;
        let history = PROVIDER
            .history(request.messages)
            .map_err(ToolError::foreign)?;
        let body = Body {
            model: "a-model",
            stream: true,
            messages: &history.messages,
            system: &history.system,
            offer: &offer,
        };
        let body = serde_json::to_string(&body).map_err(ToolError::foreign)?;
        let mut response = self
            .client
            .post(&self.url)
            .bearer_auth(self.key.expose_secret())
            .header("content-type", "application/json")
            .body(body)
            .send()
            .await
            .and_then(reqwest::Response::error_for_status)
            .map_err(ToolError::foreign)?;
        let mut stream = PROVIDER.stream();
        while let Some(piece) = response.chunk().await.map_err(ToolError::foreign)? {
            for delta in stream.feed(&piece).map_err(ToolError::foreign)? {
                // A real host sends these deltas to its user.
                if let Delta::Text(text) = delta {
                    println!("  model writes: {text}");
                }
            }
        }
        let reply = stream.finish().map_err(ToolError::foreign)?;
        Ok(reply.into_message())
    }
}

impl Model for HttpModel {
    // Stopping the run drops this future, which closes the connection.
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        println!("model, step {}", request.step);
        self.ask(request).boxed()
    }
}
