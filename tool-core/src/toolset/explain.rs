//! Explanations of a toolset for operators.

use super::Toolset;
use crate::args::nearest;
use crate::registry::Missing;
use crate::tool::ToolDef;
use crate::visibility::{Explanation, Layer, State};

impl Toolset {
    /// Explains to operators why a tool is visible or hidden. `name` is the name that the model sees, the tool's own name, or an alias. The
    /// explanation of an alias states the present name.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// use tool_core::{Layer, Rules};
    ///
    /// /// Sends a mail to the user.
    /// #[tool]
    /// fn send_mail() -> String {
    ///     String::new()
    /// }
    ///
    /// # fn main() -> Result<(), tool_core::RegistryError> {
    /// let registry = Registry::builder().tool::<send_mail>().build()?;
    /// let tools = registry.toolset(&ToolContext::anonymous(), &Rules::default().deny(["send_mail"]));
    /// assert_eq!(tools.explain("send_mail").layer(), Some(Layer::Deny));
    /// assert_eq!(tools.explain("send_mial").to_string(), "there is no tool `send_mial`, did you mean `send_mail`?");
    /// assert_eq!(registry.open().explain("send_mail").as_str(), "");
    /// # Ok(())
    /// # }
    /// ```
    pub fn explain(&self, name: &str) -> Explanation {
        let named = |def: &ToolDef| def.name() == name;
        let at = self.position(name).or_else(|| {
            let own = self.shelf.tools.iter().position(named);
            own.or_else(|| Some(self.shelf.tools.len() + self.agents().iter().position(named)?))
        });
        let renamed = if at.is_none() {
            let aliased = |def: &ToolDef| def.aliases().any(|alias| alias == name);
            self.aliased(name).or_else(|| {
                let own = self.shelf.tools.iter().position(aliased);
                own.or_else(|| {
                    Some(self.shelf.tools.len() + self.agents().iter().position(aliased)?)
                })
            })
        } else {
            None
        };
        let at = at.or(renamed);
        let pruned = || self.shelf.pruned.iter().find(|pruned| pruned.tool == name);
        let (state, details) = if let Some(at) = at {
            match self.hidden_now(at) {
                None => (State::Visible, Vec::new()),
                Some(Layer::Secrets) => (State::Hidden(Layer::Secrets), self.missing(at)),
                Some(layer) => (State::Hidden(layer), Vec::new()),
            }
        } else if let Some(pruned) = pruned() {
            let layer = match pruned.lack {
                Missing::Variable => Layer::Environment,
                #[cfg(feature = "host")]
                Missing::Version => Layer::Engine,
            };
            (State::Hidden(layer), vec![pruned.detail.clone()])
        } else {
            let all = self.shelf.tools.iter().chain(self.agents());
            let near = nearest(name, all.map(ToolDef::wire_name), 1);
            (
                State::Unknown,
                near.into_iter().map(str::to_owned).collect(),
            )
        };
        Explanation {
            name: renamed
                .map_or(name, |at| self.def(at).wire_name())
                .to_owned(),
            alias: renamed.map(|_| name.to_owned()),
            state,
            details,
        }
    }

    /// Returns the secrets that a tool requires and that are missing.
    fn missing(&self, at: usize) -> Vec<String> {
        let absent = self.view.as_ref().map(|view| &view.absent);
        let needed = self.def(at).secrets().iter().filter(|need| !need.optional);
        let missing =
            needed.filter(|need| absent.is_some_and(|absent| absent.contains(&*need.key)));
        missing.map(|need| need.key.clone().into_owned()).collect()
    }

    /// Returns the tools that people may switch on or off, visible or not, for an operator's list. Harness tools and tools that call other
    /// agents are not included.
    pub fn available(&self) -> impl Iterator<Item = Available<'_>> {
        let listed = self
            .shelf
            .tools
            .iter()
            .enumerate()
            .filter(|(_, def)| !def.is_harness() && !def.calls_agent());
        listed.map(|(at, tool)| Available {
            tool,
            layer: self.hidden_now(at),
            missing: self.missing(at),
        })
    }
}

/// A tool in an operator's list.
#[derive(Clone, Debug)]
pub struct Available<'a> {
    /// The definition of the tool.
    pub tool: &'a ToolDef,
    /// The layer that hides the tool; `None` if the tool is visible.
    pub layer: Option<Layer>,
    /// Secrets that the tool requires and that are missing or empty, regardless of other layers that hide the tool.
    pub missing: Vec<String>,
}
