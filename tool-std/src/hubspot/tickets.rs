//! The tools for tickets.

use serde_json::json;
use tool_core::prelude::*;

use super::api::{
    HubSpotFilter, HubSpotProperty, HubSpotRecord, HubSpotRecords, Search, nothing_to_change,
    properties as collect, record, request,
};
use super::{HubSpotRead, HubSpotWrite};
use crate::http::Method;

/// The type of the association of a ticket with a contact,
/// <https://developers.hubspot.com/docs/api-reference/crm-associations-v4/guide#association-type-id-values>.
const TICKET_TO_CONTACT: u32 = 16;

/// The priority of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum TicketPriority {
    /// Low priority.
    Low,
    /// Medium priority.
    Medium,
    /// High priority.
    High,
}

impl TicketPriority {
    fn as_str(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
        }
    }
}

/// Searches the tickets of HubSpot. All filters must match.
#[tool(
    category = "crm",
    example("Open tickets of a pipeline", { "filters": [{ "property": "hs_pipeline_stage", "operator": "eq", "value": "1" }], "return_properties": [] }),
    example("By words", { "query": "invoice", "limit": 20, "filters": [], "return_properties": [] }),
)]
pub async fn search_hubspot_tickets(
    hubspot: &HubSpotRead,
    #[secret("hubspot_api_key", label = "Access token of a HubSpot private app")] key: SecretString,
    /// Words to search for in subjects and descriptions.
    #[arg(length = 1..=3000)]
    query: Option<String>,
    /// Conditions, all of which must match; may be empty.
    #[arg(max_items = 6)]
    filters: Vec<HubSpotFilter>,
    /// The internal names of the properties to return; empty for subject, content, pipeline, stage and dates.
    #[arg(max_items = 100)]
    return_properties: Vec<String>,
    /// The maximum number of tickets to return.
    #[arg(default = 10, range = 1..=100)]
    limit: u32,
    /// The `next_after` of the previous page.
    #[arg(length = 1..=100)]
    after: Option<String>,
) -> Result<HubSpotRecords, ToolError> {
    let search = Search {
        query,
        filters,
        return_properties,
        limit,
        after,
    };
    search.send(&hubspot.0, &key, "tickets").await
}

/// Creates a ticket in HubSpot.
#[tool(
    category = "crm",
    example("A ticket", { "subject": "Invoice is missing", "content": "The invoice of March has not arrived.", "stage": "1", "properties": [] }),
    example("For a contact", { "subject": "Broken lamp", "content": "", "stage": "1", "priority": "high", "contact_id": "512", "properties": [] }),
)]
pub async fn create_hubspot_ticket(
    hubspot: &HubSpotWrite,
    #[secret("hubspot_api_key", label = "Access token of a HubSpot private app")] key: SecretString,
    /// The subject of the ticket.
    #[arg(length = 1..=1000)]
    subject: String,
    /// The description of the ticket.
    #[arg(length = 0..=65536)]
    content: String,
    /// The id of the stage in the pipeline; `1` is the first stage of the default pipeline.
    #[arg(length = 1..=100, audit = value)]
    stage: String,
    /// The id of the pipeline; null for the default pipeline.
    #[arg(length = 1..=100, audit = value)]
    pipeline: Option<String>,
    /// The priority of the ticket.
    priority: Option<TicketPriority>,
    /// The id of the contact that the ticket belongs to.
    #[arg(pattern = "^[0-9]{1,20}$", audit = value)]
    contact_id: Option<String>,
    /// More properties, each once; may be empty.
    #[arg(max_items = 100)]
    properties: Vec<HubSpotProperty>,
) -> Result<HubSpotRecord, ToolError> {
    let own = [
        ("subject", Some(subject)),
        ("content", Some(content)),
        ("hs_pipeline_stage", Some(stage)),
        ("hs_pipeline", pipeline),
        (
            "hs_ticket_priority",
            priority.map(|priority| priority.as_str().to_owned()),
        ),
    ];
    let mut body = json!({ "properties": collect(&own, properties)? });
    if let Some(contact) = contact_id {
        body["associations"] = json!([{
            "to": { "id": contact },
            "types": [{ "associationCategory": "HUBSPOT_DEFINED", "associationTypeId": TICKET_TO_CONTACT }],
        }]);
    }
    let path = ["crm", "v3", "objects", "tickets"];
    let request = request(&hubspot.0, Method::Post, &path, &key)?.json(&body);
    record(&hubspot.0, request).await
}

/// Changes properties of a HubSpot ticket, such as its stage. Other properties are unchanged.
#[tool(
    category = "crm",
    destructive,
    idempotent,
    example("The next stage", { "ticket_id": "42", "stage": "2", "properties": [] }),
    example("A property", { "ticket_id": "42", "properties": [{ "name": "hs_resolution", "value": "ISSUE_FIXED" }] }),
)]
pub async fn update_hubspot_ticket(
    hubspot: &HubSpotWrite,
    #[secret("hubspot_api_key", label = "Access token of a HubSpot private app")] key: SecretString,
    /// The id of the ticket.
    #[arg(pattern = "^[0-9]{1,20}$", audit = value)]
    ticket_id: String,
    /// The new subject.
    #[arg(length = 1..=1000)]
    subject: Option<String>,
    /// The new description.
    #[arg(length = 1..=65536)]
    content: Option<String>,
    /// The id of the new stage in the pipeline.
    #[arg(length = 1..=100, audit = value)]
    stage: Option<String>,
    /// The new priority.
    priority: Option<TicketPriority>,
    /// More properties, each once; may be empty.
    #[arg(max_items = 100)]
    properties: Vec<HubSpotProperty>,
) -> Result<HubSpotRecord, ToolError> {
    let own = [
        ("subject", subject),
        ("content", content),
        ("hs_pipeline_stage", stage),
        (
            "hs_ticket_priority",
            priority.map(|priority| priority.as_str().to_owned()),
        ),
    ];
    let properties = collect(&own, properties)?;
    if properties.is_empty() {
        return Err(nothing_to_change());
    }
    let path = ["crm", "v3", "objects", "tickets", &ticket_id];
    let body = json!({ "properties": properties });
    let request = request(&hubspot.0, Method::Patch, &path, &key)?.json(&body);
    record(&hubspot.0, request).await
}
