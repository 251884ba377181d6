//! Reasoning in the fields that compatible servers add to a message.

use serde::Serialize;
use serde_json::value::RawValue;

use super::super::json::{Node, Object, json};

/// The reasoning of a message, as its server wrote it. The Chat Completions API of OpenAI has no field for it.
///
/// DeepSeek and Kimi write `reasoning_content` and refuse a later request without it if the message calls tools. OpenRouter writes `reasoning` and
/// `reasoning_details`; every later request must contain the signatures of the details. vLLM and Ollama write `reasoning`.
#[derive(Debug, Default)]
pub(super) struct Thought {
    /// The text of `reasoning_content`; empty if the server wrote an empty text.
    content: Option<String>,
    /// The text of `reasoning`.
    reasoning: String,
    details: Vec<Detail>,
}

/// An element of `reasoning_details`, joined from its pieces.
#[derive(Debug)]
struct Detail {
    entries: Vec<(String, Box<RawValue>)>,
    /// Whether later pieces can continue the text. An element with encrypted data is sent in one piece.
    grows: bool,
}

/// The fields of a message in a request.
#[derive(Debug, Default, Serialize)]
pub(super) struct Fields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<Box<RawValue>>,
}

/// The keys of a detail whose texts are sent in pieces.
const GROWING: [&str; 2] = ["text", "summary"];

impl Thought {
    /// Reads a complete message or a piece of one. Returns the text to show.
    pub(super) fn read(&mut self, message: &Object<'_>) -> Option<String> {
        let text = |key| message.get(key).and_then(|node| node.text().ok());
        let content = text("reasoning_content");
        let reasoning = text("reasoning");
        if let Some(piece) = &content {
            self.content.get_or_insert_default().push_str(piece);
        }
        if let Some(piece) = &reasoning {
            self.reasoning.push_str(piece);
        }
        let details = message.get("reasoning_details");
        for detail in details.and_then(|it| it.array().ok()).unwrap_or_default() {
            self.detail(&detail);
        }
        // Some servers write both fields with the same text.
        [content, reasoning]
            .into_iter()
            .flatten()
            .find(|piece| !piece.is_empty())
    }

    fn detail(&mut self, node: &Node<'_>) {
        let Ok(detail) = node.object() else {
            return;
        };
        let text = |key| detail.get(key).and_then(|node| node.text().ok());
        let grows = matches!(
            text("type").as_deref(),
            Some("reasoning.text" | "reasoning.summary")
        );
        let last = self.details.last_mut();
        match last.filter(|last| grows && last.is_continued_by(&detail)) {
            Some(last) => last.extend(&detail),
            None => self.details.push(Detail {
                entries: detail
                    .entries()
                    .map(|(key, raw)| (key.to_owned(), raw.to_owned()))
                    .collect(),
                grows,
            }),
        }
    }

    /// Returns the fields to send back; `None` if the server wrote no reasoning. An empty `reasoning_content` is sent back only with calls, because
    /// DeepSeek requires the field there.
    pub(super) fn fields(&self, has_calls: bool) -> Option<Fields<'_>> {
        if !self.details.is_empty() {
            let details: Vec<_> = self.details.iter().map(Detail::json).collect();
            return Some(Fields {
                reasoning_details: Some(json(&details)),
                ..Fields::default()
            });
        }
        let written = |text: &str| !text.is_empty();
        if let Some(content) = self.content.as_deref().filter(|text| written(text)) {
            return Some(Fields {
                reasoning_content: Some(content),
                ..Fields::default()
            });
        }
        if written(&self.reasoning) {
            return Some(Fields {
                reasoning: Some(&self.reasoning),
                ..Fields::default()
            });
        }
        (has_calls && self.content.is_some()).then_some(Fields {
            reasoning_content: Some(""),
            ..Fields::default()
        })
    }
}

impl Detail {
    fn get(&self, key: &str) -> Option<&RawValue> {
        let (_, raw) = self.entries.iter().find(|(name, _)| name == key)?;
        (raw.get() != "null").then_some(raw)
    }

    /// Returns whether a piece continues this element: their types and numbers are equal, and so are their ids if both have one.
    fn is_continued_by(&self, piece: &Object<'_>) -> bool {
        let of_piece = |key: &str| piece.get(key).map(|node| node.raw().get());
        let own = |key: &str| self.get(key).map(RawValue::get);
        let same_id = match (own("id"), of_piece("id")) {
            (Some(own), Some(piece)) => own == piece,
            _ => true,
        };
        self.grows
            && own("type") == of_piece("type")
            && own("index") == of_piece("index")
            && same_id
    }

    fn extend(&mut self, piece: &Object<'_>) {
        for (key, raw) in piece.entries().filter(|(_, raw)| raw.get() != "null") {
            let known = self.entries.iter_mut().find(|(name, _)| name == key);
            let Some((_, known)) = known else {
                self.entries.push((key.to_owned(), raw.to_owned()));
                continue;
            };
            let text = |raw: &RawValue| serde_json::from_str::<String>(raw.get()).ok();
            *known = match (text(known), text(raw)) {
                (Some(mut begun), Some(more)) if GROWING.contains(&key) => {
                    begun.push_str(&more);
                    json(&begun)
                }
                _ => raw.to_owned(),
            };
        }
    }

    /// Writes the element, with its keys in the order of the server.
    fn json(&self) -> Box<RawValue> {
        struct Entries<'a>(&'a [(String, Box<RawValue>)]);
        impl Serialize for Entries<'_> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|(key, raw)| (key, raw)))
            }
        }
        json(&Entries(&self.entries))
    }
}
