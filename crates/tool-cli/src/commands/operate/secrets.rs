//! The `secrets` command: secrets and the keys of the vault.

use std::io::{IsTerminal as _, Read as _};

use serde_json::json;
use tool_core::{ExposeSecret as _, SecretString};

use super::api::{Api, Request};
use super::rows::Column;
use super::{list, no_filter, query, show};
use crate::args::operate::{Secrets, SecretsAction};
use crate::commands::supply::secret_from;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

const COLUMNS: [Column; 3] = [("NAME", "name"), ("BY", "by"), ("AT", "at")];
const MISSING: [Column; 2] = [("TOOL", "name"), ("MISSING SECRETS", "missing")];
const KEYS: [Column; 7] = [
    ("ID", "id"),
    ("CURRENT", "current"),
    ("SECRETS", "secrets"),
    ("VARIABLES", "variables"),
    ("CONTENTS", "contents"),
    ("SINCE", "since"),
    ("RETIRED", "retired"),
];

pub(in crate::commands) async fn run(
    cli: &Cli,
    words: Secrets,
    screen: Screen,
) -> Result<Exit, Failure> {
    let page = query([], &words.page);
    let open = || Api::with_vault(cli, &words.target, screen);
    let Some(action) = &words.action else {
        let empty = "the workspace has no secrets";
        return list(&open().await?, &["secrets"], page, &COLUMNS, empty, screen).await;
    };
    if !matches!(action, SecretsAction::Missing) {
        no_filter(&page)?;
    }
    match action {
        SecretsAction::Missing => {
            let mut misconfigured = page;
            misconfigured.push(("status", "misconfigured".to_owned()));
            let empty = "no tool lacks a secret";
            let path = &["tool-status"];
            list(&open().await?, path, misconfigured, &MISSING, empty, screen).await
        }
        SecretsAction::Keys => {
            let empty = "no key was used with the store";
            list(&open().await?, &["secret-keys"], page, &KEYS, empty, screen).await
        }
        SecretsAction::Set { name, from } => {
            let value = value(name, from.as_deref())?;
            let body = json!({"value": value.expose_secret()});
            let request = Request::put(&["secrets", name]).body(body);
            show(&open().await?.send(request).await?, screen)
        }
        SecretsAction::Remove { name } => {
            let request = Request::delete(&["secrets", name]);
            show(&open().await?.send(request).await?, screen)
        }
        SecretsAction::Rotate => {
            let request = Request::post(&["secret-keys", "rotate"]).body(json!({}));
            show(&open().await?.send(request).await?, screen)
        }
        SecretsAction::Retire { key } => {
            let request = Request::post(&["secret-keys", key, "retire"]);
            show(&open().await?.send(request).await?, screen)
        }
    }
}

/// Reads the value of a secret from its source, from the terminal, or from standard input without the line break at its end.
fn value(name: &str, from: Option<&str>) -> Result<SecretString, Failure> {
    if let Some(source) = from {
        let form = "write `--from env:VARIABLE` or `--from file:PATH`";
        return secret_from("`--from`", source, form);
    }
    let text = if std::io::stdin().is_terminal() {
        let term = console::Term::stderr();
        term.write_str(&format!("{name} (not shown): "))?;
        term.read_secure_line()?
    } else {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text.trim_end_matches(['\r', '\n']).to_owned()
    };
    if text.is_empty() {
        return Err(Failure::usage(format!("the secret `{name}` has no value"))
            .hint("write the value to standard input, or `--from env:VARIABLE`"));
    }
    Ok(text.into())
}
