//! Validation of the arguments of tools that are created at run time, strict or not.

use std::borrow::Cow;
use std::sync::Arc;

use super::{DynamicDef, SchemaCheck};
use crate::args::{self, Admitted, Inexact, Issue, Repair};
use crate::schema::{Kind, Schema};

/// The schema of an object with any keys and values.
pub(super) const OPEN: &Schema = &Schema::new(Kind::Map(&Schema::new(Kind::Any)));

impl DynamicDef {
    /// Validates the arguments of a call, as [`args::admit`] does for a linked tool. The handler reads doubles, so a fraction with more digits than a double
    /// has is rounded to the nearest double before any check. The approved number is therefore the number that the handler gets.
    pub(crate) fn admit<'t>(
        &self,
        text: &'t str,
        repair: Repair,
    ) -> Result<Admitted<'t>, Vec<Issue>> {
        let Some(nearest) = args::nearest_doubles(text) else {
            return self.held(text, repair);
        };
        let admitted = self.held(&nearest, repair)?;
        Ok(Admitted {
            text: Cow::Owned(admitted.text.into_owned()),
            repairs: admitted.repairs,
        })
    }

    fn held<'t>(&self, text: &'t str, repair: Repair) -> Result<Admitted<'t>, Vec<Issue>> {
        match &self.check {
            None => args::admit(self.input, text, repair),
            Some(check) => self.checked(check, text, repair),
        }
    }

    /// Does not change arguments that match the tool's own schema. Repairs other arguments if the schema could be read as a tree and the repaired
    /// arguments match the tool's own schema. Rejects all other arguments.
    fn checked<'t>(
        &self,
        check: &Arc<dyn SchemaCheck>,
        text: &'t str,
        repair: Repair,
    ) -> Result<Admitted<'t>, Vec<Issue>> {
        // This accepts any object without duplicate keys.
        let written = args::admit(OPEN, text, repair)?;
        let value = args::value(&written.text).map_err(inexact)?;
        let issues = check.issues(&value);
        if issues.is_empty() {
            return Ok(written);
        }
        let read = self.parsed.and_then(|schema| {
            let admitted = args::admit(schema.schema(), text, repair).ok()?;
            let mut value = args::value(&admitted.text).ok()?;
            schema.restore(&mut value);
            check.issues(&value).is_empty().then(|| Admitted {
                text: Cow::Owned(value.to_string()),
                repairs: admitted.repairs,
            })
        });
        read.ok_or(issues)
    }
}

fn inexact(error: Inexact) -> Vec<Issue> {
    vec![match error {
        Inexact::Number(issue) => issue,
        Inexact::Json(error) => Issue {
            pointer: String::new(),
            expected: "valid JSON".to_owned(),
            found: error.to_string(),
        },
    }]
}
