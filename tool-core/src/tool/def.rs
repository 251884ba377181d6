//! [`ToolDef`]: the definition of a tool from any source.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tool_schema::__private0::{Lowered, Spec};

#[cfg(feature = "host")]
use super::contract;
#[cfg(feature = "host")]
use super::dynamic::ClientCheck;
use super::dynamic::{ActsAs, DynamicDef};
use super::exposed::Exposed;
use super::output::OutputCheck;
use super::{Approval, Entry, Job, NotBegun, Origin, SecretNeed, Start, Ticket, VariableNeed};
use crate::args::{self, Admitted, Issue, Repair};
use crate::context::{RunningTool, ToolFacts};
use crate::effect::Effect;
use crate::schema::dialect::{Dialect, Dialects, Hints, ToolExample};
use crate::schema::{Schema, Text};

/// The facts of a tool that are known at compile time. `#[tool]` writes them.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct StaticDef {
    pub spec: &'static Spec,
    /// The description as people read it, without escapes.
    pub description: &'static str,
    pub category: &'static str,
    pub tags: &'static [&'static str],
    /// Earlier names of the tool.
    pub aliases: &'static [&'static str],
    pub secrets: &'static [SecretNeed],
    pub variables: &'static [VariableNeed],
    pub effect: Effect,
    pub approval: Approval,
    pub timeout: Option<Duration>,
    pub sequential: bool,
    pub harness: bool,
    /// Whether the tool has no effect except through the calls that it makes.
    pub only_calls: bool,
    pub output_limit: Option<usize>,
    pub origin: Origin,
    /// Returns the text of the definition.
    pub text: fn(Dialect) -> Lowered,
    /// Returns the JSON Schema of the output, if it has one.
    pub output: fn() -> Option<Cow<'static, str>>,
    pub start: Start,
}

impl StaticDef {
    /// Creates the facts of a tool whose attribute has no options.
    pub(crate) const fn bare(
        spec: &'static Spec,
        text: fn(Dialect) -> Lowered,
        start: Start,
    ) -> Self {
        Self {
            spec,
            description: "",
            category: "general",
            tags: &[],
            aliases: &[],
            secrets: &[],
            variables: &[],
            effect: Effect::NONE,
            approval: Approval::ByEffect,
            timeout: None,
            sequential: false,
            harness: false,
            only_calls: false,
            output_limit: None,
            origin: Origin {
                krate: "",
                module: "",
                file: "",
                line: 0,
            },
            text,
            output: || None,
            start,
        }
    }
}

/// The definition of a tool.
#[derive(Clone)]
pub struct ToolDef(pub(super) Source);

#[derive(Clone)]
pub(super) enum Source {
    Own(Own),
    /// A tool with a changed name or description, or with more required secrets or aliases.
    Exposed(Arc<Exposed>),
}

/// A tool's own definition.
#[derive(Clone)]
pub(super) enum Own {
    Static(&'static StaticDef),
    Dynamic(Arc<DynamicDef>),
}

impl ToolFacts for StaticDef {
    fn name(&self) -> &str {
        self.spec.name
    }

    #[cfg(feature = "host")]
    fn is_named(&self, name: &str) -> bool {
        self.spec.name == name || self.aliases.contains(&name)
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn secrets(&self) -> &[SecretNeed] {
        self.secrets
    }

    fn variables(&self) -> &[VariableNeed] {
        self.variables
    }

    #[cfg(feature = "host")]
    fn may_run_again(&self) -> bool {
        self.spec.hints.idempotent || self.only_calls
    }
}

impl ToolDef {
    /// Creates the definition of a tool whose facts are known at compile time.
    #[doc(hidden)]
    pub const fn linked(def: &'static StaticDef) -> Self {
        Self(Source::Own(Own::Static(def)))
    }

    pub(crate) fn dynamic(def: Arc<DynamicDef>) -> Self {
        Self(Source::Own(Own::Dynamic(def)))
    }

    /// Returns the tool for the context of a call.
    #[inline]
    pub(crate) fn running(&self) -> RunningTool {
        match &self.0 {
            Source::Own(Own::Static(def)) => RunningTool::Static(*def),
            Source::Own(Own::Dynamic(def)) => RunningTool::Shared(Arc::<DynamicDef>::clone(def)),
            Source::Exposed(exposed) => RunningTool::Shared(Arc::<Exposed>::clone(exposed)),
        }
    }

    fn own(&self) -> &Own {
        match &self.0 {
            Source::Own(own) => own,
            Source::Exposed(exposed) => &exposed.own,
        }
    }

    /// Returns the name that the model sees: the tool's own name, unless a toolset renames it. The id `ns:name` becomes `ns__name`.
    pub fn wire_name(&self) -> &str {
        match &self.0 {
            Source::Own(Own::Static(def)) => def.spec.name,
            Source::Own(Own::Dynamic(def)) => &def.wire,
            Source::Exposed(exposed) => &exposed.name,
        }
    }

    /// Returns the tool with a new name, and with a new description if one is given.
    pub(crate) fn exposed(&self, name: String, description: Option<String>) -> Self {
        let mut exposed = self.to_exposed();
        exposed.name = name;
        exposed.description = description.or(exposed.description);
        Self(Source::Exposed(Arc::new(exposed)))
    }

    /// Returns a definition that can be changed.
    fn to_exposed(&self) -> Exposed {
        match &self.0 {
            Source::Own(own) => Exposed::new(own.clone(), self.wire_name().to_owned()),
            Source::Exposed(exposed) => exposed.copy(),
        }
    }

    /// Returns the tool with an alias that the host states.
    pub(crate) fn with_alias(&self, alias: String) -> Self {
        let mut exposed = self.to_exposed();
        exposed.aliases.push(alias);
        Self(Source::Exposed(Arc::new(exposed)))
    }

    /// Returns the tool with the secret of this key as a required secret.
    pub(crate) fn requiring(&self, key: &str) -> Self {
        let mut secrets = self.secrets().to_vec();
        match secrets.iter_mut().find(|need| need.key == key) {
            Some(need) => need.optional = false,
            None => secrets.push(SecretNeed {
                key: Cow::Owned(key.to_owned()),
                ..SecretNeed::new("")
            }),
        }
        let mut exposed = self.to_exposed();
        exposed.secrets = Some(secrets);
        Self(Source::Exposed(Arc::new(exposed)))
    }

    /// Returns the tool's own name, which rules, policies and audit rows use.
    pub fn name(&self) -> &str {
        match self.own() {
            Own::Static(def) => def.spec.name,
            Own::Dynamic(def) => &def.name,
        }
    }

    /// Returns the earlier names of the tool: aliases that the tool declares, then those that the host states with
    /// [`RegistryBuilder::renamed`](crate::RegistryBuilder::renamed). Rules, policies, switches and approvals that contain an alias apply to the tool.
    /// Definitions for providers and the [contract](Self::contract) contain no aliases.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        let (fixed, owned): (&[&'static str], &[String]) = match self.own() {
            Own::Static(def) => (def.aliases, &[]),
            Own::Dynamic(def) => (&[], &def.aliases),
        };
        let fixed = fixed.iter().copied();
        let owned = owned.iter().chain(self.stated_aliases());
        fixed.chain(owned.map(String::as_str))
    }

    /// Returns the aliases that only the host states.
    pub(crate) fn stated_aliases(&self) -> &[String] {
        match &self.0 {
            Source::Own(_) => &[],
            Source::Exposed(exposed) => &exposed.aliases,
        }
    }

    /// Returns the tool's own name, then its aliases.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name()).chain(self.aliases())
    }

    /// Returns whether this is the tool's own name or an alias.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }

    /// Returns the title, a name for people.
    pub fn title(&self) -> Option<Cow<'_, str>> {
        match self.own() {
            Own::Static(def) => def.spec.title.map(|title| Cow::Owned(title.unescape())),
            Own::Dynamic(def) => def.title.as_deref().map(Cow::Borrowed),
        }
    }

    /// Returns the description of the tool and its use, without the examples.
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

    /// Returns the schema of the arguments in the provider's dialect; empty if the tool excludes the provider.
    pub fn schema(&self, dialect: Dialect) -> &str {
        match self.own() {
            Own::Static(def) => (def.text)(dialect).schema,
            Own::Dynamic(def) => def.texts.schema(dialect),
        }
    }

    /// Returns the whole definition in the provider's dialect; empty if the tool excludes the provider.
    pub fn definition(&self, dialect: Dialect) -> &str {
        if let Source::Exposed(exposed) = &self.0 {
            return exposed.definition(dialect);
        }
        match self.own() {
            Own::Static(def) => (def.text)(dialect).definition,
            Own::Dynamic(def) => def.texts.definition(dialect),
        }
    }

    /// Returns the JSON Schema of the output, if its type has one.
    pub fn output_schema(&self) -> Option<Cow<'_, str>> {
        match self.own() {
            Own::Static(def) => (def.output)(),
            Own::Dynamic(def) => def.output_schema.as_deref().map(Cow::Borrowed),
        }
    }

    /// Returns the check of the body's output. Only a tool created at run time has a check, because no types guarantee its outputs. A client tool has
    /// none, because its body returns the arguments, and not the output.
    pub(crate) fn promise(&self) -> Option<&OutputCheck> {
        match self.own() {
            Own::Static(_) => None,
            Own::Dynamic(def) => def.promise.as_ref().filter(|_| !def.client),
        }
    }

    /// Returns the fingerprint of the tool's contract: SHA-256 over name, description, schemas, effects and hints, as lower-case hex. An approval is
    /// bound to it, so a waiting approval becomes invalid as soon as the contract changes.
    #[cfg(feature = "host")]
    pub fn contract(&self) -> Arc<str> {
        let make = || contract::fingerprint(self, self.name());
        match &self.0 {
            Source::Own(Own::Static(def)) => contract::known(std::ptr::from_ref(*def).addr(), make),
            Source::Own(Own::Dynamic(def)) => Arc::clone(def.contract.get_or_init(make)),
            // A changed description changes the contract, so it is not cached with the tool's own contract.
            Source::Exposed(exposed) => Arc::clone(exposed.contract.get_or_init(make)),
        }
    }

    /// Returns the fingerprint that the contract had under an alias, if nothing but the name has changed since.
    #[cfg(feature = "host")]
    pub(crate) fn contract_under(&self, name: &str) -> Arc<str> {
        if name == self.name() {
            self.contract()
        } else {
            contract::fingerprint(self, name)
        }
    }

    /// Returns the providers to which the tool is offered.
    pub fn providers(&self) -> Dialects {
        match self.own() {
            Own::Static(def) => def.spec.providers,
            Own::Dynamic(def) => def.texts.providers(),
        }
    }

    /// Returns the providers to which the tool is offered as not strict, with its own schema. Only tools with
    /// [`DynamicTool::non_strict`](crate::DynamicTool::non_strict) have such providers.
    pub fn non_strict(&self) -> Dialects {
        match self.own() {
            Own::Static(_) => Dialects::NONE,
            Own::Dynamic(def) => def.non_strict,
        }
    }

    /// Returns whether the host allows the tool to be offered as not strict.
    #[cfg(feature = "host")]
    pub(crate) fn may_be_non_strict(&self) -> bool {
        match self.own() {
            Own::Static(_) => false,
            Own::Dynamic(def) => def.may_be_non_strict,
        }
    }

    /// Validates the arguments of a call.
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

    /// Returns the category; `general` is the default.
    pub fn category(&self) -> &str {
        match self.own() {
            Own::Static(def) => def.category,
            Own::Dynamic(def) => &def.category,
        }
    }

    /// Returns the tags of the tool.
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

    /// Returns the secrets that the tool needs.
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

    /// Returns the variables that the tool needs.
    pub fn variables(&self) -> &[VariableNeed] {
        match self.own() {
            Own::Static(def) => def.variables,
            Own::Dynamic(def) => &def.variables,
        }
    }

    /// Returns the effect of the tool.
    pub fn effect(&self) -> Effect {
        match self.own() {
            Own::Static(def) => def.effect,
            Own::Dynamic(def) => def.effect,
        }
    }

    /// Returns the annotations for MCP clients.
    pub fn hints(&self) -> Hints {
        match self.own() {
            Own::Static(def) => def.spec.hints,
            Own::Dynamic(def) => def.hints,
        }
    }

    /// Returns when the tool requires a person to approve a call.
    pub fn approval(&self) -> Approval {
        match self.own() {
            Own::Static(def) => def.approval,
            Own::Dynamic(def) => def.approval,
        }
    }

    /// Returns the time limit of a call.
    pub fn timeout(&self) -> Option<Duration> {
        match self.own() {
            Own::Static(def) => def.timeout,
            Own::Dynamic(def) => def.timeout,
        }
    }

    /// Returns whether the tool never runs in parallel with another call.
    pub fn is_sequential(&self) -> bool {
        match self.own() {
            Own::Static(def) => def.sequential,
            Own::Dynamic(def) => def.sequential,
        }
    }

    /// Returns the check of the results that a client sends for its tool; `None` for a tool that the host runs.
    #[cfg(feature = "host")]
    pub(crate) fn client_promise(&self) -> Option<&OutputCheck> {
        match self.own() {
            Own::Static(_) => None,
            Own::Dynamic(def) => def.promise.as_ref().filter(|_| def.client),
        }
    }

    /// Returns the check of a client's calls that its schemas cannot express.
    #[cfg(feature = "host")]
    pub(crate) fn client_check(&self) -> Option<&dyn ClientCheck> {
        match self.own() {
            Own::Static(_) => None,
            Own::Dynamic(def) => def.client_check.as_deref().filter(|_| def.client),
        }
    }

    /// Returns whether the client runs the tool: see [`DynamicTool::client`](crate::DynamicTool::client).
    pub fn is_client(&self) -> bool {
        match self.own() {
            Own::Static(_) => false,
            Own::Dynamic(def) => def.client,
        }
    }

    /// Returns the user that calls act as, instead of the user of the context.
    pub(crate) fn acts_as(&self) -> Option<&ActsAs> {
        match self.own() {
            Own::Static(_) => None,
            Own::Dynamic(def) => def.acts_as.as_ref(),
        }
    }

    /// Returns whether the tool was created at run time.
    pub fn is_dynamic(&self) -> bool {
        matches!(self.own(), Own::Dynamic(_))
    }

    /// Returns whether the tool is only listed, and the host builds it for each turn. A call of the listed tool fails as unavailable.
    pub fn is_meta(&self) -> bool {
        match self.own() {
            Own::Static(_) => false,
            Own::Dynamic(def) => def.meta,
        }
    }

    /// Returns whether the tool was created as an [`AgentTool`](crate::AgentTool), which calls another agent.
    pub fn calls_agent(&self) -> bool {
        match self.own() {
            Own::Static(_) => false,
            Own::Dynamic(def) => def.origin.starts_with("agent:"),
        }
    }

    /// Returns whether the tool has no effect except through the calls that it makes, so that it runs again from its beginning after one of them was
    /// approved: a `#[tool]` whose only host values that can change something are [`Uses`](crate::Uses), or a
    /// [`DynamicTool::only_calls`](crate::DynamicTool::only_calls).
    pub fn only_calls(&self) -> bool {
        match self.own() {
            Own::Static(def) => def.only_calls,
            Own::Dynamic(def) => def.only_calls,
        }
    }

    /// Returns whether a repeated call continues what an earlier run of the call has begun: see
    /// [`DynamicTool::continues`](crate::DynamicTool::continues).
    pub fn continues(&self) -> bool {
        match self.own() {
            Own::Static(_) => false,
            Own::Dynamic(def) => def.continues,
        }
    }

    /// Returns whether a call may run any number of times. The effect ledger has a row of such a call only if a person has approved the call.
    #[cfg(feature = "host")]
    pub(crate) fn may_always_run_again(&self) -> bool {
        self.hints().read_only || self.continues()
    }

    /// Returns whether the tool is part of the *harness*, the tools that the host itself uses to control a conversation. The kind of turn
    /// ([`Runtime`](crate::Runtime)) decides whether such a tool is available. Enablement rows do not affect it.
    pub fn is_harness(&self) -> bool {
        match self.own() {
            Own::Static(def) => def.harness,
            Own::Dynamic(def) => def.harness,
        }
    }

    /// Returns the limit of the output in bytes.
    pub fn output_limit(&self) -> Option<usize> {
        match self.own() {
            Own::Static(def) => def.output_limit,
            Own::Dynamic(def) => def.output_limit,
        }
    }

    /// Returns the place in the source where the tool was written; `None` for a tool created at run time.
    pub fn origin(&self) -> Option<Origin> {
        match self.own() {
            Own::Static(def) => Some(def.origin),
            Own::Dynamic(_) => None,
        }
    }

    /// Returns the origin of the tool as text.
    pub(crate) fn origin_text(&self) -> String {
        match self.own() {
            Own::Static(def) => def.origin.to_string(),
            Own::Dynamic(def) => def.origin.clone(),
        }
    }

    /// Returns the facts of the tool that count towards the limits of a request. The name is empty for tools that are renamed or created at run time, because it
    /// is not static.
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

    /// Returns the example calls of a linked tool. Empty for a tool created at run time, whose examples are only in the text of its definitions.
    pub fn examples(&self) -> &'static [ToolExample] {
        match self.own() {
            Own::Static(def) => def.spec.examples,
            Own::Dynamic(_) => &[],
        }
    }

    /// Returns the schema of the arguments that a model fills in. For a [non-strict](crate::DynamicTool::non_strict) tool whose JSON Schema this
    /// crate cannot read, it is the schema of an object with any keys.
    pub fn input(&self) -> &'static Schema {
        match self.own() {
            Own::Static(def) => def.spec.input,
            Own::Dynamic(def) => def.input,
        }
    }

    /// Implements [`ToolDef::start`](super::ToolDef::start) for linked and dynamic tools.
    pub(super) fn begin(&self, entry: &mut dyn Entry, ticket: Ticket) -> Result<Job, NotBegun> {
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
