//! Selection of the model of a chat: by the options, by the keys in the environment, or the demonstration.

use std::io::IsTerminal as _;
use std::sync::Arc;

use tool_agent::model::{ApiKey, Endpoint, HttpModel, Restart, Retry};
use tool_core::Toolset;
use tool_core::turn::Model;

use super::demo;
use super::output::Output;
use crate::args::chat::Chat;
use crate::outcome::Failure;

/// A provider that `--model` can name.
struct Known {
    name: &'static str,
    variable: &'static str,
    /// The model without `--model`; `None` if the provider is chosen by name only.
    default: Option<&'static str>,
    endpoint: fn(ApiKey) -> Endpoint,
}

/// The providers, in the order in which their keys are looked up.
const KNOWN: [Known; 4] = [
    Known {
        name: "anthropic",
        variable: "ANTHROPIC_API_KEY",
        default: Some("claude-sonnet-4-5"),
        endpoint: |key| Endpoint::anthropic(key),
    },
    Known {
        name: "openai",
        variable: "OPENAI_API_KEY",
        default: Some("gpt-5"),
        endpoint: |key| Endpoint::openai(key),
    },
    Known {
        name: "gemini",
        variable: "GEMINI_API_KEY",
        default: Some("gemini-2.5-pro"),
        endpoint: |key| Endpoint::gemini(key),
    },
    Known {
        name: "openai-chat",
        variable: "OPENAI_API_KEY",
        default: None,
        endpoint: |key| Endpoint::openai_chat(key),
    },
];

/// The environment variable with the key for the server of `--base-url`.
const KEY_OF_SERVER: &str = "TOOL_MODEL_KEY";

/// The model of a chat.
pub(super) enum Chosen {
    Http {
        model: Box<HttpModel>,
        about: String,
    },
    Demo {
        model: tool_agent::model::ScriptedModel,
        output: Arc<Output>,
    },
}

impl Chosen {
    /// Returns the description of the model that the first line of the chat prints.
    pub(super) fn about(&self) -> String {
        match self {
            Self::Http { about, .. } => about.clone(),
            Self::Demo { .. } => "a demonstration without a model".to_owned(),
        }
    }

    /// Writes the script of the demonstration for a new message.
    pub(super) fn begin(&mut self, tools: impl FnOnce() -> Toolset) {
        if let Self::Demo { model, output } = self {
            let output = Arc::clone(output);
            *model = demo::script(&tools()).observe(move |event| output.event(event));
        }
    }

    pub(super) fn model(&mut self) -> &mut dyn Model {
        match self {
            Self::Http { model, .. } => &mut **model,
            Self::Demo { model, .. } => model,
        }
    }
}

/// Chooses the model of a chat.
pub(super) fn choose(words: &Chat, output: &Arc<Output>, is_json: bool) -> Result<Chosen, Failure> {
    if words.demo {
        return Ok(Chosen::Demo {
            model: tool_agent::model::ScriptedModel::new([]),
            output: Arc::clone(output),
        });
    }
    let (endpoint, name, about) = endpoint(words)?;
    let usage = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    let mut retry = Retry::default();
    if !std::io::stdout().is_terminal() && !is_json {
        // Text that was written to a pipe cannot be withdrawn if the attempt fails.
        retry.restart = Restart::Hold;
    }
    let built = HttpModel::builder(endpoint, name).retry(retry).build();
    let mut model = built.map_err(|error| usage(&error))?;
    if let Some(path) = &words.record {
        model = model.record(path).map_err(|error| usage(&error))?;
    }
    if let Some(path) = &words.replay {
        model = model.replay(path).map_err(|error| usage(&error))?;
    }
    let output = Arc::clone(output);
    let model = Box::new(model.observe(move |event| output.event(event)));
    Ok(Chosen::Http { model, about })
}

/// Returns the endpoint, the name of the model, and a description of both.
fn endpoint(words: &Chat) -> Result<(Endpoint, String, String), Failure> {
    let named = words.model.as_deref().map(|model| {
        let known = model.split_once(':').and_then(|(provider, name)| {
            let known = KNOWN.iter().find(|known| known.name == provider)?;
            Some((known, name))
        });
        (model, known)
    });
    let (known, name) = match (named, &words.base_url) {
        (Some((_, Some((known, name)))), _) => (known, name.to_owned()),
        (Some((name, None)), Some(url)) => {
            let mut endpoint = Endpoint::compatible(url);
            if let Ok(key) = ApiKey::from_env(KEY_OF_SERVER) {
                endpoint = endpoint.credentials(key);
            }
            return Ok((endpoint, name.to_owned(), format!("{name} at {url}")));
        }
        (Some((model, None)), None) => {
            let providers: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
            let text = format!("`--model {model}` does not name a provider");
            let hint = format!(
                "write `--model PROVIDER:NAME` with the provider {}, or add `--base-url URL` for a server that implements Chat Completions",
                providers.join(", ")
            );
            return Err(Failure::usage(text).hint(hint));
        }
        (None, Some(_)) => {
            return Err(
                Failure::usage("`--base-url` needs the name of a model").hint("add `--model NAME`")
            );
        }
        (None, None) => default(words.replay.is_some())?,
    };
    let key = if words.replay.is_some() {
        ApiKey::new("replayed")
    } else {
        ApiKey::from_env(known.variable).map_err(|error| Failure::usage(error.to_string()))?
    };
    let mut endpoint = (known.endpoint)(key);
    if let Some(url) = &words.base_url {
        endpoint = endpoint.base_url(url);
    }
    let about = format!("{name} of {}", known.name);
    Ok((endpoint, name, about))
}

/// Returns the first provider whose key is set, and its default model. A replay needs no key.
fn default(replays: bool) -> Result<(&'static Known, String), Failure> {
    let with_default = || {
        KNOWN
            .iter()
            .filter_map(|known| Some((known, known.default?)))
    };
    let is_set = |known: &Known| replays || ApiKey::from_env(known.variable).is_ok();
    let set = with_default().find(|(known, _)| is_set(known));
    let Some((known, name)) = set else {
        let variables: Vec<&str> = with_default().map(|(known, _)| known.variable).collect();
        return Err(Failure::usage("no model is configured").hint(format!(
            "set one of the environment variables {} to an API key, use a local server with `--model NAME --base-url URL`, or try a chat without a model with `--demo`",
            variables.join(", ")
        )));
    };
    Ok((known, name.to_owned()))
}
