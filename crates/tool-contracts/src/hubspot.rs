//! The tools of the pack `hubspot` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `search_hubspot_contacts`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SearchHubspotContacts {
    /// Words to search for in names, addresses and phone numbers.
    #[cfg_attr(feature = "schema", schema(length = 1..=3000))]
    pub query: Option<String>,
    /// Conditions, all of which must match; may be empty.
    #[cfg_attr(feature = "schema", schema(max_items = 6))]
    pub filters: Vec<HubSpotFilter>,
    /// The internal names of the properties to return; empty for names, email and dates.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub return_properties: Vec<String>,
    /// The maximum number of contacts to return.
    #[cfg_attr(feature = "schema", schema(range = 1..=100))]
    pub limit: Option<u32>,
    /// The `next_after` of the previous page.
    #[cfg_attr(feature = "schema", schema(length = 1..=100))]
    pub after: Option<String>,
}

impl ToolContract for SearchHubspotContacts {
    const NAME: &'static str = "search_hubspot_contacts";
    type Input = Self;
    type Output = HubSpotRecords;
}

/// The arguments of `create_hubspot_contact`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CreateHubspotContact {
    /// The email address.
    #[cfg_attr(feature = "schema", schema(length = 3..=254))]
    pub email: Option<String>,
    /// The first name.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub first_name: Option<String>,
    /// The last name.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub last_name: Option<String>,
    /// The phone number.
    #[cfg_attr(feature = "schema", schema(length = 1..=50))]
    pub phone: Option<String>,
    /// The id of the company that the contact belongs to.
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9]{1,20}$"))]
    pub company_id: Option<String>,
    /// More properties, each once; may be empty.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub properties: Vec<HubSpotProperty>,
}

impl ToolContract for CreateHubspotContact {
    const NAME: &'static str = "create_hubspot_contact";
    type Input = Self;
    type Output = HubSpotRecord;
}

/// The arguments of `update_hubspot_contact`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct UpdateHubspotContact {
    /// The id of the contact.
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9]{1,20}$"))]
    pub contact_id: String,
    /// The new email address.
    #[cfg_attr(feature = "schema", schema(length = 3..=254))]
    pub email: Option<String>,
    /// The new first name.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub first_name: Option<String>,
    /// The new last name.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub last_name: Option<String>,
    /// The new phone number.
    #[cfg_attr(feature = "schema", schema(length = 1..=50))]
    pub phone: Option<String>,
    /// The id of a company to add the contact to.
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9]{1,20}$"))]
    pub company_id: Option<String>,
    /// More properties, each once; may be empty.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub properties: Vec<HubSpotProperty>,
}

impl ToolContract for UpdateHubspotContact {
    const NAME: &'static str = "update_hubspot_contact";
    type Input = Self;
    type Output = HubSpotRecord;
}

/// The arguments of `search_hubspot_tickets`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SearchHubspotTickets {
    /// Words to search for in subjects and descriptions.
    #[cfg_attr(feature = "schema", schema(length = 1..=3000))]
    pub query: Option<String>,
    /// Conditions, all of which must match; may be empty.
    #[cfg_attr(feature = "schema", schema(max_items = 6))]
    pub filters: Vec<HubSpotFilter>,
    /// The internal names of the properties to return; empty for subject, content, pipeline, stage and dates.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub return_properties: Vec<String>,
    /// The maximum number of tickets to return.
    #[cfg_attr(feature = "schema", schema(range = 1..=100))]
    pub limit: Option<u32>,
    /// The `next_after` of the previous page.
    #[cfg_attr(feature = "schema", schema(length = 1..=100))]
    pub after: Option<String>,
}

impl ToolContract for SearchHubspotTickets {
    const NAME: &'static str = "search_hubspot_tickets";
    type Input = Self;
    type Output = HubSpotRecords;
}

/// The arguments of `create_hubspot_ticket`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CreateHubspotTicket {
    /// The subject of the ticket.
    #[cfg_attr(feature = "schema", schema(length = 1..=1000))]
    pub subject: String,
    /// The description of the ticket.
    #[cfg_attr(feature = "schema", schema(length = 0..=65536))]
    pub content: String,
    /// The id of the stage in the pipeline; `1` is the first stage of the default pipeline.
    #[cfg_attr(feature = "schema", schema(length = 1..=100))]
    pub stage: String,
    /// The id of the pipeline; null for the default pipeline.
    #[cfg_attr(feature = "schema", schema(length = 1..=100))]
    pub pipeline: Option<String>,
    /// The priority of the ticket.
    pub priority: Option<TicketPriority>,
    /// The id of the contact that the ticket belongs to.
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9]{1,20}$"))]
    pub contact_id: Option<String>,
    /// More properties, each once; may be empty.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub properties: Vec<HubSpotProperty>,
}

impl ToolContract for CreateHubspotTicket {
    const NAME: &'static str = "create_hubspot_ticket";
    type Input = Self;
    type Output = HubSpotRecord;
}

/// The arguments of `update_hubspot_ticket`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct UpdateHubspotTicket {
    /// The id of the ticket.
    #[cfg_attr(feature = "schema", schema(pattern = "^[0-9]{1,20}$"))]
    pub ticket_id: String,
    /// The new subject.
    #[cfg_attr(feature = "schema", schema(length = 1..=1000))]
    pub subject: Option<String>,
    /// The new description.
    #[cfg_attr(feature = "schema", schema(length = 1..=65536))]
    pub content: Option<String>,
    /// The id of the new stage in the pipeline.
    #[cfg_attr(feature = "schema", schema(length = 1..=100))]
    pub stage: Option<String>,
    /// The new priority.
    pub priority: Option<TicketPriority>,
    /// More properties, each once; may be empty.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub properties: Vec<HubSpotProperty>,
}

impl ToolContract for UpdateHubspotTicket {
    const NAME: &'static str = "update_hubspot_ticket";
    type Input = Self;
    type Output = HubSpotRecord;
}

/// The priority of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum TicketPriority {
    /// Low priority.
    Low,
    /// Medium priority.
    Medium,
    /// High priority.
    High,
}

/// A property to set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct HubSpotProperty {
    /// The internal name, such as `lifecyclestage`.
    #[cfg_attr(feature = "schema", schema(length = 1..=100))]
    pub name: String,
    /// The new value; an empty text clears the property.
    #[cfg_attr(feature = "schema", schema(length = 0..=65536))]
    pub value: String,
}

/// A property of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct HubSpotValue {
    /// The internal name.
    pub name: String,
    /// The value, at most 2,000 characters; null if the property is not set.
    pub value: Option<String>,
}

/// A contact or a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct HubSpotRecord {
    /// The id of the record.
    pub id: String,
    /// The properties, sorted by name.
    pub properties: Vec<HubSpotValue>,
    /// The time of the creation, in ISO 8601.
    pub created_at: String,
    /// The time of the last change, in ISO 8601.
    pub updated_at: String,
}

/// The records that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct HubSpotRecords {
    /// The records that match, up to the limit of the call.
    pub records: Vec<HubSpotRecord>,
    /// The number of matches, which may be more than are returned.
    pub total: u32,
    /// The value of `after` for the next records; null if there are none.
    pub next_after: Option<String>,
}

/// How a filter compares a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum FilterOperator {
    /// The property equals the value.
    Eq,
    /// The property does not equal the value.
    Neq,
    /// The property is less than the value.
    Lt,
    /// The property is at most the value.
    Lte,
    /// The property is greater than the value.
    Gt,
    /// The property is at least the value.
    Gte,
    /// The property contains the word; `*` at the start or the end of the value matches any characters.
    ContainsToken,
    /// The property is set.
    HasProperty,
    /// The property is not set.
    NotHasProperty,
}

/// A condition of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct HubSpotFilter {
    /// The internal name of the property.
    #[cfg_attr(feature = "schema", schema(length = 1..=100))]
    pub property: String,
    /// How the property is compared.
    pub operator: FilterOperator,
    /// The value; empty for `has_property` and `not_has_property`. Times are milliseconds since 1970.
    #[cfg_attr(feature = "schema", schema(length = 0..=3000))]
    pub value: String,
}
