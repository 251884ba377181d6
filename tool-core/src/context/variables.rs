//! Variables: values that people supply, and their inheritance in a tree of threads.
//!
//! A value is set at one of five levels. [`Thread`] looks a name up in **one fixed order: thread, agent, prompt, user, instance**; the
//! first level with a value wins. Within a level the nearest thread wins: a thread's own value has priority over an inherited value.
//!
//! A child thread inherits the current values of thread, agent and prompt of its ancestors: an edit in an ancestor is visible in the
//! child. A child does not inherit a name that it declares `scoped`, but its children inherit its own value of that name.
//! The levels user and instance of a child have the values of its parent, unless the host sets different values. A `scoped` name does not block these
//! two levels, because they do not belong to the thread.
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

use crate::need::{VariableKind, VariableNeed};

mod declared;

pub use declared::{Declarations, VariableClash};

/// The value of a variable. `Debug` never prints it, not even if it is plain text.
#[derive(Clone)]
#[non_exhaustive]
pub enum Value {
    /// Plain text, which may be written into prompts.
    Text(String),
    /// A secret, which is not written into prompts and is redacted in results.
    Secret(SecretString),
}

impl Value {
    /// Returns whether the value is plain or secret.
    pub fn kind(&self) -> VariableKind {
        match self {
            Self::Text(_) => VariableKind::Text,
            Self::Secret(_) => VariableKind::Secret,
        }
    }

    /// Returns the value itself, even if it is secret.
    pub fn expose(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Secret(secret) => secret.expose_secret(),
        }
    }

    /// Returns the value with the kind of its declaration. It is secret if the value or the declaration is secret.
    pub(super) fn declared(&self, kind: VariableKind) -> Self {
        match (self, kind) {
            (Self::Text(text), VariableKind::Secret) => {
                Self::Secret(SecretString::from(text.clone()))
            }
            _ => self.clone(),
        }
    }

    /// Returns whether the value is present. An empty secret counts as missing.
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

/// Prints only the kind.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text(…)",
            Self::Secret(_) => "Secret(…)",
        })
    }
}

/// The levels at which values are set, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Values of the workspace.
    Instance,
    /// Values of the calling user.
    User,
    /// Values of the prompt.
    Prompt,
    /// Values of the agent.
    Agent,
    /// Values of the thread.
    Thread,
}

impl Level {
    /// All levels in the order of lookup: thread, agent, prompt, user, instance.
    pub const ORDER: [Self; 5] = [
        Self::Thread,
        Self::Agent,
        Self::Prompt,
        Self::User,
        Self::Instance,
    ];
}

/// The values of one level. All clones share them, so that an edit is visible everywhere.
#[derive(Clone, Default)]
pub struct Variables(Arc<RwLock<BTreeMap<String, Value>>>);

impl Variables {
    /// Creates a level without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a value: a text is plain, a [`SecretString`] is secret.
    pub fn set(&self, name: impl Into<String>, value: impl Into<Value>) {
        let (name, value) = (name.into(), value.into());
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name, value);
    }

    /// Removes a value. Returns whether the name had a value.
    pub fn remove(&self, name: &str) -> bool {
        let mut values = self.0.write().unwrap_or_else(PoisonError::into_inner);
        values.remove(name).is_some()
    }

    fn get(&self, name: &str) -> Option<Value> {
        let values = self.0.read().unwrap_or_else(PoisonError::into_inner);
        values.get(name).filter(|value| value.is_there()).cloned()
    }
}

/// Prints the names and the kinds of the values.
impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.0.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_map().entries(values.iter()).finish()
    }
}

/// A thread in the tree of threads, and the levels in which it looks names up. Clones share their values.
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
    /// Creates a thread without a parent.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a child of this thread.
    ///
    /// `declared` contains the declarations of the child's agent, prompts and tools, and of everything that they use in turn. The child does not
    /// inherit a name that one of these declarations scopes, even if the name gets a value in an ancestor later. The child has its own agent and
    /// prompt.
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

    /// Sets the values of the workspace, the level [`Level::Instance`].
    #[must_use]
    pub fn instance(self, values: &Variables) -> Self {
        self.with(|node| node.instance = values.clone())
    }

    /// Sets the values of the user.
    #[must_use]
    pub fn user(self, values: &Variables) -> Self {
        self.with(|node| node.user = values.clone())
    }

    /// Sets the values of the prompt.
    #[must_use]
    pub fn prompt(self, values: &Variables) -> Self {
        self.with(|node| node.prompt = values.clone())
    }

    /// Sets the values of the agent.
    #[must_use]
    pub fn agent(self, values: &Variables) -> Self {
        self.with(|node| node.agent = values.clone())
    }

    fn with(mut self, set: impl FnOnce(&mut Node)) -> Self {
        set(Arc::make_mut(&mut self.0));
        self
    }

    /// Returns the thread's own values, which can be set and removed.
    pub fn own(&self) -> &Variables {
        &self.0.own
    }

    /// Returns the current value of a name and its level. Does not apply declared kinds: see [`resolve`](Self::resolve).
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

    /// Returns the values of all declared names, for one turn. Undeclared names are left out.
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

/// The resolved variables of a turn, for [`ToolContextBuilder::variables`](crate::ToolContextBuilder::variables).
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    pub(super) values: BTreeMap<String, Value>,
    missing: Vec<VariableNeed>,
    /// Names that are declared, not required, and without a value.
    absent: BTreeSet<String>,
}

impl Resolved {
    /// Returns the required variables that have no value, sorted by name, with the descriptions for the people who supply them.
    pub fn missing(&self) -> &[VariableNeed] {
        &self.missing
    }

    /// Returns the value of a declared name; `None` if it has no value.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Writes the values of variables into a part of a prompt. `{{NAME}}` is replaced, and white space within the braces is ignored. Braces within a value
    /// are not replaced. A variable that is not required and has no value is replaced by an empty text.
    ///
    /// # Errors
    ///
    /// Fails if a variable has a secret value, is not declared, or is required and has no value.
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

/// Why a part of a prompt cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The prompt names a variable with a secret value, or a required secret variable.
    #[error(
        "the variable `{0}` is secret and never shown in a prompt, declare it in the tool that needs it"
    )]
    Secret(String),
    /// The prompt names a variable that is not declared.
    #[error("the variable `{0}` is not declared: declare it as text on the prompt that shows it")]
    Undeclared(String),
    /// The prompt names a required text variable without a value.
    #[error("the variable `{}` has no value: supply a value, or do not require the variable", .0.name)]
    Missing(Box<VariableNeed>),
}
