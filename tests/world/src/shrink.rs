//! Reduction of a failing plan to a small plan.

use crate::plan::Plan;
use crate::run::{StoreKind, run};

/// The maximum number of runs for shrinking a plan.
const TRIES: usize = 3_000;

/// Returns the smallest plan that was found for which the invariant fires with a message that contains `text`.
pub fn shrink(plan: &Plan, invariant: &str, text: &str, kind: StoreKind) -> Plan {
    let mut tries = 0;
    let mut best = plan.clone();
    let mut fires = |plan: &Plan| {
        tries += 1;
        tries <= TRIES && run(plan, kind).is_ok_and(|report| report.reports(invariant, text))
    };
    loop {
        let smaller = candidates(&best).into_iter().find(|plan| fires(plan));
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Returns the plans that result from removing or simplifying one element.
fn candidates(plan: &Plan) -> Vec<Plan> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Plan)| {
        let mut smaller = plan.clone();
        change(&mut smaller);
        if smaller != *plan {
            all.push(smaller);
        }
    };
    for at in 0..plan.actions.len() {
        add(&|plan| drop(plan.actions.remove(at)));
    }
    for run in 0..plan.runs.len() {
        if plan.runs.len() > 1 {
            add(&|plan| without_run(plan, run));
        }
        for message in 0..plan.runs[run].script.len() {
            add(&|plan| drop(plan.runs[run].script.remove(message)));
            for call in 0..plan.runs[run].script[message].calls.len() {
                add(&|plan| drop(plan.runs[run].script[message].calls.remove(call)));
                add(&|plan| plan.runs[run].script[message].calls[call].simplify());
            }
        }
    }
    add(&|plan| plan.settings.hosts = 1);
    add(&|plan| plan.settings.parallel = 1);
    for at in 0..plan.actions.len() {
        add(&|plan| plan.actions[at].at = plan.actions[at].at / 100 * 100);
        add(&|plan| plan.actions[at].what.simplify());
    }
    add(&|plan| plan.schedule = 0);
    all
}

/// Removes a run and the actions that refer to it.
fn without_run(plan: &mut Plan, gone: usize) {
    plan.runs.remove(gone);
    plan.actions.retain_mut(|action| {
        action.what.runs_mut().into_iter().all(|run| {
            if *run > gone {
                *run -= 1;
                return true;
            }
            *run != gone
        })
    });
}
