//! The definitions of all tools of a registry, as one text.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ToolIndex;
use crate::schema::dialect::Dialect;
use crate::tool::ToolDef;

/// The text in one dialect, cached from the second request on, because a host that requests it once does not need a cache.
#[derive(Default)]
pub(super) struct Listing {
    asked: AtomicBool,
    text: OnceLock<Box<str>>,
}

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.text.get().map(|text| text.len());
        f.debug_tuple("Listing").field(&kept).finish()
    }
}

impl ToolIndex {
    /// Returns the definitions of all tools in a dialect, as a JSON array.
    pub(crate) fn listing(&self, dialect: Dialect) -> String {
        let Listing { asked, text } = &self.listings[dialect.index()];
        if let Some(text) = text.get() {
            return text.to_string();
        }
        let joined = join(|| self.tools.iter(), dialect);
        if asked.swap(true, Ordering::Relaxed) {
            text.get_or_init(|| joined.as_str().into());
        }
        joined
    }
}

/// Returns the definitions of some tools in a dialect, as a JSON array. Tools that exclude the provider are left out.
pub(crate) fn join<'a, I: Iterator<Item = &'a ToolDef>>(
    tools: impl Fn() -> I,
    dialect: Dialect,
) -> String {
    let texts = || {
        tools()
            .map(|def| def.definition(dialect))
            .filter(|text| !text.is_empty())
    };
    let bytes: usize = texts().map(|text| text.len() + 1).sum();
    let mut array = String::with_capacity(bytes + 2);
    array.push('[');
    for (i, text) in texts().enumerate() {
        array.push_str(if i == 0 { "" } else { "," });
        array.push_str(text);
    }
    array.push(']');
    array
}
