//! Where a request may go.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tool_core::{ErrorKind, ToolError};
use url::{Host, Origin, Url};

use super::names::{DomainError, Domains, plain};
use super::resolve::{Resolver, SystemResolver};
use super::special::special_range;

/// Judges addresses.
///
/// A closure is one: `|address| special_range(address)` is what a [`Guard`] has where nothing is said.
pub trait AddressPolicy: Send + Sync + 'static {
    /// Why nothing may be sent there; `None` where it may.
    fn refusal(&self, address: IpAddr) -> Option<&'static str>;
}

impl<F: Fn(IpAddr) -> Option<&'static str> + Send + Sync + 'static> AddressPolicy for F {
    fn refusal(&self, address: IpAddr) -> Option<&'static str> {
        self(address)
    }
}

/// Decides where requests may go: one of these judges every hop of every request.
///
/// A URL is read once, by the URL standard, so that there is one reading of every odd spelling. It has to be `http` or `https`, without
/// a user in it; its port has to be 80 or 443, its host no special name and, where the host of the tools gave a list, on it. A literal
/// address is judged as it is. A name is looked up once, **every** address that it has is judged, and the connection goes to one of
/// these addresses: there is no second look-up that could answer something else. What cannot be looked up is refused.
///
/// ```
/// use tool_std::http::Guard;
///
/// let guard = Guard::default().allow(["example.com"])?;
/// assert!(guard.url("https://api.example.com/v1").is_ok());
/// assert!(guard.url("https://evil-example.com/").is_err());
/// assert!(guard.url("http://2130706433/").is_err()); // 127.0.0.1
/// assert!(guard.url("file:///etc/passwd").is_err());
/// # Ok::<(), tool_std::http::DomainError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Guard {
    resolver: Arc<dyn Resolver>,
    addresses: Arc<dyn AddressPolicy>,
    /// `None`: every port.
    ports: Option<BTreeSet<u16>>,
    /// `None`: every host.
    allowed: Option<Domains>,
    /// By the host.
    blocked: Domains,
    /// By what they mean.
    special: Domains,
    /// A service that the host has named itself.
    trusted: Option<Origin>,
}

impl Default for Guard {
    fn default() -> Self {
        Self {
            resolver: Arc::new(SystemResolver),
            addresses: Arc::new(special_range),
            ports: Some([80, 443].into()),
            allowed: None,
            blocked: Domains::default(),
            special: Domains::special(),
            trusted: None,
        }
    }
}

impl Guard {
    /// Looks names up with this; the system's resolver where nothing is said.
    pub fn resolver(mut self, resolver: impl Resolver) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Judges addresses with this; [`special_range`] where nothing is said.
    pub fn addresses(mut self, policy: impl AddressPolicy) -> Self {
        self.addresses = Arc::new(policy);
        self
    }

    /// Only these ports; 80 and 443 where nothing is said.
    pub fn ports(mut self, ports: impl IntoIterator<Item = u16>) -> Self {
        self.ports = Some(ports.into_iter().collect());
        self
    }

    /// Every port.
    pub fn any_port(mut self) -> Self {
        self.ports = None;
        self
    }

    /// Only these domains with what is below them, and those of further calls: `example.com` stands for `api.example.com` and not for
    /// `evil-example.com`, as `*.example.com` and `.example.com` do. An empty list leaves nothing. A domain on the list still has to
    /// have a public address. A search engine that the host has not given an address of its own has to be on the list as well.
    ///
    /// # Errors
    ///
    /// [`DomainError`] for a text that names no domain and no address, such as one with a scheme, a port, a path or a `*` elsewhere:
    /// no host would ever be what it says.
    pub fn allow<N: AsRef<str>>(
        mut self,
        domains: impl IntoIterator<Item = N>,
    ) -> Result<Self, DomainError> {
        self.allowed
            .get_or_insert_default()
            .extend(Domains::new(domains)?);
        Ok(self)
    }

    /// Never these domains and what is below them, whatever else is said, services of the host's own included. Special names
    /// (`localhost`, `internal`, …) are blocked without being said, but for the host's own services.
    ///
    /// ```
    /// use tool_std::http::Guard;
    ///
    /// assert!(Guard::default().block(["*.corp.example"]).is_ok());
    /// assert!(Guard::default().block(["https://corp.example"]).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// [`DomainError`], as with [`allow`](Self::allow).
    pub fn block<N: AsRef<str>>(
        mut self,
        domains: impl IntoIterator<Item = N>,
    ) -> Result<Self, DomainError> {
        self.blocked.extend(Domains::new(domains)?);
        Ok(self)
    }

    /// Lets requests to this one origin pass, wherever it is but where the host blocks: a service that the host names itself.
    pub(crate) fn trusting(mut self, origin: Origin) -> Self {
        self.trusted = Some(origin);
        self
    }

    fn trusts(&self, url: &Url) -> bool {
        self.trusted
            .as_ref()
            .is_some_and(|trusted| *trusted == url.origin())
    }

    /// Reads a URL and judges all of it that can be judged without looking a name up.
    pub fn url(&self, text: &str) -> Result<Url, Refusal> {
        let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        if text.contains(odd) {
            return Err(Refusal::Malformed("it has a blank or a backslash in it"));
        }
        let url = Url::parse(text).map_err(|error| Refusal::Malformed(reason(error)))?;
        self.judge(&url)?;
        Ok(url)
    }

    /// The same for a URL that has been read, such as that of a redirect.
    pub fn judge(&self, url: &Url) -> Result<(), Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::User);
        }
        let host = url.host().ok_or(Refusal::Malformed("it has no host"))?;
        let name = match host {
            Host::Domain(domain) => domain.trim_end_matches('.').to_owned(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        };
        if self.blocked.hold(&name) {
            return Err(Refusal::Blocked(name));
        }
        if self.trusts(url) {
            return Ok(());
        }
        let port = url.port_or_known_default().unwrap_or_default();
        if self
            .ports
            .as_ref()
            .is_some_and(|ports| !ports.contains(&port))
        {
            return Err(Refusal::Port(port));
        }
        if self.special.hold(&name) {
            return Err(Refusal::Blocked(name));
        }
        if self.allowed.as_ref().is_some_and(|list| !list.hold(&name)) {
            return Err(Refusal::NotAllowed(name));
        }
        match host {
            Host::Ipv4(address) => self.address(&name, address.into()),
            Host::Ipv6(address) => self.address(&name, address.into()),
            Host::Domain(_) if !name.contains('.') => Err(Refusal::Blocked(name)),
            Host::Domain(_) => Ok(()),
        }
    }

    fn address(&self, host: &str, address: IpAddr) -> Result<(), Refusal> {
        match self.addresses.refusal(address) {
            None => Ok(()),
            Some(range) => Err(Refusal::Address {
                host: host.to_owned(),
                address,
                range,
            }),
        }
    }

    /// Judges a URL and looks its host up: where a connection for it may go, every one of them judged.
    pub async fn addresses_of(&self, url: &Url) -> Result<Vec<SocketAddr>, Refusal> {
        self.judge(url)?;
        let port = url.port_or_known_default().unwrap_or_default();
        let name = match url.host() {
            Some(Host::Ipv4(address)) => return Ok(vec![(address, port).into()]),
            Some(Host::Ipv6(address)) => return Ok(vec![(address, port).into()]),
            Some(Host::Domain(domain)) => plain(domain),
            None => return Err(Refusal::Malformed("it has no host")),
        };
        let found = self.resolver.resolve(&name).await;
        let found = found.map_err(|error| Refusal::Unknown {
            host: name.clone(),
            cause: error.to_string(),
        })?;
        if found.is_empty() {
            return Err(Refusal::Unknown {
                host: name,
                cause: "it has no address".to_owned(),
            });
        }
        if !self.trusts(url) {
            found
                .iter()
                .try_for_each(|address| self.address(&name, *address))?;
        }
        Ok(found
            .into_iter()
            .map(|address| (address, port).into())
            .collect())
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("ports", &self.ports)
            .field("allowed", &self.allowed)
            .field("blocked", &self.blocked)
            .finish_non_exhaustive()
    }
}

fn reason(error: url::ParseError) -> &'static str {
    match error {
        url::ParseError::RelativeUrlWithoutBase => "it is not whole, write `https://host/path`",
        url::ParseError::InvalidPort => "its port is no number from 0 to 65535",
        url::ParseError::EmptyHost => "it has no host",
        _ => "its host is no name and no address",
    }
}

/// Why a request does not go where it was meant to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The text is no URL.
    Malformed(&'static str),
    /// Another scheme than `http` and `https`.
    Scheme(String),
    /// There is a user or a password in it.
    User,
    /// A port that is not allowed.
    Port(u16),
    /// A name that means no public host.
    Blocked(String),
    /// A host that is not on the list of those allowed.
    NotAllowed(String),
    /// An address that is not public, the host's own or one of those that its name has.
    Address {
        /// The host in the URL.
        host: String,
        /// The address.
        address: IpAddr,
        /// What it belongs to.
        range: &'static str,
    },
    /// A name without addresses, or one that could not be looked up.
    Unknown {
        /// The host in the URL.
        host: String,
        /// What the resolver says.
        cause: String,
    },
}

/// In words that a model may read: addresses behind a name are not told.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "`url` cannot be read: {why}"),
            Self::Scheme(scheme) => write!(
                f,
                "`url` has the scheme `{scheme}`, only `https` and `http` are possible"
            ),
            Self::User => {
                f.write_str("`url` has a user or a password before its host, leave that out")
            }
            Self::Port(port) => write!(
                f,
                "port {port} is not allowed here, use a URL without a port"
            ),
            Self::Blocked(host) => write!(
                f,
                "`{host}` is no public host, use the name that it has on the internet"
            ),
            Self::NotAllowed(host) => write!(
                f,
                "`{host}` is not among the hosts that are allowed here, use one that is"
            ),
            Self::Address { host, .. } => write!(
                f,
                "`{host}` is not at a public address, only hosts on the internet can be reached"
            ),
            Self::Unknown { host, .. } => {
                write!(f, "`{host}` could not be looked up, check its spelling")
            }
        }
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// As the end of a call: refused, or failed where a name could not be looked up.
    pub(crate) fn into_tool_error(self) -> ToolError {
        let text = self.to_string();
        match self {
            Self::Address { address, range, .. } => {
                ToolError::of(ErrorKind::Denied, text).operator(format!("{address} is {range}"))
            }
            Self::Unknown { cause, .. } => ToolError::new(text).operator(cause),
            Self::Malformed(_) => ToolError::new(text),
            Self::Scheme(_)
            | Self::User
            | Self::Port(_)
            | Self::Blocked(_)
            | Self::NotAllowed(_) => ToolError::of(ErrorKind::Denied, text),
        }
    }
}
