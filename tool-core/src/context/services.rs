//! Services that a host may supply to tools: attachments, API keys, state, history and OAuth tokens. Unless the host sets them, attachments are
//! empty and the other services are unavailable.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use secrecy::SecretString;

use super::secrets::is_short;
use super::{FromContext, ToolContext};
use crate::effect::Effect;
use crate::error::ToolError;

/// A file that the user attached to the message of this turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The kind of file.
    pub kind: AttachmentKind,
    /// Media type, such as `image/png`.
    pub mime: String,
    /// The file name to show.
    pub filename: Option<String>,
    /// The address of the bytes, or the bytes.
    pub body: AttachmentBody,
}

/// The kind of an attached file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttachmentKind {
    /// The attachment is an image.
    Image,
    /// The attachment is an audio file.
    Audio,
    /// The attachment is a file of any other type.
    File,
}

/// The address of an attachment's bytes, or the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachmentBody {
    /// The bytes are at this URL.
    Url(String),
    /// The bytes are in memory.
    Data(Arc<[u8]>),
}

/// The files of the user's message, as a host value: `files: &Attachments`. Files of earlier turns are not included.
#[derive(Clone, Debug, Default)]
pub struct Attachments(Arc<[Attachment]>);

impl Attachments {
    pub(super) fn new(all: Vec<Attachment>) -> Self {
        Self(all.into())
    }

    /// Returns the file at a position, counted from 0. The error for the model names the valid positions.
    pub fn at(&self, index: usize) -> Result<&Attachment, ToolError> {
        self.0.get(index).ok_or_else(|| {
            ToolError::new(match self.0.len() {
                0 => "the message has no attachments".to_owned(),
                1 => format!("there is no attachment {index}, the message has only attachment 0"),
                all => format!(
                    "there is no attachment {index}, the message has the attachments 0 to {}",
                    all - 1
                ),
            })
        })
    }

    /// Iterates over the files, in the message's order.
    pub fn iter(&self) -> std::slice::Iter<'_, Attachment> {
        self.0.iter()
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the message has no files.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> IntoIterator for &'a Attachments {
    type Item = &'a Attachment;
    type IntoIter = std::slice::Iter<'a, Attachment>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FromContext for Attachments {
    const EFFECT: Effect = Effect::READ;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(cx.extension().unwrap_or_default())
    }
}

/// The workspace's own keys for AI providers, as a host value for tools that call a model: `keys: &ApiKeys`.
///
/// ```
/// use tool_core::{ApiKeys, ExposeSecret, SecretString, ToolContext};
///
/// let cx = ToolContext::builder().api_key("openai", SecretString::from("sk-instance")).build();
/// let keys = cx.get::<ApiKeys>().unwrap();
/// assert_eq!(keys.get("openai").unwrap().expose_secret(), "sk-instance");
/// assert!(keys.get("anthropic").is_err());
/// ```
#[derive(Clone, Default)]
pub struct ApiKeys(pub(super) Arc<HashMap<String, SecretString>>);

impl ApiKeys {
    /// Returns the key for a provider. If the key is missing or too short to be redacted, the error's text for the operator names the provider.
    pub fn get(&self, provider: &str) -> Result<&SecretString, ToolError> {
        let key = self.0.get(provider).ok_or_else(|| {
            ToolError::unavailable(format_args!("the workspace's API key for `{provider}`"))
        })?;
        if is_short(key) {
            return Err(ToolError::unavailable(provider).operator(format!(
                "the API key for `{provider}` has fewer than 6 bytes and cannot be redacted"
            )));
        }
        Ok(key)
    }
}

impl FromContext for ApiKeys {
    const EFFECT: Effect = Effect::READ.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the workspace's API keys"))
    }
}

/// Store for the state of conversations. Every call names tenant and conversation, so that a conversation cannot read the state of a different one.
pub trait StateStore: Send + Sync + 'static {
    /// Returns the value of a key, if it has one.
    fn get<'a>(
        &'a self,
        place: &'a StatePlace,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<serde_json::Value>, ToolError>>;

    /// Sets a key, or removes it if `value` is `None`.
    fn set<'a>(
        &'a self,
        place: &'a StatePlace,
        key: &'a str,
        value: Option<serde_json::Value>,
    ) -> BoxFuture<'a, Result<(), ToolError>>;
}

/// The conversation that a state belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StatePlace {
    /// The workspace; empty if the host set none.
    pub tenant: String,
    /// The id of the conversation.
    pub conversation: String,
}

/// Keys and values that belong to the conversation, as a host value: `state: &ConversationState`.
#[derive(Clone)]
pub struct ConversationState {
    place: Arc<StatePlace>,
    store: Arc<dyn StateStore>,
}

#[derive(Clone)]
pub(super) struct States(pub(super) Arc<dyn StateStore>);

impl ConversationState {
    /// Returns the value of a key, if it has one.
    pub async fn get(&self, key: &str) -> Result<Option<serde_json::Value>, ToolError> {
        self.store.get(&self.place, key).await
    }

    /// Sets a key to a value.
    pub async fn set(
        &self,
        key: &str,
        value: impl Into<serde_json::Value>,
    ) -> Result<(), ToolError> {
        self.store.set(&self.place, key, Some(value.into())).await
    }

    /// Removes a key and its value.
    pub async fn remove(&self, key: &str) -> Result<(), ToolError> {
        self.store.set(&self.place, key, None).await
    }
}

impl FromContext for ConversationState {
    const EFFECT: Effect = Effect::READ.union(Effect::WRITE);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        let States(store) = cx
            .extension()
            .ok_or_else(|| ToolError::unavailable("the state of conversations"))?;
        let conversation = cx
            .conversation()
            .ok_or_else(|| ToolError::unavailable("the conversation"))?;
        Ok(Self {
            place: Arc::new(StatePlace {
                tenant: cx.tenant().to_owned(),
                conversation: conversation.to_owned(),
            }),
            store,
        })
    }
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistoryRole {
    /// The user wrote the message.
    User,
    /// The model wrote the message.
    Assistant,
    /// The message is the result of a tool.
    Tool,
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryMessage {
    /// The author of the message.
    pub speaker: HistoryRole,
    /// The message as text.
    pub text: String,
}

/// The conversation so far, including the user's message of this turn, as a host value: `history: &History`. Tools cannot change it.
///
/// ```
/// use tool_core::{History, HistoryMessage, HistoryRole, ToolContext};
///
/// let message = |speaker, text: &str| HistoryMessage { speaker, text: text.into() };
/// let cx = ToolContext::builder()
///     .history(vec![
///         message(HistoryRole::User, "hello"),
///         message(HistoryRole::Assistant, "hi"),
///         message(HistoryRole::User, "book it"),
///     ])
///     .build();
/// let history = cx.get::<History>().unwrap();
/// let users: Vec<_> = history.recent(Some(HistoryRole::User), 1).map(|message| &*message.text).collect();
/// assert_eq!(users, ["book it"]);
/// assert_eq!(history.recent(None, 0).count(), 3);
/// ```
#[derive(Clone, Debug)]
pub struct History(Arc<[HistoryMessage]>);

impl History {
    pub(super) fn new(all: Vec<HistoryMessage>) -> Self {
        Self(all.into())
    }

    /// Returns the last `count` messages, oldest first; 0 means all. Messages are filtered by speaker before they are counted.
    pub fn recent(
        &self,
        speaker: Option<HistoryRole>,
        count: usize,
    ) -> impl Iterator<Item = &HistoryMessage> {
        let picked =
            move |said: &&HistoryMessage| speaker.is_none_or(|speaker| said.speaker == speaker);
        let all = self.0.iter().filter(picked).count();
        let skip = if count == 0 {
            0
        } else {
            all.saturating_sub(count)
        };
        self.0.iter().filter(picked).skip(skip)
    }
}

impl FromContext for History {
    const EFFECT: Effect = Effect::READ;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the history of the conversation"))
    }
}

/// Source of tokens for other services.
pub trait TokenSource: Send + Sync + 'static {
    /// Returns a token for the calling user, or the action that the user has to take first.
    fn token<'a>(
        &'a self,
        cx: &'a ToolContext,
        service: &'a str,
    ) -> BoxFuture<'a, Result<OAuthToken, ToolError>>;
}

/// The result of [`OAuth::request`] and [`TokenSource::token`].
#[derive(Clone, Debug)]
pub enum OAuthToken {
    /// A token that is valid now.
    Ready(SecretString),
    /// The user has to consent first.
    ActionRequired {
        /// The address at which the user consents.
        url: String,
        /// The text to show to the user.
        message: String,
    },
}

/// Tokens of other services for the calling user, as a host value: `oauth: &OAuth`.
#[derive(Clone)]
pub struct OAuth {
    cx: ToolContext,
    source: Tokens,
}

#[derive(Clone)]
pub(super) struct Tokens(pub(super) Arc<dyn TokenSource>);

impl OAuth {
    /// Returns a token, or the action that the user has to take first.
    ///
    /// The token is redacted in the output that the turn's calls write after this. A token of fewer than six bytes cannot be redacted and
    /// is refused.
    pub async fn request(&self, service: &str) -> Result<OAuthToken, ToolError> {
        let answer = self.source.0.token(&self.cx, service).await?;
        if let OAuthToken::Ready(token) = &answer {
            self.cx.learn(service, token)?;
        }
        Ok(answer)
    }

    /// Returns a token. If the user has to consent first, the error for the model contains the URL at which the user consents.
    pub async fn token(&self, service: &str) -> Result<SecretString, ToolError> {
        match self.request(service).await? {
            OAuthToken::Ready(token) => Ok(token),
            OAuthToken::ActionRequired { url, message } => Err(ToolError::new(format!(
                "action_required: {message} ({url})"
            ))),
        }
    }
}

impl FromContext for OAuth {
    const EFFECT: Effect = Effect::READ.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self {
            cx: cx.clone(),
            source: cx
                .extension()
                .ok_or_else(|| ToolError::unavailable("tokens of other services"))?,
        })
    }
}
