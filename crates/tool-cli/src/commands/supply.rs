//! Secrets and variables from the environment, from flags and from the terminal.
//!
//! Secret values are never accepted on the command line, where other users of the machine and the shell's history can see them.

use std::borrow::Cow;
use std::env;
use std::fs;

use tool_core::redact::Redactor;
use tool_core::{
    Explanation, ExposeSecret as _, Layer, SecretKind, SecretString, ToolContext,
    ToolContextBuilder, ToolDef, VariableKind,
};

use crate::args::Supply;
use crate::outcome::Failure;
use crate::screen::count;

/// The values of secrets and variables that were found for the tools.
#[derive(Default)]
pub(super) struct Supplied {
    secrets: Vec<(String, SecretString)>,
    secret_variables: Vec<(String, SecretString)>,
    variables: Vec<(String, String)>,
}

impl Supplied {
    /// Looks up the secrets and variables that `tools` declare. Refuses a name that no tool in `known` declares.
    pub(super) fn gather<'a>(
        supply: &Supply,
        tools: impl IntoIterator<Item = &'a ToolDef>,
        known: impl IntoIterator<Item = &'a ToolDef>,
    ) -> Result<Self, Failure> {
        Self::gather_with(supply, tools, known, |_| false)
    }

    /// Works like [`gather`](Self::gather), but also admits the keys of secrets that `is_later` accepts, because tools that are created later may
    /// declare them.
    pub(super) fn gather_with<'a>(
        supply: &Supply,
        tools: impl IntoIterator<Item = &'a ToolDef>,
        known: impl IntoIterator<Item = &'a ToolDef>,
        is_later: impl Fn(&str) -> bool,
    ) -> Result<Self, Failure> {
        let mut supplied = Self::default();
        let known: Vec<&ToolDef> = known.into_iter().collect();
        for source in &supply.secrets {
            let (key, value) = secret(source)?;
            let secrets = || known.iter().flat_map(|def| def.secrets().iter());
            let variables = || known.iter().flat_map(|def| def.variables().iter());
            let keys = secrets().map(|need| &*need.key);
            let names = variables()
                .filter(|need| need.kind == VariableKind::Secret)
                .map(|need| &*need.name);
            if !is_later(&key) {
                is_declared("secret", &key, keys.chain(names))?;
            }
            supplied.secrets.push((key.clone(), value.clone()));
            supplied.secret_variables.push((key, value));
        }
        for said in &supply.variables {
            let Some((name, value)) = said.split_once('=') else {
                let text = format!("`--variable {said}` has no value");
                return Err(Failure::usage(text).hint("write `--variable NAME=VALUE`"));
            };
            let names = known.iter().flat_map(|def| def.variables().iter());
            is_declared("variable", name, names.map(|need| &*need.name))?;
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
                        "variable `{}` is secret, and other users can see a value on the command line",
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

    pub(super) fn variable(&mut self, name: &str, value: String, kind: VariableKind) {
        match kind {
            VariableKind::Text => self.variables.push((name.to_owned(), value)),
            VariableKind::Secret => self.secret_variables.push((name.to_owned(), value.into())),
        }
    }

    pub(super) fn secret(&mut self, key: &str, value: SecretString) {
        self.secrets.push((key.to_owned(), value));
    }

    /// Returns whether a secret was supplied.
    #[cfg(feature = "serve")]
    pub(super) fn has_secret(&self, key: &str) -> bool {
        self.secrets.iter().any(|(known, _)| known == key)
    }

    /// Returns the keys of the tool's required secrets that are missing or empty.
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

    /// Refuses a text secret that is too short to be redacted, because it would match unrelated text.
    pub(super) fn check_length(&self, def: &ToolDef) -> Result<(), Failure> {
        let text = def
            .secrets()
            .iter()
            .filter(|need| need.kind == SecretKind::Text);
        for need in text {
            let given = self.secrets.iter().find(|(key, _)| *key == need.key);
            let length = given.map_or(0, |(_, value)| value.expose_secret().trim().len());
            if (1..Redactor::SHORTEST).contains(&length) {
                let text = format!(
                    "secret `{}` has {} and needs at least {}: a shorter secret cannot be redacted, because it would match unrelated text",
                    need.key,
                    count(length, "byte"),
                    Redactor::SHORTEST
                );
                return Err(Failure::usage(text).hint("use a longer secret"));
            }
        }
        Ok(())
    }

    /// Builds a context with the user, the workspace, the secrets and the variables. The default user is the environment variable `USER`, or `cli` if
    /// it is not set.
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

/// Refuses a name that no tool declares.
fn is_declared<'a>(
    what: &str,
    name: &str,
    declared: impl Iterator<Item = &'a str>,
) -> Result<(), Failure> {
    let mut declared: Vec<&str> = declared.collect();
    if declared.contains(&name) {
        return Ok(());
    }
    declared.sort_unstable();
    declared.dedup();
    let near = declared
        .iter()
        .map(|known| (strsim::jaro(name, known), known))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    let hint = match near {
        Some((_, known)) => format!("did you mean `{known}`?"),
        None if declared.is_empty() => format!("the tools declare no {what}"),
        None => format!("the tools declare `{}`", declared.join("`, `")),
    };
    Err(Failure::usage(format!("no tool declares the {what} `{name}`")).hint(hint))
}

/// Reads `KEY=env:VARIABLE` or `KEY=file:PATH`.
fn secret(said: &str) -> Result<(String, SecretString), Failure> {
    let Some((key, source)) = said.split_once('=') else {
        return Err(Failure::usage("a `--secret` has no source").hint(SECRET_FORM));
    };
    let value = secret_from(&format!("secret `{key}`"), source, SECRET_FORM)?;
    Ok((key.to_owned(), value))
}

/// The form of `--secret`.
const SECRET_FORM: &str = "write `--secret KEY=env:VARIABLE` or `--secret KEY=file:PATH`";

/// Reads a secret from its source, `env:VARIABLE` or `file:PATH`. The errors begin with `name`, and `form` is the hint for any other source.
pub(super) fn secret_from(name: &str, source: &str, form: &str) -> Result<SecretString, Failure> {
    let value = if let Some(variable) = source.strip_prefix("env:") {
        env::var(variable).map_err(|_| {
            Failure::usage(format!(
                "{name}: the environment variable `{variable}` is not set"
            ))
            .hint("export the variable before you run the command")
        })?
    } else if let Some(path) = source.strip_prefix("file:") {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("{name}: `{path}` cannot be read: {error}")))?;
        text.trim_end_matches(['\r', '\n']).to_owned()
    } else {
        // The value is not printed, because it may be the secret itself.
        let text = format!("{name}: other users can see a value on the command line");
        return Err(Failure::usage(text).hint(form));
    };
    Ok(value.into())
}

/// Returns the environment variable that provides a secret or variable.
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

/// Explains why a tool is hidden, and how the command line can change that.
pub(super) fn reason(def: &ToolDef, explanation: &Explanation) -> String {
    let mut text = explanation.to_string();
    if explanation.layer() == Some(Layer::Secrets) {
        let required = def.secrets().iter().filter(|need| !need.optional);
        let names: Vec<Cow<'_, str>> = required
            .map(|need| format!("`{}`", variable_of("SECRET", &need.key)).into())
            .collect();
        text.push_str("; the secrets of the tool are read from ");
        text.push_str(&names.join(", "));
    }
    text
}
