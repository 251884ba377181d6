//! Checks of a tool that is created at run time, and its definition for each provider.

use std::borrow::Cow;

use tool_rules::Rule;
use tool_schema::__private0::{adapted, judged};

use super::super::output::OutputCheck;
use super::def::Written;
use super::non_strict::OPEN;
use super::{DynamicDef, DynamicSchema, DynamicTool, Providers};
use crate::args::Issue;
use crate::schema::dialect::{Dialect, Dialects};
use crate::schema::dynamic::{DynSchema, SchemaFault};
use crate::schema::rules::is_tool_name;

impl DynamicTool {
    /// Checks the tool and writes its definitions, or returns its faults.
    pub(crate) fn into_def(self) -> Result<DynamicDef, Vec<String>> {
        let def = self.into_unproven_def()?;
        let issues = def.example_issues();
        if issues.is_empty() {
            return Ok(def);
        }
        let text = |issue: Issue| {
            let Issue {
                pointer,
                expected,
                found,
            } = issue;
            format!("`{pointer}`: expected {expected}, found {found}")
        };
        Err(issues.into_iter().map(text).collect())
    }

    /// Does the same as [`into_def`](Self::into_def), without a check of the examples.
    pub(crate) fn into_unproven_def(mut self) -> Result<DynamicDef, Vec<String>> {
        let mut faults = Vec::new();
        match wire_of(&self.def.name) {
            Some(wire) => self.def.wire = wire.into_owned(),
            None => faults.push(Rule::DYNAMIC_TOOL_NAME.message.to_owned()),
        }
        for (at, alias) in self.def.aliases.iter().enumerate() {
            if wire_of(alias).is_none() {
                faults.push(format!(
                    "the alias `{alias}` is not a tool name: use 1 to 64 letters, digits, `_` and `-`, and a letter first"
                ));
            } else if *alias == self.def.name {
                faults.push(format!(
                    "the tool's own name `{alias}` cannot be its alias: pass an earlier name, or remove the alias"
                ));
            } else if self.def.aliases[..at].contains(alias) {
                faults.push(format!("the alias `{alias}` is stated twice: keep one"));
            }
        }
        if self.def.description.trim().is_empty() {
            faults.push(Rule::DYNAMIC_DESCRIPTION_MISSING.message.to_owned());
        }
        let DynamicSchema { own, read } = &self.schema;
        // Only a tool with a check is offered as not strict, and only with a schema that is JSON.
        let own = own.as_ref().filter(|_| self.def.check.is_some());
        if let (Err(found), None) = (read, own) {
            faults.extend(found.iter().map(SchemaFault::to_string));
            return Err(faults);
        }
        let asked = Dialect::ALL
            .into_iter()
            .filter(|dialect| match &self.providers {
                Providers::Stated(stated) => stated.contains(*dialect),
                Providers::Accepting => true,
            });
        let judged: Vec<_> = match read {
            Ok(schema) => judged(*schema, asked).collect(),
            Err(found) => asked.map(|dialect| (dialect, Err(found.clone()))).collect(),
        };
        for (dialect, mut text) in judged {
            if let (Err(_), Some(own)) = (&text, own) {
                self.def.non_strict = self.def.non_strict.with(dialect);
                text = adapted(own, dialect).map(|adapted| adapted.schema);
            }
            match text {
                Ok(text) => {
                    let definition = self.def.definition(dialect, &text);
                    self.def.texts.0[dialect.index()] = Written::new(definition, &text);
                }
                Err(found) => {
                    self.def.non_strict = self.def.non_strict.without(dialect);
                    if let Providers::Stated(_) = self.providers {
                        let described =
                            |fault: &SchemaFault| format!("{}: {fault}", dialect.name());
                        faults.extend(found.iter().map(described));
                    }
                }
            }
        }
        if self.def.promise.is_none() {
            match self.def.output_schema.as_deref().map(OutputCheck::read) {
                None => {}
                Some(Ok(promise)) => self.def.promise = Some(promise),
                Some(Err(fault)) => faults.push(fault),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        self.def.parsed = read.as_ref().ok().copied();
        self.def.input = self.def.parsed.map_or(OPEN, DynSchema::schema);
        // A tool that is strict everywhere is validated by its schema tree, like any other tool.
        if self.def.non_strict == Dialects::NONE {
            self.def.check = None;
        }
        Ok(self.def)
    }
}

/// Returns the name that the model sees: `ns:name` becomes `ns__name`, others are unchanged. `None` if the result is not a valid tool name.
pub(crate) fn wire_of(name: &str) -> Option<Cow<'_, str>> {
    let wire = match name.split_once(':') {
        None => Cow::Borrowed(name),
        Some(("", _) | (_, "")) => return None,
        Some((space, name)) => Cow::Owned(format!("{space}__{name}")),
    };
    is_tool_name(&wire).then_some(wire)
}
