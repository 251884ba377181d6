//! The shared state of the handlers.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tool_core::Registry;
use tool_core::policy::SharedPolicy;
use tool_core::store::seal::Vault;
use tool_core::store::{
    Catalogue, ChangeStore, Directory, EnablementStore, EventStore, Maintenance, Store, VaultStore,
};
use tool_core::stored::StoredTools;
use tool_http::{AuthError, HostGuard, bearer};

use crate::auth::{Authenticator, Caller};
use crate::problem::{Kind, Problem};

/// The store traits that the admin API requires, combined in one trait. `MemoryStore`, `SqliteStore` and `PostgresStore` implement it.
pub trait AdminStore:
    Store
    + Catalogue
    + ChangeStore
    + EnablementStore
    + VaultStore
    + Directory
    + Maintenance
    + EventStore
{
}

impl<T> AdminStore for T where
    T: Store
        + Catalogue
        + ChangeStore
        + EnablementStore
        + VaultStore
        + Directory
        + Maintenance
        + EventStore
{
}

/// The state of the handlers.
pub(crate) struct Inner {
    pub(crate) store: Arc<dyn AdminStore>,
    pub(crate) policy: Option<SharedPolicy>,
    /// Locked while a request compares the policy with `If-Match` and replaces it.
    pub(crate) replacing: Mutex<()>,
    pub(crate) registry: Option<Registry>,
    pub(crate) stored_tools: Option<StoredTools>,
    pub(crate) vault: Option<Vault>,
    pub(crate) authenticators: Vec<Arc<dyn Authenticator>>,
    pub(crate) guard: HostGuard,
    pub(crate) max_body: usize,
    pub(crate) timeout: Duration,
    /// Is cancelled when the server shuts down, which would otherwise wait for the streams of events.
    pub(crate) ending: CancellationToken,
}

/// The state of the handlers, shared by all requests.
pub(crate) type Shared = Arc<Inner>;

/// Authenticates the caller of a request with the first authenticator that knows the token.
pub(crate) async fn authenticate(
    authenticators: &[Arc<dyn Authenticator>],
    headers: &HeaderMap,
) -> Result<Caller, Problem> {
    let unauthorized = |detail: &str| Problem::new(Kind::Unauthorized, detail);
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let token = match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok().and_then(bearer),
        _ => None,
    };
    let token = token.ok_or_else(|| {
        unauthorized("send one access token in the header `Authorization: Bearer TOKEN`")
    })?;
    let mut reason = None;
    for authenticator in authenticators {
        match authenticator.authenticate(token).await {
            Ok(caller) => return Ok(caller),
            Err(AuthError::InvalidToken) => {}
            Err(AuthError::Rejected(why)) => reason = reason.or(Some(why)),
            // `Unavailable`, and variants that later versions of the non-exhaustive enum add.
            Err(_) => {
                return Err(Problem::new(
                    Kind::Unavailable,
                    "access tokens cannot be verified now, try again later",
                ));
            }
        }
    }
    Err(match reason {
        Some(why) => unauthorized(&format!("the access token is invalid: {why}")),
        None => unauthorized("the access token is invalid"),
    })
}
