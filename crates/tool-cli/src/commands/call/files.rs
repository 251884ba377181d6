//! Images, audio and files in an output: replaced with a description when printed, and collected for `--save`.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use tool_core::{CallResult, HOLDS_SECRET, Part, Source, decoded_size, hidden};

use crate::json::Json;

/// Whether files were replaced with a description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Described {
    /// A file was replaced, with or without its bytes.
    pub(super) any: bool,
    /// A file with its bytes was replaced.
    pub(super) with_bytes: bool,
}

impl std::ops::BitOrAssign for Described {
    fn bitor_assign(&mut self, other: Self) {
        self.any |= other.any;
        self.with_bytes |= other.with_bytes;
    }
}

/// A JSON object that represents a file.
struct Record<'a> {
    media_type: &'a str,
    name: Option<&'a str>,
    body: Body<'a>,
}

enum Body<'a> {
    /// The bytes as base64.
    Bytes(&'a str),
    Address(&'a str),
    /// The bytes were removed because the file contains a secret.
    LeftOut,
}

impl<'a> Record<'a> {
    /// Reads an object that represents a file.
    ///
    /// Supports the form of `tool_core::Image` and similar types (a `data:` URL and `mediaType`), of
    /// `tool_core::Part` (`media_type` and a source), and of MCP content blocks (`mimeType` and `data` or `blob`).
    fn read(entries: &'a [(String, Json)]) -> Option<Self> {
        let entry = |key: &str| {
            let entry = entries.iter().find(|(name, _)| name == key);
            entry.map(|(_, value)| value)
        };
        let text = |keys: &[&str]| keys.iter().find_map(|key| entry(key)?.as_text());
        let media_type = text(&["mediaType", "media_type", "mimeType"])?;
        let source = |key: &str| entry("source")?.get(key)?.as_text();
        let data = text(&["url", "data", "blob"])
            .or_else(|| source("base64"))
            .or_else(|| source("url"))?;
        let body = if data == HOLDS_SECRET {
            Body::LeftOut
        } else if data.contains("://") {
            Body::Address(data)
        } else {
            Body::Bytes(data.split_once(";base64,").map_or(data, |(_, data)| data))
        };
        Some(Self {
            media_type,
            name: text(&["filename", "name"]),
            body,
        })
    }

    /// Formats the line that replaces the file.
    fn line(&self) -> String {
        let name = self.name.map_or_else(String::new, |name| {
            format!(", {}", hidden::escape(name).replace(['\n', '\t'], " "))
        });
        let media_type = hidden::escape(self.media_type);
        match self.body {
            Body::Bytes(base64) => format!("[{media_type}{name}, {}]", size(decoded_size(base64))),
            Body::Address(address) => format!("[{media_type}{name}, {address}]"),
            Body::LeftOut => {
                format!("[{media_type}{name}: left out because it contains a secret]")
            }
        }
    }
}

/// Replaces each file with a line that describes it. A file that has only an address is not changed.
pub(super) fn describe(json: &mut Json) -> Described {
    match json {
        Json::List(items) => each(items),
        Json::Record(entries) => match Record::read(entries) {
            Some(file) if !matches!(file.body, Body::Address(_)) => {
                let described = Described {
                    any: true,
                    with_bytes: matches!(file.body, Body::Bytes(_)),
                };
                *json = Json::Text(file.line());
                described
            }
            _ => each(entries.iter_mut().map(|(_, value)| value)),
        },
        _ => Described::default(),
    }
}

/// Replaces the files in all values with descriptions.
fn each<'a>(values: impl IntoIterator<Item = &'a mut Json>) -> Described {
    let mut described = Described::default();
    for value in values {
        described |= describe(value);
    }
    described
}

/// Returns the lines of an output that consists only of texts and files, such as a `Vec<Part>`. Returns `None` for any other output, and for an
/// output without a part, such as an empty list or a list of JSON strings.
pub(super) fn lines(json: &Json) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    (gather(json, &mut lines)? > 0).then_some(lines)
}

/// Adds the lines of a value, and returns the number of its parts. Returns `None` if the value contains anything except texts and files.
fn gather(json: &Json, lines: &mut Vec<String>) -> Option<usize> {
    match json {
        Json::Text(text) => {
            lines.push(text.clone());
            Some(0)
        }
        Json::List(items) => items
            .iter()
            .try_fold(0, |parts, item| Some(parts + gather(item, lines)?)),
        Json::Record(entries) => {
            if let [(parts, list @ Json::List(_))] = entries.as_slice()
                && parts == "parts"
            {
                // The entry is a serialized `ModelOutput`.
                return gather(list, lines);
            }
            let line = match entries.as_slice() {
                [(kind, Json::Text(text)), (key, Json::Text(said))]
                    if kind == "type" && text == "text" && key == "text" =>
                {
                    said.clone()
                }
                entries => Record::read(entries)?.line(),
            };
            lines.push(line);
            Some(1)
        }
        _ => None,
    }
}

/// A file of a result.
pub(super) struct Found {
    pub(super) media_type: String,
    pub(super) name: Option<String>,
    pub(super) content: Content,
}

pub(super) enum Content {
    Bytes(Vec<u8>),
    Address(String),
    /// The bytes were removed because the file contains a secret.
    LeftOut,
    /// The data is not valid base64.
    Broken,
}

impl Found {
    fn of(media_type: &str, name: Option<&str>, body: &Body<'_>) -> Self {
        Self {
            media_type: media_type.to_owned(),
            name: name.map(str::to_owned),
            content: match body {
                Body::Bytes(base64) => BASE64_STANDARD
                    .decode(base64)
                    .map_or(Content::Broken, Content::Bytes),
                Body::Address(address) => Content::Address((*address).to_owned()),
                Body::LeftOut => Content::LeftOut,
            },
        }
    }
}

/// Returns the files of a result: first the files in the output for the model, then the files that only the payload
/// contains.
pub(super) fn of_result(result: &CallResult) -> Vec<Found> {
    let parts = result.model_output().map(tool_core::ModelOutput::to_parts);
    let mut shown: Vec<(&str, &Source)> = Vec::new();
    let mut found = Vec::new();
    for part in parts.iter().flat_map(|parts| parts.iter()) {
        let Part::File {
            media_type,
            source,
            name,
        } = part
        else {
            continue;
        };
        let body = match source {
            Source::Base64(data) => Body::Bytes(data),
            Source::Url(address) => Body::Address(address),
            _ => continue,
        };
        shown.push((media_type, source));
        found.push(Found::of(media_type, name.as_deref(), &body));
    }
    let payload = result
        .output()
        .and_then(|output| Json::read(output.get()).ok());
    if let Some(payload) = &payload {
        beside(payload, &mut shown, &mut found);
    }
    found
}

/// Adds the files of a value that are not in the output for the model.
fn beside(json: &Json, shown: &mut Vec<(&str, &Source)>, found: &mut Vec<Found>) {
    let entries = match json {
        Json::List(items) => return items.iter().for_each(|item| beside(item, shown, found)),
        Json::Record(entries) => entries,
        _ => return,
    };
    let Some(file) = Record::read(entries) else {
        for (_, value) in entries {
            beside(value, shown, found);
        }
        return;
    };
    let same = |(media_type, source): &(&str, &Source)| {
        *media_type == file.media_type
            && match (source, &file.body) {
                (Source::Base64(data), Body::Bytes(other)) => data == other,
                (Source::Url(address), Body::Address(other)) => address == other,
                _ => false,
            }
    };
    match shown.iter().position(same) {
        Some(at) => {
            shown.swap_remove(at);
        }
        None => found.push(Found::of(file.media_type, file.name, &file.body)),
    }
}

/// Formats a number of bytes for people.
pub(super) fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &str) -> String {
        let mut json = Json::read(text).unwrap();
        describe(&mut json);
        json.to_string()
    }

    // The terminal shows a description of each file, and no base64.
    #[test]
    fn files_are_described_in_each_form() {
        let url = r#"{"type":"file","mediaType":"image/png","filename":"a.png","url":"data:image/png;base64,aGVsbG8="}"#;
        assert_eq!(described(url), r#""[image/png, a.png, 5 bytes]""#);
        let part = r#"{"parts":[{"type":"text","text":"x"},{"type":"file","media_type":"audio/wav","source":{"base64":"aGVsbG8h"}}]}"#;
        assert_eq!(
            described(part),
            r#"{"parts":[{"type":"text","text":"x"},"[audio/wav, 6 bytes]"]}"#
        );
        let block = r#"[1,{"type":"image","data":"aGk=","mimeType":"image/gif"}]"#;
        assert_eq!(described(block), r#"[1,"[image/gif, 2 bytes]"]"#);
        let nested = format!(r#"{{"a":{{"b":{url}}}}}"#);
        assert_eq!(
            described(&nested),
            r#"{"a":{"b":"[image/png, a.png, 5 bytes]"}}"#
        );
    }

    #[test]
    fn urls_and_other_records_are_unchanged() {
        for text in [
            r#"{"type":"file","mediaType":"image/png","url":"https://example.com/a.png"}"#,
            r#"{"media_type":"image/png","source":{"url":"https://example.com/a.png"}}"#,
            r#"{"mimeType":"text/plain","length":3}"#,
            r#"{"url":"data:image/png;base64,aGk="}"#,
        ] {
            assert_eq!(described(text), text);
        }
    }

    #[test]
    fn file_that_contains_a_secret_is_left_out_in_each_form() {
        let line = r#""[text/plain, k.txt: left out because it contains a secret]""#;
        for text in [
            format!(r#"{{"mediaType":"text/plain","filename":"k.txt","url":"{HOLDS_SECRET}"}}"#),
            format!(
                r#"{{"media_type":"text/plain","source":{{"base64":"{HOLDS_SECRET}"}},"name":"k.txt"}}"#
            ),
        ] {
            let mut json = Json::read(&text).unwrap();
            let expected = Described {
                any: true,
                with_bytes: false,
            };
            assert_eq!(describe(&mut json), expected);
            assert_eq!(json.to_string(), line);
        }
    }

    #[test]
    fn only_texts_and_files_are_printed_as_lines() {
        let of = |text: &str| lines(&Json::read(text).unwrap());
        let text = r#"{"type":"text","text":"a\nb"}"#;
        let file = r#"{"type":"file","media_type":"image/png","source":{"url":"https://example.com/a.png"}}"#;
        let all = vec![
            "a\nb".to_owned(),
            "[image/png, https://example.com/a.png]".to_owned(),
        ];
        assert_eq!(of(&format!("[{text},{file}]")), Some(all.clone()));
        assert_eq!(of(&format!(r#"{{"parts":[{text},{file}]}}"#)), Some(all));
        assert_eq!(of(text), Some(vec!["a\nb".to_owned()]));
        for other in [
            r#"["a","b"]"#,
            r#"[{"type":"text","text":"a"},1]"#,
            r#"{"type":"text","text":"a","more":1}"#,
            "[]",
            "null",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn sizes_are_printed_with_units() {
        assert_eq!(size(decoded_size("aGVsbG8=")), "5 bytes");
        assert_eq!(size(decoded_size(&"AAAA".repeat(5_000))), "15.0 kB");
        assert_eq!(size(decoded_size(&"AAAA".repeat(1_000_000))), "3.0 MB");
    }
}
