//! Agents from files in YAML or TOML (feature `agent-files`).
//!
//! ```yaml
//! name: support                       # required
//! description: Answers questions about orders.   # exposes the agent as a tool of other agents
//! kind: conversational                # or `autonomous`; the default is `conversational`
//! instructions: |
//!   You work for {{COMPANY}}.
//! model:
//!   name: claude-sonnet-4-5           # required
//!   max_tokens: 4000
//!   temperature: 0.2
//! variables:
//!   - name: COMPANY
//!     description: The name of the company.
//!     type: text                      # or `secret`; the default is `text`
//!     required: true                  # the default
//!     scoped: false                   # the default
//! tools:
//!   allow: [find_order, summarize, transfer_to_billing, researcher]   # empty: all tools
//!   deny: [delete_order]
//! skills: [refunds]                   # listed after the instructions
//! prompts:                            # agents that run within a call
//!   - agent: summarize
//!     include_text_response: true     # `true` is the default of this key and of the next two
//!     include_tool_calls: false
//!     include_errors: true
//!     init_user_message: text         # a property of the arguments
//!     init_attachments: files         # a property of the arguments
//!     optional: SUMMARIES             # a variable that switches the tool on
//! handoffs:                           # agents that continue the conversation
//!   - agent: billing
//!     optional: BILLING
//! subagents:                          # agents in their own threads
//!   - agent: researcher
//!     blocking: false                 # the default is `true`
//!     init_user_message: question
//!     init_attachments: files
//!     init_agent_name: topic
//!     optional: RESEARCH
//!   - agent: watcher
//!     blocking: false
//!     immediate:                      # starts when the calling agent becomes active
//!       message: Begin.               # starts one instance
//!   - agent: seller
//!     blocking: false
//!     immediate:
//!       per_instance: true            # starts one instance for each group of variables
//!       name_env: SHOP
//!       description_env: ORDER
//!       scoped_env: [SHOP_TOKEN]
//!     resumable:                      # instances that accept more messages; `{}` for the defaults
//!       receives_messages: a          # or `b`; the default is `a`
//!       most_instances: 3
//!       parent_communication: implicit   # or `explicit`; the default is `implicit`
//! spawn:                              # the sub-agents that the agent may start
//!   enabled: true                     # the default
//!   targets: [researcher, watcher, seller]   # the default: all `subagents`
//!   depth: 2                          # the default is 1, the maximum is 3
//! limits:
//!   steps: 10
//!   tokens: 100000
//!   cost: 250000                      # in millionths of the currency of the price
//!   time: 600                         # in seconds, without the time in which the conversation waits in the store
//! output:                             # of `Agent::run`
//!   mode: native                      # or `tool`; the default is `tool`
//!   retries: 1                        # the default is 2
//! ```
//!
//! A session of an agent of the kind `autonomous` ends with its first text. The key `session` names tools that end the session earlier, as succeeded
//! or as failed: `session: {stop_tool: submit, fail_tool: give_up}`.
//!
//! In the instructions, `{{NAME}}` is replaced with the value of a declared text variable of the context, in one pass: placeholders in a value are
//! not replaced. Other braces are unchanged. If a required variable has no value, the run ends before a request, with an error that names the
//! variable. A variable that is not required and has no value is replaced with an empty text. A secret is refused, because a provider would get it.
//!
//! The error for an unknown key names the most similar key, or all keys if none is similar. If the fault has a place in the file, the error states
//! the line and the column.
//!
//! ```
//! use tool_agent::agent_file::AgentFile;
//! use tool_agent::model::{Endpoint, Script, ScriptedModel};
//!
//! let file = AgentFile::from_toml(
//!     r#"
//!     name = "support"
//!     instructions = "Answer in one sentence."
//!     [model]
//!     name = "qwen3"
//!     "#,
//! )?;
//! let model = file.model().http(Endpoint::compatible("http://localhost:11434/v1")).build()?;
//! let entry = file.entry(file.builder(model, &[])?.build()?);
//! assert_eq!(entry.name(), "support");
//!
//! let error = AgentFile::from_toml("name = \"support\"\n[modle]\nname = \"qwen3\"").unwrap_err();
//! assert_eq!(error.to_string(), "line 2, column 2: there is no key `modle`, did you mean `model`?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};
use tool_core::store::SkillVersion;
use tool_core::turn::Model;
use tool_core::variables::Value;
use tool_core::{ErrorKind, ToolContext, ToolError, VariableKind, VariableNeed, skill};

use crate::agent::{Agent, AgentBuilder, OutputMode};
use crate::model::{Endpoint, HttpModel, HttpModelBuilder};
use crate::runtime::{AgentEntry, AgentKind, Handoff, PromptTool, Subagent};

mod spawned;

use spawned::{RawCommunication, RawSide};

/// A fault of an agent file, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFileError {
    path: Option<PathBuf>,
    place: Option<(usize, usize)>,
    text: String,
}

impl AgentFileError {
    fn new(place: Option<(usize, usize)>, text: impl Into<String>) -> Self {
        Self {
            path: None,
            place,
            text: text.into(),
        }
    }

    /// Returns the line of the fault; the first is 1. `None` if the fault has no place, for example if the file could not be read.
    pub fn line(&self) -> Option<usize> {
        self.place.map(|(line, _)| line)
    }

    /// Returns the column of the fault in characters; the first is 1. `None` if the fault has no place.
    pub fn column(&self) -> Option<usize> {
        self.place.map(|(_, column)| column)
    }
}

impl fmt::Display for AgentFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.text)
    }
}

impl std::error::Error for AgentFileError {}

/// The configuration of an agent from a file. The [module](self) describes the format.
#[derive(Clone, Debug)]
pub struct AgentFile {
    raw: RawAgent,
    instructions: Vec<Piece>,
    /// The text of the file, for the places of faults.
    source: String,
}

/// The model of an [`AgentFile`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FileModel {
    /// The provider's name of the model.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// The limit on the output tokens of a request.
    pub max_tokens: Option<NonZeroU32>,
    /// The sampling temperature of a request.
    pub temperature: Option<f64>,
}

impl FileModel {
    /// Configures the model at an endpoint, with the settings of the file.
    pub fn http(&self, endpoint: Endpoint) -> HttpModelBuilder {
        let mut builder = HttpModel::builder(endpoint, &*self.name);
        if let Some(tokens) = self.max_tokens {
            builder = builder.max_tokens(tokens.get());
        }
        if let Some(temperature) = self.temperature {
            builder = builder.temperature(temperature);
        }
        builder
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAgent {
    #[serde(deserialize_with = "name")]
    name: String,
    #[serde(default, deserialize_with = "optional_name")]
    description: Option<String>,
    #[serde(default)]
    kind: RawKind,
    #[serde(default)]
    instructions: String,
    model: FileModel,
    #[serde(default)]
    variables: Vec<RawVariable>,
    #[serde(default)]
    tools: RawTools,
    #[serde(default)]
    skills: Vec<String>,
    #[serde(default)]
    prompts: Vec<RawPrompt>,
    #[serde(default)]
    handoffs: Vec<RawHandoff>,
    #[serde(default)]
    subagents: Vec<RawSubagent>,
    spawn: Option<RawSpawn>,
    session: Option<RawSession>,
    #[serde(default)]
    limits: RawLimits,
    #[serde(default)]
    output: RawOutput,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawKind {
    #[default]
    Conversational,
    Autonomous,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawType {
    #[default]
    Text,
    Secret,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawVariable {
    #[serde(deserialize_with = "name")]
    name: String,
    description: Option<String>,
    #[serde(default)]
    r#type: RawType,
    #[serde(default = "yes")]
    required: bool,
    #[serde(default)]
    scoped: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTools {
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPrompt {
    #[serde(deserialize_with = "name")]
    agent: String,
    #[serde(default = "yes")]
    include_text_response: bool,
    #[serde(default = "yes")]
    include_tool_calls: bool,
    #[serde(default = "yes")]
    include_errors: bool,
    init_user_message: Option<String>,
    init_attachments: Option<String>,
    optional: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHandoff {
    #[serde(deserialize_with = "name")]
    agent: String,
    optional: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSubagent {
    #[serde(deserialize_with = "name")]
    agent: String,
    #[serde(default = "yes")]
    blocking: bool,
    init_user_message: Option<String>,
    init_attachments: Option<String>,
    init_agent_name: Option<String>,
    optional: Option<String>,
    immediate: Option<RawImmediate>,
    resumable: Option<RawResumable>,
}

/// The key `immediate`. Its rules are checked while it is parsed, so that an error has a line and a column.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "ImmediateKeys")]
struct RawImmediate(ImmediateKeys);

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImmediateKeys {
    message: Option<String>,
    #[serde(default)]
    per_instance: bool,
    name_env: Option<String>,
    description_env: Option<String>,
    #[serde(default)]
    scoped_env: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawResumable {
    #[serde(default)]
    receives_messages: RawSide,
    most_instances: Option<NonZeroU32>,
    #[serde(default)]
    parent_communication: RawCommunication,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSpawn {
    #[serde(default = "yes")]
    enabled: bool,
    targets: Option<Vec<String>>,
    depth: Option<NonZeroU32>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSession {
    stop_tool: Option<String>,
    fail_tool: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLimits {
    steps: Option<NonZeroU32>,
    tokens: Option<NonZeroU64>,
    cost: Option<NonZeroU64>,
    time: Option<NonZeroU64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOutput {
    #[serde(default)]
    mode: RawMode,
    retries: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawMode {
    #[default]
    Tool,
    Native,
}

const fn yes() -> bool {
    true
}

/// Reads a text that must not be empty.
fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(de::Error::custom(
            "the text is empty: write a text, or remove the key",
        ));
    }
    Ok(text)
}

fn optional_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    name(deserializer).map(Some)
}

/// A part of the instructions: fixed text, or a placeholder for a variable.
#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Variable(VariableNeed),
}

/// Returns the placeholders of a text, as (begin, end, name).
fn placeholders(text: &str) -> Vec<(usize, usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find("{{").map(|begin| at + begin) {
        let Some(end) = text[begin..].find("}}").map(|end| begin + end) else {
            break;
        };
        let name = text[begin + 2..end].trim();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name {
            found.push((begin, end + 2, name));
            at = end + 2;
        } else {
            at = begin + 1;
        }
    }
    found
}

/// Returns the line and the column of a byte offset.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .map_or(0, |line| line.chars().count())
        + 1;
    (line, column)
}

/// Returns the word that is most similar to `word`; `None` if no word is similar.
fn nearest<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let ranked = words.map(|known| (strsim::osa_distance(word, known), known));
    let (distance, known) = ranked.min()?;
    let most = word.chars().count().max(known.chars().count()).div_ceil(3);
    (distance <= most).then_some(known)
}

/// Returns the text of a parser's fault. For an unknown key or value, the text names the most similar known key or value, or all of them if none is
/// similar.
fn fault(text: &str) -> String {
    for (begin, what) in [("unknown field `", "key"), ("unknown variant `", "value")] {
        let Some(rest) = text.strip_prefix(begin) else {
            continue;
        };
        let Some((word, expected)) = rest.split_once('`') else {
            continue;
        };
        let expected = expected.trim_start_matches(", expected").trim();
        let known = expected
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .filter(|known| !matches!(*known, "" | "one" | "of" | "or"));
        let known: Vec<&str> = known.collect();
        return match nearest(word, known.iter().copied()) {
            Some(near) => format!("there is no {what} `{word}`, did you mean `{near}`?"),
            None => format!(
                "there is no {what} `{word}`, the {what}s are `{}`",
                known.join("`, `")
            ),
        };
    }
    text.to_owned()
}

impl AgentFile {
    /// Reads an agent from YAML text.
    ///
    /// # Errors
    ///
    /// Fails if the text is not valid YAML, if a key is unknown or has an invalid value, if a required key is missing, if a variable is declared
    /// twice, and if the instructions contain a variable that is not declared or is a secret.
    pub fn from_yaml(text: &str) -> Result<Self, AgentFileError> {
        let raw = serde_saphyr::from_str(text).map_err(|error| {
            let place = error.location().map(|location| {
                let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                (number(location.line()), number(location.column()))
            });
            let text = error.without_snippet().to_string();
            let text = text.split(" at line ").next().unwrap_or_default();
            AgentFileError::new(place, fault(text))
        })?;
        Self::checked(raw, text)
    }

    /// Reads an agent from TOML text.
    ///
    /// # Errors
    ///
    /// Fails if the text is not valid TOML, and otherwise in the same cases as [`from_yaml`](Self::from_yaml).
    pub fn from_toml(text: &str) -> Result<Self, AgentFileError> {
        let raw = toml::from_str(text).map_err(|error| {
            let place = error.span().map(|span| place(text, span.start));
            AgentFileError::new(place, fault(error.message()))
        })?;
        Self::checked(raw, text)
    }

    /// Reads a file with the extension `.yaml`, `.yml` or `.toml`.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, if it has a different extension, and in the same cases as [`from_yaml`](Self::from_yaml) or
    /// [`from_toml`](Self::from_toml).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, AgentFileError> {
        let path = path.as_ref();
        let extension = path.extension().and_then(|extension| extension.to_str());
        let read = match extension {
            Some("yaml" | "yml") => Self::from_yaml,
            Some("toml") => Self::from_toml,
            _ => |_: &str| {
                let text = "the extension is unknown: use `.yaml`, `.yml` or `.toml`";
                Err(AgentFileError::new(None, text))
            },
        };
        let text = std::fs::read_to_string(path).map_err(|error| {
            AgentFileError::new(None, format!("the file cannot be read: {error}"))
        });
        text.and_then(|text| read(&text))
            .map_err(|error| AgentFileError {
                path: Some(path.to_owned()),
                ..error
            })
    }

    fn checked(raw: RawAgent, source: &str) -> Result<Self, AgentFileError> {
        let mut pieces = Vec::new();
        let text = &raw.instructions;
        let mut last = 0;
        for (begin, end, name) in placeholders(text) {
            let written = &text[begin..end];
            let wrong = |why: String| {
                AgentFileError::new(source.find(written).map(|at| place(source, at)), why)
            };
            let Some(variable) = raw.variables.iter().find(|variable| variable.name == name) else {
                let known = raw.variables.iter().map(|variable| &*variable.name);
                return Err(wrong(match nearest(name, known) {
                    Some(near) => {
                        format!("the variable `{name}` is not declared, did you mean `{near}`?")
                    }
                    None => format!("the variable `{name}` is not declared: add it to `variables`"),
                }));
            };
            if matches!(variable.r#type, RawType::Secret) {
                return Err(wrong(format!(
                    "the variable `{name}` is a secret, and a provider would get it: remove it from the instructions"
                )));
            }
            pieces.push(Piece::Text(text[last..begin].to_owned()));
            pieces.push(Piece::Variable(variable.need()));
            last = end;
        }
        pieces.push(Piece::Text(text[last..].to_owned()));
        let mut seen = Vec::new();
        for variable in &raw.variables {
            if seen.contains(&&variable.name) {
                let at = source.rfind(&*variable.name).map(|at| place(source, at));
                let why = format!("the variable `{}` is declared twice", variable.name);
                return Err(AgentFileError::new(at, why));
            }
            seen.push(&variable.name);
        }
        Ok(Self {
            raw,
            instructions: pieces,
            source: source.to_owned(),
        })
    }

    /// Returns the name of the agent.
    pub fn name(&self) -> &str {
        &self.raw.name
    }

    /// Returns the model of the agent.
    pub fn model(&self) -> &FileModel {
        &self.raw.model
    }

    /// Configures the agent with its instructions, its limits and the mode of its output. `skills` are the skills of the host; those that the file
    /// names are listed after the instructions, as [`skill::prompt`] writes them. Add the tools of the host with [`AgentBuilder::tools`].
    ///
    /// # Errors
    ///
    /// Fails if the file names a skill that `skills` does not contain.
    pub fn builder(
        &self,
        model: impl Model + Clone + Sync + 'static,
        skills: &[SkillVersion],
    ) -> Result<AgentBuilder, AgentFileError> {
        let mut used = Vec::new();
        for name in &self.raw.skills {
            let Some(skill) = skills.iter().find(|skill| skill.name == *name) else {
                let near = nearest(name, skills.iter().map(|skill| &*skill.name));
                let near = near.map_or_else(
                    || "add it to the skills of the host".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                return Err(AgentFileError::new(
                    self.place_of_skill(name),
                    format!("there is no skill `{name}`: {near}"),
                ));
            };
            used.push(skill);
        }
        let list = skill::prompt(used);
        let pieces = self.instructions.clone();
        let mut builder = Agent::builder(self.name(), model)
            .instructions_of(move |cx| written(&pieces, &list, cx))
            .output_mode(match self.raw.output.mode {
                RawMode::Tool => OutputMode::Tool,
                RawMode::Native => OutputMode::Native,
            });
        if let Some(steps) = self.raw.limits.steps {
            builder = builder.most_steps(steps.get());
        }
        if let Some(tokens) = self.raw.limits.tokens {
            builder = builder.most_tokens(tokens.get());
        }
        if let Some(cost) = self.raw.limits.cost {
            builder = builder.most_cost(cost.get());
        }
        if let Some(seconds) = self.raw.limits.time {
            builder = builder.most_time(Duration::from_secs(seconds.get()));
        }
        if let Some(retries) = self.raw.output.retries {
            builder = builder.output_retries(retries);
        }
        Ok(builder)
    }

    fn place_of_skill(&self, name: &str) -> Option<(usize, usize)> {
        let list = self.source.find("skills")?;
        let at = list + self.source[list..].find(name)?;
        Some(place(&self.source, at))
    }

    /// Creates the entry of an agent in a runtime: its kind, its description, its lists of tools, its variables, the agents that it calls, the limits
    /// on the sub-agents that it may start, and how its sessions end. A [partner](crate::runtime::Session::partner) is an agent of the host, so set
    /// it with [`AgentEntry::session`].
    pub fn entry(&self, agent: Agent) -> AgentEntry {
        let raw = self.raw.clone();
        let mut entry = AgentEntry::new(agent);
        if let RawKind::Autonomous = raw.kind {
            entry = entry.autonomous();
        }
        if let Some(description) = raw.description {
            entry = entry.expose(description);
        }
        if !raw.tools.allow.is_empty() {
            entry = entry.allow(raw.tools.allow);
        }
        if !raw.tools.deny.is_empty() {
            entry = entry.deny(raw.tools.deny);
        }
        for variable in &raw.variables {
            entry = entry.variable(variable.need());
        }
        if let Some(spawn) = raw.spawn {
            entry = entry.spawn(spawn.gate());
        }
        if let Some(session) = raw.session {
            entry = entry.session(session.session());
        }
        let prompts = raw.prompts.into_iter().map(RawPrompt::tool);
        let handoffs = raw.handoffs.into_iter().map(|handoff| {
            let tool = Handoff::to(handoff.agent);
            with(tool, handoff.optional, Handoff::optional)
        });
        let subagents = raw.subagents.into_iter().map(RawSubagent::tool);
        let entry = prompts.fold(entry, AgentEntry::prompt);
        let entry = handoffs.fold(entry, AgentEntry::handoff);
        subagents.fold(entry, AgentEntry::subagent)
    }

    /// Returns the kind of the agent.
    pub fn kind(&self) -> AgentKind {
        match self.raw.kind {
            RawKind::Conversational => AgentKind::Conversational,
            RawKind::Autonomous => AgentKind::Autonomous,
        }
    }
}

/// Applies a setting that the file may contain.
fn with<T, V>(tool: T, value: Option<V>, set: impl FnOnce(T, V) -> T) -> T {
    match value {
        Some(value) => set(tool, value),
        None => tool,
    }
}

impl RawPrompt {
    fn tool(self) -> PromptTool {
        let tool = PromptTool::new(self.agent)
            .include_text_response(self.include_text_response)
            .include_tool_calls(self.include_tool_calls)
            .include_errors(self.include_errors);
        let tool = with(tool, self.init_user_message, PromptTool::init_user_message);
        let tool = with(tool, self.init_attachments, PromptTool::init_attachments);
        with(tool, self.optional, PromptTool::optional)
    }
}

impl RawSubagent {
    fn tool(self) -> Subagent {
        let tool = Subagent::new(self.agent).blocking(self.blocking);
        let tool = with(tool, self.init_user_message, Subagent::init_user_message);
        let tool = with(tool, self.init_attachments, Subagent::init_attachments);
        let tool = with(tool, self.init_agent_name, Subagent::init_agent_name);
        let immediate = self.immediate.map(RawImmediate::immediate);
        let tool = with(tool, immediate, Subagent::immediate);
        let resumable = self.resumable.map(RawResumable::resumable);
        let tool = with(tool, resumable, Subagent::resumable);
        with(tool, self.optional, Subagent::optional)
    }
}

impl RawVariable {
    fn need(&self) -> VariableNeed {
        VariableNeed {
            name: Cow::Owned(self.name.clone()),
            kind: match self.r#type {
                RawType::Text => VariableKind::Text,
                RawType::Secret => VariableKind::Secret,
            },
            description: self.description.clone().map(Cow::Owned),
            required: self.required,
            scoped: self.scoped,
        }
    }
}

/// Writes the instructions of a run.
fn written(pieces: &[Piece], skills: &str, cx: &ToolContext) -> Result<String, ToolError> {
    let (mut text, mut missing) = (String::new(), Vec::new());
    for piece in pieces {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Variable(need) => match cx.env(&need.name) {
                Ok(Value::Text(value)) => text.push_str(value),
                // The file declares a text, but the host has stored a secret.
                Ok(_) => {
                    let why = "the instructions of the agent contain a secret";
                    let operator = format!("the value of `{}` is a secret", need.name);
                    return Err(ToolError::of(ErrorKind::Failed, why).operator(operator));
                }
                Err(_) if need.required => missing.push(need.clone()),
                Err(_) => {}
            },
        }
    }
    if !missing.is_empty() {
        return Err(ToolError::variables_required(missing));
    }
    if !skills.is_empty() {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str("# Skills\n\n");
        text.push_str(skills);
    }
    Ok(text)
}
