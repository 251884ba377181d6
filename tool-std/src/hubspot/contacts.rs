//! The tools for contacts.

use serde_json::json;
use tool_core::prelude::*;

use super::api::{
    HubSpotFilter, HubSpotProperty, HubSpotRecord, HubSpotRecords, Search, nothing_to_change,
    properties as collect, record, request, send,
};
use super::{HubSpotRead, HubSpotWrite};
use crate::http::Method;

/// The type of the association of a contact with a company,
/// <https://developers.hubspot.com/docs/api-reference/crm-associations-v4/guide#association-type-id-values>.
const CONTACT_TO_COMPANY: u32 = 279;

/// Searches the contacts of HubSpot. All filters must match.
#[tool(
    category = "crm",
    example("By address", { "filters": [{ "property": "email", "operator": "eq", "value": "ann@example.com" }], "return_properties": [] }),
    example("By words", { "query": "Ann Example", "return_properties": ["email", "phone"], "limit": 20, "filters": [] }),
)]
pub async fn search_hubspot_contacts(
    hubspot: &HubSpotRead,
    #[secret("hubspot_api_key", label = "Access token of a HubSpot private app")] key: SecretString,
    /// Words to search for in names, addresses and phone numbers.
    #[arg(length = 1..=3000)]
    query: Option<String>,
    /// Conditions, all of which must match; may be empty.
    #[arg(max_items = 6)]
    filters: Vec<HubSpotFilter>,
    /// The internal names of the properties to return; empty for names, email and dates.
    #[arg(max_items = 100)]
    return_properties: Vec<String>,
    /// The maximum number of contacts to return.
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
    search.send(&hubspot.0, &key, "contacts").await
}

/// Creates a contact in HubSpot. Search for the address first: HubSpot refuses a second contact with the same email.
#[tool(
    category = "crm",
    example("A person", { "email": "ann@example.com", "first_name": "Ann", "last_name": "Example", "properties": [] }),
    example("With more properties", { "email": "bob@example.com", "properties": [{ "name": "lifecyclestage", "value": "lead" }] }),
)]
pub async fn create_hubspot_contact(
    hubspot: &HubSpotWrite,
    #[secret("hubspot_api_key", label = "Access token of a HubSpot private app")] key: SecretString,
    /// The email address.
    #[arg(length = 3..=254)]
    email: Option<String>,
    /// The first name.
    #[arg(length = 1..=200)]
    first_name: Option<String>,
    /// The last name.
    #[arg(length = 1..=200)]
    last_name: Option<String>,
    /// The phone number.
    #[arg(length = 1..=50)]
    phone: Option<String>,
    /// The id of the company that the contact belongs to.
    #[arg(pattern = "^[0-9]{1,20}$", audit = value)]
    company_id: Option<String>,
    /// More properties, each once; may be empty.
    #[arg(max_items = 100)]
    properties: Vec<HubSpotProperty>,
) -> Result<HubSpotRecord, ToolError> {
    let own = [
        ("email", email),
        ("firstname", first_name),
        ("lastname", last_name),
        ("phone", phone),
    ];
    let properties = collect(&own, properties)?;
    if properties.is_empty() {
        return Err(nothing_to_change());
    }
    let mut body = json!({ "properties": properties });
    if let Some(company) = company_id {
        body["associations"] = json!([{
            "to": { "id": company },
            "types": [{ "associationCategory": "HUBSPOT_DEFINED", "associationTypeId": CONTACT_TO_COMPANY }],
        }]);
    }
    let path = ["crm", "v3", "objects", "contacts"];
    let request = request(&hubspot.0, Method::Post, &path, &key)?.json(&body);
    record(&hubspot.0, request).await
}

/// Changes properties of a HubSpot contact. Other properties are unchanged.
#[tool(
    category = "crm",
    destructive,
    idempotent,
    example("A new phone number", { "contact_id": "512", "phone": "+47 55 00 00 00", "properties": [] }),
    example("A property", { "contact_id": "512", "properties": [{ "name": "lifecyclestage", "value": "customer" }] }),
)]
pub async fn update_hubspot_contact(
    hubspot: &HubSpotWrite,
    #[secret("hubspot_api_key", label = "Access token of a HubSpot private app")] key: SecretString,
    /// The id of the contact.
    #[arg(pattern = "^[0-9]{1,20}$", audit = value)]
    contact_id: String,
    /// The new email address.
    #[arg(length = 3..=254)]
    email: Option<String>,
    /// The new first name.
    #[arg(length = 1..=200)]
    first_name: Option<String>,
    /// The new last name.
    #[arg(length = 1..=200)]
    last_name: Option<String>,
    /// The new phone number.
    #[arg(length = 1..=50)]
    phone: Option<String>,
    /// The id of a company to add the contact to.
    #[arg(pattern = "^[0-9]{1,20}$", audit = value)]
    company_id: Option<String>,
    /// More properties, each once; may be empty.
    #[arg(max_items = 100)]
    properties: Vec<HubSpotProperty>,
) -> Result<HubSpotRecord, ToolError> {
    let own = [
        ("email", email),
        ("firstname", first_name),
        ("lastname", last_name),
        ("phone", phone),
    ];
    let properties = collect(&own, properties)?;
    if properties.is_empty() && company_id.is_none() {
        return Err(nothing_to_change());
    }
    let client = &hubspot.0;
    if let Some(company) = &company_id {
        // Adding a contact to a company again changes nothing, so the call can be repeated if the next request fails.
        let path = [
            "crm",
            "v4",
            "objects",
            "contacts",
            &contact_id,
            "associations",
            "default",
            "companies",
            company,
        ];
        send(client, request(client, Method::Put, &path, &key)?).await?;
    }
    let path = ["crm", "v3", "objects", "contacts", &contact_id];
    let request = if properties.is_empty() {
        request(client, Method::Get, &path, &key)?
    } else {
        let body = json!({ "properties": properties });
        request(client, Method::Patch, &path, &key)?.json(&body)
    };
    record(client, request).await
}
