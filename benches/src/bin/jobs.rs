//! The cost of starting a job, with each isolation mechanism: `jobs RUNS NAME…` prints a table of the named rows. `jobs [RUNS]` prints all rows, and
//! the phases of a job with all mechanisms.
//!
//! Wall time is the median of the runs. CPU time is the time of this process and its children, per run. The baseline is `/bin/true` started by
//! `std::process::Command`, which is a bare `posix_spawn`.

use std::process::Command;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tool_std::isolate::{Isolation, Job, Keep, Limits, Mechanism, Network};

fn main() {
    tool_std::helper();
    let mut args = std::env::args().skip(1);
    let runs = args.next().map_or(200, |runs| runs.parse().expect("a number of runs"));
    let wanted: Vec<String> = args.collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    println!("| job | ms | times `posix_spawn` | CPU, ms | times `posix_spawn` |\n|---|---|---|---|---|");
    let floor = timed(runs, || {
        assert!(Command::new("/bin/true").status().expect("a program").success());
    });
    row("`posix_spawn`", &floor, &floor);
    // `UnixSockets` is a guarantee that other mechanisms provide, so it costs nothing itself.
    let all = || Mechanism::ALL.iter().copied().filter(|mechanism| *mechanism != Mechanism::UnixSockets);
    let none = |job: Job| job.network(Network::Open).limits(Limits::none());
    let measure = |what: &str, isolation: &Isolation, open: bool| {
        if !wanted.is_empty() && wanted.iter().all(|name| name != what) {
            return;
        }
        let cost = timed(runs, || {
            let job = Job::new("/bin/true");
            run(&runtime, isolation, if open { none(job) } else { job });
        });
        row(what, &cost, &floor);
    };
    measure("a process group", &Isolation::GroupOnly, true);
    measure("the helper", &all().fold(Isolation::new(), Isolation::without), true);
    for one in all() {
        // All other mechanisms are turned off. For a host that is root, a separate root and read-only mounts do not depend on other mechanisms.
        let others = all().filter(|mechanism| *mechanism != one);
        let isolation = others.fold(Isolation::new(), Isolation::without);
        let asks = matches!(one, Mechanism::NetworkNamespace | Mechanism::PidsCgroup | Mechanism::MemoryCgroup);
        measure(&format!("the helper and {one:?}"), &isolation, !asks);
    }
    for one in all() {
        measure(&format!("all but {one:?}"), &Isolation::new().without(one), false);
    }
    measure("all", &Isolation::new(), false);
    if wanted.is_empty() {
        divided(&runtime, runs);
    }
}

/// Prints the phases of a job with all mechanisms: until the program runs, until its output ends, and until its exit is known.
fn divided(runtime: &Runtime, runs: usize) {
    let isolation = Isolation::new();
    let mut parts: [Vec<Duration>; 3] = [const { Vec::new() }; 3];
    for _ in 0..runs {
        let times = runtime.block_on(async {
            let began = Instant::now();
            let mut running = isolation.spawn(Job::new("/bin/true")).await.expect("a job");
            let started = began.elapsed();
            while running.read(&mut [0; 64]).await.expect("a pipe").is_some() {}
            let output = began.elapsed();
            assert!(running.wait().await.expect("an end").success());
            [started, output - started, began.elapsed() - output]
        });
        for (part, time) in parts.iter_mut().zip(times) {
            part.push(time);
        }
    }
    println!("\n| part | ms |\n|---|---|");
    for (what, mut times) in ["until the program runs", "until its output ends", "until its exit is known"].into_iter().zip(parts) {
        times.sort_unstable();
        println!("| {what} | {:.2} |", times[runs / 2].as_secs_f64() * 1_000.0);
    }
}

fn run(runtime: &Runtime, isolation: &Isolation, job: Job) {
    let ran = runtime.block_on(isolation.run(job, Keep::default())).expect("a job");
    assert!(ran.ended.success());
}

struct Cost {
    wall: Duration,
    cpu: Duration,
}

fn timed(runs: usize, mut run: impl FnMut()) -> Cost {
    for _ in 0..5 {
        run();
    }
    let before = used();
    let mut times: Vec<_> = (0..runs)
        .map(|_| {
            let began = Instant::now();
            run();
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    Cost {
        wall: times[runs / 2],
        cpu: (used() - before) / u32::try_from(runs).expect("few runs"),
    }
}

/// Returns the CPU time of this process and of its reaped children. `utime`, `stime`, `cutime` and `cstime` of `/proc/self/stat` are too coarse.
fn used() -> Duration {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(usage).iter().sum()
}

fn usage(who: i32) -> Duration {
    // SAFETY: `rusage` consists of plain numbers, which the call overwrites.
    let usage: libc::rusage = unsafe {
        let mut usage = std::mem::zeroed();
        assert_eq!(libc::getrusage(who, &raw mut usage), 0);
        usage
    };
    let time = |time: libc::timeval| Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_usec).expect("microseconds") * 1_000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

fn row(what: &str, cost: &Cost, floor: &Cost) {
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    println!(
        "| {what} | {:.2} | {:.1} | {:.2} | {:.1} |",
        ms(cost.wall),
        ms(cost.wall) / ms(floor.wall),
        ms(cost.cpu),
        ms(cost.cpu) / ms(floor.cpu)
    );
}
