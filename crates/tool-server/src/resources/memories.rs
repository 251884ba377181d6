//! `/v1/memories`: the long-term memories of agents. `/v1/users/{user}/memories/erase`: the erasure of the memories of one user.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::store::{
    Change, Changed, Durability, Expected, Importance, LongTermStore, MemoryCorrection,
    MemoryFilter, MemoryRow, MemoryScope, MemorySource, MemoryType, RecordChange, Scope,
    StoreError, Timestamp,
};
use utoipa::openapi::Schema;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::maintenance::ErasureRequest;
use super::{Answer, ChangeOutcome, Routes, needs, outcome, reason};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json, tag, tagged};
use crate::extract::{Body, Id, Idempotency, IfMatch, Query};
use crate::openapi::one_of;
use crate::page::{Page, Paging};
use crate::problem::{Kind, Problem};
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "memory";
const USER: &str = "user";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_memories)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_memory)))
        .routes(needs(Access::role(Role::Operator), routes!(correct_memory)))
        .routes(needs(Access::role(Role::Admin), routes!(remove_memory)))
        .routes(needs(
            Access::role(Role::Admin),
            routes!(erase_user_memories),
        ))
}

fn types() -> Schema {
    one_of(MemoryType::ALL.iter().map(|word| word.as_str()))
}

fn durabilities() -> Schema {
    one_of(Durability::ALL.iter().map(|word| word.as_str()))
}

fn sources() -> Schema {
    one_of(MemorySource::ALL.iter().map(|word| word.as_str()))
}

/// A long-term memory of one agent, or of all agents of a workspace.
#[derive(Serialize, ToSchema)]
struct MemoryRecord {
    id: String,
    /// The agent that reads the memory; null if all agents of the workspace read it.
    agent: Option<String>,
    content: String,
    #[schema(schema_with = types)]
    memory_type: &'static str,
    /// How long the memory keeps its weight in searches.
    #[schema(schema_with = durabilities)]
    durability: &'static str,
    /// The importance, from 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    importance: f64,
    /// The author of the content. A corrected content has the source `user`.
    #[schema(schema_with = sources)]
    source: &'static str,
    /// The user of the call that stored the content last.
    principal: Option<String>,
    /// The last conversation in which the content was stored.
    conversation: Option<String>,
    /// The model of the stored embedding; null if the memory has none. The host computes the embedding of a corrected content later.
    embedding_model: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    /// When the memory was last stored or corrected.
    #[schema(format = DateTime)]
    updated_at: String,
}

impl From<&MemoryRow> for MemoryRecord {
    fn from(row: &MemoryRow) -> Self {
        Self {
            id: row.id.clone(),
            agent: row.scope.agent_name().map(str::to_owned),
            content: row.content.clone(),
            memory_type: row.memory_type.as_str(),
            durability: row.durability.as_str(),
            importance: row.importance.value(),
            source: row.source.as_str(),
            principal: row.principal.clone(),
            conversation: row.conversation.clone(),
            embedding_model: row.model.clone(),
            created_at: time::text(row.created),
            updated_at: time::text(row.updated),
        }
    }
}

fn respond(changed: &Changed) -> String {
    match changed {
        Changed::Memory(row) => json(&MemoryRecord::from(&**row)),
        _ => String::new(),
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only memories that were stored for this user.
    principal: Option<String>,
    /// Only memories of this agent.
    agent: Option<String>,
    /// If true, only memories that all agents of the workspace read.
    shared: Option<bool>,
    /// Only memories whose content contains this text.
    text: Option<String>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

impl Filter {
    /// Returns the scope whose memories are listed; `None` for every scope of the workspace.
    fn scope(&self, caller: &Caller) -> Result<Option<MemoryScope>, Problem> {
        let bad = |detail: &str| Err(Problem::new(Kind::BadRequest, detail));
        match (&self.agent, self.shared.unwrap_or(false)) {
            (None, false) => Ok(None),
            (None, true) => Ok(Some(MemoryScope::shared(&caller.workspace))),
            (Some(agent), false) => match MemoryScope::agent(&caller.workspace, agent.as_str()) {
                Ok(scope) => Ok(Some(scope)),
                Err(_) => bad("`agent` is not the name of an agent, write its name"),
            },
            (Some(_), true) => bad(
                "`agent` and `shared` exclude each other, because the memories of an agent are not shared: leave one of them out",
            ),
        }
    }
}

/// Lists memories, ordered by id. Expired memories are listed until a purge removes them.
#[utoipa::path(get, path = "/v1/memories", tag = "memories", params(Filter),
    responses((status = 200, description = "A page of memories", body = Page<MemoryRecord>)))]
async fn list_memories(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    let paging = Paging::<String>::new(query.limit, query.cursor.as_deref())?;
    let filter = MemoryFilter {
        scope: query.scope(&caller)?,
        principal: query.principal,
        text: query.text,
        limit: Some(paging.rows()),
        after: paging
            .after
            .clone()
            .map(|id| (caller.workspace.clone(), id)),
    };
    let scope = Scope::Workspace(&caller.workspace);
    let rows = LongTermStore::list_memories(&*admin.store, scope, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let page = paging.page(rows, |row| row.id.clone(), |row| MemoryRecord::from(&row));
    Ok(answer(json(&page)))
}

async fn find(admin: &Inner, caller: &Caller, id: &str) -> Result<MemoryRow, Problem> {
    let row = LongTermStore::memory(&*admin.store, &caller.workspace, id).await;
    let row = row.map_err(|error| Problem::of_store(&error, WHAT))?;
    row.ok_or_else(|| Problem::missing(WHAT))
}

/// Checks `If-Match`, and returns the memory that the caller has read if the request must apply to exactly this state.
async fn expected(
    admin: &Inner,
    caller: &Caller,
    id: &str,
    tags: &IfMatch,
) -> Result<Expected<Box<MemoryRow>>, Problem> {
    if !tags.is_given() {
        return Ok(Expected::Any);
    }
    let row = find(admin, caller, id).await?;
    tags.check(&tag(&json(&MemoryRecord::from(&row))))?;
    Ok(Expected::Same(Some(Box::new(row))))
}

/// Returns one memory by its id.
#[utoipa::path(get, path = "/v1/memories/{memory}", tag = "memories",
    params(("memory" = String, Path, description = "The id of the memory")),
    responses((status = 200, description = "The memory", body = MemoryRecord, headers(("ETag" = String, description = "The version of the memory")))))]
async fn get_memory(State(admin): State<Shared>, caller: Caller, Id(id): Id<String>) -> Answer {
    let row = find(&admin, &caller, &id).await?;
    Ok(tagged(json(&MemoryRecord::from(&row))))
}

/// The fields of a memory to change. Fields that are null or not sent remain unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct MemoryUpdate {
    /// The new content, at most 16 KiB. Its source becomes `user`, and the host computes its embedding later.
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    #[schema(schema_with = types, required = false)]
    memory_type: Option<MemoryType>,
    #[serde(default)]
    #[schema(schema_with = durabilities, required = false)]
    durability: Option<Durability>,
    /// A number from 0 to 1.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1)]
    importance: Option<f64>,
}

impl MemoryUpdate {
    fn correction(self) -> Result<MemoryCorrection, Problem> {
        let is_empty = self.content.is_none()
            && self.memory_type.is_none()
            && self.durability.is_none()
            && self.importance.is_none();
        if is_empty {
            return Err(Problem::input(
                "",
                "the body changes nothing, write `content`, `memory_type`, `durability` or `importance`",
            ));
        }
        let importance = self.importance.map(Importance::new).transpose();
        let correction = MemoryCorrection {
            content: self.content,
            memory_type: self.memory_type,
            durability: self.durability,
            importance: importance.map_err(|error| refused("/importance", &error))?,
            at: Timestamp::now(),
        };
        correction
            .check()
            .map_err(|error| refused("/content", &error))?;
        Ok(correction)
    }
}

/// Returns the problem for a value of the body that the store refuses in every state.
fn refused(pointer: &str, error: &StoreError) -> Problem {
    match error {
        StoreError::Conflict(why) => Problem::input(pointer, why.clone()),
        error => Problem::of_store(error, WHAT),
    }
}

/// Corrects a memory. The user and the conversation for which it was stored remain visible.
#[utoipa::path(patch, path = "/v1/memories/{memory}", tag = "memories",
    params(("memory" = String, Path, description = "The id of the memory"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the memory that was read")),
    request_body = MemoryUpdate,
    responses((status = 200, description = "The memory", body = MemoryRecord, headers(("ETag" = String, description = "The version of the memory"))),
        (status = 409, description = "A different memory has this content, or the store encrypts contents", body = Problem, content_type = "application/problem+json")))]
async fn correct_memory(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
    tags: IfMatch,
    Body(update): Body<MemoryUpdate>,
) -> Answer {
    let correction = update.correction()?;
    let expected = expected(&admin, &caller, &id, &tags).await?;
    // The audit contains the length of the content, and not the content.
    let details = json!({
        "memory": id,
        "content_chars": correction.content.as_ref().map(|content| content.chars().count()),
        "memory_type": correction.memory_type,
        "durability": correction.durability,
        "importance": correction.importance.map(Importance::value),
    });
    let wanted = Wanted {
        change: Change::Record(RecordChange::CorrectMemory {
            workspace: caller.workspace.clone(),
            id,
            correction: Box::new(correction),
            expected,
        }),
        action: "memory.correct",
        details,
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    Ok(tagged(admin.change(&caller, none, wanted, respond).await?))
}

/// Deletes a memory with its embedding.
#[utoipa::path(delete, path = "/v1/memories/{memory}", tag = "memories",
    params(("memory" = String, Path, description = "The id of the memory"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the memory that was read")),
    responses((status = 200, description = "The memory was deleted", body = ChangeOutcome)))]
async fn remove_memory(
    State(admin): State<Shared>,
    caller: Caller,
    Id(id): Id<String>,
    tags: IfMatch,
) -> Answer {
    let expected = expected(&admin, &caller, &id, &tags).await?;
    let wanted = Wanted {
        details: json!({ "memory": id }),
        change: Change::Record(RecordChange::RemoveMemory {
            workspace: caller.workspace.clone(),
            id,
            expected,
        }),
        action: "memory.delete",
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    Ok(answer(admin.change(&caller, none, wanted, outcome).await?))
}

/// The number of memories that an erasure has removed.
#[derive(Serialize, ToSchema)]
struct ErasedMemories {
    memories: u64,
}

fn erased(changed: &Changed) -> String {
    let memories = match changed {
        Changed::Erased(erased) => erased.memories,
        _ => 0,
    };
    json(&ErasedMemories { memories })
}

/// Erases the memories that were stored for a user, and keeps the other contents of the user.
///
/// `/v1/users/{user}/erase` also erases other contents of a user. The audit row of the erasure keeps the name of the user.
#[utoipa::path(post, path = "/v1/users/{user}/memories/erase", tag = "memories",
    params(("user" = String, Path, description = "The user"),
        ("Idempotency-Key" = Option<String>, Header, description = "For 24 hours, a repeated request with the same key returns the first response")),
    request_body = ErasureRequest,
    responses((status = 200, description = "The number of erased memories", body = ErasedMemories)))]
async fn erase_user_memories(
    State(admin): State<Shared>,
    caller: Caller,
    Id(user): Id<String>,
    key: Idempotency,
    Body(body): Body<ErasureRequest>,
) -> Answer {
    let reason = reason(&body.reason)?;
    let wanted = Wanted {
        change: Change::Record(RecordChange::EraseMemories {
            workspace: caller.workspace.clone(),
            principal: user.clone(),
        }),
        action: "user.erase_memories",
        details: json!({ "user": user, "reason": reason }),
        request: &format!("{user} {}", json(&body)),
        what: USER,
    };
    Ok(answer(admin.change(&caller, key, wanted, erased).await?))
}
