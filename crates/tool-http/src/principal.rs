//! Users and clients that a server has authenticated.

/// A user or client that the host has authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// The subject: the `sub` of an access token.
    pub subject: String,
    /// The scopes of the token.
    pub scopes: Vec<String>,
    /// The audience that the token was issued for: the `aud` of an access token.
    pub audience: Vec<String>,
    /// The principal's workspace, if the host has workspaces.
    pub workspace: Option<String>,
}

impl Principal {
    /// Creates a principal without scopes, audience and workspace.
    pub fn new(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            scopes: Vec::new(),
            audience: Vec::new(),
            workspace: None,
        }
    }

    /// Sets the scopes of the token.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the audience that the token was issued for.
    #[must_use]
    pub fn audience<S: Into<String>>(mut self, audience: impl IntoIterator<Item = S>) -> Self {
        self.audience = audience.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the principal's workspace.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Into<String>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }
}
