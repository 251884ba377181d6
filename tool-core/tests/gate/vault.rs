//! Secrets and variables from a vault, for tools behind a gate.

use tool_core::prelude::*;
use tool_core::store::seal::{NewValue, SealKey, SealKeys, Vault, VaultError};
use tool_core::store::{
    AuditFilter, AuditSink, MemoryStore, Scope, SecretRow, SecretStore, ThreadId, Timestamp,
    VariableScope, VariableType, Workspace,
};
use tool_core::variables::{Thread, Variables};
use tool_core::{Audit, ExposeSecret, Gate, Registry, Rules, SecretStatus, ToolContextBuilder};

const SENTINEL: &str = "sentinel-4711-of-the-vault";

/// Reads the shop's stock.
#[tool(
    secret("engine", label = "Engine", select("tavily", "brave"), optional),
    secret("unused", optional)
)]
async fn read_stock(
    cx: &ToolContext,
    /// The key of the shop. Its console shows it.
    #[secret("shop_key")]
    key: SecretString,
    #[variable("REGION", description = "The region of the shop.")] region: String,
    #[variable("TOKEN", secret)] token: SecretString,
) -> String {
    let others = [cx.secret("other_key"), cx.secret("engine")];
    let others = others.map(|secret| secret.map_or("-", |secret| secret.expose_secret()));
    format!(
        "{region} {} {} {others:?} leak {}",
        key.expose_secret().len(),
        token.expose_secret(),
        key.expose_secret()
    )
}

/// Reads the engine, which this tool declares as a text.
#[tool(secret("engine", optional))]
async fn read_engine(cx: &ToolContext) -> bool {
    cx.secret("engine").is_some()
}

async fn vault(store: &MemoryStore) -> Vault {
    let keys = SealKeys::new("k1", SealKey::new(&[1; 32])).unwrap();
    Vault::open(store.clone(), keys).await.unwrap()
}

async fn secret(vault: &Vault, workspace: &str, name: &str, value: &str) {
    let (workspace, value) = (Workspace::new(workspace), SecretString::from(value));
    let set = vault.set_secret(&workspace, name, &value, "olga");
    set.await.unwrap();
}

fn registry() -> Registry {
    Registry::builder().tool::<read_stock>().build().unwrap()
}

fn caller(workspace: &str) -> ToolContextBuilder {
    ToolContext::builder()
        .workspace(workspace)
        .user("ann")
        .agent("support")
        .conversation("main")
}

// S1-14, S4-13: a tool behind a gate gets its declared secrets and variables from its workspace, and secrets are redacted in its output.
#[tokio::test]
async fn a_tool_gets_its_declared_secrets_and_variables_from_the_vault() {
    let store = MemoryStore::default();
    let vault = vault(&store).await;
    let registry = registry();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    for workspace in ["acme", "umbrella"] {
        secret(
            &vault,
            workspace,
            "shop_key",
            &format!("{SENTINEL}-{workspace}"),
        )
        .await;
        secret(&vault, workspace, "other_key", "of another tool").await;
        let scope = VariableScope::workspace(workspace);
        let region = NewValue::declared("REGION", VariableType::Text, workspace);
        vault
            .set_variables(&scope, vec![region], "olga")
            .await
            .unwrap();
    }
    // `TOKEN` is set without a declaration, so it is a secret.
    let agent = VariableScope::agent("acme", "support").unwrap();
    let token = NewValue::undeclared("TOKEN", "the-token-of-acme");
    vault
        .set_variables(&agent, vec![token], "olga")
        .await
        .unwrap();

    let cx = caller("acme")
        .stored(&vault, registry.tools())
        .await
        .unwrap()
        .build();
    let tools = registry.toolset(&cx, &Rules::default()).through(&gate);
    let result = tools
        .call(ToolCall::new("1", "read_stock", "{}"), &cx)
        .await;
    assert_eq!(
        result.model_text(),
        "acme 31 [secret:TOKEN] [\"-\", \"-\"] leak [secret:shop_key]"
    );
    let rows = store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    assert_eq!(rows.len(), 1);
    assert!(!format!("{rows:?}").contains(SENTINEL));

    // The workspace `umbrella` has no `TOKEN`, so its call reports the variable as missing.
    let cx = caller("umbrella")
        .stored(&vault, registry.tools())
        .await
        .unwrap()
        .build();
    let tools = registry.toolset(&cx, &Rules::default()).through(&gate);
    let result = tools
        .call(ToolCall::new("1", "read_stock", "{}"), &cx)
        .await;
    let missing = result.error().unwrap().missing_variables();
    assert_eq!(
        missing.iter().map(|need| &*need.name).collect::<Vec<_>>(),
        ["TOKEN"]
    );

    // A workspace without the secret does not see the tool.
    let cx = caller("globex")
        .stored(&vault, registry.tools())
        .await
        .unwrap()
        .build();
    let tools = registry.toolset(&cx, &Rules::default());
    assert!(tools.get("read_stock").is_none());
}

// S4-20: the first of thread, agent, user and workspace with a stored value decides; a value that the host sets overrides them.
#[tokio::test]
async fn the_nearest_stored_variable_wins() {
    let store = MemoryStore::default();
    let vault = vault(&store).await;
    let registry = registry();
    let thread = ThreadId::new("acme", "main").unwrap();
    let scopes = [
        VariableScope::workspace("acme"),
        VariableScope::user("acme", "ann").unwrap(),
        VariableScope::agent("acme", "support").unwrap(),
        VariableScope::thread(&thread),
    ];
    for other in [
        VariableScope::workspace("umbrella"),
        VariableScope::user("acme", "eve").unwrap(),
        VariableScope::agent("acme", "sales").unwrap(),
        VariableScope::prompt("acme", "main").unwrap(),
        VariableScope::thread(&ThreadId::new("acme", "side").unwrap()),
    ] {
        let region = NewValue::declared("REGION", VariableType::Text, "wrong");
        vault
            .set_variables(&other, vec![region], "olga")
            .await
            .unwrap();
    }
    let region = async || {
        let cx = caller("acme")
            .stored(&vault, registry.tools())
            .await
            .unwrap()
            .build();
        cx.variable("REGION").map(str::to_owned)
    };
    assert_eq!(region().await, None);
    for (at, scope) in scopes.iter().enumerate() {
        let value = NewValue::declared("REGION", VariableType::Text, at.to_string());
        vault
            .set_variables(scope, vec![value], "olga")
            .await
            .unwrap();
        assert_eq!(region().await, Some(at.to_string()));
    }
    secret(&vault, "acme", "shop_key", "stored-key").await;
    let own = caller("acme")
        .variable("REGION", "own")
        .secret("shop_key", "own-key-of-the-host");
    let cx = own.stored(&vault, registry.tools()).await.unwrap().build();
    assert_eq!(cx.variable("REGION"), Some("own"));
    assert_eq!(
        cx.secret("shop_key").unwrap().expose_secret(),
        "own-key-of-the-host"
    );

    // A host that builds its own `Thread` opens each level by itself.
    let level = Variables::open(&vault, &scopes[2], ["REGION", "ABSENT"])
        .await
        .unwrap();
    let found = Thread::new().agent(&level).find("REGION").unwrap().1;
    assert_eq!(found.expose(), "2");
}

#[tokio::test]
async fn secret_copied_to_another_workspace_is_refused() {
    let store = MemoryStore::default();
    let vault = vault(&store).await;
    secret(&vault, "acme", "shop_key", SENTINEL).await;
    let acme = Workspace::new("acme");
    let row = store
        .secrets(&acme, &["shop_key".to_owned()])
        .await
        .unwrap()
        .remove(0);
    let copy = SecretRow::new(
        "umbrella",
        "shop_key",
        row.id,
        row.sealed,
        "eve",
        Timestamp::now(),
    );
    store.put_secret(copy).await.unwrap();
    let refused = caller("umbrella").stored(&vault, registry().tools()).await;
    assert!(matches!(refused.err(), Some(VaultError::Damaged { .. })));
}

// S1-37: the list of secrets marks missing secrets, and shows the choice of a selection, but never the value of a text.
#[tokio::test]
async fn secret_status_shows_missing_keys_and_choices_and_no_text() {
    let store = MemoryStore::default();
    let vault = vault(&store).await;
    let registry = registry();
    let acme = Workspace::new("acme");
    let list = async || {
        SecretStatus::list(&vault, &acme, registry.tools())
            .await
            .unwrap()
    };
    let states = |list: &[SecretStatus]| -> Vec<(String, bool, bool, Option<String>)> {
        let states = list.iter();
        states
            .map(|one| {
                (
                    one.key.clone(),
                    one.is_missing(),
                    one.set.is_some(),
                    one.choice.clone(),
                )
            })
            .collect()
    };
    let state = |key: &str, missing, set, choice: Option<&str>| {
        (key.to_owned(), missing, set, choice.map(str::to_owned))
    };
    let before = list().await;
    assert_eq!(
        states(&before),
        [
            state("engine", false, false, None),
            state("shop_key", true, false, None),
            state("unused", false, false, None)
        ]
    );
    assert_eq!(before[0].choices, ["tavily", "brave"]);
    assert_eq!(
        (before[0].label.as_deref(), &*before[0].optional_for),
        (Some("Engine"), &["read_stock".to_owned()][..])
    );
    assert_eq!(before[1].required_by, ["read_stock"]);
    assert_eq!(
        before[1].description.as_deref(),
        Some("The key of the shop. Its console shows it.")
    );

    secret(&vault, "acme", "engine", "brave").await;
    secret(&vault, "acme", "shop_key", SENTINEL).await;
    secret(&vault, "umbrella", "unused", "of umbrella").await;
    let after = list().await;
    assert_eq!(
        states(&after),
        [
            state("engine", false, true, Some("brave")),
            state("shop_key", false, true, None),
            state("unused", false, false, None)
        ]
    );
    assert_eq!(after[1].set.as_ref().unwrap().by, "olga");
    assert!(!serde_json::to_string(&after).unwrap().contains("sentinel"));

    // A value that is not one of the choices is not shown, because it may be a secret that was entered in the wrong place.
    secret(&vault, "acme", "engine", SENTINEL).await;
    let wrong = list().await;
    assert_eq!(wrong[0].choice, None);
    // If one tool declares the key as a text, its value is never shown.
    secret(&vault, "acme", "engine", "brave").await;
    let both = Registry::builder()
        .tool::<read_stock>()
        .tool::<read_engine>()
        .build()
        .unwrap();
    let both = SecretStatus::list(&vault, &acme, both.tools())
        .await
        .unwrap();
    assert_eq!((&both[0].choice, both[0].choices.len()), (&None, 0));
    assert_eq!(both[0].optional_for, ["read_engine", "read_stock"]);
}
