//! Parsing of a JSON document, and its JSON pointers and `$ref` references.

use serde_json::{Map, Value};
use tool_core::stored::ToolFault;

/// Maximum number of bytes of a document. The document is parsed for every call.
pub(crate) const MOST_DOCUMENT: usize = 1 << 20;

/// Maximum length of a chain of references, including the value at its end.
const MOST_HOPS: usize = 16;

/// A JSON document, and its pointer in the request that saves it.
pub(in crate::http) struct Reader<'d> {
    pub(super) root: &'d Value,
    prefix: &'d str,
}

/// A value that is not a reference, and its pointer.
pub(super) struct Found<'d> {
    pub(super) value: &'d Value,
    pub(super) pointer: String,
}

impl<'d> Reader<'d> {
    pub(in crate::http) fn new(root: &'d Value, prefix: &'d str) -> Self {
        Self { root, prefix }
    }

    /// Creates a fault at a pointer of the document.
    pub(super) fn fault(&self, pointer: &str, text: impl Into<String>) -> ToolFault {
        fault(self.prefix, pointer, text)
    }

    /// Follows references until a value is not a reference.
    pub(super) fn resolve(&self, value: &'d Value, pointer: &str) -> Result<Found<'d>, ToolFault> {
        let (mut value, mut pointer) = (value, pointer.to_owned());
        for _ in 0..MOST_HOPS {
            let Some(target) = value.get("$ref").and_then(Value::as_str) else {
                return Ok(Found { value, pointer });
            };
            let at = format!("{pointer}/$ref");
            let Some(local) = target.strip_prefix('#') else {
                let text = format!(
                    "`{target}` is outside of the document, only references that begin with `#/` are supported"
                );
                return Err(self.fault(&at, text));
            };
            value = self
                .root
                .pointer(local)
                .ok_or_else(|| self.fault(&at, format!("the document has no `{target}`")))?;
            local.clone_into(&mut pointer);
        }
        Err(self.fault(
            &pointer,
            "the chain of references is too long or circular: refer to the value directly",
        ))
    }
}

fn fault(prefix: &str, pointer: &str, text: impl Into<String>) -> ToolFault {
    ToolFault {
        pointer: format!("{prefix}{pointer}"),
        text: text.into(),
    }
}

/// Parses a document of a supported version.
pub(super) fn document(text: &str, prefix: &str) -> Result<Value, ToolFault> {
    if text.len() > MOST_DOCUMENT {
        let text = format!(
            "the document has {} bytes, the maximum is {MOST_DOCUMENT}: leave out the paths and schemas that the operation does not use",
            text.len()
        );
        return Err(fault(prefix, "", text));
    }
    let root: Value = serde_json::from_str(text).map_err(|error| {
        let text = format!("the document is not JSON, convert it if it is YAML: {error}");
        fault(prefix, "", text)
    })?;
    let version = root.get("openapi").and_then(Value::as_str);
    let is_known = |version: &str| version.starts_with("3.0.") || version.starts_with("3.1.");
    if version.is_some_and(is_known) {
        return Ok(root);
    }
    let found = version.map_or("no version".to_owned(), |version| format!("`{version}`"));
    let text = format!("the document must be OpenAPI 3.0 or 3.1, found {found}");
    Err(fault(prefix, "/openapi", text))
}

/// Escapes a key for a JSON pointer.
pub(in crate::http) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

pub(super) fn text_of<'v>(own: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
    own.get(key).and_then(Value::as_str)
}

pub(super) fn is_true(own: &Map<String, Value>, key: &str) -> bool {
    own.get(key) == Some(&Value::Bool(true))
}
