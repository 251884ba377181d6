//! Embeddings from a server with the API of OpenAI.

use std::fmt;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::json;
use tool_core::{ErrorKind, ExposeSecret as _, SecretString, ToolError};

use super::Embedder;
use crate::http::{Http, Method, Request};

/// The maximum number of texts of one request.
const BATCH: usize = 64;

/// The maximum size of a response, in bytes. It is enough for 64 vectors of 8,192 numbers with 20 digits each.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The default timeout of a request.
const WAIT: Duration = Duration::from_secs(20);

/// Requests embeddings from a server with the API of OpenAI (`POST /embeddings`), such as OpenAI, Ollama, vLLM or a gateway.
///
/// The host chooses the address, so the address may be in a private network.
///
/// ```
/// use tool_core::SecretString;
/// use tool_std::embedding::{Embedder, HttpEmbedder};
///
/// let embedder = HttpEmbedder::at("https://api.openai.com/v1", "text-embedding-3-small")
///     .key(SecretString::from("sk-…"))
///     .dimensions(768);
/// assert_eq!(embedder.model(), "text-embedding-3-small/768");
/// ```
#[derive(Clone)]
#[must_use]
pub struct HttpEmbedder {
    http: Http,
    url: String,
    /// The name of the model in requests.
    api_model: String,
    /// The name of the vectors: the model, and the number of dimensions if the host sets it.
    model: String,
    dimensions: Option<u32>,
    key: Option<SecretString>,
    wait: Duration,
}

impl fmt::Debug for HttpEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEmbedder")
            .field("url", &self.url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl HttpEmbedder {
    /// Creates an embedder for the base URL of an API, such as `https://api.openai.com/v1`, and the name of a model.
    pub fn at(base: &str, model: impl Into<String>) -> Self {
        let model = model.into();
        Self {
            http: Http::default(),
            url: format!("{}/embeddings", base.trim_end_matches('/')),
            api_model: model.clone(),
            model,
            dimensions: None,
            key: None,
            wait: WAIT,
        }
    }

    /// Sets the key, which is sent as a bearer token.
    pub fn key(mut self, key: SecretString) -> Self {
        self.key = Some(key);
        self
    }

    /// Requests vectors with this number of dimensions, for models that can shorten their vectors.
    pub fn dimensions(mut self, dimensions: u32) -> Self {
        self.dimensions = Some(dimensions);
        self.model = format!("{}/{dimensions}", self.api_model);
        self
    }

    /// Sets the HTTP client, with its guard and certificates.
    pub fn http(mut self, http: Http) -> Self {
        self.http = http;
        self
    }

    /// Sets the timeout of a request. The default is 20 seconds.
    pub fn timeout(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    async fn request(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ToolError> {
        let mut body =
            json!({ "model": self.api_model, "input": texts, "encoding_format": "float" });
        if let Some(dimensions) = self.dimensions {
            body["dimensions"] = json!(dimensions);
        }
        let mut request = Request::new(Method::Post, &self.url)
            .keep_method()
            .most_bytes(MOST_BYTES)
            .timeout(self.wait)
            .json(&body);
        if let Some(key) = &self.key {
            let bearer = SecretString::from(format!("Bearer {}", key.expose_secret()));
            request = request.secret_header(AUTHORIZATION, &bearer)?;
        }
        let response = self.http.trusting(&self.url).send(request).await?;
        let status = response.status();
        if status != 200 {
            return Err(failed(format!(
                "the server of embeddings returned the status {status}"
            )));
        }
        let reply: Reply = response.json().map_err(|error| {
            failed(format!(
                "the response of the server of embeddings cannot be read: {error}"
            ))
        })?;
        let mut vectors = vec![Vec::new(); texts.len()];
        for vector in reply.data {
            // Servers may return the vectors in a different order.
            if let Some(place) = vectors.get_mut(vector.index) {
                *place = vector.embedding;
            }
        }
        if vectors.iter().any(Vec::is_empty) {
            return Err(failed(
                "the server of embeddings left out a text or returned an empty vector".to_owned(),
            ));
        }
        Ok(vectors)
    }
}

fn failed(operator: String) -> ToolError {
    let text = "the embeddings cannot be computed now, try again later";
    ToolError::of(ErrorKind::Unavailable, text).operator(operator)
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    index: usize,
    embedding: Vec<f32>,
}

impl Embedder for HttpEmbedder {
    fn model(&self) -> &str {
        &self.model
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ToolError>> {
        async move {
            let mut vectors = Vec::with_capacity(texts.len());
            for batch in texts.chunks(BATCH) {
                vectors.extend(self.request(batch).await?);
            }
            Ok(vectors)
        }
        .boxed()
    }
}
