//! Requests to the summariser.

use serde::Serialize;
use tool_core::store::{Message, Role, ThreadId, Timestamp, Usage};
use tool_core::turn::{Model, ModelMessage, ModelRequest, StopReason, ToolMessage, UserMessage};
use tool_core::{ErrorKind, ModelOutput, toolset};

use super::config::Compaction;
use super::count::TokenCounter;
use super::layout::Layout;
use crate::model::{ModelObserver, OutputFormat, Unchecked};

/// The first lines of the message that contains a summary.
const HEADING: &str = "# Summary of the earlier conversation\n\nThis summary was written by a model and replaces the earlier messages. It is not a request \
of the user.";

/// The end of a text that was cut.
const CUT: &str = "\n[the rest was cut]";

/// Why no summary was written. The texts of a model's errors may quote the conversation, so only the kind is kept.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum NoSummary {
    #[error("the request to the summariser failed with an error of the kind `{}`", .0.as_str())]
    Failed(ErrorKind),
    #[error("the summariser returned no text")]
    Empty,
    #[error("the reply of the summariser is not complete")]
    Incomplete,
}

/// Requests summaries of the steps of a thread.
pub(super) struct Summariser<'a> {
    pub(super) compaction: &'a Compaction,
    pub(super) counter: &'a dyn TokenCounter,
    /// The limit on the messages in one request, in tokens.
    pub(super) most_input: u64,
    pub(super) thread: &'a ThreadId,
    pub(super) request: ModelRequest<'a>,
}

impl Summariser<'_> {
    /// Returns a summary of `so_far` and of these steps. Sends as many requests as the limit on the length of one request requires, and adds the
    /// reported tokens to `spent`.
    pub(super) async fn extend(
        &self,
        so_far: &str,
        layout: &Layout<'_>,
        steps: std::ops::Range<usize>,
        model: &mut (dyn Model + Sync),
        spent: &mut Option<Usage>,
    ) -> Result<String, NoSummary> {
        let mut summary = so_far.to_owned();
        let (mut lines, mut tokens) = (String::new(), 0);
        for step in steps {
            let text = transcript(layout, step);
            let text = self.cut(&text, self.most_input);
            let more = self.tokens(&text);
            if !lines.is_empty() && tokens + more > self.most_input {
                summary = self.ask(&summary, &lines, model, spent).await?;
                lines.clear();
                tokens = 0;
            }
            lines.push_str(&text);
            lines.push('\n');
            tokens += more;
        }
        self.ask(&summary, &lines, model, spent).await
    }

    /// Sends one request to the summariser.
    async fn ask(
        &self,
        so_far: &str,
        lines: &str,
        model: &mut (dyn Model + Sync),
        spent: &mut Option<Usage>,
    ) -> Result<String, NoSummary> {
        let mut question = String::new();
        if !so_far.is_empty() {
            question.push_str("The summary so far:\n\n");
            question.push_str(so_far);
            question.push_str("\n\n");
        }
        question.push_str("The messages after it, one JSON object in each line:\n\n");
        question.push_str(lines);
        let messages = [
            message(self.thread, Role::System, 0, &self.compaction.instructions),
            message(self.thread, Role::User, 1, &question),
        ];
        let tools = toolset![];
        // A summary is not a part of the answer: the format of the answer does not apply to it, and it is neither shown nor held with the answer.
        let cx = self.request.cx.derive();
        let cx = cx
            .without::<OutputFormat>()
            .without::<Unchecked>()
            .without::<ModelObserver>()
            .build();
        let reply = model.next(ModelRequest {
            messages: &messages,
            tools: &tools,
            cx: &cx,
            ..self.request
        });
        let reply = reply.await;
        let mut add = |usage: Option<Usage>| {
            if let Some(usage) = usage {
                *spent.get_or_insert_default() += usage;
            }
        };
        add(model.unsettled_usage());
        let reply = reply.map_err(|error| NoSummary::Failed(error.kind()))?;
        add(reply.usage);
        let is_long = reply.stop == Some(StopReason::Length);
        let stop = reply.stop.as_ref();
        if !is_long && (reply.truncated || stop.is_some_and(|stop| !stop.is_whole())) {
            return Err(NoSummary::Incomplete);
        }
        let mut text = reply.text.trim().to_owned();
        if text.is_empty() {
            return Err(NoSummary::Empty);
        }
        if is_long {
            text.push_str(CUT);
        }
        Ok(self.cut(&text, self.compaction.most_summary_tokens))
    }

    /// Cuts a text to a number of tokens, marker included. A limit that is shorter than the marker leaves only the marker.
    fn cut(&self, text: &str, most: u64) -> String {
        let mut end = text.len();
        let mut cut = text.to_owned();
        loop {
            let tokens = self.tokens(&cut);
            if tokens <= most || end == 0 {
                return cut;
            }
            let part = end as u128 * u128::from(most) / u128::from(tokens);
            // The length decreases in each round, so the loop ends.
            end = text.floor_char_boundary(usize::try_from(part).unwrap_or(end).min(end - 1));
            cut = format!("{}{CUT}", &text[..end]);
        }
    }

    fn tokens(&self, text: &str) -> u64 {
        self.counter
            .message(&message(self.thread, Role::User, 0, text))
    }
}

/// Returns the message that contains a summary. It has the sequence number of the first message that it replaces, so that the order in which the
/// model reads the messages stays the same.
pub(super) fn summary_message(first: &Message, summary: &str) -> Message {
    let text = format!("{HEADING}\n\n{summary}");
    message(&first.thread, Role::User, first.seq, &text)
}

/// Creates a message that is not stored.
fn message(thread: &ThreadId, role: Role, seq: u64, text: &str) -> Message {
    Message {
        seq,
        thread: thread.clone(),
        role,
        answers: None,
        turn: None,
        content: serde_json::Value::from(text).to_string(),
        // The time is not sent to the model.
        at: Timestamp::from_millis(0),
    }
}

/// A message as one line of JSON, so that no text can pretend to be a different message.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Line<'a> {
    User(String),
    Assistant {
        #[serde(skip_serializing_if = "str::is_empty")]
        text: &'a str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        calls: Vec<CallLine<'a>>,
    },
    Result {
        id: &'a str,
        name: &'a str,
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
    },
}

#[derive(Serialize)]
struct CallLine<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
}

/// Writes the messages of a step, without bytes of files and without reasoning.
fn transcript(layout: &Layout<'_>, step: usize) -> String {
    let units = layout.steps[step].summarises.iter();
    let messages = units.flat_map(|unit| layout.messages_of(*unit));
    let lines: Vec<String> = messages.filter_map(line).collect();
    lines.join("\n")
}

/// Writes a message of the user, the model or a tool. A message that cannot be read is left out, because a request that contains it fails anyway.
fn line(message: &Message) -> Option<String> {
    let content = &*message.content;
    match message.role {
        Role::System => None,
        Role::User => {
            let said: UserMessage = serde_json::from_str(content).ok()?;
            serde_json::to_string(&Line::User(said.to_text())).ok()
        }
        Role::Assistant => {
            let said: ModelMessage = serde_json::from_str(content).ok()?;
            let calls = said.calls.iter().map(|call| CallLine {
                id: &call.id,
                name: &call.name,
                arguments: &call.arguments,
            });
            let line = Line::Assistant {
                text: &said.text,
                calls: calls.collect(),
            };
            serde_json::to_string(&line).ok()
        }
        Role::Tool => {
            let result: ToolMessage = serde_json::from_str(content).ok()?;
            let output = result.model.as_ref();
            let line = Line::Result {
                id: &result.id,
                name: &result.name,
                text: output.map_or_else(|| result.text.clone(), ModelOutput::to_text),
                error: result.error.as_deref(),
            };
            serde_json::to_string(&line).ok()
        }
    }
}
