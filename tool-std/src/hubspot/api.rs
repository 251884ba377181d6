//! Requests to HubSpot's CRM API, <https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/guide>, and records.

use std::collections::BTreeMap;

use ::http::header::AUTHORIZATION;
use serde_json::{Map, Value, json};
use tool_core::Issue;
use tool_core::prelude::*;

use crate::Excerpt;
use crate::http::{Method, Request, bearer};
use crate::vendor::{Client, Fault, Reply};

/// A property to set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct HubSpotProperty {
    /// The internal name, such as `lifecyclestage`.
    #[schema(length = 1..=100, audit = value)]
    pub name: String,
    /// The new value; an empty text clears the property.
    #[schema(length = 0..=65536)]
    pub value: String,
}

/// A property of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct HubSpotValue {
    /// The internal name.
    pub name: Excerpt<100>,
    /// The value, at most 2,000 characters; null if the property is not set.
    pub value: Option<Excerpt<2_000>>,
}

/// A contact or a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct HubSpotRecord {
    /// The id of the record.
    pub id: Excerpt<50>,
    /// The properties, sorted by name.
    pub properties: Vec<HubSpotValue>,
    /// The time of the creation, in ISO 8601.
    pub created_at: Excerpt<40>,
    /// The time of the last change, in ISO 8601.
    pub updated_at: Excerpt<40>,
}

/// The records that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct HubSpotRecords {
    /// The records that match, up to the limit of the call.
    pub records: Vec<HubSpotRecord>,
    /// The number of matches, which may be more than are returned.
    pub total: u32,
    /// The value of `after` for the next records; null if there are none.
    pub next_after: Option<Excerpt<100>>,
}

/// How a filter compares a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
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

impl FilterOperator {
    /// Returns HubSpot's name of the operator, <https://developers.hubspot.com/docs/api-reference/crm-search-v3/guide#filter-operators>.
    fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "EQ",
            Self::Neq => "NEQ",
            Self::Lt => "LT",
            Self::Lte => "LTE",
            Self::Gt => "GT",
            Self::Gte => "GTE",
            Self::ContainsToken => "CONTAINS_TOKEN",
            Self::HasProperty => "HAS_PROPERTY",
            Self::NotHasProperty => "NOT_HAS_PROPERTY",
        }
    }
}

/// A condition of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct HubSpotFilter {
    /// The internal name of the property.
    #[schema(length = 1..=100, audit = value)]
    pub property: String,
    /// How the property is compared.
    pub operator: FilterOperator,
    /// The value; empty for `has_property` and `not_has_property`. Times are milliseconds since 1970.
    #[schema(length = 0..=3000)]
    pub value: String,
}

/// The arguments of a search.
pub(super) struct Search {
    pub(super) query: Option<String>,
    pub(super) filters: Vec<HubSpotFilter>,
    pub(super) return_properties: Vec<String>,
    pub(super) limit: u32,
    pub(super) after: Option<String>,
}

impl Search {
    pub(super) async fn send(
        self,
        client: &Client,
        key: &SecretString,
        object: &str,
    ) -> Result<HubSpotRecords, ToolError> {
        let mut body = json!({ "limit": self.limit });
        if !self.filters.is_empty() {
            body["filterGroups"] = json!([{ "filters": filters(&self.filters)? }]);
        }
        if !self.return_properties.is_empty() {
            body["properties"] = json!(self.return_properties);
        }
        if let Some(query) = self.query {
            body["query"] = query.into();
        }
        if let Some(after) = self.after {
            body["after"] = after.into();
        }
        let path = ["crm", "v3", "objects", object, "search"];
        let request = request(client, Method::Post, &path, key)?.json(&body);
        let found: Found = judged(client.read(request).await?)?.json()?;
        Ok(HubSpotRecords {
            records: found.results.into_iter().map(Record::shown).collect(),
            total: found.total,
            next_after: found.paging.map(|paging| Excerpt::of(paging.next.after)),
        })
    }
}

/// Converts filters. Refuses a value for an operator that takes none, and a missing value for any other operator.
fn filters(filters: &[HubSpotFilter]) -> Result<Vec<Value>, ToolError> {
    let mut issues = Vec::new();
    let mut converted = Vec::new();
    for (at, filter) in filters.iter().enumerate() {
        let mut one =
            json!({"propertyName": filter.property, "operator": filter.operator.as_str()});
        let takes_value = !matches!(
            filter.operator,
            FilterOperator::HasProperty | FilterOperator::NotHasProperty
        );
        if takes_value {
            one["value"] = filter.value.as_str().into();
        }
        if takes_value == filter.value.is_empty() {
            let (expected, found) = if takes_value {
                ("a value for this operator", "an empty text")
            } else {
                ("an empty text for this operator", "a value")
            };
            issues.push(Issue {
                pointer: format!("/filters/{at}/value"),
                expected: expected.to_owned(),
                found: found.to_owned(),
            });
        }
        converted.push(one);
    }
    if issues.is_empty() {
        return Ok(converted);
    }
    Err(ToolError::invalid_arguments(issues))
}

/// Joins the properties of a call: `own` has the properties with a separate argument, `more` is the list `properties`. A name that is set twice is an
/// error.
pub(super) fn properties(
    own: &[(&str, Option<String>)],
    more: Vec<HubSpotProperty>,
) -> Result<Map<String, Value>, ToolError> {
    let mut all = Map::new();
    for (name, value) in own {
        if let Some(value) = value {
            all.insert((*name).to_owned(), value.as_str().into());
        }
    }
    for (at, property) in more.into_iter().enumerate() {
        if all.contains_key(&property.name) {
            return Err(ToolError::invalid_arguments(vec![Issue {
                pointer: format!("/properties/{at}/name"),
                expected: "each property once".to_owned(),
                found: format!("`{}` again", property.name),
            }]));
        }
        all.insert(property.name, property.value.into());
    }
    Ok(all)
}

/// Returns the error for a call that sets no property.
pub(super) fn nothing_to_change() -> ToolError {
    ToolError::invalid_arguments(vec![Issue {
        pointer: "/properties".to_owned(),
        expected: "at least one property to set".to_owned(),
        found: "none".to_owned(),
    }])
}

pub(super) fn request(
    client: &Client,
    method: Method,
    path: &[&str],
    key: &SecretString,
) -> Result<Request, ToolError> {
    client
        .request(method, path)?
        .secret_header(AUTHORIZATION, &bearer(key))
}

/// Sends a request, and returns the response if its status is 2xx. Any other status is an error.
pub(super) async fn send(client: &Client, request: Request) -> Result<Reply, ToolError> {
    judged(client.send(request).await?)
}

/// Sends a request whose response is a record, and returns the record.
pub(super) async fn record(client: &Client, request: Request) -> Result<HubSpotRecord, ToolError> {
    let record: Record = send(client, request).await?.json()?;
    Ok(record.shown())
}

/// The body of an error, <https://developers.hubspot.com/docs/guides/api/error-handling>.
#[derive(Debug, Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    category: String,
    #[serde(default)]
    message: String,
}

fn judged(reply: Reply) -> Result<Reply, ToolError> {
    if reply.is_success() {
        return Ok(reply);
    }
    let refusal: Refusal = reply.response.json().unwrap_or_default();
    let advice = match reply.response.status() {
        404 => Some("search for the id first"),
        409 => Some("update the existing record instead"),
        400 => Some("change the arguments; properties have internal names"),
        _ => None,
    };
    Err(reply.fail(&Fault {
        code: refusal.category,
        text: refusal.message,
        advice,
    }))
}

/// A record, as HubSpot sends it.
#[derive(Debug, Deserialize)]
struct Record {
    id: String,
    #[serde(default)]
    properties: BTreeMap<String, Option<String>>,
    #[serde(default, rename = "createdAt")]
    created_at: String,
    #[serde(default, rename = "updatedAt")]
    updated_at: String,
}

impl Record {
    fn shown(self) -> HubSpotRecord {
        let properties = self.properties.into_iter();
        HubSpotRecord {
            id: Excerpt::of(self.id),
            properties: properties
                .map(|(name, value)| HubSpotValue {
                    name: Excerpt::of(name),
                    value: value.map(Excerpt::of),
                })
                .collect(),
            created_at: Excerpt::of(self.created_at),
            updated_at: Excerpt::of(self.updated_at),
        }
    }
}

/// The response to a search.
#[derive(Debug, Deserialize)]
struct Found {
    total: u32,
    results: Vec<Record>,
    paging: Option<Paging>,
}

#[derive(Debug, Deserialize)]
struct Paging {
    next: Next,
}

#[derive(Debug, Deserialize)]
struct Next {
    after: String,
}
