//! The `runs` command: runs of conversations.

use super::api::{Api, Request};
use super::rows::Column;
use super::{default, list, no_filter, query, show};
use crate::args::operate::{Runs, RunsAction};
use crate::host::Cli;
use crate::outcome::{Exit, Failure};
use crate::screen::Screen;

const COLUMNS: [Column; 7] = [
    ("CONVERSATION", "conversation"),
    ("NUMBER", "number"),
    ("STARTED", "started"),
    ("STATE", "state"),
    ("STEPS", "steps"),
    ("PRINCIPAL", "principal"),
    ("LEASE UNTIL", "lease_until"),
];

pub(in crate::commands) async fn run(
    cli: &Cli,
    words: Runs,
    screen: Screen,
) -> Result<Exit, Failure> {
    let filter = words.filter;
    let options = [
        ("state", filter.state),
        ("conversation", filter.conversation),
    ];
    let query = query(options, &filter.page);
    let Some(action) = &words.action else {
        let api = Api::open(cli, &words.target).await?;
        let query = default(query, "state", "running");
        let empty = "no run matches the options";
        return list(&api, &["runs"], query, &COLUMNS, empty, screen).await;
    };
    no_filter(&query)?;
    let (RunsAction::Show {
        conversation,
        number,
    }
    | RunsAction::Cancel {
        conversation,
        number,
    }) = action;
    let number = number.to_string();
    let run = ["runs", conversation, &number];
    let cancel = ["runs", conversation, &number, "cancel"];
    let request = match action {
        RunsAction::Show { .. } => Request::get(&run),
        RunsAction::Cancel { .. } => Request::post(&cancel),
    };
    let api = Api::open(cli, &words.target).await?;
    show(&api.send(request).await?, screen)
}
