//! Tests of the rows of keys, sealed secrets, variables and requests for variables. The values here are not encrypted, because a store only copies
//! them.

use crate::*;

use super::records::{acme, at, thread};
use super::{conflict, missing, tests};

fn umbrella() -> Workspace {
    Workspace::new("umbrella")
}

fn key(id: &str) -> KeyId {
    KeyId::new(id).unwrap()
}

/// Returns a value in the form of a sealed value of a key.
fn sealed(id: &str, text: &str) -> Sealed {
    let text = [text.as_bytes(), &[0; Sealed::TAG]].concat();
    Sealed::new(&key(id), &[7; Sealed::NONCE], &text)
}

async fn register(store: &impl SealStore, id: &str) -> SealKeyRow {
    let row = SealKeyRow::new(sealed(id, "check"), at(1));
    store.register_key(row).await.unwrap()
}

fn secret(own: &Workspace, name: &str, by_key: &str) -> SecretRow {
    let value = sealed(by_key, &format!("value of {name}"));
    SecretRow::new(own, name, format!("id of {name}"), value, "olga", at(5))
}

fn clear(scope: &VariableScope, name: &str, text: &str) -> VariableRow {
    let value = VariableValue::Clear(text.into());
    let id = format!("id of {name} of {} {}", scope.level(), scope.owner());
    VariableRow::new(
        scope.clone(),
        name,
        id,
        VariableType::Text,
        value,
        "olga",
        at(5),
    )
}

fn hidden(scope: &VariableScope, name: &str, by_key: &str) -> VariableRow {
    VariableRow {
        kind: VariableType::Secret,
        value: VariableValue::Sealed(sealed(by_key, name)),
        ..clear(scope, name, "")
    }
}

fn listed(list: &[SecretInfo]) -> Vec<(&str, &str)> {
    let names = list.iter();
    names
        .map(|info| (info.workspace.as_str(), &*info.name))
        .collect()
}

fn request(id: &str, conversation: &str) -> VariableRequest {
    let fields = vec![
        VariableField::new("TOKEN", VariableType::Secret).description("The token of the shop."),
        VariableField::new("REGION", VariableType::Select).choices(["eu", "us"]),
    ];
    let target = VariableScope::thread(&thread("child"));
    VariableRequest::new(id, thread(conversation), "sales", target, fields, at(100))
}

fn answers(request: &VariableRequest, region: &str) -> [VariableRow; 2] {
    let region = VariableRow {
        kind: VariableType::Select,
        ..clear(&request.target, "REGION", region)
    };
    [hidden(&request.target, "TOKEN", "k1"), region]
}

/// Returns the secrets `a` and `b` of `acme`, the variables of three owners, the requests of the thread `main`, and all keys, as text.
async fn holdings(store: &impl VaultStore) -> String {
    let acme = acme();
    let scopes = [
        VariableScope::workspace(&acme),
        VariableScope::thread(&thread("child")),
        VariableScope::agent(&acme, "a").unwrap(),
    ];
    let names = ["a".to_owned(), "b".to_owned()];
    format!(
        "{:?}",
        (
            store.secrets(&acme, &names).await.unwrap(),
            store.variables(&scopes).await.unwrap(),
            store.requests(&thread("main")).await.unwrap(),
            store.keys().await.unwrap(),
        )
    )
}

tests! {
    ($) __suite_sealed in sealed for VaultStore;

    #[test]
    async fn the_first_check_value_of_a_key_is_kept(store: impl VaultStore) {
        // A store that seals contents has registered a key.
        let own = store.keys().await.unwrap();
        let first = register(&store, "k1").await;
        assert_eq!((&first.id, first.at, first.retired), (&key("k1"), at(1), None));
        let other = SealKeyRow::new(sealed("k1", "something else"), at(9));
        assert_eq!(store.register_key(other).await.unwrap(), first);
        let second = register(&store, "k0").await;
        assert_eq!(store.keys().await.unwrap(), [vec![second, first], own].concat());
    }

    #[test]
    async fn a_key_in_use_is_not_retired_and_a_retired_key_seals_nothing(store: impl VaultStore) {
        let (acme, scope) = (acme(), VariableScope::workspace("acme"));
        missing(store.retire_key(&key("k1"), at(10)).await);
        conflict(store.put_secret(secret(&acme, "a", "k1")).await, "not registered");
        register(&store, "k1").await;
        register(&store, "k2").await;
        store.put_secret(secret(&acme, "a", "k1")).await.unwrap();
        store.put_secret(secret(&umbrella(), "a", "k1")).await.unwrap();
        store.put_variables(vec![hidden(&scope, "V", "k1"), clear(&scope, "W", "w")]).await.unwrap();
        let uses = store.key_uses().await.unwrap();
        let expected = |column, values| KeyUse { column, key: key("k1"), values };
        assert_eq!(uses, [expected(SealedColumn::Secret, 2), expected(SealedColumn::Variable, 1)]);
        conflict(store.retire_key(&key("k1"), at(10)).await, "2 of column `secret`, 1 of column `variable`");

        store.put_secret(secret(&acme, "a", "k2")).await.unwrap();
        store.remove_secret(&umbrella(), "a").await.unwrap();
        conflict(store.retire_key(&key("k1"), at(10)).await, "1 of column `variable`");
        store.remove_variables(&scope).await.unwrap();
        store.retire_key(&key("k1"), at(10)).await.unwrap();
        store.retire_key(&key("k1"), at(20)).await.unwrap();
        assert_eq!(store.keys().await.unwrap()[0].retired, Some(at(10)));

        let before = holdings(&store).await;
        conflict(store.put_secret(secret(&acme, "b", "k1")).await, "`k1` is retired");
        let both = vec![hidden(&scope, "A", "k2"), hidden(&scope, "B", "k1")];
        conflict(store.put_variables(both).await, "`k1` is retired");
        let rows = store.sealed(SealedColumn::Secret, &key("k2"), None, 9).await.unwrap();
        let back = Reseal { old: rows[0].clone(), new: sealed("k1", "new") };
        conflict(store.reseal(vec![back]).await, "`k1` is retired");
        assert_eq!(holdings(&store).await, before);
    }

    #[test]
    async fn secrets_are_replaced_listed_renamed_and_removed(store: impl VaultStore) {
        let (acme, own) = (acme(), umbrella());
        let scope = Scope::Workspace(&acme);
        let all = SecretFilter::default();
        register(&store, "k1").await;
        for name in ["b", "ä", "a"] {
            store.put_secret(secret(&acme, name, "k1")).await.unwrap();
        }
        store.put_secret(secret(&own, "a", "k1")).await.unwrap();
        for row in [
            secret(&acme, "", "k1"),
            SecretRow { by: String::new(), ..secret(&acme, "c", "k1") },
            SecretRow { id: String::new(), ..secret(&acme, "c", "k1") },
        ] {
            assert!(matches!(store.put_secret(row).await, Err(StoreError::Conflict(_))));
        }
        let taken = SecretRow { id: "id of a".into(), ..secret(&acme, "c", "k1") };
        conflict(store.put_secret(taken).await, "new random id");
        let new = SecretRow { id: "new".into(), sealed: sealed("k1", "new"), by: "ann".into(), at: at(9), ..secret(&acme, "a", "k1") };
        store.put_secret(new.clone()).await.unwrap();
        let names = ["a".to_owned(), "absent".to_owned()];
        assert_eq!(store.secrets(&acme, &names).await.unwrap(), std::slice::from_ref(&new));
        assert_eq!(store.secrets(&acme, &[]).await.unwrap(), []);

        let list = store.list_secrets(scope, &all).await.unwrap();
        assert_eq!(listed(&list), [("acme", "a"), ("acme", "b"), ("acme", "ä")]);
        assert_eq!((&*list[0].by, list[0].at), ("ann", at(9)));
        let everything = store.list_secrets(Scope::All, &all).await.unwrap();
        assert_eq!(everything.len(), 4);
        let mut pages = Vec::new();
        let mut page = SecretFilter { limit: Some(1), after: None };
        while let [last] = &*store.list_secrets(Scope::All, &page).await.unwrap() {
            page.after = Some((last.workspace.clone(), last.name.clone()));
            pages.push(last.clone());
        }
        assert_eq!(pages, everything);

        assert!(!store.rename_secret(&acme, "absent", "c", "ann", at(10)).await.unwrap());
        conflict(store.rename_secret(&acme, "a", "b", "ann", at(10)).await, "`b` exists");
        conflict(store.rename_secret(&acme, "a", "", "ann", at(10)).await, "no name");
        assert!(store.rename_secret(&acme, "a", "c", "eve", at(10)).await.unwrap());
        assert!(store.rename_secret(&acme, "c", "c", "eve", at(10)).await.unwrap());
        let renamed = SecretRow { name: "c".into(), by: "eve".into(), at: at(10), ..new };
        assert_eq!(store.secrets(&acme, &["a".into(), "c".into()]).await.unwrap(), [renamed]);
        assert!(store.remove_secret(&acme, "c").await.unwrap());
        assert!(!store.remove_secret(&acme, "c").await.unwrap());
        assert_eq!(listed(&store.list_secrets(Scope::Workspace(&own), &all).await.unwrap()), [("umbrella", "a")]);
    }

    #[test]
    async fn variables_are_replaced_listed_and_removed(store: impl VaultStore) {
        let acme = acme();
        register(&store, "k1").await;
        let shared = VariableScope::workspace("acme");
        let agent = VariableScope::agent("acme", "a").unwrap();
        let conversation = VariableScope::thread(&thread("a"));
        let rows = vec![
            clear(&shared, "X", "1"), hidden(&agent, "X", "k1"), clear(&agent, "Y", ""), clear(&conversation, "X", "3"),
        ];
        store.put_variables(rows).await.unwrap();
        let other = VariableScope::workspace("umbrella");
        store.put_variables(vec![clear(&other, "X", "9")]).await.unwrap();
        store.put_variables(Vec::new()).await.unwrap();

        let found = store.variables(&[shared.clone(), agent.clone()]).await.unwrap();
        assert_eq!(found, [hidden(&agent, "X", "k1"), clear(&agent, "Y", ""), clear(&shared, "X", "1")]);
        assert_eq!(store.variables(&[]).await.unwrap(), []);
        let all = store.list_variables(&acme, &VariableFilter::default()).await.unwrap();
        let shown: Vec<_> = all.iter().map(|info| (info.level.as_str(), &*info.owner, &*info.name, info.value.as_deref())).collect();
        let expected = [
            ("agent", "a", "X", None), ("agent", "a", "Y", Some("")), ("thread", "a", "X", Some("3")), ("workspace", "", "X", Some("1")),
        ];
        assert_eq!(shown, expected);
        assert_eq!(all[0].kind, VariableType::Secret);
        let filter = VariableFilter { level: Some(VariableLevel::Agent), owner: Some("a".into()), ..VariableFilter::default() };
        assert_eq!(store.list_variables(&acme, &filter).await.unwrap(), all[..2]);
        let mut pages = Vec::new();
        let mut page = VariableFilter { limit: Some(1), ..VariableFilter::default() };
        while let [last] = &*store.list_variables(&acme, &page).await.unwrap() {
            page.after = Some((last.level, last.owner.clone(), last.name.clone()));
            pages.push(last.clone());
        }
        assert_eq!(pages, all);

        // Two values cannot have the same id.
        let taken = VariableRow { id: clear(&agent, "X", "").id, ..clear(&agent, "Z", "1") };
        conflict(store.put_variables(vec![taken]).await, "new random id");
        let twice = VariableRow { id: clear(&agent, "Q", "").id, ..clear(&agent, "Z", "1") };
        conflict(store.put_variables(vec![clear(&agent, "Q", "1"), twice]).await, "new random id");
        // A secret in clear text and a sealed text are refused, together with all other rows of the call.
        let in_clear = VariableRow { kind: VariableType::Secret, ..clear(&agent, "Z", "sentinel") };
        let in_seal = VariableRow { kind: VariableType::Text, ..hidden(&agent, "Z", "k1") };
        for wrong in [in_clear, in_seal, clear(&agent, "", "1")] {
            let both = vec![clear(&agent, "NEW", "1"), wrong];
            assert!(matches!(store.put_variables(both).await, Err(StoreError::Conflict(_))));
        }
        assert_eq!(store.list_variables(&acme, &VariableFilter::default()).await.unwrap(), all);

        store.put_variables(vec![clear(&agent, "X", "now in clear text")]).await.unwrap();
        assert_eq!(store.key_uses().await.unwrap(), []);
        assert!(store.remove_variable(&agent, "X").await.unwrap());
        assert!(!store.remove_variable(&agent, "X").await.unwrap());
        assert_eq!(store.remove_variables(&agent).await.unwrap(), 1);
        assert_eq!(store.variables(&[agent, conversation.clone()]).await.unwrap(), [clear(&conversation, "X", "3")]);
    }

    // S4-56, S4-57: an answer stores its values, and the request stays open until nothing is missing.
    #[test]
    async fn a_request_is_open_until_every_value_is_stored(store: impl VaultStore) {
        let acme = acme();
        register(&store, "k1").await;
        let asked = request("r1", "main");
        store.open_request(asked.clone()).await.unwrap();
        conflict(store.open_request(request("r1", "side")).await, "exists");
        store.open_request(request("r2", "side")).await.unwrap();
        assert_eq!(store.request(&acme, "r1").await.unwrap().as_ref(), Some(&asked));
        assert_eq!(store.requests(&thread("main")).await.unwrap(), std::slice::from_ref(&asked));
        assert_eq!(asked.missing, ["TOKEN", "REGION"]);

        let [token, region] = answers(&asked, "eu");
        let [_, wrong] = answers(&asked, "mars");
        let owner = VariableScope::thread(&thread("main"));
        for (rows, words) in [
            (vec![token.clone(), clear(&asked.target, "OTHER", "1")], "does not ask for the variable `OTHER`"),
            (vec![token.clone(), wrong], "not one of its choices: eu, us"),
            (vec![hidden(&owner, "TOKEN", "k1")], "different owner"),
            (vec![clear(&asked.target, "TOKEN", "sentinel")], "different owner or type"),
            (vec![region.clone(), hidden(&asked.target, "TOKEN", "k9")], "not registered"),
        ] {
            conflict(store.answer_request(&acme, "r1", rows).await, words);
        }
        assert_eq!(store.variables(std::slice::from_ref(&asked.target)).await.unwrap(), []);
        assert_eq!(store.request(&acme, "r1").await.unwrap().as_ref(), Some(&asked));

        assert_eq!(store.answer_request(&acme, "r1", vec![token.clone()]).await.unwrap(), ["REGION"]);
        assert_eq!(store.request(&acme, "r1").await.unwrap().unwrap().missing, ["REGION"]);
        assert_eq!(store.answer_request(&acme, "r1", Vec::new()).await.unwrap(), ["REGION"]);
        assert!(store.answer_request(&acme, "r1", vec![region.clone()]).await.unwrap().is_empty());
        assert_eq!(store.request(&acme, "r1").await.unwrap(), None);
        missing(store.answer_request(&acme, "r1", vec![region.clone()]).await);
        assert_eq!(store.variables(std::slice::from_ref(&asked.target)).await.unwrap(), [region, token]);

        assert!(store.withdraw_request(&acme, "r2").await.unwrap());
        assert!(!store.withdraw_request(&acme, "r2").await.unwrap());
        missing(store.answer_request(&acme, "r2", Vec::new()).await);
    }

    #[test]
    async fn requests_are_checked_and_old_ones_expire(store: impl VaultStore) {
        let good = request("r", "main");
        let fields = |fields: Vec<VariableField>| {
            VariableRequest::new("r", thread("main"), "sales", good.target.clone(), fields, at(100))
        };
        let text = |name: &str| VariableField::new(name, VariableType::Text);
        for bad in [
            fields(Vec::new()),
            fields(vec![text("")]),
            fields(vec![text("A"), text("A")]),
            fields(vec![VariableField::new("A", VariableType::Select)]),
            fields(vec![text("A").choices(["1"])]),
            VariableRequest { id: String::new(), ..good.clone() },
            VariableRequest { agent: String::new(), ..good.clone() },
            VariableRequest { target: VariableScope::workspace("umbrella"), ..good.clone() },
        ] {
            assert!(matches!(store.open_request(bad).await, Err(StoreError::Conflict(_))));
        }
        for id in ["r1", "r2", "r3"] {
            store.open_request(request(id, "main")).await.unwrap();
        }
        store.open_request(VariableRequest { at: at(300), ..request("r4", "main") }).await.unwrap();
        assert_eq!(store.expire_requests(Scope::All, at(100), 9).await.unwrap(), 0);
        let (acme, own) = (acme(), umbrella());
        assert_eq!(store.expire_requests(Scope::Workspace(&own), at(200), 9).await.unwrap(), 0);
        assert_eq!(store.expire_requests(Scope::Workspace(&acme), at(200), 2).await.unwrap(), 2);
        assert_eq!(store.expire_requests(Scope::All, at(200), 9).await.unwrap(), 1);
        let left = store.requests(&thread("main")).await.unwrap();
        assert_eq!(left.iter().map(|left| &*left.id).collect::<Vec<_>>(), ["r4"]);
    }

    #[test]
    async fn value_is_resealed_only_if_unchanged(store: impl VaultStore) {
        let acme = acme();
        for id in ["k1", "k2"] {
            register(&store, id).await;
        }
        let agent = VariableScope::agent("acme", "a").unwrap();
        for own in [&acme, &umbrella()] {
            for name in ["a", "b", "c"] {
                store.put_secret(secret(own, name, "k1")).await.unwrap();
            }
        }
        store.put_variables(vec![hidden(&agent, "V", "k1"), clear(&agent, "W", "1")]).await.unwrap();
        let (old_key, secrets) = (key("k1"), SealedColumn::Secret);
        let rows = store.sealed(secrets, &old_key, None, 9).await.unwrap();
        assert_eq!(rows.len(), 6);
        assert_eq!(rows[0].place, SecretRow::place_of(&acme, "id of a"));
        let mut pages = store.sealed(secrets, &old_key, None, 4).await.unwrap();
        pages.extend(store.sealed(secrets, &old_key, Some(&pages[3].place), 4).await.unwrap());
        assert_eq!(pages, rows);
        assert_eq!(store.sealed(secrets, &key("k2"), None, 9).await.unwrap(), []);
        let variables = store.sealed(SealedColumn::Variable, &old_key, None, 9).await.unwrap();
        assert_eq!(variables[0].place, hidden(&agent, "V", "k1").place());
        assert_eq!(variables.len(), 1);

        // Before the batch, one value is written and one value is removed. A third change has a place that does not exist.
        let written = SecretRow { sealed: sealed("k1", "written meanwhile"), ..secret(&acme, "a", "k1") };
        store.put_secret(written.clone()).await.unwrap();
        store.remove_secret(&acme, "b").await.unwrap();
        let mut changes: Vec<Reseal> = rows.iter().chain(&variables).map(|old| Reseal {
            old: old.clone(),
            new: sealed("k2", "resealed"),
        }).collect();
        let mut absent = changes[3].clone();
        absent.old.place.owner = "nobody".into();
        absent.new = sealed("k2", "absent");
        changes.insert(0, absent);
        assert_eq!(store.reseal(changes.clone()).await.unwrap(), 5);
        assert_eq!(store.reseal(changes).await.unwrap(), 0);
        assert_eq!(store.secrets(&acme, &["a".into(), "b".into()]).await.unwrap(), [written]);
        let kept = store.secrets(&umbrella(), &["a".into()]).await.unwrap();
        let expected = SecretRow { sealed: sealed("k2", "resealed"), ..secret(&umbrella(), "a", "k1") };
        assert_eq!(kept, [expected]);
        let uses = store.key_uses().await.unwrap();
        let counts: Vec<_> = uses.iter().map(|using| (using.column.as_str(), using.key.as_str(), using.values)).collect();
        assert_eq!(counts, [("secret", "k1", 1), ("secret", "k2", 4), ("variable", "k2", 1)]);
        assert_eq!(store.reseal(Vec::new()).await.unwrap(), 0);
    }

    // No method reads, changes or reveals a secret, a variable or a request of a different workspace.
    #[test]
    async fn no_method_reaches_a_different_workspace(store: impl VaultStore) {
        let (acme, own) = (acme(), umbrella());
        let scope = Scope::Workspace(&own);
        register(&store, "k1").await;
        for name in ["a", "b"] {
            store.put_secret(secret(&acme, name, "k1")).await.unwrap();
        }
        let asked = request("r1", "main");
        store.open_request(asked.clone()).await.unwrap();
        let target = &asked.target;
        let agent = VariableScope::agent("acme", "a").unwrap();
        store.put_variables(vec![hidden(target, "TOKEN", "k1"), clear(&agent, "X", "1")]).await.unwrap();
        let before = holdings(&store).await;

        assert_eq!(store.secrets(&own, &["a".into(), "b".into()]).await.unwrap(), []);
        assert_eq!(store.list_secrets(scope, &SecretFilter::default()).await.unwrap(), []);
        assert!(!store.rename_secret(&own, "a", "c", "eve", at(9)).await.unwrap());
        assert!(!store.remove_secret(&own, "a").await.unwrap());
        let foreign = VariableScope::thread(&ThreadId::new(&own, "child").unwrap());
        assert_eq!(store.variables(std::slice::from_ref(&foreign)).await.unwrap(), []);
        assert_eq!(store.list_variables(&own, &VariableFilter::default()).await.unwrap(), []);
        assert!(!store.remove_variable(&foreign, "TOKEN").await.unwrap());
        assert_eq!(store.remove_variables(&foreign).await.unwrap(), 0);
        assert_eq!(store.request(&own, "r1").await.unwrap(), None);
        assert_eq!(store.requests(&ThreadId::new(&own, "main").unwrap()).await.unwrap(), []);
        missing(store.answer_request(&own, "r1", answers(&asked, "eu").into()).await);
        assert!(!store.withdraw_request(&own, "r1").await.unwrap());
        assert_eq!(store.expire_requests(scope, at(9000), 9).await.unwrap(), 0);
        assert_eq!(holdings(&store).await, before);

        // Equal names and ids in the other workspace are separate rows.
        store.put_secret(SecretRow { id: "id of a".into(), ..secret(&own, "a", "k1") }).await.unwrap();
        let row = VariableRow { scope: foreign.clone(), ..hidden(target, "TOKEN", "k1") };
        store.put_variables(vec![row]).await.unwrap();
        let thread = ThreadId::new(&own, "main").unwrap();
        store.open_request(VariableRequest { thread, target: foreign.clone(), ..request("r1", "main") }).await.unwrap();
        assert!(store.rename_secret(&own, "a", "b", "eve", at(9)).await.unwrap());
        assert_eq!(store.remove_variables(&foreign).await.unwrap(), 1);
        assert!(store.withdraw_request(&own, "r1").await.unwrap());
        assert_eq!(holdings(&store).await, before);
    }
}
