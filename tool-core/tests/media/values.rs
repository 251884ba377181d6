//! Constructing and deserializing images, audio and files.

use serde_json::json;
use tool_core::{Audio, File, Image, Part, Source, ToolError};

use super::{GIF, PDF, PNG, WAV, png, wav};

fn refused<T: std::fmt::Debug>(made: Result<T, ToolError>) -> String {
    made.unwrap_err().model_text()
}

// An error for a wrong media type, for missing data or for bytes of a different type states what to write instead
#[test]
fn media_that_no_provider_accepts_is_refused_at_creation() {
    for (error, expected) in [
        (
            refused(Image::new("image/png", b"")),
            "the image has no data: leave it out",
        ),
        (
            refused(Image::base64("image/png", "")),
            "the image has no data: leave it out",
        ),
        (
            refused(Audio::wav([])),
            "the audio has no data: leave it out",
        ),
        (
            refused(File::text("")),
            "the file has no data: leave it out",
        ),
        (
            refused(Image::detect(b"")),
            "the image has no data: leave it out",
        ),
        (
            refused(Image::new("audio/wav", b"RIFF")),
            "the image has the media type `audio/wav`: write one that begins with `image/`, such as `image/png`, or return a `File`",
        ),
        (
            refused(Audio::url("image/png", "https://example.com/a.png")),
            "the audio has the media type `image/png`: write one that begins with `audio/`, such as `audio/wav`, or return a `File`",
        ),
        (
            refused(Image::new("png", b"x")),
            "the image has the media type `png`: write type and subtype, such as `image/png`",
        ),
        (
            refused(Image::new("image/*", b"x")),
            "the image has the media type `image/*`: write type and subtype, such as `image/png`",
        ),
        (
            refused(Image::new("image/png\r\nx: y", b"x")),
            "the image has the media type `image/png\r\nx: y`: write type and subtype, such as `image/png`",
        ),
        (
            refused(Image::jpeg(b"\x89PNG\r\n\x1a\n")),
            "the image has the media type `image/jpeg` and the bytes of `image/png`: write `image/png`",
        ),
        (
            refused(Image::base64("IMAGE/JPEG", PNG)),
            "the image has the media type `image/jpeg` and the bytes of `image/png`: write `image/png`",
        ),
        (
            refused(Image::detect(b"%PDF-1.7")),
            "the image has the media type `application/pdf`: write one that begins with `image/`, such as `image/png`, or return a `File`",
        ),
        (
            refused(Image::detect(b"hello")),
            "the image has bytes of an unknown type: pass the media type to `new`, such as `image/png`",
        ),
        (
            refused(Image::url("image/png", "cat.png")),
            "the image has the URL `cat.png`: write an absolute URL, such as `https://example.com/cat.png`",
        ),
    ] {
        assert_eq!(error, expected);
    }
    let error = refused(Image::base64("image/png", "iVBO-w0KGgo="));
    assert!(error.starts_with("the image is not base64 ("), "{error}");
    let error = refused(Image::base64(
        "image/png",
        format!("data:image/png;base64,{PNG}"),
    ));
    assert!(error.contains("without `data:` in front"), "{error}");
}

// 20 MiB are accepted, and one more byte is refused, as bytes and as base64 text
#[test]
fn the_size_of_a_file_is_bounded() {
    const MOST: usize = 20 << 20;
    let bytes = vec![0; MOST];
    let file = File::new("application/zip", &bytes).unwrap();
    let Source::Base64(data) = file.source() else {
        panic!("the source is not base64")
    };
    assert!(File::base64("application/zip", data.as_str()).is_ok());
    let expected = format!(
        "the image has {} bytes and at most {MOST} are allowed: make it smaller, or use its URL",
        MOST + 1
    );
    assert_eq!(refused(Image::png(vec![0; MOST + 1])), expected);
    let error = refused(File::base64("application/zip", "AAAA".repeat(MOST / 3 + 1)));
    assert!(error.contains("are allowed"), "{error}");
}

#[test]
fn media_type_is_detected_from_the_first_bytes() {
    for (bytes, expected) in [
        (&b"\x89PNG\r\n\x1a\n\0"[..], "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a\x01\0", "image/gif"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
    ] {
        assert_eq!(Image::detect(bytes).unwrap().media_type(), expected);
    }
    // Unrecognised bytes, and types that cannot be distinguished, keep the declared type.
    assert!(Image::png(b"dummy").is_ok());
    assert!(Image::new("image/apng", b"\x89PNG\r\n\x1a\n").is_ok());
}

#[test]
fn media_types_are_in_lower_case_and_names_are_plain() {
    let file = File::new(" Text/CSV; charset=UTF-8 ", "a,b").unwrap();
    assert_eq!(file.media_type(), "text/csv; charset=UTF-8");
    assert_eq!(file.name(), None);
    assert_eq!(
        file.clone().named("a\n\u{1b}[1mb.csv").name(),
        Some("a[1mb.csv")
    );
    assert_eq!(file.named(" ").name(), None);
}

// A payload of a client or a store is deserialized, unless the constructors would refuse it
#[test]
fn media_payload_round_trips() {
    let image = png().named("a \"b\".png");
    let written = serde_json::to_value(&image).unwrap();
    assert_eq!(
        written,
        json!({"type": "file", "mediaType": "image/png", "filename": "a \"b\".png", "url": format!("data:image/png;base64,{PNG}")})
    );
    assert_eq!(serde_json::from_value::<Image>(written).unwrap(), image);
    let far = Audio::url("audio/mpeg", "https://example.com/a.mp3").unwrap();
    let written = serde_json::to_value(&far).unwrap();
    assert_eq!(written["url"], "https://example.com/a.mp3");
    assert_eq!(
        serde_json::from_value::<Audio>(written.clone()).unwrap(),
        far
    );
    let wrong = serde_json::from_value::<Image>(written)
        .unwrap_err()
        .to_string();
    assert!(wrong.contains("begins with `image/`"), "{wrong}");
    for url in ["data:image/png;base64,", "data:image/png,x", "x.png"] {
        let wrong = json!({"type": "file", "mediaType": "image/png", "url": url});
        assert!(serde_json::from_value::<Image>(wrong).is_err(), "{url}");
    }
}

// `Debug` prints no base64
#[test]
fn debug_shows_no_bytes() {
    let shown = format!(
        "{:?} {:?}",
        png().named("a.png"),
        File::base64("application/pdf", PDF)
    );
    assert!(!shown.contains(PNG) && !shown.contains(PDF), "{shown}");
    assert!(
        shown.starts_with(
            r#"Image { media_type: "image/png", source: Base64(70 bytes), name: Some("a.png") }"#
        ),
        "{shown}"
    );
    assert_eq!(png().to_bytes().unwrap().len(), 70);
    for data in [GIF, WAV] {
        let part = Part::base64("image/gif", data);
        assert!(!format!("{part:?}").contains(data));
    }
}

// A user's message may contain the same media as a tool's result
#[test]
fn media_are_parts_of_a_users_message_too() {
    let sound: Audio = wav();
    let message = tool_core::turn::UserMessage::from([Part::text("Listen."), sound.into()]);
    assert_eq!(message.check(), Ok(()));
}
