//! Slugs of workspaces (tenants), and their UUIDs.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::{FromContext, ToolContext};
use crate::effect::Effect;
use crate::error::ToolError;

/// The slug of a workspace (in the names of this module, an *instance*): the name that people use, not its UUID.
///
/// It has at most 63 lower-case ASCII letters, digits and `-`, and begins with a letter or a digit: `^[a-z0-9][a-z0-9-]*$`. A UUID is not a slug.
/// `tool-std` uses a slug unchanged as the name of the folder that contains the files of the workspace. The few places that need the UUID call
/// [`Instances::resolve`].
///
/// ```
/// use tool_core::InstanceSlug;
///
/// assert_eq!("acme-eu".parse::<InstanceSlug>().unwrap().as_str(), "acme-eu");
/// assert!("Acme EU".parse::<InstanceSlug>().is_err());
/// assert!("67e55044-10b1-426f-9247-bb680e5fe0c8".parse::<InstanceSlug>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceSlug(Box<str>);

/// Maximum number of bytes of a slug. A label of a host name has the same limit.
const MOST: usize = 63;

impl InstanceSlug {
    /// Returns the slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for InstanceSlug {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        if is_uuid(text) {
            return Err(SlugError::Uuid);
        }
        let first = text.as_bytes().first().copied();
        if text.len() > MOST
            || !first.is_some_and(|byte| byte.is_ascii_alphanumeric())
            || !text.bytes().all(legal)
        {
            return Err(SlugError::Malformed);
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for InstanceSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not a slug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SlugError {
    /// The text is a UUID.
    #[error("this is the UUID of a workspace, use its slug instead")]
    Uuid,
    /// The text is empty, is too long, contains a character that is not allowed, or begins with `-`.
    #[error(
        "a slug has 1 to 63 lower-case letters, digits and `-`, and begins with a letter or a digit"
    )]
    Malformed,
}

/// Returns whether a text is a UUID, with hyphens or without.
fn is_uuid(text: &str) -> bool {
    let bytes = text.as_bytes();
    match bytes.len() {
        32 => bytes.iter().all(u8::is_ascii_hexdigit),
        36 => bytes.iter().enumerate().all(|(i, byte)| {
            if matches!(i, 8 | 13 | 18 | 23) {
                *byte == b'-'
            } else {
                byte.is_ascii_hexdigit()
            }
        }),
        _ => false,
    }
}

/// Resolves slugs of workspaces to UUIDs. A host adds it with [`ToolContextBuilder::instances`](crate::ToolContextBuilder::instances).
pub trait ResolveInstance: Send + Sync + 'static {
    /// Returns the UUID of the workspace with this slug, in any spelling that the host's store accepts.
    fn resolve<'a>(&'a self, slug: &'a InstanceSlug) -> BoxFuture<'a, Result<String, ToolError>>;
}

/// Resolves the slug of the caller's workspace to its UUID, as a host value: `instances: &Instances`.
#[derive(Clone)]
pub struct Instances {
    slug: Option<InstanceSlug>,
    resolver: Resolver,
}

#[derive(Clone)]
pub(super) struct Resolver(pub(super) Arc<dyn ResolveInstance>);

impl Instances {
    /// Returns the UUID of the caller's workspace. Fails with `Unavailable` if the context has no workspace or its name is not a slug, and with the
    /// error of the [`ResolveInstance`] if it fails.
    pub async fn resolve(&self) -> Result<String, ToolError> {
        let slug = self
            .slug
            .as_ref()
            .ok_or_else(|| ToolError::unavailable("the slug of the caller's workspace"))?;
        self.resolver.0.resolve(slug).await
    }
}

impl FromContext for Instances {
    const EFFECT: Effect = Effect::READ;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self {
            slug: cx.workspace().and_then(|text| text.parse().ok()),
            resolver: cx
                .extension()
                .ok_or_else(|| ToolError::unavailable("the resolver of the UUIDs of workspaces"))?,
        })
    }
}
