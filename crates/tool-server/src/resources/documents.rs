//! `/v1/documents`: the documents of a workspace, and the states of their indexes.

use axum::extract::State;
use axum::response::IntoResponse as _;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_core::store::{
    Change, Document, DocumentFilter, DocumentName, DocumentRow, DocumentStatus, Expected,
    KnowledgeStore, RecordChange, Scope,
};
use utoipa::openapi::Schema;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, ChangeOutcome, Routes, needs, outcome};
use crate::access::{Access, Role};
use crate::auth::Caller;
use crate::change::{Wanted, answer, json, tag, tagged};
use crate::extract::{Id, Idempotency, IfMatch, Query};
use crate::openapi::one_of;
use crate::page::{Page, Paging};
use crate::problem::Problem;
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "document";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_documents)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_document)))
        .routes(needs(
            Access::role(Role::Viewer),
            routes!(get_document_content),
        ))
        .routes(needs(Access::role(Role::Admin), routes!(remove_document)))
}

fn statuses() -> Schema {
    one_of(DocumentStatus::ALL.iter().map(|status| status.as_str()))
}

/// A document without its content, and the states of its index and of its embeddings.
#[derive(Serialize, ToSchema)]
struct DocumentRecord {
    /// The file name, which identifies the document in the workspace.
    file: String,
    /// The MIME type of the content.
    mime: String,
    /// The size of the content in bytes.
    size: u64,
    /// Where the content comes from, such as `agent`, `upload` or a URL.
    source: String,
    /// The user of the last write.
    principal: Option<String>,
    /// The state of the index. While new content is `pending` or `indexing`, searches find the previous content. They find no `failed` document.
    #[schema(schema_with = statuses)]
    status: &'static str,
    /// Why the content could not be indexed, such as `PDF_ENCRYPTED`.
    fault: Option<String>,
    /// The number of chunks of the document in the index.
    chunks: u32,
    /// When a worker may index the document, or when the lease of its worker ends; null if there is nothing to index.
    #[schema(format = DateTime)]
    ready_at: Option<String>,
    /// The worker that has claimed the document last.
    worker: Option<String>,
    /// The number of leases of workers that have expired since the content was written; 0 when the content is indexed.
    recoveries: u32,
    /// The model that last computed the embeddings of all chunks; null if no model has done so.
    embedding_model: Option<String>,
    /// When a worker may compute embeddings, or when the lease of its worker ends; null if the document does not wait for embeddings.
    #[schema(format = DateTime)]
    embedding_ready_at: Option<String>,
    /// The number of attempts to compute embeddings that failed since the last success.
    embedding_failures: u32,
    /// Why the last of these attempts failed.
    embedding_fault: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    /// When the content was last written.
    #[schema(format = DateTime)]
    updated_at: String,
    /// When the content was last indexed.
    #[schema(format = DateTime)]
    indexed_at: Option<String>,
}

impl From<&DocumentRow> for DocumentRecord {
    fn from(row: &DocumentRow) -> Self {
        Self {
            file: row.name.file().to_owned(),
            mime: row.mime.clone(),
            size: row.size,
            source: row.source.clone(),
            principal: row.principal.clone(),
            status: row.status.as_str(),
            fault: row.fault.clone(),
            chunks: row.chunks,
            ready_at: row.ready.map(time::text),
            worker: row.worker.clone(),
            recoveries: row.recoveries,
            embedding_model: row.embedding.model.clone(),
            embedding_ready_at: row.embedding.ready.map(time::text),
            embedding_failures: row.embedding.failures,
            embedding_fault: row.embedding.fault.clone(),
            created_at: time::text(row.created),
            updated_at: time::text(row.updated),
            indexed_at: row.indexed.map(time::text),
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only documents whose index has this state.
    #[param(schema_with = statuses, required = false)]
    status: Option<DocumentStatus>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

fn name(caller: &Caller, file: impl Into<String>) -> Result<DocumentName, Problem> {
    DocumentName::new(&caller.workspace, file).map_err(|_| Problem::missing(WHAT))
}

/// Lists documents, ordered by file name.
#[utoipa::path(get, path = "/v1/documents", tag = "documents", params(Filter),
    responses((status = 200, description = "A page of documents", body = Page<DocumentRecord>)))]
async fn list_documents(
    State(admin): State<Shared>,
    caller: Caller,
    Query(query): Query<Filter>,
) -> Answer {
    let paging = Paging::<String>::new(query.limit, query.cursor.as_deref())?;
    let after = paging.after.as_deref();
    let filter = DocumentFilter {
        status: query.status,
        limit: Some(paging.rows()),
        after: after.map(|file| name(&caller, file)).transpose()?,
    };
    let scope = Scope::Workspace(&caller.workspace);
    let rows = KnowledgeStore::list_documents(&*admin.store, scope, &filter).await;
    let rows = rows.map_err(|error| Problem::of_store(&error, WHAT))?;
    let place = |row: &DocumentRow| row.name.file().to_owned();
    let page = paging.page(rows, place, |row| DocumentRecord::from(&row));
    Ok(answer(json(&page)))
}

async fn find(admin: &Inner, caller: &Caller, file: &str) -> Result<Document, Problem> {
    let name = name(caller, file)?;
    let document = KnowledgeStore::document(&*admin.store, &name).await;
    let document = document.map_err(|error| Problem::of_store(&error, WHAT))?;
    document.ok_or_else(|| Problem::missing(WHAT))
}

/// Returns one document without its content.
#[utoipa::path(get, path = "/v1/documents/{file}", tag = "documents",
    params(("file" = String, Path, description = "The file name of the document")),
    responses((status = 200, description = "The document", body = DocumentRecord, headers(("ETag" = String, description = "The version of the document")))))]
async fn get_document(State(admin): State<Shared>, caller: Caller, Id(file): Id<String>) -> Answer {
    let document = find(&admin, &caller, &file).await?;
    Ok(tagged(json(&DocumentRecord::from(&document.row))))
}

/// Returns the content of a document, as it was written.
///
/// The media type of the response does not depend on the type of the document, so that a browser stores the content and does not show it.
#[utoipa::path(get, path = "/v1/documents/{file}/content", tag = "documents",
    params(("file" = String, Path, description = "The file name of the document")),
    responses((status = 200, description = "The content", body = String, content_type = "application/octet-stream")))]
async fn get_document_content(
    State(admin): State<Shared>,
    caller: Caller,
    Id(file): Id<String>,
) -> Answer {
    let document = find(&admin, &caller, &file).await?;
    let headers = [
        (CONTENT_TYPE, "application/octet-stream"),
        (CONTENT_DISPOSITION, "attachment"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, document.content).into_response())
}

/// Deletes a document with its content and its index.
#[utoipa::path(delete, path = "/v1/documents/{file}", tag = "documents",
    params(("file" = String, Path, description = "The file name of the document"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the document that was read")),
    responses((status = 200, description = "The document was deleted", body = ChangeOutcome)))]
async fn remove_document(
    State(admin): State<Shared>,
    caller: Caller,
    Id(file): Id<String>,
    tags: IfMatch,
) -> Answer {
    let mut expected = Expected::Any;
    if tags.is_given() {
        let Document { row, .. } = find(&admin, &caller, &file).await?;
        tags.check(&tag(&json(&DocumentRecord::from(&row))))?;
        expected = Expected::Same(Some(Box::new(row)));
    }
    let wanted = Wanted {
        change: Change::Record(RecordChange::RemoveDocument {
            name: name(&caller, file.as_str())?,
            expected,
        }),
        details: json!({ "file": file }),
        action: "document.delete",
        request: "",
        what: WHAT,
    };
    let none = Idempotency(None);
    Ok(answer(admin.change(&caller, none, wanted, outcome).await?))
}
