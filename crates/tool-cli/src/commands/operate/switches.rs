//! The `switch` command: lists and sets the switches that stop or disable tools.

use serde_json::json;

use super::api::{Api, Request};
use super::rows::Column;
use super::{list, no_filter, query, show};
use crate::args::operate::{SwitchAction, SwitchTools};
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

const COLUMNS: [Column; 6] = [
    ("KIND", "kind"),
    ("TOOL", "tool"),
    ("ON", "on"),
    ("AT", "at"),
    ("BY", "by"),
    ("REASON", "reason"),
];

pub(in crate::commands) async fn run(
    cli: &Cli,
    words: SwitchTools,
    screen: Screen,
) -> Result<Exit, Failure> {
    let filter = words.filter;
    let mut query = query([("tool", filter.tool)], &filter.page);
    let reach = words.every_workspace.then(|| ("reach", "host".to_owned()));
    let Some(action) = &words.action else {
        if !filter.all {
            query.push(("on", "true".to_owned()));
        }
        query.extend(reach);
        let api = Api::open(cli, &words.target).await?;
        let empty = "no switch matches the options";
        return list(&api, &["switches"], query, &COLUMNS, empty, screen).await;
    };
    if filter.all {
        query.push(("all", String::new()));
    }
    no_filter(&query)?;
    let (SwitchAction::On { kind, tool, reason } | SwitchAction::Off { kind, tool, reason }) =
        action;
    let on = matches!(action, SwitchAction::On { .. });
    let path = ["switches", kind.word(), tool];
    let mut body = json!({"on": on});
    if let Some(reason) = reason {
        body["reason"] = json!(reason);
    }
    let request = Request::put(&path)
        .query(reach.into_iter().collect())
        .body(body);
    let api = Api::open(cli, &words.target).await?;
    show(&api.send(request).await?, screen)
}
