//! Host names, and lists of them.

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

/// A list of domains, each with everything below it.
///
/// A domain ends at a dot: `example.com` stands for `api.example.com` and not for `evil-example.com`. An address stands for itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Domains(Vec<String>);

impl Domains {
    pub(super) fn new<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Self {
        Self(names.into_iter().map(|name| plain(name.as_ref())).collect())
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

/// A host as lists and resolvers know it: as the URL standard spells it, without brackets and without a dot at its end.
///
/// A name that no URL could have stands for itself, and so for no host.
pub(super) fn plain(name: &str) -> String {
    let bare = name.trim_matches(['.', '[', ']']);
    if let Ok(address) = bare.parse::<Ipv6Addr>() {
        return address.to_string();
    }
    match url::Host::parse(bare) {
        Ok(url::Host::Domain(domain)) => domain,
        Ok(url::Host::Ipv4(address)) => address.to_string(),
        Ok(url::Host::Ipv6(address)) => address.to_string(),
        Err(_) => bare.to_ascii_lowercase(),
    }
}
