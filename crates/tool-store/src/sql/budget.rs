//! Rows and statements of budgets.

use crate::store::{
    BudgetAmount, BudgetFilter, BudgetId, BudgetLimits, BudgetRow, BudgetSettlement,
    NewReservation, Reserved, Scope, StoreError, ThreadId, Workspace,
};

use super::columns::{Columns, SqlRow};
use super::statement::{SqlChange, SqlDatabase, SqlReader, Statement, Value};

const TABLE: &str = "budget";

const RESERVATIONS: &str = "budget_reservation";

const COLUMNS: &str = "workspace, name, most_tokens, most_cost, reserved_tokens, reserved_cost, spent_tokens, spent_cost, unmeasured, overrun, created, \
     updated";

fn read(row: &impl SqlRow) -> Result<BudgetRow, StoreError> {
    let columns = Columns::new(row, TABLE, "name");
    let id = BudgetId::new(&columns.workspace()?, columns.get::<&str>("name")?);
    let id = id.map_err(|error| columns.corrupt("name", error))?;
    let limits = BudgetLimits {
        tokens: columns.maybe_number("most_tokens")?,
        cost_micros: columns.maybe_number("most_cost")?,
    };
    let mut row = BudgetRow::new(id, limits, columns.time("created")?);
    row.reserved = amount(columns, "reserved_tokens", "reserved_cost")?;
    row.spent = amount(columns, "spent_tokens", "spent_cost")?;
    row.unmeasured = columns.number("unmeasured")?;
    row.overrun = columns.maybe_time("overrun")?;
    row.updated = columns.time("updated")?;
    Ok(row)
}

fn amount(columns: Columns<'_>, tokens: &str, cost: &str) -> Result<BudgetAmount, StoreError> {
    Ok(BudgetAmount {
        tokens: columns.number(tokens)?,
        cost_micros: columns.number(cost)?,
    })
}

/// Returns the query for the row of a budget.
pub(crate) fn one<DB: SqlDatabase>(id: &BudgetId) -> Statement<DB> {
    let mut query = Statement::select(COLUMNS, TABLE);
    query.push("workspace = ").bind(id.workspace().as_str());
    query.narrow("name", Some(id.name()));
    query
}

/// Returns the query for a page of rows.
pub(crate) fn listing<DB: SqlDatabase>(scope: Scope<'_>, filter: &BudgetFilter) -> Statement<DB> {
    let own = scope.workspace().map(Workspace::as_str);
    let mut query = Statement::select(COLUMNS, TABLE);
    query.push("TRUE").narrow("workspace", own);
    let after = filter.after.as_ref();
    let after = after.map(|after| (after.workspace(), after.name()));
    query.after(own, "name", after);
    query.limit(filter.limit);
    query
}

/// Returns the query for the reservation of a step.
pub(crate) fn reservation<DB: SqlDatabase>(id: &BudgetId, step: &str) -> Statement<DB> {
    let mut query = Statement::select("tokens, cost, step", RESERVATIONS);
    query.push("workspace = ").bind(id.workspace().as_str());
    query.narrow("name", Some(id.name()));
    query.narrow("step", Some(step));
    query
}

fn removal<DB: SqlDatabase>(table: &str, id: &BudgetId, step: Option<&str>) -> Statement<DB> {
    let mut removal = Statement::delete(table);
    removal.push("workspace = ").bind(id.workspace().as_str());
    removal.narrow("name", Some(id.name()));
    removal.narrow("step", step);
    removal
}

async fn save<C: SqlChange>(db: &mut C, row: &BudgetRow) -> Result<(), C::Fault> {
    let number = |number: Option<u64>| match number {
        Some(number) => Value::from(number),
        None => Value::Number(None),
    };
    let values: [(_, Value); 12] = [
        ("workspace", row.workspace().as_str().into()),
        ("name", row.id.name().into()),
        ("most_tokens", number(row.limits.tokens)),
        ("most_cost", number(row.limits.cost_micros)),
        ("reserved_tokens", row.reserved.tokens.into()),
        ("reserved_cost", row.reserved.cost_micros.into()),
        ("spent_tokens", row.spent.tokens.into()),
        ("spent_cost", row.spent.cost_micros.into()),
        ("unmeasured", row.unmeasured.into()),
        ("overrun", row.overrun.into()),
        ("created", row.created.into()),
        ("updated", row.updated.into()),
    ];
    let changed = [
        "most_tokens",
        "most_cost",
        "reserved_tokens",
        "reserved_cost",
        "spent_tokens",
        "spent_cost",
        "unmeasured",
        "overrun",
        "updated",
    ];
    let save = Statement::insert(TABLE, values).or_update("workspace, name", &changed);
    db.write(save).await?;
    Ok(())
}

/// Returns the row of a budget, and locks the row for a change.
async fn locked<C: SqlChange>(db: &mut C, id: &BudgetId) -> Result<Option<BudgetRow>, C::Fault> {
    let rows = db.read_locked(|| one(id)).await?;
    Ok(rows.first().map(read).transpose()?)
}

/// Returns the open reservation of a step. The transaction has locked the row of the budget.
async fn held<C: SqlChange>(
    db: &mut C,
    id: &BudgetId,
    step: &str,
) -> Result<Option<BudgetAmount>, C::Fault> {
    let rows = db.read(|| reservation(id, step)).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let columns = Columns::new(row, RESERVATIONS, "step");
    Ok(Some(amount(columns, "tokens", "cost")?))
}

/// Implements [`BudgetStore::reserve_budget`](crate::store::BudgetStore::reserve_budget), after [`NewReservation::check`]. No other transaction
/// creates the row of the budget at the same time.
pub(crate) async fn reserve<C: SqlChange>(
    db: &mut C,
    new: &NewReservation,
) -> Result<Reserved, C::Fault> {
    let id = &new.budget;
    let (mut row, held) = match locked(db, id).await? {
        Some(row) => (row, held(db, id, &new.step).await?),
        None => (BudgetRow::new(id.clone(), new.limits, new.at), None),
    };
    let Some(amount) = row.reserve(held, new) else {
        return Ok(Reserved::Refused(Box::new(row)));
    };
    save(db, &row).await?;
    let values: [(_, Value); 6] = [
        ("workspace", id.workspace().as_str().into()),
        ("name", id.name().into()),
        ("step", new.step.as_str().into()),
        ("tokens", amount.tokens.into()),
        ("cost", amount.cost_micros.into()),
        ("at", new.at.into()),
    ];
    let reservation = Statement::insert(RESERVATIONS, values);
    let key = "workspace, name, step";
    db.write(reservation.or_update(key, &["tokens", "cost"]))
        .await?;
    Ok(Reserved::Held(amount, Box::new(row)))
}

/// Implements [`BudgetStore::settle_budget`](crate::store::BudgetStore::settle_budget).
pub(crate) async fn settle<C: SqlChange>(
    db: &mut C,
    end: &BudgetSettlement,
) -> Result<Option<BudgetRow>, C::Fault> {
    let Some(mut row) = locked(db, &end.budget).await? else {
        return Ok(None);
    };
    let Some(held) = held(db, &end.budget, &end.step).await? else {
        return Ok(None);
    };
    row.settle(held, end);
    save(db, &row).await?;
    db.write(removal(RESERVATIONS, &end.budget, Some(&end.step)))
        .await?;
    Ok(Some(row))
}

/// Implements [`BudgetStore::budget`](crate::store::BudgetStore::budget).
pub(crate) async fn budget<R: SqlReader>(
    db: &mut R,
    id: &BudgetId,
) -> Result<Option<BudgetRow>, R::Fault> {
    let rows = db.read(|| one(id)).await?;
    Ok(rows.first().map(read).transpose()?)
}

/// Implements [`BudgetStore::list_budgets`](crate::store::BudgetStore::list_budgets).
pub(crate) async fn list<R: SqlReader>(
    db: &mut R,
    scope: Scope<'_>,
    filter: &BudgetFilter,
) -> Result<Vec<BudgetRow>, R::Fault> {
    let rows = db.read(|| listing(scope, filter)).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Implements [`BudgetStore::remove_budget`](crate::store::BudgetStore::remove_budget).
pub(crate) async fn remove<C: SqlChange>(db: &mut C, id: &BudgetId) -> Result<bool, C::Fault> {
    // A reservation of another transaction waits for this lock, and then creates a new budget.
    let existed = locked(db, id).await?.is_some();
    db.write(removal(RESERVATIONS, id, None)).await?;
    db.write(removal(TABLE, id, None)).await?;
    Ok(existed)
}

/// Removes the budget that has the name of an erased conversation.
pub(crate) async fn erase<C: SqlChange>(db: &mut C, thread: &ThreadId) -> Result<(), C::Fault> {
    let id = BudgetId::new(thread.workspace(), thread.conversation())?;
    remove(db, &id).await?;
    Ok(())
}
