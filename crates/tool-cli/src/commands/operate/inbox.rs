//! The `inbox` command: requests for an approval.

use serde_json::json;

use super::api::{Api, Request};
use super::rows::Column;
use super::{default, json_of, list, no_filter, query, show};
use crate::args::operate::{Inbox, InboxAction};
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

const COLUMNS: [Column; 7] = [
    ("ID", "id"),
    ("CREATED", "created"),
    ("STATUS", "status"),
    ("TOOL", "tool"),
    ("PRINCIPAL", "principal"),
    ("CONVERSATION", "conversation"),
    ("REASON", "reason"),
];

pub(in crate::commands) async fn run(
    cli: &Cli,
    words: Inbox,
    screen: Screen,
) -> Result<Exit, Failure> {
    let filter = words.filter;
    let options = [
        ("status", filter.status),
        ("tool", filter.tool),
        ("principal", filter.principal),
        ("assignee", filter.assignee),
        ("conversation", filter.conversation),
    ];
    let query = query(options, &filter.page);
    let Some(action) = words.action else {
        let api = Api::open(cli, &words.target).await?;
        let query = default(query, "status", "pending");
        let empty = "no request matches the options";
        return list(&api, &["approvals"], query, &COLUMNS, empty, screen).await;
    };
    no_filter(&query)?;
    let answer = |id, body| (id, "answer", Some(body));
    let (id, request, body) = match &action {
        InboxAction::Show { id } => {
            let api = Api::open(cli, &words.target).await?;
            let row = api.send(Request::get(&["approvals", id])).await?;
            return show(&row, screen);
        }
        InboxAction::Approve {
            id,
            arguments: None,
            reason,
        } => answer(id, json!({"verdict": "approve", "reason": reason})),
        InboxAction::Approve {
            id,
            arguments: Some(arguments),
            reason,
        } => {
            let arguments = json_of("--arguments", arguments)?;
            answer(
                id,
                json!({"verdict": "edit", "arguments": arguments, "reason": reason}),
            )
        }
        InboxAction::Deny { id, reason } => {
            answer(id, json!({"verdict": "deny", "reason": reason}))
        }
        InboxAction::Assign { id, person } => (id, "assignee", Some(json!({"assignee": person}))),
        InboxAction::Revoke { id } => (id, "revoke", None),
    };
    let path = ["approvals", id.as_str(), request];
    let sent = match request {
        "assignee" => Request::put(&path),
        _ => Request::post(&path),
    };
    let sent = match body {
        Some(body) => sent.body(body),
        None => sent,
    };
    let api = Api::open(cli, &words.target).await?;
    show(&api.send(sent).await?, screen)
}
