//! Check of whether a call may have to wait for a person.

use super::Toolset;
use crate::context::ToolContext;
use crate::tool::{Approval, ToolDef};

impl Toolset {
    /// Returns whether a call of this tool may have to wait for a person: for an approval that the tool, its effect or the turn's policy requires, or
    /// for a required variable without a value. `false` for a tool that the turn cannot use.
    ///
    /// This is for callers that cannot wait, such as code that a model has written. It does not cover questions that a tool asks while it runs: see
    /// [`ToolContext::without_asker`].
    ///
    /// ```
    /// use tool_core::policy::{Condition, Policy, PolicyVerdict, Rule, SharedPolicy};
    /// use tool_core::prelude::*;
    /// use tool_core::Rules;
    ///
    /// /// Returns the number of visible objects.
    /// #[tool(read_only)]
    /// fn look() -> u8 {
    ///     0
    /// }
    /// /// Sends a mail to the user.
    /// #[tool(approval)]
    /// fn send() -> u8 {
    ///     0
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let cx = ToolContext::anonymous();
    /// let tools = toolset![look, send];
    /// assert!(!tools.may_ask("look", &cx));
    /// assert!(tools.may_ask("send", &cx));
    ///
    /// let asks = Rule::ask("far").tools(["look"]).when(Condition::new("/far").equals(true));
    /// let policy = SharedPolicy::new(Policy::builder().rule(asks).otherwise(PolicyVerdict::Allow).build()?);
    /// let registry = Registry::builder().tool::<look>().build()?;
    /// assert!(registry.toolset(&cx, &Rules::default().policy(&policy)).may_ask("look", &cx));
    /// # Ok(())
    /// # }
    /// ```
    pub fn may_ask(&self, name: &str, cx: &ToolContext) -> bool {
        let Some((_, def)) = self.find(name) else {
            return false;
        };
        let policies = || {
            let live = self.view.as_ref().map_or(&[][..], |view| &view.live);
            live.iter().filter_map(|live| live.policy.as_ref())
        };
        let mut ruled = false;
        for view in policies() {
            let said = view
                .now()
                .policy
                .may_say(def, cx.tenant(), cx.principal(), cx.agent());
            if said.asks {
                return true;
            }
            ruled |= said.rule;
        }
        let by_itself = match def.approval() {
            Approval::Always | Approval::When(_) => true,
            Approval::Never => false,
            Approval::ByEffect => self.asks_by_effect(def) && !ruled,
        };
        by_itself || !cx.missing_variables(def.variables()).is_empty()
    }

    /// Returns whether the effect alone requires an approval. Without a gate, no effect does.
    #[cfg(feature = "host")]
    fn asks_by_effect(&self, def: &ToolDef) -> bool {
        self.gate.is_some() && def.hints().destructive
    }

    #[cfg(not(feature = "host"))]
    #[expect(
        clippy::unused_self,
        reason = "with the feature `host`, this function reads the gate"
    )]
    fn asks_by_effect(&self, _: &ToolDef) -> bool {
        false
    }
}
