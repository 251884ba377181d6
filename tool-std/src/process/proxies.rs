//! The host's proxy variables for commands: only with a network, and without passwords.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use crate::isolate::Network;

/// Returns the host's variables that a command with this network gets, without the user names and passwords of proxies.
pub(super) fn shown<'a>(
    environment: &'a [(OsString, OsString)],
    network: &'a Network,
) -> impl Iterator<Item = (OsString, OsString)> + 'a {
    environment.iter().filter_map(|(name, value)| {
        let value = match role(name) {
            Some(_) if !reaches(network) => return None,
            None | Some(Role::Exceptions) => value.clone(),
            Some(Role::Address) => without_password(value),
        };
        Some((name.clone(), value))
    })
}

enum Role {
    Address,
    Exceptions,
}

fn role(name: &OsStr) -> Option<Role> {
    match name.to_str()?.to_ascii_lowercase().as_str() {
        "http_proxy" | "https_proxy" => Some(Role::Address),
        "no_proxy" => Some(Role::Exceptions),
        _ => None,
    }
}

fn reaches(network: &Network) -> bool {
    match network {
        Network::Off => false,
        Network::Tcp { connect, .. } => !connect.is_empty(),
        Network::Open => true,
    }
}

/// Removes everything between the scheme and the last `@` of an address: an unescaped password may contain any character.
fn without_password(address: &OsStr) -> OsString {
    let bytes = address.as_bytes();
    let Some(at) = bytes.iter().rposition(|byte| *byte == b'@') else {
        return address.to_owned();
    };
    let is_of_a_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let letters = bytes.iter().take_while(|byte| is_of_a_scheme(byte)).count();
    let scheme: &[u8] = match bytes[letters..at].strip_prefix(b"://") {
        Some(_) => &bytes[..letters + 3],
        None => b"",
    };
    OsString::from_vec([scheme, &bytes[at + 1..]].concat())
}

#[cfg(test)]
mod tests {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStringExt as _;

    use super::without_password;

    // S1-82: a proxy's address is passed without its password, however it is written
    #[test]
    fn proxy_password_is_redacted_in_every_spelling() {
        for (address, shown) in [
            ("http://proxy:3128", "http://proxy:3128"),
            ("proxy:3128", "proxy:3128"),
            ("http://u:secret@proxy:3128/", "http://proxy:3128/"),
            ("socks5h://u:secret@[::1]:1080", "socks5h://[::1]:1080"),
            ("u:secret@proxy:3128", "proxy:3128"),
            ("http://secret@proxy", "http://proxy"),
            ("http://u:sec@ret@proxy", "http://proxy"),
            ("http://u:sec/ret#?@proxy/", "http://proxy/"),
            ("http://u:sec://ret@proxy", "http://proxy"),
            ("u:sec://ret@proxy", "proxy"),
            ("//u:secret@proxy", "proxy"),
            ("http:u:secret@proxy", "proxy"),
            ("@", ""),
            ("", ""),
        ] {
            assert_eq!(without_password(OsStr::new(address)), shown, "{address}");
        }
        let odd = OsString::from_vec(b"http://u:\xff@h\xfe".to_vec());
        assert_eq!(
            without_password(&odd),
            OsString::from_vec(b"http://h\xfe".to_vec())
        );
    }
}
