//! Endpoints: the format, the address, the headers and the credentials for requests to a provider.

use std::fmt;
use std::sync::Arc;

use tool_wire::Provider;

use super::Credentials;
#[cfg(feature = "bedrock")]
use super::aws::{AwsCredentials, Signing};
use super::config::shown;

/// The destination of requests: the provider's format, the base URL, additional headers and query parameters, and the credentials.
///
/// The parts are checked by [`HttpModelBuilder::build`](super::HttpModelBuilder::build).
///
/// ```
/// use tool_agent::model::{ApiKey, Endpoint, HttpModel};
///
/// // A server in the local network, such as Ollama, vLLM or llama.cpp.
/// let local = Endpoint::compatible("http://localhost:11434/v1");
///
/// // Azure OpenAI.
/// let azure = Endpoint::openai_chat(ApiKey::new("…"))
///     .base_url("https://my-resource.openai.azure.com/openai/v1")
///     .key_header("api-key");
///
/// // OpenRouter.
/// let router = Endpoint::compatible("https://openrouter.ai/api/v1")
///     .credentials(ApiKey::new("…"))
///     .header("x-title", "my program");
/// for endpoint in [local, azure, router] {
///     HttpModel::builder(endpoint, "a-model").build()?;
/// }
/// # Ok::<(), tool_agent::model::ConfigError>(())
/// ```
#[derive(Clone)]
#[doc(alias("base_url", "Azure", "Bedrock", "Ollama", "OpenRouter", "vLLM"))]
pub struct Endpoint {
    pub(super) provider: Provider,
    pub(super) base: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) query: Vec<(String, String)>,
    pub(super) credentials: Option<Arc<dyn Credentials>>,
    /// The header of the token; `None` for `Authorization: Bearer`.
    pub(super) key_header: Option<String>,
    /// Whether the server has the parameters of the provider's own API; `false` for the servers of [`compatible`](Self::compatible), which
    /// may lack some of them.
    pub(super) own: bool,
    pub(super) allow_http: bool,
    #[cfg(feature = "bedrock")]
    pub(super) signing: Option<Signing>,
}

impl Endpoint {
    fn new(provider: Provider, base: impl Into<String>) -> Self {
        Self {
            provider,
            base: base.into(),
            headers: Vec::new(),
            query: Vec::new(),
            credentials: None,
            key_header: None,
            own: true,
            allow_http: false,
            #[cfg(feature = "bedrock")]
            signing: None,
        }
    }

    /// Creates the endpoint of OpenAI's Responses API. Every request contains the complete conversation and `store: false`, so OpenAI keeps no
    /// response for later requests, and reasoning is returned in encrypted form. How long OpenAI keeps logs depends on the contract of your account.
    pub fn openai(credentials: impl Credentials) -> Self {
        Self::new(Provider::Responses, "https://api.openai.com/v1").credentials(credentials)
    }

    /// Creates the endpoint of OpenAI's Chat Completions API.
    pub fn openai_chat(credentials: impl Credentials) -> Self {
        Self::new(Provider::Chat, "https://api.openai.com/v1").credentials(credentials)
    }

    /// Creates the endpoint of Anthropic's Messages API.
    pub fn anthropic(credentials: impl Credentials) -> Self {
        Self::new(Provider::Anthropic, "https://api.anthropic.com/v1")
            .credentials(credentials)
            .key_header("x-api-key")
            .header("anthropic-version", "2023-06-01")
    }

    /// Creates the endpoint of the Gemini API.
    pub fn gemini(credentials: impl Credentials) -> Self {
        let base = "https://generativelanguage.googleapis.com/v1beta";
        Self::new(Provider::Gemini, base)
            .credentials(credentials)
            .key_header("x-goog-api-key")
    }

    /// Creates the endpoint of Gemini on Vertex AI. The location is a region, such as `europe-west1`, or `global`. The credentials return OAuth
    /// access tokens.
    pub fn vertex(project: &str, location: &str, credentials: impl Credentials) -> Self {
        let host = match location {
            "global" => "aiplatform.googleapis.com".to_owned(),
            region => format!("{region}-aiplatform.googleapis.com"),
        };
        let base =
            format!("https://{host}/v1/projects/{project}/locations/{location}/publishers/google");
        Self::new(Provider::Gemini, base).credentials(credentials)
    }

    /// Creates the endpoint of Amazon Bedrock's Converse API in a region, such as `eu-central-1`. Requests are signed with access keys.
    ///
    /// The name of the model is the id of a model, such as `anthropic.claude-sonnet-4-5-20250929-v1:0`, or the id or ARN of an inference profile.
    ///
    /// ```
    /// use tool_agent::model::{AwsKeys, Endpoint, HttpModel};
    ///
    /// # let keys = AwsKeys::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
    /// // let keys = AwsKeys::from_env()?;
    /// let endpoint = Endpoint::bedrock("eu-central-1", keys);
    /// let model = HttpModel::builder(endpoint, "eu.anthropic.claude-sonnet-4-5-20250929-v1:0").build()?;
    /// # Ok::<(), tool_agent::model::ConfigError>(())
    /// ```
    #[cfg(feature = "bedrock")]
    pub fn bedrock(region: impl Into<String>, credentials: impl AwsCredentials) -> Self {
        let region = region.into();
        Self {
            signing: Some(Signing {
                region: region.clone(),
                credentials: Arc::new(credentials),
            }),
            ..Self::new(Provider::Bedrock, bedrock_url(&region))
        }
    }

    /// Creates the endpoint of Amazon Bedrock in a region, with an API key of Bedrock, which the AWS tools read from `AWS_BEARER_TOKEN_BEDROCK`:
    /// `ApiKey::from_env("AWS_BEARER_TOKEN_BEDROCK")`.
    #[cfg(feature = "bedrock")]
    pub fn bedrock_with_key(region: &str, credentials: impl Credentials) -> Self {
        Self::new(Provider::Bedrock, bedrock_url(region)).credentials(credentials)
    }

    /// Creates the endpoint of a server that implements Chat Completions. `base_url` is the URL without `/chat/completions`, such as
    /// `http://localhost:11434/v1`. Requests contain no credentials unless [`credentials`](Self::credentials) adds them.
    pub fn compatible(base_url: impl Into<String>) -> Self {
        Self {
            own: false,
            ..Self::new(Provider::Chat, base_url)
        }
    }

    /// Replaces the base URL, for a proxy or a region. The path of the API, such as `/messages`, is added to it.
    #[must_use]
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base = base_url.into();
        self
    }

    /// Sets the source of tokens.
    #[must_use]
    pub fn credentials(mut self, credentials: impl Credentials) -> Self {
        self.credentials = Some(Arc::new(credentials));
        self
    }

    /// Sends the token in this header, without a prefix, in place of `Authorization: Bearer`.
    #[must_use]
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        self.key_header = Some(name.into());
        self
    }

    /// Adds a header to every request, or replaces an earlier value of it. Use [`credentials`](Self::credentials) for secrets: the value of a header
    /// is not redacted if the server repeats it in an error or a reply.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        self.headers.push((name, value.into()));
        self
    }

    /// Adds a query parameter to every request, such as `api-version`.
    #[must_use]
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Allows sending credentials over `http` to a different machine, for a network that you trust. Without it,
    /// [`build`](super::HttpModelBuilder::build) refuses such an endpoint.
    #[must_use]
    pub fn allow_http(mut self) -> Self {
        self.allow_http = true;
        self
    }

    /// Returns the format of the requests.
    pub fn provider(&self) -> Provider {
        self.provider
    }
}

/// Returns the base URL of Bedrock in a region.
#[cfg(feature = "bedrock")]
fn bedrock_url(region: &str) -> String {
    let suffix = if region.starts_with("cn-") { ".cn" } else { "" };
    format!("https://bedrock-runtime.{region}.amazonaws.com{suffix}")
}

/// Shows no credentials, query parameters or values of headers.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("Endpoint")
            .field("provider", &self.provider)
            .field("base", &shown(&self.base))
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}
