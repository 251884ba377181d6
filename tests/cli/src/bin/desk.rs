//! A program with a few tools and the command line of `tool-cli`, built like a user's own program.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use tool_cli::Cli;
use tool_core::{DynamicTool, Rules, Uses, prelude::*};

/// How urgent it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// Today.
    High,
    /// Some day.
    Low,
}

/// Where something lies.
#[derive(Clone, Debug, Serialize, Deserialize, StrictSchema)]
pub struct Place {
    /// Name of the shelf.
    pub shelf: String,
    /// Number of the board.
    pub board: Option<u32>,
}

/// What was filed.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Filed {
    /// Its title.
    pub title: String,
    /// Where it lies.
    pub place: Place,
    /// Everything else that was said.
    pub said: String,
}

/// Files a note. Use it when something has to be found again.
///
/// The second paragraph is for the model only.
#[tool(category = "desk", tags("paper"))]
fn file_note(
    /// Its title.
    title: String,
    /// Where it goes.
    place: Place,
    /// How urgent it is.
    urgency: Option<Urgency>,
    /// Words to find it by.
    #[arg(default = [])]
    tags: Vec<String>,
    /// How many copies.
    #[arg(default = 1, range = 1..=9)]
    copies: u32,
    /// Whether it is kept for ever.
    #[arg(default = false)]
    keep_for_ever: bool,
    /// How much it weighs.
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
    /// How it is printed.
    format: String,
) -> String {
    format!("printed as {format}")
}

/// A page that was counted.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Page {
    /// Pages so far.
    pub done: u32,
    /// Pages in all.
    pub total: u32,
    /// Its heading.
    pub heading: String,
}

/// Counts the pages of a book and reports each one.
#[tool(category = "desk", read_only)]
fn count_pages(
    /// How many there are.
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

/// Waits for as long as it is left alone.
#[tool(category = "desk", read_only)]
async fn wait_long() -> u32 {
    std::future::pending::<()>().await;
    0
}

/// Sends a letter. A person has to agree.
#[tool(category = "mail", destructive, open_world, approval)]
fn send_letter(
    /// The name of the recipient.
    to: String,
    /// What it says.
    text: String,
) -> Result<String, ToolError> {
    Ok(format!("sent to {to}: {text}"))
}

/// Sends the same letter to two people. A person has to agree to each.
#[tool(category = "mail")]
async fn send_letters(
    #[context] uses: Uses<(send_letter,)>,
    /// What it says.
    text: String,
) -> Result<Vec<String>, ToolError> {
    let to = |name: &str| send_letter {
        to: name.to_owned(),
        text: text.clone(),
    };
    let first = uses.invoke(to("ann")).await?;
    Ok(vec![first, uses.invoke(to("bob")).await?])
}

/// Fetches the post. Needs the key of the letter box.
#[tool(category = "mail", open_world)]
fn fetch_post(
    #[secret("box_key")] key: SecretString,
    #[variable("STREET", description = "Where the box hangs.")] street: String,
) -> Result<String, ToolError> {
    use tool_core::ExposeSecret as _;
    Ok(format!(
        "opened the box in {street} with {} letters of key {}",
        key.expose_secret().len(),
        key.expose_secret()
    ))
}

/// Where to book.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Booking {
    /// The city.
    pub city: String,
    /// For how many.
    pub guests: u32,
    /// Whether there is a dog.
    pub dog: Option<bool>,
}

/// Books a table, and asks where.
#[tool(category = "desk", idempotent)]
async fn book_table(cx: &ToolContext) -> Result<String, ToolError> {
    let booking = cx.ask::<Booking>("Where shall it be?").await?.given();
    Ok(match booking {
        Some(Booking { city, guests, dog }) => format!("{city}, {guests}, dog: {dog:?}"),
        None => "no table".to_owned(),
    })
}

/// How a line looks.
#[derive(Clone, Copy, Debug, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// Without gaps.
    Solid,
    /// With gaps.
    Dashed,
}

/// What is drawn.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Figure {
    /// A circle.
    Circle {
        /// Its radius.
        radius: f64,
        /// Its line.
        line: Option<Line>,
    },
    /// A point.
    Point,
}

/// Draws figures.
#[tool(category = "drawing", read_only)]
fn draw_figures(
    /// The figures, from back to front.
    figures: Vec<Figure>,
    /// Numbers of the layers.
    #[arg(default = [1])]
    layers: Vec<u32>,
    /// The line of what has none.
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

/// Nobody sees it.
#[tool(category = "mail")]
fn forbidden() -> String {
    String::new()
}

/// A tool whose contract is different in each release of the desk.
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
        .registry(registry)
        .rules(Rules::default().deny(["forbidden"]))
        .run()
}
