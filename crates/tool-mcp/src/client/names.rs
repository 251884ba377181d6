//! Local names of a server's tools.

use sha2::{Digest as _, Sha256};
use tool_core::schema::rules::is_tool_name;

/// Maximum length of a tool name that providers accept, in bytes.
const MOST: usize = 64;

/// Number of hash bytes at the end of a name that was cut.
const TAIL: usize = 4;

/// The local name of a tool and its wire name: `github:search` and `github__search`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) wire: String,
}

/// Returns the unchanged name in its namespace, or `None` if no provider accepts it.
pub(crate) fn plain(namespace: Option<&str>, remote: &str) -> Option<Named> {
    let (name, wire) = match namespace {
        None => (remote.to_owned(), remote.to_owned()),
        Some(space) => (format!("{space}:{remote}"), format!("{space}__{remote}")),
    };
    (!remote.is_empty() && is_tool_name(&wire)).then_some(Named { name, wire })
}

/// Returns the name that follows from the rule of [`LoadTools::map_names`](super::LoadTools::map_names), or `None` if no valid name does.
pub(crate) fn mapped(namespace: Option<&str>, remote: &str) -> Option<Named> {
    if let Some(named) = plain(namespace, remote) {
        return Some(named);
    }
    if remote.is_empty() {
        return None;
    }
    let mut name: String = remote
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '_'
            }
        })
        .collect();
    if namespace.is_none() && !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        name.insert_str(0, "t_");
    }
    let room = MOST.saturating_sub(namespace.map_or(0, |space| space.len() + 2));
    if name.len() > room {
        let hash = Sha256::digest(remote.as_bytes());
        name.truncate(room.saturating_sub(1 + 2 * TAIL));
        name.push('_');
        name.push_str(&hex::encode(&hash[..TAIL]));
    }
    plain(namespace, &name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(named: Option<Named>) -> Option<String> {
        named.map(|named| named.wire)
    }

    #[test]
    fn names_that_a_provider_accepts_are_unchanged() {
        assert_eq!(wire(plain(None, "search")).as_deref(), Some("search"));
        assert_eq!(wire(plain(Some("gh"), "1st")).as_deref(), Some("gh__1st"));
        assert_eq!(wire(mapped(Some("gh"), "a-b")).as_deref(), Some("gh__a-b"));
        for other in ["", "a.b", "a/b", "1st", "größe", &"n".repeat(65)] {
            assert_eq!(plain(None, other), None, "{other}");
        }
        assert_eq!(plain(Some("gh"), &"n".repeat(61)), None);
        assert_eq!(plain(Some("g h"), "a"), None);
    }

    #[test]
    fn invalid_names_are_mapped_by_one_rule() {
        assert_eq!(wire(mapped(None, "a.b/c")).as_deref(), Some("a_b_c"));
        assert_eq!(wire(mapped(None, "1st")).as_deref(), Some("t_1st"));
        assert_eq!(wire(mapped(None, "größe")).as_deref(), Some("gr__e"));
        let long = wire(mapped(Some("gh"), &"n".repeat(90))).unwrap_or_default();
        let other = wire(mapped(Some("gh"), &"n".repeat(91))).unwrap_or_default();
        assert_eq!((long.len(), other.len()), (64, 64));
        assert_ne!(long, other);
        assert_eq!(mapped(Some("g h"), "a"), None);
        assert_eq!(mapped(None, ""), None);
    }
}
