//! The `audit` command: lists and exports audit rows.

use super::api::{Api, Request};
use super::rows::Column;
use super::{list, query};
use crate::args::operate::AuditLog;
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

const COLUMNS: [Column; 7] = [
    ("AT", "at"),
    ("TOOL", "tool"),
    ("PRINCIPAL", "principal"),
    ("CONVERSATION", "conversation"),
    ("CALL", "call"),
    ("OUTCOME", "outcome"),
    ("ERROR", "error"),
];

pub(in crate::commands) async fn run(
    cli: &Cli,
    words: AuditLog,
    screen: Screen,
) -> Result<Exit, Failure> {
    let options = [
        ("tool", words.tool),
        ("principal", words.principal),
        ("conversation", words.conversation),
        ("call", words.call),
        ("outcome", words.outcome),
        ("failed", words.failed.then(|| "true".to_owned())),
        ("decision", words.decision),
        ("since", words.since),
        ("until", words.until),
    ];
    let query = query(options, &words.page);
    let api = Api::open(cli, &words.target).await?;
    if words.export {
        let request = Request::get(&["audit", "export"]).query(query);
        api.export(request).await?;
        return Ok(Exit::Ok);
    }
    let empty = "no audit row matches the options";
    list(&api, &["audit"], query, &COLUMNS, empty, screen).await
}
