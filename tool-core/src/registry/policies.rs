//! Comparison of policies with the tools of a registry.

use std::path::Path;
use std::sync::Arc;

use super::Registry;
use crate::policy::{
    EarlierName, Known, OtherNames, Policy, PolicyError, PolicyFile, PolicyReport, Reloaded,
    SharedPolicy, UnknownTool,
};

impl Policy {
    /// Reports the gaps, the unused rules and the unknown tool names of the policy for these tools.
    ///
    /// [`PolicyReport::unapproved`] contains every destructive tool that some caller can call without an approval. It may also contain a tool for
    /// which several conditions or patterns together exclude every such call.
    ///
    /// ```
    /// use tool_core::policy::{Policy, Rule};
    /// use tool_core::prelude::*;
    ///
    /// /// Removes a file from disk.
    /// #[tool(destructive)]
    /// fn remove_file() -> String {
    ///     String::new()
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::builder().tool::<remove_file>().build()?;
    /// let report = Policy::builder().rule(Rule::ask("removals").tools(["remov_file"])).build()?.report(&registry);
    /// assert_eq!(report.unreached, ["remove_file"]);
    /// assert_eq!(report.unapproved[0].tool, "remove_file");
    /// assert_eq!(report.idle, ["removals"]);
    /// assert_eq!(report.unknown[0].near, ["remove_file"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn report(&self, registry: &Registry) -> PolicyReport {
        self.report_on(registry.tools(), |name| registry.known(name))
    }
}

impl PolicyFile {
    /// Returns the names in the file that are neither the name nor an alias of a tool of the registry, with similar names. This includes the names of
    /// tools that exist only for a turn, such as the tools that call agents.
    pub fn unknown(&self, registry: &Registry) -> Vec<UnknownTool> {
        let known = |name: &str| registry.known(name);
        self.other_names(registry.tools(), known).unknown
    }

    /// Returns the names in the file that are aliases of tools of the registry, with the present names. The policy applies to these tools.
    ///
    /// ```
    /// use tool_core::policy::PolicyFile;
    /// use tool_core::prelude::*;
    ///
    /// /// Sends a message to the user.
    /// #[tool(alias = "send_mail")]
    /// fn send_message() -> &'static str {
    ///     "sent"
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::builder().tool::<send_message>().build()?;
    /// let file = PolicyFile::from_json(r#"{ "tools": { "deny": ["send_mail"] } }"#)?;
    /// assert_eq!(file.earlier(&registry)[0].tool, "send_message");
    /// # Ok(())
    /// # }
    /// ```
    pub fn earlier(&self, registry: &Registry) -> Vec<EarlierName> {
        let known = |name: &str| registry.known(name);
        self.other_names(registry.tools(), known).earlier
    }
}

impl Registry {
    /// Looks up a name of a policy.
    fn known(&self, name: &str) -> Known<'_> {
        if self.get(name).is_some() {
            return Known::Tool;
        }
        self.get_by_alias(name).map_or(Known::Unknown, Known::Alias)
    }
}

impl SharedPolicy {
    /// Puts the policy of a file in force. If the file is invalid, the previous policy stays in force. Unknown tool names are not an
    /// error: they are logged and returned.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_core::policy::{PolicyFile, SharedPolicy};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (shared, registry) = (SharedPolicy::default(), Registry::builder().build()?);
    /// let file = PolicyFile::from_json(r#"{ "tools": { "deny": ["shell"] } }"#)?;
    /// let reloaded = shared.reload(&file, &registry)?;
    /// assert!(reloaded.changed);
    /// assert_eq!(reloaded.unknown[0].to_string(), "tools, `deny`: there is no tool `shell`");
    /// # Ok(())
    /// # }
    /// ```
    pub fn reload(&self, file: &PolicyFile, registry: &Registry) -> Result<Reloaded, PolicyError> {
        let policy = file.build()?;
        let known = |name: &str| registry.known(name);
        let OtherNames { unknown, earlier } = file.other_names(registry.tools(), known);
        for earlier in &earlier {
            tracing::info!(
                place = earlier.place,
                name = earlier.name,
                tool = earlier.tool,
                "the policy names a tool by an earlier name"
            );
        }
        for unknown in &unknown {
            tracing::warn!(
                place = unknown.place,
                tool = unknown.name,
                "the policy names a tool that does not exist"
            );
        }
        let version: Arc<str> = policy.version().into();
        let changed = *version != *self.current().version();
        if changed {
            self.replace(policy);
        }
        Ok(Reloaded {
            version,
            changed,
            unknown,
            earlier,
        })
    }

    /// Reads a file and puts its policy in force: [`PolicyFile::open`], then [`reload`](SharedPolicy::reload). If either fails, the
    /// previous policy stays in force.
    pub fn reload_file(
        &self,
        path: impl AsRef<Path>,
        registry: &Registry,
    ) -> Result<Reloaded, PolicyError> {
        self.reload(&PolicyFile::open(path)?, registry)
    }
}
