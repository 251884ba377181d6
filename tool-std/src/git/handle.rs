//! Handles that declare the effects of the tools of this pack.

use tool_core::{Effect, FromContext, ToolContext, ToolError};

use super::session::{Parts, Session};
use crate::workspace;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident from $workspace:ident: $effect:expr) => {
        $(#[$doc])*
        ///
        /// It is created from the [`Git`](super::Git) and [`Isolation`](crate::isolate::Isolation) of the context, and the folder of the
        /// conversation.
        #[derive(Clone, Debug)]
        pub struct $name(Parts);

        impl FromContext for $name {
            const EFFECT: Effect = $effect;

            fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
                let workspace: workspace::$workspace = FromContext::from_context(cx)?;
                Parts::of(cx, workspace::Workspace::clone(&workspace)).map(Self)
            }
        }

        impl $name {
            pub(super) fn begin(&self) -> Session {
                self.0.begin()
            }
        }
    };
}

handle! {
    /// Read access to the caller's repositories: [`Effect::READ`].
    Reader from Reader: Effect::READ
}
handle! {
    /// Write access to the caller's repositories: [`Effect::READ`] and [`Effect::WRITE`].
    Writer from Writer: Effect::READ.union(Effect::WRITE)
}
handle! {
    /// Access to the host's remote repositories for clones and fetches: [`Effect::READ`], [`Effect::WRITE`] and [`Effect::EXTERNAL`].
    Fetcher from Writer: Effect::READ.union(Effect::WRITE).union(Effect::EXTERNAL)
}
handle! {
    /// Access to the host's remote repositories for pushes: [`Effect::ALL`].
    Pusher from Writer: Effect::ALL
}
