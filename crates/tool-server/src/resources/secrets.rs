//! `/v1/secrets`: sealed secrets, whose values can be written and not read. `/v1/secret-keys`: the keys that seal them. `/v1/secret-status` and
//! `/v1/tool-status`: the secrets that tools declare, and the tools that lack one.

use std::collections::BTreeSet;

use axum::extract::State;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::store::seal::{Vault, VaultError};
use tool_core::store::{
    Change, KeyId, KeyUse, Scope, SealStore, SealedColumn, SecretFilter, SecretInfo, SecretStore,
    Timestamp, VaultChange,
};
use tool_core::{Registry, SecretStatus};
use utoipa::openapi::Schema;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, ChangeOutcome, Routes, needs, outcome};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json};
use crate::extract::{Body, Id, Idempotency, NotRepeatable, Query, SecretText};
use crate::openapi::one_of;
use crate::page::{Page, Paged, Paging};
use crate::problem::{Kind, Problem};
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "secret";
const KEY: &str = "key";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_secrets)))
        .routes(needs(Access::role(Role::Admin), routes!(write_secret)))
        .routes(needs(Access::role(Role::Admin), routes!(remove_secret)))
        .routes(needs(
            Access::role(Role::Viewer),
            routes!(list_secret_status),
        ))
        .routes(needs(Access::role(Role::Viewer), routes!(list_tool_status)))
        .routes(needs(Access::host(Role::Viewer), routes!(list_secret_keys)))
        .routes(needs(Access::host(Role::Admin), routes!(rotate_secrets)))
        .routes(needs(Access::host(Role::Admin), routes!(retire_secret_key)))
}

/// Returns the vault of the host. Fails if the server was built without a vault.
pub(super) fn vault(admin: &Inner) -> Result<&Vault, Problem> {
    admin.vault.as_ref().ok_or_else(|| {
        Problem::new(
            Kind::NotFound,
            "this server was built without the host's vault, add it with `AdminServerBuilder::vault`",
        )
    })
}

fn registry(admin: &Inner) -> Result<&Registry, Problem> {
    admin.registry.as_ref().ok_or_else(|| {
        Problem::new(
            Kind::NotFound,
            "this server was built without the host's tools, add them with `AdminServerBuilder::registry`",
        )
    })
}

/// The name of a secret, and the last write of its value. No response contains a value.
#[derive(Serialize, ToSchema)]
struct Secret {
    /// The name that tools declare.
    name: String,
    /// The user who last wrote the value.
    by: String,
    #[schema(format = DateTime)]
    at: String,
}

impl From<SecretInfo> for Secret {
    fn from(info: SecretInfo) -> Self {
        Self {
            name: info.name,
            by: info.by,
            at: time::text(info.at),
        }
    }
}

/// Lists the names of the secrets of the workspace, without their values.
#[utoipa::path(get, path = "/v1/secrets", tag = "secrets", params(Paged),
    responses((status = 200, description = "A page of secrets", body = Page<Secret>)))]
async fn list_secrets(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging()?;
    let after = paging.after.clone();
    let filter = SecretFilter {
        limit: Some(paging.rows()),
        after: after.map(|name| (caller.workspace.clone(), name)),
    };
    let scope = Scope::Workspace(&caller.workspace);
    let rows = SecretStore::list_secrets(&*admin.store, scope, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let page = paging.page(rows, |info| info.name.clone(), Secret::from);
    Ok(answer(json(&page)))
}

/// A value to store.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewSecret {
    /// The value, which is sealed before it is stored and which no request can read.
    #[schema(value_type = String, min_length = 1, format = Password)]
    value: SecretText,
}

/// Writes the value of a secret, in place of the value that was stored before.
#[utoipa::path(put, path = "/v1/secrets/{name}", tag = "secrets",
    params(("name" = String, Path, description = "The name that tools declare")),
    request_body = NewSecret,
    responses((status = 200, description = "The name of the secret", body = Secret)))]
async fn write_secret(
    State(admin): State<Shared>,
    caller: Caller,
    Id(name): Id<String>,
    Body(body): Body<NewSecret>,
) -> Answer {
    let SecretText(value) = body.value;
    if value.expose_secret().is_empty() {
        return Err(Problem::input(
            "/value",
            "the value is empty, remove the secret instead",
        ));
    }
    let row = vault(&admin)?
        .seal_secret(&caller.workspace, &name, &value, &caller.subject)
        .await;
    let row = row.map_err(|error| Problem::of_vault(&error, WHAT))?;
    let written = Secret::from(row.info());
    let wanted = Wanted {
        change: Change::Vault(VaultChange::PutSecret(Box::new(row))),
        action: "secret.write",
        details: json!({ "secret": name }),
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    admin.change(&caller, none, wanted, outcome).await?;
    Ok(answer(json(&written)))
}

/// Removes a secret of the workspace.
#[utoipa::path(delete, path = "/v1/secrets/{name}", tag = "secrets",
    params(("name" = String, Path, description = "The name that tools declare")),
    responses((status = 200, description = "The secret was removed", body = ChangeOutcome)))]
async fn remove_secret(
    State(admin): State<Shared>,
    caller: Caller,
    Id(name): Id<String>,
) -> Answer {
    let wanted = Wanted {
        details: json!({ "secret": name }),
        change: Change::Vault(VaultChange::RemoveSecret {
            workspace: caller.workspace.clone(),
            name,
        }),
        action: "secret.remove",
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    Ok(answer(admin.change(&caller, none, wanted, outcome).await?))
}

/// A secret that tools declare, with its state in the workspace.
#[derive(Serialize, ToSchema)]
struct DeclaredSecret {
    /// The name under which the secret is written.
    key: String,
    /// The name for people, if a tool declares one.
    label: Option<String>,
    /// Help for the operator, if a tool declares it.
    description: Option<String>,
    /// The choices of a selection; empty for a secret that is entered as text.
    choices: Vec<String>,
    /// Whether a tool requires the secret and the workspace has no value for it.
    missing: bool,
    /// The tools that cannot work without the secret.
    required_by: Vec<String>,
    /// The tools that can work without the secret.
    optional_for: Vec<String>,
    /// The user who wrote the value; null if there is none.
    by: Option<String>,
    #[schema(format = DateTime)]
    at: Option<String>,
    /// The choice of a selection; null for a value that is not one of the choices, and for a secret that is entered as text.
    choice: Option<String>,
}

impl From<SecretStatus> for DeclaredSecret {
    fn from(status: SecretStatus) -> Self {
        let missing = status.is_missing();
        let set = status.set;
        Self {
            key: status.key,
            label: status.label,
            description: status.description,
            choices: status.choices,
            missing,
            required_by: status.required_by,
            optional_for: status.optional_for,
            by: set.as_ref().map(|set| set.by.clone()),
            at: set.map(|set| time::text(set.at)),
            choice: status.choice,
        }
    }
}

/// Lists the secrets that the tools of the program declare, each once and sorted by key, with their state in the workspace.
///
/// The choice of a selection is shown. A value that is entered as text is never shown.
#[utoipa::path(get, path = "/v1/secret-status", tag = "secrets", params(Paged),
    responses((status = 200, description = "A page of declared secrets", body = Page<DeclaredSecret>),
        (status = 404, description = "The server has no vault or no tools", body = Problem, content_type = "application/problem+json")))]
async fn list_secret_status(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Paged>,
) -> Answer {
    let paging = query.paging()?;
    let (vault, registry) = (vault(&admin)?, registry(&admin)?);
    let rows = SecretStatus::list(vault, &caller.workspace, registry.tools()).await;
    let mut rows = rows.map_err(|error| Problem::of_vault(&error, WHAT))?;
    rows.retain(|status| paging.is_later(&status.key));
    let page = paging.page(rows, |status| status.key.clone(), DeclaredSecret::from);
    Ok(answer(json(&page)))
}

/// Whether a tool has the secrets that it requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Readiness {
    /// The workspace has every secret that the tool requires.
    Ready,
    /// The workspace lacks a secret that the tool requires, so the tool is hidden from models.
    Misconfigured,
}

fn readiness() -> Schema {
    one_of(["ready", "misconfigured"])
}

/// The state of a tool of the program in the workspace.
#[derive(Serialize, ToSchema)]
struct ToolStatus {
    name: String,
    status: Readiness,
    /// The keys of the secrets that the tool requires and the workspace lacks.
    missing: Vec<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StatusFilter {
    /// Only tools in this state.
    #[param(schema_with = readiness, required = false)]
    status: Option<Readiness>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

/// Lists the tools of the program, by name, with the keys of the secrets that each of them lacks.
#[utoipa::path(get, path = "/v1/tool-status", tag = "secrets", params(StatusFilter),
    responses((status = 200, description = "A page of tools", body = Page<ToolStatus>),
        (status = 404, description = "The server has no tools", body = Problem, content_type = "application/problem+json")))]
async fn list_tool_status(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<StatusFilter>,
) -> Answer {
    let paging = Paging::<String>::new(query.limit, query.cursor.as_deref())?;
    let registry = registry(&admin)?;
    let (scope, all) = (Scope::Workspace(&caller.workspace), SecretFilter::default());
    let stored = SecretStore::list_secrets(&*admin.store, scope, &all).await;
    let stored = stored.map_err(|error| Problem::of_store(&error, WHAT))?;
    let stored: BTreeSet<&str> = stored.iter().map(|info| &*info.name).collect();
    let tools = registry.tools().iter().map(|tool| {
        let needs = tool.secrets().iter().filter(|need| !need.optional);
        let missing = needs.filter(|need| !stored.contains(&*need.key));
        let missing: Vec<String> = missing.map(|need| need.key.to_string()).collect();
        ToolStatus {
            name: tool.name().to_owned(),
            status: if missing.is_empty() {
                Readiness::Ready
            } else {
                Readiness::Misconfigured
            },
            missing,
        }
    });
    let mut tools: Vec<ToolStatus> = tools
        .filter(|tool| {
            query.status.is_none_or(|wanted| tool.status == wanted) && paging.is_later(&tool.name)
        })
        .collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    let page = paging.page(tools, |tool| tool.name.clone(), |tool| tool);
    Ok(answer(json(&page)))
}

/// A key that seals values. The key itself is not in the store.
#[derive(Serialize, ToSchema)]
struct SecretKey {
    id: String,
    /// Whether this server seals new values with the key.
    current: bool,
    /// When the key was first used with the store.
    #[schema(format = DateTime)]
    since: String,
    /// When the key was retired. The store refuses values that are sealed with a retired key.
    #[schema(format = DateTime)]
    retired: Option<String>,
    /// The number of secrets of all workspaces that are sealed with the key.
    secrets: u64,
    /// The number of variables of all workspaces that are sealed with the key.
    variables: u64,
    /// The number of contents of all workspaces that are sealed with the key: arguments, messages, events of threads, plans and their states, chunks
    /// of long outputs, and stored responses.
    contents: u64,
}

/// Lists the keys, by id, with the number of values that are sealed with each of them.
#[utoipa::path(get, path = "/v1/secret-keys", tag = "secrets", params(Paged),
    responses((status = 200, description = "A page of keys", body = Page<SecretKey>)))]
async fn list_secret_keys(State(admin): State<Shared>, Query(query): Query<Paged>) -> Answer {
    let paging = query.paging()?;
    let failed = |error| Problem::of_store(&error, KEY);
    let mut rows = SealStore::keys(&*admin.store).await.map_err(failed)?;
    rows.retain(|row| paging.is_later(row.id.as_str()));
    let uses = SealStore::key_uses(&*admin.store).await.map_err(failed)?;
    let current = match &admin.vault {
        Some(vault) => vault.current_key().await.ok(),
        None => None,
    };
    let count = |key: &KeyId, is_counted: fn(SealedColumn) -> bool| {
        let uses = uses
            .iter()
            .filter(|using| using.key == *key && is_counted(using.column));
        uses.map(|using| using.values).sum()
    };
    let place = |row: &tool_core::store::SealKeyRow| row.id.to_string();
    let page = paging.page(rows, place, |row| SecretKey {
        id: row.id.to_string(),
        current: current.as_ref() == Some(&row.id),
        since: time::text(row.at),
        retired: row.retired.map(time::text),
        secrets: count(&row.id, |column| column == SealedColumn::Secret),
        variables: count(&row.id, |column| column == SealedColumn::Variable),
        contents: count(&row.id, SealedColumn::is_content),
    });
    Ok(answer(json(&page)))
}

/// The limits of one request to rotate keys.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RotationRequest {
    /// The number of values in one transaction; 200 by default.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1000, default = 200)]
    batch: Option<u32>,
    /// The request ends after the batch in which this number of values were sealed with the current key; 2000 by default.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 100_000, default = 2000)]
    most: Option<u32>,
}

/// The number of values of a column that are sealed with a key.
#[derive(Serialize, ToSchema)]
struct SealedValues {
    /// `secret`, `variable`, `arguments`, `edited_arguments`, `message`, `thread_event`, `plan_spec`, `plan_state`, `spill_chunk` or `response`.
    column: &'static str,
    key: String,
    /// The number of values, in all workspaces.
    values: u64,
}

impl From<&KeyUse> for SealedValues {
    fn from(using: &KeyUse) -> Self {
        Self {
            column: using.column.as_str(),
            key: using.key.to_string(),
            values: using.values,
        }
    }
}

/// The place of a value that does not open.
#[derive(Serialize, ToSchema)]
struct DamagedValue {
    /// `secret`, `variable`, `arguments`, `edited_arguments`, `message`, `thread_event`, `plan_spec`, `plan_state`, `spill_chunk` or `response`.
    column: &'static str,
    workspace: String,
    /// The owner of a variable (its level, a colon, and the id of the owner), the conversation of a message, an event or a plan, the user of a long
    /// output, or the caller of a response. Empty for secrets and arguments.
    owner: String,
    /// The id of the value: the id of a secret, a variable or an approval, the number of a message, of an event or of the run of a plan, the handle
    /// of a long output with the byte at which the chunk begins, or an idempotency key.
    id: String,
}

/// The report of a rotation.
#[derive(Serialize, ToSchema)]
struct RotationReport {
    /// The number of values that are now sealed with the current key.
    resealed: u64,
    /// The number of values that were written or removed meanwhile. Their new state is kept.
    changed: u64,
    /// The number of values that do not open, because they were altered. They are not changed.
    damaged: u64,
    /// The places of the first 100 damaged values.
    damaged_places: Vec<DamagedValue>,
    /// The values that are still sealed with other keys.
    left: Vec<SealedValues>,
    /// Whether the same request, sent again, may seal more values.
    more: bool,
}

fn within(pointer: &str, value: u32, most: u32) -> Result<u32, Problem> {
    if (1..=most).contains(&value) {
        return Ok(value);
    }
    Err(Problem::input(
        pointer,
        format!("the number is {value}, write a number from 1 to {most}"),
    ))
}

/// Seals values of earlier keys again with the current key, in all workspaces.
///
/// Repeat the request while `more` is true. Completed batches are kept, and several servers may rotate at the same time. The audit row is stored before
/// the rotation.
#[utoipa::path(post, path = "/v1/secret-keys/rotate", tag = "secrets", request_body = RotationRequest,
    responses((status = 200, description = "The report", body = RotationReport)))]
async fn rotate_secrets(
    State(admin): State<Shared>,
    caller: Caller,
    _: NotRepeatable,
    Body(body): Body<RotationRequest>,
) -> Answer {
    let batch = within("/batch", body.batch.unwrap_or(200), 1_000)?;
    let most = within("/most", body.most.unwrap_or(2_000), 100_000)?;
    let vault = vault(&admin)?;
    let failed = |error: VaultError| Problem::of_vault(&error, KEY);
    let current = vault.current_key().await.map_err(failed)?;
    let details = json!({ "to": current.as_str(), "most": most });
    admin.note(&caller, "secret_keys.rotate", details).await?;
    let rotation = vault.rotate_some(batch, u64::from(most)).await;
    let rotation = rotation.map_err(failed)?;
    Ok(answer(json(&RotationReport {
        resealed: rotation.resealed,
        changed: rotation.changed,
        damaged: rotation.damaged,
        damaged_places: rotation
            .damaged_places
            .into_iter()
            .map(|place| DamagedValue {
                column: place.column.as_str(),
                workspace: place.workspace.to_string(),
                owner: place.owner,
                id: place.id,
            })
            .collect(),
        left: rotation.left.iter().map(SealedValues::from).collect(),
        more: rotation.more,
    })))
}

/// Retires a key, so that no process can seal a value with it any more.
///
/// The request is refused while a value is sealed with the key, and for the current key.
#[utoipa::path(post, path = "/v1/secret-keys/{secret_key}/retire", tag = "secrets",
    params(("secret_key" = String, Path, description = "The id of the key"),
        ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    responses((status = 200, description = "The key is retired", body = ChangeOutcome)))]
async fn retire_secret_key(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
    idempotency: Idempotency,
) -> Answer {
    let key = KeyId::new(&id).map_err(|_| Problem::missing(KEY))?;
    let failed = |error: VaultError| Problem::of_vault(&error, KEY);
    if key == vault(&admin)?.current_key().await.map_err(failed)? {
        return Err(failed(VaultError::Current(key)));
    }
    let wanted = Wanted {
        change: Change::Vault(VaultChange::RetireKey {
            key,
            at: Timestamp::now(),
        }),
        action: "secret_keys.retire",
        details: json!({ "key": id }),
        request: &id,
        what: KEY,
    };
    let text = admin.change(&caller, idempotency, wanted, outcome).await?;
    Ok(answer(text))
}
