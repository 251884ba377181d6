//! A tool with a changed name or description, or with more required secrets or aliases.

#[cfg(feature = "host")]
use std::sync::Arc;
use std::sync::OnceLock;

use serde_json::Value;
use serde_json::value::RawValue;

use super::def::{Own, Source, ToolDef};
use super::{SecretNeed, VariableNeed};
use crate::context::ToolFacts;
use crate::effect::Effect;
use crate::json::Entries;
use crate::schema::dialect::Dialect;

/// A tool with the name and the description that a toolset gives it, and with the secrets and aliases that the host adds. All other properties are
/// the same as in the original tool.
pub(super) struct Exposed {
    pub(super) own: Own,
    pub(super) name: String,
    pub(super) description: Option<String>,
    /// The secrets, if the host requires secrets that the tool does not require.
    pub(super) secrets: Option<Vec<SecretNeed>>,
    /// The aliases that the host states, in addition to the aliases of the tool.
    pub(super) aliases: Vec<String>,
    #[cfg(feature = "host")]
    pub(super) contract: OnceLock<Arc<str>>,
    /// The definitions, written when they are first needed.
    definitions: [OnceLock<String>; Dialect::COUNT],
}

impl Exposed {
    /// Creates a definition that differs from the tool's own at most in its name.
    pub(super) fn new(own: Own, name: String) -> Self {
        Self {
            own,
            name,
            description: None,
            secrets: None,
            aliases: Vec::new(),
            #[cfg(feature = "host")]
            contract: OnceLock::new(),
            definitions: Default::default(),
        }
    }

    /// Returns a copy without the cached texts, so that it can be changed.
    pub(super) fn copy(&self) -> Self {
        Self {
            description: self.description.clone(),
            secrets: self.secrets.clone(),
            aliases: self.aliases.clone(),
            ..Self::new(self.own.clone(), self.name.clone())
        }
    }

    pub(super) fn definition(&self, dialect: Dialect) -> &str {
        self.definitions[dialect.index()].get_or_init(|| {
            let own = ToolDef(Source::Own(self.own.clone()));
            self.rewrite(own.definition(dialect), own.description())
        })
    }

    /// Rewrites the definition with the new name and description. Everything else is copied byte by byte.
    fn rewrite(&self, definition: &str, description: &str) -> String {
        let Ok(Entries(entries)) = serde_json::from_str(definition) else {
            return String::new();
        };
        let mut text = String::with_capacity(definition.len() + self.name.len());
        text.push('{');
        for (i, (key, value)) in entries.into_iter().enumerate() {
            text.push_str(if i == 0 { "" } else { "," });
            text.push_str(&Value::from(key.as_str()).to_string());
            text.push(':');
            match key.as_str() {
                "name" => text.push_str(&Value::from(self.name.as_str()).to_string()),
                "description" => text.push_str(&self.described(value, description)),
                "function" => text.push_str(&self.rewrite(value.get(), description)),
                _ => text.push_str(value.get()),
            }
        }
        text.push('}');
        text
    }

    /// Replaces the tool's own description. Text after it, such as examples, is kept.
    fn described(&self, value: &RawValue, own: &str) -> String {
        let Some(description) = &self.description else {
            return value.get().to_owned();
        };
        let whole: String = serde_json::from_str(value.get()).unwrap_or_default();
        let rest = whole.strip_prefix(own).unwrap_or_default();
        Value::from(format!("{description}{rest}")).to_string()
    }
}

impl Exposed {
    fn facts(&self) -> &dyn ToolFacts {
        match &self.own {
            Own::Static(def) => *def,
            Own::Dynamic(def) => &**def,
        }
    }
}

impl ToolFacts for Exposed {
    fn name(&self) -> &str {
        self.facts().name()
    }

    #[cfg(feature = "host")]
    fn is_named(&self, name: &str) -> bool {
        self.facts().is_named(name) || self.aliases.iter().any(|alias| alias == name)
    }

    fn effect(&self) -> Effect {
        self.facts().effect()
    }

    fn secrets(&self) -> &[SecretNeed] {
        match &self.secrets {
            Some(secrets) => secrets,
            None => self.facts().secrets(),
        }
    }

    fn variables(&self) -> &[VariableNeed] {
        self.facts().variables()
    }

    #[cfg(feature = "host")]
    fn may_run_again(&self) -> bool {
        self.facts().may_run_again()
    }
}
