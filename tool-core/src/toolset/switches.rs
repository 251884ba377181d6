//! The switches of a turn's rules: kill switches and disables that take effect while its calls run.

#[cfg(feature = "host")]
use futures::FutureExt as _;
#[cfg(feature = "host")]
use futures::future::BoxFuture;

use super::Toolset;
#[cfg(feature = "host")]
use crate::error::{ErrorKind, ToolError};
#[cfg(feature = "host")]
use crate::tool::ToolDef;
#[cfg(feature = "host")]
use crate::visibility::{Live, Switches};

#[cfg(not(feature = "host"))]
impl Toolset {
    pub(crate) fn has_switches(&self) -> bool {
        false
    }

    #[expect(clippy::unused_async, reason = "only a host has switches")]
    pub(crate) async fn freshen(&self) {}
}

#[cfg(feature = "host")]
impl Toolset {
    /// Returns the stored switches of the turn's rules.
    pub(crate) fn switches(&self) -> impl Iterator<Item = &Switches> {
        let live = self.view.as_ref().map_or(&[][..], |view| &view.live);
        live.iter()
            .filter_map(|live| live.switches.as_ref().map(|view| &view.shared))
    }

    /// Returns whether the turn's rules have stored state that is polled.
    #[inline]
    pub(crate) fn has_switches(&self) -> bool {
        let live = self.view.as_ref().map_or(&[][..], |view| &view.live);
        live.iter().any(Live::is_polled)
    }

    /// Rereads stored state that was read too long ago. The future is boxed, so that a call without such state does not reserve memory for it.
    pub(crate) fn freshen(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let live = self.view.as_ref().map_or(&[][..], |view| &view.live);
            for live in live {
                live.freshen().await;
            }
        })
    }

    /// Rereads the stored switches after a call was recorded in the ledger (`is_claimed`). If that fails, returns an error, and the call must not
    /// run. For any other call, only rereads stored state that was read too long ago.
    pub(crate) async fn reread_switches(&self, is_claimed: bool) -> Result<(), ToolError> {
        if !is_claimed {
            self.freshen().await;
            return Ok(());
        }
        for switches in self.switches() {
            if let Err(error) = Box::pin(switches.refresh()).await {
                let text = "the call was not made, because the host could not check whether it is still allowed";
                return Err(ToolError::of(ErrorKind::Unavailable, text)
                    .operator(format!("the stored switches cannot be read: {error}")));
            }
        }
        Ok(())
    }

    /// Waits until a kill switch of the turn's rules is turned on for a tool, by its own name or an alias, and a tenant.
    pub(crate) async fn killed(&self, tool: &ToolDef, tenant: &str) {
        let live = self.view.as_ref().map_or(&[][..], |view| &view.live);
        let mut all = Vec::new();
        for name in tool.names() {
            let policies = live.iter().filter_map(|live| live.policy.as_ref());
            let policies = policies.map(|policy| policy.shared.killed(name, tenant).boxed());
            let switches = self.switches();
            all.extend(
                policies.chain(switches.map(|switches| switches.killed(name, tenant).boxed())),
            );
        }
        match (all.pop(), all.is_empty()) {
            (None, _) => std::future::pending().await,
            (Some(only), true) => only.await,
            (Some(last), false) => {
                futures::future::select(last, futures::future::select_all(all)).await;
            }
        }
    }

    /// Returns whether the rules of the turn include a policy or switches that can cancel a running call.
    pub(crate) fn can_be_killed(&self) -> bool {
        let live = self.view.as_ref().map_or(&[][..], |view| &view.live);
        live.iter()
            .any(|live| live.policy.is_some() || live.switches.is_some())
    }
}
