//! Estimates of the tokens of requests.

use super::drive::ModelRequest;
use super::{ModelMessage, ToolMessage, UserMessage};
use crate::call::ToolCall;
use crate::output::{Part, Source};
use crate::schema::dialect::Dialect;
use crate::store::{Message, Role};
use crate::toolset::Toolset;

/// The tokens of a message in addition to its text, and of a call in addition to its name and arguments.
const FRAME: u64 = 8;

/// The tokens of a file, such as an image. A text file in base64 is estimated by its length instead.
const FILE: u64 = 1_600;

/// Estimates the tokens of a message in a request.
pub fn message_tokens(message: &Message) -> u64 {
    let content = &*message.content;
    let tokens = match message.role {
        Role::System => serde_json::from_str::<String>(content).map(|said| text(&said)),
        Role::User => serde_json::from_str(content)
            .map(|said: UserMessage| said.parts().iter().map(part).sum()),
        Role::Assistant => serde_json::from_str(content).map(|said: ModelMessage| reply(&said)),
        Role::Tool => serde_json::from_str(content).map(|result: ToolMessage| {
            text(&result.name)
                + match &result.model {
                    Some(output) => output.to_parts().iter().map(part).sum(),
                    None => text(&result.text),
                }
        }),
    };
    // An unreadable content is never sent, so an approximate count is enough.
    tokens.unwrap_or_else(|_| text(content)) + FRAME
}

/// Estimates the tokens of the definitions of tools in a request.
pub fn tools_tokens(tools: &Toolset) -> u64 {
    if tools.is_empty() {
        return 0;
    }
    text(&tools.definitions(Dialect::JsonSchema))
}

impl ModelRequest<'_> {
    /// Estimates the tokens of the input. In a text, four ASCII characters or one other character count as one token. Most files count as 1,600
    /// tokens.
    pub fn estimated_tokens(&self) -> u64 {
        let messages = self.messages.iter().map(message_tokens);
        messages.fold(tools_tokens(self.tools), u64::saturating_add)
    }
}

fn text(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().filter(|c| !c.is_ascii()).count();
    (ascii.div_ceil(4) + other) as u64
}

fn part(part: &Part) -> u64 {
    match part {
        Part::Text { text: said } => text(said),
        Part::File {
            media_type,
            source: Source::Base64(data),
            ..
        } if media_type.starts_with("text/") => (data.len() / 4 * 3).div_ceil(4) as u64,
        _ => FILE,
    }
}

fn reply(said: &ModelMessage) -> u64 {
    // The message is sent back as its provider wrote it, with its reasoning.
    if let Some(written) = &said.written {
        return text(&written.messages);
    }
    let of = |call: &ToolCall| text(&call.name) + text(&call.arguments) + FRAME;
    text(&said.text) + said.calls.iter().map(of).sum::<u64>()
}
