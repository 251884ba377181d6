//! Generation of random plans from seeds.

use crate::plan::{
    Action, AuditMode, Call, Fault, HookFault, Message, Plan, PlannedReply, Run, Settings, User,
    What,
};
use crate::random::Random;
use crate::tools::NAMES;

/// Returns the plan of a seed.
pub fn plan(seed: u64) -> Plan {
    let mut random = Random::new(seed);
    let random = &mut random;
    let settings = Settings {
        hosts: 1 + random.below(2),
        audit: if random.percent(75) {
            AuditMode::Required
        } else {
            AuditMode::BestEffort
        },
        attempts: 1,
        parallel: 1 + random.below(3),
        ..Settings::default()
    };
    let mut runs = runs(random);
    let mut actions = actions(random, &settings, &runs);
    let schedule = random.number();
    // Generate newer parts last, so that the other parts of the plan of a seed stay the same.
    let switches = random.percent(20);
    if switches {
        store_kills(random, &settings, &runs, &mut actions);
    }
    let one_database = random.percent(50);
    let apart = random.percent(15);
    if random.percent(8) {
        let at = u64::try_from(random.below(400)).unwrap_or(0);
        let millis = 5 + u64::try_from(random.below(300)).unwrap_or(0);
        let what = What::Full { millis };
        actions.push(Action { at, what });
        actions.sort_by_key(|action| action.at);
    }
    if random.percent(20) {
        other_users(random, &mut runs);
    }
    if random.percent(20) {
        stopped_drives(random, &settings, &runs, &mut actions);
    }
    let agents = random.percent(15);
    let limit = random.percent(15).then(|| *random.pick(&[1, 2]));
    let attempts = if random.percent(15) { 2 } else { 1 };
    if random.percent(15) {
        repeatable(random, &mut runs);
    }
    let respond = random.percent(25);
    if random.percent(20) {
        taken_back(random, &settings, &runs, &mut actions);
    }
    if random.percent(15) {
        rare_faults(random, &settings, &mut actions);
    }
    Plan {
        schedule,
        settings: Settings {
            switches,
            one_database: one_database && !apart,
            apart,
            agents,
            limit,
            attempts,
            respond,
            ..settings
        },
        runs,
        actions,
        ..Plan::default()
    }
}

/// Makes a repeatable tool send some of the messages.
fn repeatable(random: &mut Random, runs: &mut [Run]) {
    let messages = runs.iter_mut().flat_map(|run| &mut run.script);
    let calls = messages.flat_map(|message| &mut message.calls);
    for call in calls.filter(|call| call.tool.starts_with("send")) {
        if random.percent(40) {
            "send_again".clone_into(&mut call.tool);
        }
    }
}

/// Makes operators revoke approvals and remove switches.
fn taken_back(random: &mut Random, settings: &Settings, runs: &[Run], actions: &mut Vec<Action>) {
    for _ in 0..=random.below(3) {
        let (run, host) = (random.below(runs.len()), random.below(settings.hosts));
        let what = if random.percent(50) {
            What::Revoke { run, host }
        } else {
            let tool = a_tool(random, &runs[run]);
            What::Enable { host, tool }
        };
        let at = u64::try_from(random.below(1_500)).unwrap_or(0);
        actions.push(Action { at, what });
    }
    actions.sort_by_key(|action| action.at);
}

/// Adds faults of operations that calls rarely use.
fn rare_faults(random: &mut Random, settings: &Settings, actions: &mut Vec<Action>) {
    for _ in 0..=random.below(2) {
        let op = *random.pick(&[
            "ledger.resolve",
            "ledger.sweep",
            "ledger.page",
            "approval.get",
            "approval.withdraw",
            "approval.expire",
            "run.list",
            "run.stop",
            "switch.set",
            "switch.version",
            "switch.in_force",
            "spill.put",
        ]);
        let fault = *random.pick(&[
            Fault::Before,
            Fault::Lost,
            Fault::SlowBefore(40),
            Fault::SlowAfter(40),
            Fault::Hang,
        ]);
        let what = What::Store {
            host: random.below(settings.hosts),
            op: op.to_owned(),
            fault,
            times: 1 + u32::from(random.percent(30)),
        };
        let at = u64::try_from(random.below(1_500)).unwrap_or(0);
        actions.push(Action { at, what });
    }
    actions.sort_by_key(|action| action.at);
}

/// Assigns a random user to each run, so that runs of one conversation may have different users.
fn other_users(random: &mut Random, runs: &mut [Run]) {
    for run in runs {
        let user = *random.pick(&["ann", "bob"]);
        run.who.user = String::from(user);
    }
}

/// Adds drives that are stopped before they begin.
fn stopped_drives(
    random: &mut Random,
    settings: &Settings,
    runs: &[Run],
    actions: &mut Vec<Action>,
) {
    for _ in 0..=random.below(3) {
        let at = u64::try_from(random.below(1_500)).unwrap_or(0);
        let what = What::Drive {
            run: random.below(runs.len()),
            host: random.below(settings.hosts),
            dropped_after: None,
            deadline: None,
            stopped: true,
        };
        actions.push(Action { at, what });
    }
    actions.sort_by_key(|action| action.at);
}

/// Generates runs whose users and conversations may have equal names, within a workspace and across workspaces.
fn runs(random: &mut Random) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for _ in 0..=random.below(3) {
        let tenant = *random.pick(&["acme", "acme", "globex"]);
        let user = *random.pick(&["ann", "bob"]);
        let conversation = *random.pick(&["main", "side"]);
        let who = User {
            tenant: tenant.to_owned(),
            // The conversation determines the user; `other_users` may change the user later.
            user: runs
                .iter()
                .find(|run| run.who.tenant == tenant && run.who.conversation == conversation)
                .map_or_else(|| user.to_owned(), |run| run.who.user.clone()),
            conversation: conversation.to_owned(),
        };
        let script = (0..=random.below(2)).map(|_| message(random)).collect();
        runs.push(Run { who, script });
    }
    runs
}

fn message(random: &mut Random) -> Message {
    let calls = 1 + random.below(3);
    Message {
        calls: (0..calls).map(|at| call(random, at)).collect(),
    }
}

fn call(random: &mut Random, at: usize) -> Call {
    let id = match random.below(10) {
        0 => String::new(),
        1 => "y".to_owned(),
        2 => format!("y#{}", random.below(3)),
        3 => "call_0".to_owned(),
        // This is the id that the gate assigns to the first nested call of `call_0`.
        4 => "call_0/0:".to_owned(),
        _ => format!("call_{at}"),
    };
    // Pick one of the three plain tools more often than the others.
    let tool = match random.below(3) {
        0 => *random.pick(&["send", "send_asked", "read_note"]),
        _ => *random.pick(&NAMES),
    };
    let mark = format!("m{}", random.below(2));
    let note = match tool {
        "send_verbose" => *random.pick(&["", "long"]),
        "send_checked" => *random.pick(&["", "odd"]),
        "send_and_panic" => *random.pick(&["after", "before"]),
        "send_and_hang" => *random.pick(&["", "before"]),
        "leak" => *random.pick(&[
            "output", "hex", "trimmed", "api_key", "citation", "progress", "note", "action",
        ]),
        _ => *random.pick(&["", "", "{sentinel}"]),
    };
    let (tool, arguments) = match random.below(20) {
        0 => (tool, format!("{{\"mark\":\"{mark}\"")),
        1 => (tool, format!("{{\"mark\":[\"{mark}\"],\"note\":7}}")),
        2 => ("no_such_tool", "{}".to_owned()),
        _ => (tool, format!("{{\"mark\":\"{mark}\",\"note\":\"{note}\"}}")),
    };
    Call {
        id,
        tool: tool.to_owned(),
        arguments,
    }
}

fn actions(random: &mut Random, settings: &Settings, runs: &[Run]) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut push = |at: u64, what: What| actions.push(Action { at, what });
    let time = |random: &mut Random, end: usize| u64::try_from(random.below(end)).unwrap_or(0);
    for run in 0..runs.len() {
        for drive in 0..=random.below(3) {
            let host = random.below(settings.hosts);
            let at = time(random, 200) + u64::try_from(drive).unwrap_or(0) * 300;
            let dropped_after = random.percent(15);
            let dropped_after =
                dropped_after.then(|| 1 + u32::try_from(random.below(60)).unwrap_or(0));
            let deadline = random.percent(5).then(|| time(random, 60));
            push(
                at,
                What::Drive {
                    run,
                    host,
                    dropped_after,
                    deadline,
                    stopped: false,
                },
            );
        }
    }
    for _ in 0..random.below(8) {
        // Most actions happen while the hosts handle the first requests.
        let at = if random.percent(60) {
            time(random, 300)
        } else {
            time(random, 1200)
        };
        let (run, host) = (random.below(runs.len()), random.below(settings.hosts));
        let tool = a_tool(random, &runs[run]);
        push(
            at,
            match random.below(24) {
                0..=3 => What::Answer {
                    run,
                    host,
                    reply: *random.pick(&[
                        PlannedReply::Approve,
                        PlannedReply::Approve,
                        PlannedReply::Edit,
                        PlannedReply::Deny,
                    ]),
                    times: 1 + u32::from(random.percent(20)),
                },
                4 => What::Inbox { run, host },
                5 => What::Resume {
                    token_of: random.below(runs.len()),
                    by: run,
                    host,
                },
                6 => What::Write { run },
                7 => What::Stop { run },
                8 => What::Resolve {
                    host,
                    rerun: random.percent(30),
                },
                9 => What::Kill { host, tool },
                10 => What::Disable { host, tool },
                11 => What::Deny { host, tool },
                12 => What::Crash { host },
                13 => What::Start { host },
                14 => What::Drain {
                    host,
                    patience: 50 + time(random, 1000),
                },
                15 => What::Clock {
                    host,
                    by: *random.pick(&[-3_600_000, -10_000, 10_000, 3_600_000]),
                },
                16..=19 => store_fault(random, host),
                20 | 21 => What::Leave { run },
                _ => What::Hook {
                    host,
                    fault: *random.pick(&[
                        HookFault::FailsAfter,
                        HookFault::PanicsAfter,
                        HookFault::FailsBefore,
                        HookFault::PanicsBefore,
                    ]),
                },
            },
        );
    }
    if random.percent(25) {
        switch_while_slow(random, settings, runs, &mut actions);
    }
    actions.sort_by_key(|action| action.at);
    actions
}

/// Adds actions that store kill switches.
fn store_kills(random: &mut Random, settings: &Settings, runs: &[Run], actions: &mut Vec<Action>) {
    for _ in 0..=random.below(2) {
        let (run, host) = (random.below(runs.len()), random.below(settings.hosts));
        let tool = a_tool(random, &runs[run]);
        let at = u64::try_from(random.below(1_500)).unwrap_or(0);
        let what = What::StoreKill { host, tool };
        actions.push(Action { at, what });
    }
    actions.sort_by_key(|action| action.at);
}

/// Kills, disables or denies a tool while an operation of the store is slow.
fn switch_while_slow(
    random: &mut Random,
    settings: &Settings,
    runs: &[Run],
    actions: &mut Vec<Action>,
) {
    let run = random.below(runs.len());
    let host = random.below(settings.hosts);
    let tool = a_tool(random, &runs[run]);
    let slow = if random.percent(50) {
        Fault::SlowBefore(60)
    } else {
        Fault::SlowAfter(60)
    };
    let op = *random.pick(&["ledger.begin", "approval.spend", "audit.write"]);
    let what = [
        What::Drive {
            run,
            host,
            dropped_after: None,
            deadline: None,
            stopped: false,
        },
        What::Store {
            host,
            op: op.to_owned(),
            fault: slow,
            times: 1,
        },
        match random.below(3) {
            0 => What::Kill { host, tool },
            1 => What::Disable { host, tool },
            _ => What::Deny { host, tool },
        },
    ];
    let at = 20 + u64::try_from(random.below(40)).unwrap_or(0);
    let actions_at = [0, 0, at];
    let each = actions_at.into_iter().zip(what);
    actions.extend(each.map(|(at, what)| Action { at, what }));
}

/// Picks a tool that the model calls in a run.
fn a_tool(random: &mut Random, run: &Run) -> String {
    let calls: Vec<&Call> = run.script.iter().flat_map(|of| &of.calls).collect();
    random.pick(&calls).tool.clone()
}

fn store_fault(random: &mut Random, host: usize) -> What {
    let op = *random.pick(&[
        "ledger.begin",
        "ledger.close",
        "ledger.end",
        "ledger.get",
        "ledger.renew",
        "audit.write",
        "approval.open",
        "approval.spend",
        "approval.list",
        "approval.answer",
        "run.begin",
        "run.end",
        "run.get",
        "run.renew",
        "thread.append",
        "thread.read",
    ]);
    let slow = 5 + u64::try_from(random.below(60)).unwrap_or(0);
    let fault = match random.below(8) {
        0 | 1 => Fault::Before,
        2 | 3 => Fault::Lost,
        4 => Fault::SlowBefore(slow),
        5 => Fault::SlowAfter(slow),
        6 => Fault::Hang,
        // Operations on threads are not part of a call, so they do not panic.
        _ if op.starts_with("thread") => Fault::Before,
        _ => Fault::Panic,
    };
    What::Store {
        host,
        op: op.to_owned(),
        fault,
        times: 1 + u32::from(random.percent(20)),
    }
}

/// Returns the same plan with conversation names that are unique across workspaces, and call ids that are unique within a run. If an invariant still
/// fires, colliding names are not the cause.
pub fn with_unique_names(mut plan: Plan) -> Plan {
    for run in &mut plan.runs {
        run.who.conversation = format!("{}-{}", run.who.tenant, run.who.conversation);
        for (step, message) in run.script.iter_mut().enumerate() {
            for (at, call) in message.calls.iter_mut().enumerate() {
                call.id = format!("call-{step}-{at}");
            }
        }
    }
    plan
}
