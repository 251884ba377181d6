//! A tool's facts, wherever they come from.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::dynamic::DynamicDef;
use super::exposed::Exposed;
use super::output::Promise;
use super::{Approval, Job, Origin, SecretNeed, StaticDef, VariableNeed};
use crate::args::{self, Admitted, Issue, Repair};
use crate::effect::Effect;
use crate::run::{Entry, NotBegun, Ticket};
use crate::schema::dialect::{Dialect, Dialects, Hints, Spec, ToolExample};
use crate::schema::{Schema, Text};

/// A tool in a registry.
#[derive(Clone)]
pub struct ToolDef(pub(super) Source);

#[derive(Clone)]
pub(super) enum Source {
    Own(Own),
    /// Under another name or description, or with more that it needs.
    Exposed(Arc<Exposed>),
}

/// What a tool is by itself.
#[derive(Clone)]
pub(super) enum Own {
    Static(&'static StaticDef),
    Dynamic(Arc<DynamicDef>),
}

impl ToolDef {
    /// A tool whose facts the compiler knows.
    #[doc(hidden)]
    pub const fn linked(def: &'static StaticDef) -> Self {
        Self(Source::Own(Own::Static(def)))
    }

    pub(crate) fn dynamic(def: Arc<DynamicDef>) -> Self {
        Self(Source::Own(Own::Dynamic(def)))
    }

    fn own(&self) -> &Own {
        match &self.0 {
            Source::Own(own) => own,
            Source::Exposed(exposed) => &exposed.own,
        }
    }

    /// The name that the model sees: that of the tool, unless a toolset gives it another. The id `ns:name` travels as `ns__name`.
    pub fn wire_name(&self) -> &str {
        match &self.0 {
            Source::Own(Own::Static(def)) => def.spec.name,
            Source::Own(Own::Dynamic(def)) => &def.wire,
            Source::Exposed(exposed) => &exposed.name,
        }
    }

    /// The same tool under another name, and with another description where one is given.
    pub(crate) fn exposed(&self, name: String, description: Option<String>) -> Self {
        let (before, secrets) = match &self.0 {
            Source::Own(_) => (None, None),
            Source::Exposed(exposed) => (exposed.description.clone(), exposed.secrets.clone()),
        };
        let description = description.or(before);
        let exposed = Exposed::new(self.own().clone(), name, description, secrets);
        Self(Source::Exposed(Arc::new(exposed)))
    }

    /// The same tool, which does not do without a secret.
    pub(crate) fn requiring(&self, key: &str) -> Self {
        let mut secrets = self.secrets().to_vec();
        match secrets.iter_mut().find(|need| need.key == key) {
            Some(need) => need.optional = false,
            None => secrets.push(SecretNeed {
                key: Cow::Owned(key.to_owned()),
                ..SecretNeed::new("")
            }),
        }
        let description = match &self.0 {
            Source::Own(_) => None,
            Source::Exposed(exposed) => exposed.description.clone(),
        };
        let name = self.wire_name().to_owned();
        let exposed = Exposed::new(self.own().clone(), name, description, Some(secrets));
        Self(Source::Exposed(Arc::new(exposed)))
    }

    /// Its own name, which rules, policies and audit rows name it by.
    pub fn name(&self) -> &str {
        match self.own() {
            Own::Static(def) => def.spec.name,
            Own::Dynamic(def) => &def.name,
        }
    }

    /// Name for people.
    pub fn title(&self) -> Option<Cow<'_, str>> {
        match self.own() {
            Own::Static(def) => def.spec.title.map(|title| Cow::Owned(title.unescape())),
            Own::Dynamic(def) => def.title.as_deref().map(Cow::Borrowed),
        }
    }

    /// What it does and when to use it, without the examples.
    pub fn description(&self) -> &str {
        if let Source::Exposed(exposed) = &self.0
            && let Some(description) = &exposed.description
        {
            return description;
        }
        match self.own() {
            Own::Static(def) => def.description,
            Own::Dynamic(def) => &def.description,
        }
    }

    /// Schema of the arguments, as that provider takes it; empty where the tool leaves the provider out.
    pub fn schema(&self, dialect: Dialect) -> &str {
        match self.own() {
            Own::Static(def) => (def.text)(dialect).schema,
            Own::Dynamic(def) => def.texts.schema(dialect),
        }
    }

    /// The whole definition, as that provider takes it; empty where the tool leaves the provider out.
    pub fn definition(&self, dialect: Dialect) -> &str {
        if let Source::Exposed(exposed) = &self.0 {
            return exposed.definition(dialect);
        }
        match self.own() {
            Own::Static(def) => (def.text)(dialect).definition,
            Own::Dynamic(def) => def.texts.definition(dialect),
        }
    }

    /// JSON Schema of the output, where its type has one.
    pub fn output_schema(&self) -> Option<Cow<'_, str>> {
        match self.own() {
            Own::Static(def) => (def.output)(),
            Own::Dynamic(def) => def.output_schema.as_deref().map(Cow::Borrowed),
        }
    }

    /// What its outputs are held to at run time: a tool made at run time has no types that would do so.
    pub(crate) fn promise(&self) -> Option<&Promise> {
        match self.own() {
            Own::Static(_) => None,
            Own::Dynamic(def) => def.promise.as_ref(),
        }
    }

    /// The fingerprint of what it promises: SHA-256 over name, description, schemas and effects, as lower-case hex. An approval is bound
    /// to it, so one that waits is void as soon as it changes.
    #[cfg(feature = "host")]
    pub fn contract(&self) -> Arc<str> {
        crate::gate::hash::contract(self)
    }

    /// Its contract where it was made before, and otherwise makes it; kept wherever the tool itself is kept.
    #[cfg(feature = "host")]
    pub(crate) fn contract_once(&self, make: impl FnOnce() -> Arc<str>) -> Arc<str> {
        match &self.0 {
            Source::Own(Own::Static(def)) => {
                crate::gate::hash::known(std::ptr::from_ref(*def).addr(), make)
            }
            Source::Own(Own::Dynamic(def)) => Arc::clone(def.contract.get_or_init(make)),
            // Under another description it is another promise.
            Source::Exposed(_) => make(),
        }
    }

    /// Providers it is offered to.
    pub fn providers(&self) -> Dialects {
        match self.own() {
            Own::Static(def) => def.spec.providers,
            Own::Dynamic(def) => def.texts.providers(),
        }
    }

    /// Providers to which it is offered as not strict, with its own schema: only what [`DynamicTool::non_strict`](crate::DynamicTool::non_strict)
    /// says so of.
    pub fn non_strict(&self) -> Dialects {
        match self.own() {
            Own::Static(_) => Dialects::NONE,
            Own::Dynamic(def) => def.non_strict,
        }
    }

    /// Whether its host allows it to be offered as not strict.
    #[cfg(feature = "wire")]
    pub(crate) fn may_be_non_strict(&self) -> bool {
        match self.own() {
            Own::Static(_) => false,
            Own::Dynamic(def) => def.may_be_non_strict,
        }
    }

    /// Holds the arguments of a call to what the tool takes.
    pub(crate) fn admit<'t>(
        &self,
        text: &'t str,
        repair: Repair,
    ) -> Result<Admitted<'t>, Vec<Issue>> {
        match self.own() {
            Own::Static(def) => args::admit(def.spec.input, text, repair),
            Own::Dynamic(def) => def.admit(text, repair),
        }
    }

    /// Category; `general` where none is said.
    pub fn category(&self) -> &str {
        match self.own() {
            Own::Static(def) => def.category,
            Own::Dynamic(def) => &def.category,
        }
    }

    /// Tags.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        let (fixed, owned): (&[&'static str], &[String]) = match self.own() {
            Own::Static(def) => (def.tags, &[]),
            Own::Dynamic(def) => (&[], &def.tags),
        };
        fixed
            .iter()
            .copied()
            .chain(owned.iter().map(String::as_str))
    }

    /// Secrets it needs.
    pub fn secrets(&self) -> &[SecretNeed] {
        if let Source::Exposed(exposed) = &self.0
            && let Some(secrets) = &exposed.secrets
        {
            return secrets;
        }
        match self.own() {
            Own::Static(def) => def.secrets,
            Own::Dynamic(def) => &def.secrets,
        }
    }

    /// Variables it needs.
    pub fn variables(&self) -> &[VariableNeed] {
        match self.own() {
            Own::Static(def) => def.variables,
            Own::Dynamic(def) => &def.variables,
        }
    }

    /// What it may do.
    pub fn effect(&self) -> Effect {
        match self.own() {
            Own::Static(def) => def.effect,
            Own::Dynamic(def) => def.effect,
        }
    }

    /// MCP's annotations.
    pub fn hints(&self) -> Hints {
        match self.own() {
            Own::Static(def) => def.spec.hints,
            Own::Dynamic(def) => def.hints,
        }
    }

    /// Whether a call has to be approved.
    pub fn approval(&self) -> Approval {
        match self.own() {
            Own::Static(def) => def.approval,
            Own::Dynamic(def) => def.approval,
        }
    }

    /// How long a call may take.
    pub fn timeout(&self) -> Option<Duration> {
        match self.own() {
            Own::Static(def) => def.timeout,
            Own::Dynamic(def) => def.timeout,
        }
    }

    /// Never beside another call.
    pub fn is_sequential(&self) -> bool {
        match self.own() {
            Own::Static(def) => def.sequential,
            Own::Dynamic(def) => def.sequential,
        }
    }

    /// Made at run time.
    pub fn is_dynamic(&self) -> bool {
        matches!(self.own(), Own::Dynamic(_))
    }

    /// Listed, but built by the host for each turn: called as it is, it answers that it is not there.
    pub fn is_meta(&self) -> bool {
        match self.own() {
            Own::Static(_) => false,
            Own::Dynamic(def) => def.meta,
        }
    }

    /// Has no effect but by the calls that it makes, so it runs again from its beginning after one of them was approved: a `#[tool]` whose
    /// only host values that can change something are [`Uses`](crate::Uses), and a
    /// [`DynamicTool::only_calls`](crate::DynamicTool::only_calls).
    pub fn only_calls(&self) -> bool {
        match self.own() {
            Own::Static(def) => def.only_calls,
            Own::Dynamic(def) => def.only_calls,
        }
    }

    /// Part of the harness: always there, not to be switched off.
    pub fn is_harness(&self) -> bool {
        match self.own() {
            Own::Static(def) => def.harness,
            Own::Dynamic(def) => def.harness,
        }
    }

    /// Most bytes that its output may have.
    pub fn output_limit(&self) -> Option<usize> {
        match self.own() {
            Own::Static(def) => def.output_limit,
            Own::Dynamic(def) => def.output_limit,
        }
    }

    /// Where it was written; `None` for a tool made at run time.
    pub fn origin(&self) -> Option<Origin> {
        match self.own() {
            Own::Static(def) => Some(def.origin),
            Own::Dynamic(_) => None,
        }
    }

    /// Where it comes from, in words.
    pub(crate) fn origin_text(&self) -> String {
        match self.own() {
            Own::Static(def) => def.origin.to_string(),
            Own::Dynamic(def) => def.origin.clone(),
        }
    }

    /// What a request's budget counts; a tool made at run time has no static name, nor has one under another name.
    pub(crate) fn spec(&self) -> Spec {
        match self.own() {
            Own::Static(def) => Spec {
                name: match &self.0 {
                    Source::Exposed(exposed) if exposed.name != def.spec.name => "",
                    _ => def.spec.name,
                },
                ..*def.spec
            },
            Own::Dynamic(def) => Spec {
                name: "",
                title: None,
                description: Text::EMPTY,
                input: def.input,
                examples: &[],
                providers: def.texts.providers(),
                hints: def.hints,
            },
        }
    }

    /// Calls that show how it is meant.
    pub fn examples(&self) -> &'static [ToolExample] {
        match self.own() {
            Own::Static(def) => def.spec.examples,
            Own::Dynamic(_) => &[],
        }
    }

    /// What a model fills in.
    pub fn input(&self) -> &'static Schema {
        match self.own() {
            Own::Static(def) => def.spec.input,
            Own::Dynamic(def) => def.input,
        }
    }

    /// Decodes, and gives the run.
    pub(crate) fn start(&self, entry: &mut dyn Entry, ticket: Ticket) -> Result<Job, NotBegun> {
        match self.own() {
            Own::Static(def) => (def.start)(entry, ticket),
            Own::Dynamic(def) => {
                let cx = entry.enter(true).map_err(NotBegun::Refused)?;
                let job = def.start(entry.text(), cx, ticket);
                job.map_err(|error| NotBegun::Unfit(Some(error)))
            }
        }
    }
}

impl fmt::Debug for ToolDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolDef")
            .field("name", &self.name())
            .field("origin", &self.origin_text())
            .finish_non_exhaustive()
    }
}
