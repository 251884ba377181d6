//! The secret of requests: the hosts that get it, and its header.

use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use tool_core::prelude::*;
use tool_core::{ErrorKind, ExposeSecret as _};
use url::Url;

use super::names::{DomainError, Domains, plain};

/// The header in which the host's secret is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuthStyle {
    /// Sends the secret in the header `Authorization: Bearer …`.
    Bearer,
    /// Sends the secret in a separate header, by default `X-API-Key`.
    ApiKey,
    /// Does not send the secret.
    None,
}

/// The hosts that may get the secret `http_api_key`. Without a `Credential`, no host gets it.
///
/// The secret itself is among the secrets of each call's [`ToolContext`]. It is not an argument of the tools, and it is redacted from results.
///
/// ```
/// use tool_std::http::{Credential, Http};
///
/// let credential = Credential::for_hosts(["api.example.com"])?;
/// let http = Http::default().credential(credential);
/// # Ok::<(), tool_std::http::DomainError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Credential {
    hosts: Domains,
    header: HeaderName,
    plain_http: bool,
}

impl Credential {
    /// Creates a credential that allows these domains and their subdomains to get the secret over HTTPS.
    ///
    /// # Errors
    ///
    /// Returns a [`DomainError`] if a text is neither a domain nor an address, as with [`Guard::allow`](super::Guard::allow).
    pub fn for_hosts<N: AsRef<str>>(
        domains: impl IntoIterator<Item = N>,
    ) -> Result<Self, DomainError> {
        Ok(Self {
            hosts: Domains::new(domains)?,
            header: HeaderName::from_static("x-api-key"),
            plain_http: false,
        })
    }

    /// Sets the header for the style `api-key`; by default `X-API-Key`.
    pub fn header(mut self, name: HeaderName) -> Self {
        self.header = name;
        self
    }

    /// Also allows HTTP without encryption, where everyone on the network path can read the secret.
    pub fn over_plain_http(mut self) -> Self {
        self.plain_http = true;
        self
    }

    /// Returns the header to send for a style, or `None` if there is no style or the style sends no secret. Fails if this URL may not get the secret,
    /// or if the secret is missing or not valid in a header.
    pub(super) fn injected(
        this: Option<&Self>,
        style: Option<AuthStyle>,
        url: &Url,
        secret: Option<&SecretString>,
    ) -> Result<Option<(HeaderName, HeaderValue)>, ToolError> {
        let style = match style {
            None | Some(AuthStyle::None) => return Ok(None),
            Some(style) => style,
        };
        let host = plain(url.host_str().unwrap_or_default());
        let Some(own) = this.filter(|own| own.hosts.hold(&host)) else {
            return Err(ToolError::of(
                ErrorKind::Denied,
                format!("there is no secret for `{host}`, leave `auth_style` out"),
            ));
        };
        if url.scheme() != "https" && !own.plain_http {
            return Err(ToolError::of(
                ErrorKind::Denied,
                "the secret is sent over HTTPS only, use `https` or leave `auth_style` out",
            ));
        }
        let Some(secret) = secret else {
            return Err(ToolError::unavailable("the secret `http_api_key`"));
        };
        let (name, text) = match style {
            AuthStyle::Bearer => (AUTHORIZATION, bearer(secret)),
            _ => (own.header.clone(), secret.clone()),
        };
        let mut value = HeaderValue::from_str(text.expose_secret()).map_err(|_| {
            ToolError::unavailable("the secret `http_api_key`")
                .operator("the value of the secret `http_api_key` is not valid in a header")
        })?;
        value.set_sensitive(true);
        Ok(Some((name, value)))
    }
}

/// Returns `Bearer` and the secret, for the header `Authorization`.
pub(crate) fn bearer(secret: &SecretString) -> SecretString {
    SecretString::from(format!("Bearer {}", secret.expose_secret()))
}
