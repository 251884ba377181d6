//! The identity of a call, and its key.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ThreadId, Workspace};
use crate::store::StoreError;

/// The place of a model's call in a thread: the assistant message that contains the call, and its position in that message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallPlace {
    /// The sequence number of the stored assistant message.
    pub message: u64,
    /// The position of the call in that message; the first is 0.
    pub position: u32,
}

/// The identity of a call: the same value whenever the host dispatches the call again.
///
/// The effect ledger, approvals, the audit, idempotency keys and spans use it as their key. A model's own id of a call is not part of it,
/// because models may use the same ids (`call_0`) in several messages.
///
/// - A call in a thread is identified by workspace, conversation, sequence number of the assistant message, and position in it.
/// - A call outside of a thread has a random, unique identity.
/// - A call that a tool makes is identified by the identity of the outer call and its position among the calls of that tool.
///
/// ```
/// use tool_store::{CallId, ThreadId};
///
/// let main = ThreadId::new("acme", "main")?;
/// let first = CallId::in_thread(&main, 4, 0);
/// assert_eq!(first.key(), CallId::in_thread(&main, 4, 0).key());
/// assert_ne!(first.key(), CallId::in_thread(&main, 4, 1).key());
/// assert_eq!(first.nested(0).outer(), Some(first));
/// # Ok::<(), tool_store::StoreError>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(Arc<Parts>);

/// The parts of an identity. Clones share them, so that the key is computed once.
#[derive(Serialize, Deserialize)]
struct Parts {
    workspace: Workspace,
    #[serde(flatten)]
    place: Place,
    #[cfg(feature = "host")]
    #[serde(skip)]
    key: std::sync::OnceLock<Arc<str>>,
}

/// The name of a call within its workspace, as it is written into a column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Place {
    #[serde(flatten)]
    root: Root,
    /// The numbers of nested calls, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nested: Vec<u32>,
    /// The number of the attempt; 0 for the call itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    attempt: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Root {
    Thread {
        conversation: Arc<str>,
        #[serde(flatten)]
        at: CallPlace,
    },
    /// A call outside of a thread.
    Alone(Lone),
    /// The key that a version without call identities wrote: a hash of the workspace, the turn and the model's id of the call.
    Earlier(Arc<str>),
}

/// The name of a call outside of a thread, stored as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
enum Lone {
    /// Random bits from [`CallId::alone`]. They are formatted as 32 lowercase hex digits only when the text is needed.
    Random(u128),
    /// Any other text, from a row that other software wrote.
    Named(Arc<str>),
}

impl From<Lone> for String {
    fn from(name: Lone) -> Self {
        match name {
            Lone::Random(bits) => format!("{bits:032x}"),
            Lone::Named(name) => (*name).to_owned(),
        }
    }
}

impl From<String> for Lone {
    fn from(name: String) -> Self {
        let random = u128::from_str_radix(&name, 16).map(Self::Random);
        random
            .ok()
            .filter(|random| String::from(random.clone()) == name)
            .unwrap_or_else(|| Self::Named(name.into()))
    }
}

impl CallId {
    /// Returns the identity of a model's call in a thread.
    pub fn in_thread(thread: &ThreadId, message: u64, position: u32) -> Self {
        let at = CallPlace { message, position };
        Self::of(
            thread.workspace.clone(),
            Root::Thread {
                conversation: Arc::clone(&thread.conversation),
                at,
            },
        )
    }

    /// Returns a random identity, for a call outside of a thread. Fails with [`StoreError::Unavailable`] if the operating system fails to return
    /// random bytes.
    #[cfg(feature = "host")]
    pub fn alone(workspace: impl Into<Workspace>) -> Result<Self, StoreError> {
        let bits =
            crate::env::distinct().map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        let name = Lone::Random(u128::from_be_bytes(bits));
        Ok(Self::of(workspace.into(), Root::Alone(name)))
    }

    /// Returns the identity of a row whose key was written by a version without call identities.
    pub fn earlier(workspace: impl Into<Workspace>, key: impl Into<Arc<str>>) -> Self {
        Self::of(workspace.into(), Root::Earlier(key.into()))
    }

    fn of(workspace: Workspace, root: Root) -> Self {
        let nested = Vec::new();
        let attempt = 0;
        let place = Place {
            root,
            nested,
            attempt,
        };
        Self::at(workspace, place)
    }

    fn at(workspace: Workspace, place: Place) -> Self {
        Self(Arc::new(Parts {
            workspace,
            place,
            #[cfg(feature = "host")]
            key: std::sync::OnceLock::new(),
        }))
    }

    /// Returns the identity of a call that the tool of this call makes, by its number; the first is 0.
    #[must_use]
    pub fn nested(&self, number: u32) -> Self {
        let mut place = self.0.place.clone();
        place.nested.push(number);
        Self::at(self.0.workspace.clone(), place)
    }

    /// Returns the identity of the audit row of a later attempt that an operator has allowed, so that the row does not replace the row of the
    /// previous attempt. The first attempt is 1, and has the identity of the call.
    ///
    /// Only audit rows use this identity: the effect ledger, approvals and idempotency keys use the identity of the call.
    #[must_use]
    pub fn attempt(&self, number: u32) -> Self {
        let mut place = self.0.place.clone();
        place.attempt = if number > 1 { number } else { 0 };
        Self::at(self.0.workspace.clone(), place)
    }

    /// Returns the identity of the call whose tool has made this call.
    pub fn outer(&self) -> Option<Self> {
        let mut place = self.0.place.clone();
        place.nested.pop()?;
        Some(Self::at(self.0.workspace.clone(), place))
    }

    /// Returns whether this call is nested in `outer`, directly or through other calls.
    #[cfg(feature = "host")]
    #[doc(hidden)]
    pub fn is_within(&self, outer: &Self) -> bool {
        let (own, of) = (&self.0.place, &outer.0.place);
        self.0.workspace == outer.0.workspace
            && own.root == of.root
            && own.nested.len() > of.nested.len()
            && own.nested.starts_with(&of.nested)
    }

    /// Returns the workspace of the call.
    pub fn workspace(&self) -> &Workspace {
        &self.0.workspace
    }

    /// Returns the conversation, for a call in a thread and the calls that its tool makes.
    pub fn conversation(&self) -> Option<&str> {
        match &self.0.place.root {
            Root::Thread { conversation, .. } => Some(conversation),
            Root::Alone(_) | Root::Earlier(_) => None,
        }
    }

    /// Returns the place in the thread, for a call in a thread and the calls that its tool makes.
    pub fn place(&self) -> Option<CallPlace> {
        match &self.0.place.root {
            Root::Thread { at, .. } => Some(*at),
            Root::Alone(_) | Root::Earlier(_) => None,
        }
    }

    /// Returns whether the identity is the key of a version without call identities.
    #[cfg(feature = "host")]
    #[doc(hidden)]
    pub fn is_earlier(&self) -> bool {
        matches!(self.0.place.root, Root::Earlier(_))
    }

    /// Returns the key of the identity: stores compare it, and services receive it as an idempotency key.
    #[cfg(feature = "host")]
    pub fn key(&self) -> CallKey {
        let text = self
            .0
            .key
            .get_or_init(|| self.0.place.key(&self.0.workspace));
        CallKey {
            workspace: self.0.workspace.clone(),
            text: Arc::clone(text),
        }
    }

    /// Writes the identity within its workspace as text for a column; [`CallId::from_column`] reads it.
    pub fn to_column(&self) -> String {
        serde_json::to_string(&self.0.place).unwrap_or_default()
    }

    /// Reads the identity that [`CallId::to_column`] wrote. Fails with [`StoreError::Corrupt`] if the text is not an identity.
    pub fn from_column(workspace: impl Into<Workspace>, column: &str) -> Result<Self, StoreError> {
        let place = serde_json::from_str(column).map_err(|error| {
            StoreError::Corrupt(format!("`{column}` is not the identity of a call: {error}"))
        })?;
        Ok(Self::at(workspace.into(), place))
    }
}

#[cfg(feature = "host")]
impl Place {
    fn key(&self, workspace: &Workspace) -> Arc<str> {
        use std::fmt::Write as _;

        use crate::digest::sha256;

        let mut path = String::new();
        for number in &self.nested {
            let _ = write!(path, "/{number}");
        }
        if self.attempt > 0 {
            let _ = write!(path, "#{}", self.attempt);
        }
        let workspace = workspace.as_str();
        match &self.root {
            Root::Alone(name) if path.is_empty() => String::from(name.clone()).into(),
            Root::Alone(name) => {
                sha256(&["call", workspace, &String::from(name.clone()), &path]).into()
            }
            Root::Earlier(key) if path.is_empty() => Arc::clone(key),
            Root::Earlier(key) => sha256(&["call", workspace, key, &path]).into(),
            Root::Thread { conversation, at } => {
                let (mut message, mut position) = (itoa::Buffer::new(), itoa::Buffer::new());
                let message = message.format(at.message);
                let position = position.format(at.position);
                sha256(&["call", workspace, conversation, message, position, &path]).into()
            }
        }
    }
}

impl PartialEq for CallId {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for CallId {}

impl PartialOrd for CallId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CallId {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.0.workspace, &self.0.place).cmp(&(&other.0.workspace, &other.0.place))
    }
}

impl Hash for CallId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.0.workspace, &self.0.place).hash(state);
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallId")
            .field("workspace", &self.0.workspace.as_str())
            .field("place", &self.0.place)
            .finish()
    }
}

/// The key of a call's identity in its workspace.
///
/// ```
/// use tool_store::{CallId, CallKey, ThreadId};
///
/// let key = CallId::in_thread(&ThreadId::new("acme", "main")?, 4, 0).key();
/// assert_eq!(CallKey::new("acme", key.as_str()), key);
/// assert_ne!(CallKey::new("globex", key.as_str()), key);
/// # Ok::<(), tool_store::StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallKey {
    workspace: Workspace,
    text: Arc<str>,
}

impl CallKey {
    /// Creates a key from the text of a row, an export or a log.
    pub fn new(workspace: impl Into<Workspace>, text: impl Into<Arc<str>>) -> Self {
        Self {
            workspace: workspace.into(),
            text: text.into(),
        }
    }

    /// Returns the key of a call in versions without call identities: a hash of its workspace, the host's name of its turn, and the model's id of the
    /// call.
    #[cfg(feature = "host")]
    pub fn earlier(workspace: impl Into<Workspace>, turn: &str, call: &str) -> Self {
        let workspace = workspace.into();
        let text = crate::digest::sha256(&[workspace.as_str(), turn, call]);
        Self::new(workspace, text)
    }

    /// Returns the workspace of the call.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the key as text. The keys that this version creates have 32 or 64 lower-case hexadecimal digits; a key from other software may be any
    /// text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The name of a call in versions without call identities. Such versions wrote SQLite files before the migration `0004_identity.sql`.
#[derive(Clone, Debug)]
pub struct EarlierCall {
    pub turn: Arc<str>,
    /// The model's id of the call. For a nested call, this is the path of the outer call, followed by the number of the nested call and its id.
    pub path: String,
}

#[cfg(feature = "host")]
impl EarlierCall {
    #[must_use]
    pub fn nested(&self, number: u32, call: &str) -> Self {
        Self {
            turn: Arc::clone(&self.turn),
            path: format!("{}/{number}:{call}", self.path),
        }
    }

    pub fn key(&self, workspace: &Workspace) -> CallKey {
        CallKey::earlier(workspace, &self.turn, &self.path)
    }
}

#[cfg(all(test, feature = "host"))]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{CallId, CallKey, ThreadId};

    fn thread(workspace: &str, conversation: &str) -> ThreadId {
        ThreadId::new(workspace, conversation).unwrap()
    }

    // Every part of the identity changes the key.
    #[test]
    fn each_part_of_an_identity_changes_its_key() {
        let main = thread("acme", "main");
        let call = CallId::in_thread(&main, 4, 0);
        let others = [
            CallId::in_thread(&thread("globex", "main"), 4, 0),
            CallId::in_thread(&thread("acme", "other"), 4, 0),
            CallId::in_thread(&main, 5, 0),
            CallId::in_thread(&main, 4, 1),
            call.nested(0),
            call.nested(1),
            call.nested(1).nested(0),
            CallId::in_thread(&main, 4, 1).nested(0),
            call.attempt(2),
            call.attempt(3),
            call.nested(0).attempt(2),
            // Moving a character from one part to the next changes the key.
            CallId::in_thread(&thread("acme", "main4"), 0, 0),
            CallId::in_thread(&thread("acmemain", "4"), 4, 0),
            CallId::alone("acme").unwrap(),
        ];
        for other in &others {
            assert_ne!(other.key(), call.key(), "{other:?}");
            assert_ne!(other.key().as_str(), call.key().as_str(), "{other:?}");
        }
    }

    // Two calls outside of threads never share an identity.
    #[test]
    fn calls_outside_of_threads_have_different_keys() {
        let (one, other) = (CallId::alone("").unwrap(), CallId::alone("").unwrap());
        assert_ne!(one.key(), other.key());
        assert_ne!(one.nested(0).key(), other.nested(0).key());
        assert_eq!(one.nested(0).key(), one.clone().nested(0).key());
        assert_ne!(one.attempt(2).key(), one.key());
        assert_eq!(one.attempt(1), one);
    }

    #[test]
    fn identities_are_read_back_from_columns() {
        let call = CallId::in_thread(&thread("acme", "ma\"in"), 4, 2);
        let earlier = CallId::earlier("acme", CallKey::earlier("acme", "t-1", "c-1").as_str());
        for id in [
            call.nested(3).nested(0),
            call.nested(3).attempt(2),
            call,
            earlier,
            CallId::alone("acme").unwrap().nested(1),
        ] {
            let column = id.to_column();
            assert_eq!(
                CallId::from_column("acme", &column).unwrap(),
                id,
                "{column}"
            );
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!(serde_json::from_str::<CallId>(&json).unwrap(), id, "{json}");
        }
        assert!(CallId::from_column("acme", "{}").is_err());
    }

    // M6: rows of versions without call identities must still be found, so their keys stay the same.
    #[test]
    fn identity_keys_of_earlier_versions_are_unchanged() {
        let key = CallKey::earlier("acme", "t-1.2", "call_0");
        assert_eq!(
            key.as_str(),
            crate::digest::sha256(&["acme", "t-1.2", "call_0"])
        );
        let row = CallId::earlier("acme", key.as_str());
        assert_eq!(row.key(), key);
    }
}
