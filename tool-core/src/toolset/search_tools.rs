//! The tools `search_tools` and `call_tool`, which replace the deferred tools in the request.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::Toolset;
use crate::args::Repair;
use crate::call::{CallResult, ToolCall};
use crate::context::{ToolContext, check};
use crate::effect::Effect;
use crate::error::ToolError;
use crate::registry::RegistryError;
use crate::schema::dialect::Dialect;
use crate::search::{CALL_TOOL, SEARCH_TOOLS};
use crate::tool::{DynamicTool, ToolDef};

/// Maximum length of a query, in characters.
const LONGEST: u32 = 400;

#[derive(Deserialize)]
struct Search {
    query: String,
}

/// A search result: the data with which a model can call a tool that is not listed.
#[derive(Serialize)]
struct Hit {
    name: String,
    description: String,
    parameters: Box<RawValue>,
}

#[derive(Serialize)]
struct Answer {
    tools: Vec<Hit>,
}

/// The turn's toolset, passed to `search_tools` as a service in the context of the call.
#[derive(Clone)]
struct Turn(Toolset);

/// Returns the definitions of `call_tool` and `search_tools`, sorted by name. They are the same in every turn.
pub(crate) fn defs() -> Result<&'static [ToolDef; 2], RegistryError> {
    static DEFS: LazyLock<Result<[ToolDef; 2], RegistryError>> =
        LazyLock::new(|| Ok([caller().listed()?, finder().listed()?]));
    DEFS.as_ref().map_err(Clone::clone)
}

fn finder() -> DynamicTool {
    DynamicTool::new(
        SEARCH_TOOLS,
        format!(
            "Finds tools by their purpose: there are more tools than are listed. Call a found tool with `{CALL_TOOL}`, with arguments that \
             fit its `parameters`."
        ),
        json!({
            "type": "object",
            "properties": {"query": {
                "type": "string",
                "description": "Words for the task, such as `send email attachment`, or the name of a tool.",
                "minLength": 1,
                "maxLength": LONGEST,
            }},
            "required": ["query"],
            "additionalProperties": false,
        }),
        async |Search { query }: Search, cx: ToolContext| answer(&query, &cx),
    )
    .effect(Effect::READ)
    .read_only()
    .category("search")
}

fn caller() -> DynamicTool {
    DynamicTool::new(
        CALL_TOOL,
        format!("Calls a tool that `{SEARCH_TOOLS}` has found."),
        json!({
            "type": "object",
            "properties": {
                "name": {
                    "type": "string",
                    "description": "The name of the tool.",
                    "minLength": 1,
                    "maxLength": 64,
                },
                "arguments": {
                    "type": "string",
                    "description": "The arguments of the tool: the text of a JSON object that fits the tool's `parameters`.",
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": false,
        }),
        // This is unreachable, because the toolset unwraps the call before it runs.
        async |_: serde_json::Value, _: ToolContext| Err::<(), _>(ToolError::unavailable("a search for tools")),
    )
    // The effect of the inner tool is unknown until the call is unwrapped.
    .effect(Effect::ALL)
    .category("search")
}

fn answer(query: &str, cx: &ToolContext) -> Result<Answer, ToolError> {
    let Some((Turn(tools), search)) = cx
        .service::<Turn>()
        .and_then(|turn| turn.0.search().cloned().map(|search| (turn, search)))
    else {
        return Err(ToolError::unavailable("a search for tools"));
    };
    let dialect = cx.provider().unwrap_or(Dialect::JsonSchema);
    let found = search.find(query, &tools);
    let offered = found
        .iter()
        .filter(|found| !found.tool.definition(dialect).is_empty());
    let hits = offered.map(|found| {
        Ok(Hit {
            name: found.tool.wire_name().to_owned(),
            description: found.tool.description().to_owned(),
            parameters: RawValue::from_string(found.tool.schema(dialect).to_owned())
                .map_err(ToolError::shown)?,
        })
    });
    let hits: Vec<Hit> = hits.collect::<Result<_, ToolError>>()?;
    if hits.is_empty() {
        return Err(ToolError::new(
            "no tool matches these words: try others, such as a verb and its object",
        ));
    }
    Ok(Answer { tools: hits })
}

/// An unwrapped call, and the context to run it with.
pub(crate) struct Opened {
    pub(crate) call: ToolCall,
    pub(crate) cx: ToolContext,
    /// Whether the call was unwrapped from a call of `call_tool`.
    pub(crate) inner: bool,
}

#[derive(Deserialize)]
struct Inner<'a> {
    name: String,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

/// Unwraps a call of `call_tool`: the unwrapped call has the same id, and the name and the arguments of the inner call. Adds the toolset to the
/// context of a call of `search_tools`. Does not change other calls.
pub(crate) fn open(
    tools: &Toolset,
    call: ToolCall,
    cx: &ToolContext,
) -> Result<Opened, Box<CallResult>> {
    let opened = |call, cx, inner| Ok(Opened { call, cx, inner });
    if call.name == SEARCH_TOOLS {
        return opened(call, cx.with_service(Turn(tools.clone())), false);
    }
    if call.name != CALL_TOOL {
        return opened(call, cx.clone(), false);
    }
    match inner(tools, &call.arguments, cx) {
        Ok((name, arguments)) => {
            let call = ToolCall {
                id: call.id,
                name,
                arguments,
            };
            opened(call, cx.clone(), true)
        }
        Err(error) => Err(Box::new(CallResult::refused_in(cx, call, error))),
    }
}

/// Returns the name and the arguments of the inner call.
fn inner(tools: &Toolset, text: &str, cx: &ToolContext) -> Result<(String, String), ToolError> {
    let (caller, repair) = (&defs().map_err(ToolError::shown)?[0], tools.repair_mode());
    let refused = match check(caller.input(), text, repair, cx) {
        Ok(admitted) => {
            let Inner { name, arguments } =
                serde_json::from_str(&admitted.text).map_err(ToolError::shown)?;
            let arguments = serde_json::from_str(arguments.get()).map_err(ToolError::shown)?;
            return Ok((name, arguments));
        }
        Err(error) => error,
    };
    // Models without strict mode often pass the arguments as an object instead of its JSON text; accept that.
    match serde_json::from_str(text) {
        Ok(Inner { name, arguments })
            if repair != Repair::Off && arguments.get().starts_with('{') =>
        {
            Ok((name, arguments.get().to_owned()))
        }
        _ => Err(refused),
    }
}

/// Returns the arguments of a stored call of `call_tool` with the present name of the inner call's tool; `None` if the tool was
/// not renamed or the arguments are invalid.
#[cfg(feature = "host")]
pub(super) fn continued(tools: &Toolset, text: &str) -> Option<String> {
    #[derive(Deserialize, Serialize)]
    struct Stored<'a> {
        name: String,
        #[serde(borrow)]
        arguments: &'a RawValue,
    }
    let mut stored: Stored<'_> = serde_json::from_str(text).ok()?;
    tools
        .present_name(&stored.name)?
        .clone_into(&mut stored.name);
    serde_json::to_string(&stored).ok()
}

impl DynamicTool {
    fn listed(self) -> Result<ToolDef, RegistryError> {
        Ok(ToolDef::dynamic(Arc::new(self.judge()?)))
    }
}
