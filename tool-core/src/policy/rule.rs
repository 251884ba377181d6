//! One policy rule: the calls that it matches, and its verdict.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::condition::{Answer, Arguments, Condition};
use super::glob::Glob;
use crate::effect::Effect;
use crate::tool::ToolDef;

/// The verdict of a rule, or the default of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyVerdict {
    /// The call may run.
    #[default]
    Allow,
    /// The call is refused.
    Deny,
    /// A person has to approve the call.
    Ask,
}

impl PolicyVerdict {
    /// Returns the name of the verdict in stores and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }

    /// Returns the position in the evaluation order: deny, then ask, then allow.
    pub(crate) const fn rank(self) -> u8 {
        match self {
            Self::Deny => 0,
            Self::Ask => 1,
            Self::Allow => 2,
        }
    }
}

impl fmt::Display for PolicyVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An effect's name in policy files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EffectName {
    Read,
    Write,
    Destroy,
    External,
}

impl EffectName {
    const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Destroy, Self::External];

    fn effect(self) -> Effect {
        match self {
            Self::Read => Effect::READ,
            Self::Write => Effect::WRITE,
            Self::Destroy => Effect::DESTROY,
            Self::External => Effect::EXTERNAL,
        }
    }
}

/// A policy rule. It matches every call until a method narrows it. All stated criteria must match; a criterion with several patterns
/// matches if one of its patterns matches.
///
/// ```
/// use tool_core::Effect;
/// use tool_core::policy::{Condition, Rule};
///
/// let rule = Rule::ask("outside-tmp")
///     .tools(["write_file", "delete_*"])
///     .effects(Effect::WRITE)
///     .when(Condition::new("/path").glob("/srv/*"))
///     .four_eyes()
///     .reason("changes what customers see");
/// assert_eq!(rule.name(), "outside-tmp");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    name: String,
    verdict: PolicyVerdict,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Glob>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    categories: Vec<Glob>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<Glob>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    effects: Vec<EffectName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    crates: Vec<Glob>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    origins: Vec<Glob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dynamic: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tenants: Vec<Glob>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    principals: Vec<Glob>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    agents: Vec<Glob>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    when: Vec<Condition>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    four_eyes: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn globs<G: Into<Glob>>(list: &mut Vec<Glob>, more: impl IntoIterator<Item = G>) {
    list.extend(more.into_iter().map(Into::into));
}

fn any_fits(globs: &[Glob], name: &str) -> bool {
    globs.is_empty() || globs.iter().any(|glob| glob.matches(name))
}

impl Rule {
    fn of(name: impl Into<String>, verdict: PolicyVerdict) -> Self {
        Self {
            name: name.into(),
            verdict,
            tools: Vec::new(),
            categories: Vec::new(),
            tags: Vec::new(),
            effects: Vec::new(),
            crates: Vec::new(),
            origins: Vec::new(),
            dynamic: None,
            tenants: Vec::new(),
            principals: Vec::new(),
            agents: Vec::new(),
            when: Vec::new(),
            four_eyes: false,
            reason: None,
        }
    }

    /// Creates a rule that allows calls. Rule names must be unique within a policy.
    #[must_use]
    pub fn allow(name: impl Into<String>) -> Self {
        Self::of(name, PolicyVerdict::Allow)
    }

    /// Creates a rule that refuses calls.
    #[must_use]
    pub fn deny(name: impl Into<String>) -> Self {
        Self::of(name, PolicyVerdict::Deny)
    }

    /// Creates a rule that requires an approval by a person.
    #[must_use]
    pub fn ask(name: impl Into<String>) -> Self {
        Self::of(name, PolicyVerdict::Ask)
    }

    /// Matches tools by their own names and aliases, even if a toolset renames them.
    #[must_use]
    pub fn tools<G: Into<Glob>>(mut self, names: impl IntoIterator<Item = G>) -> Self {
        globs(&mut self.tools, names);
        self
    }

    /// Matches tools of these categories.
    #[must_use]
    pub fn categories<G: Into<Glob>>(mut self, names: impl IntoIterator<Item = G>) -> Self {
        globs(&mut self.categories, names);
        self
    }

    /// Matches tools that have one of these tags.
    #[must_use]
    pub fn tags<G: Into<Glob>>(mut self, names: impl IntoIterator<Item = G>) -> Self {
        globs(&mut self.tags, names);
        self
    }

    /// Matches tools that have one of these effects.
    #[must_use]
    pub fn effects(mut self, effects: Effect) -> Self {
        let stated = EffectName::ALL.into_iter();
        self.effects
            .extend(stated.filter(|word| effects.contains(word.effect())));
        self
    }

    /// Matches tools that were written in these crates. A dynamic tool has no crate.
    #[must_use]
    pub fn crates<G: Into<Glob>>(mut self, names: impl IntoIterator<Item = G>) -> Self {
        globs(&mut self.crates, names);
        self
    }

    /// Matches tools by origin: the module of a linked tool, or the declared origin of a dynamic tool (`agent:<slug>`, or a server's name).
    #[must_use]
    pub fn origins<G: Into<Glob>>(mut self, names: impl IntoIterator<Item = G>) -> Self {
        globs(&mut self.origins, names);
        self
    }

    /// Matches only dynamic tools (`true`), or only linked tools (`false`).
    #[must_use]
    pub fn dynamic(mut self, dynamic: bool) -> Self {
        self.dynamic = Some(dynamic);
        self
    }

    /// Matches calls of these tenants.
    #[must_use]
    pub fn tenants<G: Into<Glob>>(mut self, names: impl IntoIterator<Item = G>) -> Self {
        globs(&mut self.tenants, names);
        self
    }

    /// Matches calls on behalf of these users.
    #[must_use]
    pub fn principals<G: Into<Glob>>(mut self, names: impl IntoIterator<Item = G>) -> Self {
        globs(&mut self.principals, names);
        self
    }

    /// Matches calls by these agents.
    #[must_use]
    pub fn agents<G: Into<Glob>>(mut self, names: impl IntoIterator<Item = G>) -> Self {
        globs(&mut self.agents, names);
        self
    }

    /// Adds a condition on the arguments. All conditions must hold. If no condition is false and one cannot be evaluated, the rule
    /// fails: a failed deny rule denies, and a failed ask or allow rule asks.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.when.push(condition);
        self
    }

    /// Requires that the approver is not the requester. Only valid for ask rules.
    #[must_use]
    pub fn four_eyes(mut self) -> Self {
        self.four_eyes = true;
        self
    }

    /// Sets the reason, for people. A model whose call is denied reads it, too.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Returns the name of the rule.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the verdict of the rule.
    pub fn verdict(&self) -> PolicyVerdict {
        self.verdict
    }

    /// Returns the reason that the rule states.
    pub fn stated_reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    pub(super) fn needs_four_eyes(&self) -> bool {
        self.four_eyes
    }

    pub(super) fn conditions(&self) -> &[Condition] {
        &self.when
    }

    pub(super) fn is_conditional(&self) -> bool {
        !self.when.is_empty()
    }

    /// Returns the tool names that the rule states without `*` and `?`.
    fn stated_tools(&self) -> impl Iterator<Item = &str> {
        let literal = self.tools.iter().filter(|glob| glob.is_literal());
        literal.map(Glob::as_str)
    }

    /// Returns the tool names that the rule states without `*` and `?`, each with its place for reports.
    pub(super) fn placed_tools(&self) -> impl Iterator<Item = (&str, String)> {
        self.stated_tools()
            .map(|name| (name, format!("rule `{}`", self.name)))
    }

    /// Returns the patterns for tenants, principals and agents. An empty list matches all.
    pub(super) fn subjects(&self) -> [&[Glob]; 3] {
        [&self.tenants, &self.principals, &self.agents]
    }

    /// Returns whether the rule can match calls of this tool.
    pub(crate) fn is_about(&self, def: &ToolDef) -> bool {
        let origin = def.origin();
        def.names().any(|name| any_fits(&self.tools, name))
            && any_fits(&self.categories, def.category())
            && (self.tags.is_empty() || def.tags().any(|tag| any_fits(&self.tags, tag)))
            && (self.effects.is_empty()
                || self
                    .effects
                    .iter()
                    .any(|word| def.effect().contains(word.effect())))
            && self
                .dynamic
                .is_none_or(|dynamic| dynamic == origin.is_none())
            && (self.crates.is_empty()
                || origin.is_some_and(|origin| any_fits(&self.crates, origin.krate)))
            && (self.origins.is_empty() || {
                let origin = origin.map_or_else(
                    || Cow::Owned(def.origin_text()),
                    |origin| Cow::Borrowed(origin.module),
                );
                any_fits(&self.origins, &origin)
            })
    }

    /// Returns whether the rule can match calls of this caller.
    pub(super) fn is_for(&self, tenant: &str, principal: &str, agent: Option<&str>) -> bool {
        any_fits(&self.tenants, tenant)
            && any_fits(&self.principals, principal)
            && (self.agents.is_empty() || agent.is_some_and(|agent| any_fits(&self.agents, agent)))
    }

    /// Returns whether all conditions hold. The error is the index of the first condition that failed.
    pub(super) fn holds(&self, arguments: &Arguments<'_>) -> Result<bool, usize> {
        let mut failed = None;
        for (at, condition) in self.when.iter().enumerate() {
            match condition.ask(arguments) {
                Answer::Yes => {}
                Answer::No => return Ok(false),
                Answer::Failed => failed = failed.or(Some(at)),
            }
        }
        failed.map_or(Ok(true), Err)
    }

    /// Describes the faults of the rule itself.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self.when.iter().filter_map(Condition::fault).collect();
        if self.name.is_empty() {
            faults.push("it has no name, give it one that people can look up".to_owned());
        }
        if self.four_eyes && self.verdict != PolicyVerdict::Ask {
            faults.push(format!(
                "`four_eyes` restricts who may approve, but the verdict of the rule is `{}`: make it an `ask` rule",
                self.verdict
            ));
        }
        let lists = [
            ("tools", &self.tools),
            ("categories", &self.categories),
            ("tags", &self.tags),
            ("crates", &self.crates),
            ("origins", &self.origins),
            ("tenants", &self.tenants),
            ("principals", &self.principals),
            ("agents", &self.agents),
        ];
        for (key, list) in lists {
            if list.iter().any(|glob| glob.as_str().is_empty()) {
                faults.push(format!(
                    "`{key}` contains an empty name, write a name or `*`"
                ));
            }
        }
        faults
    }
}
