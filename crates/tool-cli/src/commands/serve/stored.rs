//! The stored tools of an agent, for `serve --agent`.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use tool_core::prelude::*;
use tool_core::store::{StoreError, Workspace};
use tool_core::stored::{LeftOutTool, StoredTools};
use tool_core::{CancellationToken, Registry};

use crate::host::Offer;
use crate::screen::{Screen, WARN, paint};

/// The pause between two readings of the store. A call reads its tool again, so a tool that was disabled meanwhile does not run.
const PAUSE: Duration = Duration::from_millis(500);

/// The stored tools that are bound to an agent.
pub(super) struct AgentOffer {
    tools: StoredTools,
    workspace: Workspace,
    agent: String,
    now: RwLock<(Registry, Vec<LeftOutTool>)>,
}

impl AgentOffer {
    /// Reads the tools of an agent.
    pub(super) async fn open(
        tools: StoredTools,
        workspace: Workspace,
        agent: String,
    ) -> Result<Self, StoreError> {
        let own = tools.of_agent(&workspace, &agent).await?;
        Ok(Self {
            tools,
            workspace,
            agent,
            now: RwLock::new((own.registry, own.left_out)),
        })
    }

    /// Adds the stored tools to the tools of the program. A stored tool with the name of a tool of the program is left
    /// out. MCP clients do not run tools, so client tools are left out too.
    pub(super) fn added(&self, offer: &Offer, cx: &ToolContext) -> Toolset {
        let base = offer.toolset(cx);
        let registry = self.registry();
        let stored = offer
            .others(&registry, cx)
            .filter(|tool| !tool.is_client() && base.get(tool.wire_name()).is_none());
        // `combine` fails only if two tools have the same name.
        base.clone().combine(&stored).unwrap_or(base)
    }

    /// Returns the tools as they were last read.
    pub(super) fn registry(&self) -> Registry {
        let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
        now.0.clone()
    }

    /// Reads the tools every [`PAUSE`] until the server has stopped.
    pub(super) async fn refresh(&self, stopped: &CancellationToken, screen: Screen) {
        let (mut shown, mut failed) = (Vec::new(), false);
        loop {
            let left_out = {
                let now = self.now.read().unwrap_or_else(PoisonError::into_inner);
                now.1.clone()
            };
            for one in left_out.iter().filter(|one| !shown.contains(*one)) {
                let (mark, LeftOutTool { name, why, .. }) = (paint(WARN, "left out:"), one);
                screen.note(format_args!("{mark} stored tool `{name}`: {why}"));
            }
            shown = left_out;
            if stopped
                .run_until_cancelled(tokio::time::sleep(PAUSE))
                .await
                .is_none()
            {
                return;
            }
            match self.tools.of_agent(&self.workspace, &self.agent).await {
                Ok(own) => {
                    failed = false;
                    let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
                    *now = (own.registry, own.left_out);
                }
                Err(error) if !failed => {
                    failed = true;
                    let mark = paint(WARN, "warning:");
                    screen.note(format_args!(
                        "{mark} the stored tools cannot be read, so the server does not apply changes to them: {error}"
                    ));
                }
                Err(_) => {}
            }
        }
    }
}
