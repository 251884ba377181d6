//! The commands for operators: `inbox`, `audit`, `effects`, `runs`, `plan`, `memories`, `secrets` and `switch`.
//!
//! Each command except `plan` and `memories` is one request to the admin API: of a running host, or of a server in this process on the store of a host.

mod api;
pub(super) mod audit;
pub(super) mod effects;
pub(super) mod inbox;
pub(super) mod memories;
pub(super) mod plan;
mod rows;
pub(super) mod runs;
pub(super) mod secrets;
pub(super) mod switches;

use std::io::Read as _;

use serde_json::Value;
use tool_core::hidden;

use crate::args::operate::Page;
use crate::outcome::{Exit, Failure};
use crate::screen::{DIM, Screen, paint};
use api::{Api, Request};
use rows::Column;

/// The query parameters of a list request.
type Query = Vec<(&'static str, String)>;

/// Returns the query parameters for the options that are given.
fn query<const N: usize>(options: [(&'static str, Option<String>); N], page: &Page) -> Query {
    let page = [
        ("limit", page.limit.map(|rows| rows.to_string())),
        ("cursor", page.cursor.clone()),
    ];
    let given = options.into_iter().chain(page);
    given
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// Sets the default value of an absent parameter, and removes a parameter with the value `all`.
fn default(mut query: Query, name: &'static str, value: &str) -> Query {
    match query.iter().position(|(given, _)| *given == name) {
        None => query.push((name, value.to_owned())),
        Some(at) if query[at].1 == "all" => {
            query.remove(at);
        }
        Some(_) => {}
    }
    query
}

/// Refuses options of the list together with an action, which would ignore them.
fn no_filter(query: &Query) -> Result<(), Failure> {
    match query.first() {
        None => Ok(()),
        Some((name, _)) => Err(Failure::usage(format!(
            "`--{name}` selects rows of the list, and the command does not print the list"
        ))
        .hint(format!("remove `--{name}`"))),
    }
}

/// Prints a page of a list.
async fn list(
    api: &Api,
    path: &[&str],
    query: Query,
    columns: &[Column],
    empty: &str,
    screen: Screen,
) -> Result<Exit, Failure> {
    let page = api.send(Request::get(path).query(query)).await?;
    if screen.is_json() {
        Screen::json(&page)?;
        return Ok(Exit::Ok);
    }
    let items = page["items"].as_array().map_or(&[][..], Vec::as_slice);
    if items.is_empty() {
        screen.note(empty);
    } else {
        screen.out(rows::table(columns, items).render(Screen::width()))?;
    }
    if let Some(cursor) = page["next"].as_str() {
        screen.note(paint(
            DIM,
            format_args!("more rows: repeat the command with `--cursor {cursor}`"),
        ));
    }
    Ok(Exit::Ok)
}

/// Prints one row, each field on its own line.
fn show(row: &Value, screen: Screen) -> Result<Exit, Failure> {
    if screen.is_json() {
        Screen::json(row)?;
    } else {
        screen.out(rows::fields(row))?;
    }
    Ok(Exit::Ok)
}

/// Reads JSON from an option: the text itself, `@FILE`, or `-` for standard input.
fn json_of(option: &str, given: &str) -> Result<Value, Failure> {
    let text = if given == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text
    } else if let Some(path) = given.strip_prefix('@') {
        std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("`{option}`: `{path}` cannot be read: {error}"))
        })?
    } else {
        given.to_owned()
    };
    serde_json::from_str(&text).map_err(|error| {
        Failure::usage(format!("`{option}` is not JSON: {error}"))
            .hint(format!("write `{option} '{{\"key\": \"value\"}}'`"))
    })
}

/// Escapes characters that a terminal hides or interprets as control codes. Models and callers write parts of the rows.
fn printable(text: &str) -> String {
    hidden::escape(text).into_owned()
}
