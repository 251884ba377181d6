//! Checks of the invariants. `docs/world.md` describes the invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use tool_core::store::{Retention, RunFilter, Scope, Timestamp};

use crate::facts::{Begin, Facts, Place, Written};
use crate::host::{ApprovalSeen, MessageSeen, Rows};
use crate::plan::{AuditMode, Plan, User};
use crate::process::START;
use crate::run::Running;
use crate::store::Part;
use crate::tools::{NAMES, is_asked, is_reader, is_relay, is_repeatable, is_tool, relayed_by};

/// The calls at one place.
#[derive(Default)]
struct Slots {
    /// The marks of the models' calls. `None` if the arguments cannot be parsed or have no mark.
    calls: Vec<Option<String>>,
    /// The marks of the calls that tools made.
    nested: Vec<String>,
}

/// The texts of results for calls that a stopped turn did not run. The second text is for a call that an earlier run of the turn may have begun.
const STOPPED: [&str; 2] = [
    "the turn was stopped before this call",
    "the turn was stopped before this call ended",
];

/// Returns whether a result states that its call was not run. Such a call has no ambiguous effect, even if its error kind usually implies one.
fn says_not_run(text: &str) -> bool {
    STOPPED.contains(&text) || text.contains("so it was not run")
}

/// Reports ambiguous effects that no interrupted body explains, if no process died or was drained, every drive ended and no store had a fault. It is
/// called when no task runs.
pub(crate) async fn ambiguous(state: &Running<'_>) {
    let rows = Rows::read(&state.shared, &state.world, &state.users()).await;
    let facts = state.world.facts();
    if facts.deaths || facts.faults {
        return;
    }
    let mut doubts: BTreeMap<&Place, usize> = BTreeMap::new();
    for row in &rows.effects {
        // A row in the state `running` will become ambiguous, because its host no longer runs.
        if matches!(row.state, "ambiguous" | "running") {
            *doubts.entry(&row.place).or_default() += 1;
        }
    }
    let mut found = Vec::new();
    for (place, doubts) in doubts {
        let cut = facts
            .begins
            .iter()
            .filter(|begin| begin.place == *place && !begin.returned);
        let cut = cut.count();
        if doubts > cut {
            found.push(format!(
                "{place}: {doubts} effects are ambiguous and {cut} bodies were cut off"
            ));
        }
    }
    drop(facts);
    for what in found {
        state.world.violated("doubt_without_cause", what);
    }
}

/// Checks the stores after all runs have ended.
pub(crate) async fn check(state: &Running<'_>) {
    let rows = Rows::read(&state.shared, &state.world, &state.users()).await;
    let slots = slots(state.plan);
    texts(state, &rows);
    let mut places: Vec<&Place> = slots.keys().collect();
    let facts = state.world.facts();
    let extra = facts.begins.iter().map(|begin| &begin.place);
    places.extend(extra.filter(|place| !slots.contains_key(*place)));
    places.sort();
    places.dedup();
    let none = Slots::default();
    let mut found = Vec::new();
    let done = state.progress().done.clone();
    let mut missing = 0;
    for place in places {
        let at = PlaceData {
            place,
            slots: slots.get(place).unwrap_or(&none),
            facts: &facts,
            rows: &rows,
            plan: state.plan,
        };
        at.bodies(&mut found);
        at.ledger(&mut found);
        at.results(&mut found);
        at.approvals(&mut found);
        at.agreed(&done, &mut found);
        at.audit(&mut found);
        missing += at.audit_rows_missing() as u64;
    }
    // With `BestEffort`, either the audit has a row of a call, or the host has counted the row as lost.
    if state.plan.settings.audit == AuditMode::BestEffort
        && !facts.deaths
        && !facts.audit_hangs
        && missing > facts.uncounted
    {
        let counted = facts.uncounted;
        let what = format!("{missing} calls have no row, {counted} rows are counted as lost");
        found.push(("audit_uncounted", what));
    }
    drop(facts);
    messages(state, &rows, &mut found);
    for (invariant, what) in found {
        state.world.violated(invariant, what);
    }
}

/// Checks that audit rows, denied approvals, messages, ended runs and settled effects do not outlive their retention. This check removes rows, so it
/// must run last.
pub(crate) async fn retention(state: &Running<'_>) {
    let day = Some(Duration::from_hours(24));
    let retention = Retention {
        audit: day,
        approvals: day,
        effects: day,
        threads: day,
        runs: day,
        budgets: day,
        unassigned: day,
        switches: day,
    };
    let later = Timestamp::from_millis(START + 30 * 24 * 3_600_000);
    // A purge may leave data that only a removed row referred to; the next purge removes such data.
    for _ in 0..4 {
        for part in Part::ALL {
            let purged = state.shared.run(part, move |store| {
                Box::pin(async move { store.purge(&retention, later, 1_000).await })
            });
            if let Err(error) = purged.await {
                state.world.violated("kept_too_long", error.to_string());
            }
        }
    }
    let rows = Rows::read(&state.shared, &state.world, &state.users()).await;
    let runs = state.shared.run(Part::Work, |store| {
        Box::pin(async move { store.list_runs(Scope::All, &RunFilter::default()).await })
    });
    let settled = rows.effects.iter();
    let settled = settled.filter(|row| !matches!(row.state, "ambiguous" | "running"));
    let ended = runs.await.unwrap_or_default();
    let kept = [
        ("audit rows", rows.audit.len()),
        (
            "denied approvals",
            rows.approvals.iter().filter(|row| row.denied).count(),
        ),
        (
            "messages",
            rows.threads.iter().map(|(_, thread)| thread.len()).sum(),
        ),
        (
            "runs that ended",
            ended.iter().filter(|row| row.ended.is_some()).count(),
        ),
        (
            "settled effects",
            if rows.approvals.is_empty() {
                settled.count()
            } else {
                0
            },
        ),
    ];
    for (what, count) in kept.into_iter().filter(|(_, count)| *count > 0) {
        let what = format!("{count} {what} are left 29 days after their retention");
        state.world.violated("kept_too_long", what);
    }
}

/// Returns the calls in the models' messages and their nested calls, by place.
fn slots(plan: &Plan) -> BTreeMap<Place, Slots> {
    let mut slots: BTreeMap<Place, Slots> = BTreeMap::new();
    for (index, run) in plan.runs.iter().enumerate() {
        for (message, step) in run.script.iter().zip(1..) {
            for call in &message.calls {
                let place = |tool: &str| Place {
                    tenant: run.who.tenant.clone(),
                    conversation: run.who.conversation.clone(),
                    message: Some(Written { run: index, step }),
                    tool: tool.to_owned(),
                };
                let mark = mark(&call.arguments);
                for (nested, mark) in relayed_by(&call.tool).iter().zip(mark.iter().cycle()) {
                    let nested = &mut slots.entry(place(nested)).or_default().nested;
                    nested.push(format!("relay-{mark}"));
                }
                slots.entry(place(&call.tool)).or_default().calls.push(mark);
            }
        }
    }
    slots
}

/// Returns the mark that distinguishes calls of one message, if the arguments can be parsed.
fn mark(arguments: &str) -> Option<String> {
    let value: Value = serde_json::from_str(arguments).ok()?;
    match value.get("mark")? {
        Value::String(mark) => Some(mark.clone()),
        Value::Number(number) => Some(number.to_string()),
        // The repair of arguments replaces an array of one string by the string.
        Value::Array(values) => match &values[..] {
            [Value::String(mark)] => Some(mark.clone()),
            _ => None,
        },
        _ => None,
    }
}

type Found = Vec<(&'static str, String)>;

/// Counts the runs of bodies. For a repeatable tool, counts the keys of its calls instead.
fn counted<'a>(begins: impl Iterator<Item = &'a Begin>) -> usize {
    let mut keys = BTreeSet::new();
    begins
        .filter(|begin| !is_repeatable(&begin.place.tool) || keys.insert(&begin.key))
        .count()
}

/// All data that is needed to check one place.
struct PlaceData<'a> {
    place: &'a Place,
    slots: &'a Slots,
    facts: &'a Facts,
    rows: &'a Rows,
    plan: &'a Plan,
}

impl PlaceData<'_> {
    fn tool(&self) -> &str {
        &self.place.tool
    }

    fn reruns(&self) -> usize {
        self.facts.reruns.get(self.place).copied().unwrap_or(0)
    }

    fn begins(&self) -> impl Iterator<Item = &Begin> {
        let begins = self.facts.begins.iter();
        begins.filter(|begin| begin.place == *self.place)
    }

    /// Returns the number of effects that the receiver counts.
    fn effects(&self) -> usize {
        counted(self.begins().filter(|begin| begin.effect))
    }

    fn has_effects(&self) -> bool {
        is_tool(self.tool()) && !is_reader(self.tool()) && !is_relay(self.tool())
    }

    /// Checks that a body begins at most once for each call and once for each rerun by an operator.
    fn bodies(&self, found: &mut Found) {
        if !self.has_effects() {
            return;
        }
        let mut begun: BTreeMap<&str, Vec<&Begin>> = BTreeMap::new();
        for begin in self.begins() {
            begun.entry(&begin.mark).or_default().push(begin);
        }
        for (mark, begun) in begun {
            let begun = counted(begun.into_iter());
            let calls = self.slots.calls.iter().flatten();
            let asked = calls.chain(&self.slots.nested);
            let asked = asked.filter(|of| *of == mark).count();
            if begun > asked + self.reruns() {
                let what = format!(
                    "{} {mark} began {begun} times for {asked} calls",
                    self.place
                );
                found.push(("began_twice", what));
            }
        }
    }

    /// Checks that the ledger agrees with the receiver: a `succeeded` row has one effect, an `ambiguous` or `running` row and each rerun at most one,
    /// and a `failed` row none unless its run and an operator's resolution contradict each other.
    fn ledger(&self, found: &mut Found) {
        if !self.has_effects() || self.tool() == "fail" {
            return;
        }
        let rows = self.rows.effects.iter();
        let rows: Vec<(&str, bool)> = rows
            .filter(|row| row.place == *self.place)
            .map(|row| (row.state, row.late))
            .collect();
        let count = |state: &str| rows.iter().filter(|(of, _)| *of == state).count();
        // An operator with a wrong clock may settle a row while its body runs.
        let contradicted = rows.iter().filter(|row| **row == ("failed", true)).count();
        let (effects, succeeded) = (self.effects(), count("succeeded"));
        if succeeded > effects {
            let what = format!(
                "{}: {succeeded} rows succeeded, {effects} effects",
                self.place
            );
            found.push(("succeeded_without_effect", what));
        }
        let doubts = count("ambiguous") + count("running");
        let most = succeeded + doubts + contradicted + self.reruns();
        if effects > most {
            let what = format!("{}: {effects} effects, rows {rows:?}", self.place);
            found.push(("failed_with_effect", what));
        }
    }

    fn told(&self) -> impl Iterator<Item = &MessageSeen> {
        let threads = self.rows.threads.iter();
        let own = threads.filter(|(who, _)| {
            who.tenant == self.place.tenant && who.conversation == self.place.conversation
        });
        // Several users of one conversation read the same thread.
        let own = own.take(1).flat_map(|(_, messages)| messages);
        own.filter(|message| message.role == "tool" && message.place == *self.place)
    }

    /// Checks that the results that a model reads agree with the effects.
    fn results(&self, found: &mut Found) {
        let ok: Vec<&MessageSeen> = self.told().filter(|told| told.error.is_none()).collect();
        if self.has_effects() && self.tool() != "fail" {
            let effects = self.effects();
            let told = self.facts.told.iter();
            let nested = told.filter(|(place, _)| place == self.place).count();
            if ok.len() + nested > effects {
                let what = format!(
                    "{}: the model reads {} successes, tools read {nested}, {effects} effects",
                    self.place,
                    ok.len()
                );
                found.push(("told_success_without_effect", what));
            }
            let unsure = ["interrupted", "cancelled", "timed_out", "panicked"];
            let unsure = self
                .told()
                .filter(|told| !says_not_run(&told.text))
                .filter(|told| {
                    // This text reports a body whose effect happened and whose output was lost.
                    told.text.starts_with("the tool ran and took effect")
                        || told.error.as_deref().is_some_and(|of| unsure.contains(&of))
                })
                .count();
            let calls = self.slots.calls.len();
            let untold = calls.saturating_sub(self.told().count()) + self.slots.nested.len();
            if effects > ok.len() + unsure + untold + self.reruns() {
                let what = format!(
                    "{}: {effects} effects, the model reads {} successes and {unsure} doubts",
                    self.place,
                    ok.len()
                );
                found.push(("told_failure_with_effect", what));
            }
        }
        let mut open: Vec<&String> = self.slots.calls.iter().flatten().collect();
        for told in ok {
            let words: Vec<&str> = told.text.split_whitespace().collect();
            let ["sent" | "read", mark, ..] = words[..] else {
                continue;
            };
            if let Some(at) = open.iter().position(|of| *of == mark) {
                open.swap_remove(at);
            } else {
                let what = format!("{}: a call got the result of {mark}", self.place);
                found.push(("wrong_result", what));
            }
        }
        if is_relay(self.tool()) {
            self.outer(found);
        }
        self.refusals(found);
    }

    /// Checks that the refusal of an outer call states the effects of its nested calls.
    fn outer(&self, found: &mut Found) {
        let place = self.place;
        let (Some(written), [Some(mark)]) = (place.message, &self.slots.calls[..]) else {
            return;
        };
        // The mark identifies the nested calls only if the message has a single outer call.
        let run = self.plan.runs.get(written.run);
        let message = run.and_then(|run| run.script.get(written.step as usize - 1));
        let calls = message.into_iter().flat_map(|message| &message.calls);
        if calls.filter(|call| is_relay(&call.tool)).count() != 1 {
            return;
        }
        let nested = |tool: &str| Place {
            tool: tool.to_owned(),
            ..place.clone()
        };
        let nested: Vec<Place> = relayed_by(self.tool())
            .iter()
            .map(|of| nested(of))
            .collect();
        if nested.iter().any(|of| self.facts.reruns.contains_key(of)) {
            return;
        }
        let mark = format!("relay-{mark}");
        let effects = self.facts.begins.iter();
        let effects = effects
            .filter(|begin| begin.effect && begin.mark == mark && nested.contains(&begin.place))
            .count();
        let refused = |told: &&MessageSeen| {
            let of = told.error.as_deref().unwrap_or_default();
            let refused = [
                "denied",
                "unknown_tool",
                "rate_limited",
                "invalid_arguments",
            ];
            says_not_run(&told.text) || refused.contains(&of)
        };
        let hidden = self
            .told()
            .filter(refused)
            .find(|told| effects > 0 && !told.text.contains("that it made ha"));
        if let Some(told) = hidden {
            let what = format!(
                "{place}: {effects} calls that it made took effect, and the model reads: {}",
                told.text
            );
            found.push(("told_failure_with_effect", what));
        }
    }

    /// Checks that a call is not refused if the policy, the operators and the switches allow it.
    fn refusals(&self, found: &mut Found) {
        let denied = self
            .told()
            .filter(|told| told.error.as_deref() == Some("denied"));
        let approvals = self.rows.approvals.iter();
        let refused = approvals
            .filter(|row| row.place == *self.place && row.granted.is_none())
            .count();
        let explained = self.facts.switched.contains(self.tool()) || is_relay(self.tool());
        let denied = denied.count();
        if !explained && is_tool(self.tool()) && denied > refused {
            let what = format!(
                "{}: {denied} calls are denied, {refused} by people",
                self.place
            );
            found.push(("refused_without_cause", what));
        }
    }

    /// Checks that each run of a tool that needs approval has its own approval, which was granted for the same user and the same arguments, or that
    /// an operator requested the run.
    fn approvals(&self, found: &mut Found) {
        if !is_asked(self.tool()) {
            return;
        }
        let rows = self.rows.approvals.iter();
        let own = rows.filter(|row| row.place == *self.place && row.granted.is_some());
        let mut granted: Vec<&ApprovalSeen> = own.collect();
        let mut reruns = self.reruns();
        for begin in self.begins() {
            let same = |row: &&ApprovalSeen| {
                row.user == begin.user && row.granted.as_deref() == Some(&*begin.arguments)
            };
            if let Some(at) = granted.iter().position(same) {
                granted.swap_remove(at);
            } else if reruns > 0 {
                reruns -= 1;
            } else {
                let what = format!(
                    "{} {} ran for {} without its own approval",
                    self.place, begin.mark, begin.user
                );
                found.push(("ran_unapproved", what));
            }
        }
    }

    /// Checks that an approved call has run when its run has ended, unless a disturbed run of the conversation ([`Facts::disturbed`]), a fault of a
    /// store, a switch, a hook or a limit explains why it has not run.
    fn agreed(&self, done: &BTreeSet<usize>, found: &mut Found) {
        let place = self.place;
        let run = place.message.map_or(usize::MAX, |of| of.run);
        // Every request of the conversation may have driven the run.
        let mut disturbed = self.facts.disturbed.iter();
        let disturbed = disturbed.any(|index| {
            self.plan.runs.get(*index).is_some_and(|run| {
                (&run.who.tenant, &run.who.conversation) == (&place.tenant, &place.conversation)
            })
        });
        let switched =
            |tool: &str| self.facts.switched.contains(tool) || self.facts.hooked.contains(tool);
        // A nested call also does not run if its outer tool, or a tool that the outer tool calls first, was switched off or ended by a hook.
        let mut outer = NAMES
            .iter()
            .filter(|outer| relayed_by(outer).contains(&self.tool()));
        let switched = switched(self.tool())
            || outer.any(|outer| {
                switched(outer) || relayed_by(outer).iter().any(|tool| switched(tool))
            });
        let excused =
            disturbed || self.facts.faults || switched || self.plan.settings.limit.is_some();
        if !is_asked(self.tool()) || excused || !done.contains(&run) {
            return;
        }
        let rows = self.rows.approvals.iter();
        let granted = rows.filter(|row| row.place == *place && row.granted.is_some());
        // If the policy has changed, the gate requests another approval, so a call may have several approvals. Only the
        // answer to the last approval counts, and that answer may be a denial.
        let rows = self.rows.approvals.iter();
        let denied = rows.filter(|row| row.place == *place && row.denied);
        let denied: BTreeSet<&str> = denied.map(|row| row.call.as_str()).collect();
        let granted = granted.map(|row| row.call.as_str());
        let granted: BTreeSet<&str> = granted.filter(|call| !denied.contains(call)).collect();
        let (granted, begun) = (granted.len(), self.begins().count());
        // If the process died after the row of a call was written and before its body began, an operator has settled the row as `failed`.
        let rows = self.rows.effects.iter();
        let settled =
            rows.filter(|row| row.place == *place && row.settled && row.state == "failed");
        if granted > begun + settled.count() {
            let what = format!("{place}: {granted} calls were approved and {begun} ran");
            found.push(("approved_not_run", what));
        }
    }

    /// Returns the number of results of calls that reached the gate.
    fn told_by_gate(&self) -> usize {
        self.told()
            .filter(|told| !STOPPED.contains(&&*told.text))
            .count()
    }

    fn audit_rows_missing(&self) -> usize {
        let rows = self.rows.audit.iter();
        let rows = rows.filter(|row| row.place == *self.place).count();
        self.told_by_gate().saturating_sub(rows)
    }

    /// Checks, for a required audit and without faults of stores, that each result of the gate has an audit row, that there are no more rows than
    /// calls, and that each row has an outcome unless a process died or was drained or a drive did not end.
    fn audit(&self, found: &mut Found) {
        let excused = self.facts.faults || self.facts.deaths;
        if self.plan.settings.audit != AuditMode::Required || self.facts.faults {
            return;
        }
        let rows = self.rows.audit.iter();
        let rows: Vec<_> = rows.filter(|row| row.place == *self.place).collect();
        let (told, missing) = (self.told_by_gate(), self.audit_rows_missing());
        if missing > 0 {
            let what = format!("{}: {told} results, {} rows", self.place, rows.len());
            found.push(("audit_missing", what));
        }
        // If a nested call was refused before it was claimed, the next attempt of its outer call makes a new nested call with another row.
        let nested = self.slots.nested.len() * self.plan.settings.attempts as usize;
        let most = self.slots.calls.len() + nested + self.reruns();
        if rows.len() > most {
            let what = format!("{}: {most} calls, {} rows", self.place, rows.len());
            found.push(("audit_doubled", what));
        }
        let open = rows.iter().filter(|row| row.outcome.is_none()).count();
        if open > 0 && !excused {
            let what = format!("{}: {open} rows have no outcome", self.place);
            found.push(("audit_open", what));
        }
    }
}

/// Checks that no row of the ledger, the audit or the threads contains a secret or a text of a different conversation.
fn texts(state: &Running<'_>, rows: &Rows) {
    let who = |place: &Place| User {
        tenant: place.tenant.clone(),
        user: String::new(),
        conversation: place.conversation.clone(),
    };
    for row in &rows.effects {
        state.world.seen(&who(&row.place), "the ledger", &row.text);
    }
    for row in &rows.audit {
        let mut who = who(&row.place);
        who.user.clone_from(&row.user);
        state.world.seen(&who, "the audit", &row.text);
    }
    for (who, messages) in &rows.threads {
        for message in messages {
            state.world.seen(who, "the thread", &message.content);
        }
    }
}

/// Checks that no message of a run is stored twice, and that the thread of a run that has ended has each message and a result for each call.
fn messages(state: &Running<'_>, rows: &Rows, found: &mut Found) {
    let done = state.progress().done.clone();
    for index in state.driven() {
        let run = &state.plan.runs[index];
        let thread = rows.threads.iter().find(|(who, _)| *who == run.who);
        let Some((_, thread)) = thread else { continue };
        // The model answers only messages that were stored.
        let begun = thread.iter().any(|of| of.begins == Some(index));
        for (message, step) in run.script.iter().zip(1..) {
            let place = Written { run: index, step };
            let own = |of: &&MessageSeen| of.place.message == Some(place);
            let said = thread.iter().filter(|of| of.role == "assistant");
            let said = said.filter(own).count();
            if said > 1 {
                let what = format!("{} {place} is stored {said} times", run.who);
                found.push(("message_twice", what));
            }
            if begun && done.contains(&index) && said == 0 {
                let what = format!("{} {place} was never written", run.who);
                found.push(("unanswered", what));
            }
            let told = thread.iter().filter(|of| of.role == "tool");
            let told = told.filter(own).count();
            if done.contains(&index) && said == 1 && told != message.calls.len() {
                let calls = message.calls.len();
                let what = format!("{} {place}: {calls} calls, {told} results", run.who);
                found.push(("result_missing", what));
            }
        }
    }
}
