//! A program with a few tools and the command line of `tool-cli`, built like a user's own program.

use std::process::ExitCode;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tool_cli::Cli;
use tool_core::store::{Function, FunctionKind, FunctionVersion};
use tool_core::stored::{FunctionCall, FunctionFacts, FunctionOutput, FunctionRunner};
use tool_core::{DynamicTool, Rules, SecretNeed, Uses, prelude::*};

/// The urgency of a note.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// The note is for today.
    High,
    /// The note has no fixed date.
    Low,
}

/// The place of a note.
#[derive(Clone, Debug, Serialize, Deserialize, StrictSchema)]
pub struct Place {
    /// The name of the shelf.
    pub shelf: String,
    /// The number of the board.
    pub board: Option<u32>,
}

/// The record of a filed note.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Filed {
    /// The title of the note.
    pub title: String,
    /// The place of the note.
    pub place: Place,
    /// All other arguments as text.
    pub said: String,
}

/// Files a note. Use it when something has to be found again.
///
/// The second paragraph is for the model only.
#[tool(category = "desk", tags("paper"))]
fn file_note(
    /// The title of the note.
    title: String,
    /// The place of the note.
    place: Place,
    /// The urgency of the note.
    urgency: Option<Urgency>,
    /// Tags to find the note by.
    #[arg(default = [])]
    tags: Vec<String>,
    /// The number of copies.
    #[arg(default = 1, range = 1..=9)]
    copies: u32,
    /// Whether the note is kept forever.
    #[arg(default = false)]
    keep_for_ever: bool,
    /// The weight in grams.
    weight: Option<f64>,
) -> Result<Filed, ToolError> {
    Ok(Filed {
        title,
        place,
        said: format!("{urgency:?} {tags:?} {copies} {keep_for_ever} {weight:?}"),
    })
}

/// Prints in a format. Its argument has the name of an option of the command line.
#[tool(category = "desk", read_only)]
fn print_note(
    /// The format to print in.
    format: String,
) -> String {
    format!("printed as {format}")
}

/// A page that was counted.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Page {
    /// The number of pages counted so far.
    pub done: u32,
    /// The number of all pages.
    pub total: u32,
    /// The heading of the page.
    pub heading: String,
}

/// Counts the pages of a book and reports each one.
#[tool(category = "desk", read_only)]
fn count_pages(
    /// The number of pages.
    #[arg(range = 0..=100)]
    pages: u32,
) -> ToolStream<Page, u32> {
    tool_stream! {
        for done in 1..=pages {
            yield Page { done, total: pages, heading: format!("chapter {done}") };
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        pages
    }
}

/// Waits until it is cancelled.
#[tool(category = "desk", read_only)]
async fn wait_long() -> u32 {
    std::future::pending::<()>().await;
    0
}

/// Sends a letter after an approval.
#[tool(
    alias = "post_letter",
    category = "mail",
    destructive,
    open_world,
    approval
)]
fn send_letter(
    /// The name of the recipient.
    to: String,
    /// The text of the letter.
    text: String,
) -> Result<String, ToolError> {
    Ok(format!("sent to {to}: {text}"))
}

/// Sends the same letter to two people, each after an approval.
#[tool(category = "mail")]
async fn send_letters(
    #[context] uses: Uses<(send_letter,)>,
    /// The text of the letter.
    text: String,
) -> Result<Vec<String>, ToolError> {
    let to = |name: &str| send_letter {
        to: name.to_owned(),
        text: text.clone(),
    };
    let first = uses.invoke(to("ann")).await?;
    Ok(vec![first, uses.invoke(to("bob")).await?])
}

/// Fetches the post. Requires the key of the letter box.
#[tool(category = "mail", open_world)]
fn fetch_post(
    #[secret("box_key")] key: SecretString,
    #[variable("STREET", description = "The street of the letter box.")] street: String,
) -> Result<String, ToolError> {
    use tool_core::ExposeSecret as _;
    Ok(format!(
        "opened the box in {street} with {} letters of key {}",
        key.expose_secret().len(),
        key.expose_secret()
    ))
}

/// The details of a booking.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Booking {
    /// The city.
    pub city: String,
    /// The number of guests.
    pub guests: u32,
    /// Whether the guests bring a dog.
    pub dog: Option<bool>,
}

/// Books a table after it asks for the place.
#[tool(category = "desk", idempotent)]
async fn book_table(cx: &ToolContext) -> Result<String, ToolError> {
    let booking = cx.ask::<Booking>("Where shall it be?").await?.given();
    Ok(match booking {
        Some(Booking { city, guests, dog }) => format!("{city}, {guests}, dog: {dog:?}"),
        None => "no table".to_owned(),
    })
}

/// The style of a line.
#[derive(Clone, Copy, Debug, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// A line without gaps.
    Solid,
    /// A line with gaps.
    Dashed,
}

/// A figure to draw.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Figure {
    /// A circle.
    Circle {
        /// The radius of the circle.
        radius: f64,
        /// The style of its line.
        line: Option<Line>,
    },
    /// A point.
    Point,
}

/// Draws some figures.
#[tool(category = "drawing", read_only)]
fn draw_figures(
    /// The figures, from back to front.
    figures: Vec<Figure>,
    /// The numbers of the layers.
    #[arg(default = [1])]
    layers: Vec<u32>,
    /// The line of figures that do not set one.
    #[arg(default = "solid")]
    line: Line,
) -> String {
    format!("{figures:?} {layers:?} {line:?}")
}

/// Always fails.
#[tool(category = "mail")]
fn burn_post() -> Result<String, ToolError> {
    Err(ToolError::new("there is no fire, light one first"))
}

/// Is hidden from every caller.
#[tool(category = "mail")]
fn forbidden() -> String {
    String::new()
}

/// Returns a tool whose contract is different in each release of the desk.
fn label(release: &str) -> DynamicTool {
    let (text, required) = match release {
        "wider" => (json!({"type": "string", "maxLength": 20}), json!([])),
        "narrower" => (json!({"type": "string", "maxLength": 5}), json!(["text"])),
        _ => (json!({"type": "string", "maxLength": 10}), json!(["text"])),
    };
    let mut schema = json!({
        "type": "object",
        "properties": {"text": text},
        "required": required,
        "additionalProperties": false
    });
    if release != "silent" {
        schema["properties"]["text"]["description"] = json!("The text that is printed on it.");
    }
    let category = if release == "sorted" { "paper" } else { "desk" };
    let times = if release == "wordy" { 99 } else { 0 };
    DynamicTool::new(
        "print_label",
        "Prints a label. ".repeat(times) + "Prints a label.",
        schema,
        |said: Value, _cx| async move { Ok::<_, ToolError>(said.to_string()) },
    )
    .category(category)
}

/// A runner for the operations of the document `parcels.json`. It sends no request, and its output contains the name of the operation.
struct Courier;

impl FunctionRunner for Courier {
    fn facts(
        &self,
        function: &Function,
        _: &FunctionVersion,
    ) -> Option<Result<FunctionFacts, String>> {
        let is_own = matches!(&function.kind, FunctionKind::Http { document, .. } if document == "parcels.json");
        is_own.then(|| {
            let mut facts = FunctionFacts::calling([]);
            if let FunctionKind::Http { operation, .. } = &function.kind
                && operation == "insure"
            {
                facts
                    .secrets
                    .push(SecretNeed::new("parcels.example.com/key"));
            }
            Ok(facts)
        })
    }

    fn run(&self, call: FunctionCall) -> BoxFuture<'static, Result<FunctionOutput, ToolError>> {
        Box::pin(async move {
            let place = match &call.function.kind {
                FunctionKind::Http { operation, .. } => operation.as_str(),
                _ => "nowhere",
            };
            FunctionOutput::new(&format!("sent to {place}"))
        })
    }
}

fn main() -> ExitCode {
    let release = std::env::var("DESK_RELEASE").unwrap_or_default();
    let registry = Registry::builder().with_linked().dynamic(label(&release));
    let registry = match registry.build() {
        Ok(registry) => registry,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    Cli::new()
        .stored_tools(|tools| tools.runner(Courier))
        .registry(registry)
        .rules(Rules::default().deny(["forbidden"]))
        .run()
}
