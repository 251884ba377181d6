//! Conversion of rows, including rows of joins, to functions, versions, tools and bindings.

use crate::store::{
    AgentBinding, Function, FunctionVersion, RetentionTier, StoreError, StoredTool, ToolSchema,
    ToolSource, ToolTarget, Workspace,
};
use serde::de::DeserializeOwned;

use crate::sql::columns::{Columns, FromColumn, SqlRow};

const FUNCTION: &[&str] = &[
    "id",
    "workspace",
    "name",
    "description",
    "code",
    "default_version",
    "runtime_user",
    "effects",
    "created_by",
    "created_at",
    "updated_at",
];

const VERSION: &[&str] = &[
    "id",
    "workspace",
    "function",
    "number",
    "parent",
    "label",
    "files",
    "uses",
    "input_schema",
    "output_schema",
    "created_by",
    "created_at",
];

const TOOL: &[&str] = &[
    "id",
    "workspace",
    "name",
    "description",
    "target",
    "function",
    "function_version",
    "input_schema",
    "output_schema",
    "examples",
    "requires_confirmation",
    "enabled",
    "system",
    "source",
    "created_by",
    "runtime_user",
    "deleted_at",
    "retention_tier",
    "created_at",
    "updated_at",
];

/// The columns of a binding.
pub(super) const BINDING: &str = "workspace, agent, tool, set_by, at";

/// The table of a column in a join.
#[derive(Clone, Copy)]
pub(crate) enum Prefix {
    /// No prefix, for a query of one table.
    None,
    /// `t`, with the columns `t_…`.
    Tool,
    /// `f`, with the columns `f_…`.
    Function,
    /// `v`, with the columns `v_…`.
    Version,
}

impl Prefix {
    fn letter(self) -> Option<char> {
        match self {
            Self::None => None,
            Self::Tool => Some('t'),
            Self::Function => Some('f'),
            Self::Version => Some('v'),
        }
    }

    /// Returns the name of a column in the result.
    fn name(self, column: &str) -> String {
        match self.letter() {
            None => column.to_owned(),
            Some(letter) => format!("{letter}_{column}"),
        }
    }

    fn list(self, columns: &[&str]) -> String {
        let named = columns.iter().map(|column| match self.letter() {
            None => (*column).to_owned(),
            Some(letter) => format!("{letter}.{column} AS {letter}_{column}"),
        });
        named.collect::<Vec<_>>().join(", ")
    }
}

pub(super) fn function_columns(prefix: Prefix) -> String {
    prefix.list(FUNCTION)
}

pub(super) fn version_columns(prefix: Prefix) -> String {
    prefix.list(VERSION)
}

pub(super) fn tool_columns(prefix: Prefix) -> String {
    prefix.list(TOOL)
}

/// The columns of one table in a row.
#[derive(Clone, Copy)]
struct Part<'r> {
    columns: Columns<'r>,
    prefix: Prefix,
}

impl<'r> Part<'r> {
    fn new(row: &'r impl SqlRow, table: &'static str, prefix: Prefix) -> Self {
        let key = match prefix {
            Prefix::None => "id",
            Prefix::Tool => "t_id",
            Prefix::Function => "f_id",
            Prefix::Version => "v_id",
        };
        let columns = Columns::new(row, table, key);
        Self { columns, prefix }
    }

    fn get<T: FromColumn<'r>>(self, column: &str) -> Result<T, StoreError> {
        self.columns.get(&self.prefix.name(column))
    }

    fn maybe<T: FromColumn<'r>>(self, column: &str) -> Result<Option<T>, StoreError> {
        self.columns.maybe(&self.prefix.name(column))
    }

    /// Returns a free text that may be null.
    fn maybe_text(self, column: &str) -> Result<Option<String>, StoreError> {
        self.columns.maybe_text(&self.prefix.name(column))
    }

    fn json<T: DeserializeOwned>(self, column: &str) -> Result<T, StoreError> {
        self.columns.json(&self.prefix.name(column))
    }

    fn maybe_json<T: DeserializeOwned>(self, column: &str) -> Result<Option<T>, StoreError> {
        if self.maybe::<&str>(column)?.is_none() {
            return Ok(None);
        }
        self.json(column).map(Some)
    }

    fn time(self, column: &str) -> Result<crate::store::Timestamp, StoreError> {
        self.columns.time(&self.prefix.name(column))
    }

    fn owner(self) -> Result<Option<Workspace>, StoreError> {
        Ok(self.maybe::<&str>("workspace")?.map(Workspace::new))
    }

    fn schema(self, column: &str) -> Result<ToolSchema, StoreError> {
        let text: &str = self.get(column)?;
        let corrupt = |error| self.columns.corrupt(&self.prefix.name(column), error);
        ToolSchema::new(text).map_err(corrupt)
    }

    fn maybe_schema(self, column: &str) -> Result<Option<ToolSchema>, StoreError> {
        if self.maybe::<&str>(column)?.is_none() {
            return Ok(None);
        }
        self.schema(column).map(Some)
    }

    fn word<T>(self, column: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, StoreError> {
        self.columns.word(&self.prefix.name(column), read)
    }
}

pub(super) fn read_function(row: &impl SqlRow, prefix: Prefix) -> Result<Function, StoreError> {
    let part = Part::new(row, "function", prefix);
    Ok(Function {
        id: part.get("id")?,
        workspace: part.owner()?,
        name: part.get("name")?,
        description: part.maybe_text("description")?,
        kind: part.json("code")?,
        default_version: part.maybe("default_version")?,
        runtime_user: part.maybe("runtime_user")?,
        effects: part.maybe_json("effects")?,
        created_by: part.maybe("created_by")?,
        created_at: part.time("created_at")?,
        updated_at: part.time("updated_at")?,
    })
}

pub(super) fn read_version(
    row: &impl SqlRow,
    prefix: Prefix,
) -> Result<FunctionVersion, StoreError> {
    let part = Part::new(row, "function_version", prefix);
    Ok(FunctionVersion {
        id: part.get("id")?,
        workspace: part.owner()?,
        function: part.get("function")?,
        number: part.columns.number(&prefix.name("number"))?,
        parent: part.maybe("parent")?,
        label: part.maybe_text("label")?,
        files: part.json("files")?,
        uses: part.json("uses")?,
        input_schema: part.schema("input_schema")?,
        output_schema: part.schema("output_schema")?,
        created_by: part.maybe("created_by")?,
        created_at: part.time("created_at")?,
    })
}

pub(super) fn read_tool(row: &impl SqlRow, prefix: Prefix) -> Result<StoredTool, StoreError> {
    let part = Part::new(row, "stored_tool", prefix);
    let tier = match part.maybe::<&str>("retention_tier")? {
        None => None,
        Some(_) => Some(part.word("retention_tier", RetentionTier::from_word)?),
    };
    Ok(StoredTool {
        id: part.get("id")?,
        workspace: part.owner()?,
        name: part.get("name")?,
        description: part.maybe_text("description")?,
        target: part.word("target", ToolTarget::from_word)?,
        function: part.maybe("function")?,
        function_version: part.maybe("function_version")?,
        input_schema: part.maybe_schema("input_schema")?,
        output_schema: part.maybe_schema("output_schema")?,
        examples: part.maybe_json("examples")?,
        requires_confirmation: part.get("requires_confirmation")?,
        enabled: part.get("enabled")?,
        system: part.get("system")?,
        source: part.word("source", ToolSource::from_word)?,
        created_by: part.maybe("created_by")?,
        runtime_user: part.maybe("runtime_user")?,
        deleted_at: part.columns.maybe_time(&prefix.name("deleted_at"))?,
        retention_tier: tier,
        created_at: part.time("created_at")?,
        updated_at: part.time("updated_at")?,
    })
}

pub(super) fn read_binding(row: &impl SqlRow) -> Result<AgentBinding, StoreError> {
    let columns = Columns::new(row, "agent_tool", "tool");
    Ok(AgentBinding::new(
        columns.workspace()?,
        columns.get::<String>("agent")?,
        columns.get::<String>("tool")?,
        columns.get::<String>("set_by")?,
        columns.time("at")?,
    ))
}
