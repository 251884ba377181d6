//! Outputs with files, as the model and the client get them, for each return type.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tool_core::bounded::Bounded;
use tool_core::prelude::*;
use tool_core::{Audio, DynamicTool, File, Image, Part};

use super::{GIF, PDF, PNG, WAV, call, gif, payload, pdf, png, read, wav};

/// Draws an image, and cannot fail.
#[tool(read_only)]
fn bare() -> Image {
    png()
}

/// Draws an image.
#[tool(read_only)]
async fn fallible() -> Result<Image, ToolError> {
    Image::base64("image/png", PNG)
}

/// Returns a sound.
#[tool(read_only)]
fn speak() -> Result<Audio, ToolError> {
    Ok(wav())
}

/// Exports a file.
#[tool(read_only)]
fn export() -> File {
    pdf()
}

/// Draws several images.
#[tool(read_only)]
fn many() -> Vec<Image> {
    vec![png(), gif(), png()]
}

/// Draws several images, and may fail.
#[tool(read_only)]
fn many_or_fails() -> Result<Vec<Image>, ToolError> {
    Ok(vec![png(), gif()])
}

/// Draws an image with a caption.
#[tool(read_only)]
fn captioned() -> (String, Image) {
    ("A red pixel".to_owned(), png())
}

/// Draws several images with captions.
#[tool(read_only)]
fn pages() -> Result<Vec<(String, Image)>, ToolError> {
    Ok(vec![("One".to_owned(), png()), ("Two".to_owned(), gif())])
}

/// Returns an optional image.
#[tool(read_only)]
fn perhaps() -> Option<Image> {
    Some(png())
}

/// Returns no image.
#[tool(read_only)]
fn nothing() -> Option<Image> {
    None
}

/// Returns an empty list of images.
#[tool(read_only)]
fn none_of_many() -> Vec<Image> {
    Vec::new()
}

/// Returns a list of parts.
#[tool(read_only)]
fn chosen() -> Vec<Part> {
    vec![
        "before".into(),
        png().into(),
        Part::text("after"),
        wav().into(),
    ]
}

/// Returns one part.
#[tool(read_only)]
fn one_part() -> Result<Part, ToolError> {
    Ok(gif().into())
}

/// Returns the view for the model.
#[tool(read_only)]
fn view() -> ModelOutput {
    ModelOutput::parts([Part::text("see"), png().into()])
}

/// Returns the view for the model, and may fail.
#[tool(read_only)]
fn view_or_fails() -> Result<ModelOutput, ToolError> {
    Ok(ModelOutput::parts([Part::text("see"), png().into()]))
}

/// Returns a text as the view for the model.
#[tool(read_only)]
fn text_view() -> ModelOutput {
    ModelOutput::text("three hits")
}

/// Draws images step by step.
#[tool(read_only)]
fn stepwise() -> ToolStream<Image, Image> {
    tool_stream! {
        yield gif();
        png()
    }
}

/// A struct with files inside.
#[derive(Serialize)]
struct Report {
    title: String,
    chart: Image,
    more: Option<Box<More>>,
}

#[derive(Serialize)]
struct More {
    sounds: BTreeMap<String, Audio>,
    #[serde(flatten)]
    file: Named,
}

#[derive(Serialize)]
struct Named {
    file: File,
}

fn report() -> Report {
    Report {
        title: "Sales".to_owned(),
        chart: png(),
        more: Some(Box::new(More {
            sounds: BTreeMap::from([("bell".to_owned(), wav())]),
            file: Named { file: pdf() },
        })),
    }
}

/// Returns a report.
#[tool(read_only)]
fn nested() -> Result<Report, ToolError> {
    Ok(report())
}

/// Returns a short report.
#[tool(read_only)]
fn small() -> Result<Report, ToolError> {
    Ok(Report {
        more: None,
        ..report()
    })
}

/// A described output with an image.
#[derive(Serialize, StrictSchema)]
struct Described {
    /// The title of the chart.
    title: String,
    /// The chart as an image.
    chart: Image,
}

/// Returns a report with a schema.
#[tool(read_only)]
fn described() -> Described {
    Described {
        title: "Sales".to_owned(),
        chart: png(),
    }
}

fn brief(report: &Report) -> ModelOutput {
    ModelOutput::parts([Part::text(&report.title), Part::from(&report.chart)])
}

/// Returns a report with a separate view for the model.
#[tool(read_only, to_model_output = brief)]
fn viewed() -> Result<Report, ToolError> {
    Ok(report())
}

/// A tagged enum with an image.
#[derive(Serialize)]
#[serde(tag = "kind")]
enum Choice {
    Picture(Image),
}

/// Returns a tagged choice.
#[tool(read_only)]
fn tagged() -> Result<Choice, ToolError> {
    Ok(Choice::Picture(png()))
}

/// Returns a bounded report.
#[tool(read_only)]
fn bounded() -> Result<Bounded<Report, 40>, ToolError> {
    Ok(report().into())
}

/// Returns an image as a text, and the same image twice.
#[tool(read_only)]
fn confusing() -> Result<(String, Image, Image), ToolError> {
    Ok((PNG.to_owned(), png(), png()))
}

// The number of tools exceeds the limit of one request, so `toolset!` would not compile.
fn tools() -> Toolset {
    let registry = Registry::builder()
        .tool::<bare>()
        .tool::<fallible>()
        .tool::<speak>()
        .tool::<export>()
        .tool::<many>()
        .tool::<many_or_fails>()
        .tool::<captioned>()
        .tool::<pages>()
        .tool::<perhaps>()
        .tool::<nothing>()
        .tool::<none_of_many>()
        .tool::<chosen>()
        .tool::<one_part>()
        .tool::<view>()
        .tool::<view_or_fails>()
        .tool::<text_view>()
        .tool::<stepwise>()
        .tool::<nested>()
        .tool::<small>()
        .tool::<described>()
        .tool::<viewed>()
        .tool::<tagged>()
        .tool::<bounded>()
        .tool::<confusing>()
        .build();
    registry.unwrap().open()
}

fn shape(parts: &[Part]) -> Vec<String> {
    let of = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        Part::File {
            source: tool_core::Source::Base64(data),
            ..
        } => match data.as_str() {
            PNG => "PNG".to_owned(),
            GIF => "GIF".to_owned(),
            WAV => "WAV".to_owned(),
            PDF => "PDF".to_owned(),
            other => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    };
    parts.iter().map(of).collect()
}

// The model gets the files of each return type as parts, and not as base64 in the text
#[tokio::test]
async fn the_model_sees_the_files_of_every_return_type() {
    let file = |name: &str| format!(r#"{{"type":"file","mediaType":"image/png","url":"{name}"}}"#);
    let nested = format!(
        r#"{{"title":"Sales","chart":{},"more":{{"sounds":{{"bell":{{"type":"file","mediaType":"audio/wav","url":"[file 2]"}}}},"file":{{"type":"file","mediaType":"application/pdf","filename":"report.pdf","url":"[file 3]"}}}}}}"#,
        file("[file 1]")
    );
    let small = format!(
        r#"{{"title":"Sales","chart":{},"more":null}}"#,
        file("[file 1]")
    );
    for (name, expected) in [
        ("bare", vec!["PNG"]),
        ("fallible", vec!["PNG"]),
        ("speak", vec!["WAV"]),
        ("export", vec!["PDF"]),
        ("many", vec!["PNG", "GIF", "PNG"]),
        ("many_or_fails", vec!["PNG", "GIF"]),
        ("captioned", vec!["A red pixel", "PNG"]),
        ("pages", vec!["One", "PNG", "Two", "GIF"]),
        ("perhaps", vec!["PNG"]),
        ("chosen", vec!["before", "PNG", "after", "WAV"]),
        ("one_part", vec!["GIF"]),
        ("view", vec!["see", "PNG"]),
        ("view_or_fails", vec!["see", "PNG"]),
        ("stepwise", vec!["PNG"]),
        (
            "nested",
            vec![
                &nested, "file 1:", "PNG", "file 2:", "WAV", "file 3:", "PDF",
            ],
        ),
        ("small", vec![&small, "PNG"]),
        (
            "described",
            vec![
                r#"{"title":"Sales","chart":{"type":"file","mediaType":"image/png","url":"[file 1]"}}"#,
                "PNG",
            ],
        ),
        ("viewed", vec!["Sales", "PNG"]),
        (
            "tagged",
            vec![
                r#"{"kind":"Picture","type":"file","mediaType":"image/png","url":"[file 1]"}"#,
                "PNG",
            ],
        ),
        ("confusing", vec![PNG, "PNG", "PNG"]),
    ] {
        let result = call(&tools(), name).await;
        assert_eq!(shape(&read(&result)), expected, "{name}");
        assert!(!result.model_text().contains(GIF), "{name}");
    }
    for (name, expected) in [
        ("nothing", "null"),
        ("none_of_many", "[]"),
        ("text_view", "three hits"),
    ] {
        assert_eq!(call(&tools(), name).await.model_text(), expected, "{name}");
    }
}

// The client gets parts of the type `file`, with the bytes
#[tokio::test]
async fn the_client_gets_the_bytes() {
    let file = |media_type: &str, data: &str| json!({"type": "file", "mediaType": media_type, "url": format!("data:{media_type};base64,{data}")});
    let image = file("image/png", PNG);
    for name in ["bare", "fallible", "perhaps", "stepwise"] {
        assert_eq!(payload(&call(&tools(), name).await), image, "{name}");
    }
    assert_eq!(
        payload(&call(&tools(), "many").await),
        json!([image, file("image/gif", GIF), image])
    );
    assert_eq!(
        payload(&call(&tools(), "captioned").await),
        json!(["A red pixel", image])
    );
    let nested = payload(&call(&tools(), "nested").await);
    assert_eq!(nested["chart"], image);
    assert_eq!(nested["more"]["sounds"]["bell"], file("audio/wav", WAV));
    // Parts have the same form in every output, and can be deserialized.
    let text = |text: &str| json!({"type": "text", "text": text});
    let wav = file("audio/wav", WAV);
    let chosen = payload(&call(&tools(), "chosen").await);
    assert_eq!(chosen, json!([text("before"), image, text("after"), wav]));
    let parts: Vec<Part> = serde_json::from_value(chosen).unwrap();
    assert_eq!(parts[1], Part::base64("image/png", PNG));
    assert_eq!(
        payload(&call(&tools(), "one_part").await),
        file("image/gif", GIF)
    );
    assert_eq!(
        payload(&call(&tools(), "view").await),
        json!({"parts": [text("see"), image]})
    );
    // The tool's own model view removes nothing from the client's output.
    assert_eq!(payload(&call(&tools(), "viewed").await), nested);
}

// `output_without_bytes` contains a short description in place of the bytes of each file, unless the tool has its own view for the model
#[tokio::test]
async fn output_without_bytes_describes_each_file() {
    for def in tools().tools() {
        let result = call(&tools(), def.name()).await;
        let described = result.output_without_bytes().unwrap();
        let value: Value = serde_json::from_str(&described).unwrap();
        if def.name() == "confusing" {
            // A text that happens to be base64 is not a file.
            assert_eq!(value[0], PNG);
            assert_eq!(value[1]["url"], "[image/png, 70 bytes]");
            assert_eq!(value[2]["url"], "[image/png, 70 bytes]");
            continue;
        }
        let hidden = def.name() == "viewed";
        for data in [PNG, GIF, WAV, PDF] {
            assert!(
                hidden || !described.contains(data),
                "{}: {described}",
                def.name()
            );
        }
        assert!(!format!("{result:?}").contains(GIF));
    }
}

// The bounds apply to the text; files are not cut
#[tokio::test]
async fn a_bounded_output_shows_its_files() {
    let parts = shape(&read(&call(&tools(), "bounded").await));
    assert!(
        parts[0].starts_with(r#"{"title":"Sales","chart":{"type":"file","#),
        "{parts:?}"
    );
    assert!(
        parts[0].contains("[these are the first 40 of "),
        "{parts:?}"
    );
    assert_eq!(
        parts[1..],
        ["file 1:", "PNG", "file 2:", "WAV", "file 3:", "PDF"]
    );
}

// Outputs with files have no output schema
#[test]
fn outputs_with_files_have_no_schema() {
    for def in tools().tools() {
        assert_eq!(def.output_schema(), None, "{}", def.name());
    }
}

fn dynamic() -> Toolset {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let of = |name: &str| {
        (
            name.to_owned(),
            "Draws an image.".to_owned(),
            schema.clone(),
        )
    };
    let (name, about, takes) = of("image");
    let image = DynamicTool::new(name, about, takes, |_: Value, _| async {
        Ok::<_, ToolError>(png())
    });
    let (name, about, takes) = of("output");
    let output = DynamicTool::new(name, about, takes, |_: Value, _| async {
        Ok::<_, ToolError>(ModelOutput::parts([Part::text("see"), png().into()]))
    });
    let (name, about, takes) = of("parts");
    let parts = DynamicTool::new(name, about, takes, |_: Value, _| async {
        vec![Part::text("see"), png().into()]
    });
    let tools = [image, output, parts].into_iter();
    let registry = tools.fold(Registry::builder(), tool_core::RegistryBuilder::dynamic);
    registry.build().unwrap().open()
}

// Dynamic tools show their files too, although no macro reads their return types
#[tokio::test]
async fn dynamic_tools_show_their_files() {
    assert_eq!(shape(&read(&call(&dynamic(), "image").await)), ["PNG"]);
    assert_eq!(
        shape(&read(&call(&dynamic(), "output").await)),
        ["see", "PNG"]
    );
    assert_eq!(
        shape(&read(&call(&dynamic(), "parts").await)),
        ["see", "PNG"]
    );
}

/// Returns parts that no provider accepts.
#[tool(read_only)]
fn broken_parts() -> ModelOutput {
    ModelOutput::parts([
        Part::text(""),
        Part::base64("image/png", ""),
        Part::base64("image/png", "not base64"),
        Part::base64("png", PNG),
        Part::url("image/png", "cat.png"),
        Part::base64("image/png", PNG),
    ])
}

/// Returns files with more bytes than one result may contain.
#[tool(read_only)]
fn too_many() -> Result<Vec<File>, ToolError> {
    let file = File::new("application/zip", vec![0; 12 << 20])?;
    Ok(vec![
        file.clone(),
        file,
        File::base64("application/pdf", PDF)?,
    ])
}

// A file that no provider accepts, or that exceeds the total size of a result, is replaced by a text; an empty text is left out
#[tokio::test]
async fn part_that_no_provider_accepts_is_omitted() {
    let parts = read(&call(&toolset![broken_parts], "broken_parts").await);
    let shown = shape(&parts);
    assert_eq!(shown.len(), 5, "{shown:?}");
    assert_eq!(
        shown[0],
        "[a file is left out: it has no data: leave it out]"
    );
    assert!(
        shown[1].starts_with("[a file is left out: it is not base64 ("),
        "{shown:?}"
    );
    assert!(
        shown[2].contains("it has the media type `png`"),
        "{shown:?}"
    );
    assert!(shown[3].contains("it has the URL `cat.png`"), "{shown:?}");
    assert_eq!(shown[4], "PNG");

    let parts = read(&call(&toolset![too_many], "too_many").await);
    assert!(matches!(&parts[0], Part::File { .. }));
    let left_out = "[a file is left out: the files of a result may have 20971520 bytes in total]";
    assert_eq!(parts[1], Part::text(left_out));
    assert!(matches!(&parts[2], Part::File { media_type, .. } if media_type == "application/pdf"));
}

// A typed call returns the image itself
#[tokio::test]
async fn typed_call_returns_the_image() {
    let image = tools()
        .invoke(fallible {}, &ToolContext::anonymous())
        .await
        .unwrap();
    assert_eq!(image, png());
    let all = Box::pin(tools().invoke(captioned {}, &ToolContext::anonymous()))
        .await
        .unwrap();
    assert_eq!(all.1, png());
}
