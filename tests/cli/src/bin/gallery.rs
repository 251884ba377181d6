//! A program whose tools return files, use secrets, fail and panic.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tool_core::prelude::*;
use tool_core::{Audio, ExposeSecret as _, File, Image, ModelOutput, Part};

/// A PNG image of one black pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn pixel() -> Result<Image, ToolError> {
    Image::base64("image/png", PIXEL)
}

/// Draws an image of one pixel.
#[tool(category = "files", read_only)]
fn draw_pixel(
    /// The name of the file.
    name: String,
) -> Result<Image, ToolError> {
    Ok(pixel()?.named(name))
}

/// Returns a recorded sound.
#[tool(category = "files", read_only)]
fn record_sound() -> Result<Audio, ToolError> {
    Audio::wav(b"RIFF\x24\0\0\0WAVEfmt ")
}

/// Exports rows.
#[tool(category = "files", read_only)]
fn export_rows() -> Result<File, ToolError> {
    Ok(File::new("text/csv", "a,b\n")?.named("rows.csv"))
}

/// Returns a single part.
#[tool(category = "files", read_only)]
fn show_part() -> Result<Part, ToolError> {
    Ok(Part::from(pixel()?).named("part.png"))
}

/// Returns texts and two files of one name.
#[tool(category = "files", read_only)]
fn show_pages() -> Result<Vec<Part>, ToolError> {
    let page = Part::from(pixel()?.named("page.png"));
    Ok(vec![
        "Before".into(),
        page,
        "After".into(),
        Part::from(File::text("second")?).named("page.png"),
    ])
}

/// Returns the view for the model.
#[tool(category = "files", read_only)]
fn show_model() -> Result<ModelOutput, ToolError> {
    Ok(ModelOutput::parts([
        Part::text("A pixel"),
        Part::from(pixel()?).named("model.png"),
    ]))
}

/// A report whose text for the model is shorter than its payload.
#[derive(Debug, Serialize)]
struct Report {
    title: String,
    file: File,
}

impl ToModelOutput for Report {
    fn to_model_output(&self) -> ModelOutput {
        ModelOutput::text("the report is made")
    }
}

/// Writes a report.
#[tool(category = "files", read_only)]
fn write_report() -> Result<Report, ToolError> {
    Ok(Report {
        title: "Sales".to_owned(),
        file: File::text("all sales")?.named("report.txt"),
    })
}

/// Returns a file at an address.
#[tool(category = "files", read_only)]
fn link_file() -> Part {
    Part::url("image/png", "https://example.com/a.png")
}

/// Draws images step by step.
#[tool(category = "files", read_only)]
fn draw_steps() -> ToolStream<Image, u32> {
    tool_stream! {
        yield pixel()?;
        1
    }
}

/// Puts the key into a file.
#[tool(category = "secrets", read_only)]
fn keep_key(#[secret("tracker_key")] key: SecretString) -> Result<File, ToolError> {
    let text = format!("the key is {}", key.expose_secret());
    Ok(File::new("text/plain", text)?.named("k.txt"))
}

/// Puts the key into a file among others.
#[tool(category = "secrets", read_only)]
fn keep_key_in_parts(#[secret("tracker_key")] key: SecretString) -> Result<Vec<Part>, ToolError> {
    let text = format!("the key is {}", key.expose_secret());
    Ok(vec![
        Part::from(File::text(text)?).named("k.txt"),
        Part::from(File::text("fine")?).named("fine.txt"),
    ])
}

/// Panics with the key.
#[tool(category = "secrets", read_only)]
#[expect(clippy::panic, reason = "the tests check the output of the panic")]
fn panic_with_key(#[secret("tracker_key")] key: SecretString) -> u32 {
    panic!("key {}", key.expose_secret())
}

/// Fails with a cause that only the operator may read.
#[tool(category = "errors", read_only)]
fn query_database() -> Result<u32, ToolError> {
    Err(ToolError::new("the database does not answer").operator("postgres://admin:hunter22@db"))
}

/// Fails with an error of a different library.
#[tool(category = "errors", read_only)]
fn read_config() -> Result<u32, ToolError> {
    Err(std::io::Error::other("postgres://admin:hunter22@db"))?
}

/// The counter that the host passes to tools.
#[derive(Clone, Debug, Default)]
struct Counter(Arc<AtomicU32>);

tool_core::host_value!(Counter, tool_core::Effect::WRITE);

/// Counts its calls.
#[tool(category = "state")]
fn count_up(#[context] counter: Counter) -> u32 {
    counter.0.fetch_add(1, Ordering::Relaxed) + 1
}

/// Counts its calls, each after an approval.
#[tool(category = "state", approval)]
fn ask_first() -> u32 {
    1
}

fn main() -> ExitCode {
    let cli = tool_cli::Cli::new();
    if std::env::var_os("GALLERY_COUNTER").is_none() {
        return cli.run();
    }
    let counter = Counter::default();
    cli.context(move |cx| cx.with(counter.clone())).run()
}
