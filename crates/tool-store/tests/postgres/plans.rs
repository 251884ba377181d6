//! Tests of query plans: every list, filter and search uses its index, and sorts at most the few rows that an index has found.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Executor as _};
use test_support::Ran;

use crate::database::Database;

/// Rows with rare threads, users and failures, so that each filter is cheapest with its own index.
const ROWS: &str = "
    INSERT INTO tool_store.audit (workspace, key, call, thread, principal, tool, effect, decision, outcome, arguments, original_hash, attempt, started, notes)
        SELECT 'w' || n % 100, 'k' || n, 'c' || n % 500, 't' || n % 500, 'p' || n % 500, 'tool' || n % 500, 1, 'd' || n % 500,
               CASE WHEN n % 200 = 0 THEN 'failed' ELSE 'ok' END, '{}', '', 1, n, '[]' FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.effect (workspace, key, call, thread, tool, contract, principal, arguments_hash, owner, at, lease_until, lapses, state, ended, late, attempt, released)
        SELECT 'w' || n % 100, 'k' || n, 'c', 't' || n % 500, 'tool', '', 'p' || n % 500, '', 'o', n, n, n,
               CASE WHEN n % 200 = 0 THEN 'ambiguous' WHEN n % 200 = 1 THEN 'running' ELSE 'succeeded' END, n, false, 1, false FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.approval (id, kind, workspace, key, place, thread, call, tool, principal, contract, arguments, policy, decision, four_eyes, nonce, created, expires, lapses, status, assignee)
        SELECT 'a' || n, 'call', 'w' || n % 100, 'k' || n, '', 't' || n % 500, 'c', 'tool' || n % 500, 'p' || n % 500, '', '{}', '', '', false, '', n, n, n,
               CASE WHEN n % 200 = 0 THEN 'pending' WHEN n % 200 = 1 THEN 'denied' ELSE 'spent' END, 'u' || n % 500 FROM generate_series(1, 20000) n;
    UPDATE tool_store.approval SET sealed = '', seal_key = 'k' || created % 10, edited_sealed = '', edited_key = 'k' || created % 10 WHERE created % 2 = 0;
    INSERT INTO tool_store.run (workspace, conversation, number, owner, lease_until, lapses, state, started, ended, attempt, steps, input_tokens, output_tokens, unmeasured)
        SELECT 'w' || n % 100, 't' || n % 500, n, 'o', n, n, CASE WHEN n > 19900 THEN 'running' ELSE 'ended' END, n, n, 1, 1, 1, 1, 1 FROM generate_series(1, 20000) n
        ON CONFLICT DO NOTHING;
    INSERT INTO tool_store.child_thread (workspace, conversation, parent, caller, waits, begins, keys, kind, agent, depth, resumable, state, session, delivered, created, updated)
        SELECT 'w' || n % 100, 'c' || n, 't' || n % 500, 'chief', false, 1, '[]', 'subagent', 'a', 1, true,
               CASE WHEN n % 200 = 0 THEN 'running' WHEN n % 200 = 1 THEN 'idle' ELSE 'terminated' END, 1, 1, n, n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.work (workspace, conversation, agent, definition, state, ready, recoveries, attempts, created, updated)
        SELECT 'w' || n % 100, 'c' || n, 'a' || n % 500, 'd', CASE WHEN n % 2 = 0 THEN 'queued' ELSE 'ended' END, CASE WHEN n % 2 = 0 THEN n END, 0, 0, n, n
        FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.thread_event (workspace, conversation, seq, message, kind, version, body, transient, at, sealed, seal_key)
        SELECT 'w' || n % 100, 'c' || n % 500, n, n, 'text', 1, '', n % 100 = 0, n, '', 'k' || n % 10 FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.budget (workspace, name, most_tokens, reserved_tokens, reserved_cost, spent_tokens, spent_cost, unmeasured, created, updated)
        SELECT 'w' || n % 100, 'c' || n, n, 0, 0, 0, 0, 0, n, n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.budget_reservation (workspace, name, step, tokens, cost, at)
        SELECT 'w' || n % 100, 'c' || n, 's' || n, n, 0, n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.knowledge_document (workspace, file, id, mime, size, source, principal, status, chunks, ready, recoveries, created, updated)
        SELECT 'w' || n % 100, 'f' || n, 'i' || n, 'm', 1, 's', 'p' || n % 500, CASE WHEN n % 200 = 0 THEN 'pending' ELSE 'indexed' END, 1,
               CASE WHEN n % 200 = 0 THEN n END, 0, n, n FROM generate_series(1, 20000) n;
    UPDATE tool_store.knowledge_document SET embed_ready = created WHERE created % 200 = 0;
    INSERT INTO tool_store.knowledge_chunk (workspace, file, seq, content, scope, terms)
        SELECT 'w' || n % 100, 'f' || n, 0, 'c', 'w' || n % 100, 't' || n % 500 || ' u' || n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.knowledge_code (workspace, model, dimensions, file, block, entries)
        SELECT workspace, 'm' || created % 10, 8, file, 0, '' FROM tool_store.knowledge_document;
    INSERT INTO tool_store.plan_run (workspace, conversation, number, principal, status, active, spec, spec_sealed, spec_key, state, sealed, seal_key, events, created, updated)
        SELECT 'w' || n % 100, 'c' || n % 500, n, 'p' || n % 500, CASE WHEN n > 19900 THEN 'running' ELSE 'completed' END, n > 19900, '', '', 'k' || n % 10, '', '', 'k' || n % 10, 1, n, n
        FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.plan_event (workspace, conversation, run, seq, kind, at)
        SELECT 'w' || n % 100, 'c' || n % 500, n, 1, 'created', n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.room_event (workspace, conversation, seq, id, author, body, state, created, updated)
        SELECT 'w' || n % 100, 'c' || n % 500, n, 'e' || n, 'u' || n % 500, '', CASE WHEN n % 40 = 0 THEN 'pending' ELSE 'completed' END, n, n
        FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.room_message (workspace, conversation, seq, key, author, body, is_summary, at)
        SELECT 'w' || n % 100, 'c' || n % 500, n, 'k' || n, 'u' || n % 500, '', false, n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.task (workspace, id, principal, definition, enabled, errors, ready, version, created, updated)
        SELECT 'w' || n % 100, 't' || n, 'u' || n % 500, '{}', true, 0, CASE WHEN n % 2 = 0 THEN n END, 1, n, n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.task_run (workspace, task, due, state, attempts, conversation, started, ended)
        SELECT 'w' || n % 100, 't' || n % 500, n, 'succeeded', 1, 'c' || n % 500, n, n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.memory (id, workspace, agent, hash, content, type, durability, importance, source, principal, conversation, created, updated)
        SELECT 'm' || n, 'w' || n % 100, 'a' || n % 500, 'h' || n, 'x', 'fact', CASE WHEN n % 200 = 0 THEN 'ephemeral' ELSE 'core' END, 0, 'user', 'p' || n % 500,
               't' || n % 500, n, n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.thread_note (workspace, conversation, block) SELECT 'w' || n % 100, 'c' || n, '' FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.spill (handle, workspace, principal, total, at, expires, lapses)
        SELECT 's' || n, 'w' || n % 100, 'p' || n % 500, 0, n, n, n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.spill_chunk (handle, start, text, sealed, seal_key) SELECT 's' || n, 0, '', '', 'k' || n % 10 FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.switch (reach, workspace, kind, tool, source, is_on, set_by, at)
        SELECT 1, 'w' || n % 10000, 'enable', 'tool' || n, 'manual', n % 2 = 0, 'o', n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.request (workspace, caller, key, fingerprint, response, lapses)
        SELECT 'w' || n % 100, 'p' || n % 500, 'k' || n, '', '', n FROM generate_series(1, 20000) n;
    UPDATE tool_store.request SET sealed = '', seal_key = 'k' || lapses % 10;
    INSERT INTO tool_store.instance (workspace, slug, version, at)
        SELECT 'w' || n % 100, 'i' || n, n, n FROM generate_series(1, 2000) n;
    INSERT INTO tool_store.enablement (workspace, instance, tool, source, is_manual, set_by, at)
        SELECT 'w' || n % 100, 'i' || n, 'tool' || (n * 10 + t) % 5000, 'manual', true, 'o', n FROM generate_series(1, 2000) n, generate_series(1, 10) t;
    INSERT INTO tool_store.secret (workspace, name, id, sealed, seal_key, set_by, at)
        SELECT 'w' || n % 100, 'n' || n, 'i' || n, '', 'k' || n % 10, 'o', n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.variable (workspace, level, owner, name, id, kind, value, sealed, seal_key, set_by, at)
        SELECT 'w' || n % 100, 'agent', 'a' || n % 500, 'n' || n, 'i' || n, 'text', CASE WHEN n % 2 = 0 THEN '' END,
               CASE WHEN n % 2 = 1 THEN ''::bytea END, CASE WHEN n % 2 = 1 THEN 'k' || n % 10 END, 'o', n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.variable_request (workspace, id, conversation, agent, level, owner, required, missing, at)
        SELECT 'w' || n % 100, 'r' || n, 't' || n % 500, 'a', 'agent', 'a', '[]', '[]', n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.workspace (workspace, retention_tier, created_at, updated_at)
        SELECT 'w' || n, 'short', n, n FROM generate_series(1, 2000) n;
    INSERT INTO tool_store.member (workspace, member, role, at)
        SELECT 'w' || n % 100, 'u' || n, 'author', n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.function (id, workspace, name, kind, code, default_version, created_by, created_at, updated_at)
        SELECT 'f' || n, CASE WHEN n % 100 > 0 THEN 'w' || n % 100 END, 'f' || n, 'linked', '{}', 'v' || n, CASE WHEN n % 100 > 0 THEN 'u' END, n, n
        FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.function_version (id, function, number, parent, files, uses, input_schema, output_schema, created_at)
        SELECT 'v' || n, 'f' || n, 1, 'v' || n, '{}', '[]', '{}', '{}', n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.stored_tool (id, workspace, name, target, function, function_version, requires_confirmation, enabled, system, source, created_by,
                                        deleted_at, retention_tier, due, created_at, updated_at)
        SELECT 't' || n, CASE WHEN n % 100 > 0 THEN 'w' || n % 100 END, 't' || n, 'server', 'f' || n % 5000 + 1, 'v' || n % 5000 + 1, false, true, n % 100 = 0,
               'workspace', CASE WHEN n % 100 > 0 THEN 'u' END, CASE WHEN n % 199 = 0 THEN n END, CASE WHEN n % 199 = 0 THEN 'short' END,
               CASE WHEN n % 199 = 0 THEN n END, n, n FROM generate_series(1, 20000) n;
    INSERT INTO tool_store.agent_tool (workspace, agent, tool, set_by, at)
        SELECT 'w' || n % 100, 'a' || n % 500, 't' || n, 'u', n FROM generate_series(1, 20000) n;
    ANALYZE";

/// Returns whether a plan reads a table without an index or sorts. A `Merge Append` of sorted rows has a `Sort Key` too.
fn is_slow(plan: &str) -> bool {
    plan.contains("Seq Scan") || plan.contains("Sort  (")
}

// Every field of a filter has an index that returns pages in order, even in a generic plan.
pub(crate) async fn every_list_and_filter_uses_its_index_case() -> Ran {
    let database = Database::create().await?;
    database.options().open().await.unwrap();
    database.tamper(ROWS).await;
    let mut connection = database.connect().await;
    connection
        .execute("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off")
        .await
        .unwrap();
    let (mut used, mut wrong) = (BTreeSet::new(), Vec::new());
    for (number, (index, sql)) in tool_store::postgres_statements().into_iter().enumerate() {
        let count = (1..=20)
            .rev()
            .find(|n| sql.contains(&format!("${n}")))
            .unwrap_or(0);
        let values = vec!["NULL"; count].join(", ");
        let values = if count == 0 {
            values
        } else {
            format!("({values})")
        };
        let prepare = format!("PREPARE s{number} AS {sql}");
        connection.execute(AssertSqlSafe(prepare)).await.unwrap();
        // PostgreSQL reads an index on the words of a text only by a bitmap.
        let is_text = index == "knowledge_chunk_terms";
        let bitmaps = if is_text { "on" } else { "off" };
        let set = format!("SET enable_bitmapscan = {bitmaps}");
        connection.execute(AssertSqlSafe(set)).await.unwrap();
        let explain = format!("EXPLAIN EXECUTE s{number}{values}");
        let lines: Vec<String> = sqlx::raw_sql(AssertSqlSafe(explain))
            .fetch_all(&mut connection)
            .await
            .unwrap()
            .iter()
            .map(|row| sqlx::Row::get(row, 0))
            .collect();
        let plan = lines.join("\n");
        // These statements sort the few rows that an index has found.
        let sorts_few = index == "effect_by_earlier"
            || index == "spill_"
            || is_text
            || sql.contains("MATERIALIZED")
            || index == "stored_tool_by_function"
            || index == "switch_pkey" && sql.contains("UNION ALL")
            || sql.contains("tool_store.agent_tool WHERE");
        if !plan.contains(index) || (!sorts_few && is_slow(&plan)) {
            wrong.push(format!(
                "`{index}` is not used, or the plan is slow:\n{sql}\n{plan}\n"
            ));
        }
        used.insert(index.to_owned());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // An index that no statement uses would only slow down writes.
    let indexes: Vec<String> = sqlx::query_scalar(
        "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'tool_store' AND tablename IN ('audit', 'effect', 'approval', 'child_thread', 'work', 'thread_event', 'knowledge_document', 'plan_run', 'plan_event', 'run', 'switch', 'spill', 'request', \
         'workspace', 'member', 'function', 'function_version', 'stored_tool', 'agent_tool')",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap();
    // Inserts use the first index, and statements that `postgres_statements` does not return use the others.
    let others = [
        "audit_pkey",
        "run_pkey",
        "spill_pkey",
        "approval_pending",
        "spill_by_principal",
    ];
    for index in indexes {
        assert!(
            used.contains(&index) || others.contains(&&*index),
            "no statement uses `{index}`"
        );
    }
    Ok(())
}
