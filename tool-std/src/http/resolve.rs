//! Resolution of host names to addresses.

use std::io;
use std::net::IpAddr;

use futures::FutureExt as _;
use futures::future::BoxFuture;

/// Resolves host names. The guard calls the resolver once for each hop whose host is a name, and the client connects to one of the returned
/// addresses.
///
/// ```
/// use std::io;
/// use std::net::IpAddr;
///
/// use futures::future::{BoxFuture, FutureExt as _};
/// use tool_std::http::{Guard, Resolver};
///
/// /// A resolver for a single name.
/// struct One;
///
/// impl Resolver for One {
///     fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
///         let found = match host {
///             "api.example" => Ok(vec![[192, 0, 2, 7].into()]),
///             _ => Err(io::ErrorKind::NotFound.into()),
///         };
///         async { found }.boxed()
///     }
/// }
///
/// let guard = Guard::default().resolver(One);
/// ```
pub trait Resolver: Send + Sync + 'static {
    /// Returns all addresses of a name, in the order in which to try them. `host` is in lower case and ASCII, without a trailing dot.
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The system's own resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        }
        .boxed()
    }
}
