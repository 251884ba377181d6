//! The tools of the simulated hosts. Each body except the body of `read_note` records in the world that it begins. Bodies that have an effect or that
//! end record this too.

use std::sync::Arc;
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use tool_core::policy::SharedPolicy;
use tool_core::prelude::*;
use tool_core::store::CallId;
use tool_core::{
    ApiKeys, Citation, Disables, DynamicTool, Effect, ExposeSecret, RegistryBuilder, SecretString,
    Uses, host_value,
};

use crate::facts::{Begin, Place, World, hex, sentinel};
use crate::process::Process;

/// The connection to the receiver of effects outside of the host. Tools with this host value have effects.
#[derive(Clone)]
pub(crate) struct Phone {
    pub(crate) process: Arc<Process>,
    pub(crate) policy: SharedPolicy,
    pub(crate) disables: Disables,
}
host_value!(Phone, Effect::WRITE.union(Effect::EXTERNAL));

/// Records the runs of a tool that only calls other tools and has no effect on the receiver.
#[derive(Clone)]
pub(crate) struct Switchboard(pub(crate) Phone);
host_value!(Switchboard, Effect::READ);

/// A host value that allows tools only to read.
#[derive(Clone)]
pub(crate) struct Library;
host_value!(Library, Effect::READ);

/// Returns the place of the running call. Workspace and conversation come from the caller, not from the identity of the call.
fn place_of(world: &World, cx: &ToolContext, tool: &str) -> Place {
    let identity = cx.identity().and_then(CallId::place);
    world.place(
        cx.workspace().unwrap_or_default(),
        cx.conversation().unwrap_or_default(),
        identity.map(|at| at.message),
        tool,
    )
}

fn own_sentinel(cx: &ToolContext) -> String {
    sentinel(
        cx.workspace().unwrap_or_default(),
        cx.conversation().unwrap_or_default(),
    )
}

/// A body that has begun.
struct Running<'a> {
    phone: &'a Phone,
    at: usize,
}

impl Phone {
    /// Checks that a call with a claim respects every stored kill switch that was in force at its claim, and that a call without a claim respects
    /// every kill switch that was stored more than a second ago and is still in force.
    fn check_stored_switches(&self, cx: &ToolContext, place: &Place) {
        let now = self.process.at();
        let facts = self.process.world.facts();
        let key = cx.idempotency_key();
        let key = key.map(|key| (key.workspace().as_str().to_owned(), key.as_str().to_owned()));
        let claim = key.and_then(|key| facts.claims.get(&key));
        let claim = claim.map(|(order, _)| *order);
        let against = facts.stored_kills.iter().any(|(tool, kill)| {
            *tool == place.tool
                && match claim {
                    Some(claim) => {
                        kill.from.0 < claim && kill.until.is_none_or(|(order, _)| claim < order)
                    }
                    // If the store fails, a read-only call uses the switches from the last successful read.
                    None => kill.from.1 + 1_000 < now && kill.until.is_none() && !facts.faults,
                }
        });
        drop(facts);
        if against {
            let what = format!("{place} began although its kill switch was stored before");
            self.process.world.violated("ran_against_switch", what);
        }
    }

    fn begin(&self, cx: &ToolContext, mark: &str, note: &str) -> Running<'_> {
        let tool = cx.tool_name().unwrap_or_default().to_owned();
        let tenant = cx.workspace().unwrap_or_default();
        let place = place_of(&self.process.world, cx, &tool);
        let denied = self.policy.current().rules().iter().any(|rule| {
            rule.verdict() == tool_core::policy::PolicyVerdict::Deny && rule.name() == tool
        });
        if self.policy.is_killed(&tool, tenant) || self.disables.holds(&tool) || denied {
            let what = format!("{place} began although it is switched off on its host");
            self.process.world.violated("ran_against_switch", what);
        }
        self.check_stored_switches(cx, &place);
        self.process.note(&format!("begin {place} {mark}"));
        let mut facts = self.process.world.facts();
        facts.begins.push(Begin {
            place,
            mark: mark.to_owned(),
            arguments: json!({"mark": mark, "note": note}).to_string(),
            key: cx.idempotency_key().map(|key| key.as_str().to_owned()),
            user: cx.user().unwrap_or_default().to_owned(),
            process: self.process.id,
            effect: false,
            returned: false,
        });
        let at = facts.begins.len() - 1;
        drop(facts);
        Running { phone: self, at }
    }
}

impl Running<'_> {
    fn effect(&self) {
        self.phone.process.note("effect");
        self.phone.process.world.facts().begins[self.at].effect = true;
    }

    /// Records that a nested call of this body succeeded and that the body received the result.
    fn record_success<T>(&self, tool: &str, mark: &str, result: &Result<T, ToolError>) {
        if result.is_ok() {
            let mut facts = self.phone.process.world.facts();
            let mut place = facts.begins[self.at].place.clone();
            tool.clone_into(&mut place.tool);
            facts.told.insert((place, format!("relay-{mark}")));
        }
    }

    /// Returns whether this is the first run of the body for the key of its call.
    fn is_first(&self) -> bool {
        let facts = self.phone.process.world.facts();
        let own = &facts.begins[self.at].key;
        facts.begins[..self.at]
            .iter()
            .all(|begin| begin.key != *own)
    }

    fn end(self) {
        self.phone.process.note("end");
        self.phone.process.world.facts().begins[self.at].returned = true;
    }

    /// Ends a body that does not run in the task of its call.
    fn end_elsewhere(self, text: String) -> Elsewhere {
        self.phone.process.note("end");
        Elsewhere {
            process: Arc::clone(&self.phone.process),
            at: self.at,
            text,
        }
    }
}

/// The output of a body that ran outside of its call's task. The body counts as returned only when its call has read the output, because a call that
/// is cancelled earlier does not read the result of the body.
struct Elsewhere {
    process: Arc<Process>,
    at: usize,
    text: String,
}

impl Serialize for Elsewhere {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.process.world.facts().begins[self.at].returned = true;
        serializer.serialize_str(&self.text)
    }
}

async fn pause(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

async fn send_to(phone: &Phone, cx: &ToolContext, mark: &str, note: &str, ms: u64) -> String {
    let running = phone.begin(cx, mark, note);
    if ms > 0 {
        pause(ms).await;
    }
    running.effect();
    if ms > 0 {
        pause(ms).await;
    }
    running.end();
    format!("sent {mark} {}", own_sentinel(cx))
}

/// Reads a note.
#[tool(read_only)]
async fn read_note(
    _library: &Library,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// A note that the tool ignores.
    note: String,
) -> String {
    pause(2).await;
    format!("read {mark} {note} {}", own_sentinel(cx))
}

/// Sends a message at once.
#[tool]
async fn send(
    phone: &Phone,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The text of the message.
    note: String,
) -> String {
    send_to(phone, cx, &mark, &note, 0).await
}

/// Sends a message slowly.
#[tool]
async fn send_slowly(
    phone: &Phone,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The text of the message.
    note: String,
) -> String {
    send_to(phone, cx, &mark, &note, 20).await
}

/// Sends a message after an approval.
#[tool(approval)]
async fn send_asked(
    phone: &Phone,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The text of the message.
    note: String,
) -> String {
    send_to(phone, cx, &mark, &note, 1).await
}

/// Sends a message on a blocking thread.
#[tool]
fn send_blocking(
    #[context] phone: Phone,
    #[context] cx: ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The text of the message.
    note: String,
) -> Result<Elsewhere, ToolError> {
    let running = phone.begin(&cx, &mark, &note);
    running.effect();
    Ok(running.end_elsewhere(format!("sent {mark} {}", own_sentinel(&cx))))
}

/// Sends a message, and returns more than the output limit if the note is `long`.
#[tool(output_limit = 200)]
async fn send_verbose(
    phone: &Phone,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The text of the message.
    note: String,
) -> String {
    let sent = send_to(phone, cx, &mark, &note, 1).await;
    let more = if note == "long" { 300 } else { 0 };
    format!("{sent}{}", "!".repeat(more))
}

/// Sends a message and never answers.
#[tool(timeout = "100ms")]
async fn send_and_hang(
    phone: &Phone,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The text of the message.
    note: String,
) -> String {
    let running = phone.begin(cx, &mark, &note);
    if note != "before" {
        running.effect();
    }
    std::future::pending().await
}

/// Panics; if the note is `after`, it panics after its effect.
#[tool]
async fn send_and_panic(
    phone: &Phone,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The time of the panic: `after` the effect, or before it.
    note: String,
) -> String {
    let running = phone.begin(cx, &mark, &note);
    if note == "after" {
        running.effect();
    }
    #[expect(clippy::panic, reason = "the tool panics on purpose")]
    {
        panic!("the tool panicked")
    }
}

/// Sends a message to a receiver that knows the key of the call and counts it once. The first run of `m1` fails.
#[tool(idempotent)]
async fn send_again(
    phone: &Phone,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The text of the message.
    note: String,
) -> Result<String, ToolError> {
    let running = phone.begin(cx, &mark, &note);
    if mark == "m1" && running.is_first() {
        running.end();
        return Err(ToolError::new("the line is busy"));
    }
    pause(1).await;
    running.effect();
    running.end();
    Ok(format!("sent {mark} {}", own_sentinel(cx)))
}

/// Fails before it has any effect.
#[tool]
async fn fail(
    phone: &Phone,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// A note that the tool ignores.
    note: String,
) -> Result<String, ToolError> {
    phone.begin(cx, &mark, &note).end();
    Err(ToolError::new("the line is busy"))
}

/// Sends a message through a tool that needs an approval.
#[tool]
async fn relay(
    uses: &Uses<(send_asked,)>,
    board: &Switchboard,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The text of the message.
    note: String,
) -> Result<String, ToolError> {
    relayed(uses, board, cx, mark, note).await
}

/// Sends a message like `relay`, and is declared as idempotent.
#[tool(idempotent)]
async fn relay_again(
    uses: &Uses<(send_asked,)>,
    board: &Switchboard,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The text of the message.
    note: String,
) -> Result<String, ToolError> {
    relayed(uses, board, cx, mark, note).await
}

async fn relayed(
    uses: &Uses<(send_asked,)>,
    board: &Switchboard,
    cx: &ToolContext,
    mark: String,
    note: String,
) -> Result<String, ToolError> {
    let running = board.0.begin(cx, &mark, &note);
    let inner = send_asked {
        mark: format!("relay-{mark}"),
        note,
    };
    let done = uses.invoke(inner).await;
    running.record_success("send_asked", &mark, &done);
    running.end();
    done.map(|_| format!("sent {mark} {}", own_sentinel(cx)))
}

/// Sends two messages through other tools; the second needs an approval.
#[tool(idempotent)]
async fn relay_both(
    uses: &Uses<(send, send_asked)>,
    board: &Switchboard,
    cx: &ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The text of the message.
    note: String,
) -> Result<String, ToolError> {
    let running = board.0.begin(cx, &mark, &note);
    let first = send {
        mark: format!("relay-{mark}"),
        note: note.clone(),
    };
    let second = send_asked {
        mark: format!("relay-{mark}"),
        note,
    };
    let sent = uses.invoke(first).await;
    running.record_success("send", &mark, &sent);
    let done = match sent {
        Ok(_) => uses.invoke(second).await,
        Err(error) => Err(error),
    };
    running.record_success("send_asked", &mark, &done);
    running.end();
    done.map(|_| format!("sent {mark} {}", own_sentinel(cx)))
}

/// Counts to three and reports progress.
#[tool]
fn count_up(
    #[context] phone: Phone,
    #[context] cx: ToolContext,
    /// The mark that identifies the call.
    mark: String,
    /// The text of the message.
    note: String,
) -> ToolStream<String, String> {
    // The body counts as begun when the function is called, even if its stream is never polled.
    let at = phone.begin(&cx, &mark, &note).at;
    tool_stream! {
        let running = Running { phone: &phone, at };
        for step in 1..=3 {
            yield format!("{step} {}", own_sentinel(&cx));
            pause(5).await;
        }
        running.effect();
        running.end();
        format!("sent {mark} {}", own_sentinel(&cx))
    }
}

/// Shows a secret at the place that the note names.
#[tool]
async fn leak(
    phone: &Phone,
    cx: &ToolContext,
    keys: &ApiKeys,
    #[secret("service_key")] key: SecretString,
    #[secret("file_key")] file: SecretString,
    /// The mark that identifies the call.
    mark: String,
    /// The place at which the secret is shown.
    note: String,
) -> Result<String, ToolError> {
    let running = phone.begin(cx, &mark, &note);
    running.effect();
    running.end();
    let key = key.expose_secret();
    let shown = match note.as_str() {
        "hex" => hex(key),
        "trimmed" => file.expose_secret().trim().to_owned(),
        "api_key" => keys.get("openai")?.expose_secret().to_owned(),
        "citation" => {
            cx.cite(Citation::new("service", key).version(key));
            String::new()
        }
        "progress" => {
            cx.progress(key);
            String::new()
        }
        "note" => {
            cx.audit("asked", key);
            String::new()
        }
        "action" => {
            cx.audit(&format!("asked with {key}"), "");
            String::new()
        }
        _ => key.to_owned(),
    };
    Ok(format!("sent {mark} {shown}"))
}

/// Returns a tool that is created at run time. If the note is `odd`, its output violates the schema.
fn send_checked(phone: Phone) -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "mark": {"type": "string", "description": "The mark that identifies the call."},
            "note": {"type": "string", "description": "The text of the message."}
        },
        "required": ["mark", "note"],
        "additionalProperties": false
    });
    let output = json!({
        "type": "object",
        "properties": {"sent": {"type": "string"}},
        "required": ["sent"],
        "additionalProperties": false
    });
    DynamicTool::new(
        "send_checked",
        "Sends a message and answers with an object.",
        schema,
        move |arguments: Value, cx: ToolContext| {
            let phone = phone.clone();
            async move {
                let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
                let (mark, note) = (text("mark"), text("note"));
                let sent = send_to(&phone, &cx, &mark, &note, 1).await;
                let odd = note == "odd";
                Ok::<_, ToolError>(if odd {
                    json!({"sent": 7})
                } else {
                    json!({"sent": sent})
                })
            }
        },
    )
    .effect(Effect::WRITE)
    .output_schema(&output)
}

/// Returns a registry of every tool.
pub(crate) fn all(phone: &Phone) -> RegistryBuilder {
    Registry::builder()
        .tool::<read_note>()
        .tool::<send>()
        .tool::<send_slowly>()
        .tool::<send_asked>()
        .tool::<send_blocking>()
        .tool::<send_verbose>()
        .tool::<send_and_hang>()
        .tool::<send_and_panic>()
        .tool::<send_again>()
        .tool::<fail>()
        .tool::<relay>()
        .tool::<relay_again>()
        .tool::<relay_both>()
        .tool::<count_up>()
        .tool::<leak>()
        .dynamic(send_checked(phone.clone()))
}

/// The names of the tools that random plans call.
pub const NAMES: [&str; 15] = [
    "read_note",
    "send",
    "send_slowly",
    "send_asked",
    "send_blocking",
    "send_verbose",
    "send_and_hang",
    "send_and_panic",
    "fail",
    "relay",
    "relay_again",
    "relay_both",
    "count_up",
    "leak",
    "send_checked",
];

/// Returns whether a tool of this name exists.
pub fn is_tool(name: &str) -> bool {
    NAMES.contains(&name) || is_repeatable(name)
}

/// Returns whether the receiver counts a tool's messages by the keys of its calls, so that repetitions have no effect.
pub fn is_repeatable(tool: &str) -> bool {
    tool == "send_again"
}

/// Returns whether a tool only calls other tools.
pub fn is_relay(tool: &str) -> bool {
    !relayed_by(tool).is_empty()
}

/// Returns the tools that a tool calls, each of them once.
pub fn relayed_by(tool: &str) -> &'static [&'static str] {
    match tool {
        "relay" | "relay_again" => &["send_asked"],
        "relay_both" => &["send", "send_asked"],
        _ => &[],
    }
}

/// Returns whether a tool changes nothing.
pub fn is_reader(tool: &str) -> bool {
    tool == "read_note"
}

/// Returns whether a tool needs approval.
pub fn is_asked(tool: &str) -> bool {
    tool == "send_asked"
}
