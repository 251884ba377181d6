//! What a call may do, by rules that can be read, reported on and looked up.
//!
//! A [`Policy`] is a list of [`Rule`]s: deny first, then ask, then allow, each in the order written; where none speaks, the
//! policy's default does. [`SharedPolicy`] is the one in force: it can be replaced, tried in the shadow, and has a kill switch.
//!
//! ```
//! use tool_core::policy::{Condition, Policy, PolicyVerdict, Request, Rule};
//! use tool_core::prelude::*;
//!
//! /// Removes a file.
//! #[tool(destructive)]
//! fn remove_file(
//!     /// Where it lies.
//!     path: String,
//! ) -> String {
//!     path
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Policy::builder()
//!     .rule(Rule::deny("system-files").tools(["*_file"]).when(Condition::new("/path").prefix("/etc/")))
//!     .rule(Rule::ask("removals").tools(["remove_*"]).reason("cannot be had back"))
//!     .build()?;
//! let judge = |arguments| {
//!     let tool = &<remove_file as Tool>::DEF;
//!     policy.decide(&Request { tool, tenant: "acme", principal: "u-17", agent: None, arguments })
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

use super::lists::Lists;
use crate::tool::ToolDef;

mod condition;
mod decision;
mod file;
mod glob;
mod report;
mod rule;
mod shared;

use condition::Arguments;
use decision::Cause;

pub use condition::{Condition, Place};
pub use decision::{Decision, DecisionId, NotAnId, Request};
pub use file::{AgentLists, PolicyFile, Reloaded};
pub use glob::Glob;
pub use report::{PolicyReport, Reachable, Unknown};
pub use rule::{PolicyVerdict, Rule};
pub(crate) use shared::State as PolicyState;
pub use shared::{Difference, ShadowReport, SharedPolicy};

/// Most rules that a policy may have.
const MOST_RULES: usize = u16::MAX as usize;

/// Rules, checked and put in the order in which they speak. It never changes.
#[derive(Debug)]
pub struct Policy {
    /// Deny, ask, allow.
    rules: Vec<Rule>,
    /// Names and reasons of the same.
    texts: Vec<(Arc<str>, Option<Arc<str>>)>,
    default: PolicyVerdict,
    global: Lists,
    agents: BTreeMap<String, Lists>,
    version: Arc<str>,
    hash: u64,
}

/// Makes a [`Policy`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct PolicyBuilder {
    rules: Vec<Rule>,
    default: PolicyVerdict,
    global: Lists,
    agents: BTreeMap<String, Lists>,
}

impl PolicyBuilder {
    /// Adds a rule.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds rules.
    pub fn rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// What holds where no rule speaks; [`PolicyVerdict::Allow`] where nothing is said.
    pub fn otherwise(mut self, verdict: PolicyVerdict) -> Self {
        self.default = verdict;
        self
    }

    /// Which tools anybody may use.
    pub fn global(mut self, lists: Lists) -> Self {
        self.global = lists;
        self
    }

    /// Which tools an agent may use.
    pub fn agent(mut self, agent: impl Into<String>, lists: Lists) -> Self {
        self.agents.insert(agent.into(), lists);
        self
    }

    /// The policy, or everything that is wrong with it.
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
                "there are {} rules and at most {MOST_RULES} are possible",
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
                .map(|rule| (Arc::from(rule.name()), rule.why().map(Arc::from)))
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

/// What makes up a policy's version.
#[derive(Serialize)]
struct Content<'a> {
    rules: &'a [Rule],
    default: PolicyVerdict,
    global: &'a Lists,
    agents: &'a BTreeMap<String, Lists>,
}

/// FNV-1a over the rules as JSON. It tells versions apart that operators write; it is no defence against one made to collide.
fn content_hash(content: &Content<'_>) -> Result<u128, PolicyError> {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let text = serde_json::to_vec(content).map_err(|error| PolicyError(vec![error.to_string()]))?;
    Ok(text.iter().fold(OFFSET, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
    }))
}

/// Which rules of a policy can be about a tool, in the order in which they speak: what remains to be asked at each call.
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

/// What a policy may say about a tool.
pub(crate) struct MaySay {
    /// It may ask.
    pub(crate) asks: bool,
    /// A rule speaks, not the default.
    pub(crate) rule: bool,
}

impl Policy {
    /// Starts a policy.
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder::default()
    }

    /// A hash of what it says: the same rules have the same version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The rules, in the order in which they speak: deny, ask, allow, each as it was written.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What holds where no rule speaks.
    pub fn default_verdict(&self) -> PolicyVerdict {
        self.default
    }

    /// The one that allows everything.
    pub(crate) fn anything() -> Self {
        Self {
            rules: Vec::new(),
            texts: Vec::new(),
            default: PolicyVerdict::Allow,
            global: Lists::default(),
            agents: BTreeMap::new(),
            version: Arc::from("none"),
            hash: 0,
        }
    }

    /// Which tools anybody may use.
    pub fn global_lists(&self) -> &Lists {
        &self.global
    }

    /// Which tools an agent may use, where the policy says so.
    pub fn agent_lists(&self, agent: Option<&str>) -> Option<&Lists> {
        self.agents.get(agent?)
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// What it says about a call.
    ///
    /// A deny rule that matches denies. Else an ask rule that matches asks. Else the first allow rule that matches allows. Else
    /// the default holds. A rule whose condition fails never allows: see [`Rule::when`].
    pub fn decide(&self, request: &Request<'_>) -> Decision {
        let about = self
            .rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.is_about(request.tool));
        self.judge(about, request)
    }

    /// The same for a tool whose rules are known already.
    pub(crate) fn decide_among(&self, candidates: &Candidates, request: &Request<'_>) -> Decision {
        if candidates.policy != self.hash {
            return self.decide(request);
        }
        let rules = candidates.rules.iter().map(|rule| usize::from(*rule));
        self.judge(
            rules.filter_map(|rule| Some((rule, self.rules.get(rule)?))),
            request,
        )
    }

    /// Which rules can be about a tool.
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

    /// The first rule that applies decides: they come as deny, ask, allow. Where it asks, each ask rule that applies may require four
    /// eyes.
    fn judge<'a>(
        &'a self,
        rules: impl Iterator<Item = (usize, &'a Rule)>,
        request: &Request<'_>,
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
            // A condition that fails asks, so its rule requires four eyes as well. Only ask rules have four eyes.
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

    /// What it may say about calls of a tool by these people, whatever the arguments.
    pub(crate) fn may_say(
        &self,
        def: &ToolDef,
        tenant: &str,
        principal: &str,
        agent: Option<&str>,
    ) -> MaySay {
        let about = self.rules.iter().filter(|rule| rule.is_about(def));
        for rule in about.filter(|rule| rule.is_for(tenant, principal, agent)) {
            let (asks, settles) = match rule.verdict() {
                PolicyVerdict::Deny => (false, !rule.is_conditional()),
                PolicyVerdict::Ask => (true, true),
                // A condition that fails asks.
                PolicyVerdict::Allow => (rule.is_conditional(), true),
            };
            if settles {
                return MaySay { asks, rule: true };
            }
        }
        MaySay {
            asks: self.default == PolicyVerdict::Ask,
            rule: false,
        }
    }

    /// Deny rules that refuse every call of these people, whatever the arguments: their tools need not be shown.
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

    /// The same for one tool.
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

    /// Why a decision of this policy came out as it did, for operators; `None` if another policy made it.
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
                    "rule `{}` matched and says `{}`",
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
                    "rule `{}` says `{}`, and whether {condition} could not be told from the arguments, so the call was {}",
                    rule.name(),
                    rule.verdict(),
                    if rule.verdict() == PolicyVerdict::Deny {
                        "denied"
                    } else {
                        "put to a person"
                    }
                );
                with_reason(text, rule, version)
            }
        })
    }
}

fn with_reason(mut text: String, rule: &Rule, version: &str) -> String {
    if let Some(reason) = rule.why() {
        text.push_str("; reason: ");
        text.push_str(reason);
    }
    text + &format!(" (policy {version})")
}

/// Why there is no policy; every fault, one a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError(pub(super) Vec<String>);

impl PolicyError {
    /// What is wrong, one by one.
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
