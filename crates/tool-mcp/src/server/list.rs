//! The `tools/list` request: the tools that a caller may use, in pages.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

use rmcp::ErrorData;
use rmcp::model::{ListToolsResult, MetaObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tool_core::{Dialect, Origin, ToolDef, Toolset};

use super::{Wire, verbatim};

/// The output schema of a tool, as each protocol version needs it.
#[derive(Debug)]
pub(crate) struct OutputSchema {
    origin: Option<Origin>,
    /// The tool's own output schema; empty if the tool declares none.
    own: String,
    /// The schema of an object that wraps the output, for the legacy protocol, which allows only objects as structured content.
    wrapped: Option<String>,
}

impl OutputSchema {
    /// Returns whether the legacy protocol wraps the output in `result`.
    pub(crate) fn is_wrapped(&self) -> bool {
        self.wrapped.is_some()
    }
}

/// Cached output schemas, by the tools' own names.
#[derive(Default)]
pub(crate) struct OutputSchemas(RwLock<HashMap<String, Arc<OutputSchema>>>);

impl OutputSchemas {
    /// Returns the output schema of a tool, or `None` if the tool declares none.
    pub(crate) fn of(&self, def: &ToolDef) -> Option<Arc<OutputSchema>> {
        let origin = def.origin();
        let known = {
            let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
            all.get(def.name()).cloned()
        };
        // A tool that was created at run time may have a different schema under the same name, so its schema is compared.
        if let Some(known) = known
            && known.origin == origin
            && (origin.is_some() || def.output_schema().as_deref() == Some(known.own.as_str()))
        {
            return (!known.own.is_empty()).then_some(known);
        }
        let own = def.output_schema().unwrap_or_default().into_owned();
        let wrapped = if own.is_empty() { None } else { wrap(&own) };
        let made = Arc::new(OutputSchema {
            origin,
            own,
            wrapped,
        });
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(def.name().to_owned(), Arc::clone(&made));
        (!made.own.is_empty()).then_some(made)
    }
}

/// Wraps a schema in the schema of `{"result": …}`, unless the `type` of its root is `object`.
fn wrap(schema: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Root<'a> {
        r#type: Option<Value>,
        #[serde(borrow, rename = "$defs")]
        defs: Option<&'a RawValue>,
    }
    let root: Root<'_> = serde_json::from_str(schema).ok()?;
    if root.r#type.as_ref().and_then(Value::as_str) == Some("object") {
        return None;
    }
    let mut wrapped =
        format!(r#"{{"type":"object","properties":{{"result":{schema}}},"required":["result"]"#);
    // References are resolved from the root, so `$defs` is copied there.
    if let Some(defs) = root.defs {
        let _ = write!(wrapped, r#","$defs":{defs}"#);
    }
    wrapped.push('}');
    Some(wrapped)
}

/// Returns one page of the tools, in order of their names. The cursor contains the last name of the previous page.
pub(crate) fn page(
    tools: &Toolset,
    outlets: &OutputSchemas,
    most: usize,
    after: Option<&str>,
    wire: Wire,
) -> Result<ListToolsResult, ErrorData> {
    let mut offered = tools
        .tools()
        .filter(|def| !def.definition(Dialect::Mcp).is_empty())
        .filter(|def| after.is_none_or(|name| def.wire_name() > name));
    let mut page = Vec::new();
    while page.len() < most {
        let Some(def) = offered.next() else { break };
        page.push(definition(def, outlets, wire)?);
    }
    let next = offered.next().and(page.last());
    let next = next.map(|tool| Place::After(Some(tool.name.to_string())).write());
    let mut result = ListToolsResult::with_all_items(page);
    result.next_cursor = next;
    Ok(result)
}

/// The position at which a page begins. A cursor is this value in hexadecimal, so that clients treat it as opaque.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// After the tool of this name; `None` is the beginning.
    After(Option<String>),
    /// At this cursor of the host's own handler.
    Host(String),
}

impl Place {
    const AFTER: &str = "after:";
    const HOST: &str = "host:";

    pub(crate) fn read(cursor: Option<&str>) -> Result<Self, ErrorData> {
        let Some(cursor) = cursor else {
            return Ok(Self::After(None));
        };
        Self::decode(cursor).ok_or_else(|| {
            ErrorData::invalid_params(
                "the cursor was not issued by this server, start without one",
                None,
            )
        })
    }

    fn decode(cursor: &str) -> Option<Self> {
        let text = String::from_utf8(hex::decode(cursor).ok()?).ok()?;
        let after = |name: &str| Self::After(Some(name.to_owned()));
        let host = || {
            text.strip_prefix(Self::HOST)
                .map(|cursor| Self::Host(cursor.to_owned()))
        };
        text.strip_prefix(Self::AFTER).map(after).or_else(host)
    }

    pub(crate) fn write(&self) -> String {
        let (mark, text) = match self {
            Self::After(name) => (Self::AFTER, name.as_deref().unwrap_or_default()),
            Self::Host(cursor) => (Self::HOST, cursor.as_str()),
        };
        hex::encode([mark, text].concat())
    }
}

/// The parsed MCP definition of a tool.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Definition<'a> {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(borrow)]
    input_schema: &'a RawValue,
    #[serde(default)]
    annotations: Option<ToolAnnotations>,
}

/// Converts a tool for rmcp. Over the transports of this crate, the texts of its schemas are not changed.
fn definition(def: &ToolDef, outlets: &OutputSchemas, wire: Wire) -> Result<Tool, ErrorData> {
    let text = def.definition(Dialect::Mcp);
    let parsed: Definition<'_> = serde_json::from_str(text).map_err(|error| {
        let name = def.wire_name();
        ErrorData::internal_error(
            format!("the definition of `{name}` is not a valid MCP tool: {error}"),
            None,
        )
    })?;
    let schema = verbatim::object(parsed.input_schema.get(), wire.rendered);
    let mut tool = Tool::new_with_raw(
        def.wire_name().to_owned(),
        parsed.description.map(Into::into),
        schema,
    );
    tool.title = parsed.title;
    tool.annotations = parsed.annotations;
    tool.output_schema = outlets.of(def).map(|outlet| {
        let wrapped = outlet.wrapped.as_deref().filter(|_| wire.legacy);
        Arc::new(verbatim::object(
            wrapped.unwrap_or(&outlet.own),
            wire.rendered,
        ))
    });
    tool.meta = meta(def);
    Ok(tool)
}

/// Returns the metadata of a tool for which MCP does not define a field: category and tags.
fn meta(def: &ToolDef) -> Option<MetaObject> {
    let mut meta = MetaObject::new();
    if def.category() != "general" {
        meta.0
            .insert("tool-core/category".into(), def.category().into());
    }
    let tags: Vec<Value> = def.tags().map(Value::from).collect();
    if !tags.is_empty() {
        meta.0.insert("tool-core/tags".into(), Value::Array(tags));
    }
    (!meta.0.is_empty()).then_some(meta)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_round_trips_and_foreign_cursors_are_refused() {
        for name in ["a", "search_docs", "ns__größe"] {
            for place in [
                Place::After(Some(name.to_owned())),
                Place::Host(name.to_owned()),
            ] {
                assert_eq!(Place::read(Some(&place.write())).unwrap(), place);
            }
        }
        for other in ["", "7", "zz", "616263", "+6", "é6", "ff"] {
            let error = Place::read(Some(other)).unwrap_err();
            assert_eq!(
                error.code,
                rmcp::model::ErrorCode::INVALID_PARAMS,
                "{other}"
            );
        }
    }

    #[test]
    fn schema_that_is_not_an_object_is_wrapped_with_its_defs() {
        assert_eq!(wrap(r#"{"description":"x","type":"object"}"#), None);
        assert_eq!(
            wrap(r##"{"type":"array","items":{"$ref":"#/$defs/A"},"$defs":{"A":{}}}"##).as_deref(),
            Some(
                r##"{"type":"object","properties":{"result":{"type":"array","items":{"$ref":"#/$defs/A"},"$defs":{"A":{}}}},"required":["result"],"$defs":{"A":{}}}"##
            )
        );
    }
}
