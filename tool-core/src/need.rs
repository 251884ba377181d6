//! Declarations of the secrets and variables that a tool needs.

use std::borrow::Cow;

use tool_rules::Rule;

/// A secret that a tool needs. Its value is redacted in the output of the tool, unless it is a choice of fewer than 6 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretNeed {
    /// Key in the host's store.
    pub key: Cow<'static, str>,
    /// How an operator enters the secret.
    pub kind: SecretKind,
    /// Name for people. If it is `None`, people see the key.
    pub label: Option<Cow<'static, str>>,
    /// Help for the operator who enters the secret.
    pub description: Option<Cow<'static, str>>,
    /// Whether the tool can work without the secret.
    pub optional: bool,
}

/// How an operator enters a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretKind {
    /// The operator types a text, which the host hides.
    Text,
    /// The operator picks one of these choices, which are not hidden.
    Select(Cow<'static, [Cow<'static, str>]>),
}

impl SecretNeed {
    /// Creates a required secret that is entered as text.
    pub const fn new(key: &'static str) -> Self {
        Self {
            key: Cow::Borrowed(key),
            kind: SecretKind::Text,
            label: None,
            description: None,
            optional: false,
        }
    }
}

/// A variable that a tool needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableNeed {
    /// Name in the host's store.
    pub name: Cow<'static, str>,
    /// Whether the value may be shown.
    pub kind: VariableKind,
    /// Help for the person who enters the value.
    pub description: Option<Cow<'static, str>>,
    /// Whether a call of the tool waits until the variable has a value.
    pub required: bool,
    /// Whether a child thread does not inherit the value of its parent thread.
    pub scoped: bool,
}

/// Whether a variable may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// Plain text, which may be written into prompts.
    Text,
    /// A secret: a vault stores it encrypted, it is not written into prompts, and it is redacted in results.
    Secret,
}

impl VariableKind {
    /// Returns the name of the kind.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Secret => "secret",
        }
    }
}

impl VariableNeed {
    /// Creates a required plain variable.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            kind: VariableKind::Text,
            description: None,
            required: true,
            scoped: false,
        }
    }
}

/// A fault of a declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    EmptyKey,
    NoChoices,
    EmptyChoice,
    Twice,
    OtherKind,
}

impl Fault {
    const fn text(self) -> &'static str {
        match self {
            Self::EmptyKey => Rule::SECRET_KEY_EMPTY.message,
            Self::NoChoices => Rule::SECRET_CHOICES_MISSING.message,
            Self::EmptyChoice => Rule::SECRET_CHOICE_EMPTY.message,
            Self::Twice => Rule::SECRET_TWICE.message,
            Self::OtherKind => Rule::VARIABLE_KINDS.message,
        }
    }
}

#[expect(clippy::ptr_arg, reason = "const evaluation cannot call `Deref`")]
const fn text_of<'a>(text: &'a Cow<'static, str>) -> &'a str {
    match text {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => text.as_str(),
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

const fn secrets_fault(needs: &[SecretNeed]) -> Option<(usize, Fault)> {
    let mut i = 0;
    while i < needs.len() {
        if text_of(&needs[i].key).is_empty() {
            return Some((i, Fault::EmptyKey));
        }
        if let SecretKind::Select(choices) = &needs[i].kind {
            let choices = match choices {
                Cow::Borrowed(choices) => *choices,
                Cow::Owned(choices) => choices.as_slice(),
            };
            if choices.is_empty() {
                return Some((i, Fault::NoChoices));
            }
            let mut k = 0;
            while k < choices.len() {
                if text_of(&choices[k]).is_empty() {
                    return Some((i, Fault::EmptyChoice));
                }
                k += 1;
            }
        }
        let mut k = 0;
        while k < i {
            if same(text_of(&needs[i].key), text_of(&needs[k].key)) {
                return Some((i, Fault::Twice));
            }
            k += 1;
        }
        i += 1;
    }
    None
}

const fn variables_fault(needs: &[VariableNeed]) -> Option<(usize, Fault)> {
    let mut i = 0;
    while i < needs.len() {
        if text_of(&needs[i].name).is_empty() {
            return Some((i, Fault::EmptyKey));
        }
        let mut k = 0;
        while k < i {
            if same(text_of(&needs[i].name), text_of(&needs[k].name))
                && needs[i].kind as u8 != needs[k].kind as u8
            {
                return Some((i, Fault::OtherKind));
            }
            k += 1;
        }
        i += 1;
    }
    None
}

/// Refuses a malformed declaration of secrets at compile time.
///
/// # Panics
///
/// Panics in const evaluation if a declaration has a fault. The message describes the fault.
#[doc(hidden)]
#[track_caller]
#[expect(clippy::panic, reason = "const evaluation reports by panicking")]
pub const fn check_secrets(needs: &[SecretNeed]) {
    if let Some((_, fault)) = secrets_fault(needs) {
        panic!("{}", fault.text());
    }
}

/// Refuses a malformed declaration of variables at compile time.
///
/// # Panics
///
/// Panics in const evaluation if a declaration has a fault. The message describes the fault.
#[doc(hidden)]
#[track_caller]
#[expect(clippy::panic, reason = "const evaluation reports by panicking")]
pub const fn check_variables(needs: &[VariableNeed]) {
    if let Some((_, fault)) = variables_fault(needs) {
        panic!("{}", fault.text());
    }
}

/// Checks declarations at run time, for tools that the compiler did not check.
pub(crate) fn fault_of(secrets: &[SecretNeed], variables: &[VariableNeed]) -> Option<String> {
    if let Some((at, fault)) = secrets_fault(secrets) {
        return Some(format!("{} (secret `{}`)", fault.text(), secrets[at].key));
    }
    let (at, fault) = variables_fault(variables)?;
    Some(format!(
        "{} (variable `{}`)",
        fault.text(),
        variables[at].name
    ))
}
