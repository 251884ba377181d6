//! Termination of the process at a chosen point.

use std::fmt;
use std::future::poll_fn;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tool_core::store::StoreFuture;

/// The point at which the process dies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Death {
    kind: Kind,
    /// The number of the point, counted from 1.
    pub(crate) number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Point,
    Wait,
}

impl Death {
    /// Selects the n-th named point.
    pub(crate) fn at_point(number: usize) -> Self {
        let kind = Kind::Point;
        Self { kind, number }
    }

    /// Selects the n-th time that a store makes its caller wait, while the database applies the change.
    pub(crate) fn at_wait(number: usize) -> Self {
        let kind = Kind::Wait;
        Self { kind, number }
    }

    /// Returns the same kind of point with a different number.
    pub(crate) fn at(self, number: usize) -> Self {
        Self { number, ..self }
    }

    /// Parses the output of `Display`, and returns the rest of the text.
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

/// Sets the point at which this process dies. Without this call, the process does not die.
pub(crate) fn arm(death: Death) {
    DEATH.set(death).unwrap();
}

fn is_due(kind: Kind, count: &AtomicUsize) -> bool {
    let number = count.fetch_add(1, Ordering::SeqCst) + 1;
    DEATH
        .get()
        .is_some_and(|death| death.kind == kind && death.number == number)
}

/// Marks a named point between two steps. The process dies here if this point was selected.
pub(crate) fn point(side: &str, name: &str) {
    if is_due(Kind::Point, &POINTS) {
        die(&format!("{side} {name}"));
    }
}

fn wait(name: &str) {
    if is_due(Kind::Wait, &WAITS) {
        // Give the thread of the database a short time to continue, which is different for each death.
        let number = DEATH.get().map_or(0, |death| death.number);
        let pause = Duration::from_micros(number as u64 * 37 % 400);
        let begun = Instant::now();
        while begun.elapsed() < pause {
            std::hint::spin_loop();
        }
        die(&format!("during {name}"));
    }
}

/// Wraps a call of a store with a point before it, a point after it, and a point each time it waits.
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

/// Prints one line for the parent. A mark distinguishes the line from the lines of the test harness.
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
