//! The sealed columns of the SQL stores, and the places of their values.

use crate::store::{KeyId, PlanRunId, SealedColumn, SealedPlace, ThreadId, Workspace};

use super::statement::{SqlDatabase, Statement, Value};

/// A sealed column. Its table has the alias `t` in statements.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    column: SealedColumn,
    pub(crate) table: &'static str,
    /// The column of the values.
    pub(crate) sealed: &'static str,
    /// The column of the ids of the keys.
    pub(crate) key: &'static str,
    /// The expressions of the parts of [`SealedPlace`].
    workspace: &'static str,
    owner: &'static str,
    id: &'static str,
    /// The columns by which lists are ordered. In the index on the column `key`, they follow this column.
    pub(crate) order: &'static str,
}

/// Returns the source of a column.
pub(crate) const fn source(column: SealedColumn) -> Source {
    let by_id = Source {
        column,
        table: "secret",
        sealed: "sealed",
        key: "seal_key",
        workspace: "t.workspace",
        owner: "''",
        id: "t.id",
        order: "t.workspace, t.id",
    };
    match column {
        SealedColumn::Secret => by_id,
        SealedColumn::Variable => Source {
            table: "variable",
            owner: "t.level || ':' || t.owner",
            ..by_id
        },
        SealedColumn::Arguments => Source {
            table: "approval",
            ..by_id
        },
        SealedColumn::EditedArguments => Source {
            table: "approval",
            sealed: "edited_sealed",
            key: "edited_key",
            ..by_id
        },
        SealedColumn::Message => Source {
            table: "message",
            owner: "t.conversation",
            id: "CAST(t.seq AS TEXT)",
            order: "t.workspace, t.conversation, t.seq",
            ..by_id
        },
        SealedColumn::SpillChunk => Source {
            table: "spill_chunk",
            workspace: "s.workspace",
            owner: "s.principal",
            id: "t.handle || ':' || CAST(t.start AS TEXT)",
            order: "t.handle, t.start",
            ..by_id
        },
        SealedColumn::ThreadEvent => Source {
            table: "thread_event",
            owner: "t.conversation",
            id: "CAST(t.seq AS TEXT)",
            order: "t.workspace, t.conversation, t.seq",
            ..by_id
        },
        SealedColumn::PlanSpec => Source {
            sealed: "spec_sealed",
            key: "spec_key",
            ..of_plan_run(by_id)
        },
        SealedColumn::PlanState => of_plan_run(by_id),
        SealedColumn::Response => Source {
            table: "request",
            owner: "t.caller",
            id: "t.key",
            order: "t.workspace, t.caller, t.key",
            ..by_id
        },
    }
}

/// Returns a source in the table of the runs of plans.
const fn of_plan_run(source: Source) -> Source {
    Source {
        table: "plan_run",
        owner: "t.conversation",
        id: "CAST(t.number AS TEXT)",
        order: "t.workspace, t.conversation, t.number",
        ..source
    }
}

impl Source {
    /// Returns the tables of the `FROM` clause: the table of the column, and for chunks the table with the workspace and the user of the output.
    fn tables<DB: SqlDatabase>(&self) -> String {
        let (schema, table) = (DB::SCHEMA, self.table);
        match self.column {
            SealedColumn::SpillChunk => {
                format!("{schema}{table} t JOIN {schema}spill s ON s.handle = t.handle")
            }
            _ => format!("{schema}{table} t"),
        }
    }

    /// Returns the condition that a row of the table has the place that a row `c` with the columns of [`Position`] describes.
    pub(crate) fn at<DB: SqlDatabase>(&self) -> String {
        let schema = DB::SCHEMA;
        match self.column {
            SealedColumn::Message | SealedColumn::ThreadEvent => {
                "t.workspace = c.workspace AND t.conversation = c.owner AND t.seq = c.number"
                    .to_owned()
            }
            SealedColumn::PlanSpec | SealedColumn::PlanState => {
                "t.workspace = c.workspace AND t.conversation = c.owner AND t.number = c.number"
                    .to_owned()
            }
            SealedColumn::SpillChunk => format!(
                "t.handle = c.name AND t.start = c.number AND EXISTS (SELECT 1 FROM {schema}spill s \
                 WHERE s.handle = t.handle AND s.workspace = c.workspace AND s.principal = c.owner)"
            ),
            _ => format!(
                "t.workspace = c.workspace AND {} = c.owner AND {} = c.name",
                self.owner, self.id
            ),
        }
    }
}

/// A place as values of columns.
pub(crate) struct Position {
    pub(crate) workspace: String,
    pub(crate) owner: String,
    /// The id, or its text before the number.
    pub(crate) name: String,
    /// The number in the id; `None` if it has none.
    pub(crate) number: Option<i64>,
}

impl Position {
    pub(crate) fn of(place: &SealedPlace) -> Self {
        let (name, number) = match place.column {
            SealedColumn::Message
            | SealedColumn::ThreadEvent
            | SealedColumn::PlanSpec
            | SealedColumn::PlanState => ("", Some(place.id.as_str())),
            SealedColumn::SpillChunk => match place.id.rsplit_once(':') {
                Some((handle, start)) => (handle, Some(start)),
                None => ("", None),
            },
            _ => (place.id.as_str(), None),
        };
        Self {
            workspace: place.workspace.to_string(),
            owner: place.owner.clone(),
            name: name.to_owned(),
            number: number.and_then(|number| number.parse().ok()),
        }
    }

    /// Returns the values of the columns of [`Source::order`].
    fn ordered(self, column: SealedColumn) -> Vec<Value> {
        let number = Value::Number(self.number);
        match column {
            SealedColumn::Message
            | SealedColumn::ThreadEvent
            | SealedColumn::PlanSpec
            | SealedColumn::PlanState => {
                vec![self.workspace.into(), self.owner.into(), number]
            }
            SealedColumn::SpillChunk => vec![self.name.into(), number],
            SealedColumn::Response => {
                vec![self.workspace.into(), self.owner.into(), self.name.into()]
            }
            _ => vec![self.workspace.into(), self.name.into()],
        }
    }
}

/// Returns the query for the number of values of each column and key.
pub(crate) fn counts<DB: SqlDatabase>() -> Statement<DB> {
    let counts = SealedColumn::ALL.iter().map(|column| {
        let (Source { table, key, .. }, schema) = (source(*column), DB::SCHEMA);
        format!("SELECT '{column}' AS sealed_column, {key} AS seal_key, count(*) AS amount FROM {schema}{table} WHERE {key} IS NOT NULL GROUP BY {key}")
    });
    Statement::part(counts.collect::<Vec<_>>().join(" UNION ALL "))
}

/// Returns the query for a page of the values of a column that a key has sealed: the values after a place, or the first values.
pub(crate) fn listing<DB: SqlDatabase>(
    column: SealedColumn,
    key: &KeyId,
    after: Option<&SealedPlace>,
    most: u32,
) -> Statement<DB> {
    let source = source(column);
    let mut query = Statement::part(format!(
        "SELECT {} AS workspace, {} AS id, {} AS place_owner, t.{} AS sealed FROM {} WHERE t.{} = ",
        source.workspace,
        source.id,
        source.owner,
        source.sealed,
        source.tables::<DB>(),
        source.key
    ));
    query.bind(key.as_str());
    if let Some(after) = after {
        query.push(format_args!(" AND ({}) > (", source.order));
        for (at, value) in Position::of(after).ordered(column).into_iter().enumerate() {
            query.push(if at > 0 { ", " } else { "" }).bind(value);
        }
        query.push(")");
    }
    query.push(format_args!(" ORDER BY {}", source.order));
    query.limit(Some(most));
    query
}

/// The places of sealed values in their tables.
pub(crate) mod place {
    use super::{PlanRunId, SealedColumn, SealedPlace, ThreadId, Workspace};

    fn at(column: SealedColumn, workspace: &Workspace, owner: &str, id: String) -> SealedPlace {
        SealedPlace {
            column,
            workspace: workspace.clone(),
            id,
            owner: owner.to_owned(),
        }
    }

    /// Returns the place of the arguments of a request for an approval.
    pub(crate) fn arguments(workspace: &Workspace, id: &str) -> SealedPlace {
        at(SealedColumn::Arguments, workspace, "", id.to_owned())
    }

    /// Returns the place of the arguments of an edited answer.
    pub(crate) fn edited(workspace: &Workspace, id: &str) -> SealedPlace {
        at(SealedColumn::EditedArguments, workspace, "", id.to_owned())
    }

    pub(crate) fn message(thread: &ThreadId, seq: u64) -> SealedPlace {
        let conversation = thread.conversation();
        let workspace = thread.workspace();
        at(
            SealedColumn::Message,
            workspace,
            conversation,
            seq.to_string(),
        )
    }

    pub(crate) fn thread_event(thread: &ThreadId, seq: u64) -> SealedPlace {
        let conversation = thread.conversation();
        let workspace = thread.workspace();
        at(
            SealedColumn::ThreadEvent,
            workspace,
            conversation,
            seq.to_string(),
        )
    }

    /// Returns the place of the compiled plan of a run.
    pub(crate) fn plan_spec(run: &PlanRunId) -> SealedPlace {
        of_plan(SealedColumn::PlanSpec, run)
    }

    /// Returns the place of the state of a run of a plan.
    pub(crate) fn plan_state(run: &PlanRunId) -> SealedPlace {
        of_plan(SealedColumn::PlanState, run)
    }

    fn of_plan(column: SealedColumn, run: &PlanRunId) -> SealedPlace {
        let (thread, number) = (run.thread(), run.number().to_string());
        at(column, thread.workspace(), thread.conversation(), number)
    }

    /// Returns the place of the chunk of a spilled output that begins at a byte.
    pub(crate) fn chunk(
        workspace: &Workspace,
        principal: &str,
        handle: &str,
        start: u64,
    ) -> SealedPlace {
        let id = format!("{handle}:{start}");
        at(SealedColumn::SpillChunk, workspace, principal, id)
    }

    /// Returns the place of the stored response of an idempotency key.
    pub(crate) fn response(workspace: &Workspace, caller: &str, key: &str) -> SealedPlace {
        at(SealedColumn::Response, workspace, caller, key.to_owned())
    }
}
