//! The `chat` command: the demonstration, a mock provider, scripts, and a pseudo-terminal.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rexpect::process::{Signal, WaitStatus};
use rexpect::session::{PtySession, spawn_command};
use serde_json::{Value, json};
use tempfile::TempDir;
use tool_agent::runtime::AgentEvent;

use crate::support::{DESK, Ran, TEAM, command, run};

/// The timeout for each expected text in milliseconds, long enough for a slow machine.
const PATIENCE: u64 = 60_000;

/// A server that speaks Chat Completions, sends scripted replies, and records the requests.
struct Provider {
    url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

/// A reply of the provider.
#[derive(Clone)]
enum Reply {
    /// A stream of server-sent events.
    Stream(Vec<Value>),
    /// A status and a body.
    Error(u16, Value),
    /// One text, after which no more events arrive.
    Silence(String),
}

impl Provider {
    fn start(replies: Vec<Reply>) -> Self {
        let count = replies.len();
        let mut replies = replies.into_iter();
        Self::choosing(count, move |_| replies.next().unwrap())
    }

    /// Answers this number of requests with the replies that `choose` returns.
    fn choosing(count: usize, mut choose: impl FnMut(&Value) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&requests);
        std::thread::spawn(move || {
            for _ in 0..count {
                let (mut socket, _) = listener.accept().unwrap();
                let body = receive(&mut socket);
                let reply = choose(&body);
                received.lock().unwrap().push(body);
                std::thread::spawn(move || send(&mut socket, &reply));
            }
        });
        Self { url, requests }
    }

    fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

/// Reads the body of a request.
fn receive(socket: &mut TcpStream) -> Value {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = socket.read(&mut buffer).unwrap();
        assert!(read > 0, "the client closed the connection");
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).unwrap();
        let length: usize = length.lines().next().unwrap().parse().unwrap();
        if body.len() >= length {
            return serde_json::from_str(body).unwrap();
        }
    }
}

fn send(socket: &mut TcpStream, reply: &Reply) {
    let event = |data: &Value| format!("data: {data}\n\n");
    let (status, kind, body) = match reply {
        Reply::Stream(events) => (200, "text/event-stream", events.iter().map(event).collect()),
        Reply::Error(status, body) => (*status, "application/json", body.to_string()),
        Reply::Silence(text) => (
            200,
            "text/event-stream",
            event(&delta(&json!({"content": text}))),
        ),
    };
    let head =
        format!("HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
    // The client may have closed the connection.
    let _ = socket.write_all((head + &body).as_bytes());
    if matches!(reply, Reply::Silence(_)) {
        let _ = socket.read(&mut [0]);
    }
}

fn delta(delta: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// Returns a reply of one text, in two pieces.
fn says(text: &str) -> Reply {
    let (one, two) = text.split_at(text.len() / 2);
    Reply::Stream(vec![
        delta(&json!({"content": one})),
        delta(&json!({"content": two})),
        finish("stop"),
    ])
}

/// Returns a reply of one call.
fn calls(tool: &str, arguments: &Value) -> Reply {
    calls_as("call_1", tool, arguments)
}

fn calls_as(id: &str, tool: &str, arguments: &Value) -> Reply {
    let function = json!({"name": tool, "arguments": arguments.to_string()});
    let call = json!({"index": 0, "id": id, "type": "function", "function": function});
    Reply::Stream(vec![
        delta(&json!({"tool_calls": [call]})),
        finish("tool_calls"),
    ])
}

fn letter() -> Reply {
    calls("send_letter", &json!({"to": "ann", "text": "hi"}))
}

/// Returns a `chat` command without the keys of the developer who runs the tests.
fn chat(words: &[&str]) -> Command {
    let mut all = vec!["chat"];
    all.extend(words);
    let mut command = command(DESK, &all);
    for key in [
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "TOOL_MODEL_KEY",
    ] {
        command.env_remove(key);
    }
    command
}

/// Chats with the provider. The lines of `input` are the messages.
fn with(provider: &Provider, words: &[&str], input: &str) -> Ran {
    let mut all = vec!["--model", "local", "--base-url", &provider.url];
    all.extend(words);
    run(chat(&all), input)
}

fn lines(ran: &Ran) -> Vec<Value> {
    let lines = ran.out.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

// The demonstration calls a real tool for each message, without a key. A blank line is not a message.
#[test]
fn demonstration_calls_a_tool_without_a_key() {
    let ran = run(chat(&["--demo", "Hello."]), "").succeeds();
    assert!(
        ran.out
            .contains("a demonstration without a model. It calls `count_pages`"),
        "{ran:?}"
    );
    assert!(
        ran.err.contains("calling count_pages") && ran.err.contains("result count_pages: "),
        "{ran:?}"
    );
    assert!(
        ran.out
            .contains("A model would read this result of `count_pages`"),
        "{ran:?}"
    );
    let twice = run(chat(&["--demo"]), "Hello.\n\nAgain.\n").succeeds();
    assert_eq!(
        twice.err.matches("result count_pages: ").count(),
        2,
        "{twice:?}"
    );
}

// Without a model, the error names the variables to set and the option `--demo`. Other errors name a missing key, a missing provider, a missing
// model, and an invalid base URL.
#[test]
fn chat_without_a_model_says_what_to_set() {
    let ran = run(chat(&["Hello."]), "");
    ran.fails(
        2,
        &[
            "no model is configured",
            "ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY",
            "`--demo`",
        ],
    );
    let ran = run(chat(&["--model", "openai:gpt-5", "Hello."]), "");
    ran.fails(2, &["the environment variable `OPENAI_API_KEY` is not set"]);
    let ran = run(chat(&["--model", "gpt-5", "Hello."]), "");
    ran.fails(
        2,
        &[
            "`--model gpt-5` does not name a provider",
            "write `--model PROVIDER:NAME`",
        ],
    );
    let ran = run(chat(&["--base-url", "http://localhost:1/v1", "Hello."]), "");
    ran.fails(2, &["`--base-url` needs the name of a model"]);
    let ran = run(
        chat(&["--model", "m", "--base-url", "localhost:1", "Hello."]),
        "",
    );
    ran.fails(2, &["the base URL `localhost:1` is not valid"]);
}

// The lines of the standard input are messages of one conversation, and the answers are printed on the standard output.
#[test]
fn lines_are_messages_of_one_conversation() {
    let provider = Provider::start(vec![
        calls("print_note", &json!({"format": "pdf"})),
        says("It is printed."),
        says("You are welcome."),
    ]);
    let ran = with(
        &provider,
        &["--instructions", "Be brief."],
        "Print it.\nThanks.\n",
    )
    .succeeds();
    assert_eq!(ran.out, "It is printed.\nYou are welcome.\n", "{ran:?}");
    assert!(
        ran.err.contains("result print_note: printed as pdf"),
        "{ran:?}"
    );
    let requests = provider.requests();
    let messages = requests[2]["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "tool", "assistant", "user"]
    );
    assert_eq!(messages[0]["content"], "Be brief.");
}

// With `--format json`, each event is a line.
#[test]
fn events_are_lines_of_json() {
    let provider = Provider::start(vec![
        Reply::Error(503, json!({"error": {"message": "busy"}})),
        calls("print_note", &json!({"format": "pdf"})),
        says("Done."),
    ]);
    let ran = with(&provider, &["--format", "json", "Print it."], "").succeeds();
    let events = lines(&ran);
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    let expected = [
        "request",
        "failed",
        "request",
        "call",
        "arguments",
        "result",
        "request",
        "text",
        "text",
        "end",
    ];
    assert_eq!(kinds, expected, "{ran:?}");
    assert!(events[1]["retry_in_ms"].is_number());
    assert_eq!(events[5]["text"], "printed as pdf");
    assert_eq!(
        events[9],
        json!({"event": "end", "cause": "replied", "text": "Done."})
    );
}

#[test]
fn recorded_chat_is_replayed_without_the_provider() {
    let provider = Provider::start(vec![
        calls("print_note", &json!({"format": "pdf"})),
        says("Done."),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.jsonl");
    let path = path.to_str().unwrap();
    let live = with(&provider, &["--record", path, "Print it."], "").succeeds();
    let url = "http://127.0.0.1:9/v1";
    let words = ["--model", "local", "--base-url", url, "--replay", path];
    let again = run(chat(&[&words[..], &["Print it."]].concat()), "").succeeds();
    assert_eq!((again.out, again.err), (live.out, live.err));
    let other = run(chat(&[&words[..], &["Print another one."]].concat()), "");
    other.fails(
        1,
        &["request 1 differs from the next recorded request: its body differs at `/messages/0/content`"],
    );
}

// A script cannot answer a question, so a call that needs an approval ends the chat. With `--approve`, the
// call runs.
#[test]
fn approval_in_a_script_needs_a_flag() {
    let provider = Provider::start(vec![letter()]);
    let ran = with(&provider, &["Write to Ann."], "");
    ran.fails(
        3,
        &["a call needs an approval: `send_letter`", "add `--approve`"],
    );
    let provider = Provider::start(vec![letter(), says("Sent.")]);
    let ran = with(&provider, &["--approve", "Write to Ann."], "").succeeds();
    assert!(
        ran.err.contains("result send_letter: sent to ann: hi"),
        "{ran:?}"
    );
}

// The chat of a script ends at the first call that needs an approval, and does not send the later messages. If the model fails on one message, the
// exit code is 1 even if a later message succeeds.
#[test]
fn failures_of_a_script_are_not_hidden_by_later_messages() {
    let provider = Provider::start(vec![letter(), says("Never.")]);
    let ran = with(&provider, &[], "Write to Ann.\nThanks.\n");
    ran.fails(3, &["a call needs an approval: `send_letter`"]);
    assert_eq!(provider.requests().len(), 1);
    let refused = Reply::Error(400, json!({"error": {"message": "too odd"}}));
    let provider = Provider::start(vec![refused, says("Fine.")]);
    let ran = with(&provider, &[], "Odd.\nEven.\n");
    ran.fails(1, &["too odd"]);
    assert_eq!(ran.out, "Fine.\n");
}

// If a stream breaks after a text and standard output is a pipe, only the complete answer is written.
#[test]
fn text_of_a_broken_stream_is_not_in_the_answer() {
    let broken = Reply::Stream(vec![
        delta(&json!({"content": "Half of"})),
        json!({"error": {"message": "overloaded"}}),
    ]);
    let provider = Provider::start(vec![broken, says("Done.")]);
    let ran = with(&provider, &["Hello."], "").succeeds();
    assert_eq!(ran.out, "Done.\n", "{ran:?}");
}

// An approved call emits `waiting` and does not end the message. `end` is the last event, even after a failure.
#[test]
fn end_is_the_last_event_of_a_message() {
    let provider = Provider::start(vec![letter(), says("Sent.")]);
    let ran = with(&provider, &["--approve", "--format", "json", "Write."], "").succeeds();
    let ends: Vec<Value> = lines(&ran)
        .into_iter()
        .filter(|event| event["event"] == "end" || event["event"] == "waiting")
        .collect();
    let expected = [
        json!({"event": "waiting", "cause": "waiting"}),
        json!({"event": "end", "cause": "replied", "text": "Sent."}),
    ];
    assert_eq!(ends, expected, "{ran:?}");
    let provider = Provider::start(vec![Reply::Error(400, json!({}))]);
    let ran = with(&provider, &["--format", "json", "Write."], "");
    assert_eq!(lines(&ran).last().unwrap()["cause"], "failed", "{ran:?}");
}

// Control characters in the text of a model are escaped in the output.
#[test]
fn control_characters_are_escaped() {
    let provider = Provider::start(vec![says("a\u{1b}[2Jb")]);
    let ran = with(&provider, &["Hello."], "").succeeds();
    assert!(
        !ran.out.contains('\u{1b}') && ran.out.contains("\\u{1b}"),
        "{ran:?}"
    );
}

// If the model fails, the provider's message is printed, and the exit code is 1.
#[test]
fn failure_of_the_model_is_reported() {
    let body = json!({"error": {"message": "no credit", "code": "insufficient_quota"}});
    let provider = Provider::start(vec![Reply::Error(429, body)]);
    let ran = with(&provider, &["Hello."], "");
    ran.fails(
        1,
        &["local: the quota of the account is exhausted (429, insufficient_quota): no credit"],
    );
}

fn open(provider: &Provider, words: &[&str]) -> PtySession {
    let mut all = vec!["--model", "local", "--base-url", &provider.url];
    all.extend(words);
    spawn_command(chat(&all), Some(PATIENCE)).expect("a pseudo-terminal opens")
}

#[track_caller]
fn ends(mut session: PtySession, code: i32) {
    session.exp_eof().expect("the program closes its output");
    match session.process().wait().expect("the program exits") {
        WaitStatus::Exited(_, status) => assert_eq!(status, code),
        other => panic!("{other:?}"),
    }
}

// A person approves a call in the chat, reads the answer, and ends the chat with Ctrl-D.
#[test]
fn a_person_approves_a_call_in_the_chat() {
    let provider = Provider::start(vec![letter(), says("The letter is sent.")]);
    let mut session = open(&provider, &[]);
    session.exp_string("Ctrl-D ends the chat").unwrap();
    session.exp_string("> ").unwrap();
    session.send_line("Write to Ann.").unwrap();
    session.exp_string(r#""to": "ann""#).unwrap();
    session.exp_string("[y]es, [n]o, [e]dit").unwrap();
    session.send_line("y").unwrap();
    session.exp_string("sent to ann: hi").unwrap();
    session.exp_string("The letter is sent.").unwrap();
    session.exp_string("> ").unwrap();
    session.send_control('d').unwrap();
    ends(session, 0);
}

// Invisible characters in the arguments of a call are shown as escapes to the person who approves it.
#[test]
fn hidden_characters_of_arguments_are_shown_to_the_approver() {
    let arguments = json!({"to": "ann\u{202e}bob", "text": "hi\u{200b}\u{1b}[2J"});
    let provider = Provider::start(vec![calls("send_letter", &arguments), says("No.")]);
    let mut session = open(&provider, &[]);
    session.exp_string("> ").unwrap();
    session.send_line("Write to Ann.").unwrap();
    let shown = session.exp_string("[y]es, [n]o, [e]dit").unwrap();
    assert!(
        shown.contains("ann\\u{202e}bob") && shown.contains("hi\\u{200b}"),
        "{shown:?}"
    );
    assert!(!shown.contains("\u{1b}[2J"), "{shown:?}");
    session.send_line("n").unwrap();
    session.exp_string("No.").unwrap();
    session.exp_string("> ").unwrap();
    session.send_control('d').unwrap();
    ends(session, 0);
}

// Ctrl-C stops an answer and the chat continues. The next request contains the text that was shown. At the prompt, Ctrl-C ends the chat with exit
// code
// 130.
#[test]
fn ctrl_c_stops_an_answer_and_the_chat_continues() {
    let provider = Provider::start(vec![
        Reply::Silence("I was about".to_owned()),
        says("Good bye."),
    ]);
    let mut session = open(&provider, &[]);
    session.exp_string("> ").unwrap();
    session.send_line("Tell me a story.").unwrap();
    session.exp_string("I was about").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    session.send_control('c').unwrap();
    session.exp_string("the answer was stopped").unwrap();
    session.exp_string("> ").unwrap();
    session.send_line("Stop.").unwrap();
    session.exp_string("Good bye.").unwrap();
    session.exp_string("> ").unwrap();
    session.send_control('c').unwrap();
    ends(session, 130);
    let messages = provider.requests()[1]["messages"].to_string();
    assert!(messages.contains("I was about"), "{messages}");
}

/// Returns a reply that sends its text in pieces of three characters.
fn streams(text: &str) -> Reply {
    let characters: Vec<char> = text.chars().collect();
    let mut events: Vec<Value> = characters
        .chunks(3)
        .map(|piece| delta(&json!({"content": piece.iter().collect::<String>()})))
        .collect();
    events.push(finish("stop"));
    Reply::Stream(events)
}

const MARKDOWN: &str = "# Title\n\nSome **bold** text with `code` and \u{1b}[2J.\n\n- one\n\n```sh\nls *.rs\n```\n\n\
    | Name | Pages |\n|---|--:|\n| Emma | 474 |\n";

// A terminal shows headings, emphasis, code, lists and tables. The escape sequences in the model's text are shown as text.
#[test]
fn markdown_is_rendered_in_a_terminal() {
    let provider = Provider::start(vec![streams(MARKDOWN)]);
    let mut session = open(&provider, &["Hello."]);
    let all = session.exp_eof().expect("the program ends");
    // The pseudo-terminal library decodes each byte as one character, so the test compares only ASCII texts.
    let all = all.replace("\r\n", "\n");
    let plain = all
        .replace("\u{1b}[0m", "")
        .replace("\u{1b}[1m", "")
        .replace("\u{1b}[4m", "");
    let start = plain.lines().next();
    assert_eq!(start, Some("Title"), "{all:?}");
    for part in [
        "\u{1b}[1mbold\u{1b}[0m text with ",
        "\u{1b}[36mcode\u{1b}[0m",
        " and \\u{1b}[2J.\n",
        " one\n",
        "\u{1b}[36mls",
        "  474\n",
    ] {
        assert!(all.contains(part), "`{part}` is not in {all:?}");
    }
    for part in ["# ", "**", "`code`", "- one", "| Emma", "\u{1b}[2J"] {
        assert!(!all.contains(part), "`{part}` is in {all:?}");
    }
}

// With `NO_COLOR`, a terminal shows the model's Markdown text, with its control characters escaped and without escape sequences.
#[test]
fn markdown_is_plain_text_without_colour() {
    let provider = Provider::start(vec![streams(MARKDOWN)]);
    let words = ["--model", "local", "--base-url", &provider.url, "Hello."];
    let mut command = chat(&words);
    command.env("NO_COLOR", "1");
    let mut session = spawn_command(command, Some(PATIENCE)).expect("a pseudo-terminal opens");
    let all = session.exp_eof().expect("the program ends");
    let expected = MARKDOWN.replace('\u{1b}', "\\u{1b}");
    assert!(all.replace("\r\n", "\n").contains(&expected), "{all:?}");
    assert!(!all.contains('\u{1b}'), "{all:?}");
}

// A pipe gets the model's Markdown text, with its control characters escaped, even with `--color always`.
#[test]
fn markdown_is_plain_text_in_a_pipe() {
    let provider = Provider::start(vec![streams(MARKDOWN), streams(MARKDOWN)]);
    let expected = MARKDOWN.replace('\u{1b}', "\\u{1b}");
    for words in [&["Hello."][..], &["--color", "always", "Hello."]] {
        let ran = with(&provider, words, "").succeeds();
        assert_eq!(ran.out, expected, "{ran:?}");
    }
}

/// Returns the command of a chat that stores its conversations in a folder.
fn kept(provider: &Provider, folder: &TempDir, words: &[&str]) -> Command {
    let store = format!("sqlite:{}", folder.path().join("chat.db").display());
    let mut all = vec![
        "--model",
        "local",
        "--base-url",
        &provider.url,
        "--store",
        &store,
    ];
    all.extend(words);
    chat(&all)
}

fn open_kept(provider: &Provider, folder: &TempDir, words: &[&str]) -> PtySession {
    let command = kept(provider, folder, words);
    spawn_command(command, Some(PATIENCE)).expect("a pseudo-terminal opens")
}

/// Kills the program without a chance to clean up.
fn kill(session: &mut PtySession) {
    session
        .process_mut()
        .kill(Signal::SIGKILL)
        .expect("the program is killed");
}

fn roles(request: &Value) -> Vec<&str> {
    let messages = request["messages"].as_array().unwrap();
    let roles = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap());
    roles.collect()
}

// A different process can list the conversations that are stored in a file, and continue the last one or the one with a given id.
#[test]
fn conversation_is_continued_by_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let replies = ["One.", "Two.", "Three.", "Four."].map(says).to_vec();
    let provider = Provider::start(replies);
    let words = ["--instructions", "Be brief.", "First question?"];
    run(kept(&provider, &folder, &words), "").succeeds();
    run(kept(&provider, &folder, &["Other question?"]), "").succeeds();

    let store = format!("sqlite:{}", folder.path().join("chat.db").display());
    let listed = run(chat(&["--store", &store, "--list", "--format", "json"]), "").succeeds();
    let listed = listed.json()["conversations"].clone();
    assert_eq!(listed[0]["message"], "Other question?", "{listed}");
    assert_eq!(listed[1]["message"], "First question?", "{listed}");
    let table = run(chat(&["--store", &store, "--list"]), "").succeeds();
    assert!(
        table.out.contains("just now") && table.out.contains("First question?"),
        "{table:?}"
    );

    // Without an id, the last conversation is continued.
    let ran = run(kept(&provider, &folder, &["--continue", "And then?"]), "").succeeds();
    assert_eq!(ran.out, "Three.\n", "{ran:?}");
    let id = format!("--continue={}", listed[1]["id"].as_str().unwrap());
    let words = [
        "--instructions",
        "Be brief.",
        "--format",
        "json",
        &id,
        "And?",
    ];
    let ran = run(kept(&provider, &folder, &words), "").succeeds();
    assert_eq!(
        lines(&ran)[0],
        json!({"event": "conversation", "id": listed[1]["id"]})
    );
    let requests = provider.requests();
    assert_eq!(roles(&requests[2]), ["user", "assistant", "user"]);
    // The same instructions are not stored twice.
    assert_eq!(roles(&requests[3]), ["system", "user", "assistant", "user"]);
    assert_eq!(requests[3]["messages"][1]["content"], "First question?");
}

// Other users of the machine cannot read the file of the conversations. An existing file keeps its mode.
#[cfg(unix)]
#[test]
fn file_of_the_conversations_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(vec![says("One."), says("Two.")]);
    run(kept(&provider, &folder, &["Hello."]), "").succeeds();
    let file = folder.path().join("chat.db");
    let mode = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    run(kept(&provider, &folder, &["Hello."]), "").succeeds();
    assert_eq!(mode(), 0o640);
}

#[test]
fn wrong_use_of_the_history_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(vec![says("One.")]);
    run(chat(&["--continue", "Hello."]), "").fails(2, &["--store"]);
    run(chat(&["--list"]), "").fails(2, &["--store"]);
    let words = ["--demo", "--store", "postgres://localhost/x", "Hello."];
    run(chat(&words), "").fails(2, &["`chat` keeps conversations in a SQLite file"]);
    run(kept(&provider, &folder, &["--continue"]), "").fails(2, &["chat.db` does not exist"]);
    run(kept(&provider, &folder, &["Hello."]), "").succeeds();
    let ran = run(kept(&provider, &folder, &["--continue=chat-00000000"]), "");
    ran.fails(
        2,
        &[
            "the store has no conversation `chat-00000000`",
            "`--list` shows",
        ],
    );
    let words = ["--workspace", "other", "--continue"];
    let ran = run(kept(&provider, &folder, &words), "");
    ran.fails(2, &["the store has no conversation that can be continued"]);
}

// S2-15: if a process was killed while it asked for an approval, the next process shows the conversation and asks again, and the call runs once.
#[test]
fn approval_of_a_killed_process_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(vec![letter(), says("The letter is sent.")]);
    let mut session = open_kept(&provider, &folder, &[]);
    session.exp_string("> ").unwrap();
    session.send_line("Write to Ann.").unwrap();
    session.exp_string("[y]es, [n]o, [e]dit").unwrap();
    kill(&mut session);

    // A script cannot answer a question.
    let ran = run(kept(&provider, &folder, &["--continue"]), "");
    ran.fails(3, &["a call needs an approval: `send_letter`"]);

    let mut session = open_kept(&provider, &folder, &["--continue"]);
    session.exp_string("> Write to Ann.").unwrap();
    session.exp_string(r#""to": "ann""#).unwrap();
    session.exp_string("[y]es, [n]o, [e]dit").unwrap();
    session.send_line("y").unwrap();
    session.exp_string("sent to ann: hi").unwrap();
    session.exp_string("The letter is sent.").unwrap();
    session.exp_string("> ").unwrap();
    session.send_control('d').unwrap();
    ends(session, 0);
    let requests = provider.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(roles(&requests[1]), ["user", "assistant", "tool"]);
}

// If a process was killed during an answer, the next process waits for the lease of the run, and answers the message.
#[test]
fn answer_of_a_killed_process_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let silence = Reply::Silence("I was about".to_owned());
    let provider = Provider::start(vec![silence, says("Good bye.")]);
    let mut session = open_kept(&provider, &folder, &["Tell me a story."]);
    session.exp_string("I was about").unwrap();
    kill(&mut session);
    let ran = run(kept(&provider, &folder, &["--continue"]), "").succeeds();
    assert_eq!(ran.out, "Good bye.\n", "{ran:?}");
    assert!(
        ran.err
            .contains("another process answers this conversation, or was killed"),
        "{ran:?}"
    );
    assert_eq!(roles(&provider.requests()[1]), ["user"]);
}

// If a process was killed while it asked for a variable, the next process asks again.
#[test]
fn question_of_a_killed_process_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::start(vec![calls("fetch_post", &json!({})), says("Fetched.")]);
    let open = |words: &[&str]| {
        let mut command = kept(&provider, &folder, words);
        command.env("TOOL_SECRET_BOX_KEY", "key-4711-xyz");
        spawn_command(command, Some(PATIENCE)).expect("a pseudo-terminal opens")
    };
    let mut session = open(&["Fetch the post."]);
    session.exp_string("STREET: ").unwrap();
    kill(&mut session);
    let mut session = open(&["--continue"]);
    session.exp_string("> Fetch the post.").unwrap();
    session.exp_string("STREET: ").unwrap();
    session.send_line("Elm").unwrap();
    session.exp_string("opened the box in Elm").unwrap();
    session.exp_string("Fetched.").unwrap();
    session.exp_string("> ").unwrap();
    session.send_control('d').unwrap();
    ends(session, 0);
}

/// Returns the command of the program with agents.
fn team(provider: &Provider, words: &[&str]) -> Command {
    let mut all = vec!["chat"];
    all.extend(words);
    let mut command = command(TEAM, &all);
    command.env("TEAM_URL", &provider.url);
    command
}

/// Returns a provider for a turn in which the chief asks the researcher and passes the conversation to the editor, who sends a letter.
fn of_team() -> Provider {
    Provider::start(vec![
        calls_as(
            "call_1",
            "researcher",
            &json!({"message": "How deep is the fjord?"}),
        ),
        calls_as("call_2", "look_up", &json!({"word": "fjord"})),
        streams("The fjord\nis *deep*."),
        calls_as("call_3", "transfer_to_editor", &json!({})),
        calls_as("call_4", "send_letter", &json!({"to": "ann"})),
        streams("It is **sent**."),
    ])
}

// S4-29, S4-30: a terminal shows sub-agents with their names, the handoff, and the approval of a call, in order.
#[test]
fn agents_of_a_program_are_shown_in_a_terminal() {
    let provider = of_team();
    let command = team(&provider, &[]);
    let mut session = spawn_command(command, Some(PATIENCE)).expect("a pseudo-terminal opens");
    session.exp_string("the agent `chief`; Ctrl-D").unwrap();
    session.exp_string("> ").unwrap();
    session.send_line("Write about the fjord.").unwrap();
    for part in [
        "researcher begins",
        "  \u{1b}[36mresearcher\u{1b}[0m: ",
        "look_up",
        "fjord was found",
        "  \u{1b}[36mresearcher\u{1b}[0m: The fjord\r\n",
        "  \u{1b}[36mresearcher\u{1b}[0m: is *deep*.\r\n",
        "transfer_to_editor",
        "chief passes the conversation to editor",
        r#""to": "ann""#,
        "[y]es, [n]o, [e]dit",
    ] {
        let found = session.exp_string(part);
        found.unwrap_or_else(|error| panic!("{part}: {error}"));
    }
    session.send_line("y").unwrap();
    session.exp_string("sent to ann").unwrap();
    session.exp_string("It is \u{1b}[1msent\u{1b}[0m.").unwrap();
    session.exp_string("> ").unwrap();
    session.send_control('d').unwrap();
    ends(session, 0);
    let requests = provider.requests();
    let agent = |request: &Value| request["messages"][0]["content"].clone();
    let agents: Vec<Value> = requests.iter().map(agent).collect();
    let expected = [
        "chief",
        "researcher",
        "researcher",
        "chief",
        "editor",
        "editor",
    ];
    assert_eq!(agents, expected);
}

// With `--format json`, each line is an event of the runtime, or an event `waiting` or `end` of the chat. Only the events of the sub-agent have a
// parent.
#[test]
fn events_of_agents_are_lines_of_json() {
    let provider = of_team();
    let words = ["--format", "json", "--approve", "Write about the fjord."];
    let ran = run(team(&provider, &words), "").succeeds();
    let is_event = |line: &Value| line.get("type").is_some();
    let (events, others): (Vec<Value>, Vec<Value>) = lines(&ran).into_iter().partition(is_event);
    let names = others.iter().map(|line| line["event"].as_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["waiting", "end"], "{ran:?}");
    assert_eq!(others[1]["text"], "It is **sent**.");
    for event in &events {
        let event: AgentEvent = serde_json::from_value(event.clone()).unwrap();
        assert_eq!(
            event.parent.is_some(),
            event.agent == "researcher",
            "{event:?}"
        );
    }
    let of = |kind: &str| -> Vec<&Value> {
        let events = events.iter();
        events.filter(|event| event["type"] == kind).collect()
    };
    assert_eq!(of("child_started")[0]["child_agent"], "researcher");
    assert_eq!(of("handoff")[0]["to"], "editor");
    assert_eq!(of("waiting")[0]["approvals"][0]["tool"], "send_letter");
    let text: String = of("text")
        .iter()
        .filter(|event| event["agent"] == "researcher")
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    assert_eq!(text, "The fjord\nis *deep*.");
}

/// Returns a provider for a turn in which the chief asks the researcher, who works in the background and sends a letter.
fn of_background() -> Provider {
    Provider::choosing(5, |request| {
        let messages = request["messages"].as_array().unwrap();
        let count = |role: &str| messages.iter().filter(|m| m["role"] == role).count();
        let agent = messages[0]["content"].as_str().unwrap();
        match (agent, count("tool"), count("user")) {
            ("chief", 0, _) => calls("researcher", &json!({"message": "Write to Ann."})),
            ("chief", _, 1) => says("I have asked."),
            ("chief", ..) => says("All is done."),
            ("researcher", 0, _) => calls("send_letter", &json!({"to": "ann"})),
            _ => says("It is posted."),
        }
    })
}

// The chat waits for a sub-agent in the background. With `--approve`, the sub-agent's call runs, and the chat prints the chief's reply to the report
// of the sub-agent. Without `--approve`, the exit code is 3.
#[test]
fn chat_waits_for_agents_in_the_background() {
    let background = |words: &[&str]| {
        let mut command = team(&of_background(), words);
        command.env("TEAM_BACKGROUND", "1");
        run(command, "")
    };
    let ran = background(&["--approve", "Write to Ann."]).succeeds();
    assert_eq!(ran.out, "I have asked.\nAll is done.\n", "{ran:?}");
    assert!(ran.err.contains("researcher: It is posted."), "{ran:?}");
    let ran = background(&["Write to Ann."]);
    ran.fails(
        3,
        &["a call of a sub-agent needs an approval: `send_letter`"],
    );
}

// S2-15: if a process was killed while a sub-agent's call waited for an approval, the next process asks for
// the approval again.
#[test]
fn approval_of_an_agent_of_a_killed_process_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("chat.db").display());
    let provider = of_team();
    let open = |words: &[&str]| {
        let all = [&["--store", &store], words].concat();
        spawn_command(team(&provider, &all), Some(PATIENCE)).expect("a pseudo-terminal opens")
    };
    let mut session = open(&["Write about the fjord."]);
    session.exp_string("[y]es, [n]o, [e]dit").unwrap();
    kill(&mut session);
    let mut session = open(&["--continue"]);
    session.exp_string("> Write about the fjord.").unwrap();
    session.exp_string("[y]es, [n]o, [e]dit").unwrap();
    session.send_line("y").unwrap();
    session.exp_string("sent to ann").unwrap();
    session.exp_string("It is ").unwrap();
    session.exp_string("> ").unwrap();
    session.send_control('d').unwrap();
    ends(session, 0);
    assert_eq!(provider.requests().len(), 6);
}

// S2-15: the next process also asks again if the sub-agent runs in the background, where no message of the conversation waits for it.
#[test]
fn approval_of_a_background_agent_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("chat.db").display());
    let provider = of_background();
    let open = |words: &[&str]| {
        let mut command = team(&provider, &[&["--store", &store], words].concat());
        command.env("TEAM_BACKGROUND", "1");
        spawn_command(command, Some(PATIENCE)).expect("a pseudo-terminal opens")
    };
    let mut session = open(&["Write to Ann."]);
    session.exp_string("I have asked.").unwrap();
    session.exp_string("[y]es, [n]o, [e]dit").unwrap();
    kill(&mut session);
    let mut session = open(&["--continue"]);
    session.exp_string("I have asked.").unwrap();
    session.exp_string("[y]es, [n]o, [e]dit").unwrap();
    session.send_line("y").unwrap();
    session.exp_string("It is posted.").unwrap();
    session.exp_string("All is done.").unwrap();
    session.exp_string("> ").unwrap();
    session.send_control('d').unwrap();
    ends(session, 0);
    assert_eq!(provider.requests().len(), 5);
}

// Options that select a model are refused if the program has agents, because agents have their own models. If the program's function that creates the
// agents fails, the error contains the cause.
#[test]
fn options_of_a_model_are_refused_for_agents() {
    let provider = Provider::start(Vec::new());
    for words in [
        &["--demo", "Hello."][..],
        &["--model", "openai:gpt-5", "Hello."],
    ] {
        let ran = run(team(&provider, words), "");
        ran.fails(
            2,
            &[words[0], "the agents of this program have their own models"],
        );
    }
    let mut command = team(&provider, &["Hello."]);
    command.env_remove("TEAM_URL");
    run(command, "").fails(2, &["the agents of the program cannot be used: TEAM_URL"]);
}
