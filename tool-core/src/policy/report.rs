//! Static report on a policy: gaps and unused rules that can be found without a call.

use std::fmt;

use super::glob::Glob;
use super::rule::Rule;
use super::{Policy, PolicyVerdict};
use crate::args::nearest;
use crate::effect::Effect;
use crate::tool::{Approval, ToolDef};

/// Maximum number of similar names for an unknown name.
const MOST_NEAR: usize = 3;

/// Gaps and unused rules of a policy, returned by [`Policy::report`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyReport {
    /// Tools that no rule can match: the policy's default decides all their calls.
    pub unreached: Vec<String>,
    /// Destructive tools that some caller may be able to call without an approval.
    pub unapproved: Vec<UnapprovedTool>,
    /// Rules that match no tool.
    pub idle: Vec<String>,
    /// Tool names in rules, written without `*` and `?`, that do not exist.
    pub unknown: Vec<UnknownTool>,
    /// Tool names in rules, written without `*` and `?`, that are aliases of tools.
    pub earlier: Vec<EarlierName>,
}

/// A destructive tool that some caller may be able to call without an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnapprovedTool {
    /// The name of the tool.
    pub tool: String,
    /// The allow rule that permits the call; `None` if the policy's default does. Without an allow rule, a host's gate still asks if the
    /// tool's approval is [`Approval::ByEffect`].
    pub rule: Option<String>,
    /// The tenant pattern of the rule; `*` for any tenant.
    pub tenant: String,
    /// The user pattern of the rule; `*` for any user.
    pub principal: String,
    /// The agent pattern of the rule; `*` for any agent.
    pub agent: String,
}

/// A name that matches no tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTool {
    /// The name in the policy.
    pub name: String,
    /// The list or rule that contains the name.
    pub place: String,
    /// Similar names of existing tools.
    pub near: Vec<String>,
}

/// A name in a policy that is an alias of a tool. The policy applies to the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EarlierName {
    /// The name in the policy.
    pub name: String,
    /// The list or rule that contains the name.
    pub place: String,
    /// The present name of the tool.
    pub tool: String,
}

impl fmt::Display for EarlierName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, place, tool } = self;
        write!(
            f,
            "{place}: `{name}` is an earlier name of the tool `{tool}`, write `{tool}`"
        )
    }
}

/// The result of looking up a name of a policy.
pub(crate) enum Known<'t> {
    Tool,
    /// The name is an alias of this tool.
    Alias(&'t ToolDef),
    Unknown,
}

/// The names of a policy that are not the names of tools.
#[derive(Default)]
pub(crate) struct OtherNames {
    pub(crate) unknown: Vec<UnknownTool>,
    pub(crate) earlier: Vec<EarlierName>,
}

impl OtherNames {
    /// Looks up names of a policy, each with its place. `known` looks up one name.
    pub(super) fn among<'n, 't>(
        names: impl Iterator<Item = (&'n str, String)>,
        tools: &[ToolDef],
        known: impl Fn(&str) -> Known<'t>,
    ) -> Self {
        let mut others = Self::default();
        for (name, place) in names {
            match known(name) {
                Known::Tool => {}
                Known::Alias(tool) => others.earlier.push(EarlierName {
                    name: name.to_owned(),
                    place,
                    tool: tool.name().to_owned(),
                }),
                Known::Unknown => others.unknown.push(UnknownTool::new(name, place, tools)),
            }
        }
        others
    }
}

impl UnknownTool {
    fn new(name: &str, place: String, tools: &[ToolDef]) -> Self {
        let known = tools.iter().flat_map(ToolDef::names);
        let mut near: Vec<String> = Vec::new();
        for found in nearest(name, known, MOST_NEAR) {
            // A name that is similar to an alias is reported with the present name.
            let tool = tools.iter().find(|tool| tool.is_named(found));
            let present = tool.map_or(found, ToolDef::name);
            if near.iter().all(|other| other != present) {
                near.push(present.to_owned());
            }
        }
        Self {
            name: name.to_owned(),
            place,
            near,
        }
    }
}

impl fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: there is no tool `{}`", self.place, self.name)?;
        match self.near.as_slice() {
            [] => Ok(()),
            [one] => write!(f, ", did you mean `{one}`?"),
            many => write!(f, ", did you mean one of `{}`?", many.join("`, `")),
        }
    }
}

impl Policy {
    /// Implements [`Policy::report`]. `known` looks up a name.
    pub(crate) fn report_on<'t>(
        &self,
        tools: &[ToolDef],
        known: impl Fn(&str) -> Known<'t>,
    ) -> PolicyReport {
        let mut report = PolicyReport::default();
        let mut used = vec![false; self.rules.len()];
        for tool in tools {
            let about: Vec<usize> = self.about(tool).map(usize::from).collect();
            if about.is_empty() {
                report.unreached.push(tool.name().to_owned());
            }
            for rule in &about {
                used[*rule] = true;
            }
            let destructive = tool.effect().contains(Effect::DESTROY) || tool.hints().destructive;
            if destructive && !matches!(tool.approval(), Approval::Always) {
                let rules: Vec<&Rule> = about.iter().map(|rule| &self.rules[*rule]).collect();
                self.unapproved(tool, &rules, &mut report.unapproved);
            }
        }
        for (rule, used) in self.rules.iter().zip(used) {
            if !used {
                report.idle.push(rule.name().to_owned());
            }
        }
        let others =
            OtherNames::among(self.rules.iter().flat_map(Rule::placed_tools), tools, known);
        report.unknown = others.unknown;
        report.earlier = others.earlier;
        report
    }

    fn unapproved(&self, tool: &ToolDef, about: &[&Rule], found: &mut Vec<UnapprovedTool>) {
        // These rules deny a call or ask for an approval, regardless of the arguments.
        let guards: Vec<&Rule> = about
            .iter()
            .copied()
            .filter(|rule| rule.verdict() != PolicyVerdict::Allow && !rule.is_conditional())
            .collect();
        let any = Glob::new("*");
        let mut reach = |rule: Option<&Rule>, who: [&Glob; 3]| {
            let [tenant, principal, agent] = who.map(Glob::to_string);
            if !guards.iter().any(|guard| covers(guard, who)) {
                found.push(UnapprovedTool {
                    tool: tool.name().to_owned(),
                    rule: rule.map(|rule| rule.name().to_owned()),
                    tenant,
                    principal,
                    agent,
                });
            }
        };
        if self.default == PolicyVerdict::Allow {
            reach(None, [&any; 3]);
        }
        let allows = about
            .iter()
            .filter(|rule| rule.verdict() == PolicyVerdict::Allow);
        for rule in allows {
            let [tenants, principals, agents] = rule.subjects().map(|globs| {
                if globs.is_empty() {
                    std::slice::from_ref(&any)
                } else {
                    globs
                }
            });
            for tenant in tenants {
                for principal in principals {
                    for agent in agents {
                        reach(Some(rule), [tenant, principal, agent]);
                    }
                }
            }
        }
    }
}

/// Returns whether a rule is certain to apply to all callers that these patterns match.
fn covers(guard: &Rule, who: [&Glob; 3]) -> bool {
    guard
        .subjects()
        .into_iter()
        .zip(who)
        .all(|(globs, who)| globs.is_empty() || globs.iter().any(|glob| glob.covers(who)))
}
