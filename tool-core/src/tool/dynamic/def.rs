//! Definition of a tool that is created at run time.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;
#[cfg(feature = "host")]
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;
use tool_schema::__private0::{Heading, definition_around};

use super::super::output::OutputCheck;
use super::super::{Approval, DecodeError, Job, SecretNeed, Ticket, VariableNeed};
#[cfg(feature = "host")]
use super::ClientCheck;
use super::SchemaCheck;
use crate::args::{self, Issue, Repair};
use crate::context::{ToolContext, ToolFacts};
use crate::effect::{Declared, Effect};
use crate::schema::dialect::{Dialect, Dialects, Hints};
use crate::schema::dynamic::DynSchema;
use crate::schema::{Kind, Schema};

pub(super) type Handler = dyn Fn(Value, ToolContext) -> Result<Job, DecodeError> + Send + Sync;

/// The definition of a tool that is created at run time.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(crate) struct DynamicDef {
    pub(crate) name: String,
    /// The name that the model sees.
    pub(crate) wire: String,
    pub(crate) meta: bool,
    pub(crate) only_calls: bool,
    pub(crate) continues: bool,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    pub(crate) category: String,
    pub(crate) tags: Vec<String>,
    /// Earlier names of the tool.
    pub(crate) aliases: Vec<String>,
    pub(crate) secrets: Vec<SecretNeed>,
    pub(crate) variables: Vec<VariableNeed>,
    pub(crate) declared: Declared,
    pub(crate) effect: Effect,
    pub(crate) hints: Hints,
    pub(crate) approval: Approval,
    pub(crate) timeout: Option<Duration>,
    pub(crate) sequential: bool,
    pub(crate) harness: bool,
    pub(crate) output_limit: Option<usize>,
    pub(crate) examples: Vec<DynamicExample>,
    /// The user that calls act as, instead of the user of the context.
    pub(crate) acts_as: Option<ActsAs>,
    /// Whether the client runs the tool, and the host only passes its calls on.
    pub(crate) client: bool,
    #[cfg(feature = "host")]
    pub(crate) client_check: Option<Arc<dyn ClientCheck>>,
    pub(crate) output_schema: Option<String>,
    pub(crate) promise: Option<OutputCheck>,
    #[cfg(feature = "host")]
    pub(crate) contract: OnceLock<Arc<str>>,
    pub(crate) origin: String,
    pub(crate) texts: Texts,
    pub(crate) input: &'static Schema,
    pub(super) parsed: Option<DynSchema>,
    /// Validates the arguments of a tool that may be offered as not strict.
    pub(super) check: Option<Arc<dyn SchemaCheck>>,
    /// Whether the host allows the tool to be offered as not strict.
    pub(crate) may_be_non_strict: bool,
    /// The providers to which the tool is offered as not strict.
    pub(crate) non_strict: Dialects,
    pub(super) handler: Arc<Handler>,
}

/// An example of a call: its arguments, and its output if it has one.
pub(crate) struct DynamicExample {
    pub(crate) arguments: Value,
    pub(crate) output: Option<Value>,
}

/// The user that the calls of a tool act as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActsAs {
    pub(crate) user: String,
    /// Whether a runtime user of the context has priority.
    pub(crate) is_default: bool,
}

/// The definition in each dialect.
#[derive(Default)]
pub(crate) struct Texts(pub(super) [Written; Dialect::COUNT]);

/// A definition, and the range of the schema in it.
#[derive(Default)]
pub(crate) struct Written {
    definition: Box<str>,
    schema: Range<usize>,
}

impl Written {
    pub(super) fn new(definition: String, schema: &str) -> Self {
        // The texts before the schema have escaped quotes, so they cannot contain the schema. They have few braces, so the search is short.
        let mut braces = definition.match_indices('{').map(|(at, _)| at);
        let start = braces
            .find(|at| definition[*at..].starts_with(schema))
            .unwrap_or_default();
        Self {
            schema: start..start + schema.len(),
            definition: definition.into_boxed_str(),
        }
    }
}

impl Texts {
    pub(crate) fn definition(&self, dialect: Dialect) -> &str {
        &self.0[dialect.index()].definition
    }

    pub(crate) fn schema(&self, dialect: Dialect) -> &str {
        let written = &self.0[dialect.index()];
        written
            .definition
            .get(written.schema.clone())
            .unwrap_or_default()
    }

    pub(crate) fn providers(&self) -> Dialects {
        Dialect::ALL
            .into_iter()
            .filter(|dialect| !self.definition(*dialect).is_empty())
            .fold(Dialects::NONE, Dialects::with)
    }
}

impl DynamicDef {
    /// Creates a definition with the default facts. Its origin is the caller's line.
    #[track_caller]
    pub(super) fn new(name: String, description: String, handler: Arc<Handler>) -> Self {
        Self {
            name,
            wire: String::new(),
            meta: false,
            only_calls: false,
            continues: false,
            title: None,
            description,
            category: "general".to_owned(),
            tags: Vec::new(),
            aliases: Vec::new(),
            secrets: Vec::new(),
            variables: Vec::new(),
            declared: Declared::NONE,
            effect: Effect::NONE,
            hints: Declared::NONE.hints(&[]),
            approval: Approval::ByEffect,
            timeout: None,
            sequential: false,
            harness: false,
            output_limit: None,
            examples: Vec::new(),
            acts_as: None,
            client: false,
            #[cfg(feature = "host")]
            client_check: None,
            output_schema: None,
            promise: None,
            #[cfg(feature = "host")]
            contract: OnceLock::new(),
            origin: Location::caller().to_string(),
            texts: Texts::default(),
            input: const { &Schema::new(Kind::Never) },
            parsed: None,
            check: None,
            may_be_non_strict: false,
            non_strict: Dialects::NONE,
            handler,
        }
    }

    /// Returns the description with the examples, as the macros write both.
    fn described(&self) -> Cow<'_, str> {
        if self.examples.is_empty() {
            return Cow::Borrowed(&self.description);
        }
        let mut text = format!("{}\n\nExamples:", self.description);
        for DynamicExample { arguments, output } in &self.examples {
            let _ = write!(text, "\n- {arguments}");
            if let Some(output) = output {
                let _ = write!(text, " → {output}");
            }
        }
        Cow::Owned(text)
    }

    /// Returns the faults of the examples, each with the pointer of the example and of the value in it.
    pub(crate) fn example_issues(&self) -> Vec<Issue> {
        let mut found = Vec::new();
        for (at, DynamicExample { arguments, output }) in self.examples.iter().enumerate() {
            let mut add = |part: &str, issues: Vec<Issue>| {
                found.extend(issues.into_iter().map(|issue| Issue {
                    pointer: format!("/examples/{at}/{part}{}", issue.pointer),
                    ..issue
                }));
            };
            let admitted = self.admit(&arguments.to_string(), Repair::Off).err();
            add("args", admitted.unwrap_or_default());
            if let (Some(output), Some(promise)) = (output, &self.promise) {
                add("result", promise.issues(&output.to_string()));
            }
        }
        found
    }

    /// Writes the definition in the same form as the macros' constants.
    pub(super) fn definition(&self, dialect: Dialect, schema: &str) -> String {
        let heading = Heading {
            name: &self.wire,
            title: self.title.as_deref(),
            description: &self.described(),
            hints: self.hints,
            strict: !self.non_strict.contains(dialect),
        };
        definition_around(dialect, &heading, schema)
    }

    /// Deserializes the arguments in the spelling of the original schema, and returns the run. A number that a [`Value`] would round is refused, because the
    /// approval and the hash refer to the number as it was written.
    pub(crate) fn start(&self, text: &str, cx: ToolContext, _: Ticket) -> Result<Job, DecodeError> {
        let mut arguments: Value = args::value(text)?;
        // The arguments of a tool with its own check have this spelling already, because they were restored before they were checked and approved.
        if let (Some(schema), None) = (self.parsed, &self.check) {
            schema.restore(&mut arguments);
        }
        (self.handler)(arguments, cx)
    }
}

impl ToolFacts for DynamicDef {
    fn name(&self) -> &str {
        &self.name
    }

    #[cfg(feature = "host")]
    fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn secrets(&self) -> &[SecretNeed] {
        &self.secrets
    }

    fn variables(&self) -> &[VariableNeed] {
        &self.variables
    }

    #[cfg(feature = "host")]
    fn may_run_again(&self) -> bool {
        self.hints.idempotent || self.only_calls
    }
}
