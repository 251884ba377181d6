//! The JSON body of a request to a model.

use std::borrow::Cow;

use serde::ser::{Error as _, SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use tool_core::turn::ModelRequest;
use tool_wire::{Offer, Provider, RequestMessages, SystemPrompt};

use super::config::{CacheTime, Target};
use super::endpoint::Endpoint;
use super::error::{ModelError, ModelErrorKind};
use super::format::{FormatField, OutputFormat};

/// The body and the beta headers of a request, shared by all attempts at one model.
pub(super) struct Written {
    pub(super) body: String,
    /// Values of the header `anthropic-beta`.
    pub(super) betas: Vec<&'static str>,
}

/// Returns the name of the field that contains the messages.
const fn messages_field(provider: Provider) -> &'static str {
    match provider {
        Provider::Chat | Provider::Anthropic | Provider::Bedrock => "messages",
        Provider::Responses => "input",
        Provider::Gemini => "contents",
    }
}

/// Returns whether a host must not set a field of the body: the name of the model, `stream`, the tools, the system prompt and the messages.
pub(super) fn is_reserved(provider: Provider, field: &str) -> bool {
    matches!(
        field,
        "model" | "stream" | "tools" | "system" | "systemInstruction" | "toolConfig"
    ) || field == messages_field(provider)
}

/// Returns the fields that are the same in every request.
pub(super) fn params(
    endpoint: &Endpoint,
    max_tokens: Option<u32>,
    temperature: Option<f64>,
) -> Map<String, Value> {
    let mut params = Map::new();
    let mut add = |name: &str, value: Value| {
        params.insert(name.to_owned(), value);
    };
    match endpoint.provider {
        Provider::Chat => {
            add("stream_options", json!({"include_usage": true}));
            // OpenAI refuses the old name for models that reason, and many compatible servers know only the old name.
            let name = if endpoint.own {
                "max_completion_tokens"
            } else {
                "max_tokens"
            };
            if let Some(tokens) = max_tokens {
                add(name, tokens.into());
            }
        }
        Provider::Responses => {
            add("store", false.into());
            add("include", json!(["reasoning.encrypted_content"]));
            if let Some(tokens) = max_tokens {
                add("max_output_tokens", tokens.into());
            }
        }
        Provider::Anthropic => {
            if let Some(tokens) = max_tokens {
                add("max_tokens", tokens.into());
            }
        }
        Provider::Gemini | Provider::Bedrock => {
            let (field, name) = match endpoint.provider {
                Provider::Gemini => ("generationConfig", "maxOutputTokens"),
                _ => ("inferenceConfig", "maxTokens"),
            };
            let mut config = Map::new();
            if let Some(tokens) = max_tokens {
                config.insert(name.to_owned(), tokens.into());
            }
            if let Some(temperature) = temperature {
                config.insert("temperature".to_owned(), temperature.into());
            }
            if !config.is_empty() {
                add(field, config.into());
            }
            return params;
        }
    }
    if let Some(temperature) = temperature {
        add("temperature", temperature.into());
    }
    params
}

/// Returns the limit on output tokens in the fields of a request.
pub(super) fn max_tokens(provider: Provider, params: &Map<String, Value>) -> Option<u64> {
    let within = |object: &str, name: &str| params.get(object)?.get(name)?.as_u64();
    match provider {
        Provider::Gemini => within("generationConfig", "maxOutputTokens"),
        Provider::Bedrock => within("inferenceConfig", "maxTokens"),
        Provider::Chat | Provider::Responses | Provider::Anthropic => {
            let names = ["max_completion_tokens", "max_output_tokens", "max_tokens"];
            let limits = names.iter().filter_map(|name| params.get(*name)?.as_u64());
            limits.max()
        }
    }
}

/// Returns Anthropic's marker at the top level of a request, which the API applies to the last block that can be cached.
pub(super) fn cache_control(time: CacheTime) -> Value {
    match time {
        CacheTime::FiveMinutes => json!({"type": "ephemeral"}),
        CacheTime::OneHour => json!({"type": "ephemeral", "ttl": "1h"}),
    }
}

/// Returns the block that marks the end of a prefix to cache for Bedrock.
fn cache_point(time: CacheTime) -> serde_json::Result<Box<RawValue>> {
    to_raw_value(&match time {
        CacheTime::FiveMinutes => json!({"cachePoint": {"type": "default"}}),
        CacheTime::OneHour => json!({"cachePoint": {"type": "default", "ttl": "1h"}}),
    })
}

/// Adds a cache point after each of the last two messages of the user. In a conversation that continues, the first of the two was the last message of
/// the previous request, so Bedrock finds the prefix up to that message in the cache, even for models for which it does not search for a shorter
/// prefix.
fn mark_messages(messages: &mut [Box<RawValue>], point: &RawValue) -> serde_json::Result<()> {
    #[derive(Deserialize, Serialize)]
    struct Message<'a> {
        #[serde(borrow)]
        role: Cow<'a, str>,
        #[serde(borrow)]
        content: Vec<&'a RawValue>,
    }
    let mut marked = 0;
    for raw in messages.iter_mut().rev() {
        let mut message: Message<'_> = serde_json::from_str(raw.get())?;
        if message.role != "user" {
            continue;
        }
        message.content.push(point);
        *raw = to_raw_value(&message)?;
        marked += 1;
        if marked == 2 {
            break;
        }
    }
    Ok(())
}

/// Applies a JSON merge patch (RFC 7396).
pub(super) fn merge(into: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (name, value) in patch {
        match value {
            Value::Null => {
                into.remove(&name);
            }
            Value::Object(patch) => {
                let inner = into.entry(name).or_insert(Value::Null);
                if !inner.is_object() {
                    *inner = Value::Object(Map::new());
                }
                if let Value::Object(inner) = inner {
                    merge(inner, patch);
                }
            }
            value => {
                into.insert(name, value);
            }
        }
    }
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(flatten)]
    params: Params<'a>,
    #[serde(flatten)]
    offer: &'a Offer,
    #[serde(flatten)]
    system: System<'a>,
    #[serde(flatten)]
    messages: Messages<'a>,
}

/// The system prompt, and the cache point after it.
struct System<'a> {
    prompt: &'a SystemPrompt,
    cache_point: Option<&'a RawValue>,
}

impl Serialize for System<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (Some(point), Some((name, blocks))) = (self.cache_point, self.prompt.field()) else {
            return self.prompt.serialize(serializer);
        };
        let mut blocks: Vec<&RawValue> =
            serde_json::from_str(blocks.get()).map_err(S::Error::custom)?;
        blocks.push(point);
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(name, &blocks)?;
        map.end()
    }
}

/// The fields that are the same in every request, and the format of a typed output.
struct Params<'a> {
    params: &'a Map<String, Value>,
    output: Option<FormatField>,
}

impl Serialize for Params<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let output = self.output.as_ref();
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.params {
            if output.is_none_or(|(field, _)| field != name) {
                map.serialize_entry(name, value)?;
            }
        }
        if let Some((field, members)) = output {
            let own = self.params.get(*field).and_then(Value::as_object);
            map.serialize_entry(field, &Members { own, members })?;
        }
        map.end()
    }
}

/// A field of the body: the entries that the configuration sets, and the entries that are added, which replace entries of the same name.
struct Members<'a> {
    own: Option<&'a Map<String, Value>>,
    members: &'a [(&'static str, Box<RawValue>)],
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.own.into_iter().flatten() {
            if !self.members.iter().any(|(member, _)| member == name) {
                map.serialize_entry(name, value)?;
            }
        }
        for (name, value) in self.members {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The messages, in the field that the provider defines for them.
#[derive(Serialize)]
enum Messages<'a> {
    #[serde(rename = "messages")]
    Plain(&'a [Box<RawValue>]),
    #[serde(rename = "input")]
    Items(&'a [Box<RawValue>]),
    #[serde(rename = "contents")]
    Contents(&'a [Box<RawValue>]),
}

/// Writes the body of a request, and returns it with the beta headers.
pub(super) fn write(
    target: &Target,
    request: &ModelRequest<'_>,
) -> Result<Written, Box<ModelError>> {
    let unwritable = |error: &dyn std::error::Error| {
        ModelError::new(ModelErrorKind::Unwritable, &target.model, error.to_string())
    };
    let provider = target.provider;
    let offer = provider
        .offer(request.tools)
        .map_err(|error| unwritable(&error))?;
    let mut history = provider
        .history_for(request.messages, &target.origin)
        .map_err(|error| unwritable(&error))?;
    if provider == Provider::Chat {
        target.past_reasoning.apply(&mut history.messages);
    }
    let cache_point = target.cache_points.map(cache_point).transpose();
    let cache_point = cache_point.map_err(|error| unwritable(&error))?;
    if let Some(point) = &cache_point {
        mark_messages(&mut history.messages, point).map_err(|error| unwritable(&error))?;
    }
    let RequestMessages {
        messages, system, ..
    } = &history;
    let output = match request.cx.get::<OutputFormat>() {
        Ok(format) => Some(format.field(provider).map_err(|error| unwritable(&error))?),
        Err(_) => None,
    };
    // Gemini and Bedrock have the model and the kind of response in the URL.
    let in_url = matches!(provider, Provider::Gemini | Provider::Bedrock);
    let body = Body {
        model: (!in_url).then_some(&*target.model),
        stream: (!in_url).then_some(true),
        params: Params {
            params: &target.params,
            output,
        },
        offer: &offer,
        system: System {
            prompt: system,
            cache_point: cache_point.as_deref(),
        },
        messages: match provider {
            Provider::Responses => Messages::Items(messages),
            Provider::Gemini => Messages::Contents(messages),
            Provider::Chat | Provider::Anthropic | Provider::Bedrock => Messages::Plain(messages),
        },
    };
    let body = serde_json::to_string(&body).map_err(|error| unwritable(&error))?;
    Ok(Written {
        body,
        betas: offer.betas().to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Test cases from RFC 7396, appendix A, in which both the target and the patch are objects.
    #[test]
    fn fields_are_merged_as_a_merge_patch() {
        for (target, patch, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": "b"}),
                json!({"b": "c"}),
                json!({"a": "b", "b": "c"}),
            ),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (
                json!({}),
                json!({"a": {"bb": {"ccc": null}}}),
                json!({"a": {"bb": {}}}),
            ),
            (
                json!({"e": null}),
                json!({"a": 1}),
                json!({"e": null, "a": 1}),
            ),
        ] {
            let (Value::Object(mut into), Value::Object(patch)) = (target, patch) else {
                unreachable!("the cases are objects");
            };
            merge(&mut into, patch);
            assert_eq!(Value::Object(into), expected);
        }
    }
}
