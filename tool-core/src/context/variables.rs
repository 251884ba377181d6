//! Variables: values that people supply, and how they come down to a call.
//!
//! A value stands at one of five levels. [`Thread`] looks a name up in **one fixed order: thread, agent, prompt, user, instance**; the
//! first that has a value wins. Within a level the nearest thread wins: a thread's own value stands before what it inherits.
//!
//! A thread below another inherits what stands at the thread, agent and prompt of those above it, as of now: an edit above is seen
//! below. Not inherited is a name that the lower thread declares `scoped`; what that thread provides itself goes further down all the
//! same. User and instance are those of the thread above unless others are given, and are never blocked, because they are not the
//! thread's.
//!
//! ```
//! use tool_core::variables::{Declarations, Thread, Variables};
//! use tool_core::{SecretString, ToolContext, VariableNeed};
//!
//! let mut declared = Declarations::new();
//! declared.add("prompt `triage`", &[VariableNeed::new("REGION")])?;
//!
//! let instance = Variables::new();
//! instance.set("REGION", "eu");
//! let thread = Thread::new().instance(&instance);
//! assert_eq!(thread.resolve(&declared).prompt("You serve {{REGION}}.")?, "You serve eu.");
//!
//! let below = thread.child(&declared);
//! thread.own().set("REGION", "us");
//! let turn = below.resolve(&declared);
//! assert!(turn.missing().is_empty());
//! let cx = ToolContext::builder().variables(turn).build();
//! assert_eq!(cx.variable("REGION"), Some("us"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use secrecy::{ExposeSecret, SecretString};

use crate::tool::{VariableKind, VariableNeed};

mod declared;

pub use declared::{Declarations, VariableClash};

/// A variable's value. Never printed, whatever its kind.
#[derive(Clone)]
#[non_exhaustive]
pub enum Value {
    /// Plain; may stand in prompts.
    Text(String),
    /// Kept out of prompts, and masked in results.
    Secret(SecretString),
}

impl Value {
    /// Whether it may be shown.
    pub fn kind(&self) -> VariableKind {
        match self {
            Self::Text(_) => VariableKind::Text,
            Self::Secret(_) => VariableKind::Secret,
        }
    }

    /// The value itself, also of a secret.
    pub fn expose(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Secret(secret) => secret.expose_secret(),
        }
    }

    /// The same, as what a declaration says it is: secret where either says so.
    fn declared(&self, kind: VariableKind) -> Self {
        match (self, kind) {
            (Self::Text(text), VariableKind::Secret) => {
                Self::Secret(SecretString::from(text.clone()))
            }
            _ => self.clone(),
        }
    }

    /// An empty secret is none.
    fn is_there(&self) -> bool {
        !matches!(self, Self::Secret(secret) if secret.expose_secret().is_empty())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<SecretString> for Value {
    fn from(secret: SecretString) -> Self {
        Self::Secret(secret)
    }
}

/// Its kind, and no more.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text(…)",
            Self::Secret(_) => "Secret(…)",
        })
    }
}

/// Where a value stands, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The workspace.
    Instance,
    /// The user who asks.
    User,
    /// The prompt.
    Prompt,
    /// The agent.
    Agent,
    /// The thread.
    Thread,
}

impl Level {
    /// All of them in the order in which they are asked: thread, agent, prompt, user, instance.
    pub const ORDER: [Self; 5] = [
        Self::Thread,
        Self::Agent,
        Self::Prompt,
        Self::User,
        Self::Instance,
    ];
}

/// The values of one level. All clones are one, so that an edit is seen wherever it is looked up.
#[derive(Clone, Default)]
pub struct Variables(Arc<RwLock<BTreeMap<String, Value>>>);

impl Variables {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a value: text as it is, a secret as [`SecretString`].
    pub fn set(&self, name: impl Into<String>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name, value);
    }

    /// Removes a value; whether there was one.
    pub fn remove(&self, name: &str) -> bool {
        let mut values = self.0.write().unwrap_or_else(PoisonError::into_inner);
        values.remove(name).is_some()
    }

    fn get(&self, name: &str) -> Option<Value> {
        let values = self.0.read().unwrap_or_else(PoisonError::into_inner);
        values.get(name).filter(|value| value.is_there()).cloned()
    }
}

/// The names, and no values.
impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.0.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_map().entries(values.iter()).finish()
    }
}

/// A thread in the tree of threads, and the levels that it looks names up in. All clones are one.
#[derive(Clone, Debug, Default)]
pub struct Thread(Arc<Node>);

#[derive(Clone, Debug, Default)]
struct Node {
    parent: Option<Thread>,
    /// Names that are not inherited.
    blocked: BTreeSet<String>,
    own: Variables,
    agent: Variables,
    prompt: Variables,
    user: Variables,
    instance: Variables,
}

impl Thread {
    /// A thread with none above it.
    pub fn new() -> Self {
        Self::default()
    }

    /// A thread below this one.
    ///
    /// `declared` is what the child's agent, prompts, tools and all that these reach declare: names that are scoped there are not
    /// inherited, now and after later edits. Agent and prompt are the child's own to set.
    #[must_use]
    pub fn child(&self, declared: &Declarations) -> Self {
        let scoped = declared.iter().filter(|need| need.scoped);
        Self(Arc::new(Node {
            parent: Some(self.clone()),
            blocked: scoped.map(|need| need.name.clone().into_owned()).collect(),
            user: self.0.user.clone(),
            instance: self.0.instance.clone(),
            ..Node::default()
        }))
    }

    /// With the values of this instance.
    #[must_use]
    pub fn instance(self, values: &Variables) -> Self {
        self.with(|node| node.instance = values.clone())
    }

    /// With the values of this user.
    #[must_use]
    pub fn user(self, values: &Variables) -> Self {
        self.with(|node| node.user = values.clone())
    }

    /// With the values of this prompt.
    #[must_use]
    pub fn prompt(self, values: &Variables) -> Self {
        self.with(|node| node.prompt = values.clone())
    }

    /// With the values of this agent.
    #[must_use]
    pub fn agent(self, values: &Variables) -> Self {
        self.with(|node| node.agent = values.clone())
    }

    fn with(mut self, set: impl FnOnce(&mut Node)) -> Self {
        set(Arc::make_mut(&mut self.0));
        self
    }

    /// The thread's own values, to be set and removed.
    pub fn own(&self) -> &Variables {
        &self.0.own
    }

    /// The value of a name as of now, and the level where it stands. Nothing is known of kinds here: see [`resolve`](Self::resolve).
    pub fn find(&self, name: &str) -> Option<(Level, Value)> {
        Level::ORDER
            .into_iter()
            .find_map(|level| Some((level, self.at(level, name)?)))
    }

    fn at(&self, level: Level, name: &str) -> Option<Value> {
        let node = &*self.0;
        let values = match level {
            Level::User => return node.user.get(name),
            Level::Instance => return node.instance.get(name),
            Level::Thread => &node.own,
            Level::Agent => &node.agent,
            Level::Prompt => &node.prompt,
        };
        values.get(name).or_else(|| {
            let parent = node.parent.as_ref()?;
            if node.blocked.contains(name) {
                return None;
            }
            parent.at(level, name)
        })
    }

    /// The values of everything declared, for one turn. Names that nobody declares are left out.
    pub fn resolve(&self, declared: &Declarations) -> Resolved {
        let mut resolved = Resolved::default();
        for need in declared.iter() {
            match self.find(&need.name) {
                Some((_, value)) => {
                    let name = need.name.clone().into_owned();
                    resolved.values.insert(name, value.declared(need.kind));
                }
                None if need.required => resolved.missing.push(need.clone()),
                None => {
                    resolved.absent.insert(need.name.clone().into_owned());
                }
            }
        }
        resolved
    }
}

/// What a turn knows of its variables: put it into [`ToolContextBuilder::variables`](crate::ToolContextBuilder::variables).
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    pub(super) values: BTreeMap<String, Value>,
    missing: Vec<VariableNeed>,
    /// Declared, not required, and not there.
    absent: BTreeSet<String>,
}

impl Resolved {
    /// Required variables that have no value, with what whoever supplies them should know, by name.
    pub fn missing(&self) -> &[VariableNeed] {
        &self.missing
    }

    /// The value of a declared name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// A prompt part with the values of its variables: `{{NAME}}` is replaced, blanks within the braces are ignored, and what a value
    /// says is not looked at again. A variable that is not required and has no value is empty.
    ///
    /// # Errors
    ///
    /// Where a variable is secret, is not declared, or is required and has no value.
    pub fn prompt(&self, part: &str) -> Result<String, PromptError> {
        let mut text = String::with_capacity(part.len());
        let mut rest = part;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else {
                break;
            };
            text.push_str(before);
            text.push_str(self.shown(name.trim())?);
            rest = after;
        }
        text.push_str(rest);
        Ok(text)
    }

    fn shown(&self, name: &str) -> Result<&str, PromptError> {
        match self.values.get(name) {
            Some(Value::Text(text)) => Ok(text),
            Some(Value::Secret(_)) => Err(PromptError::Secret(name.to_owned())),
            None if self.absent.contains(name) => Ok(""),
            None => Err(match self.missing.iter().find(|need| need.name == name) {
                Some(need) if need.kind == VariableKind::Secret => {
                    PromptError::Secret(name.to_owned())
                }
                Some(need) => PromptError::Missing(Box::new(need.clone())),
                None => PromptError::Undeclared(name.to_owned()),
            }),
        }
    }
}

/// Why a prompt part cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// It names a secret.
    #[error(
        "the variable `{0}` is secret and stands in no prompt, let a tool declare it that needs it"
    )]
    Secret(String),
    /// It names what nobody declares, which counts as secret.
    #[error("the variable `{0}` is not declared, declare it as text on the prompt that shows it")]
    Undeclared(String),
    /// It names what has no value.
    #[error("the variable `{}` has no value, supply one or do not require it", .0.name)]
    Missing(Box<VariableNeed>),
}
