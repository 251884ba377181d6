//! Due times across changes of the clock, in three zones.

use tool_core::store::{TaskTiming, Timestamp};
use tool_std::schedule::{TimingError, next_due};

use crate::clock::{Clock, time};
use crate::support::{Runner, created};

fn cron(expression: &str, timezone: &str) -> TaskTiming {
    TaskTiming::Cron {
        expression: expression.to_owned(),
        timezone: timezone.to_owned(),
    }
}

/// Returns the due times after a time.
fn dues(timing: &TaskTiming, from: &str, count: usize) -> Vec<Timestamp> {
    let mut at = time(from);
    let mut dues = Vec::new();
    for _ in 0..count {
        at = next_due(timing, at).unwrap().unwrap();
        dues.push(at);
    }
    dues
}

/// Schedules with the due times around a change of the clock: zone, expression, start, due times in UTC. The comment above each schedule states its
/// rule.
const CHANGES: [(&str, &str, &str, &[&str]); 11] = [
    // A fixed time in the skipped hour runs at the first instant after it.
    (
        "Europe/Berlin",
        "30 2 * * *",
        "2026-03-28T00:00:00Z",
        &[
            "2026-03-28T01:30:00Z",
            "2026-03-29T01:00:00Z",
            "2026-03-30T00:30:00Z",
        ],
    ),
    (
        "America/New_York",
        "30 2 * * *",
        "2026-03-07T00:00:00Z",
        &[
            "2026-03-07T07:30:00Z",
            "2026-03-08T07:00:00Z",
            "2026-03-09T06:30:00Z",
        ],
    ),
    // In Cairo, the skipped hour begins at midnight.
    (
        "Africa/Cairo",
        "0 0 * * *",
        "2026-04-22T12:00:00Z",
        &[
            "2026-04-22T22:00:00Z",
            "2026-04-23T22:00:00Z",
            "2026-04-24T21:00:00Z",
        ],
    ),
    // A fixed time that occurs twice runs the first time.
    (
        "Europe/Berlin",
        "30 2 * * *",
        "2026-10-24T00:00:00Z",
        &[
            "2026-10-24T00:30:00Z",
            "2026-10-25T00:30:00Z",
            "2026-10-26T01:30:00Z",
        ],
    ),
    (
        "America/New_York",
        "30 1 * * *",
        "2026-10-31T00:00:00Z",
        &[
            "2026-10-31T05:30:00Z",
            "2026-11-01T05:30:00Z",
            "2026-11-02T06:30:00Z",
        ],
    ),
    (
        "Africa/Cairo",
        "30 23 * * *",
        "2026-10-28T12:00:00Z",
        &[
            "2026-10-28T20:30:00Z",
            "2026-10-29T20:30:00Z",
            "2026-10-30T21:30:00Z",
        ],
    ),
    (
        "Africa/Cairo",
        "0 0 * * *",
        "2026-10-28T12:00:00Z",
        &[
            "2026-10-28T21:00:00Z",
            "2026-10-29T22:00:00Z",
            "2026-10-30T22:00:00Z",
        ],
    ),
    // An hourly schedule runs at each hour that exists on the day.
    (
        "Europe/Berlin",
        "0 * * * *",
        "2026-03-28T23:30:00Z",
        &[
            "2026-03-29T00:00:00Z",
            "2026-03-29T01:00:00Z",
            "2026-03-29T02:00:00Z",
        ],
    ),
    (
        "Europe/Berlin",
        "0 * * * *",
        "2026-10-24T23:30:00Z",
        &[
            "2026-10-25T00:00:00Z",
            "2026-10-25T01:00:00Z",
            "2026-10-25T02:00:00Z",
        ],
    ),
    (
        "Africa/Cairo",
        "0 * * * *",
        "2026-10-29T19:30:00Z",
        &[
            "2026-10-29T20:00:00Z",
            "2026-10-29T21:00:00Z",
            "2026-10-29T22:00:00Z",
        ],
    ),
    // A time that is close to a change of the clock runs once.
    (
        "Europe/Berlin",
        "0 0 * * *",
        "2026-03-28T12:00:00Z",
        &[
            "2026-03-28T23:00:00Z",
            "2026-03-29T22:00:00Z",
            "2026-03-30T22:00:00Z",
        ],
    ),
];

// The schedule of a task follows the clock of its zone across both changes of a year. In Cairo, the clock changes at midnight.
#[test]
fn due_times_follow_the_changes_of_the_clock() {
    for (zone, expression, from, expected) in CHANGES {
        let expected: Vec<_> = expected.iter().map(|text| time(text)).collect();
        let found = dues(&cron(expression, zone), from, expected.len());
        assert_eq!(found, expected, "`{expression}` in {zone}");
    }
}

// A search from any time around the changes, in steps of 7 minutes, finds the same due times, so a task neither runs twice nor misses a run.
#[test]
fn due_times_do_not_depend_on_the_start_of_the_search() {
    for (zone, expression, from, _) in CHANGES {
        let timing = cron(expression, zone);
        let all = dues(&timing, from, 12);
        let mut rest = &all[..];
        let mut at = time(from);
        while let Some(next) = rest.first() {
            assert_eq!(
                next_due(&timing, at).unwrap(),
                Some(*next),
                "`{expression}` in {zone} from {at:?}"
            );
            at = Timestamp::from_millis(at.as_millis() + 60_000 * 7);
            rest = &all[all.partition_point(|due| *due <= at)..];
        }
    }
}

// With an injected clock that moves through a year, a daily task in each zone runs once on each day, and on no day twice.
#[tokio::test]
async fn daily_task_runs_once_on_each_day_of_a_year() {
    for zone in ["Europe/Berlin", "America/New_York", "Africa/Cairo"] {
        for expression in ["30 2 * * *", "0 0 * * *", "30 1 * * *"] {
            let (clock, _entered) = Clock::at("2026-01-01T12:00:00Z");
            let runner = Runner::default();
            let (store, scheduler) = created(&runner, cron(expression, zone)).await;
            let mut runs = 0;
            for _ in 0..365 * 2 {
                clock.pass(std::time::Duration::from_hours(12));
                runs += scheduler.run_due().await;
            }
            let dues = runner.dues();
            assert_eq!((runs, dues.len()), (365, 365), "`{expression}` in {zone}");
            assert!(dues.windows(2).all(|pair| pair[0] < pair[1]));
            drop(store);
        }
    }
}

// Faulty schedules are refused, with a text that says what to write.
#[test]
fn faulty_schedules_are_refused() {
    let now = time("2026-01-01T00:00:00Z");
    for expression in [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "0 9 * * MOO",
        "@",
        "0 9 * * 8",
    ] {
        let error = next_due(&cron(expression, "UTC"), now).unwrap_err();
        assert!(
            matches!(error, TimingError::Cron { .. }),
            "`{expression}`: {error}"
        );
        assert!(error.to_string().contains("write five fields"), "{error}");
    }
    let error = next_due(&cron("0 9 * * *", "Berlin"), now).unwrap_err();
    assert_eq!(error, TimingError::Timezone("Berlin".to_owned()));
    assert_eq!(
        next_due(&cron("0 0 30 2 *", "UTC"), now),
        Ok(None),
        "30 February"
    );
    let once = TaskTiming::Once { at: now };
    assert_eq!(next_due(&once, now), Ok(None));
}
