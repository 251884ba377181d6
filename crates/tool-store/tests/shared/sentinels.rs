//! Values that no file of a database may contain.

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use secrecy::SecretString;
use tool_store::seal::{NewValue, NewVariableRequest, Vault};
use tool_store::{ThreadId, VariableField, VariableScope, VariableType, Workspace, digest};

/// Returns a text in clear, in hex, and the parts of its base64 that do not depend on the bytes before and after it.
fn spellings(text: &str) -> Vec<Vec<u8>> {
    let mut all = vec![text.as_bytes().to_vec()];
    let hex = digest::hex(text.as_bytes());
    all.push(hex.to_uppercase().into_bytes());
    all.push(hex.into_bytes());
    for skipped in 0..3 {
        let rest = &text.as_bytes()[skipped..];
        let whole = &rest[..rest.len() / 3 * 3];
        all.push(STANDARD_NO_PAD.encode(whole).into_bytes());
    }
    all
}

/// A search for texts in clear, in hex and in base64.
pub(crate) struct Search(AhoCorasick);

impl Search {
    pub(crate) fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let spellings = texts.into_iter().flat_map(spellings);
        Self(AhoCorasick::new(spellings).unwrap())
    }

    /// Returns whether bytes contain a text.
    pub(crate) fn finds(&self, bytes: &[u8]) -> bool {
        self.0.is_match(bytes)
    }
}

/// Stores values in every way in which the vault seals them, and returns the values.
pub(crate) async fn fill(vault: &Vault) -> Vec<String> {
    let acme = Workspace::new("acme");
    let thread = ThreadId::new("acme", "main").unwrap();
    let mut values = Vec::new();
    let mut sentinel = |path: &str| {
        let value = format!("sentinel-of-{path}-4711");
        values.push(value.clone());
        SecretString::from(value)
    };
    let secret = |value: SecretString| async move {
        vault
            .set_secret(&Workspace::new("acme"), "a", &value, "olga")
            .await
            .unwrap();
    };
    secret(sentinel("first-secret")).await;
    secret(sentinel("second-secret")).await;
    vault
        .set_secret(&acme, "gone", &sentinel("removed-secret"), "olga")
        .await
        .unwrap();
    vault
        .rename_secret(&acme, "gone", "renamed", "olga")
        .await
        .unwrap();
    vault.remove_secret(&acme, "renamed").await.unwrap();
    for scope in [
        VariableScope::workspace("acme"),
        VariableScope::user("acme", "u").unwrap(),
        VariableScope::prompt("acme", "p").unwrap(),
        VariableScope::agent("acme", "a").unwrap(),
        VariableScope::thread(&thread),
    ] {
        let of = |kind: &str| format!("{kind}-{}", scope.level());
        let rows = vec![
            NewValue::declared("A", VariableType::Secret, sentinel(&of("declared"))),
            NewValue::undeclared("B", sentinel(&of("undeclared"))),
        ];
        vault.set_variables(&scope, rows, "olga").await.unwrap();
    }
    let id = vault
        .request_variables(NewVariableRequest {
            thread: thread.clone(),
            agent: "sales".to_owned(),
            target: VariableScope::agent("acme", "sales").unwrap(),
            required: vec![
                VariableField::new("T", VariableType::Secret),
                VariableField::new("U", VariableType::Secret),
            ],
        })
        .await
        .unwrap();
    for name in ["T", "U"] {
        let value = sentinel(&format!("request-{name}"));
        let answer = vault.answer_variables(&thread, &id, [(name.to_owned(), value)], "ann");
        answer.await.unwrap();
    }
    values
}
