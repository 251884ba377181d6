//! The address of the host's git server.

use std::path::PathBuf;

use super::name::Repo;

/// The parsed base URL of the host's repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) scheme: Scheme,
    /// Host and port, as git names them in credential requests; empty for `file` URLs.
    pub(super) authority: String,
    /// The path of the base: empty, or with a leading slash and without a trailing slash.
    path: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Https,
    Http,
    File,
}

/// The error for a text that is not a valid base of repository URLs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a base URL for repositories, write `https://host`, `http://host:port/path` or `file:///path`, without user, query and fragment"
)]
pub struct HostError(String);

impl Scheme {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
            Self::File => "file",
        }
    }
}

impl Address {
    pub(super) fn github() -> Self {
        Self {
            scheme: Scheme::Https,
            authority: String::from("github.com"),
            path: String::new(),
        }
    }

    pub(super) fn parse(base: &str) -> Result<Self, HostError> {
        // The rejected text may contain a password, so only the part after the last `@` is shown.
        let fault = || HostError(base.split('@').next_back().unwrap_or(base).to_owned());
        let (scheme, rest) = base.split_once("://").ok_or_else(fault)?;
        let scheme = [Scheme::Https, Scheme::Http, Scheme::File]
            .into_iter()
            .find(|known| known.name().eq_ignore_ascii_case(scheme))
            .ok_or_else(fault)?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = path.trim_end_matches('/');
        let legal = |c: char| c.is_ascii_alphanumeric() || "/._~+,-".contains(c);
        let leads_down = path
            .split('/')
            .skip(1)
            .all(|name| !matches!(name, "" | "." | ".."));
        let at_host = match scheme {
            Scheme::File => authority.is_empty() && !path.is_empty(),
            Scheme::Https | Scheme::Http => is_authority(authority),
        };
        if !at_host || !leads_down || !path.chars().all(legal) {
            return Err(fault());
        }
        Ok(Self {
            scheme,
            authority: authority.to_ascii_lowercase(),
            path: path.to_owned(),
        })
    }

    /// Returns the URL of a repository, without credentials.
    pub(super) fn url(&self, repo: &Repo) -> String {
        let (scheme, path) = (self.scheme.name(), self.repository(repo));
        format!("{scheme}://{}/{path}", self.authority)
    }

    /// Returns the path of a repository, as git names it in credential requests.
    pub(super) fn repository(&self, repo: &Repo) -> String {
        let path = format!("{}/{}/{}.git", self.path, repo.owner, repo.name);
        path.trim_start_matches('/').to_owned()
    }

    /// Returns the folder that contains all repositories, for a `file` URL.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        (self.scheme == Scheme::File).then(|| PathBuf::from(&self.path))
    }

    /// Returns the TCP port to connect to, if any.
    pub(super) fn port(&self) -> Option<u16> {
        port(&self.authority).or(match self.scheme {
            Scheme::Https => Some(443),
            Scheme::Http => Some(80),
            Scheme::File => None,
        })
    }
}

/// Returns the port that follows a host in an authority.
pub(super) fn port(authority: &str) -> Option<u16> {
    let (_, port) = authority.rsplit_once(':')?;
    port.parse().ok()
}

/// Returns whether a text is a name, an IPv4 address or an IPv6 address in brackets, optionally with a port.
fn is_authority(text: &str) -> bool {
    let (host, rest) = match text.strip_prefix('[') {
        Some(v6) => match v6.split_once(']') {
            Some((host, rest)) => (host, rest),
            None => return false,
        },
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let v6 = text.starts_with('[');
    let legal = |c: char| {
        c == '.'
            || if v6 {
                c.is_ascii_hexdigit() || c == ':'
            } else {
                c.is_ascii_alphanumeric() || c == '-'
            }
    };
    let port_is_one = match rest.strip_prefix(':') {
        Some(_) => port(rest).is_some(),
        None => rest.is_empty(),
    };
    !host.is_empty() && !host.starts_with('-') && host.chars().all(legal) && port_is_one
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    // S1-91: a base is parsed into the URL and port of a repository
    #[test]
    fn base_url_is_joined_with_the_repository() {
        for (base, url, port) in [
            (
                "https://github.com",
                "https://github.com/o/r.git",
                Some(443),
            ),
            (
                "HTTPS://GitHub.com/",
                "https://github.com/o/r.git",
                Some(443),
            ),
            (
                "http://127.0.0.1:8080/x",
                "http://127.0.0.1:8080/x/o/r.git",
                Some(80 + 8000),
            ),
            ("http://[::1]:81", "http://[::1]:81/o/r.git", Some(81)),
            ("file:///srv/git/", "file:///srv/git/o/r.git", None),
        ] {
            let address = Address::parse(base).unwrap();
            let repo = Repo::parse("o/r").unwrap();
            assert_eq!((&*address.url(&repo), address.port()), (url, port));
        }
    }

    // S1-91: a base with credentials, a different scheme or odd characters is refused, and its password is not shown
    #[test]
    fn unsafe_base_urls_are_refused() {
        for base in [
            "",
            "github.com",
            "ssh://github.com",
            "git://github.com",
            "ext::sh -c id",
            "ext://x",
            "https://",
            "https:///x",
            "https://user@github.com",
            "https://user:pass@github.com",
            "https://github.com?x",
            "https://github.com#x",
            "https://github.com/a/../b",
            "https://github.com/%2e%2e",
            "https://-x",
            "https://a b",
            "https://a\nb",
            "https://a:b",
            "https://a:70000",
            "https://a:",
            "https://[::1",
            "https://[g]",
            "file://host/x",
            "file://",
            "file:///",
            "https://a/b//c",
            "https://a/'b'",
            "https://a/`b`",
            "https://a/$b",
            "https://a\\b",
        ] {
            assert!(Address::parse(base).is_err(), "{base}");
        }
        let told = Address::parse("https://user:hunter22@github.com").unwrap_err();
        assert!(!told.to_string().contains("hunter22"));
    }
}
