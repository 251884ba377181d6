//! Sample records. The tests override single fields.

use crate::*;

pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn text(text: &str) -> String {
    text.to_owned()
}

pub fn acme() -> Workspace {
    Workspace::new("acme")
}

/// Returns a conversation of `acme`.
pub fn thread(conversation: &str) -> ThreadId {
    ThreadId::new("acme", conversation).unwrap()
}

/// Returns an identity with the given name as its key: a call outside of a thread, in `acme`.
pub fn named(name: &str) -> CallId {
    named_in("acme", name)
}

/// Works like [`named`], but in the given workspace.
pub fn named_in(workspace: &str, name: &str) -> CallId {
    let column = serde_json::json!({ "alone": name }).to_string();
    CallId::from_column(workspace, &column).unwrap()
}

/// Returns the key of the identity that [`named`] returns.
pub fn key(name: &str) -> CallKey {
    CallKey::new("acme", name)
}

/// Returns the key of an audit row, as text.
pub fn key_of(row: &AuditRow) -> String {
    row.identity.key().as_str().to_owned()
}

/// Returns an approval request created at 100 that expires at 1000.
pub fn request(id: &str) -> ApprovalRequest {
    ApprovalRequest {
        id: text(id),
        kind: ApprovalKind::Call,
        identity: named(id),
        thread: Some(text("thread")),
        call: format!("call of {id}"),
        tool: text("send_mail"),
        principal: text("ann"),
        agent: Some(text("clerk")),
        contract: text("9f2c"),
        arguments: text(r#"{"to":"bøb"}"#),
        policy: text("v1"),
        decision: text("d1"),
        four_eyes: false,
        reason: Some(text("the mail leaves the company")),
        nonce: text("nonce"),
        created: at(100),
        expires: at(1000),
        parent: None,
    }
}

/// Returns the answer of `eve`, at 200.
pub fn says(verdict: Verdict) -> ApprovalAnswer {
    ApprovalAnswer {
        verdict,
        approver: text("eve"),
        reason: Some(text("fine")),
        at: at(200),
    }
}

/// Returns an intent begun at 100 by `run-1`, with a lease until 500.
pub fn intent(key: &str) -> Intent {
    Intent {
        identity: named(key),
        earlier: None,
        call: format!("call of {key}"),
        thread: Some(text("thread")),
        agent: Some(text("clerk")),
        tool: text("send_mail"),
        contract: text("9f2c"),
        principal: text("ann"),
        arguments_hash: text("77aa"),
        owner: text("run-1"),
        at: at(100),
        lease_until: at(500),
    }
}

pub fn end(state: EffectState, millis: i64) -> EffectEnd {
    EffectEnd {
        state,
        result: Some(format!(r#""{state}""#)),
        at: at(millis),
        released: false,
    }
}

/// Returns an audit row with every column set. The outcome is not final, so that the row can be replaced.
pub fn audit(id: &str) -> AuditRow {
    AuditRow {
        identity: named(id),
        call: format!("call of {id}"),
        thread: Some(text("thread")),
        principal: Some(text("ann")),
        runtime_user: Some(text("robot")),
        agent: Some(text("clerk")),
        session: Some(text("session")),
        tool: text("send_mail"),
        contract: Some(text("9f2c")),
        effect: 0b1010,
        layer: Some(text("policy")),
        decision: Some(text("d1")),
        policy: Some(text("v1")),
        approval: Some(text("a1")),
        approver: Some(text("eve")),
        outcome: Some(text("interrupted")),
        error: Some(text("no route")),
        arguments: text(r#"{"to":{"length":3}}"#),
        original_hash: text("aa"),
        used_hash: Some(text("bb")),
        output: Some(text("grün\0…")),
        output_bytes: Some(u64::MAX),
        attempt: 2,
        started: at(100),
        duration_us: Some(310),
        notes: vec![AuditNote {
            action: text("sent"),
            details: text(r#"{"n":1}"#),
        }],
    }
}

/// Returns a message in a conversation of `acme`. With a position, it answers the call at this position of message 1.
pub fn message(conversation: &str, role: Role, position: Option<u32>) -> NewMessage {
    NewMessage {
        thread: thread(conversation),
        role,
        follows: None,
        answers: position.map(|position| CallPlace {
            message: 1,
            position,
        }),
        content: text(r#"{"text":"grün"}"#),
        at: at(100),
    }
}

/// Returns a spilled output of `ann` at `acme` that expires at 1000.
pub fn spill(handle: &str, content: &str) -> Spill {
    Spill {
        handle: text(handle),
        workspace: acme(),
        principal: text("ann"),
        text: text(content),
        at: at(100),
        expires: at(1000),
    }
}
