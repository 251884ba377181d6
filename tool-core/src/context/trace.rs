//! W3C trace context of a call.

use std::fmt;

use super::ToolContext;

/// A W3C trace context: the headers `traceparent` and `tracestate`.
///
/// A host that was called with a trace context adds it with [`ToolContextBuilder::trace`](crate::ToolContextBuilder::trace). A tool that calls a service passes
/// on the trace context that [`ToolContext::trace`] returns.
///
/// ```
/// use tool_core::{ToolContext, TraceContext};
///
/// let parent = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None)?;
/// let cx = ToolContext::builder().trace(parent).build();
/// let headers: Vec<_> = cx.trace().into_iter().flat_map(TraceContext::headers).collect();
/// assert_eq!(headers, [("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")]);
/// assert!(TraceContext::new("00-00000000000000000000000000000000-b7ad6b7169203331-01", None).is_err());
/// # Ok::<(), tool_core::TraceContextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    parent: String,
    state: Option<String>,
}

/// Maximum number of characters of a `tracestate` that is passed on. The standard requires at least this number.
const MOST_STATE: usize = 512;

impl TraceContext {
    /// Creates a trace context from the values of the headers.
    ///
    /// A `tracestate` that is empty, is longer than 512 characters, or has characters other than printable ASCII and tabs is left out:
    /// the trace continues without it.
    ///
    /// # Errors
    ///
    /// Fails if `traceparent` is invalid. The standard then requires a new trace.
    pub fn new(
        traceparent: impl Into<String>,
        tracestate: Option<&str>,
    ) -> Result<Self, TraceContextError> {
        let parent = traceparent.into();
        if !is_parent(&parent) {
            return Err(TraceContextError);
        }
        let usable = |state: &&str| {
            let printed = |byte: u8| matches!(byte, b' '..=b'~' | b'\t');
            !state.is_empty() && state.len() <= MOST_STATE && state.bytes().all(printed)
        };
        Ok(Self {
            parent,
            state: tracestate.filter(usable).map(str::to_owned),
        })
    }

    /// Returns the value of the header `traceparent`.
    pub fn traceparent(&self) -> &str {
        &self.parent
    }

    /// Returns the value of the header `tracestate`.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Returns the headers to send with a request.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let state = self.tracestate().map(|state| ("tracestate", state));
        std::iter::once(("traceparent", self.traceparent())).chain(state)
    }
}

/// Returns whether a text is `version-trace_id-parent_id-flags` in lower-case hex, without an id of zeros and without the version `ff`. Versions
/// after `00` may have more parts.
fn is_parent(text: &str) -> bool {
    let mut parts = text.splitn(5, '-');
    let mut hex = |length: usize| {
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        parts
            .next()
            .filter(|part| part.len() == length && part.bytes().all(digit))
    };
    let zeros = |id: &str| id.bytes().all(|byte| byte == b'0');
    let (Some(version), Some(trace), Some(span), Some(_)) = (hex(2), hex(32), hex(16), hex(2))
    else {
        return false;
    };
    let more = parts.next().is_some();
    version != "ff" && (!more || version != "00") && !zeros(trace) && !zeros(span)
}

/// The error for a text that is not a `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContextError;

impl fmt::Display for TraceContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "this is not a `traceparent` of W3C trace context, start a new trace without it",
        )
    }
}

impl std::error::Error for TraceContextError {}

impl ToolContext {
    /// Returns the trace context to send to services that a tool calls. If the host exports spans (feature `otel`), this is the context of the call's own span,
    /// otherwise the context that the host was called with.
    pub fn trace(&self) -> Option<&TraceContext> {
        #[cfg(feature = "otel")]
        if let Some(trace) = self.scope().and_then(|scope| scope.trace.get()) {
            return Some(trace);
        }
        self.host().trace.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::TraceContext;

    // An invalid trace context is not passed on.
    #[test]
    fn traceparent_is_parsed_by_the_w3c_rules() {
        let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
        let none = "0".repeat(32);
        for (text, good) in [
            (format!("00-{trace}-{span}-01"), true),
            (format!("cc-{trace}-{span}-01-what-comes-later"), true),
            (format!("00-{trace}-{span}-01-more"), false),
            (format!("ff-{trace}-{span}-01"), false),
            (format!("00-{none}-{span}-01"), false),
            (format!("00-{trace}-{}-01", &none[..16]), false),
            (format!("00-{}-{span}-01", trace.to_uppercase()), false),
            (format!("00-{trace}-{span}"), false),
            (format!("00-{trace}-{span}-1"), false),
            (String::new(), false),
        ] {
            assert_eq!(
                TraceContext::new(text.clone(), None).is_ok(),
                good,
                "{text}"
            );
        }
        let parent = || format!("00-{trace}-{span}-01");
        let state = |text: &str| TraceContext::new(parent(), Some(text)).map(|cx| cx.state);
        assert_eq!(state("a=1,b=2"), Ok(Some("a=1,b=2".to_owned())));
        assert_eq!(state("a=\r\nx-header: 1"), Ok(None));
        assert_eq!(state(&"a".repeat(513)), Ok(None));
    }
}
