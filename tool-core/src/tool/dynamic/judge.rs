//! Whether a tool that is made at run time may be offered, and how it is.

use std::borrow::Cow;

use super::super::output::Promise;
use super::{DynamicDef, DynamicTool, Providers};
use crate::schema::dialect::Dialect;
use crate::schema::dynamic::Fault;
use crate::schema::rules::is_tool_name;

impl DynamicTool {
    /// Judges it and writes its definitions, or says what is wrong.
    pub(crate) fn into_def(mut self) -> Result<DynamicDef, Vec<String>> {
        let mut faults = Vec::new();
        match wire_of(&self.def.name) {
            Some(wire) => self.def.wire = wire.into_owned(),
            None => faults.push(
                "[tool-name] use 1 to 64 letters, digits, `_` and `-`, or two such parts as `namespace:name`".to_owned(),
            ),
        }
        if self.def.description.trim().is_empty() {
            faults.push("[missing-description] say what it does and when to use it".to_owned());
        }
        let schema = match self.schema.0 {
            Ok(schema) => schema,
            Err(found) => {
                faults.extend(found.iter().map(Fault::to_string));
                return Err(faults);
            }
        };
        for dialect in Dialect::ALL {
            let found = match &self.providers {
                Providers::Stated(stated) if !stated.contains(dialect) => continue,
                _ => schema.faults(dialect),
            };
            if found.is_empty() {
                let text = schema.text(dialect);
                let definition = self.def.definition(dialect, &text);
                self.def.texts.0[dialect.index()] = (definition, text);
            } else if let Providers::Stated(_) = self.providers {
                faults.extend(
                    found
                        .iter()
                        .map(|fault| format!("{}: {fault}", dialect.name())),
                );
            }
        }
        match self.def.output_schema.as_deref().map(Promise::read) {
            None => {}
            Some(Ok(promise)) => self.def.promise = Some(promise),
            Some(Err(fault)) => faults.push(fault),
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        self.def.input = schema.schema();
        self.def.parsed = Some(schema);
        Ok(self.def)
    }
}

/// How a tool's name travels: as it is, and `ns:name` as `ns__name`. `None` where no provider takes it.
pub(crate) fn wire_of(name: &str) -> Option<Cow<'_, str>> {
    let wire = match name.split_once(':') {
        None => Cow::Borrowed(name),
        Some(("", _) | (_, "")) => return None,
        Some((space, name)) => Cow::Owned(format!("{space}__{name}")),
    };
    is_tool_name(&wire).then_some(wire)
}
