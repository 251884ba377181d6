//! Secrets and variables from the environment, from flags and from the terminal.
//!
//! A secret's value never stands on the command line, where other users of the machine and the shell's history see it.

use std::borrow::Cow;
use std::env;
use std::fs;

use tool_core::{
    Explanation, ExposeSecret as _, Layer, SecretString, ToolContext, ToolContextBuilder, ToolDef,
    VariableKind,
};

use crate::args::Supply;
use crate::outcome::Failure;

/// What tools ask for, and what was found of it.
#[derive(Default)]
pub(super) struct Supplied {
    secrets: Vec<(String, SecretString)>,
    secret_variables: Vec<(String, SecretString)>,
    variables: Vec<(String, String)>,
}

impl Supplied {
    /// Looks up what these tools declare.
    pub(super) fn gather<'a>(
        supply: &Supply,
        tools: impl IntoIterator<Item = &'a ToolDef>,
    ) -> Result<Self, Failure> {
        let mut supplied = Self::default();
        for source in &supply.secrets {
            let (key, value) = secret(source)?;
            supplied.secrets.push((key.clone(), value.clone()));
            supplied.secret_variables.push((key, value));
        }
        for said in &supply.variables {
            let Some((name, value)) = said.split_once('=') else {
                let text = format!("`--variable {said}` has no value");
                return Err(Failure::usage(text).hint("write `--variable NAME=VALUE`"));
            };
            supplied.variables.push((name.to_owned(), value.to_owned()));
        }
        for def in tools {
            for need in def.secrets() {
                if supplied.secrets.iter().all(|(key, _)| *key != need.key)
                    && let Ok(value) = env::var(variable_of("SECRET", &need.key))
                {
                    supplied.secrets.push((need.key.to_string(), value.into()));
                }
            }
            for need in def.variables() {
                let known = supplied.variables.iter().map(|(name, _)| name);
                let secret = supplied.secret_variables.iter().map(|(name, _)| name);
                let is_secret = need.kind == VariableKind::Secret;
                if is_secret
                    && supplied
                        .variables
                        .iter()
                        .any(|(name, _)| *name == need.name)
                {
                    return Err(Failure::usage(format!(
                        "variable `{}` is secret, and a value on the command line can be seen",
                        need.name
                    ))
                    .hint(format!(
                        "write `--secret {}=env:NAME` or `--secret {0}=file:PATH`",
                        need.name
                    )));
                }
                if known.chain(secret).any(|name| *name == need.name) {
                    continue;
                }
                let Ok(value) = env::var(variable_of("VARIABLE", &need.name)) else {
                    continue;
                };
                supplied.variable(&need.name, value, need.kind);
            }
        }
        Ok(supplied)
    }

    /// Adds a variable.
    pub(super) fn variable(&mut self, name: &str, value: String, kind: VariableKind) {
        match kind {
            VariableKind::Text => self.variables.push((name.to_owned(), value)),
            VariableKind::Secret => self.secret_variables.push((name.to_owned(), value.into())),
        }
    }

    /// Adds a secret.
    pub(super) fn secret(&mut self, key: &str, value: SecretString) {
        self.secrets.push((key.to_owned(), value));
    }

    /// Keys of secrets that a tool cannot do without and that are missing or empty.
    pub(super) fn missing<'a>(&self, def: &'a ToolDef) -> Vec<&'a str> {
        let required = def.secrets().iter().filter(|need| !need.optional);
        let there = |key: &str| {
            self.secrets
                .iter()
                .any(|(known, value)| known == key && !value.expose_secret().is_empty())
        };
        required
            .map(|need| &*need.key)
            .filter(|key| !there(key))
            .collect()
    }

    /// A context with all of it.
    pub(super) fn context(&self, supply: &Supply) -> ToolContextBuilder {
        let user = supply.user.clone().or_else(|| env::var("USER").ok());
        let mut cx = ToolContext::builder().user(user.unwrap_or_else(|| "cli".to_owned()));
        if let Some(workspace) = &supply.workspace {
            cx = cx.workspace(workspace);
        }
        for (key, value) in &self.secrets {
            cx = cx.secret(key, value.clone());
        }
        for (name, value) in &self.secret_variables {
            cx = cx.secret_variable(name, value.clone());
        }
        for (name, value) in &self.variables {
            cx = cx.variable(name, value);
        }
        cx
    }
}

/// Reads `KEY=env:VARIABLE` or `KEY=file:PATH`.
fn secret(said: &str) -> Result<(String, SecretString), Failure> {
    let form = "write `--secret KEY=env:VARIABLE` or `--secret KEY=file:PATH`";
    let Some((key, source)) = said.split_once('=') else {
        return Err(Failure::usage("a `--secret` has no source").hint(form));
    };
    let value = if let Some(variable) = source.strip_prefix("env:") {
        env::var(variable).map_err(|_| {
            Failure::usage(format!(
                "secret `{key}`: the environment has no `{variable}`"
            ))
            .hint("export it before the call")
        })?
    } else if let Some(path) = source.strip_prefix("file:") {
        let text = fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("secret `{key}`: `{path}` cannot be read: {error}"))
        })?;
        text.trim_end_matches(['\r', '\n']).to_owned()
    } else {
        // What stands there may be the secret itself.
        let text = format!("secret `{key}`: a value on the command line can be seen by others");
        return Err(Failure::usage(text).hint(form));
    };
    Ok((key.to_owned(), value.into()))
}

/// The variable of the environment that a secret or a variable comes from.
pub(super) fn variable_of(kind: &str, name: &str) -> String {
    let upper = name.chars().map(|letter| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_uppercase()
        } else {
            '_'
        }
    });
    format!("TOOL_{kind}_{}", upper.collect::<String>())
}

/// Why a tool is hidden, and what to do about it here.
pub(super) fn reason(def: &ToolDef, explanation: &Explanation) -> String {
    let mut text = explanation.to_string();
    if explanation.layer() == Some(Layer::Secrets) {
        let required = def.secrets().iter().filter(|need| !need.optional);
        let names: Vec<Cow<'_, str>> = required
            .map(|need| format!("`{}`", variable_of("SECRET", &need.key)).into())
            .collect();
        text.push_str("; here it comes from ");
        text.push_str(&names.join(", "));
    }
    text
}
