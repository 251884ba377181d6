//! The rules of a policy that can apply to each tool of a registry.

use std::sync::Arc;

use super::{Candidates, Policy};
use crate::tool::ToolDef;

/// The rules of a policy for each tool of a registry, computed once for each version of the policy.
#[derive(Debug)]
pub(crate) struct Compiled {
    policy: u64,
    /// The rules that can apply to each tool.
    pub(crate) candidates: Box<[Candidates]>,
    /// The tools to which each rule can apply.
    pub(crate) tools: Vec<Vec<usize>>,
}

impl Compiled {
    pub(crate) fn of(policy: &Policy, tools: &[ToolDef]) -> Arc<Self> {
        let candidates: Box<[Candidates]> =
            tools.iter().map(|def| policy.candidates(def)).collect();
        let mut by_rule = vec![Vec::new(); policy.rules().len()];
        for (at, candidates) in candidates.iter().enumerate() {
            for rule in candidates.rules() {
                by_rule[rule].push(at);
            }
        }
        Arc::new(Self {
            policy: policy.hash(),
            candidates,
            tools: by_rule,
        })
    }

    pub(crate) fn is_of(&self, policy: &Policy) -> bool {
        self.policy == policy.hash()
    }
}
