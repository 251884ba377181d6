//! The keys of virtual objects.

use tool_core::store::ThreadId;

/// The key of a virtual object is not the key of a thread.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not the key of a thread: use `object_key`")]
pub struct KeyError(String);

/// Returns the key of the virtual object of a thread: `workspace/conversation`, in which the characters `%` and `/` of the names are encoded as `%25`
/// and `%2F`.
///
/// ```
/// use tool_core::store::ThreadId;
/// use tool_restate::{object_key, thread_of};
///
/// let thread = ThreadId::new("acme/eu", "main")?;
/// assert_eq!(object_key(&thread), "acme%2Feu/main");
/// assert_eq!(thread_of("acme%2Feu/main")?, thread);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn object_key(thread: &ThreadId) -> String {
    let workspace = escaped(thread.workspace().as_str());
    format!("{workspace}/{}", escaped(thread.conversation()))
}

/// Returns the thread of a key.
///
/// # Errors
///
/// Fails if [`object_key`] does not return this key for any thread.
pub fn thread_of(key: &str) -> Result<ThreadId, KeyError> {
    let fault = || KeyError(key.to_owned());
    let (workspace, conversation) = key.split_once('/').ok_or_else(fault)?;
    let (workspace, conversation) = (unescaped(workspace), unescaped(conversation));
    let thread = ThreadId::new(workspace.as_str(), conversation).map_err(|_| fault())?;
    (object_key(&thread) == key)
        .then_some(thread)
        .ok_or_else(fault)
}

fn escaped(name: &str) -> String {
    name.replace('%', "%25").replace('/', "%2F")
}

fn unescaped(text: &str) -> String {
    text.replace("%2F", "/").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    // Different threads have different keys, so one thread cannot be driven as another one.
    #[test]
    fn keys_and_threads_correspond() {
        let names = ["a", "a/b", "%", "%2F", "%252F", "a%25b/c", "grün …"];
        let mut keys = std::collections::BTreeSet::new();
        for workspace in names {
            for conversation in names {
                let thread = ThreadId::new(workspace, conversation).unwrap();
                let key = object_key(&thread);
                assert_eq!(thread_of(&key).unwrap(), thread);
                assert!(keys.insert(key));
            }
        }
        for key in ["", "a", "a/b/c", "%/a", "a/%2f", "a/"] {
            assert!(thread_of(key).is_err(), "{key}");
        }
    }
}
