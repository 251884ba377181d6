//! A substitute for a tool whose signature or attribute has an error, so that uses of the tool do not cause further errors.

use std::future::Future;

use tool_schema::__private0::{Lowered, Spec};

use super::asks::not_started;
use crate::error::ToolError;
use crate::output::Returned;
use crate::schema::dialect::{Dialects, Hints};
use crate::schema::{Kind, Schema, Text};
use crate::tool::{StaticDef, ToolDef};

/// The spec of the substitute. It has no name, which prevents name conflicts, and no provider, which excludes it from the limits of providers.
pub static FAULTY_SPEC: Spec = Spec {
    name: "",
    title: None,
    description: Text::escaped("-"),
    input: &Schema::new(Kind::Object(&[])).checked(),
    examples: &[],
    providers: Dialects::NONE,
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: false,
        open_world: false,
    },
};

static DEF: StaticDef = StaticDef::bare(
    &FAULTY_SPEC,
    |_| Lowered {
        definition: "",
        schema: "",
    },
    not_started,
);

/// The definition of the substitute.
pub const FAULTY_DEF: ToolDef = ToolDef::linked(&DEF);

/// Returns the run of the substitute, which never completes.
pub fn faulty_run() -> impl Future<Output = Result<Returned<()>, ToolError>> + Send + 'static {
    std::future::pending()
}
