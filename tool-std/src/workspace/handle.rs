//! Host values for a tool's access to the folder of the conversation.

use std::ops::Deref;

use tool_core::{Effect, ErrorKind, FromContext, ToolContext, ToolError};

use super::{Workspace, Workspaces};

/// Read access to the folder of the caller's conversation: a host value with [`Effect::READ`].
///
/// It is created from the context's [`Workspace`] if it has one, else from its [`Workspaces`], workspace and conversation.
#[derive(Clone, Debug)]
pub struct Reader(Workspace);

/// Read and write access to the folder of the caller's conversation: a host value with [`Effect::READ`] and [`Effect::WRITE`].
///
/// It is created from the same values of the context as a [`Reader`].
#[derive(Clone, Debug)]
pub struct Writer(Workspace);

impl FromContext for Reader {
    const EFFECT: Effect = Effect::READ;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        workspace(cx).map(Self)
    }
}

impl FromContext for Writer {
    const EFFECT: Effect = Effect::READ.union(Effect::WRITE);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        workspace(cx).map(Self)
    }
}

impl Deref for Reader {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.0
    }
}

impl Deref for Writer {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.0
    }
}

fn workspace(cx: &ToolContext) -> Result<Workspace, ToolError> {
    if let Some(workspace) = cx.extension::<Workspace>() {
        return Ok(workspace);
    }
    let workspaces = cx
        .extension::<Workspaces>()
        .ok_or_else(|| ToolError::unavailable("`Workspaces`, a host value of the context,"))?;
    let instance = cx
        .workspace()
        .ok_or_else(|| ToolError::unavailable("the context's `workspace` (its name)"))?;
    let conversation = cx
        .conversation()
        .ok_or_else(|| ToolError::unavailable("the context's `conversation`"))?;
    workspaces.open(instance, conversation).map_err(|error| {
        ToolError::of(
            ErrorKind::Unavailable,
            "the workspace of this conversation cannot be opened, details are in the host's log",
        )
        .operator(error.to_string())
    })
}
