//! The cost of agents: a step of a run, the first event of a reply, conversations that wait, a thousand turns at once, and workers on a queue.
//!
//! `agents step` counts the instructions of a step of `Turns` and of `AgentRuntime` with callgrind. `agents first-event`, `agents waiting`,
//! `agents turns` and `agents workers [postgres://…]` measure times and memory. The provider, each library and each worker run in separate processes.

mod first_event;
mod provider;
mod step;
mod turns;
mod waiting;
mod workers;

use std::process::{Child, Command};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match &words[..] {
        ["step"] => step::report(),
        ["step", which, messages, steps] => step::run(which, number(messages), number(steps)),
        ["provider"] => provider::serve(),
        ["first-event", rest @ ..] => first_event::report(rest.first().map_or(500, |count| number(count))),
        ["waiting", rest @ ..] => waiting::report(rest.first().map_or(10_000, |count| number(count))),
        ["turns", rest @ ..] => turns::report(rest.first().map_or(1_000, |count| number(count))),
        ["turn-client", library, address, count] => turns::client(library, address, number(count)),
        ["workers", rest @ ..] => workers::report(rest.first().copied()),
        ["worker", store] => workers::work(store),
        _ => println!("agents step|first-event|waiting|turns|workers"),
    }
}

fn number(word: &str) -> usize {
    word.parse().expect("a number")
}

/// Creates a runtime with two worker threads.
fn two_threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// Returns a command that runs this program with these arguments.
fn this_program(words: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(words);
    command
}

/// A child process that is killed when it is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the nanoseconds of the monotonic clock, which all processes of the machine share.
fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the time to the variable, and nothing else.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    assert_eq!(result, 0);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    seconds.expect("positive") * 1_000_000_000 + nanoseconds.expect("positive")
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages = text.split(' ').nth(1).expect("a number of pages");
    number(pages) * 4096
}

/// Returns the peak resident memory of this process in bytes, and its CPU time.
fn used() -> (usize, Duration) {
    // SAFETY: `rusage` consists of plain numbers, which the call overwrites.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, &raw mut usage), 0);
        usage
    };
    let time = |time: libc::timeval| {
        let [seconds, micros] = [time.tv_sec, time.tv_usec].map(|part| u64::try_from(part).expect("positive"));
        Duration::from_secs(seconds) + Duration::from_micros(micros)
    };
    let kilobytes = usize::try_from(usage.ru_maxrss).expect("positive");
    (kilobytes * 1024, time(usage.ru_utime) + time(usage.ru_stime))
}

/// Returns the median and the 99th percentile.
fn percentiles(mut values: Vec<u64>) -> [u64; 2] {
    values.sort_unstable();
    [values[values.len() / 2], values[values.len() * 99 / 100]]
}
