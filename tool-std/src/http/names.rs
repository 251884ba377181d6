//! Host names, and lists of them.

use std::fmt;
use std::net::Ipv6Addr;

/// Names that mean the machine itself, a network that is not public, or the metadata service of a cloud, each with everything below
/// it.
///
/// Special-use names: <https://www.iana.org/assignments/special-use-domain-names>, and ICANN's reservation of `internal`, below which
/// the metadata services of Google, AWS and Azure have their names. Names that home and company networks use without a reservation are
/// those of RFC 6762, appendix G.
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

/// A text on a list of hosts names no domain and no address, so that it would stand for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainError(String);

impl fmt::Display for DomainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no domain and no address, write `example.com` for it and all below it, without scheme, user, port, path and `*`",
            self.0
        )
    }
}

impl std::error::Error for DomainError {}

/// A list of domains, each with everything below it.
///
/// A domain ends at a dot: `example.com` stands for `api.example.com` and not for `evil-example.com`. An address stands for itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Domains(Vec<String>);

impl Domains {
    /// `*.example.com` and `.example.com` say what `example.com` says.
    pub(super) fn new<N: AsRef<str>>(
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, DomainError> {
        let read = names.into_iter().map(|name| domain(name.as_ref()));
        read.collect::<Result<_, _>>().map(Self)
    }

    /// [`BLOCKED`].
    pub(super) fn special() -> Self {
        Self(BLOCKED.map(str::to_owned).into())
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Whether a host, as [`plain`] gives it, is one of these or below one.
    pub(super) fn hold(&self, host: &str) -> bool {
        self.0.iter().any(|domain| {
            let above = host.strip_suffix(domain.as_str());
            above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
        })
    }
}

/// A domain or an address of a list as [`plain`] gives it.
fn domain(text: &str) -> Result<String, DomainError> {
    // A URL that is no domain may hold a password.
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

/// A host as lists and resolvers know it: as the URL standard spells it, without brackets and without a dot at its end.
pub(super) fn plain(name: &str) -> String {
    let bare = name.trim_matches(['.', '[', ']']);
    if let Ok(address) = bare.parse::<Ipv6Addr>() {
        return address.to_string();
    }
    spelled(bare).unwrap_or_else(|| bare.to_ascii_lowercase())
}

/// A host as the URL standard spells it, without brackets.
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

    // S1-102
    #[test]
    fn a_list_takes_domains_and_addresses_in_their_usual_spellings() {
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

    // S1-102
    #[test]
    fn what_would_stand_for_nothing_is_refused() {
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

    // S1-102
    #[test]
    fn special_names_are_as_a_list_has_them() {
        assert_eq!(Domains::new(BLOCKED).unwrap().0, Domains::special().0);
    }
}
