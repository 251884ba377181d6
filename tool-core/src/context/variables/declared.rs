//! Declarations of variables by agents, prompts and tools.

use std::collections::BTreeMap;

use crate::need::{VariableKind, VariableNeed};

/// The error for a name that is declared with two types.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the variable `{name}` is {} in {first} and {} in {second}, declare it with one type or name one of them differently",
    .kind.as_str(),
    other(*.kind).as_str()
)]
pub struct VariableClash {
    /// Name of the variable.
    pub name: String,
    /// The owner of the first declaration.
    pub first: String,
    /// The type in the first declaration.
    pub kind: VariableKind,
    /// The owner of the declaration with the other type.
    pub second: String,
}

fn other(kind: VariableKind) -> VariableKind {
    match kind {
        VariableKind::Text => VariableKind::Secret,
        VariableKind::Secret => VariableKind::Text,
    }
}

/// All variables that an agent, its prompts, its tools and its sub-agents declare. Each name occurs once.
///
/// A name is required if one declaration requires it, and scoped if one declaration scopes it. The first description is kept.
#[derive(Clone, Debug, Default)]
pub struct Declarations(BTreeMap<String, (VariableNeed, String)>);

impl Declarations {
    /// Creates an empty set of declarations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds declarations. Error texts name their `owner`, such as ``prompt `triage` ``.
    ///
    /// # Errors
    ///
    /// Fails if a name has two types. In that case nothing is added.
    pub fn add<'a>(
        &mut self,
        owner: &str,
        needs: impl IntoIterator<Item = &'a VariableNeed>,
    ) -> Result<(), VariableClash> {
        let mut all = self.0.clone();
        for need in needs {
            join(&mut all, need, owner)?;
        }
        self.0 = all;
        Ok(())
    }

    /// Implements [`Declarations::tools`]: adds the declarations of several owners.
    pub(crate) fn add_all<'a>(
        &mut self,
        owners: impl IntoIterator<Item = (String, &'a [VariableNeed])>,
    ) -> Result<(), VariableClash> {
        let mut all = self.0.clone();
        for (owner, needs) in owners {
            for need in needs {
                join(&mut all, need, &owner)?;
            }
        }
        self.0 = all;
        Ok(())
    }

    /// Adds all declarations of `other`, such as the declarations of a sub-agent.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`add`](Self::add).
    pub fn join(&mut self, other: &Self) -> Result<(), VariableClash> {
        let mut all = self.0.clone();
        for (need, owner) in other.0.values() {
            join(&mut all, need, owner)?;
        }
        self.0 = all;
        Ok(())
    }

    /// Iterates over all declared variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &VariableNeed> {
        self.0.values().map(|(need, _)| need)
    }

    /// Returns the declaration of a name.
    pub fn get(&self, name: &str) -> Option<&VariableNeed> {
        self.0.get(name).map(|(need, _)| need)
    }
}

fn join(
    all: &mut BTreeMap<String, (VariableNeed, String)>,
    need: &VariableNeed,
    owner: &str,
) -> Result<(), VariableClash> {
    let Some((known, first)) = all.get_mut(&*need.name) else {
        let name = need.name.clone().into_owned();
        all.insert(name, (need.clone(), owner.to_owned()));
        return Ok(());
    };
    if known.kind != need.kind {
        return Err(VariableClash {
            name: need.name.clone().into_owned(),
            first: first.clone(),
            kind: known.kind,
            second: owner.to_owned(),
        });
    }
    known.required |= need.required;
    known.scoped |= need.scoped;
    if known.description.is_none() {
        known.description.clone_from(&need.description);
    }
    Ok(())
}
