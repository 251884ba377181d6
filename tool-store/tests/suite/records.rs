//! Records to store, plain but for what a test changes.

use tool_core::store::*;

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn text(text: &str) -> String {
    text.to_owned()
}

/// Asked at 100, expires at 1000.
pub(crate) fn request(id: &str) -> ApprovalRequest {
    ApprovalRequest {
        id: text(id),
        kind: ApprovalKind::Call,
        thread: Some(text("thread")),
        turn: text("turn"),
        call: format!("call of {id}"),
        tool: text("send_mail"),
        tenant: text("acme"),
        principal: text("ann"),
        agent: Some(text("clerk")),
        contract: text("9f2c"),
        arguments: text(r#"{"to":"bøb"}"#),
        policy: text("v1"),
        decision: text("d1"),
        four_eyes: false,
        reason: Some(text("it leaves the house")),
        nonce: text("nonce"),
        created: at(100),
        expires: at(1000),
        parent: None,
    }
}

/// Said at 200 by `eve`.
pub(crate) fn says(verdict: Verdict) -> Answer {
    Answer {
        verdict,
        approver: text("eve"),
        reason: Some(text("fine")),
        at: at(200),
    }
}

/// Begun at 100 with a lease until 500 by `run-1`.
pub(crate) fn intent(key: &str) -> Intent {
    Intent {
        key: text(key),
        call: format!("call of {key}"),
        turn: text("turn"),
        thread: Some(text("thread")),
        tool: text("send_mail"),
        contract: text("9f2c"),
        tenant: text("acme"),
        principal: text("ann"),
        arguments_hash: text("77aa"),
        owner: text("run-1"),
        at: at(100),
        lease_until: at(500),
    }
}

pub(crate) fn end(state: EffectState, millis: i64) -> EffectEnd {
    EffectEnd {
        state,
        result: Some(format!(r#""{state}""#)),
        at: at(millis),
    }
}

/// Every column set.
pub(crate) fn audit(id: &str) -> AuditRow {
    AuditRow {
        id: text(id),
        call: format!("call of {id}"),
        turn: Some(text("turn")),
        thread: Some(text("thread")),
        tenant: Some(text("acme")),
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
        outcome: Some(text("failed")),
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

pub(crate) fn message(thread: &str, role: Role, call: Option<&str>) -> NewMessage {
    NewMessage {
        thread: text(thread),
        turn: text("turn"),
        role,
        call: call.map(text),
        content: text(r#"{"text":"grün"}"#),
        at: at(100),
    }
}

/// Of `ann` at `acme`, expires at 1000.
pub(crate) fn spill(handle: &str, content: &str) -> Spill {
    Spill {
        handle: text(handle),
        tenant: text("acme"),
        principal: text("ann"),
        text: text(content),
        at: at(100),
        expires: at(1000),
    }
}
