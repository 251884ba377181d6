//! What a tool of this pack may do, as types.

use tool_core::{Effect, FromContext, ToolContext, ToolError};

use super::session::{Parts, Session};
use crate::workspace;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident from $workspace:ident: $effect:expr) => {
        $(#[$doc])*
        ///
        /// Made from the context's [`Git`](super::Git), [`Isolation`](crate::isolate::Isolation) and workspace.
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
    /// The caller's repositories, to look at: [`Effect::READ`].
    Reader from Reader: Effect::READ
}
handle! {
    /// The caller's repositories, to change: [`Effect::READ`] and [`Effect::WRITE`].
    Writer from Writer: Effect::READ.union(Effect::WRITE)
}
handle! {
    /// The host's remote repositories, to get from: [`Effect::READ`], [`Effect::WRITE`] and [`Effect::EXTERNAL`].
    Fetcher from Writer: Effect::READ.union(Effect::WRITE).union(Effect::EXTERNAL)
}
handle! {
    /// The host's remote repositories, to change: [`Effect::ALL`].
    Pusher from Writer: Effect::ALL
}
