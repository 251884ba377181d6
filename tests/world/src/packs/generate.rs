//! Generation of random plans from seeds.

use crate::plan::{Fault, User};
use crate::random::Random;

use super::{Action, Plan, What};

/// The operations that may have a fault: requests to the model, and operations of a store. An operation that is listed several times is picked more
/// often.
const OPERATIONS: [&str; 17] = [
    "model",
    "model",
    "model",
    "memory.remember",
    "memory.read_words",
    "maintenance.erase",
    "plan.create",
    "plan.replace",
    "plan.change",
    "schedule.create",
    "schedule.update",
    "schedule.claim",
    "schedule.end",
    "schedule.list_ready",
    "ledger.end",
    "thread.append",
    "run.begin",
];

/// The length of the part of a run in which most actions happen, in milliseconds. Processes that have died may start again later.
const LENGTH: usize = 200_000;

/// Returns the plan of a seed.
pub fn plan(seed: u64) -> Plan {
    let mut random = Random::new(seed);
    let random = &mut random;
    let hosts = 1 + random.below(3);
    let mut actions = Vec::new();
    for _ in 0..=random.below(2) {
        memories(random, hosts, &mut actions);
    }
    if random.percent(70) {
        plans(random, hosts, &mut actions);
    }
    if random.percent(70) {
        schedules(random, hosts, &mut actions);
    }
    if random.percent(20) {
        let what = What::Erase { who: user(random) };
        actions.push(action(random, hosts, what));
    }
    if random.percent(60) {
        deaths(random, hosts, &mut actions);
    }
    if random.percent(30) {
        faults(random, hosts, &mut actions);
    }
    actions.sort_by_key(|action| action.at);
    Plan {
        story: String::new(),
        expect: None,
        schedule: random.number(),
        hosts,
        actions,
    }
}

/// Returns a user. Two workspaces have users and agents of the same names.
fn user(random: &mut Random) -> User {
    let mut name = |names: &[&str]| (*random.pick(names)).to_owned();
    User {
        tenant: name(&["acme", "umbrella"]),
        user: name(&["ann", "bob"]),
        conversation: name(&["sales", "support"]),
    }
}

fn time(random: &mut Random, most: usize) -> u64 {
    u64::try_from(random.below(most)).unwrap_or_default()
}

fn action(random: &mut Random, hosts: usize, what: What) -> Action {
    Action {
        at: time(random, LENGTH),
        host: random.below(hosts),
        what,
    }
}

/// Makes agents remember and search texts about one topic on several hosts within 20 ms, and operators remove memories.
fn memories(random: &mut Random, hosts: usize, actions: &mut Vec<Action>) {
    let at = time(random, LENGTH);
    let topic = u32::try_from(random.below(3)).unwrap_or_default();
    for _ in 0..2 + random.below(5) {
        let who = user(random);
        let what = match random.below(10) {
            0..=4 => What::Remember {
                who,
                topic,
                shared: random.percent(40),
                respelled: random.percent(40),
            },
            5..=8 => What::Search { who, topic },
            _ => What::Forget {
                who,
                shared: random.percent(30),
            },
        };
        actions.push(Action {
            at: at + time(random, 20),
            host: random.below(hosts),
            what,
        });
    }
}

/// Makes several processes work on the plan of one conversation.
fn plans(random: &mut Random, hosts: usize, actions: &mut Vec<Action>) {
    let who = user(random);
    let from = time(random, LENGTH / 4);
    let mut add = |random: &mut Random, at, what| {
        let host = random.below(hosts);
        actions.push(Action { at, host, what });
    };
    for _ in 0..=random.below(3) {
        let at = from + time(random, 10);
        add(random, at, What::Create { who: who.clone() });
    }
    for _ in 0..2 + random.below(10) {
        let at = from + time(random, LENGTH / 2);
        let who = who.clone();
        let what = match random.below(12) {
            0 => What::Create { who },
            1 => What::Replace { who },
            2 => What::Read { who },
            3 | 4 => What::Resume { who },
            _ => What::Work {
                who,
                node: random.below(2),
                fenced: random.percent(50),
            },
        };
        // Some work happens at the same time on another host.
        if random.percent(30) {
            let also = at + time(random, 10);
            add(random, also, what.clone());
        }
        add(random, at, what);
    }
}

/// Makes agents schedule tasks, and changes the tasks.
fn schedules(random: &mut Random, hosts: usize, actions: &mut Vec<Action>) {
    for _ in 0..=random.below(2) {
        let who = user(random);
        let every = random.percent(50).then(|| 60 * (1 + time(random, 20)));
        let keep_history = random.percent(30);
        let at = time(random, LENGTH / 2);
        let schedule = What::Schedule {
            who: who.clone(),
            every,
            keep_history,
        };
        let host = random.below(hosts);
        let what = schedule;
        actions.push(Action { at, host, what });
        for _ in 0..random.below(3) {
            let who = who.clone();
            let what = match random.below(6) {
                0..=2 => What::Rename { who },
                3 | 4 => What::RunNow { who },
                _ => What::Delete { who },
            };
            let at = at + 1_000 + time(random, LENGTH / 2);
            let host = random.below(hosts);
            actions.push(Action { at, host, what });
        }
    }
}

/// Kills processes, and starts most of them again.
fn deaths(random: &mut Random, hosts: usize, actions: &mut Vec<Action>) {
    let creates_task = |action: &&Action| matches!(action.what, What::Schedule { .. });
    let schedules: Vec<u64> = actions
        .iter()
        .filter(creates_task)
        .map(|of| of.at)
        .collect();
    for _ in 0..=random.below(4) {
        if !schedules.is_empty() && random.percent(50) {
            let at = *random.pick(&schedules);
            deaths_in_runs(random, hosts, at, actions);
            continue;
        }
        // 60 % of the other deaths follow a random action, so that they interrupt its work.
        let (host, at) = if actions.is_empty() || random.percent(40) {
            (random.below(hosts), time(random, LENGTH))
        } else {
            let after = random.pick(actions);
            let (host, at) = (after.host, after.at);
            let later = *random.pick(&[12, 60, 8_000]);
            (host, at + time(random, later))
        };
        let what = What::Crash;
        actions.push(Action { at, host, what });
        if random.percent(80) {
            let at = at + 1 + time(random, 80_000);
            let what = What::Start;
            actions.push(Action { at, host, what });
        }
    }
}

/// Kills the process that drives the next run of a task, and starts it again later.
fn deaths_in_runs(random: &mut Random, hosts: usize, at: u64, actions: &mut Vec<Action>) {
    // Most runs take 2 to 8 seconds.
    let after = time(random, 6_000);
    let what = What::CrashInRun { after };
    actions.push(Action { at, host: 0, what });
    // Only a host whose process has died starts.
    let again = at + 40_000 + time(random, 80_000);
    for host in 0..hosts {
        let (at, what) = (again, What::Start);
        actions.push(Action { at, host, what });
    }
}

/// Adds faults of operations, and jumps of clocks.
fn faults(random: &mut Random, hosts: usize, actions: &mut Vec<Action>) {
    for _ in 0..=random.below(3) {
        let what = if random.percent(15) {
            What::Clock {
                by: *random.pick(&[-30_000, 30_000, 90_000]),
            }
        } else {
            What::Store {
                op: (*random.pick(&OPERATIONS)).to_owned(),
                fault: *random.pick(&[
                    Fault::Before,
                    Fault::Lost,
                    Fault::SlowBefore(300),
                    Fault::SlowAfter(300),
                    Fault::SlowAfter(70_000),
                    Fault::Hang,
                ]),
            }
        };
        actions.push(action(random, hosts, what));
    }
}
