//! Secrets and variables of a tool.

use tool_core::{ExposeSecret as _, SecretKind, VariableKind, prelude::*};

use crate::{call, schema};

/// Asks an upstream, for this test.
#[tool(
    secret("provider", label = "Provider", select("tavily", "brave"), optional),
    variable("REGION", description = "Where it runs.", scoped, optional),
    variable("TOKEN", secret, optional)
)]
async fn ask_upstream(
    /// Key of the upstream. Its console shows it.
    #[secret("upstream_key", label = "Upstream key")]
    key: SecretString,
    #[secret("second_key")] second: Option<SecretString>,
    #[variable("RETRIES", description = "The number of attempts.")] retries: u8,
    #[variable("BASE")] base: Option<String>,
    cx: &ToolContext,
    /// The question to ask.
    question: String,
) -> String {
    let region = cx.variable("REGION").unwrap_or("nowhere");
    format!(
        "{question} {} {} {retries} {base:?} {region}",
        key.expose_secret().len(),
        second.is_some()
    )
}

// S1-06: a secret is declared with its key, kind and label and may be optional, and its value is injected into the call.
#[test]
fn secrets_are_declared_and_injected() {
    let def = <ask_upstream as Tool>::DEF;
    let secrets: Vec<_> = def
        .secrets()
        .iter()
        .map(|need| {
            (
                need.key.to_string(),
                need.label.as_deref().unwrap_or("").to_owned(),
                need.optional,
            )
        })
        .collect();
    let own = |key: &str, label: &str, optional| (key.to_owned(), label.to_owned(), optional);
    assert_eq!(
        secrets,
        [
            own("provider", "Provider", true),
            own("upstream_key", "Upstream key", false),
            own("second_key", "", true)
        ]
    );
    let SecretKind::Select(choices) = &def.secrets()[0].kind else {
        panic!("the secret is not a choice");
    };
    assert_eq!(
        choices.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        ["tavily", "brave"]
    );
    assert_eq!(def.secrets()[1].kind, SecretKind::Text);
    assert_eq!(
        def.secrets()[1].description.as_deref(),
        Some("Key of the upstream. Its console shows it.")
    );

    let cx = ToolContext::builder()
        .secret("upstream_key", SecretString::from("123456"))
        .variable("RETRIES", "3")
        .variable("REGION", "eu")
        .build();
    assert_eq!(
        call("ask_upstream", r#"{"question":"x"}"#, &cx).model_text(),
        "x 6 false 3 None eu"
    );
    assert!(
        call(
            "ask_upstream",
            r#"{"question":"x"}"#,
            &ToolContext::anonymous()
        )
        .is_error()
    );
    let keys: Vec<_> = schema::<ask_upstream>()["properties"]
        .as_object()
        .expect("the value is an object")
        .keys()
        .cloned()
        .collect();
    assert_eq!(keys, ["question"]);
}

#[test]
fn variables_are_declared() {
    let def = <ask_upstream as Tool>::DEF;
    let variables: Vec<_> = def
        .variables()
        .iter()
        .map(|need| (need.name.to_string(), need.kind, need.required, need.scoped))
        .collect();
    assert_eq!(
        variables,
        [
            ("REGION".to_owned(), VariableKind::Text, false, true),
            ("TOKEN".to_owned(), VariableKind::Secret, false, false),
            ("RETRIES".to_owned(), VariableKind::Text, true, false),
            ("BASE".to_owned(), VariableKind::Text, false, false),
        ]
    );
}
