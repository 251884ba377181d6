//! The death of a process, at a point that is given.

use std::fmt;
use std::future::poll_fn;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tool_core::store::StoreFuture;

/// When to die.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Death {
    kind: Kind,
    /// The first is 1.
    pub(crate) number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Point,
    Wait,
}

impl Death {
    /// At the n-th named point.
    pub(crate) fn at_point(number: usize) -> Self {
        let kind = Kind::Point;
        Self { kind, number }
    }

    /// When a store makes its caller wait for the n-th time: the database is at work on the change.
    pub(crate) fn at_wait(number: usize) -> Self {
        let kind = Kind::Wait;
        Self { kind, number }
    }

    /// The same, at another number.
    pub(crate) fn at(self, number: usize) -> Self {
        Self { number, ..self }
    }

    /// Reads what `Display` writes, and gives what stands after it.
    pub(crate) fn read(text: &str) -> (Self, &str) {
        let mut parts = text.splitn(3, ' ');
        let (kind, number) = (parts.next().unwrap(), parts.next().unwrap());
        let number = number.parse().unwrap();
        let death = match kind {
            "point" => Self::at_point(number),
            "wait" => Self::at_wait(number),
            kind => panic!("no death `{kind}`"),
        };
        (death, parts.next().unwrap())
    }
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Point => "point",
            Kind::Wait => "wait",
        };
        write!(f, "{kind} {}", self.number)
    }
}

static DEATH: OnceLock<Death> = OnceLock::new();
static POINTS: AtomicUsize = AtomicUsize::new(0);
static WAITS: AtomicUsize = AtomicUsize::new(0);

/// Lets this process die later. One that is not armed lives.
pub(crate) fn arm(death: Death) {
    DEATH.set(death).unwrap();
}

fn is_due(kind: Kind, count: &AtomicUsize) -> bool {
    let number = count.fetch_add(1, Ordering::SeqCst) + 1;
    DEATH
        .get()
        .is_some_and(|death| death.kind == kind && death.number == number)
}

/// A place between two steps.
pub(crate) fn point(side: &str, name: &str) {
    if is_due(Kind::Point, &POINTS) {
        die(&format!("{side} {name}"));
    }
}

fn wait(name: &str) {
    if is_due(Kind::Wait, &WAITS) {
        // The database's own thread goes on for a moment, longer from death to death.
        let number = DEATH.get().map_or(0, |death| death.number);
        let pause = Duration::from_micros(number as u64 * 37 % 400);
        let begun = Instant::now();
        while begun.elapsed() < pause {
            std::hint::spin_loop();
        }
        die(&format!("during {name}"));
    }
}

/// A call of a store, with a point on either side and wherever it waits.
pub(crate) fn around<'a, T: 'a>(
    name: &'static str,
    mut call: StoreFuture<'a, T>,
) -> StoreFuture<'a, T> {
    Box::pin(async move {
        point("before", name);
        let done = poll_fn(|cx| {
            let done = call.as_mut().poll(cx);
            if done.is_pending() {
                wait(name);
            }
            done
        });
        let done = done.await;
        point("after", name);
        done
    })
}

/// One line to the parent. The test harness prints lines of its own, hence the mark.
pub(crate) fn say(words: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nchild: {words}").unwrap();
    out.flush().unwrap();
}

fn die(at: &str) -> ! {
    use rustix::process::{Signal, getpid, kill_process};
    say(at);
    kill_process(getpid(), Signal::KILL).unwrap();
    loop {
        std::thread::park();
    }
}
