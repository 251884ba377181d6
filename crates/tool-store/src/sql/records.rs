//! Conversion of rows to records. The tables of all databases have the same columns.

use crate::store::{
    ApprovalAnswer, ApprovalKind, ApprovalRequest, ApprovalRow, ApprovalStatus, AuditNote,
    AuditRow, CallKey, CallPlace, CatalogueEntry, EffectClaim, EffectRow, EffectState,
    EnablementRow, EnablementSource, InstanceId, Intent, KeyId, KeyUse, Message, RequestKey, Role,
    RunCause, RunId, RunProgress, RunRow, RunState, RunStop, SealKeyRow, SealedColumn, SealedPlace,
    SealedRow, SecretInfo, SecretRow, SkillPin, SkillVersion, StoreError, Switch, SwitchKey,
    SwitchKind, ThreadId, Usage, VariableInfo, VariableLevel, VariableRequest, VariableRow,
    VariableType, VariableValue, Verdict, Workspace,
};

use super::columns::{Columns, SqlRow};
use super::contents::Reader;
use super::sealed::{place, source};

/// Reads a row of the table `approval`.
pub(crate) fn approval(row: &impl SqlRow, reader: &Reader) -> Result<ApprovalRow, StoreError> {
    let columns = Columns::new(row, "approval", "id");
    let id: String = columns.get("id")?;
    let identity = columns.identity()?;
    let place = || place::arguments(identity.workspace(), &id);
    let arguments = columns.content("arguments", "sealed", reader, place)?;
    Ok(ApprovalRow {
        answer: answer(columns, identity.workspace(), &id, reader)?,
        request: ApprovalRequest {
            id,
            kind: columns.word("kind", ApprovalKind::from_word)?,
            identity,
            thread: columns.maybe("thread")?,
            call: columns.text("call")?,
            tool: columns.get("tool")?,
            principal: columns.get("principal")?,
            agent: columns.maybe("agent")?,
            contract: columns.get("contract")?,
            arguments,
            policy: columns.get("policy")?,
            decision: columns.get("decision")?,
            four_eyes: columns.get("four_eyes")?,
            reason: columns.maybe_text("reason")?,
            nonce: columns.get("nonce")?,
            created: columns.time("created")?,
            expires: columns.time("expires")?,
            parent: columns.maybe("parent")?,
        },
        status: columns.word("status", ApprovalStatus::from_word)?,
        assignee: columns.maybe("assignee")?,
    })
}

fn answer(
    columns: Columns<'_>,
    workspace: &Workspace,
    id: &str,
    reader: &Reader,
) -> Result<Option<ApprovalAnswer>, StoreError> {
    if columns.maybe::<&str>("verdict")?.is_none() {
        return Ok(None);
    }
    let place = || place::edited(workspace, id);
    let edited = match columns.opened("edited_sealed", reader, place)? {
        None => columns.maybe_text("edited")?,
        opened => opened,
    };
    let verdict = columns.word("verdict", |word| Verdict::from_columns(word, edited))?;
    Ok(Some(ApprovalAnswer {
        verdict,
        approver: columns.get("approver")?,
        reason: columns.maybe_text("answer_reason")?,
        at: columns.time("answered")?,
    }))
}

/// Reads a row of the table `audit`.
pub(crate) fn audit(row: &impl SqlRow) -> Result<AuditRow, StoreError> {
    let columns = Columns::new(row, "audit", "key");
    let notes: &str = columns.get("notes")?;
    let notes: Vec<AuditNote> =
        serde_json::from_str(notes).map_err(|error| columns.corrupt("notes", error))?;
    Ok(AuditRow {
        identity: columns.identity()?,
        call: columns.text("call")?,
        thread: columns.maybe("thread")?,
        principal: columns.maybe("principal")?,
        runtime_user: columns.maybe("runtime_user")?,
        agent: columns.maybe("agent")?,
        session: columns.maybe("session")?,
        tool: columns.text("tool")?,
        contract: columns.maybe("contract")?,
        effect: columns.number("effect")?,
        layer: columns.maybe("layer")?,
        decision: columns.maybe("decision")?,
        policy: columns.maybe("policy")?,
        approval: columns.maybe("approval")?,
        approver: columns.maybe("approver")?,
        outcome: columns.maybe("outcome")?,
        error: columns.maybe_text("error")?,
        arguments: columns.text("arguments")?,
        original_hash: columns.get("original_hash")?,
        used_hash: columns.maybe("used_hash")?,
        output: columns.maybe_text("output")?,
        output_bytes: columns
            .maybe::<i64>("output_bytes")?
            .map(i64::cast_unsigned),
        attempt: columns.number("attempt")?,
        started: columns.time("started")?,
        duration_us: columns.maybe::<i64>("duration_us")?.map(i64::cast_unsigned),
        notes,
    })
}

/// Reads a row of the table `catalogue`.
pub(crate) fn catalogue_entry(row: &impl SqlRow) -> Result<CatalogueEntry, StoreError> {
    let columns = Columns::new(row, "catalogue", "name");
    Ok(CatalogueEntry {
        name: columns.get("name")?,
        title: columns.maybe_text("title")?,
        description: columns.text("description")?,
        category: columns.text("category")?,
        contract: columns.get("contract")?,
        effect: columns.number("effect")?,
        secrets: columns.json("secrets")?,
        aliases: columns.json("aliases")?,
        is_meta: columns.get("is_meta")?,
        is_global: columns.get("is_global")?,
        is_harness: columns.get("is_harness")?,
        synced_at: columns.time("synced_at")?,
    })
}

/// Reads a row of the table `effect`.
pub(crate) fn effect(row: &impl SqlRow) -> Result<EffectClaim, StoreError> {
    let columns = Columns::new(row, "effect", "key");
    let workspace: &str = columns.get("workspace")?;
    let earlier: Option<&str> = columns.maybe("earlier")?;
    let row = EffectRow {
        intent: Intent {
            identity: columns.identity()?,
            earlier: earlier.map(|key| CallKey::new(workspace, key)),
            call: columns.text("call")?,
            thread: columns.maybe("thread")?,
            agent: columns.maybe("agent")?,
            tool: columns.get("tool")?,
            contract: columns.get("contract")?,
            principal: columns.get("principal")?,
            arguments_hash: columns.get("arguments_hash")?,
            owner: columns.get("owner")?,
            at: columns.time("at")?,
            lease_until: columns.time("lease_until")?,
        },
        state: columns.word("state", EffectState::from_word)?,
        result: columns.maybe_text("result")?,
        ended: columns.maybe_time("ended")?,
        late: columns.get("late")?,
        resolved_by: columns.maybe("resolved_by")?,
        attempt: columns.number("attempt")?,
    };
    let released = columns.get("released")?;
    Ok(EffectClaim { row, released })
}

/// Reads rows of the table `effect`.
pub(crate) fn effects(rows: &[impl SqlRow]) -> Result<Vec<EffectRow>, StoreError> {
    rows.iter().map(|row| Ok(effect(row)?.row)).collect()
}

/// Reads a row of the table `run`.
pub(crate) fn run(row: &impl SqlRow) -> Result<RunRow, StoreError> {
    let columns = Columns::new(row, "run", "conversation");
    let workspace: &str = columns.get("workspace")?;
    let thread = ThreadId::new(workspace, columns.get::<&str>("conversation")?)
        .map_err(|error| columns.corrupt("conversation", error))?;
    let word = |column| columns.maybe::<&str>(column);
    let cause = word("cause")?.map(|_| columns.word("cause", RunCause::from_word));
    let stop = word("stop")?.map(|_| columns.word("stop", RunStop::from_word));
    Ok(RunRow {
        id: RunId::new(thread, columns.number("number")?),
        principal: columns.maybe("principal")?,
        agent: columns.maybe("agent")?,
        owner: columns.get("owner")?,
        lease_until: columns.time("lease_until")?,
        state: columns.word("state", RunState::from_word)?,
        cause: cause.transpose()?,
        stop: stop.transpose()?,
        started: columns.time("started")?,
        ended: columns.maybe_time("ended")?,
        attempt: columns.number("attempt")?,
        progress: RunProgress {
            steps: columns.number("steps")?,
            usage: Usage {
                input_tokens: columns.number("input_tokens")?,
                cache_read_tokens: columns.maybe_number("cache_read_tokens")?,
                cache_write_5m_tokens: columns.maybe_number("cache_write_5m_tokens")?,
                cache_write_1h_tokens: columns.maybe_number("cache_write_1h_tokens")?,
                output_tokens: columns.number("output_tokens")?,
                reasoning_tokens: columns.maybe_number("reasoning_tokens")?,
                cost_micros: columns.maybe_number("cost_micros")?,
            },
            unmeasured: columns.number("unmeasured")?,
        },
    })
}

/// Reads a row of the table `switch`.
pub(crate) fn switch(row: &impl SqlRow) -> Result<Switch, StoreError> {
    let columns = Columns::new(row, "switch", "tool");
    let workspace = match columns.get::<i64>("reach")? {
        0 => None,
        _ => Some(columns.workspace()?),
    };
    Ok(Switch {
        key: SwitchKey {
            workspace,
            kind: columns.word("kind", SwitchKind::from_word)?,
            tool: columns.get("tool")?,
            source: columns.get("source")?,
        },
        on: columns.get("is_on")?,
        by: columns.get("set_by")?,
        reason: columns.maybe_text("reason")?,
        at: columns.time("at")?,
    })
}

/// Reads a row of the table `message`, without the name of its turn, which only messages of versions before 0.2 have.
pub(crate) fn message(row: &impl SqlRow, reader: &Reader) -> Result<Message, StoreError> {
    let columns = Columns::new(row, "message", "conversation");
    let answers = match columns.maybe::<i64>("call_message")? {
        None => None,
        Some(_) => Some(CallPlace {
            message: columns.number("call_message")?,
            position: columns.number("call_position")?,
        }),
    };
    let workspace: &str = columns.get("workspace")?;
    let thread = ThreadId::new(workspace, columns.get::<&str>("conversation")?)
        .map_err(|error| columns.corrupt("conversation", error))?;
    let seq = columns.number("seq")?;
    let place = || place::message(&thread, seq);
    let content = columns.content("content", "sealed", reader, place)?;
    Ok(Message {
        seq,
        thread,
        role: columns.word("role", Role::from_word)?,
        answers,
        turn: None,
        content,
        at: columns.time("at")?,
    })
}

/// Reads a row of the table `enablement`.
pub(crate) fn enablement(row: &impl SqlRow) -> Result<EnablementRow, StoreError> {
    let columns = Columns::new(row, "enablement", "tool");
    Ok(EnablementRow {
        instance: instance(columns)?,
        tool: columns.get("tool")?,
        source: columns.word("source", EnablementSource::from_word)?,
        is_manual: columns.get("is_manual")?,
        by: columns.get("set_by")?,
        at: columns.time("at")?,
    })
}

/// Reads a row of the table `skill_version`.
pub(crate) fn skill_version(row: &impl SqlRow) -> Result<SkillVersion, StoreError> {
    let columns = Columns::new(row, "skill_version", "skill");
    Ok(SkillVersion {
        name: columns.get("skill")?,
        version: columns.get("version")?,
        description: columns.text("description")?,
        required_tools: columns.json("tools")?,
        env: columns.json("env")?,
        files: columns.json("files")?,
    })
}

/// Reads a row of the table `skill_pin`, joined with the pinned version.
pub(crate) fn skill_pin(row: &impl SqlRow) -> Result<SkillPin, StoreError> {
    let columns = Columns::new(row, "skill_pin", "skill");
    let by: &str = columns.get("set_by")?;
    Ok(SkillPin::new(skill_version(row)?, by, columns.time("at")?))
}

/// Reads an instance, in the columns `workspace` and `instance`.
fn instance(columns: Columns<'_>) -> Result<InstanceId, StoreError> {
    let slug: &str = columns.get("instance")?;
    Ok(InstanceId::new(columns.workspace()?, slug))
}

/// Reads an instance and one of its skills, in the columns `workspace`, `instance` and `skill`.
pub(crate) fn requirement(row: &impl SqlRow) -> Result<(InstanceId, String), StoreError> {
    let columns = Columns::new(row, "skill_pin", "skill");
    Ok((instance(columns)?, columns.get("skill")?))
}

/// Reads the instances in the rows of a query.
pub(crate) fn instances(rows: &[impl SqlRow]) -> Result<Vec<InstanceId>, StoreError> {
    rows.iter()
        .map(|row| instance(Columns::new(row, "instance", "instance")))
        .collect()
}

/// Reads a row of the table `secret`.
pub(crate) fn secret(row: &impl SqlRow) -> Result<SecretRow, StoreError> {
    let columns = Columns::new(row, "secret", "name");
    Ok(SecretRow::new(
        columns.get::<&str>("workspace")?,
        columns.get::<String>("name")?,
        columns.get::<String>("id")?,
        columns.sealed("sealed")?,
        columns.get::<String>("set_by")?,
        columns.time("at")?,
    ))
}

/// Reads a row of the table `secret` without its value.
pub(crate) fn secret_info(row: &impl SqlRow) -> Result<SecretInfo, StoreError> {
    let columns = Columns::new(row, "secret", "name");
    Ok(SecretInfo {
        workspace: columns.workspace()?,
        name: columns.get("name")?,
        by: columns.get("set_by")?,
        at: columns.time("at")?,
    })
}

/// Reads a row of the table `variable`.
pub(crate) fn variable(row: &impl SqlRow) -> Result<VariableRow, StoreError> {
    let columns = Columns::new(row, "variable", "name");
    let value = match columns.maybe_text("value")? {
        Some(text) => VariableValue::Clear(text),
        None => VariableValue::Sealed(columns.sealed("sealed")?),
    };
    Ok(VariableRow::new(
        columns.variable_scope()?,
        columns.get::<String>("name")?,
        columns.get::<String>("id")?,
        columns.word("kind", VariableType::from_word)?,
        value,
        columns.get::<String>("set_by")?,
        columns.time("at")?,
    ))
}

/// Reads a row of the table `variable` without its owner's workspace and without a sealed value.
pub(crate) fn variable_info(row: &impl SqlRow) -> Result<VariableInfo, StoreError> {
    let columns = Columns::new(row, "variable", "name");
    Ok(VariableInfo {
        level: columns.word("level", VariableLevel::from_word)?,
        owner: columns.get("owner")?,
        name: columns.get("name")?,
        kind: columns.word("kind", VariableType::from_word)?,
        value: columns.maybe_text("value")?,
        by: columns.get("set_by")?,
        at: columns.time("at")?,
    })
}

/// Reads a row of the table `variable_request`.
pub(crate) fn variable_request(row: &impl SqlRow) -> Result<VariableRequest, StoreError> {
    let columns = Columns::new(row, "variable_request", "id");
    let workspace: &str = columns.get("workspace")?;
    let thread = ThreadId::new(workspace, columns.get::<&str>("conversation")?);
    Ok(VariableRequest {
        missing: columns.json("missing")?,
        ..VariableRequest::new(
            columns.get::<String>("id")?,
            thread.map_err(|error| columns.corrupt("conversation", error))?,
            columns.get::<String>("agent")?,
            columns.variable_scope()?,
            columns.json("required")?,
            columns.time("at")?,
        )
    })
}

/// Reads a row of the table `seal_key`.
pub(crate) fn seal_key(row: &impl SqlRow) -> Result<SealKeyRow, StoreError> {
    let columns = Columns::new(row, "seal_key", "id");
    let id: &str = columns.get("id")?;
    let key = SealKeyRow::new(columns.sealed("check_value")?, columns.time("at")?);
    if key.id.as_str() != id {
        return Err(columns.corrupt("check_value", "it was sealed with a different key"));
    }
    Ok(SealKeyRow {
        retired: columns.maybe_time("retired")?,
        ..key
    })
}

/// Reads the numbers of values, sorted by column and key.
pub(crate) fn key_uses(rows: &[impl SqlRow]) -> Result<Vec<KeyUse>, StoreError> {
    let mut uses = Vec::with_capacity(rows.len());
    for row in rows {
        let columns = Columns::new(row, "sealed values", "seal_key");
        let key: &str = columns.get("seal_key")?;
        uses.push(KeyUse {
            column: columns.word("sealed_column", SealedColumn::from_word)?,
            key: KeyId::new(key).map_err(|error| columns.corrupt("seal_key", error))?,
            values: columns.number("amount")?,
        });
    }
    uses.sort();
    Ok(uses)
}

/// Reads a sealed value of a column.
pub(crate) fn sealed_row(row: &impl SqlRow, column: SealedColumn) -> Result<SealedRow, StoreError> {
    let columns = Columns::new(row, source(column).table, "id");
    Ok(SealedRow {
        place: SealedPlace {
            column,
            workspace: columns.workspace()?,
            id: columns.get("id")?,
            owner: columns.get("place_owner")?,
        },
        bytes: columns.get::<&[u8]>("sealed")?.into(),
    })
}

/// Returns the response in the row of the table `request` with this key. If the key was used for a different request, fails without opening the
/// response.
pub(crate) fn stored_response<T>(
    row: &impl SqlRow,
    workspace: &Workspace,
    key: &RequestKey<T>,
    reader: &Reader,
) -> Result<String, StoreError> {
    let columns = Columns::new(row, "request", "key");
    key.repeated(columns.get("fingerprint")?, String::new())?;
    let place = || place::response(workspace, &key.caller, &key.key);
    columns.content("response", "sealed", reader, place)
}
