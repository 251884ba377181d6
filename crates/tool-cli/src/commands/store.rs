//! The store that `--store` names.

use std::path::Path;

use tool_core::store::SealStore;
use tool_core::store::seal::{KeyError, SealKeys, Vault, VaultError};
use tool_server::AdminStore;
#[cfg(feature = "postgres")]
use tool_store::PostgresStore;
use tool_store::SqliteStore;

use crate::args::is_postgres;
#[cfg(not(feature = "postgres"))]
use crate::commands::missing;
use crate::outcome::{Exit, Failure};
use crate::screen::{Screen, WARN, count, paint};

/// An open store of either database.
pub(super) enum OpenStore {
    Sqlite(SqliteStore),
    #[cfg(feature = "postgres")]
    Postgres(PostgresStore),
}

impl OpenStore {
    /// Opens the store of a URL. A SQLite file that does not exist is created.
    pub(super) async fn open(url: &str) -> Result<Self, Failure> {
        let unopened = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
        if is_postgres(url) {
            #[cfg(feature = "postgres")]
            {
                let store = PostgresStore::open(url).await;
                return Ok(Self::Postgres(store.map_err(|error| unopened(&error))?));
            }
            #[cfg(not(feature = "postgres"))]
            return Err(missing(
                "--store postgres://…",
                "postgres",
                "run the command of `cargo tool`, which builds the program with this feature",
            ));
        }
        if url.contains("://") && !url.starts_with("sqlite:") {
            return Err(Failure::usage(format!(
                "`{}` is not a store that this program supports",
                without_password(url)
            ))
            .hint(
                "give the path of a SQLite file, a URL such as `sqlite:state.db`, or `postgres://user@host/database`",
            ));
        }
        let store = SqliteStore::open(url).await;
        Ok(Self::Sqlite(store.map_err(|error| unopened(&error))?))
    }

    /// Opens the store of a URL. Fails if a SQLite file does not exist.
    pub(super) async fn open_existing(url: &str) -> Result<Self, Failure> {
        if let Some(path) = file(url)
            && !path.exists()
        {
            return Err(Failure::usage(format!("the file `{}` does not exist", path.display()))
                .hint("give the URL that `serve --store` was given, such as `sqlite:state.db`; a relative path begins at the current folder"));
        }
        Self::open(url).await
    }
}

/// Returns the file of a SQLite URL or path, or `None` for a database in memory and for other stores.
fn file(url: &str) -> Option<&Path> {
    if url.contains(":memory:") || url.contains("mode=memory") {
        return None;
    }
    let path = match url.strip_prefix("sqlite:") {
        Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
        None if url.contains("://") => return None,
        None => return Some(Path::new(url)),
    };
    Some(Path::new(
        path.split_once('?').map_or(path, |(path, _)| path),
    ))
}

/// Returns the URL without the user and the password, for messages.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    match rest.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://…@{host}"),
        None => url.to_owned(),
    }
}

/// Returns the vault of the store with the keys of the environment variable `TOOL_SEAL_KEYS`, or a vault that stores no secrets if the variable is
/// not set. Returns `None` if the store has sealed values and there are no keys: the tools and the other resources of the admin API are served
/// nevertheless.
pub(super) async fn vault<S: AdminStore + Clone>(
    store: &S,
    screen: Screen,
) -> Result<Option<Vault>, Failure> {
    let unusable = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    match SealKeys::from_env(SealKeys::VARIABLE) {
        Ok(keys) => {
            let vault = Vault::open(store.clone(), keys).await;
            vault.map(Some).map_err(|error| unusable(&error))
        }
        Err(KeyError::Unset(_)) => match Vault::without_keys(store.clone()).await {
            Ok(vault) => Ok(Some(vault)),
            Err(VaultError::Locked(values)) => {
                screen.note(format_args!(
                    "{} the store has {}, and the environment variable `{}` is not set, so secrets can be neither used nor written",
                    paint(WARN, "warning:"),
                    count(usize::try_from(values).unwrap_or(usize::MAX), "sealed value"),
                    SealKeys::VARIABLE
                ));
                Ok(None)
            }
            Err(error) => Err(Failure::of(Exit::Failed, error.to_string())),
        },
        Err(error) => Err(unusable(&error)),
    }
}

/// Converts a store to a handle that seals contents with the keys of a vault.
pub(super) type Seal<S> = fn(S, &Vault) -> Result<S, VaultError>;

async fn has_sealed_contents(store: &impl SealStore) -> Result<bool, Failure> {
    let uses = store.key_uses().await;
    let uses = uses.map_err(|error| Failure::of(Exit::Failed, error.to_string()))?;
    Ok(uses.iter().any(|using| using.column.is_content()))
}

/// Returns the store of a server. If `seals` is set, the store seals contents with the keys of the vault. Otherwise, fails if the store has
/// sealed contents, because the server could not read them.
#[cfg(feature = "admin")]
pub(super) async fn sealing<S: SealStore>(
    store: S,
    vault: Option<&Vault>,
    seals: bool,
    seal: Seal<S>,
) -> Result<S, Failure> {
    if !seals {
        if has_sealed_contents(&store).await? {
            return Err(Failure::usage("the store has sealed contents")
                .hint("add `--seal-contents`, with the same `TOOL_SEAL_KEYS` as the server that sealed them"));
        }
        return Ok(store);
    }
    let sealed = vault.map(|vault| seal(store, vault));
    match sealed {
        Some(Ok(store)) => Ok(store),
        None | Some(Err(VaultError::NoKeys)) => Err(Failure::usage(format!(
            "`--seal-contents` needs keys, and the environment variable `{}` is not set",
            SealKeys::VARIABLE
        ))
        .hint("set it to `ID:KEY`, where ID is a name such as `2026-11` and KEY is the output of `openssl rand -base64 32`")),
        Some(Err(error)) => Err(Failure::of(Exit::Failed, error.to_string())),
    }
}

/// Returns the store of an operator's command. If the store has sealed contents and there are keys, the returned store opens the contents, and seals
/// the contents that the command writes.
pub(super) async fn sealing_as_before<S: AdminStore + Clone>(
    store: S,
    seal: Seal<S>,
) -> Result<S, Failure> {
    let unusable = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
    if !has_sealed_contents(&store).await? {
        return Ok(store);
    }
    match SealKeys::from_env(SealKeys::VARIABLE) {
        Ok(keys) => {
            let vault = Vault::open(store.clone(), keys).await;
            let vault = vault.map_err(|error| unusable(&error))?;
            seal(store, &vault).map_err(|error| unusable(&error))
        }
        // Most commands do not read contents, so they work without the keys.
        Err(KeyError::Unset(_)) => Ok(store),
        Err(error) => Err(unusable(&error)),
    }
}
