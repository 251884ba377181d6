//! A test harness whose cases can be ignored at run time.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// The reason why a case cannot run on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing(String);

impl Missing {
    /// Creates a reason, which names the missing thing and, if known, how to get it. Reports print it on one line.
    pub fn new(reason: impl fmt::Display) -> Self {
        let reason = reason.to_string();
        Self(reason.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The result of a case: it ran, or the machine lacks a requirement. A case fails by panicking.
pub type Ran = Result<(), Missing>;

/// A sync or async function without arguments that returns [`Ran`]. `Kind` distinguishes the two impls.
pub trait Case<Kind>: Send + 'static {
    /// Runs the case to its end. An async case gets its own runtime.
    fn run(self) -> Ran;
}

impl<F: FnOnce() -> Ran + Send + 'static> Case<()> for F {
    fn run(self) -> Ran {
        self()
    }
}

impl<F, Fut> Case<(Fut,)> for F
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future<Output = Ran>,
{
    fn run(self) -> Ran {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        #[allow(clippy::expect_used, reason = "a case fails by panicking")]
        let runtime = runtime.expect("a tokio runtime starts");
        runtime.block_on(self())
    }
}

/// The cases of one test target.
#[derive(Debug)]
pub struct Suite {
    target: &'static str,
    strict: Option<BTreeSet<String>>,
    trials: Vec<Trial>,
}

impl Suite {
    /// Creates a suite for the test target with this crate name. [`suite!`](crate::suite!) calls this.
    pub fn new(target: &'static str) -> Self {
        Self {
            target,
            strict: std::env::var_os("CI").map(|_| listed()),
            trials: Vec::new(),
        }
    }

    /// Adds a case to the suite.
    #[must_use]
    pub fn case<Kind>(mut self, name: &str, case: impl Case<Kind>) -> Self {
        let name: String = name.split_whitespace().collect();
        let id = format!("{} {name}", self.target);
        let excused = self.strict.as_ref().is_none_or(|list| list.contains(&id));
        let trial = Trial::ignorable_test(name, move || verdict(case.run(), &id, excused));
        self.trials.push(trial);
        self
    }

    /// Runs the cases that the command line selects; it accepts the flags of the built-in harness.
    pub fn run(self) -> ExitCode {
        libtest_mimic::run(&Arguments::from_args(), self.trials).exit_code()
    }
}

/// Creates a [`Suite`] of cases: `test_support::suite![first_case, module::second_case].run()` is the body of `main`.
#[macro_export]
macro_rules! suite {
    ($($($segment:ident)::+),+ $(,)?) => {
        $crate::Suite::new(env!("CARGO_CRATE_NAME"))
            $(.case(stringify!($($segment)::+), $($segment)::+))+
    };
}

fn verdict(ran: Ran, id: &str, excused: bool) -> Result<Completion, Failed> {
    match ran {
        Ok(()) => Ok(Completion::Completed),
        Err(Missing(reason)) if excused => Ok(Completion::ignored_with(reason)),
        Err(Missing(reason)) => Err(Failed::from(format!(
            "this machine cannot run the test: {reason}. `CI` is set, so install what is missing, or add the line `{id}` to `.ci/ignored/{}`",
            kind()
        ))),
    }
}

/// Returns the kind of machine, which is the name of its list in `.ci/ignored`.
fn kind() -> &'static str {
    if rustix::process::geteuid().is_root() {
        "root"
    } else {
        "user"
    }
}

/// Returns the tests that may be ignored on this kind of machine, each as `TARGET NAME`.
fn listed() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/ignored");
    let list = std::fs::read_to_string(folder.join(kind())).unwrap_or_default();
    let lines = list.lines().filter_map(|line| line.split('#').next());
    lines
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(String::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing() -> Ran {
        Err(Missing::new("no\n  node"))
    }

    // A test that cannot run is not reported as passed.
    #[test]
    fn case_without_its_need_is_ignored_with_the_reason() {
        let ignored = verdict(missing(), "clients sdk_case", true);
        assert!(
            matches!(ignored, Ok(Completion::Ignored { reason: Some(reason) }) if reason == "no node")
        );
        assert!(matches!(
            verdict(Ok(()), "clients sdk_case", false),
            Ok(Completion::Completed)
        ));
    }

    // A skipped test does not pass under `CI`.
    #[test]
    fn case_without_its_need_fails_in_ci_unless_it_is_listed() {
        let failed = verdict(missing(), "clients sdk_case", false).err();
        let message = failed.and_then(|failed| failed.message().map(String::from));
        let message = message.unwrap_or_default();
        assert!(message.contains("no node. `CI` is set"), "{message}");
        assert!(
            message.contains("`clients sdk_case` to `.ci/ignored/"),
            "{message}"
        );
    }

    async fn waits() -> Ran {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        missing()
    }

    #[test]
    fn async_cases_run_on_a_runtime() {
        assert_eq!(Case::run(waits), missing());
        assert_eq!(Case::run(missing), missing());
    }
}
