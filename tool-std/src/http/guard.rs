//! The guard that decides to which hosts and addresses a request may be sent.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tool_core::{ErrorKind, ToolError};
use url::{Host, Origin, Url};

use super::names::{DomainError, Domains, plain};
use super::resolve::{Resolver, SystemResolver};
use super::special::special_range;

/// Decides which addresses may be reached.
///
/// Closures implement this: `|address| special_range(address)` is the default of a [`Guard`].
pub trait AddressPolicy: Send + Sync + 'static {
    /// Returns the reason why nothing may be sent to an address; `None` if the address is allowed.
    fn refusal(&self, address: IpAddr) -> Option<&'static str>;
}

impl<F: Fn(IpAddr) -> Option<&'static str> + Send + Sync + 'static> AddressPolicy for F {
    fn refusal(&self, address: IpAddr) -> Option<&'static str> {
        self(address)
    }
}

/// Decides to which hosts requests may be sent, for every hop of every request.
///
/// A URL is parsed once, by the URL standard, so that every odd spelling has one meaning. It must be `http` or `https` and must not contain a user.
/// Its port must be allowed, by default 80 or 443. Its host must not be blocked, must not be a special name or lack a dot, and must be on the
/// operator's list, if there is one. An address in the URL is checked directly. A name is resolved once, **every** address of it is checked, and the
/// connection uses one of these addresses, so that no second lookup can return a different address. A name that cannot be resolved is refused.
///
/// For a service that the host itself has named ([`Http::send_to_own`](super::Http::send_to_own)), only the scheme, the user and the list of blocked
/// names are checked.
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
    /// `None` allows every port.
    ports: Option<BTreeSet<u16>>,
    /// `None` allows every host.
    allowed: Option<Domains>,
    /// Names that the operator has blocked.
    blocked: Domains,
    /// Special names, such as `localhost`, which are blocked except for the trusted origin.
    special: Domains,
    /// The origin of a service that the operator has named.
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
    /// Sets the resolver; the default is the system's.
    pub fn resolver(mut self, resolver: impl Resolver) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Sets the policy for addresses; the default is [`special_range`].
    pub fn addresses(mut self, policy: impl AddressPolicy) -> Self {
        self.addresses = Arc::new(policy);
        self
    }

    /// Allows only these ports; the default is 80 and 443.
    pub fn ports(mut self, ports: impl IntoIterator<Item = u16>) -> Self {
        self.ports = Some(ports.into_iter().collect());
        self
    }

    /// Allows connections to every port.
    pub fn any_port(mut self) -> Self {
        self.ports = None;
        self
    }

    /// Allows only these domains and their subdomains, in addition to the domains of earlier calls: `example.com`, `*.example.com` and `.example.com`
    /// all allow `api.example.com` and not `evil-example.com`. An empty list allows nothing. An allowed domain still needs a public address. A search
    /// engine must be on the list as well, unless the operator has set its address.
    ///
    /// # Errors
    ///
    /// Returns a [`DomainError`] if a text is neither a domain nor an address, such as a text with a scheme, a port, a path or a `*` elsewhere,
    /// because such a text could never match a host.
    pub fn allow<N: AsRef<str>>(
        mut self,
        domains: impl IntoIterator<Item = N>,
    ) -> Result<Self, DomainError> {
        self.allowed
            .get_or_insert_default()
            .extend(Domains::new(domains)?);
        Ok(self)
    }

    /// Blocks these domains and their subdomains; this overrides everything else, the operator's own services included. Special names (`localhost`,
    /// `internal`, …) are blocked as well, except for the operator's own services.
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
    /// Returns a [`DomainError`] in the same cases as with [`allow`](Self::allow).
    pub fn block<N: AsRef<str>>(
        mut self,
        domains: impl IntoIterator<Item = N>,
    ) -> Result<Self, DomainError> {
        self.blocked.extend(Domains::new(domains)?);
        Ok(self)
    }

    /// Allows this one origin at any address, unless it is [blocked](Self::block): a service that the operator has named.
    pub(crate) fn trusting(mut self, origin: Origin) -> Self {
        self.trusted = Some(origin);
        self
    }

    fn trusts(&self, url: &Url) -> bool {
        self.trusted
            .as_ref()
            .is_some_and(|trusted| *trusted == url.origin())
    }

    /// Parses a URL and checks everything that can be checked without a lookup.
    pub fn url(&self, text: &str) -> Result<Url, Refusal> {
        let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        if text.contains(odd) {
            return Err(Refusal::Malformed(
                "it contains white space, a control character or a backslash",
            ));
        }
        let url = Url::parse(text).map_err(|error| Refusal::Malformed(reason(error)))?;
        self.judge(&url)?;
        Ok(url)
    }

    /// Checks a URL that is already parsed, such as the target of a redirect, as [`url`](Self::url) does.
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
        if let Some(ports) = &self.ports
            && !ports.contains(&port)
        {
            let default = if url.scheme() == "https" { 443 } else { 80 };
            return Err(Refusal::Port {
                port,
                allowed: ports.iter().copied().collect(),
                default_allowed: ports.contains(&default),
            });
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

    /// Checks a URL, resolves its host and checks every address, unless the operator has named the service. Returns the addresses to connect to.
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
        url::ParseError::RelativeUrlWithoutBase => {
            "it is not an absolute URL, write `https://host/path`"
        }
        url::ParseError::InvalidPort => "its port is not a number from 0 to 65535",
        url::ParseError::EmptyHost => "it has no host",
        _ => "its host is neither a name nor an address",
    }
}

/// Maximum number of allowed ports that the text of a [`Refusal`] lists.
const MOST_PORTS: usize = 10;

/// The reason why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The text is not a valid URL, or contains white space, a control character or a backslash.
    Malformed(&'static str),
    /// The scheme is not `http` or `https`.
    Scheme(String),
    /// The URL contains a user or a password.
    User,
    /// The port is not allowed.
    Port {
        /// The port of the URL.
        port: u16,
        /// The allowed ports, in ascending order.
        allowed: Vec<u16>,
        /// Whether the default port of the URL's scheme is allowed.
        default_allowed: bool,
    },
    /// The host is blocked, or its name is not the name of a public host.
    Blocked(String),
    /// The host is not on the list of allowed hosts.
    NotAllowed(String),
    /// The address policy refused an address: the address in the URL, or one of the addresses that its name resolves to.
    Address {
        /// The host in the URL.
        host: String,
        /// The address of the host that the address policy refused.
        address: IpAddr,
        /// The reason that the address policy states, such as the range of the address.
        range: &'static str,
    },
    /// The name has no addresses or could not be resolved.
    Unknown {
        /// The host in the URL.
        host: String,
        /// The error of the resolver.
        cause: String,
    },
}

/// The text is written for a model, so it does not contain the addresses that a name resolves to.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "`url` is not a valid URL: {why}"),
            Self::Scheme(scheme) => write!(
                f,
                "`url` has the scheme `{scheme}`, only `https` and `http` are possible"
            ),
            Self::User => f.write_str("`url` has a user or a password before its host, remove it"),
            Self::Port {
                port,
                allowed,
                default_allowed,
            } => {
                write!(f, "port {port} is not allowed here, ")?;
                match allowed.as_slice() {
                    [] => f.write_str("and no other port is allowed"),
                    _ if *default_allowed => f.write_str("use a URL without a port"),
                    [only] => write!(f, "use port {only}"),
                    [first, others @ ..] => {
                        write!(f, "use one of the ports {first}")?;
                        for port in others.iter().take(MOST_PORTS - 1) {
                            write!(f, ", {port}")?;
                        }
                        Ok(())
                    }
                }
            }
            Self::Blocked(host) => write!(
                f,
                "`{host}` is blocked here or is not a public host, use a different host"
            ),
            Self::NotAllowed(host) => write!(
                f,
                "`{host}` is not among the hosts that are allowed here, use one of them"
            ),
            Self::Address { host, .. } => write!(
                f,
                "`{host}` is not at a public address, only hosts on the internet can be reached"
            ),
            Self::Unknown { host, .. } => {
                write!(f, "`{host}` could not be resolved, check its spelling")
            }
        }
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// Converts the refusal to the error of the call: `Denied`, or a failure if the URL is malformed or its host could not be resolved.
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
            | Self::Port { .. }
            | Self::Blocked(_)
            | Self::NotAllowed(_) => ToolError::of(ErrorKind::Denied, text),
        }
    }
}
