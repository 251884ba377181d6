//! Reading of a server's tools over all pages of `tools/list`.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::Value;

use super::lock::{Contract, key};

/// Maximum number of tools that are read from one server.
pub const MOST_TOOLS: usize = 10_000;

/// Maximum size of the valid tools in one server's list, in bytes of their JSON.
const MOST_BYTES: usize = 64 << 20;

/// The reason why a server's tools could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpToolsError {
    /// The request failed, for example because the server is disconnected, refused the request or did not respond in time.
    #[error("the server's tools could not be read: {0}")]
    Service(#[from] ServiceError),
    /// The response is not a list of tools.
    #[error("the server's response to `tools/list` is invalid: {0}")]
    NoList(String),
    /// The list exceeds the limits, or its pages repeat.
    #[error("the server's list of tools cannot be read completely: {0}")]
    Endless(String),
}

/// The list of a server's tools.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// The tools in the server's order.
    pub(crate) tools: Vec<Tool>,
    /// Entries that are not valid tools: the name, if the entry contains a name, and the reason.
    pub(crate) broken: Vec<(String, String)>,
}

impl Listed {
    /// Returns the contract of each tool by its name.
    pub(crate) fn contracts(&self) -> BTreeMap<String, Contract> {
        let mut contracts = BTreeMap::<String, Contract>::new();
        for tool in &self.tools {
            let contract = Contract::of(tool);
            let name = key(&tool.name);
            let contract = match contracts.get(&name) {
                Some(other) => other.doubled(&contract),
                None => contract,
            };
            contracts.insert(name, contract);
        }
        contracts
    }
}

/// Reads the list from the server, because rmcp's client would return a cached list for as long as the server declares it fresh.
pub(crate) async fn read(
    peer: &Peer<RoleClient>,
    timeout: Duration,
) -> Result<Listed, McpToolsError> {
    let mut listed = Listed::default();
    let mut cursors = HashSet::new();
    let mut cursor = None;
    let mut bytes = 0;
    loop {
        let request = ListToolsRequest {
            params: Some(PaginatedRequestParams::default().with_cursor(cursor)),
            ..Default::default()
        };
        let options = PeerRequestOptions::with_timeout(timeout);
        let handle = peer
            .send_request_with_option(ClientRequest::ListToolsRequest(request), options)
            .await?;
        let counted = listed.tools.len();
        let next = match handle.await_response().await? {
            ServerResult::ListToolsResult(page) => {
                listed.tools.extend(page.tools);
                page.next_cursor
            }
            // rmcp could not parse an entry of this page, so the entries are parsed one by one.
            ServerResult::CustomResult(page) => listed.take(&page.0)?,
            _ => {
                return Err(McpToolsError::NoList(
                    "it is the response to a different request".to_owned(),
                ));
            }
        };
        if listed.tools.len() + listed.broken.len() > MOST_TOOLS {
            return Err(McpToolsError::Endless(format!(
                "it has more than {MOST_TOOLS} tools"
            )));
        }
        let new = listed.tools.get(counted..).unwrap_or_default();
        bytes += serde_json::to_vec(new).map_or(MOST_BYTES, |text| text.len());
        if bytes > MOST_BYTES {
            return Err(McpToolsError::Endless(format!(
                "it has more than {MOST_BYTES} bytes"
            )));
        }
        let Some(next) = next else {
            return Ok(listed);
        };
        if cursors.len() >= MOST_TOOLS {
            return Err(McpToolsError::Endless(format!(
                "it has more than {MOST_TOOLS} pages"
            )));
        }
        if !cursors.insert(next.clone()) {
            return Err(McpToolsError::Endless(
                "it returns the same cursor twice".to_owned(),
            ));
        }
        cursor = Some(next);
    }
}

impl Listed {
    /// Adds the entries of a page one by one, and returns the next cursor.
    fn take(&mut self, page: &Value) -> Result<Option<String>, McpToolsError> {
        let Some(entries) = page.get("tools").and_then(Value::as_array) else {
            return Err(McpToolsError::NoList("it has no list `tools`".to_owned()));
        };
        for entry in entries {
            match serde_json::from_value::<Tool>(entry.clone()) {
                Ok(tool) => self.tools.push(tool),
                Err(error) => {
                    let name = entry
                        .get("name")
                        .and_then(Value::as_str)
                        .unwrap_or_default();
                    self.broken.push((name.to_owned(), error.to_string()));
                }
            }
        }
        Ok(page
            .get("nextCursor")
            .and_then(Value::as_str)
            .map(str::to_owned))
    }
}
