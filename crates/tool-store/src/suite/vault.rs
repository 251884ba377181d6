//! Tests of the vault with a store: encryption, wrong keys, altered rows, rotation, and requests for variables.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use secrecy::{ExposeSecret as _, SecretString};

use crate::seal::{
    KeyError, KeyProvider, NewValue, NewVariableRequest, SealKey, SealKeys, Vault, VaultError,
};
use crate::*;

use super::records::{acme, at, thread};
use super::{at_once, missing, tests};

const SENTINEL: &str = "sentinel-4711-of-the-vault";

fn material(id: &str) -> SealKey {
    let mut bytes = [0; 32];
    for (at, byte) in id.bytes().enumerate() {
        bytes[at] = byte;
    }
    SealKey::new(&bytes)
}

/// Keys with these ids. The first key is the current key.
fn keys(ids: &[&str]) -> SealKeys {
    let first = SealKeys::new(ids[0], material(ids[0])).unwrap();
    let rest = ids[1..].iter();
    rest.fold(first, |keys, id| keys.and(id, material(id)).unwrap())
}

/// A key provider that returns to the key `k1` when the flag is set.
struct GoesBack(SealKeys, Arc<AtomicBool>);

impl KeyProvider for GoesBack {
    fn current(&self) -> BoxFuture<'_, Result<KeyId, KeyError>> {
        if self.1.load(Ordering::SeqCst) {
            Box::pin(async { Ok(key("k1")) })
        } else {
            self.0.current()
        }
    }

    fn key<'a>(&'a self, id: &'a KeyId) -> BoxFuture<'a, Result<Option<SealKey>, KeyError>> {
        self.0.key(id)
    }
}

fn key(id: &str) -> KeyId {
    KeyId::new(id).unwrap()
}

async fn vault(store: &(impl VaultStore + Clone), ids: &[&str]) -> Vault {
    Vault::open(store.clone(), keys(ids)).await.unwrap()
}

async fn set(vault: &Vault, own: &Workspace, name: &str, value: &str) {
    let value = SecretString::from(value);
    vault.set_secret(own, name, &value, "olga").await.unwrap();
}

async fn value(vault: &Vault, own: &Workspace, name: &str) -> Option<String> {
    let mut opened = vault.open_secrets(own, [name]).await.unwrap();
    opened
        .remove(name)
        .map(|value| value.expose_secret().to_owned())
}

fn damaged<T>(answer: Result<T, VaultError>) {
    match answer {
        Err(VaultError::Damaged { .. }) => {}
        Err(other) => panic!("expected a damaged value, got {other}"),
        Ok(_) => panic!("expected a damaged value, but the value opened"),
    }
}

/// Returns the row of the only secret with this name.
async fn row(store: &impl VaultStore, own: &Workspace, name: &str) -> SecretRow {
    let rows = store.secrets(own, &[name.to_owned()]).await.unwrap();
    rows.into_iter().next().unwrap()
}

fn fields() -> Vec<VariableField> {
    vec![
        VariableField::new("TOKEN", VariableType::Secret),
        VariableField::new("REGION", VariableType::Select).choices(["eu", "us"]),
        VariableField::new("NOTE", VariableType::Text),
    ]
}

tests! {
    ($) __suite_vault in vault for VaultStore;

    #[test]
    async fn a_value_is_sealed_with_a_new_nonce_and_opens(store: impl VaultStore + Clone) {
        let vault = vault(&store, &["k1"]).await;
        let acme = acme();
        set(&vault, &acme, "a", SENTINEL).await;
        let first = row(&store, &acme, "a").await;
        set(&vault, &acme, "a", SENTINEL).await;
        let second = row(&store, &acme, "a").await;
        assert_ne!(first.sealed, second.sealed);
        assert_ne!(first.id, second.id);
        for row in [first, second] {
            let bytes = row.sealed.as_bytes();
            assert!(!bytes.windows(8).any(|part| part == &SENTINEL.as_bytes()[..8]));
            assert_eq!(row.sealed.key(), &key("k1"));
        }
        assert_eq!(value(&vault, &acme, "a").await.as_deref(), Some(SENTINEL));
        assert_eq!(value(&vault, &acme, "absent").await, None);
        assert_eq!(value(&vault, &Workspace::new("umbrella"), "a").await, None);
        // The list contains the name and the writer, but not the value, neither in clear text nor sealed.
        let list = vault.list_secrets(Scope::Workspace(&acme), &SecretFilter::default()).await.unwrap();
        assert_eq!((&*list[0].name, &*list[0].by, list.len()), ("a", "olga", 1));
        assert!(!format!("{list:?} {vault:?}").contains("sentinel"));
        let empty = vault.set_secret(&acme, "a", &SecretString::from(""), "olga").await;
        assert!(matches!(empty, Err(VaultError::Store(StoreError::Conflict(_)))));
    }

    #[test]
    async fn a_rename_keeps_the_sealed_value(store: impl VaultStore + Clone) {
        let vault = vault(&store, &["k1"]).await;
        let acme = acme();
        set(&vault, &acme, "a", SENTINEL).await;
        let before = row(&store, &acme, "a").await;
        assert!(vault.rename_secret(&acme, "a", "b", "ann").await.unwrap());
        let after = row(&store, &acme, "b").await;
        assert_eq!((&after.sealed, &after.id), (&before.sealed, &before.id));
        assert_eq!(value(&vault, &acme, "b").await.as_deref(), Some(SENTINEL));
        assert!(vault.remove_secret(&acme, "b").await.unwrap());
    }

    // A row that was copied to a different workspace, owner, id or column, and two rows whose values were swapped, cannot be opened.
    #[test]
    async fn a_value_opens_only_at_its_own_place(store: impl VaultStore + Clone) {
        let vault = vault(&store, &["k1"]).await;
        let (acme, own) = (acme(), Workspace::new("umbrella"));
        for name in ["a", "b"] {
            set(&vault, &acme, name, name).await;
        }
        let (a, b) = (row(&store, &acme, "a").await, row(&store, &acme, "b").await);
        let copy = |own: &Workspace, name: &str, id: &str, sealed: &Sealed| {
            SecretRow::new(own, name, id, sealed.clone(), "eve", at(9))
        };
        for (copied, name) in [
            (copy(&own, "a", &a.id, &a.sealed), "another workspace"),
            (copy(&acme, "c", "another id", &a.sealed), "another id"),
            (copy(&acme, "a", &a.id, &b.sealed), "the value of b"),
            (copy(&acme, "b", &b.id, &a.sealed), "the value of a"),
        ] {
            let (own, row_name) = (copied.workspace.clone(), copied.name.clone());
            store.put_secret(copied).await.unwrap();
            assert!(!name.is_empty());
            damaged(vault.open_secrets(&own, [&*row_name]).await);
        }

        let scopes = [
            VariableScope::agent("acme", "x").unwrap(),
            VariableScope::user("acme", "x").unwrap(),
            VariableScope::agent("acme", "y").unwrap(),
            VariableScope::agent("umbrella", "x").unwrap(),
            VariableScope::workspace("acme"),
        ];
        vault.set_variables(&scopes[0], vec![NewValue::undeclared("V", "v")], "olga").await.unwrap();
        let variable = store.variables(&scopes[..1]).await.unwrap().remove(0);
        store.remove_variable(&scopes[0], "V").await.unwrap();
        for scope in &scopes[1..] {
            store.put_variables(vec![VariableRow { scope: scope.clone(), ..variable.clone() }]).await.unwrap();
            damaged(vault.open_variables(std::slice::from_ref(scope), ["V"]).await);
            store.remove_variables(scope).await.unwrap();
        }
        // A sealed variable does not open as a secret with the same id.
        let sealed = variable.sealed().unwrap();
        store.put_secret(copy(&acme, "d", &variable.id, sealed)).await.unwrap();
        damaged(vault.open_secrets(&acme, ["d"]).await);
        // The variable opens at its own place.
        store.put_variables(vec![variable]).await.unwrap();
        let opened = vault.open_variables(&scopes[..1], ["V"]).await.unwrap();
        assert_eq!(opened[0].value.expose_secret(), "v");
    }

    // A sealed value with one flipped bit, in its header, nonce, ciphertext or tag, is refused when it is stored or does not open.
    #[test]
    async fn a_value_with_one_flipped_bit_does_not_open(store: impl VaultStore + Clone) {
        // The id `k0` is `k1` with one flipped bit, and the vault has both keys.
        let vault = vault(&store, &["k1", "k0", "k3"]).await;
        let acme = acme();
        set(&vault, &acme, "a", "short").await;
        let good = row(&store, &acme, "a").await;
        let bytes = good.sealed.as_bytes();
        let mut read = 0;
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let Ok(sealed) = Sealed::from_bytes(flipped) else {
                continue;
            };
            if store.put_secret(SecretRow { sealed, ..good.clone() }).await.is_err() {
                continue;
            }
            read += 1;
            damaged(vault.open_secrets(&acme, ["a"]).await);
        }
        // The number of values that the loop has tried to open is at least the number of bits of the nonce, the ciphertext and the tag.
        assert!(read >= (24 + 5 + 16) * 8, "{read}");
        store.put_secret(good).await.unwrap();
        assert_eq!(value(&vault, &acme, "a").await.as_deref(), Some("short"));
    }

    // S4-13: without a key, no secret is stored or opened, and a vault without keys does not open a store that contains one. Declared texts are
    // stored.
    #[test]
    async fn without_keys_no_secret_is_stored(store: impl VaultStore + Clone) {
        let (acme, scope) = (acme(), VariableScope::thread(&thread("main")));
        let open = Vault::without_keys(store.clone()).await.unwrap();
        let refused = open.set_secret(&acme, "a", &SecretString::from(SENTINEL), "olga").await.unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("TOOL_SEAL_KEYS") && text.contains("openssl rand -base64 32"), "{text}");
        let both = vec![
            NewValue::declared("REGION", VariableType::Text, "eu"),
            NewValue::undeclared("TOKEN", SENTINEL),
        ];
        assert!(matches!(open.set_variables(&scope, both, "olga").await, Err(VaultError::NoKeys)));
        assert_eq!(store.variables(std::slice::from_ref(&scope)).await.unwrap(), []);
        let text = vec![NewValue::declared("REGION", VariableType::Text, "eu")];
        open.set_variables(&scope, text, "olga").await.unwrap();
        let opened = open.open_variables(std::slice::from_ref(&scope), ["REGION"]).await.unwrap();
        assert_eq!(opened[0].value.expose_secret(), "eu");

        set(&vault(&store, &["k1"]).await, &acme, "a", SENTINEL).await;
        assert!(matches!(Vault::without_keys(store.clone()).await, Err(VaultError::Locked(1))));
        assert!(matches!(open.open_secrets(&acme, ["a"]).await, Err(VaultError::NoKeys)));
    }

    #[test]
    async fn a_process_with_a_wrong_or_missing_key_does_not_open_the_store(store: impl VaultStore + Clone) {
        let acme = acme();
        set(&vault(&store, &["k1"]).await, &acme, "a", SENTINEL).await;
        let wrong = SealKeys::new("k1", material("different")).unwrap();
        let refused = Vault::open(store.clone(), wrong.clone()).await.unwrap_err();
        assert!(matches!(&refused, VaultError::WrongKey(id) if *id == key("k1")), "{refused}");
        // The vault also refuses to open if only a key other than the current key is wrong.
        let behind = keys(&["k2"]).and("k1", material("different")).unwrap();
        let refused = Vault::open(store.clone(), behind).await.unwrap_err();
        assert!(matches!(refused, VaultError::WrongKey(_)), "{refused}");
        let refused = Vault::open(store.clone(), keys(&["k2"])).await.unwrap_err();
        assert!(matches!(refused, VaultError::MissingKey { values: Some(1), .. }), "{refused}");
        let text = "the key provider does not have the key `k1`, with which 1 value is sealed: add the key";
        assert_eq!(refused.to_string(), text);

        // A different process seals with a key that this process does not have.
        let own = vault(&store, &["k1"]).await;
        set(&vault(&store, &["k2", "k1"]).await, &acme, "b", SENTINEL).await;
        let refused = own.open_secrets(&acme, ["b"]).await.unwrap_err();
        assert!(matches!(refused, VaultError::MissingKey { values: None, .. }), "{refused}");
        assert_eq!(refused.to_string(), "the key provider does not have the key `k2`: add the key");
        store.remove_secret(&acme, "b").await.unwrap();

        // A wrong key is refused even when nothing is sealed with it.
        store.remove_secret(&acme, "a").await.unwrap();
        assert!(matches!(Vault::open(store.clone(), wrong).await, Err(VaultError::WrongKey(_))));
        let later = vault(&store, &["k2"]).await;
        assert_eq!(value(&later, &acme, "a").await, None);
    }

    // S4-13: a variable without a declaration is a secret, and is sealed.
    #[test]
    async fn undeclared_variables_are_secrets(store: impl VaultStore + Clone) {
        let vault = vault(&store, &["k1"]).await;
        let scope = VariableScope::thread(&thread("main"));
        let values = vec![
            NewValue::undeclared("TOKEN", SENTINEL),
            NewValue::declared("REGION", VariableType::Text, "eu"),
            NewValue::declared("SIZE", VariableType::Select, "big"),
        ];
        assert!(!format!("{values:?}").contains(SENTINEL));
        vault.set_variables(&scope, values, "olga").await.unwrap();
        let list = vault.list_variables(&acme(), &VariableFilter::default()).await.unwrap();
        let shown: Vec<_> = list.iter().map(|info| (&*info.name, info.kind.as_str(), info.value.as_deref())).collect();
        assert_eq!(shown, [("REGION", "text", Some("eu")), ("SIZE", "select", Some("big")), ("TOKEN", "secret", None)]);
        let opened = vault.open_variables(std::slice::from_ref(&scope), ["TOKEN", "SIZE"]).await.unwrap();
        assert!(!format!("{opened:?}").contains(SENTINEL));
        let opened: Vec<_> = opened.iter().map(|open| (&*open.name, open.value.expose_secret())).collect();
        assert_eq!(opened, [("SIZE", "big"), ("TOKEN", SENTINEL)]);
        assert!(vault.remove_variable(&scope, "TOKEN").await.unwrap());
    }

    // S4-56: a request contains its agent and the missing names, without values. An unknown or completed request fails with `Missing`, and a request
    // of a different thread with `ForeignThread`.
    // S4-57: an answer stores the values; the request stays open until no value is missing, and an answer to a completed request fails with
    // `Missing`.
    #[test]
    async fn a_request_for_variables_is_read_and_answered(store: impl VaultStore + Clone) {
        let vault = vault(&store, &["k1"]).await;
        let (main, child) = (thread("main"), VariableScope::thread(&thread("child")));
        let request = NewVariableRequest { thread: main.clone(), agent: "sales".into(), target: child.clone(), required: fields() };
        let id = vault.request_variables(request.clone()).await.unwrap();
        assert_ne!(vault.request_variables(request).await.unwrap(), id);
        let asked = vault.variable_request(&main, &id).await.unwrap();
        assert_eq!((&*asked.agent, &asked.required), ("sales", &fields()));
        assert_eq!(asked.missing, ["TOKEN", "REGION", "NOTE"]);
        let not_open = |answer: VaultError| match answer {
            VaultError::Store(error) => missing::<()>(Err(error)),
            other => panic!("{other}"),
        };
        not_open(vault.variable_request(&main, "unknown").await.unwrap_err());
        let elsewhere = ThreadId::new("umbrella", "main").unwrap();
        not_open(vault.variable_request(&elsewhere, &id).await.unwrap_err());
        let answer = |values: &[(&str, &str)]| -> Vec<(String, SecretString)> {
            values.iter().map(|(name, value)| ((*name).to_owned(), SecretString::from(*value))).collect()
        };
        for foreign in [
            vault.variable_request(&thread("side"), &id).await.map(drop),
            vault.answer_variables(&thread("side"), &id, answer(&[("NOTE", "1")]), "ann").await.map(drop),
        ] {
            assert!(matches!(foreign, Err(VaultError::ForeignThread(_))));
        }
        let refused = vault.answer_variables(&main, &id, answer(&[("TOKEN", SENTINEL), ("OTHER", "1")]), "ann").await;
        assert!(matches!(refused, Err(VaultError::Store(StoreError::Conflict(_)))));
        assert_eq!(store.variables(std::slice::from_ref(&child)).await.unwrap(), []);

        let left = vault.answer_variables(&main, &id, answer(&[("TOKEN", SENTINEL), ("NOTE", "")]), "ann").await;
        assert_eq!(left.unwrap(), ["REGION", "NOTE"]);
        let asked = vault.variable_request(&main, &id).await.unwrap();
        assert_eq!(asked.missing, ["REGION", "NOTE"]);
        assert!(!format!("{asked:?}").contains(SENTINEL));
        let left = vault.answer_variables(&main, &id, answer(&[("REGION", "eu"), ("NOTE", "n")]), "ann").await;
        assert!(left.unwrap().is_empty());
        not_open(vault.variable_request(&main, &id).await.unwrap_err());
        not_open(vault.answer_variables(&main, &id, answer(&[("NOTE", "again")]), "ann").await.unwrap_err());
        let opened = vault.open_variables(std::slice::from_ref(&child), ["TOKEN", "REGION", "NOTE"]).await.unwrap();
        let opened: Vec<_> = opened.iter().map(|open| open.value.expose_secret()).collect();
        assert_eq!(opened, ["n", "eu", SENTINEL]);
    }

    #[test]
    async fn rotation_reseals_every_column_and_the_old_key_can_be_retired(store: impl VaultStore + Clone) {
        let (acme, scope) = (acme(), VariableScope::workspace("acme"));
        let old = vault(&store, &["k1"]).await;
        for n in 0..7 {
            set(&old, &acme, &format!("s{n}"), &format!("value {n}")).await;
        }
        old.set_variables(&scope, vec![NewValue::undeclared("V", "v")], "olga").await.unwrap();
        // The old value of `s0` is copied to the place of `s1`, so it does not open.
        let (s0, s1) = (row(&store, &acme, "s0").await, row(&store, &acme, "s1").await);
        store.put_secret(SecretRow { sealed: s0.sealed.clone(), ..s1.clone() }).await.unwrap();

        let new = vault(&store, &["k2", "k1"]).await;
        let refused = new.retire_key(&key("k1")).await.unwrap_err().to_string();
        assert!(refused.contains("7 of column `secret`, 1 of column `variable`"), "{refused}");
        let rotation = new.rotate(3).await.unwrap();
        assert_eq!((rotation.resealed, rotation.changed, rotation.damaged), (7, 0, 1));
        assert_eq!(rotation.damaged_places, [s1.place()]);
        let left = KeyUse { column: SealedColumn::Secret, key: key("k1"), values: 1 };
        assert_eq!(rotation.left, [left]);
        assert!(new.retire_key(&key("k1")).await.is_err());

        // A process whose current key is still the old key can write until the key is retired.
        set(&old, &acme, "s1", "value 1").await;
        let rotation = new.rotate(3).await.unwrap();
        assert_eq!((rotation.resealed, &*rotation.left), (1, &[][..]));
        assert!(matches!(new.retire_key(&key("k2")).await, Err(VaultError::Current(_))));
        new.retire_key(&key("k1")).await.unwrap();
        let late = old.set_secret(&acme, "s2", &SecretString::from("late"), "olga").await.unwrap_err();
        assert!(late.to_string().contains("`k1` is retired"), "{late}");
        let refused = Vault::open(store.clone(), keys(&["k1", "k2"])).await.unwrap_err();
        assert!(matches!(refused, VaultError::Retired(_)), "{refused}");

        // The key provider no longer has the old key.
        let only = vault(&store, &["k2"]).await;
        for n in 0..7 {
            let expected = format!("value {n}");
            assert_eq!(value(&only, &acme, &format!("s{n}")).await, Some(expected));
        }
        let opened = only.open_variables(&[scope], ["V"]).await.unwrap();
        assert_eq!(opened[0].value.expose_secret(), "v");
        assert_eq!(only.rotate(3).await.unwrap(), seal::Rotation::default());
    }

    // A key that was retired before it becomes the current key is refused by each call, although the vault has the key in its cache.
    #[test]
    async fn retired_current_key_is_refused_by_each_call(store: impl VaultStore + Clone) {
        let old = vault(&store, &["k1"]).await;
        set(&old, &acme(), "s", "value").await;
        for caches_key in [true, false] {
            let back = Arc::new(AtomicBool::new(false));
            let vault = Vault::open(store.clone(), GoesBack(keys(&["k2", "k1"]), back.clone())).await.unwrap();
            if caches_key {
                assert_eq!(value(&vault, &acme(), "s").await.as_deref(), Some("value"));
                vault.rotate(9).await.unwrap();
                vault.retire_key(&key("k1")).await.unwrap();
            }
            back.store(true, Ordering::SeqCst);
            for _ in 0..2 {
                let refused = vault.current_key().await.unwrap_err();
                assert!(matches!(&refused, VaultError::Retired(id) if *id == key("k1")), "{refused}");
            }
            back.store(false, Ordering::SeqCst);
            assert_eq!(vault.current_key().await.unwrap(), key("k2"));
        }
    }
}

tests! {
    ($) __suite_vaults in vault for VaultStore;

    // An interrupted rotation leaves every value readable, and the next rotation completes it.
    #[test]
    fn an_interrupted_rotation_is_continued(opener) {
        opener.test(async |place| {
            let store = place.open().await;
            let acme = acme();
            let old = vault(&store, &["k1"]).await;
            for n in 0..20 {
                set(&old, &acme, &format!("s{n}"), &format!("value {n}")).await;
            }
            let new = vault(&place.open().await, &["k2", "k1"]).await;
            let mut wait = Duration::from_micros(50);
            for _ in 0..40 {
                let stopped = tokio::time::timeout(wait, new.rotate(1)).await;
                wait += wait / 4;
                // A process with both keys reads all values at any time.
                let reader = vault(&store, &["k1", "k2"]).await;
                for n in 0..20 {
                    let expected = format!("value {n}");
                    assert_eq!(value(&reader, &acme, &format!("s{n}")).await, Some(expected));
                }
                if stopped.is_ok_and(|rotation| rotation.unwrap().left.is_empty()) {
                    new.retire_key(&key("k1")).await.unwrap();
                    return;
                }
            }
            panic!("the rotation does not end");
        });
    }

    // Two processes rotate while others write: no value is lost, and at the end no value is sealed with the old key.
    #[test]
    fn two_processes_rotate_while_values_are_written(opener) {
        opener.test(async |place| {
            let acme = acme();
            let stores = [place.open().await, place.open().await];
            let old = vault(&stores[0], &["k1"]).await;
            for n in 0..24 {
                set(&old, &acme, &format!("s{n}"), "first").await;
            }
            let vaults = [
                vault(&stores[0], &["k2", "k1"]).await,
                vault(&stores[1], &["k2", "k1"]).await,
            ];
            let done = Arc::new(AtomicBool::new(false));
            let rotating: Vec<_> = vaults.iter().map(|vault| {
                let (vault, done) = (vault.clone(), Arc::clone(&done));
                tokio::spawn(async move {
                    let mut resealed = 0;
                    loop {
                        let is_last = done.load(Ordering::Acquire);
                        resealed += vault.rotate(3).await.unwrap().resealed;
                        if is_last {
                            return resealed;
                        }
                        tokio::task::yield_now().await;
                    }
                })
            }).collect();
            // 32 tasks write different values, half of the tasks with the old key.
            let (one, other) = (old.clone(), vaults[1].clone());
            let own = acme.clone();
            at_once(move |task| {
                let vault = if task % 2 == 0 { one.clone() } else { other.clone() };
                let own = own.clone();
                async move {
                    for round in 0..3 {
                        let name = format!("s{task}");
                        set(&vault, &own, &name, &format!("{task} in round {round}")).await;
                    }
                }
            }).await;
            done.store(true, Ordering::Release);
            for rotating in rotating {
                rotating.await.unwrap();
            }
            vaults[0].retire_key(&key("k1")).await.unwrap();
            let only = vault(&stores[1], &["k2"]).await;
            for task in 0..32 {
                let expected = format!("{task} in round 2");
                assert_eq!(value(&only, &acme, &format!("s{task}")).await, Some(expected));
            }
        });
    }

    // If processes start at once with two different keys under one id, all processes with one of the keys open the vault, and no others.
    #[test]
    fn processes_that_start_at_once_agree_on_a_key(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let opened = at_once(move |task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move {
                    // Every fourth process has a different key under the same id.
                    let id = if task % 4 == 3 { "different" } else { "k1" };
                    Vault::open(store, SealKeys::new("k1", material(id)).unwrap()).await.is_ok()
                }
            }).await;
            let good = opened.iter().filter(|good| **good).count();
            assert!(good == 24 || good == 8, "{opened:?}");
        });
    }
}
