//! `/v1/tools`: the catalogue of the program's tools.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tool_core::store::{Catalogue, CatalogueEntry};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::{Answer, Routes, needs};
use crate::access::{Access, Role};
use crate::change::{answer, json, tagged};
use crate::extract::{Id, Query};
use crate::page::{Page, Paging};
use crate::problem::Problem;
use crate::state::{Inner, Shared};
use crate::time;

const WHAT: &str = "tool";

pub(super) fn routes(all: Routes) -> Routes {
    all.routes(needs(Access::role(Role::Viewer), routes!(list_tools)))
        .routes(needs(Access::role(Role::Viewer), routes!(get_tool)))
}

/// A tool of the program.
#[derive(Serialize, ToSchema)]
struct CatalogueTool {
    name: String,
    title: Option<String>,
    description: String,
    category: String,
    /// Hash of the tool's contract: name, description, schemas, effects and hints.
    contract: String,
    /// The tool's effects as the sum of 1 (read), 2 (write), 4 (destroy) and 8 (external).
    effect: u8,
    /// The keys of the secrets that the tool declares.
    secrets: Vec<String>,
    /// Earlier names of the tool.
    aliases: Vec<String>,
    /// Whether the host builds the tool for each turn.
    meta: bool,
    /// Whether the program enables the tool for every instance.
    global: bool,
    /// Whether the tool is a harness tool, which no instance has to enable.
    harness: bool,
    /// When a program last wrote the row.
    #[schema(format = DateTime)]
    synced_at: String,
}

impl From<CatalogueEntry> for CatalogueTool {
    fn from(entry: CatalogueEntry) -> Self {
        Self {
            name: entry.name,
            title: entry.title,
            description: entry.description,
            category: entry.category,
            contract: entry.contract,
            effect: entry.effect,
            secrets: entry.secrets,
            aliases: entry.aliases,
            meta: entry.is_meta,
            global: entry.is_global,
            harness: entry.is_harness,
            synced_at: time::text(entry.synced_at),
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Filter {
    /// Only tools of this category.
    category: Option<String>,
    /// The maximum number of items on the page.
    #[param(minimum = 1, maximum = 100, default = 100)]
    limit: Option<u32>,
    /// The `next` of the previous page.
    cursor: Option<String>,
}

async fn entries(admin: &Inner) -> Result<Vec<CatalogueEntry>, Problem> {
    let entries = Catalogue::entries(&*admin.store).await;
    entries.map_err(|error| Problem::of_store(&error, WHAT))
}

/// Lists the tools of the program, sorted by name.
#[utoipa::path(get, path = "/v1/tools", tag = "catalogue", params(Filter),
    responses((status = 200, description = "A page of tools", body = Page<CatalogueTool>)))]
async fn list_tools(State(admin): State<Shared>, Query(query): Query<Filter>) -> Answer {
    let paging = Paging::<String>::new(query.limit, query.cursor.as_deref())?;
    let mut rows = entries(&admin).await?;
    rows.retain(|entry| {
        let wanted = query.category.as_ref();
        paging.is_later(&entry.name) && wanted.is_none_or(|wanted| entry.category == *wanted)
    });
    let page = paging.page(rows, |entry| entry.name.clone(), CatalogueTool::from);
    Ok(answer(json(&page)))
}

/// Returns one tool of the program.
#[utoipa::path(get, path = "/v1/tools/{name}", tag = "catalogue",
    params(("name" = String, Path, description = "The name of the tool")),
    responses((status = 200, description = "The tool", body = CatalogueTool, headers(("ETag" = String, description = "The version of the tool")))))]
async fn get_tool(State(admin): State<Shared>, Id(name): Id<String>) -> Answer {
    let mut entries = entries(&admin).await?.into_iter();
    let entry = entries.find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| Problem::missing(WHAT))?;
    Ok(tagged(json(&CatalogueTool::from(entry))))
}
