//! The tools of a request, and changes to them during a conversation.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tool_core::Toolset;

use super::budget::{Fit, within};
use super::json::{as_message, json as raw};
use super::listed::{Listed, array, left_out, offered};
use super::search::Native;
use super::{OfferError, Provider};

/// Value of the `anthropic-beta` header for changes to the tool list during a conversation.
const CHANGES: &str = "mid-conversation-tool-changes-2026-07-01";
/// Value of the `anthropic-beta` header for tools that a message of the conversation defines.
const INLINE: &str = "inline-tools-2026-09-15";

/// The tools of a request, created by [`Provider::offer`] or [`Provider::offer_lenient`], and by [`next`](Self::next) for each later request of the
/// conversation.
///
/// It serializes as the request's fields about tools, so that a struct of your own includes it with `#[serde(flatten)]`: `tools`, for OpenAI also
/// `tool_choice` after a removal, for Gemini also `toolConfig`, and for Bedrock only `toolConfig`. Every definition states whether the tool is
/// `strict`, except for Gemini, where the mode `VALIDATED` makes all tools strict. An offer without tools writes no field, because providers refuse
/// an empty list.
#[derive(Clone, Debug)]
pub struct Offer {
    provider: Provider,
    lenient: Vec<String>,
    listed: Vec<Listed>,
    left_out: Vec<String>,
    /// The JSON array of definitions.
    tools: String,
    /// The list element that turns on the provider's own search.
    search: Option<&'static str>,
    change: Option<Box<RawValue>>,
    betas: Vec<&'static str>,
    keeps: bool,
}

impl Provider {
    /// Returns the tools of a request, each as strict as the provider supports.
    ///
    /// Exceeding the provider's limits is an error that names each exceeded limit: 128 tools for OpenAI and Gemini; 20 strict
    /// tools, 24 optional parameters and 15 unions in one request for Anthropic and Bedrock. Tools whose `providers(…)` excludes the provider are not
    /// offered, but [listed](Offer::left_out).
    ///
    /// If the toolset is [searched](Toolset::searched), Anthropic and Responses search on their own: every tool is in the list, hidden tools
    /// with `defer_loading`. For Anthropic, the hidden tools are not strict, so that they do not count against its limits. This works for at
    /// most 9,999 tools with Anthropic and 127 with Responses. Beyond that, and with the other providers, `search_tools` and `call_tool`
    /// replace the hidden tools.
    ///
    /// A tool that is [not strict](tool_core::ToolDef::non_strict) for the provider is offered as non-strict, like a tool passed to
    /// [`offer_lenient`](Self::offer_lenient). If the strict tools together exceed what Claude accepts, dynamic tools whose host allows it
    /// ([`DynamicTool::non_strict`](tool_core::DynamicTool::non_strict)) are sent as non-strict, beginning with the tools that have the
    /// most optional parameters and unions. [`Offer::non_strict`] names all non-strict tools.
    pub fn offer(self, tools: &Toolset) -> Result<Offer, OfferError> {
        self.offer_lenient(tools, [])
    }

    /// Does the same as [`offer`](Self::offer), but sends the tools in `lenient` as non-strict. They do not count against the limits of strict tools.
    /// Gemini has one mode for all tools of a request, so one non-strict tool makes all of them non-strict, unless a tool was removed: Gemini accepts
    /// the names of the remaining tools only in its strict mode.
    pub fn offer_lenient<'a>(
        self,
        tools: &Toolset,
        lenient: impl IntoIterator<Item = &'a str>,
    ) -> Result<Offer, OfferError> {
        let lenient = lenient.into_iter().map(str::to_owned).collect();
        Offer::new(self, tools, lenient)
    }
}

impl Offer {
    fn new(provider: Provider, tools: &Toolset, lenient: Vec<String>) -> Result<Self, OfferError> {
        let native = Native::of(provider, tools);
        let native = native.as_ref();
        let listed = offered(provider, native, tools, &lenient);
        let known = |name: &&String| !listed.iter().any(|tool| tool.name() == **name);
        if let Some(name) = lenient.iter().find(known) {
            return Err(OfferError::NoSuchTool(name.clone()));
        }
        let (lenient, listed) = match within(provider, &listed) {
            Fit::Whole => (lenient, listed),
            Fit::Without(loosened) => {
                let lenient: Vec<String> = lenient.into_iter().chain(loosened).collect();
                let listed = offered(provider, native, tools, &lenient);
                (lenient, listed)
            }
            Fit::Not(error) => return Err(error),
        };
        let search = native.map(Native::entry);
        Ok(Self {
            provider,
            lenient,
            tools: array(search, &listed),
            search,
            listed,
            left_out: left_out(provider, native, tools),
            change: None,
            betas: Vec::new(),
            keeps: true,
        })
    }

    /// Returns the JSON array of definitions. For Gemini, it is the value of `functionDeclarations`.
    pub fn tools(&self) -> &str {
        &self.tools
    }

    /// Returns the names of the tools that are not offered, because their `providers(…)` excludes the provider.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Returns the tools of a later request of the same conversation, chosen so that the provider's cache of the conversation stays valid.
    ///
    /// Definitions come before all messages, so a changed list invalidates the provider's cache of the whole conversation. This method leaves the
    /// bytes of the listed definitions unchanged, and the changes to the turn's tools are sent separately:
    ///
    /// | provider | removed tools | new tools |
    /// |---|---|---|
    /// | Chat | `tool_choice` with `allowed_tools` | added at the end of the list |
    /// | Responses | `tool_choice` with `allowed_tools` | an item `additional_tools`: [`change`](Self::change) |
    /// | Anthropic | `tool_removal` in a message: [`change`](Self::change) | `tool_addition` there |
    /// | Gemini | `allowedFunctionNames` | added at the end of the list |
    /// | Bedrock | the model is not informed | added at the end of the list |
    ///
    /// A call of a removed tool is refused like a call of a tool that does not exist, whether or not the model was informed. A tool that comes
    /// back after its removal is not a new tool. To prepare a tool that the first turn may not use yet, offer it and narrow the offer at once:
    /// `provider.offer(&all)?.next(&first)?`. This shows the model its name and description.
    ///
    /// [`keeps_prefix`](Self::keeps_prefix) returns `false` if a tool was added at the end, except for a deferred tool of Anthropic, or if a new list
    /// was necessary: because a definition changed, because the provider's own search began or ended, or because more tools had to become non-strict.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// use tool_wire::Provider;
    ///
    /// /// Looks around.
    /// #[tool]
    /// fn look() -> u8 {
    ///     0
    /// }
    ///
    /// /// Jumps once.
    /// #[tool]
    /// fn jump() -> u8 {
    ///     0
    /// }
    ///
    /// # fn main() -> Result<(), tool_wire::OfferError> {
    /// let first = Provider::Chat.offer(&toolset![jump, look])?;
    /// let second = first.next(&toolset![look])?;
    /// assert_eq!(second.tools(), first.tools());
    /// assert!(second.withdrawn().eq(["jump"]) && second.keeps_prefix());
    /// # Ok(())
    /// # }
    /// ```
    pub fn next(&self, tools: &Toolset) -> Result<Self, OfferError> {
        let native = Native::of(self.provider, tools);
        let native = native.as_ref();
        let now = offered(self.provider, native, tools, &self.lenient);
        // A map, because there may be thousands of tools.
        let texts: HashMap<&str, &str> =
            now.iter().map(|tool| (tool.name(), &*tool.text)).collect();
        let find = |name: &str| texts.get(name);
        let differs =
            |listed: &Listed| find(listed.name()).is_some_and(|text| **text != listed.text);
        let search = native.map(Native::entry);
        if search != self.search || self.listed.iter().any(differs) {
            return self.restarted(tools);
        }
        let (mut gone, mut back) = (Vec::new(), Vec::new());
        let mut next = self.clone();
        for listed in &mut next.listed {
            let open = find(listed.name()).is_some();
            match (listed.open, open) {
                (true, false) => gone.push(listed.name().to_owned()),
                (false, true) => back.push(listed.name().to_owned()),
                _ => {}
            }
            listed.open = open;
        }
        let known: HashSet<&str> = self.listed.iter().map(Listed::name).collect();
        let is_new = |tool: &Listed| !known.contains(tool.name());
        let mut new: Vec<Listed> = now.into_iter().filter(is_new).collect();
        let inline = matches!(self.provider, Provider::Anthropic | Provider::Responses);
        // Anthropic does not cache deferred tools; Responses shows the model their names and descriptions at once.
        let cached = |tool: &Listed| !(tool.deferred && self.provider == Provider::Anthropic);
        for tool in &mut new {
            tool.inline = inline && cached(tool);
        }
        next.keeps = inline || new.is_empty();
        next.change = next.announce(&gone, &back, &new);
        next.listed.extend(new);
        next.tools = array(next.search, &next.listed);
        next.left_out = left_out(self.provider, native, tools);
        match within(self.provider, &next.listed) {
            Fit::Whole => Ok(next),
            // Tools of the list become non-strict, which changes the list.
            Fit::Without(_) => self.restarted(tools),
            Fit::Not(error) => Err(error),
        }
    }

    /// Creates a new list with the same settings; its bytes differ from the bytes of this list.
    fn restarted(&self, tools: &Toolset) -> Result<Self, OfferError> {
        let is_there = |name: &&String| tools.tools().any(|def| def.wire_name() == **name);
        let lenient = self.lenient.iter().filter(is_there);
        let lenient = lenient.cloned().collect();
        Ok(Self {
            keeps: false,
            ..Self::new(self.provider, tools, lenient)?
        })
    }

    /// Returns the names of the tools whose schemas the provider does not enforce. For Gemini, a single non-strict tool makes these all tools of the
    /// request. If a tool was removed, Gemini enforces the schemas of all tools that may be called, so there are no such names.
    pub fn non_strict(&self) -> impl Iterator<Item = &str> {
        let is_gemini = self.provider == Provider::Gemini;
        let all = is_gemini && self.calling_mode() == "AUTO";
        let loose = move |tool: &&Listed| all || !(is_gemini || tool.strict);
        self.listed.iter().filter(loose).map(Listed::name)
    }

    /// Returns the message (item) that informs the model of the changes; `None` if the request needs no such message. Append it after all messages so
    /// far, and send it in all later requests.
    pub fn change(&self) -> Option<&RawValue> {
        self.change.as_deref()
    }

    /// Returns the values that the `anthropic-beta` header of a request needs if its messages contain a [`change`](Self::change).
    pub fn betas(&self) -> &[&'static str] {
        &self.betas
    }

    /// Returns whether the list equals the list of the previous request byte for byte (true for the first request), except for deferred tools that
    /// were added for Anthropic, because Anthropic does not cache them.
    pub fn keeps_prefix(&self) -> bool {
        self.keeps
    }

    /// Returns the names of the tools in the list that the turn may not use. A call of such a tool is refused.
    pub fn withdrawn(&self) -> impl Iterator<Item = &str> {
        let withdrawn = self.listed.iter().filter(|tool| !tool.open);
        withdrawn.map(Listed::name)
    }

    /// Returns the message (item) that informs the model of removed, returned and new tools, and adds the header values that the message needs.
    fn announce(
        &mut self,
        gone: &[String],
        back: &[String],
        new: &[Listed],
    ) -> Option<Box<RawValue>> {
        let definition = |tool: &Listed| -> Box<RawValue> {
            serde_json::from_str(&tool.text).unwrap_or_else(|_| raw(&json!({})))
        };
        match self.provider {
            Provider::Anthropic => {
                let change = |kind, name| {
                    raw(&json!({"type": kind, "tool": {"type": "tool_reference", "name": name}}))
                };
                let mut blocks: Vec<Box<RawValue>> = Vec::new();
                blocks.extend(gone.iter().map(|name| change("tool_removal", name)));
                blocks.extend(back.iter().map(|name| change("tool_addition", name)));
                let inline = || new.iter().filter(|tool| tool.inline);
                blocks.extend(inline().map(|tool| {
                    raw(&Addition {
                        r#type: "tool_addition",
                        tool: Definition {
                            r#type: "tool_definition",
                            definition: definition(tool),
                        },
                    })
                }));
                if blocks.is_empty() {
                    return None;
                }
                // The changes stay in the messages, so every later request needs these header values.
                let needed = [(true, CHANGES), (inline().next().is_some(), INLINE)];
                for (_, beta) in needed.into_iter().filter(|(needed, _)| *needed) {
                    if !self.betas.contains(&beta) {
                        self.betas.push(beta);
                    }
                }
                as_message("system", blocks)
            }
            Provider::Responses if !new.is_empty() => Some(raw(&Additional {
                r#type: "additional_tools",
                role: "developer",
                tools: new.iter().map(definition).collect(),
            })),
            _ => None,
        }
    }

    /// Returns the names of the tools that may be called, or `None` if every tool of the list may be called.
    fn narrowed(&self) -> Option<Vec<&str>> {
        let open = self.listed.iter().filter(|tool| tool.open);
        self.withdrawn().next()?;
        Some(open.map(Listed::name).collect())
    }

    fn choice(&self) -> Option<Value> {
        let names = self.narrowed()?;
        if names.is_empty() {
            return Some(json!("none"));
        }
        Some(if self.provider == Provider::Chat {
            let tool = |name| json!({"type": "function", "function": {"name": name}});
            let tools: Vec<Value> = names.into_iter().map(tool).collect();
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": tools}})
        } else {
            let tool = |name| json!({"type": "function", "name": name});
            let tools: Vec<Value> = names.into_iter().map(tool).collect();
            json!({"type": "allowed_tools", "mode": "auto", "tools": tools})
        })
    }

    fn calling(&self) -> Value {
        let mode = self.calling_mode();
        let config = match self.narrowed() {
            Some(names) if mode == "VALIDATED" => {
                json!({"mode": mode, "allowedFunctionNames": names})
            }
            _ => json!({"mode": mode}),
        };
        json!({"functionCallingConfig": config})
    }

    /// Returns Gemini's function calling mode, which applies to all tools of a request.
    fn calling_mode(&self) -> &'static str {
        match self.narrowed() {
            None if self.listed.iter().all(|tool| tool.strict) => "VALIDATED",
            None => "AUTO",
            Some(names) if names.is_empty() => "NONE",
            // Gemini accepts names only in the mode that enforces the schemas.
            Some(_) => "VALIDATED",
        }
    }
}

#[derive(Serialize)]
struct Addition {
    r#type: &'static str,
    tool: Definition,
}

#[derive(Serialize)]
struct Definition {
    r#type: &'static str,
    definition: Box<RawValue>,
}

#[derive(Serialize)]
struct Additional {
    r#type: &'static str,
    role: &'static str,
    tools: Vec<Box<RawValue>>,
}

impl Serialize for Offer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.search.is_none() && self.listed.iter().all(|tool| tool.inline) {
            return serializer.serialize_map(Some(0))?.end();
        }
        let tools: &RawValue =
            serde_json::from_str(&self.tools).map_err(serde::ser::Error::custom)?;
        let mut map = serializer.serialize_map(None)?;
        match self.provider {
            Provider::Chat | Provider::Responses => {
                map.serialize_entry("tools", tools)?;
                if let Some(choice) = self.choice() {
                    map.serialize_entry("tool_choice", &choice)?;
                }
            }
            Provider::Anthropic => map.serialize_entry("tools", tools)?,
            Provider::Gemini => {
                map.serialize_entry("tools", &[Declarations { tools }])?;
                map.serialize_entry("toolConfig", &self.calling())?;
            }
            Provider::Bedrock => map.serialize_entry("toolConfig", &Config { tools })?,
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Declarations<'a> {
    #[serde(rename = "functionDeclarations")]
    tools: &'a RawValue,
}

#[derive(Serialize)]
struct Config<'a> {
    tools: &'a RawValue,
}
