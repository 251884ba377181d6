//! Host names and lists of host names.

use std::fmt;
use std::net::Ipv6Addr;

/// Names that are not names of public hosts, each with its subdomains: for example, names of the machine itself, of non-public networks and of the
/// metadata services of clouds.
///
/// Sources: the special-use names of <https://www.iana.org/assignments/special-use-domain-names>; ICANN's reservation of `internal`, under which
/// Google, AWS and Azure have their metadata services; and RFC 6762, appendix G, for names that home and company networks use without a reservation.
/// The last four names belong to the metadata services of Google, Tencent and Equinix.
pub(super) const BLOCKED: [&str; 20] = [
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "home.arpa",
    "in-addr.arpa",
    "ip6.arpa",
    "invalid",
    "onion",
    "alt",
    "svc", // services of Kubernetes, without `cluster.local`
    "metadata.goog",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
];

/// The error for a text on a list of hosts that is neither a domain nor an address, so that it could never match a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainError(String);

impl fmt::Display for DomainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is neither a domain nor an address, write `example.com` for it and its subdomains, without scheme, user, port, path and `*`",
            self.0
        )
    }
}

impl std::error::Error for DomainError {}

/// A list of domains, each with its subdomains.
///
/// Matches end at a dot: `example.com` matches `api.example.com` and not `evil-example.com`. An address matches only itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Domains(Vec<String>);

impl Domains {
    /// Parses domains and addresses; `*.example.com` and `.example.com` mean the same as `example.com`.
    pub(super) fn new<N: AsRef<str>>(
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, DomainError> {
        let read = names.into_iter().map(|name| domain(name.as_ref()));
        read.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the list of [`BLOCKED`] names.
    pub(super) fn special() -> Self {
        Self(BLOCKED.map(str::to_owned).into())
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Returns whether a host, in the form that [`plain`] returns, is one of these domains or a subdomain of one of them.
    pub(super) fn hold(&self, host: &str) -> bool {
        self.0.iter().any(|domain| {
            let above = host.strip_suffix(domain.as_str());
            above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
        })
    }
}

/// Parses a domain or an address into the form that [`plain`] returns.
fn domain(text: &str) -> Result<String, DomainError> {
    // The rejected text may be a URL with a password, so only the part after the last `@` is shown.
    let fault = || DomainError(text.rsplit('@').next().unwrap_or(text).to_owned());
    let name = text
        .strip_prefix("*.")
        .or(text.strip_prefix('.'))
        .unwrap_or(text);
    if let Ok(address) = name.parse::<Ipv6Addr>() {
        return Ok(address.to_string());
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let odd = |c: char| c == '*' || c.is_whitespace() || c.is_control();
    if name.contains(odd) || !name.starts_with('[') && name.split('.').any(str::is_empty) {
        return Err(fault());
    }
    spelled(name).ok_or_else(fault)
}

/// Converts a host to the form that lists and resolvers use: as the URL standard writes it, without brackets and without a trailing dot.
pub(super) fn plain(name: &str) -> String {
    let bare = name.trim_matches(['.', '[', ']']);
    if let Ok(address) = bare.parse::<Ipv6Addr>() {
        return address.to_string();
    }
    spelled(bare).unwrap_or_else(|| bare.to_ascii_lowercase())
}

/// Returns a host as the URL standard writes it, without brackets; `None` if it is invalid.
fn spelled(host: &str) -> Option<String> {
    Some(match url::Host::parse(host).ok()? {
        url::Host::Domain(domain) => domain,
        url::Host::Ipv4(address) => address.to_string(),
        url::Host::Ipv6(address) => address.to_string(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    // S1-102: a list accepts domains and addresses in their usual spellings
    #[test]
    fn domain_list_accepts_usual_spellings() {
        for (text, holds) in [
            ("example.com", "example.com"),
            ("Example.COM.", "api.example.com"),
            (".example.com", "api.example.com"),
            ("*.example.com", "api.example.com"),
            ("*.example.com", "example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("intranet", "wiki.intranet"),
            ("_dmarc.example.com", "_dmarc.example.com"),
            ("127.1", "127.0.0.1"),
            ("[::1]", "::1"),
            ("0:0::1", "::1"),
        ] {
            let list = Domains::new([text]).unwrap();
            assert!(list.hold(holds), "{text}");
            assert!(!list.hold("evil-example.com"), "{text}");
        }
    }

    // S1-102: a list refuses texts that could never match a host, and its error does not show a password
    #[test]
    fn domain_entries_that_match_nothing_are_refused() {
        for text in [
            "",
            ".",
            "*",
            "*.",
            "..",
            "**.example.com",
            "*.*.example.com",
            "api.*.example.com",
            "*example.com",
            "..example.com",
            "a..example.com",
            "https://example.com",
            "//example.com",
            "example.com/",
            "example.com/path",
            "example.com:443",
            "example.com?x",
            "example.com#x",
            "user@example.com",
            "exa mple.com",
            " example.com",
            "example.com\n",
            "10.0.0.0/8",
            "127.0.0.1:80",
            "[::1]:80",
            "[::1",
            "256.1.1.1",
        ] {
            assert!(Domains::new(["example.org", text]).is_err(), "{text:?}");
        }
        let told = Domains::new(["https://ann:hunter22@example.com"]).unwrap_err();
        assert!(!told.to_string().contains("hunter22"), "{told}");
        assert!(told.to_string().contains("write `example.com`"), "{told}");
    }

    // S1-102: the built-in list of blocked names has the form that a parsed list has
    #[test]
    fn special_names_equal_their_parsed_list() {
        assert_eq!(Domains::new(BLOCKED).unwrap().0, Domains::special().0);
    }
}
