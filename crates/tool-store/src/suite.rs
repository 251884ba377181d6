//! The conformance suite: tests that every store must pass, for the stores of this crate and for other implementations.
//!
//! [`conformance!`](crate::conformance) adds the tests to a test program. It takes a name for the module of the tests and an [`Opener`], which
//! contains two closures: the first creates a place for a new store, such as a folder or a database with a unique name, and the second opens the
//! store at that place. Most tests open the place once. Tests of several processes open it twice, in the same process.
//!
//! ```
//! # mod program {
//! // tests/suite.rs
//! use tool_store::MemoryStore;
//! use tool_store::suite::Opener;
//!
//! tool_store::conformance!(
//!     memory,
//!     Opener::new(async || MemoryStore::default(), async |store| store.clone()),
//!     [BatchStore, BudgetStore, Catalogue, ChangeStore, ChildStore, EnablementStore, EventStore, KnowledgeStore, LimitStore, LongTermStore, Maintenance, PlanStore, RoomStore, ScheduleStore, StoredToolStore, ThreadEventStore, VaultStore, WorkStore]
//! );
//! # }
//! ```
//!
//! `cargo test --test suite` then runs tests such as `memory::ledger::a_key_is_begun_once`. Each test creates its own tokio runtime. Put the crate
//! into `[dev-dependencies]` with the feature `suite`.
//!
//! # Traits and their tests
//!
//! | traits | | tests |
//! |---|---|---|
//! | the traits of [`Store`], and `Clone` | required | `approval`, `audit`, `identity`, `ledger`, `paging`, `property`, `run`, `spill`, `switch`, `thread`, `two_processes`, `workspaces` |
//! | [`Maintenance`] | optional | `maintenance` |
//! | [`BatchStore`], and the method `journal` of the required traits | optional | `journal` |
//! | [`BudgetStore`] | optional | `budget` |
//! | [`Catalogue`] | optional | `catalogue` |
//! | [`ChangeStore`], with [`Directory`], [`EnablementStore`], [`Maintenance`] and the traits of [`VaultStore`] | optional | `administration`, `change` |
//! | [`ChildStore`], with [`Maintenance`] | optional | `child` |
//! | [`EnablementStore`], with [`Catalogue`] | optional | `enablement` |
//! | [`EventStore`], with [`EnablementStore`], [`Maintenance`] and [`StoredToolStore`] | optional | `event` |
//! | [`KnowledgeStore`], with [`Maintenance`] | optional | `knowledge`, `knowledge_embeddings` |
//! | [`LimitStore`], with [`Maintenance`] | optional | `limit` |
//! | [`PlanStore`], with [`ChangeStore`] and [`Maintenance`] | optional | `plan`, `plan_concurrency` |
//! | [`RoomStore`], with [`Maintenance`] | optional | `room` |
//! | [`ScheduleStore`], with [`Maintenance`] | optional | `schedule` |
//! | [`LongTermStore`], with [`ChangeStore`], [`KnowledgeStore`], [`Maintenance`], [`PlanStore`], [`RoomStore`] and [`ScheduleStore`] | optional | `long_term`, `record_change` |
//! | [`StoredToolStore`], with [`Directory`] | optional | `edit_request`, `stored_tool` |
//! | [`ThreadEventStore`], with [`Maintenance`] | optional | `thread_event` |
//! | the traits of [`VaultStore`] | optional | `sealed`, `vault` |
//! | [`WorkStore`], with [`Maintenance`] | optional | `work` |
//!
//! List the optional traits of the store in the brackets at the end; without brackets, the suite tests only the required traits. Clones must share
//! their state, because a host passes one clone each to its approvals, its ledger and its audit.
//!
//! # Comparisons of the tests
//!
//! - The tests check errors by the kind of the [`StoreError`] and by parts of its text. The state transitions of this crate return both, for example [`EffectClaim`]
//!   for the ledger, the methods of [`ApprovalRow`], [`BudgetRow`], [`ChildRow`], [`DocumentRow`], [`LimitRow`], [`PlanRow`], [`RunRow`] and [`WorkRow`], and [`SpillPart::of`].
//! - The property test compares the results of random operations with the results of [`MemoryStore`]. [`Opener::cases`] reduces the number of
//!   operation sequences for a slow store.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::needless_pass_by_value,
    clippy::wildcard_imports,
    reason = "tests fail by panicking, their helpers take results by value, and they use many records"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

use std::fmt::Debug;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use tokio::runtime::{Builder, Runtime};

use crate::StoreError;
#[cfg(doc)]
use crate::{
    ApprovalRow, BatchStore, BudgetRow, BudgetStore, Catalogue, ChangeStore, ChildRow, ChildStore,
    Directory, DocumentRow, EffectClaim, EnablementStore, EventStore, KnowledgeStore, LimitRow,
    LimitStore, LongTermStore, Maintenance, MemoryStore, PlanRow, PlanStore, RoomStore, RunRow,
    ScheduleStore, SpillPart, Store, StoredToolStore, ThreadEventStore, VaultStore, WorkRow,
    WorkStore,
};

#[doc(hidden)]
pub mod administration;
#[doc(hidden)]
pub mod approval;
#[doc(hidden)]
pub mod audit;
#[doc(hidden)]
pub mod budget;
#[doc(hidden)]
pub mod catalogue;
#[doc(hidden)]
pub mod change;
#[doc(hidden)]
pub mod child;
#[doc(hidden)]
pub mod edit_request;
#[doc(hidden)]
pub mod enablement;
#[doc(hidden)]
pub mod event;
#[doc(hidden)]
pub mod identity;
#[doc(hidden)]
pub mod journal;
#[doc(hidden)]
pub mod knowledge;
#[doc(hidden)]
pub mod knowledge_embeddings;
#[doc(hidden)]
pub mod ledger;
#[doc(hidden)]
pub mod limit;
#[doc(hidden)]
pub mod long_term;
#[doc(hidden)]
pub mod maintenance;
#[doc(hidden)]
pub mod paging;
#[doc(hidden)]
pub mod plan;
#[doc(hidden)]
pub mod plan_concurrency;
#[doc(hidden)]
pub mod property;
#[doc(hidden)]
pub mod record_change;
#[doc(hidden)]
pub mod records;
#[doc(hidden)]
pub mod room;
#[doc(hidden)]
pub mod run;
#[doc(hidden)]
pub mod schedule;
#[doc(hidden)]
pub mod sealed;
#[doc(hidden)]
pub mod spill;
#[doc(hidden)]
pub mod stored_tool;
#[doc(hidden)]
pub mod switch;
#[doc(hidden)]
pub mod thread;
#[doc(hidden)]
pub mod thread_event;
#[doc(hidden)]
pub mod two_processes;
#[doc(hidden)]
pub mod vault;
#[doc(hidden)]
pub mod work;
#[doc(hidden)]
pub mod workspaces;

/// A test of the suite as a value: [`conformance_cases!`](crate::conformance_cases) returns all cases.
pub struct Case {
    name: &'static str,
    run: Box<dyn FnOnce() + Send>,
}

impl Case {
    #[doc(hidden)]
    pub fn new(name: &'static str, run: impl FnOnce() + Send + 'static) -> Self {
        Self {
            name,
            run: Box::new(run),
        }
    }

    /// Returns the name of the test, such as `ledger::a_key_is_begun_once`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Runs the test on its own runtime. A failed test panics.
    pub fn run(self) {
        (self.run)();
    }
}

impl Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Case").field(&self.name).finish()
    }
}

/// Creates and opens the stores that the suite tests.
pub struct Opener<S> {
    create: Box<dyn Fn() -> LocalBoxFuture<'static, Place<S>>>,
    cases: u32,
}

/// A place at which a store can be opened more than once.
struct Place<S>(Box<dyn Fn() -> LocalBoxFuture<'static, S>>);

impl<S: 'static> Opener<S> {
    /// Creates an opener from a closure that creates a place for a new, empty store, and a closure that opens the store at a place. Stores that are
    /// opened at one place must share their state, like stores in two processes. The place is dropped after the test, within the test's tokio
    /// runtime.
    pub fn new<P: 'static>(
        create: impl AsyncFn() -> P + 'static,
        open: impl AsyncFn(&P) -> S + 'static,
    ) -> Self {
        let (create, open) = (Rc::new(create), Rc::new(open));
        let create = move || -> LocalBoxFuture<'static, Place<S>> {
            let (create, open) = (Rc::clone(&create), Rc::clone(&open));
            Box::pin(async move {
                let place = Rc::new(create().await);
                Place(Box::new(move || {
                    let (place, open) = (Rc::clone(&place), Rc::clone(&open));
                    Box::pin(async move { open(&place).await })
                }))
            })
        };
        Self {
            create: Box::new(create),
            cases: 192,
        }
    }

    /// Sets the number of random sequences of operations for each property; 192 by default. Each sequence has its own store.
    #[must_use]
    pub fn cases(self, cases: u32) -> Self {
        Self { cases, ..self }
    }

    /// Runs a test on a new store.
    fn test(&self, test: impl AsyncFnOnce(&Place<S>)) {
        let runtime = runtime(&mut Builder::new_multi_thread());
        runtime.block_on(async {
            let place = (self.create)().await;
            test(&place).await;
        });
    }

    /// Tests a property on random values. Each value has its own new store.
    fn hold<T: Debug>(
        &self,
        values: &impl Strategy<Value = T>,
        property: impl AsyncFn(&S, T) -> Result<(), TestCaseError>,
    ) {
        let runtime = runtime(&mut Builder::new_current_thread());
        let config = Config {
            cases: self.cases,
            failure_persistence: None,
            ..Config::default()
        };
        let held = TestRunner::new(config).run(values, |value| {
            runtime.block_on(async {
                let place = (self.create)().await;
                property(&place.open().await, value).await
            })
        });
        if let Err(error) = held {
            panic!("{error}");
        }
    }
}

impl<S> Place<S> {
    async fn open(&self) -> S {
        (self.0)().await
    }
}

impl<S> Debug for Opener<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opener")
            .field("cases", &self.cases)
            .finish_non_exhaustive()
    }
}

fn runtime(builder: &mut Builder) -> Runtime {
    builder.enable_all().build().unwrap()
}

/// Adds the conformance suite to a test program. The module [`suite`](crate::suite) describes the tests.
///
/// The arguments are the name of the module of the tests, an [`Opener`](crate::suite::Opener), and in brackets the optional traits that the
/// store implements: `BatchStore`, `BudgetStore`, `Catalogue`, `ChangeStore`, `ChildStore`, `EnablementStore`, `EventStore`, `KnowledgeStore`,
/// `LimitStore`, `LongTermStore`, `Maintenance`, `PlanStore`, `RoomStore`, `ScheduleStore`, `StoredToolStore`, `ThreadEventStore`, `VaultStore`,
/// `WorkStore`.
#[macro_export]
macro_rules! conformance {
    (@ BatchStore $opener:expr) => { $crate::conformance! { @ journal [__suite_journal] $opener } };
    (@ BudgetStore $opener:expr) => { $crate::conformance! { @ budget [__suite_budget __suite_budget_races] $opener } };
    (@ Catalogue $opener:expr) => { $crate::conformance! { @ catalogue [__suite_catalogue] $opener } };
    (@ EnablementStore $opener:expr) => { $crate::conformance! { @ enablement [__suite_enablement __suite_enablement_places] $opener } };
    (@ ChangeStore $opener:expr) => {
        $crate::conformance! { @ administration [__suite_administration] $opener }
        $crate::conformance! { @ change [__suite_change] $opener }
    };
    (@ ChildStore $opener:expr) => { $crate::conformance! { @ child [__suite_child __suite_child_races] $opener } };
    (@ EventStore $opener:expr) => { $crate::conformance! { @ event [__suite_event __suite_event_readers] $opener } };
    (@ KnowledgeStore $opener:expr) => {
        $crate::conformance! { @ knowledge [__suite_knowledge __suite_knowledge_races] $opener }
        $crate::conformance! { @ knowledge_embeddings [__suite_knowledge_embeddings __suite_knowledge_embeddings_races] $opener }
    };
    (@ LimitStore $opener:expr) => { $crate::conformance! { @ limit [__suite_limit __suite_limit_races] $opener } };
    (@ LongTermStore $opener:expr) => {
        $crate::conformance! { @ long_term [__suite_long_term __suite_long_term_administration __suite_long_term_notes __suite_long_term_races __suite_long_term_search __suite_long_term_vectors] $opener }
        $crate::conformance! { @ record_change [__suite_record_change] $opener }
    };
    (@ Maintenance $opener:expr) => { $crate::conformance! { @ maintenance [__suite_maintenance] $opener } };
    (@ PlanStore $opener:expr) => {
        $crate::conformance! { @ plan [__suite_plan] $opener }
        $crate::conformance! { @ plan_concurrency [__suite_plan_concurrency] $opener }
    };
    (@ RoomStore $opener:expr) => { $crate::conformance! { @ room [__suite_room __suite_room_races] $opener } };
    (@ ScheduleStore $opener:expr) => { $crate::conformance! { @ schedule [__suite_schedule __suite_schedule_races] $opener } };
    (@ StoredToolStore $opener:expr) => {
        $crate::conformance! { @ edit_request [__suite_edit_request __suite_edit_request_races] $opener }
        $crate::conformance! { @ stored_tool [__suite_stored_tool __suite_stored_tool_races] $opener }
    };
    (@ ThreadEventStore $opener:expr) => {
        $crate::conformance! { @ thread_event [__suite_thread_event __suite_thread_event_races] $opener }
    };
    (@ WorkStore $opener:expr) => { $crate::conformance! { @ work [__suite_work __suite_work_races] $opener } };
    (@ VaultStore $opener:expr) => {
        $crate::conformance! { @ sealed [__suite_sealed] $opener }
        $crate::conformance! { @ vault [__suite_vault __suite_vaults] $opener }
    };
    (@ $module:ident [$($list:ident)+] $opener:expr) => {
        mod $module {
            #[allow(unused_imports, reason = "the opener may use items around the macro")]
            use super::*;

            $($crate::$list! { $opener })+
        }
    };
    ($name:ident, $opener:expr $(, [$($optional:ident),* $(,)?])? $(,)?) => {
        // Checks the types even in builds that compile no tests.
        #[allow(clippy::unwrap_used, clippy::expect_used, reason = "the function is never called")]
        const _: fn() = || {
            let _ = $opener;
        };

        mod $name {
            #[allow(unused_imports, reason = "the opener may use items around the macro")]
            use super::*;

            $crate::conformance! { @ approval [__suite_approval] $opener }
            $crate::conformance! { @ audit [__suite_audit] $opener }
            $crate::conformance! { @ identity [__suite_identity] $opener }
            $crate::conformance! { @ ledger [__suite_ledger] $opener }
            $crate::conformance! { @ paging [__suite_paging] $opener }
            $crate::conformance! { @ property [__suite_property] $opener }
            $crate::conformance! { @ run [__suite_run] $opener }
            $crate::conformance! { @ spill [__suite_spill] $opener }
            $crate::conformance! { @ switch [__suite_switch] $opener }
            $crate::conformance! { @ thread [__suite_thread] $opener }
            $crate::conformance! { @ two_processes [__suite_two_processes] $opener }
            $crate::conformance! { @ workspaces [__suite_workspaces __suite_isolation] $opener }
            $($($crate::conformance! { @ $optional $opener })*)?
        }
    };
}

/// The tests of the conformance suite as values, for a custom test harness, for example a harness that reports tests as ignored at run time.
///
/// The arguments are the arguments of [`conformance!`](crate::conformance) without the name of the module. Returns a `Vec` of
/// [`Case`](crate::suite::Case).
///
/// ```
/// use tool_store::MemoryStore;
/// use tool_store::suite::Opener;
///
/// let cases = tool_store::conformance_cases!(
///     Opener::new(async || MemoryStore::default(), async |store| store.clone()),
///     [BatchStore, Catalogue, Maintenance]
/// );
/// let one = cases.into_iter().find(|case| case.name() == "ledger::a_key_is_begun_once");
/// one.unwrap().run();
/// ```
#[macro_export]
macro_rules! conformance_cases {
    (@ BatchStore $cases:ident $opener:expr) => { $crate::__suite_journal! { @ $cases $opener } };
    (@ BudgetStore $cases:ident $opener:expr) => {
        $crate::__suite_budget! { @ $cases $opener }
        $crate::__suite_budget_races! { @ $cases $opener }
    };
    (@ Catalogue $cases:ident $opener:expr) => { $crate::__suite_catalogue! { @ $cases $opener } };
    (@ ChangeStore $cases:ident $opener:expr) => {
        $crate::__suite_administration! { @ $cases $opener }
        $crate::__suite_change! { @ $cases $opener }
    };
    (@ ChildStore $cases:ident $opener:expr) => {
        $crate::__suite_child! { @ $cases $opener }
        $crate::__suite_child_races! { @ $cases $opener }
    };
    (@ RoomStore $cases:ident $opener:expr) => {
        $crate::__suite_room! { @ $cases $opener }
        $crate::__suite_room_races! { @ $cases $opener }
    };
    (@ ScheduleStore $cases:ident $opener:expr) => {
        $crate::__suite_schedule! { @ $cases $opener }
        $crate::__suite_schedule_races! { @ $cases $opener }
    };
    (@ ThreadEventStore $cases:ident $opener:expr) => {
        $crate::__suite_thread_event! { @ $cases $opener }
        $crate::__suite_thread_event_races! { @ $cases $opener }
    };
    (@ WorkStore $cases:ident $opener:expr) => {
        $crate::__suite_work! { @ $cases $opener }
        $crate::__suite_work_races! { @ $cases $opener }
    };
    (@ EnablementStore $cases:ident $opener:expr) => {
        $crate::__suite_enablement! { @ $cases $opener }
        $crate::__suite_enablement_places! { @ $cases $opener }
    };
    (@ EventStore $cases:ident $opener:expr) => {
        $crate::__suite_event! { @ $cases $opener }
        $crate::__suite_event_readers! { @ $cases $opener }
    };
    (@ VaultStore $cases:ident $opener:expr) => {
        $crate::__suite_sealed! { @ $cases $opener }
        $crate::__suite_vault! { @ $cases $opener }
        $crate::__suite_vaults! { @ $cases $opener }
    };
    (@ KnowledgeStore $cases:ident $opener:expr) => {
        $crate::__suite_knowledge! { @ $cases $opener }
        $crate::__suite_knowledge_races! { @ $cases $opener }
        $crate::__suite_knowledge_embeddings! { @ $cases $opener }
        $crate::__suite_knowledge_embeddings_races! { @ $cases $opener }
    };
    (@ LimitStore $cases:ident $opener:expr) => {
        $crate::__suite_limit! { @ $cases $opener }
        $crate::__suite_limit_races! { @ $cases $opener }
    };
    (@ LongTermStore $cases:ident $opener:expr) => {
        $crate::__suite_long_term! { @ $cases $opener }
        $crate::__suite_long_term_administration! { @ $cases $opener }
        $crate::__suite_long_term_notes! { @ $cases $opener }
        $crate::__suite_long_term_races! { @ $cases $opener }
        $crate::__suite_long_term_search! { @ $cases $opener }
        $crate::__suite_long_term_vectors! { @ $cases $opener }
        $crate::__suite_record_change! { @ $cases $opener }
    };
    (@ Maintenance $cases:ident $opener:expr) => { $crate::__suite_maintenance! { @ $cases $opener } };
    (@ PlanStore $cases:ident $opener:expr) => {
        $crate::__suite_plan! { @ $cases $opener }
        $crate::__suite_plan_concurrency! { @ $cases $opener }
    };
    (@ StoredToolStore $cases:ident $opener:expr) => {
        $crate::__suite_edit_request! { @ $cases $opener }
        $crate::__suite_edit_request_races! { @ $cases $opener }
        $crate::__suite_stored_tool! { @ $cases $opener }
        $crate::__suite_stored_tool_races! { @ $cases $opener }
    };
    ($opener:expr $(, [$($optional:ident),* $(,)?])? $(,)?) => {{
        let mut cases = ::std::vec::Vec::new();
        $crate::__suite_approval! { @ cases $opener }
        $crate::__suite_audit! { @ cases $opener }
        $crate::__suite_identity! { @ cases $opener }
        $crate::__suite_ledger! { @ cases $opener }
        $crate::__suite_paging! { @ cases $opener }
        $crate::__suite_property! { @ cases $opener }
        $crate::__suite_run! { @ cases $opener }
        $crate::__suite_spill! { @ cases $opener }
        $crate::__suite_switch! { @ cases $opener }
        $crate::__suite_thread! { @ cases $opener }
        $crate::__suite_two_processes! { @ cases $opener }
        $crate::__suite_workspaces! { @ cases $opener }
        $crate::__suite_isolation! { @ cases $opener }
        $($($crate::conformance_cases! { @ $optional cases $opener })*)?
        cases
    }};
}

/// Defines tests of stores as functions, and a macro with the name `$list` that adds them to a program. A test takes a store, or the opener.
macro_rules! tests {
    (($d:tt) $list:ident in $module:ident for $bound:ident; $(
        $(#[doc = $doc:literal])* #[test] async fn $name:ident($store:ident: $of:ty) $body:block
    )+) => {
        $(
            $(#[doc = $doc])*
            pub fn $name<S: Store + Clone + $bound>(opener: &super::Opener<S>) {
                async fn test($store: $of) $body
                opener.test(async |place| test(place.open().await).await);
            }
        )+
        super::tests! { @ ($d) $list in $module: $($name)+ }
    };
    (($d:tt) $list:ident in $module:ident for $bound:ident; $(
        $(#[doc = $doc:literal])* #[test] fn $name:ident($opener:ident) $body:block
    )+) => {
        $(
            $(#[doc = $doc])*
            pub fn $name<S: Store + Clone + $bound>($opener: &super::Opener<S>) $body
        )+
        super::tests! { @ ($d) $list in $module: $($name)+ }
    };
    (@ ($d:tt) $list:ident in $module:ident: $($name:ident)+) => {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $list {
            ($d opener:expr) => {
                $(
                    #[test]
                    fn $name() {
                        $d crate::suite::$module::$name(&$d opener);
                    }
                )+
            };
            (@ $d cases:ident $d opener:expr) => {
                $(
                    $d cases.push($d crate::suite::Case::new(
                        concat!(stringify!($module), "::", stringify!($name)),
                        || $d crate::suite::$module::$name(&$d opener),
                    ));
                )+
            };
        }
    };
}
use tests;

/// Runs `work` in 32 parallel tasks, and returns their results.
async fn at_once<T: Send + 'static, F>(work: impl Fn(u32) -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
{
    let tasks: Vec<_> = (0..32).map(|task| tokio::spawn(work(task))).collect();
    let mut said = Vec::new();
    for task in tasks {
        said.push(task.await.unwrap());
    }
    said
}

/// Asserts that the store refused a call with a conflict whose text contains `words`.
fn conflict<T: Debug>(answer: Result<T, StoreError>, words: &str) {
    match answer {
        Err(StoreError::Conflict(text)) if text.contains(words) => {}
        other => panic!("expected a conflict about `{words}`, got {other:?}"),
    }
}

/// Asserts that the store reported a missing row.
fn missing<T: Debug>(answer: Result<T, StoreError>) {
    assert!(
        matches!(answer, Err(StoreError::Missing(_))),
        "expected a missing row, got {answer:?}"
    );
}
