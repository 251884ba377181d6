//! Parts that the HTTP servers of tool hosts share: access tokens, checks of the `Host` and `Origin` headers, the connection loop, and termination
//! signals.
//!
//! ```
//! use futures::FutureExt as _;
//! use futures::future::BoxFuture;
//! use tool_http::{AuthError, Principal, TokenVerifier, bearer};
//!
//! struct Known;
//!
//! impl TokenVerifier for Known {
//!     fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Principal, AuthError>> {
//!         async move {
//!             match token {
//!                 "alice's" => Ok(Principal::new("alice")),
//!                 _ => Err(AuthError::InvalidToken),
//!             }
//!         }
//!         .boxed()
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let token = bearer("Bearer alice's").unwrap();
//! assert_eq!(Known.verify(token).await.unwrap().subject, "alice");
//! # }
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "server")]
mod connections;
#[cfg(feature = "server")]
mod guard;
#[cfg(feature = "jwt")]
mod jwt;
mod principal;
#[cfg(feature = "server")]
mod signal;
mod token;

#[cfg(feature = "server")]
pub use connections::serve;
#[cfg(feature = "server")]
pub use guard::{HostGuard, HostRefusal};
#[cfg(feature = "jwt")]
pub use jwt::{
    FetchedJwks, HttpJwks, JwksError, JwksFetcher, JwtAlgorithm, JwtConfigError, JwtVerifier,
    JwtVerifierBuilder,
};
pub use principal::Principal;
#[cfg(feature = "server")]
pub use signal::shutdown_signal;
pub use token::{AuthError, TokenVerifier, bearer};
