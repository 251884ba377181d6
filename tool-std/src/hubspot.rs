//! Tools for the contacts and tickets of HubSpot.
//!
//! ```text
//! search_hubspot_contacts {"filters": [{"property": "email", "operator": "eq", "value": "ann@example.com"}], "return_properties": ["email"]}
//!
//! {"records":[{"id":"512","properties":[{"name":"email","value":"ann@example.com"}],"created_at":"2026-03-01T09:30:00Z",
//!  "updated_at":"2026-03-02T08:00:00Z"}],"total":1,"next_after":null}
//! ```
//!
//! | tool | effect |
//! |---|---|
//! | [`search_hubspot_contacts`](fn@search_hubspot_contacts), [`search_hubspot_tickets`](fn@search_hubspot_tickets) | reads |
//! | [`create_hubspot_contact`](fn@create_hubspot_contact), [`create_hubspot_ticket`](fn@create_hubspot_ticket) | adds a record |
//! | [`update_hubspot_contact`](fn@update_hubspot_contact), [`update_hubspot_ticket`](fn@update_hubspot_ticket) | overwrites properties |
//!
//! | secret | meaning |
//! |---|---|
//! | `hubspot_api_key` | the access token of a private app with the scopes `crm.objects.contacts.*` and `tickets`; without it, the tools are hidden |
//!
//! A strict schema has no maps, so properties are lists of names and values. The names are HubSpot's internal names, such as `lifecyclestage`. The lists
//! are required and may be empty, because Anthropic accepts at most 24 optional arguments in a request, and the six tools have 23 others.
//!
//! # Limits
//!
//! A search has at most 6 filters, all of which must match, and returns at most 100 records; a call with `next_after` as `after` returns the next
//! records. A value in a result has at most 2,000 characters. The audit stores only the lengths of values. [`vendor`](crate::vendor) describes rate
//! limits and errors.

mod api;
mod contacts;
mod tickets;

pub use api::{
    FilterOperator, HubSpotFilter, HubSpotProperty, HubSpotRecord, HubSpotRecords, HubSpotValue,
};
pub use contacts::{create_hubspot_contact, search_hubspot_contacts, update_hubspot_contact};
pub use tickets::{
    TicketPriority, create_hubspot_ticket, search_hubspot_tickets, update_hubspot_ticket,
};

use tool_core::Effect;
use tool_core::prelude::*;

use crate::vendor::{Api, Client};

/// Settings of the HubSpot tools. Pass them with [`ToolContextBuilder::with`](tool_core::ToolContextBuilder::with).
///
/// ```
/// use tool_core::{SecretString, ToolContext};
/// use tool_std::hubspot::HubSpot;
/// use tool_std::vendor::Api;
///
/// let cx = ToolContext::builder()
///     .with(HubSpot::default().api(Api::at("https://gateway.internal/hubspot")))
///     .secret("hubspot_api_key", SecretString::from("pat-eu1-0123456789"))
///     .build();
/// # drop(cx);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct HubSpot {
    api: Api,
}

impl Default for HubSpot {
    fn default() -> Self {
        Self {
            api: Api::public("https://api.hubapi.com"),
        }
    }
}

impl HubSpot {
    /// Sets the address of the API, by default `https://api.hubapi.com`.
    pub fn api(mut self, api: Api) -> Self {
        self.api = api;
        self
    }
}

fn client(cx: &ToolContext) -> Client {
    let settings: HubSpot = cx.extension().unwrap_or_default();
    Client::new("HubSpot", &settings.api, cx)
}

/// Permission to read from HubSpot, as a host value: `hubspot: &HubSpotRead`.
#[derive(Clone, Debug)]
pub struct HubSpotRead(Client);

impl FromContext for HubSpotRead {
    const EFFECT: Effect = Effect::READ.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(client(cx)))
    }
}

/// Permission to add and change records, as a host value: `hubspot: &HubSpotWrite`.
#[derive(Clone, Debug)]
pub struct HubSpotWrite(Client);

impl FromContext for HubSpotWrite {
    const EFFECT: Effect = Effect::WRITE.union(Effect::EXTERNAL);

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(client(cx)))
    }
}
