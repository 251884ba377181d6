//! The `effects` command: the effect ledger.

use serde_json::json;

use super::api::{Api, Request};
use super::rows::Column;
use super::{default, json_of, list, no_filter, query, show};
use crate::args::operate::{Effects, EffectsAction};
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

const COLUMNS: [Column; 6] = [
    ("KEY", "key"),
    ("BEGUN", "begun"),
    ("STATE", "state"),
    ("TOOL", "tool"),
    ("PRINCIPAL", "principal"),
    ("CONVERSATION", "conversation"),
];

pub(in crate::commands) async fn run(
    cli: &Cli,
    words: Effects,
    screen: Screen,
) -> Result<Exit, Failure> {
    let filter = words.filter;
    let options = [
        ("state", filter.state),
        ("tool", filter.tool),
        ("principal", filter.principal),
        ("conversation", filter.conversation),
    ];
    let query = query(options, &filter.page);
    let Some(action) = &words.action else {
        let api = Api::open(cli, &words.target).await?;
        let query = default(query, "state", "ambiguous");
        let empty = "no effect matches the options";
        return list(&api, &["effects"], query, &COLUMNS, empty, screen).await;
    };
    no_filter(&query)?;
    let row = match action {
        EffectsAction::Show { key } => {
            let api = Api::open(cli, &words.target).await?;
            api.send(Request::get(&["effects", key])).await?
        }
        EffectsAction::Resolve {
            key,
            succeeded,
            failed,
            ..
        } => {
            let finding = match (succeeded, failed) {
                (Some(output), _) => {
                    json!({"finding": "succeeded", "output": json_of("--succeeded", output)?})
                }
                (None, Some(error)) => json!({"finding": "failed", "error": error}),
                (None, None) => json!({"finding": "rerun"}),
            };
            let api = Api::open(cli, &words.target).await?;
            api.send(Request::post(&["effects", key, "resolve"]).body(finding))
                .await?
        }
    };
    show(&row, screen)
}
