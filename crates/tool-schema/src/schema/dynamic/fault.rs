//! Faults of a schema, and the targets that reject the schema because of them.

use core::fmt;

use tool_rules::Rule;
pub use tool_rules::{Target, Targets};

/// A fault of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaFault {
    /// The id of the rule, such as `open-object`.
    pub rule: &'static str,
    /// Location in the schema: a JSON pointer, empty for the root.
    pub pointer: String,
    /// The problem, and what to write instead.
    pub text: String,
    /// The targets that reject the schema because of the fault: all targets if the schema cannot be read into the tree, and none for a note of
    /// [`DynSchema::notes`](super::DynSchema::notes).
    pub targets: Targets,
}

impl SchemaFault {
    /// Creates a fault with the rule's text, in which the facts replace the placeholders.
    pub(super) fn new(
        rule: &Rule,
        pointer: &str,
        targets: Targets,
        facts: &[&dyn fmt::Display],
    ) -> Self {
        Self {
            rule: rule.id,
            pointer: pointer.to_owned(),
            text: rule.text_with(facts).to_string(),
            targets,
        }
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() {
            "/"
        } else {
            &self.pointer
        };
        write!(f, "`{place}`: [{}] {}", self.rule, self.text)
    }
}

/// The faults of a schema text, from which [`accepts`](Self::accepts) decides for each target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdicts {
    faults: Vec<SchemaFault>,
}

impl Verdicts {
    pub(super) const fn new(faults: Vec<SchemaFault>) -> Self {
        Self { faults }
    }

    /// Returns whether the target accepts the text unchanged.
    pub fn accepts(&self, target: Target) -> bool {
        self.against(target).next().is_none()
    }

    /// Returns all faults: first the faults of single nodes in the order of the schema, then the faults of references and of size
    /// limits.
    pub fn faults(&self) -> &[SchemaFault] {
        &self.faults
    }

    /// Returns the faults that make the target reject the text.
    pub fn against(&self, target: Target) -> impl Iterator<Item = &SchemaFault> {
        self.faults
            .iter()
            .filter(move |fault| fault.targets.contains(target))
    }
}
