//! Tests of shared budgets.

use crate::*;

use super::records::at;
use super::{at_once, conflict, tests};

/// The traits of a store whose budgets are erased and purged.
#[doc(hidden)]
pub trait Budgeted: BudgetStore + Maintenance {}

impl<T: BudgetStore + Maintenance> Budgeted for T {}

fn id(name: &str) -> BudgetId {
    BudgetId::new(&Workspace::new("acme"), name).unwrap()
}

fn tokens(tokens: u64) -> BudgetAmount {
    BudgetAmount {
        tokens,
        cost_micros: 0,
    }
}

fn amount(tokens: u64, cost_micros: u64) -> BudgetAmount {
    BudgetAmount {
        tokens,
        cost_micros,
    }
}

/// Returns a reservation from the budget `main`, which has a limit of 1,000 tokens.
fn new(step: &str, amount: BudgetAmount) -> NewReservation {
    NewReservation {
        budget: id("main"),
        step: step.to_owned(),
        amount,
        limits: BudgetLimits {
            tokens: Some(1_000),
            cost_micros: None,
        },
        at: at(100),
    }
}

fn end(step: &str, spent: BudgetAmount) -> BudgetSettlement {
    BudgetSettlement {
        budget: id("main"),
        step: step.to_owned(),
        spent,
        unmeasured: 0,
        at: at(200),
    }
}

async fn reserve(store: &impl BudgetStore, new: NewReservation) -> Option<BudgetAmount> {
    match store.reserve_budget(new).await.unwrap() {
        Reserved::Held(amount, _) => Some(amount),
        Reserved::Refused(_) => None,
    }
}

async fn row(store: &impl BudgetStore) -> BudgetRow {
    store.budget(&id("main")).await.unwrap().unwrap()
}

async fn names(store: &impl BudgetStore, scope: Scope<'_>, filter: BudgetFilter) -> Vec<String> {
    let rows = store.list_budgets(scope, &filter).await.unwrap();
    rows.iter().map(|row| row.id.name().to_owned()).collect()
}

tests! {
    ($) __suite_budget in budget for Budgeted;

    // A reservation counts until the usage of the step replaces it.
    #[test]
    async fn reservation_is_replaced_by_the_usage(store: impl BudgetStore) {
        let store = &store;
        assert_eq!(store.budget(&id("main")).await.unwrap(), None);
        assert_eq!(reserve(store, new("a", tokens(700))).await, Some(tokens(700)));
        let Reserved::Refused(refused) = store.reserve_budget(new("b", tokens(301))).await.unwrap() else { panic!("held") };
        assert_eq!((refused.taken(), refused.spent), (tokens(700), tokens(0)));
        assert_eq!(reserve(store, new("b", tokens(300))).await, Some(tokens(300)));

        let settled = store.settle_budget(end("a", tokens(250))).await.unwrap().unwrap();
        assert_eq!((settled.reserved, settled.spent), (tokens(300), tokens(250)));
        assert_eq!((settled.created, settled.updated, settled.overrun), (at(100), at(200), None));
        assert_eq!(row(store).await, settled);
        // A reservation is settled once, and the step can then reserve again.
        assert_eq!(store.settle_budget(end("a", tokens(250))).await.unwrap(), None);
        assert_eq!(store.settle_budget(end("c", tokens(9))).await.unwrap(), None);
        assert_eq!(reserve(store, new("a", tokens(450))).await, Some(tokens(450)));
        assert_eq!(reserve(store, new("d", tokens(1))).await, None);
        assert_eq!(reserve(store, new("d", tokens(0))).await, Some(tokens(0)));
    }

    // A step that is repeated after a crash keeps its reservation and does not get a second one. A larger amount raises the reservation, if the
    // budget allows it.
    #[test]
    async fn repeated_step_has_one_reservation(store: impl BudgetStore) {
        let store = &store;
        assert_eq!(reserve(store, new("a", tokens(600))).await, Some(tokens(600)));
        for wanted in [600, 0, 599] {
            assert_eq!(reserve(store, new("a", tokens(wanted))).await, Some(tokens(600)));
        }
        assert_eq!(reserve(store, new("a", tokens(900))).await, Some(tokens(900)));
        assert_eq!(reserve(store, new("a", tokens(1_001))).await, None);
        assert_eq!(row(store).await.reserved, tokens(900));
        store.settle_budget(end("a", tokens(100))).await.unwrap().unwrap();
        assert_eq!((row(store).await.reserved, row(store).await.taken()), (tokens(0), tokens(100)));
    }

    // The first settlement that exceeds a limit is recorded. After that, nothing can be reserved until the limit is raised.
    #[test]
    async fn overrun_is_recorded_and_ends_the_budget(store: impl BudgetStore) {
        let store = &store;
        reserve(store, new("a", tokens(500))).await.unwrap();
        reserve(store, new("b", tokens(500))).await.unwrap();
        let overrun = store.settle_budget(end("a", tokens(1_001))).await.unwrap().unwrap();
        assert_eq!(overrun.overrun, Some(at(200)));
        let later = BudgetSettlement { at: at(300), ..end("b", tokens(1)) };
        assert_eq!(store.settle_budget(later).await.unwrap().unwrap().overrun, Some(at(200)));
        assert_eq!(reserve(store, new("c", tokens(0))).await, None);
        let limits = BudgetLimits { tokens: Some(2_000), cost_micros: None };
        assert_eq!(reserve(store, NewReservation { limits, ..new("c", tokens(998)) }).await, Some(tokens(998)));
        assert_eq!((row(store).await.limits, row(store).await.overrun), (limits, Some(at(200))));
    }

    // A budget for tokens and cost checks both limits.
    #[test]
    async fn cost_has_a_limit_of_its_own(store: impl BudgetStore) {
        let store = &store;
        let limits = BudgetLimits { tokens: Some(1_000), cost_micros: Some(50) };
        let new = |step: &str, amount| NewReservation { limits, ..new(step, amount) };
        assert_eq!(reserve(store, new("a", amount(10, 51))).await, None);
        assert_eq!(reserve(store, new("a", amount(10, 30))).await, Some(amount(10, 30)));
        // Of the two amounts for a step, the larger is reserved for each limit.
        assert_eq!(reserve(store, new("a", amount(5, 40))).await, Some(amount(10, 40)));
        assert_eq!(reserve(store, new("b", amount(1_000, 1))).await, None);
        let settled = BudgetSettlement { unmeasured: 2, ..end("a", amount(9, 51)) };
        let row = store.settle_budget(settled).await.unwrap().unwrap();
        assert_eq!((row.spent, row.unmeasured, row.overrun), (amount(9, 51), 2, Some(at(200))));
    }

    // An amount or a sum above `i64::MAX` is stored as `i64::MAX`.
    #[test]
    async fn sums_do_not_overflow(store: impl BudgetStore) {
        let store = &store;
        let limits = BudgetLimits { tokens: None, cost_micros: Some(10) };
        let new = |step: &str, amount| NewReservation { limits, ..new(step, amount) };
        let most = tokens(i64::MAX as u64);
        assert_eq!(reserve(store, new("a", tokens(u64::MAX))).await, Some(most));
        assert_eq!(reserve(store, new("b", tokens(u64::MAX))).await, Some(most));
        store.settle_budget(end("a", tokens(u64::MAX))).await.unwrap().unwrap();
        let last = store.settle_budget(end("b", amount(u64::MAX, u64::MAX))).await.unwrap().unwrap();
        assert_eq!((last.spent.tokens, last.overrun), (i64::MAX as u64, Some(at(200))));
        assert_eq!(row(store).await, last);
    }

    // Budgets without a limit are refused, and names of budgets and steps that are empty or contain a NUL character.
    #[test]
    async fn faulty_reservations_are_refused(store: impl BudgetStore) {
        let store = &store;
        let endless = NewReservation { limits: BudgetLimits::default(), ..new("a", tokens(1)) };
        conflict(store.reserve_budget(endless).await, "the budget `main` of workspace `acme` has no limit");
        for step in ["", "a\0"] {
            conflict(store.reserve_budget(new(step, tokens(1))).await, "name the step");
        }
        let workspace = Workspace::new("acme");
        for name in ["", "a\0"] {
            conflict(BudgetId::new(&workspace, name), "the name of the budget");
        }
        assert_eq!(store.budget(&id("main")).await.unwrap(), None);
    }

    // Lists are ordered, have pages, and contain only the rows of their scope. A removed budget starts again with 0.
    #[test]
    async fn budgets_are_listed_and_removed(store: impl BudgetStore) {
        let store = &store;
        let umbrella = BudgetId::new(&Workspace::new("umbrella"), "a").unwrap();
        for budget in [id("b"), id("grün/%_'"), id("a"), umbrella.clone()] {
            reserve(store, NewReservation { budget, ..new("s", tokens(5)) }).await.unwrap();
        }
        let all = BudgetFilter::default();
        let (acme, other) = (Workspace::new("acme"), Workspace::new("umbrella"));
        let own = Scope::Workspace(&acme);
        assert_eq!(names(store, Scope::All, all.clone()).await, ["a", "b", "grün/%_'", "a"]);
        assert_eq!(names(store, own, all.clone()).await, ["a", "b", "grün/%_'"]);
        let page = BudgetFilter { limit: Some(1), after: Some(id("a")) };
        for scope in [Scope::All, own] {
            assert_eq!(names(store, scope, page.clone()).await, ["b"]);
        }
        assert_eq!(names(store, Scope::Workspace(&other), page.clone()).await, ["a"]);
        let late = BudgetFilter { limit: None, after: Some(umbrella) };
        assert_eq!(names(store, own, late).await, [""; 0]);

        assert!(store.remove_budget(&id("b")).await.unwrap());
        assert!(!store.remove_budget(&id("b")).await.unwrap());
        assert_eq!(store.budget(&id("b")).await.unwrap(), None);
        let lost = BudgetSettlement { budget: id("b"), ..end("s", tokens(5)) };
        assert_eq!(store.settle_budget(lost).await.unwrap(), None);
        reserve(store, NewReservation { budget: id("b"), ..new("s", tokens(7)) }).await.unwrap();
        assert_eq!(store.budget(&id("b")).await.unwrap().unwrap().reserved, tokens(7));
    }

    // A budget without an open reservation is purged after its retention, and the erasure of a conversation removes the budget
    // that has the name of the conversation.
    #[test]
    async fn purge_and_erasure_remove_budgets(store: impl BudgetStore + Maintenance) {
        let in_budget = |name: &str, step: &str| NewReservation { budget: id(name), ..new(step, tokens(100)) };
        for name in ["main", "other", "open"] {
            assert!(reserve(&store, in_budget(name, "one")).await.is_some());
        }
        for name in ["main", "other"] {
            let settled = BudgetSettlement { budget: id(name), ..end("one", tokens(10)) };
            assert!(store.settle_budget(settled).await.unwrap().is_some());
        }
        let foreign = NewReservation { budget: BudgetId::new(&Workspace::new("globex"), "main").unwrap(), ..new("one", tokens(100)) };
        assert!(reserve(&store, foreign).await.is_some());

        let day = std::time::Duration::from_hours(24);
        let retention = Retention { budgets: Some(day), ..Retention::default() };
        let later = |millis: i64| at(200 + 24 * 3_600_000 + millis);
        let purge = async |now, most| store.purge(&retention, now, most).await.unwrap();
        assert_eq!(purge(later(0), 10).await.budgets, 0);
        let purged = purge(later(1), 1).await;
        assert_eq!((purged.budgets, purged.more), (1, true));
        let kept = names(&store, Scope::Workspace(&Workspace::new("acme")), BudgetFilter::default()).await;
        assert_eq!(kept.len(), 2, "{kept:?}");
        assert_eq!(purge(later(1), 10).await.budgets, 1);
        // The budget `open` is kept, because it has an open reservation.
        let scope = Workspace::new("acme");
        assert_eq!(names(&store, Scope::Workspace(&scope), BudgetFilter::default()).await, ["open"]);
        assert_eq!(store.purge(&Retention::default(), later(1), 10).await.unwrap().budgets, 0);

        let thread = ThreadId::new("acme", "open").unwrap();
        store.erase_contents(Erasure::Thread(&thread)).await.unwrap();
        assert!(store.budget(&id("open")).await.unwrap().is_none());
        // Other workspaces keep their budgets.
        assert_eq!(names(&store, Scope::All, BudgetFilter::default()).await, ["main"]);
        assert!(reserve(&store, in_budget("open", "two")).await.is_some());
    }
}

tests! {
    ($) __suite_budget_races in budget for BudgetStore;

    // 32 tasks of two processes that reserve at the same time never exceed the budget, even if it does not exist yet.
    #[test]
    fn concurrent_reservations_do_not_exceed_the_budget(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let held = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move { reserve(&store, new(&format!("step {task}"), tokens(100))).await }
            }).await;
            assert_eq!(held.iter().flatten().count(), 10);
            assert_eq!(row(&stores[0]).await.reserved, tokens(1_000));
        });
    }

    // Tasks of two processes that reserve and settle many steps at the same time never use more than the budget, and no settlement is lost.
    #[test]
    fn concurrent_settlements_are_added_up(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let spent = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move {
                    let mut spent = 0;
                    for round in 0..4 {
                        let step = format!("{task}/{round}");
                        if reserve(&store, new(&step, tokens(60))).await.is_some() {
                            store.settle_budget(end(&step, tokens(25))).await.unwrap().unwrap();
                            spent += 25;
                        }
                    }
                    spent
                }
            }).await;
            let row = row(&stores[1]).await;
            assert_eq!((row.spent.tokens, row.reserved, row.overrun), (spent.iter().sum(), tokens(0), None));
            assert!((25..=1_000).contains(&row.spent.tokens), "{row:?}");
        });
    }

    // If 32 tasks of two processes repeat one step, they share one reservation, and one task settles it.
    #[test]
    fn concurrent_repetitions_share_one_reservation(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let held = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move { reserve(&store, new("a", tokens(900))).await }
            }).await;
            assert_eq!(held, [Some(tokens(900)); 32]);
            let settled = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move { store.settle_budget(end("a", tokens(80))).await.unwrap() }
            }).await;
            assert_eq!(settled.iter().flatten().count(), 1);
            assert_eq!(row(&stores[0]).await.taken(), tokens(80));
        });
    }
}
