//! Policies: rules that allow, deny or ask for approval of a call.
//!
//! A [`Policy`] is a list of [`Rule`]s. Deny rules are checked first, then ask rules, then allow rules, each group in the order written.
//! If no rule matches, the policy's default decides. [`SharedPolicy`] is the policy in force: a host can replace it, try a second
//! policy in shadow mode, and switch tools off.
//!
//! ```
//! use tool_core::policy::{Condition, Policy, PolicyVerdict, PolicyRequest, Rule};
//! use tool_core::prelude::*;
//!
//! /// Removes a file from disk.
//! #[tool(destructive)]
//! fn remove_file(
//!     /// The path of the file.
//!     path: String,
//! ) -> String {
//!     path
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Policy::builder()
//!     .rule(Rule::deny("system-files").tools(["*_file"]).when(Condition::new("/path").prefix("/etc/")))
//!     .rule(Rule::ask("removals").tools(["remove_*"]).reason("cannot be undone"))
//!     .build()?;
//! let judge = |arguments| {
//!     let tool = &<remove_file as Tool>::DEF;
//!     policy.decide(&PolicyRequest { tool, tenant: "acme", principal: "u-17", agent: None, arguments })
//! };
//! assert_eq!(judge(r#"{"path":"/etc/passwd"}"#).verdict, PolicyVerdict::Deny);
//! let asked = judge(r#"{"path":"/tmp/x"}"#);
//! assert_eq!(asked.verdict, PolicyVerdict::Ask);
//! assert!(policy.explain(&asked.id).is_some_and(|text| text.contains("rule `removals` matched")));
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::tool::ToolDef;

mod compiled;
mod condition;
mod decision;
mod file;
mod glob;
pub(crate) mod lists;
mod report;
mod rule;
mod shared;

use crate::decision::Cause;
use condition::Arguments;
use lists::ToolLists;

pub use crate::decision::{DecisionId, DecisionIdError};
pub(crate) use compiled::Compiled;
pub use condition::{Condition, Place};
pub use decision::{Decision, PolicyRequest};
pub use file::{AgentLists, PolicyFile, Reloaded};
pub use glob::Glob;
pub use report::{EarlierName, PolicyReport, UnapprovedTool, UnknownTool};
pub(crate) use report::{Known, OtherNames};
pub use rule::{PolicyVerdict, Rule};
pub(crate) use shared::State as PolicyState;
pub use shared::{Difference, ShadowReport, SharedPolicy};

/// Maximum number of rules of a policy.
const MOST_RULES: usize = u16::MAX as usize;

/// An immutable set of checked rules, in the order in which they are evaluated.
#[derive(Debug)]
pub struct Policy {
    /// Sorted by verdict: deny, ask, allow.
    rules: Vec<Rule>,
    /// Names and reasons of the rules, by the same index.
    texts: Vec<(Arc<str>, Option<Arc<str>>)>,
    default: PolicyVerdict,
    global: ToolLists,
    agents: BTreeMap<String, ToolLists>,
    version: Arc<str>,
    hash: u64,
}

/// Builder of a [`Policy`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct PolicyBuilder {
    rules: Vec<Rule>,
    default: PolicyVerdict,
    global: ToolLists,
    agents: BTreeMap<String, ToolLists>,
}

impl PolicyBuilder {
    /// Adds a rule after the rules that were added before.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds several rules, in the order of the iterator.
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Sets the verdict if no rule matches; defaults to [`PolicyVerdict::Allow`].
    pub fn otherwise(mut self, verdict: PolicyVerdict) -> Self {
        self.default = verdict;
        self
    }

    /// Sets the allow and deny lists for all agents.
    pub fn global(mut self, lists: ToolLists) -> Self {
        self.global = lists;
        self
    }

    /// Sets the allow and deny lists of one agent. They replace the lists that were set for this agent before.
    pub fn agent(mut self, agent: impl Into<String>, lists: ToolLists) -> Self {
        self.agents.insert(agent.into(), lists);
        self
    }

    /// Builds the policy. The error lists every fault.
    pub fn build(self) -> Result<Policy, PolicyError> {
        let Self {
            mut rules,
            default,
            global,
            agents,
        } = self;
        let mut faults = Vec::new();
        if rules.len() > MOST_RULES {
            faults.push(format!(
                "there are {} rules and at most {MOST_RULES} are allowed",
                rules.len()
            ));
        }
        let mut names: Vec<&str> = Vec::new();
        for rule in &rules {
            faults.extend(
                rule.faults()
                    .iter()
                    .map(|fault| format!("rule `{}`: {fault}", rule.name())),
            );
            names.push(rule.name());
        }
        names.sort_unstable();
        for pair in names.windows(2) {
            if pair[0] == pair[1] {
                faults.push(format!("two rules are named `{}`, rename one", pair[0]));
            }
        }
        if !faults.is_empty() {
            return Err(PolicyError(faults));
        }
        rules.sort_by_key(|rule| rule.verdict().rank());
        let hash = content_hash(&Content {
            rules: &rules,
            default,
            global: &global,
            agents: &agents,
        })?;
        let short = (hash >> 64) as u64;
        Ok(Policy {
            texts: rules
                .iter()
                .map(|rule| (Arc::from(rule.name()), rule.stated_reason().map(Arc::from)))
                .collect(),
            rules,
            default,
            global,
            agents,
            version: format!("{hash:032x}").into(),
            hash: short,
        })
    }
}

/// The contents that a policy's version is computed from.
#[derive(Serialize)]
struct Content<'a> {
    rules: &'a [Rule],
    default: PolicyVerdict,
    global: &'a ToolLists,
    agents: &'a BTreeMap<String, ToolLists>,
}

/// Returns the FNV-1a hash of a policy's contents as JSON. The hash distinguishes the versions that operators write; it does not protect
/// against deliberate collisions.
fn content_hash(content: &Content<'_>) -> Result<u128, PolicyError> {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let text = serde_json::to_vec(content).map_err(|error| PolicyError(vec![error.to_string()]))?;
    Ok(text.iter().fold(OFFSET, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
    }))
}

/// The rules of a policy that can match a tool, in evaluation order, so that a call checks only these.
#[derive(Clone, Debug)]
pub(crate) struct Candidates {
    policy: u64,
    rules: Box<[u16]>,
}

impl Candidates {
    pub(crate) fn rules(&self) -> impl Iterator<Item = usize> {
        self.rules.iter().map(|rule| usize::from(*rule))
    }
}

/// The possible verdicts of a policy for a tool.
pub(crate) struct PossibleVerdicts {
    /// Whether the policy may ask for an approval.
    pub(crate) asks: bool,
    /// Whether a rule may decide instead of the default. A conditional deny rule alone does not count.
    pub(crate) rule: bool,
}

impl Policy {
    /// Starts a policy without rules.
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder::default()
    }

    /// Returns a hash of the policy's contents, so that equal policies have equal versions; `none` for the policy of [`SharedPolicy::default`].
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the rules in evaluation order: deny, ask, allow, each group in the order written.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the verdict if no rule matches.
    pub fn default_verdict(&self) -> PolicyVerdict {
        self.default
    }

    /// Returns a policy that allows every call.
    pub(crate) fn anything() -> Self {
        Self {
            rules: Vec::new(),
            texts: Vec::new(),
            default: PolicyVerdict::Allow,
            global: ToolLists::default(),
            agents: BTreeMap::new(),
            version: Arc::from("none"),
            hash: 0,
        }
    }

    /// Returns the allow and deny lists for all agents.
    pub fn global_lists(&self) -> &ToolLists {
        &self.global
    }

    /// Returns the allow and deny lists of one agent, if the policy has any.
    pub fn agent_lists(&self, agent: Option<&str>) -> Option<&ToolLists> {
        self.agents.get(agent?)
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// Decides about a call.
    ///
    /// A matching deny rule denies the call. Otherwise a matching ask rule asks for an approval. Otherwise the first matching allow rule
    /// allows the call. Otherwise the default decides. A rule with a failed condition never allows: see [`Rule::when`].
    pub fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
        let about = self
            .rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.is_about(request.tool));
        self.judge(about, request)
    }

    /// Decides as [`decide`](Policy::decide) does, for a tool whose candidate rules are known. If the candidates belong to a different policy, they
    /// are not used.
    pub(crate) fn decide_among(
        &self,
        candidates: &Candidates,
        request: &PolicyRequest<'_>,
    ) -> Decision {
        if candidates.policy != self.hash {
            return self.decide(request);
        }
        let rules = candidates.rules.iter().map(|rule| usize::from(*rule));
        self.judge(
            rules.filter_map(|rule| Some((rule, self.rules.get(rule)?))),
            request,
        )
    }

    /// Returns the rules that can match a tool.
    pub(crate) fn candidates(&self, def: &ToolDef) -> Candidates {
        Candidates {
            policy: self.hash,
            rules: self.about(def).collect(),
        }
    }

    fn about(&self, def: &ToolDef) -> impl Iterator<Item = u16> {
        let about = self
            .rules
            .iter()
            .zip(0..)
            .filter(|(rule, _)| rule.is_about(def));
        about.map(|(_, number)| number)
    }

    /// Decides by the first rule that applies, because the rules are sorted by deny, ask, allow. If that rule asks, each of the
    /// ask rules that apply can require four eyes.
    fn judge<'a>(
        &'a self,
        rules: impl Iterator<Item = (usize, &'a Rule)>,
        request: &PolicyRequest<'_>,
    ) -> Decision {
        let arguments = Arguments::new(request.arguments);
        let mut rules =
            rules.filter(|(_, rule)| rule.is_for(request.tenant, request.principal, request.agent));
        while let Some((number, rule)) = rules.next() {
            let number16 = u16::try_from(number).unwrap_or(u16::MAX);
            let (verdict, cause) = match rule.holds(&arguments) {
                Ok(false) => continue,
                Ok(true) => (rule.verdict(), Cause::Matched(number16)),
                Err(condition) => (
                    match rule.verdict() {
                        PolicyVerdict::Deny => PolicyVerdict::Deny,
                        PolicyVerdict::Ask | PolicyVerdict::Allow => PolicyVerdict::Ask,
                    },
                    Cause::Failed(number16, u16::try_from(condition).unwrap_or(u16::MAX)),
                ),
            };
            let (name, reason) = &self.texts[number];
            // An ask rule with a failed condition still asks, so it may require four eyes as well. Only ask rules can require four eyes.
            let four_eyes = verdict == PolicyVerdict::Ask
                && (rule.needs_four_eyes()
                    || rules.any(|(_, rule)| {
                        rule.needs_four_eyes() && rule.holds(&arguments) != Ok(false)
                    }));
            return Decision {
                verdict,
                id: DecisionId::new(self.hash, cause),
                rule: Some(Arc::clone(name)),
                reason: reason.clone(),
                four_eyes,
                policy: Arc::clone(&self.version),
            };
        }
        self.without_rule(self.default, Cause::Default, None)
    }

    fn without_rule(
        &self,
        verdict: PolicyVerdict,
        cause: Cause,
        reason: Option<Arc<str>>,
    ) -> Decision {
        Decision {
            verdict,
            id: DecisionId::new(self.hash, cause),
            rule: None,
            reason,
            four_eyes: false,
            policy: Arc::clone(&self.version),
        }
    }

    /// Returns the verdicts that are possible for calls of a tool by this caller, over all arguments.
    pub(crate) fn may_say(
        &self,
        def: &ToolDef,
        tenant: &str,
        principal: &str,
        agent: Option<&str>,
    ) -> PossibleVerdicts {
        let about = self.rules.iter().filter(|rule| rule.is_about(def));
        for rule in about.filter(|rule| rule.is_for(tenant, principal, agent)) {
            let (asks, settles) = match rule.verdict() {
                PolicyVerdict::Deny => (false, !rule.is_conditional()),
                PolicyVerdict::Ask => (true, true),
                // An allow rule with a failed condition asks.
                PolicyVerdict::Allow => (rule.is_conditional(), true),
            };
            if settles {
                return PossibleVerdicts { asks, rule: true };
            }
        }
        PossibleVerdicts {
            asks: self.default == PolicyVerdict::Ask,
            rule: false,
        }
    }

    /// Returns the indices of the unconditional deny rules that apply to this caller. Such a rule refuses every call of the tools that it matches, so
    /// these tools are hidden.
    pub(crate) fn flat_denials(
        &self,
        tenant: &str,
        principal: &str,
        agent: Option<&str>,
    ) -> impl Iterator<Item = usize> {
        let denials = self.rules.iter().enumerate();
        denials
            .take_while(|(_, rule)| rule.verdict() == PolicyVerdict::Deny)
            .filter(move |(_, rule)| {
                !rule.is_conditional() && rule.is_for(tenant, principal, agent)
            })
            .map(|(number, _)| number)
    }

    /// Returns whether an unconditional deny rule refuses every call of a tool by this caller.
    pub(crate) fn forbids(
        &self,
        def: &ToolDef,
        tenant: &str,
        principal: &str,
        agent: Option<&str>,
    ) -> bool {
        self.flat_denials(tenant, principal, agent)
            .any(|number| self.rules[number].is_about(def))
    }

    /// Explains a decision for operators; `None` if a different policy made it.
    pub fn explain(&self, id: &DecisionId) -> Option<String> {
        if id.policy != self.hash {
            return None;
        }
        let version = &self.version;
        Some(match id.cause {
            Cause::Default => format!(
                "no rule matched, the policy's default is `{}` (policy {version})",
                self.default
            ),
            Cause::Killed => format!("the tool was switched off for the tenant (policy {version})"),
            Cause::Matched(number) => {
                let rule = self.rules.get(usize::from(number))?;
                let mut text = format!(
                    "rule `{}` matched, and its verdict is `{}`",
                    rule.name(),
                    rule.verdict()
                );
                for (i, condition) in rule.conditions().iter().enumerate() {
                    text.push_str(if i == 0 { ": " } else { ", " });
                    text.push_str(&condition.to_string());
                }
                with_reason(text, rule, version)
            }
            Cause::Failed(number, condition) => {
                let rule = self.rules.get(usize::from(number))?;
                let condition = rule.conditions().get(usize::from(condition))?;
                let text = format!(
                    "the verdict of rule `{}` is `{}`, and whether {condition} could not be decided from the arguments, so the call was {}",
                    rule.name(),
                    rule.verdict(),
                    if rule.verdict() == PolicyVerdict::Deny {
                        "denied"
                    } else {
                        "sent to a person for approval"
                    }
                );
                with_reason(text, rule, version)
            }
        })
    }
}

fn with_reason(mut text: String, rule: &Rule, version: &str) -> String {
    if let Some(reason) = rule.stated_reason() {
        text.push_str("; reason: ");
        text.push_str(reason);
    }
    text + &format!(" (policy {version})")
}

/// Error of reading or building a policy. It displays every fault on its own line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError(Vec<String>);

impl PolicyError {
    /// Returns every fault of the policy.
    pub fn faults(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for PolicyError {}

#[cfg(test)]
mod tests;
