//! Images, audio and files in an output, described instead of printed as base64.

use crate::json::Json;

/// Puts a line in the place of each file with its bytes, and says whether there was one.
///
/// Known are the form of `tool_core::Image` and its like (a `data:` URL beside `mediaType`), that of `tool_core::Part` (`media_type` and a
/// source), and that of content blocks of MCP (`mimeType` beside `data` or `blob`).
pub(super) fn describe(json: &mut Json) -> bool {
    let Json::Record(entries) = json else {
        return match json {
            Json::List(items) => each(items),
            _ => false,
        };
    };
    let text = |key: &str| {
        let entry = entries.iter().find(|(name, _)| name == key);
        entry.and_then(|(_, value)| value.as_text())
    };
    if let Some(media_type) = ["mediaType", "media_type", "mimeType"]
        .iter()
        .find_map(|key| text(key))
    {
        let data = ["url", "data", "blob"].iter().find_map(|key| text(key));
        let source = entries.iter().find(|(name, _)| name == "source");
        let data = data.or_else(|| source?.1.get("base64")?.as_text());
        let bytes = data.map(|data| data.split_once(";base64,").map_or(data, |(_, data)| data));
        let is_address = data.is_some_and(|data| data.contains("://"));
        if let Some(bytes) = bytes.filter(|_| !is_address) {
            let name = ["filename", "name"].iter().find_map(|key| text(key));
            let name = name.map_or_else(String::new, |name| format!(", {name}"));
            *json = Json::Text(format!("[{media_type}{name}, {}]", size(bytes)));
            return true;
        }
    }
    let Json::Record(entries) = json else {
        return false;
    };
    each(entries.iter_mut().map(|(_, value)| value))
}

/// Describes the files of all values, and says whether there was one.
fn each<'a>(values: impl IntoIterator<Item = &'a mut Json>) -> bool {
    let mut found = false;
    for value in values {
        found |= describe(value);
    }
    found
}

/// How many bytes a base64 text stands for, as people read it.
fn size(base64: &str) -> String {
    let padding = base64
        .bytes()
        .rev()
        .take(2)
        .filter(|byte| *byte == b'=')
        .count();
    let bytes = (base64.len() / 4 * 3).saturating_sub(padding);
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

    // G3: a terminal shows what a file is, and no base64
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
    fn an_address_and_any_other_record_stay_as_they_are() {
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
    fn sizes_are_told_as_people_read_them() {
        assert_eq!(size("aGVsbG8="), "5 bytes");
        assert_eq!(size(&"AAAA".repeat(5_000)), "15.0 kB");
        assert_eq!(size(&"AAAA".repeat(1_000_000)), "3.0 MB");
    }
}
