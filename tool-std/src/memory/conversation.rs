//! The `search_conversation` tool, which searches the earlier messages of the conversation.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tool_core::Reads;
use tool_core::prelude::*;
use tool_core::store::text_search::{Candidate, index_text, query_terms, rank};
use tool_core::store::{CallId, Message, Role, Timestamp};
use tool_core::turn::{ModelMessage, UserMessage};

use super::Memory;
use super::host::{thread, unavailable};
use crate::embedding::rounded;

/// The maximum number of messages that are read at a time.
const PAGE: u32 = 500;

/// The maximum number of messages that each word of the query contributes. Only the newest messages with the word are ranked, so that a word that is
/// in every message does not displace the messages with a rare word.
const CANDIDATES: usize = 256;

/// The maximum length of a snippet, in characters.
const SNIPPET: usize = 300;

/// The maximum number of characters of a shortened snippet before the first word of the query.
const BEFORE: usize = 60;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConversationRole {
    /// The user, with whom the model talks.
    User,
    /// The assistant, which is the model.
    Assistant,
}

/// The messages that were found: the output of [`search_conversation`](fn@search_conversation).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct ConversationResults {
    /// The query that was searched.
    pub query: String,
    /// The number of results.
    pub count: u64,
    /// The messages, best first.
    pub results: Vec<ConversationHit>,
}

/// One message of the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct ConversationHit {
    /// The number of the message in the conversation. Later messages have larger numbers.
    pub message_id: u64,
    /// The author of the message.
    pub role: ConversationRole,
    /// The part of the message around the words of the query, at most 300 characters.
    pub snippet: String,
    /// When the message was written, in RFC 3339.
    pub created_at: String,
    /// The score of the result, with 4 decimals. It can be compared only with the scores of the same search.
    pub score: f64,
}

/// Searches the earlier messages of this conversation for words, also messages that are no longer in your context. It does not search other conversations.
#[tool(
    category = "memory",
    example("What was said about a subject", { "query": "delivery address" }),
    example("Only what the user wrote", { "query": "budget", "roles": ["user"], "limit": 3 }),
)]
pub async fn search_conversation(
    memory: &Reads<Memory>,
    cx: &ToolContext,
    /// The words to search for.
    #[arg(length = 1..=1000)]
    query: String,
    /// The authors whose messages are searched; the user and the assistant by default.
    #[arg(max_items = 2)]
    roles: Option<Vec<ConversationRole>>,
    /// The maximum number of results to return.
    #[arg(default = 10, range = 1..=20)]
    limit: u32,
) -> Result<ConversationResults, ToolError> {
    let thread = thread(cx)?;
    let roles = roles.filter(|roles| !roles.is_empty());
    let is_wanted = |role| roles.as_ref().is_none_or(|roles| roles.contains(&role));
    let own = cx.identity().and_then(CallId::place);
    let terms = query_terms(&query);
    let (mut found, mut after, mut last_user) = (Found::of(terms), 0, 0);
    'pages: loop {
        let messages = memory.threads.read_page(&thread, after, PAGE).await;
        let messages = messages.map_err(unavailable)?;
        let Some(last) = messages.last() else { break };
        after = last.seq;
        let is_end = messages.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
        for message in messages {
            // The messages of the own turn are already in the model's context.
            if own.is_some_and(|own| message.seq >= own.message) {
                break 'pages;
            }
            if message.role == Role::User {
                last_user = message.seq;
            }
            if let Some(said) = spoken(&message).filter(|said| is_wanted(said.role)) {
                found.add(said);
            }
        }
        if is_end {
            break;
        }
    }
    // Within a turn, the last message of the user is the question that the model answers, so it is not a result.
    let end = own.filter(|_| last_user > 0).map(|_| last_user);
    let results = found.best(end, limit);
    Ok(ConversationResults {
        query,
        count: u64::try_from(results.len()).unwrap_or(u64::MAX),
        results,
    })
}

/// A message with text.
struct Spoken {
    seq: u64,
    role: ConversationRole,
    text: String,
    terms: String,
    at: Timestamp,
}

/// The newest messages for each word of a query.
struct Found {
    terms: Vec<String>,
    newest: Vec<VecDeque<Arc<Spoken>>>,
}

impl Found {
    fn of(terms: Vec<String>) -> Self {
        let newest = terms.iter().map(|_| VecDeque::new()).collect();
        Self { terms, newest }
    }

    fn add(&mut self, said: Spoken) {
        let said = Arc::new(said);
        for (term, newest) in self.terms.iter().zip(&mut self.newest) {
            if !said.terms.split(' ').any(|word| word == term) {
                continue;
            }
            if newest.len() == CANDIDATES {
                newest.pop_front();
            }
            newest.push_back(Arc::clone(&said));
        }
    }

    /// Ranks the messages with a number less than `end`; if scores are equal, newer messages are first.
    fn best(&self, end: Option<u64>, limit: u32) -> Vec<ConversationHit> {
        let found = self.newest.iter().flatten();
        let found = found.filter(|said| end.is_none_or(|end| said.seq < end));
        let found: BTreeMap<u64, &Spoken> = found.map(|said| (said.seq, &**said)).collect();
        let candidates = found.into_values().rev();
        let candidates: Vec<Candidate<&Spoken>> = candidates
            .map(|said| Candidate {
                key: said,
                terms: said.terms.clone(),
            })
            .collect();
        let ranked = rank(&self.terms, &candidates, 0).into_iter();
        let ranked = ranked.take(usize::try_from(limit).unwrap_or(usize::MAX));
        ranked
            .map(|(said, score)| ConversationHit {
                message_id: said.seq,
                role: said.role,
                snippet: snippet(&said.text, &self.terms),
                created_at: said.at.rfc3339(),
                score: rounded(score),
            })
            .collect()
    }
}

/// Returns the text of a message of the user or the model; `None` for other messages and for a content that cannot be deserialized.
fn spoken(message: &Message) -> Option<Spoken> {
    let content = &message.content;
    let (role, text) = match message.role {
        Role::User => {
            let said: UserMessage = serde_json::from_str(content).ok()?;
            (ConversationRole::User, said.to_text())
        }
        Role::Assistant => {
            let said: ModelMessage = serde_json::from_str(content).ok()?;
            (ConversationRole::Assistant, said.text)
        }
        Role::System | Role::Tool => return None,
    };
    Some(Spoken {
        seq: message.seq,
        role,
        terms: index_text(&text),
        text,
        at: message.at,
    })
}

/// Returns the part of a text around the first word of the query, on one line.
fn snippet(text: &str, terms: &[String]) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters: Vec<char> = line.chars().collect();
    let first = place_of(&letters, terms).saturating_sub(BEFORE);
    let first = if letters.len() <= SNIPPET { 0 } else { first };
    let (before, after) = (first > 0, letters.len() > first + SNIPPET);
    // The ellipses count towards the length.
    let room = SNIPPET - usize::from(before) - usize::from(after);
    let part: String = letters.iter().skip(first).take(room).collect();
    let mark = |is_cut| if is_cut { "…" } else { "" };
    format!("{}{part}{}", mark(before), mark(after))
}

/// Returns the position of the first word that contains a term of the query; 0 if there is no such word.
fn place_of(letters: &[char], terms: &[String]) -> usize {
    let has_term = |part: &[char]| {
        let words = index_text(&part.iter().collect::<String>());
        words
            .split(' ')
            .any(|word| terms.iter().any(|term| term == word))
    };
    let mut start = 0;
    for word in letters.split(|letter| *letter == ' ') {
        if has_term(word) {
            // A sentence in a language without spaces is one word here, so its pairs of letters are searched.
            let pairs = word.windows(2).position(has_term);
            return start + pairs.filter(|_| word.len() > BEFORE).unwrap_or(0);
        }
        start += word.len() + 1;
    }
    0
}
