//! The demonstration: a scripted model that calls a tool with the arguments of its example, or with arguments that are generated from its schema.

use tool_agent::model::{Script, ScriptedModel};
use tool_core::store::Role;
use tool_core::testing::valid_inputs;
use tool_core::turn::{ModelMessage, ToolMessage};
use tool_core::{ToolCall, ToolDef, Toolset};

/// The seed of the generated arguments. It is constant, so that every demonstration of a program is the same.
const SEED: u64 = 1;

/// The number of sets of arguments that are generated for a tool. The shortest set is used.
const MADE: usize = 8;

/// Returns the script for one message.
pub(super) fn script(tools: &Toolset) -> ScriptedModel {
    let Some((tool, arguments)) = example(tools) else {
        let text = "This is a demonstration without a model. It calls only tools that are read-only and need no network, and this program has no such tool.";
        return ScriptedModel::new([Script::text(text)]);
    };
    let name = tool.wire_name().to_owned();
    let text = format!(
        "This is a demonstration without a model. It calls `{name}` with these arguments: {arguments}"
    );
    let mut message = ModelMessage::text(text);
    message.calls = vec![ToolCall::new("demo", &*name, arguments)];
    let answer = Script::with(move |request| {
        let result = request
            .messages
            .iter()
            .rfind(|message| message.role == Role::Tool);
        let result =
            result.and_then(|message| serde_json::from_str::<ToolMessage>(&message.content).ok());
        let text = result.map_or_else(String::new, |result| result.text);
        Ok(ModelMessage::text(format!(
            "A model would read this result of `{name}` and answer with it: {text}"
        )))
    });
    ScriptedModel::new([Script::message(message), answer])
}

/// Returns a tool that only reads and needs no network, with the arguments of its first example. If no such tool has an example, the arguments
/// are generated.
fn example(tools: &Toolset) -> Option<(&ToolDef, String)> {
    let defs = tools.names().filter_map(|name| tools.get(name));
    // A demonstration must not change anything, and works without a network.
    let harmless = |def: &&ToolDef| def.hints().read_only && !def.hints().open_world;
    let reading: Vec<&ToolDef> = defs.filter(harmless).collect();
    let with_example = reading.iter().find_map(|def| {
        let example = def.examples().first()?;
        Some((*def, example.input.text.to_owned()))
    });
    with_example.or_else(|| {
        reading.iter().find_map(|def| {
            let made = valid_inputs(def, SEED, MADE).into_iter();
            let shortest = made
                .map(|value| value.to_string())
                .min_by_key(String::len)?;
            Some((*def, shortest))
        })
    })
}
