//! Tests of sealed contents, for each store that can seal them.

mod sealed_plans;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use tool_store::seal::{KeyError, KeyProvider, SealKey, SealKeys, Vault, VaultError};
use tool_store::suite::records::{acme, at, message, request, says, spill, thread};
use tool_store::*;

pub(crate) use sealed_plans::plans_are_sealed;

/// A store that seals contents on request.
pub(crate) trait Sealing:
    Store
    + BatchStore
    + ChangeStore
    + LongTermStore
    + ThreadEventStore
    + VaultStore
    + Maintenance
    + Clone
{
    fn sealed_by(&self, vault: &Vault) -> Result<Self, VaultError>;
}

impl Sealing for SqliteStore {
    fn sealed_by(&self, vault: &Vault) -> Result<Self, VaultError> {
        self.clone().sealing(vault)
    }
}

impl Sealing for PostgresStore {
    fn sealed_by(&self, vault: &Vault) -> Result<Self, VaultError> {
        self.clone().sealing(vault)
    }
}

/// The sealed columns of contents, except the columns of plans, which `sealed_plans` tests.
const COLUMNS: [SealedColumn; 6] = [
    SealedColumn::Arguments,
    SealedColumn::EditedArguments,
    SealedColumn::Message,
    SealedColumn::SpillChunk,
    SealedColumn::Response,
    SealedColumn::ThreadEvent,
];

fn key(id: &str) -> KeyId {
    KeyId::new(id).unwrap()
}

/// Keys with these ids. The first key is the current key.
fn keys(ids: &[&str]) -> SealKeys {
    let material = |id: &str| SealKey::new(&[id.as_bytes()[1]; 32]);
    let first = SealKeys::new(ids[0], material(ids[0])).unwrap();
    let rest = ids[1..].iter();
    rest.fold(first, |keys, id| keys.and(id, material(id)).unwrap())
}

async fn vault(store: &impl Sealing, ids: &[&str]) -> Vault {
    Vault::open(store.clone(), keys(ids)).await.unwrap()
}

/// Returns a handle that seals with the first of these keys.
async fn sealing<S: Sealing>(store: &S, ids: &[&str]) -> S {
    store.sealed_by(&vault(store, ids).await).unwrap()
}

/// Texts that a store could alter: an empty text, a text with U+0000 and the character that escapes it, and a text of several chunks, among others.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = ["a", "", "x\0y\u{f8ff}0", "grün — \"q\"", "{\"n\":1}"]
        .map(str::to_owned)
        .into();
    texts.push("zwölf Boxkämpfer 0123 ".repeat(7_000));
    texts
}

/// Returns a request that answers an approval with edited arguments. It has an idempotency key, and its stored response contains the arguments.
fn edit(id: &str, arguments: &str) -> ChangeRequest {
    let key = RequestKey {
        caller: "olga".to_owned(),
        key: format!("key of {id}"),
        fingerprint: "f".to_owned(),
        at: at(200),
        expires: at(1000),
        respond: |changed| match changed {
            Changed::Approval(row) => serde_json::to_string(row).unwrap(),
            other => panic!("{other:?}"),
        },
    };
    let change = Change::Answer {
        id: id.to_owned(),
        answer: says(Verdict::Edit(arguments.to_owned())),
    };
    let audit = AuditRow::of_operator("acme", "olga", "test", "{}", at(300)).unwrap();
    ChangeRequest {
        change,
        audit,
        key: Some(key),
    }
}

fn user_message(content: &str) -> NewMessage {
    NewMessage {
        content: content.to_owned(),
        ..message("main", Role::User, None)
    }
}

/// Returns an event whose body is a text.
fn event(body: &str) -> NewThreadEvent {
    NewThreadEvent {
        kind: "text".to_owned(),
        version: 1,
        body: body.to_owned(),
        transient: false,
        at: at(100),
    }
}

fn events(events: Vec<NewThreadEvent>) -> NewThreadEvents {
    NewThreadEvents {
        thread: thread("main"),
        fence: None,
        ends_step: false,
        events,
    }
}

/// Returns events with the version `number` that contain a text. A text that is too long for one event is divided into several events.
fn events_of(number: usize, text: &str) -> NewThreadEvents {
    let characters: Vec<char> = text.chars().collect();
    let mut pieces: Vec<String> = characters.chunks(60_000).map(String::from_iter).collect();
    if pieces.is_empty() {
        pieces.push(String::new());
    }
    let version = u32::try_from(number).unwrap();
    let numbered = pieces.iter().map(|piece| NewThreadEvent {
        version,
        ..event(piece)
    });
    events(numbered.collect())
}

/// Writes a text through every path that seals contents: an approval `aN`, its edited answer with a response, a message, a message of a batch, a
/// spilled output `sN`, and events of the version `N`.
async fn write(store: &impl Sealing, number: usize, text: &str) {
    let id = format!("a{number}");
    let asked = ApprovalRequest {
        arguments: text.to_owned(),
        thread: Some("main".to_owned()),
        ..request(&id)
    };
    store.open(asked).await.unwrap();
    store.apply(edit(&id, text)).await.unwrap();
    store.append(user_message(text)).await.unwrap();
    let batch = Batch {
        message: Some(user_message(text)),
        ..Batch::default()
    };
    store.write_batch(batch).await.unwrap();
    let spilled = spill(&format!("s{number}"), text);
    store.put(spilled).await.unwrap();
    store.append_events(events_of(number, text)).await.unwrap();
}

/// Returns the contents that [`write`] has written, and asserts that lists, pages and the stored response agree with single reads.
async fn read(store: &impl Sealing, number: usize) -> Result<Vec<String>, StoreError> {
    let id = format!("a{number}");
    let row = ApprovalStore::get(store, &acme(), &id).await?.unwrap();
    let Some(Verdict::Edit(edited)) = row.answer.clone().map(|answer| answer.verdict) else {
        panic!("{row:?}");
    };
    let filter = ApprovalFilter::default();
    let mut listed = ApprovalStore::list(store, Scope::All, &filter).await?;
    listed.retain(|row| row.request.id == id);
    assert_eq!(listed, std::slice::from_ref(&row));
    let Applied::Repeated(response) = store.apply(edit(&id, "ignored")).await? else {
        panic!("the response is stored");
    };
    assert_eq!(response, serde_json::to_string(&row).unwrap());
    let messages = ThreadStore::read(store, &thread("main"), None).await?;
    let page = store
        .read_page(&thread("main"), 2 * number as u64, 2)
        .await?;
    assert_eq!(page, messages[2 * number..][..2]);
    let handle = format!("s{number}");
    let part = SpillStore::read(store, &acme(), "ann", &handle, 0, u64::MAX, at(200)).await?;
    let mut events = store.thread_events(&thread("main"), 0, 99).await?;
    events.retain(|event| event.version as usize == number);
    let event = events.into_iter().map(|event| event.body).collect();
    let mut texts = vec![row.request.arguments, edited, part.unwrap().text, event];
    texts.extend(page.into_iter().map(|message| message.content));
    Ok(texts)
}

async fn write_all(store: &impl Sealing) {
    for (number, text) in texts().iter().enumerate() {
        write(store, number, text).await;
    }
}

async fn assert_all(store: &impl Sealing) {
    for (number, text) in texts().iter().enumerate() {
        let found = read(store, number).await.unwrap();
        assert!(found.iter().all(|found| found == text), "{found:.200?}");
    }
}

/// Returns the number of values that a key seals, for each column.
async fn uses(store: &impl Sealing, id: &str) -> Vec<u64> {
    let uses = store.key_uses().await.unwrap();
    let count = |column| {
        let of = |using: &&KeyUse| using.column == column && using.key == key(id);
        uses.iter().find(of).map_or(0, |using| using.values)
    };
    COLUMNS.map(count).into()
}

/// The number of values that [`write_all`] seals, for each column. Each of the six texts is written to two messages and to one value of each other
/// column, except that the spilled output of the empty text has no chunk, and that the output and the events of the longest text are in three parts.
const WRITTEN: [u64; 6] = [6, 6, 12, 7, 6, 8];

fn refusal<T>(answer: Result<T, StoreError>) -> String {
    match answer {
        Err(StoreError::Corrupt(text)) => text,
        Err(error) => panic!("expected an error of a sealed value, got {error}"),
        Ok(_) => panic!("expected an error of a sealed value, but the value was read"),
    }
}

/// Contents are read back unchanged, and only a handle with the keys reads them.
pub(crate) async fn are_read_back_unchanged(plain: impl Sealing) {
    let store = sealing(&plain, &["k1"]).await;
    write_all(&store).await;
    assert_all(&store).await;
    assert_eq!(uses(&plain, "k1").await, WRITTEN);
    // Parts of a text in several chunks are the parts that a store without chunks returns.
    let long = texts().pop().unwrap();
    for from in [
        0, 1, 65_535, 65_536, 65_537, 131_071, 150_000, 160_999, 999_999,
    ] {
        for most in [1, 10, 70_000, 140_000] {
            let part = SpillStore::read(&store, &acme(), "ann", "s5", from, most, at(200)).await;
            assert_eq!(part.unwrap(), Some(SpillPart::of(&long, from, most)));
        }
    }

    let workspace = acme();
    let acme = &workspace;
    let main = thread("main");
    for (row, text) in [
        ("a0", refusal(ApprovalStore::get(&plain, acme, "a0").await)),
        (
            "a0",
            refusal(ApprovalStore::list(&plain, Scope::All, &ApprovalFilter::default()).await),
        ),
        ("a0", refusal(plain.assign(acme, "a0", None).await)),
        (
            "key of a0",
            refusal(plain.apply(edit("a0", "ignored")).await),
        ),
        (
            "main",
            refusal(ThreadStore::read(&plain, &main, None).await),
        ),
        ("main", refusal(plain.thread_events(&main, 0, 9).await)),
        (
            "s0",
            refusal(SpillStore::read(&plain, acme, "ann", "s0", 0, 9, at(200)).await),
        ),
    ] {
        assert!(text.contains(&format!("row `{row}`")), "{text}");
        assert!(
            text.contains("sealed with the key `k1`, open the store with `sealing`"),
            "{text}"
        );
    }
    // The handle without keys refuses only operations that read contents.
    assert!(plain.withdraw(acme, "a0").await.unwrap());
    assert_eq!(ThreadStore::erase(&plain, &main).await.unwrap(), 12);

    let locked = Vault::without_keys(MemoryStore::default()).await.unwrap();
    assert!(matches!(plain.sealed_by(&locked), Err(VaultError::NoKeys)));
}

/// Contents that were written before the host asked for sealing are read, and contents that are written later are sealed.
pub(crate) async fn unsealed_contents_are_read(plain: impl Sealing) {
    write(&plain, 0, "in clear").await;
    let store = sealing(&plain, &["k1"]).await;
    assert_eq!(read(&store, 0).await.unwrap(), ["in clear"; 6]);
    assert_eq!(uses(&plain, "k1").await, [0; 6]);
    write(&store, 1, "sealed").await;
    assert_eq!(read(&store, 0).await.unwrap(), ["in clear"; 6]);
    assert_eq!(read(&store, 1).await.unwrap(), ["sealed"; 6]);
    assert_eq!(uses(&plain, "k1").await, [1, 1, 2, 1, 1, 1]);
    // The edited arguments of an answer are sealed, even if the request was not sealed.
    plain.open(request("b")).await.unwrap();
    let verdict = Verdict::Edit("edited".to_owned());
    let row = store.answer(&acme(), "b", says(verdict)).await.unwrap();
    let read = ApprovalStore::get(&store, &acme(), "b").await.unwrap();
    assert_eq!(read, Some(row));
    assert_eq!(uses(&plain, "k1").await, [1, 2, 2, 1, 1, 1]);
}

/// Rotation seals the contents of each column again. It may be interrupted, and a key in use is not retired. A handle with a retired key does not
/// write contents.
pub(crate) async fn rotation_covers_contents(plain: impl Sealing) {
    let both = ["k1", "k2"];
    let (early, late) = (sealing(&plain, &both).await, sealing(&plain, &both).await);
    write_all(&early).await;
    let new = vault(&plain, &["k2", "k1"]).await;
    let refused = new.retire_key(&key("k1")).await.unwrap_err().to_string();
    for (column, count) in COLUMNS.iter().zip(WRITTEN) {
        assert!(
            refused.contains(&format!("{count} of column `{column}`")),
            "{refused}"
        );
    }
    // Each call ends after a batch of two values. A handle that has not used the new key yet fetches it.
    let mut rotations = 0;
    loop {
        let rotation = new.rotate_some(2, 2).await.unwrap();
        assert_eq!((rotation.changed, rotation.damaged), (0, 0));
        rotations += 1;
        if rotations == 9 {
            assert_all(&late).await;
        }
        if !rotation.more {
            break;
        }
    }
    assert!(rotations > 15, "{rotations}");
    assert_eq!(uses(&plain, "k1").await, [0; 6]);
    assert_eq!(uses(&plain, "k2").await, WRITTEN);
    assert_all(&early).await;

    // A batch replaces a value only if it has not changed since it was read and is still at the same place.
    for column in COLUMNS {
        let rows = plain.sealed(column, &key("k2"), None, 99).await.unwrap();
        let old = rows[1].clone();
        let new = Sealed::from_bytes(rows[0].bytes.clone()).unwrap();
        let (mut stale, mut elsewhere) = (old.clone(), old);
        stale.bytes = rows[0].bytes.clone();
        "nobody".clone_into(&mut elsewhere.place.owner);
        for old in [stale, elsewhere] {
            let new = new.clone();
            assert_eq!(
                plain.reseal(vec![Reseal { old, new }]).await.unwrap(),
                0,
                "{column}"
            );
        }
    }
    // `early` still seals with the old key until it is retired.
    let unused = user_message("with the old key");
    early.append(unused.clone()).await.unwrap();
    assert!(new.retire_key(&key("k1")).await.is_err());
    new.rotate(200).await.unwrap();
    new.retire_key(&key("k1")).await.unwrap();
    for refused in [
        early.append(unused.clone()).await.map(drop),
        early.open(request("late")).await,
        early.put(spill("late", "late")).await,
        early
            .append_events(events(vec![event("late")]))
            .await
            .map(drop),
        early.apply(edit("a1", "new key")).await.map(drop),
        early
            .answer(&acme(), "a1", says(Verdict::Edit("late".to_owned())))
            .await
            .map(drop),
        early
            .write_batch(Batch {
                message: Some(unused),
                ..Batch::default()
            })
            .await
            .map(drop),
    ] {
        assert!(
            matches!(&refused, Err(StoreError::Conflict(text)) if text.contains("`k1` is retired")),
            "{refused:?}"
        );
    }
}

/// If a process does not have the key of sealed contents, the error names the key.
pub(crate) async fn missing_key_is_named(plain: impl Sealing) {
    // The process has opened its vault before the other process used the key `k2`.
    let old = sealing(&plain, &["k1"]).await;
    write(&sealing(&plain, &["k2", "k1"]).await, 0, "text").await;
    for refused in [
        ApprovalStore::get(&old, &acme(), "a0").await.map(drop),
        old.assign(&acme(), "a0", None).await.map(drop),
        old.apply(edit("a0", "ignored")).await.map(drop),
        ThreadStore::read(&old, &thread("main"), None)
            .await
            .map(drop),
        SpillStore::read(&old, &acme(), "ann", "s0", 0, 9, at(200))
            .await
            .map(drop),
        old.thread_events(&thread("main"), 0, 9).await.map(drop),
    ] {
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("the key `k2`, which the key provider does not have"),
            "{text}"
        );
    }
}

/// A key service that can be unable to return the current key. It returns keys by id in any case.
struct Service {
    keys: SealKeys,
    is_down: Arc<AtomicBool>,
}

impl KeyProvider for Service {
    fn current(&self) -> BoxFuture<'_, Result<KeyId, KeyError>> {
        if self.is_down.load(Ordering::Relaxed) {
            return Box::pin(async { Err(KeyError::provider("the key service is down")) });
        }
        self.keys.current()
    }

    fn key<'a>(&'a self, id: &'a KeyId) -> BoxFuture<'a, Result<Option<SealKey>, KeyError>> {
        self.keys.key(id)
    }
}

/// While the key service is down, contents can be read but not written, and operations that do not write contents succeed.
pub(crate) async fn key_service_is_needed_to_write(plain: impl Sealing) {
    let is_down = Arc::new(AtomicBool::new(false));
    let service = Service {
        keys: keys(&["k1"]),
        is_down: Arc::clone(&is_down),
    };
    let vault = Vault::open(plain.clone(), service).await.unwrap();
    let store = plain.sealed_by(&vault).unwrap();
    write(&store, 0, "text").await;
    for id in ["b", "d", "e"] {
        store.open(request(id)).await.unwrap();
    }
    store.apply(edit("e", "edited")).await.unwrap();
    is_down.store(true, Ordering::Relaxed);
    let before = uses(&plain, "k1").await;
    for refused in [
        store.append(user_message("text")).await.map(drop),
        store.open(request("c")).await,
        store.put(spill("c", "text")).await,
        store
            .append_events(events(vec![event("text")]))
            .await
            .map(drop),
        store.apply(edit("d", "edited")).await.map(drop),
    ] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("the key service is down"), "{text}");
    }
    assert_eq!(uses(&plain, "k1").await, before);
    let messages = ThreadStore::read(&store, &thread("main"), None).await;
    assert_eq!(messages.unwrap().len(), 2);
    assert!(store.withdraw(&acme(), "b").await.unwrap());
    // One request is assigned and denied, and another request is revoked. The edited arguments of the revoked request stay sealed.
    let eve = Some("eve".to_owned());
    store.assign(&acme(), "d", eve).await.unwrap();
    let denied = store.answer(&acme(), "d", says(Verdict::Deny)).await;
    assert_eq!(denied.unwrap().status, ApprovalStatus::Denied);
    let audit = AuditRow::of_operator("acme", "olga", "test", "{}", at(300)).unwrap();
    let (change, key) = (Change::Revoke { id: "e".to_owned() }, None);
    let request = ChangeRequest { change, audit, key };
    store.apply(request).await.unwrap();
    let revoked = ApprovalStore::get(&store, &acme(), "e").await.unwrap();
    let verdict = revoked.unwrap().answer.unwrap().verdict;
    assert_eq!(verdict, Verdict::Edit("edited".to_owned()));
    assert_eq!(uses(&plain, "k1").await, before);
    let kill = Switch {
        key: SwitchKey {
            workspace: None,
            kind: SwitchKind::Kill,
            tool: "send_mail".to_owned(),
            source: String::new(),
        },
        on: true,
        by: "olga".to_owned(),
        reason: None,
        at: at(300),
    };
    let change = Change::SetSwitch {
        switch: kill,
        expected: Expected::Any,
    };
    let audit = AuditRow::of_operator("acme", "olga", "test", "{}", at(300)).unwrap();
    let request = ChangeRequest {
        change,
        audit,
        key: None,
    };
    store.apply(request).await.unwrap();
}

/// A value does not open if it was moved to a different row or if one of its bits was changed. The error names the row but does not contain the
/// value.
pub(crate) async fn moved_values_do_not_open(plain: impl Sealing) {
    let store = sealing(&plain, &["k1"]).await;
    for (number, text) in ["sentinel-one", "sentinel-two"].into_iter().enumerate() {
        write(&store, number, text).await;
    }
    let main = thread("main");
    let workspace = acme();
    for (column, row) in COLUMNS
        .into_iter()
        .zip(["a1", "a1", "main", "s1", "key of a1", "main"])
    {
        let rows = plain.sealed(column, &key("k1"), None, 99).await.unwrap();
        let (one, other) = (&rows[0], rows.last().unwrap());
        let mut flipped = other.bytes.to_vec();
        *flipped.last_mut().unwrap() ^= 1;
        for bytes in [one.bytes.to_vec(), flipped] {
            let mut change = Reseal {
                old: other.clone(),
                new: Sealed::from_bytes(bytes).unwrap(),
            };
            assert_eq!(plain.reseal(vec![change.clone()]).await.unwrap(), 1);
            let error = match column {
                SealedColumn::Message => refusal(ThreadStore::read(&store, &main, None).await),
                SealedColumn::ThreadEvent => refusal(store.thread_events(&main, 0, 9).await),
                SealedColumn::SpillChunk => {
                    refusal(SpillStore::read(&store, &workspace, "ann", "s1", 0, 9, at(200)).await)
                }
                SealedColumn::Response => refusal(store.apply(edit("a1", "ignored")).await),
                _ => refusal(ApprovalStore::get(&store, &workspace, "a1").await),
            };
            assert!(error.contains(&format!("row `{row}`")), "{error}");
            assert!(
                error.contains("was altered and cannot be opened"),
                "{error}"
            );
            assert!(!error.contains("sentinel"), "{error}");
            // The original value opens again.
            let good = Sealed::from_bytes(other.bytes.clone()).unwrap();
            change.old.bytes = change.new.as_bytes().into();
            change.new = good;
            assert_eq!(plain.reseal(vec![change]).await.unwrap(), 1);
            assert_eq!(read(&store, 1).await.unwrap(), ["sentinel-two"; 6]);
        }
    }
    // A value of one column does not open in a different column of the same row.
    let sealed = async |column| plain.sealed(column, &key("k1"), None, 1).await.unwrap();
    let arguments = sealed(SealedColumn::Arguments).await;
    let edited = sealed(SealedColumn::EditedArguments).await;
    let new = Sealed::from_bytes(arguments[0].bytes.clone()).unwrap();
    let old = edited[0].clone();
    assert_eq!(plain.reseal(vec![Reseal { old, new }]).await.unwrap(), 1);
    let error = refusal(ApprovalStore::get(&store, &workspace, "a0").await);
    assert!(error.contains("column `edited_sealed`"), "{error}");
}

/// A handle that seals contents and a handle that does not seal them have different journals, so no batch combines their writes.
pub(crate) async fn journals_are_separate(plain: impl Sealing) {
    let store = sealing(&plain, &["k1"]).await;
    let journal = |store: &_| ThreadStore::journal(store).unwrap();
    assert_eq!(
        journal(&store),
        EffectLedger::journal(&store.clone()).unwrap()
    );
    assert_ne!(journal(&store), journal(&plain));
    let batch = Batch {
        message: Some(user_message("text")),
        ..Batch::default()
    };
    journal(&store).write(batch).await.unwrap();
    assert_eq!(uses(&plain, "k1").await, [0, 0, 1, 0, 0, 0]);
}

/// Erasure removes sealed contents, and their key no longer counts as used for them.
pub(crate) async fn erasure_removes_sealed_contents(plain: impl Sealing) {
    let store = sealing(&plain, &["k1"]).await;
    write(&store, 0, "text").await;
    let erased = store.erase_contents(Erasure::Thread(&thread("main"))).await;
    let erased = erased.unwrap();
    assert_eq!(
        (erased.approvals, erased.messages, erased.requests),
        (1, 2, 1)
    );
    assert_eq!(uses(&plain, "k1").await, [0, 0, 0, 1, 0, 0]);
    // The erased row needs no key.
    let row = ApprovalStore::get(&plain, &acme(), "a0")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(row.request.arguments, "null");
    let verdict = row.answer.map(|answer| answer.verdict);
    assert_eq!(verdict, Some(Verdict::Edit("null".to_owned())));
    let again = store.erase_contents(Erasure::Thread(&thread("main"))).await;
    assert_eq!(again.unwrap(), Erased::default());

    write(&store, 1, "text").await;
    let user = Erasure::Principal {
        workspace: &acme(),
        principal: "ann",
    };
    store.erase_contents(user).await.unwrap();
    assert_eq!(uses(&plain, "k1").await, [0, 0, 2, 0, 0, 1]);
}

/// The number of values that [`fill`] seals: two messages, two requests, two edited answers, three chunks, a response and an event.
pub(crate) const FILLED: u64 = 11;

/// A handle that seals contents refuses to write or correct memories and to write notes, which are stored only in clear text; a handle without
/// sealing stores them, and the sealing handle reads them.
pub(crate) async fn memories_are_not_sealed(plain: impl Sealing) {
    let keys = SealKeys::new("k1", SealKey::new(&[1; 32])).unwrap();
    let vault = Vault::open(plain.clone(), keys).await.unwrap();
    let sealing = plain.sealed_by(&vault).unwrap();
    let scope = MemoryScope::shared(&acme());
    let new = |content: &str| NewMemory {
        scope: scope.clone(),
        content: content.to_owned(),
        memory_type: MemoryType::Fact,
        durability: Durability::Core,
        importance: Importance::default(),
        source: MemorySource::User,
        principal: None,
        conversation: None,
        vector: None,
        at: at(100),
    };
    let note = || NewNote {
        thread: thread("main"),
        author: "a".to_owned(),
        text: "x".to_owned(),
        at: at(100),
    };
    let stored = plain.remember(new("tea")).await.unwrap().memory;
    plain.append_note(note()).await.unwrap();
    let correction = MemoryCorrection {
        content: Some("milk".to_owned()),
        ..MemoryCorrection::default()
    };
    let by_operator = ChangeRequest {
        change: Change::Record(RecordChange::CorrectMemory {
            workspace: acme(),
            id: stored.id.clone(),
            correction: Box::new(correction.clone()),
            expected: Expected::Any,
        }),
        audit: AuditRow::of_operator(acme(), "olga", "memory.correct", "{}", at(100)).unwrap(),
        key: None,
    };
    for refused in [
        sealing.remember(new("milk")).await.err(),
        sealing.apply(by_operator).await.err(),
        sealing.append_note(note()).await.err(),
        sealing
            .correct_memory(&acme(), &stored.id, &correction)
            .await
            .err(),
    ] {
        let text = refused.unwrap().to_string();
        assert!(text.contains("without sealing"), "{text}");
    }
    assert_eq!(
        sealing.memory(&acme(), &stored.id).await.unwrap(),
        Some(stored)
    );
    assert_eq!(sealing.notes(&thread("main")).await.unwrap().total(), 1);
}

/// Writes sentinels through every path that seals contents, and returns them.
pub(crate) async fn fill(store: &impl Sealing) -> Vec<String> {
    let mut values = Vec::new();
    let mut sentinel = |path: &str| {
        let value = format!("sentinel-of-{path}-4711");
        values.push(value.clone());
        value
    };
    store
        .append(user_message(&sentinel("message")))
        .await
        .unwrap();
    let batch = Batch {
        message: Some(user_message(&sentinel("batch"))),
        ..Batch::default()
    };
    store.write_batch(batch).await.unwrap();
    for id in ["a1", "a2"] {
        let asked = ApprovalRequest {
            arguments: sentinel(&format!("arguments-{id}")),
            ..request(id)
        };
        store.open(asked).await.unwrap();
    }
    // The stored response contains both arguments.
    store
        .apply(edit("a1", &sentinel("applied-edit")))
        .await
        .unwrap();
    let verdict = Verdict::Edit(sentinel("answered-edit"));
    store.answer(&acme(), "a2", says(verdict)).await.unwrap();
    let long = format!("{} {}", "x".repeat(65_536), sentinel("second-chunk"));
    store.put(spill("s1", &long)).await.unwrap();
    store
        .put(spill("s2", &sentinel("first-chunk")))
        .await
        .unwrap();
    let event = event(&sentinel("event"));
    store.append_events(events(vec![event])).await.unwrap();
    values
}
