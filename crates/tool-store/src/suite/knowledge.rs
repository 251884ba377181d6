//! Tests of documents, their index and their search.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::*;

use super::records::at;
use super::{at_once, conflict, tests};

/// The traits of a store whose documents are indexed and erased.
#[doc(hidden)]
pub trait Documents: KnowledgeStore + Maintenance {}
impl<T: KnowledgeStore + Maintenance> Documents for T {}

pub(super) const LEASE: Duration = Duration::from_millis(300);

/// Returns the name of a document of `acme`.
pub(super) fn name(file: &str) -> DocumentName {
    DocumentName::new(&Workspace::new("acme"), file).unwrap()
}

pub(super) fn replace(file: &str, content: impl Into<Vec<u8>>) -> DocumentWrite {
    DocumentWrite {
        name: name(file),
        mode: DocumentWriteMode::Replace,
        content: content.into(),
        mime: None,
        source: "agent".to_owned(),
        principal: Some("ann".to_owned()),
        at: at(100),
    }
}

pub(super) fn append(file: &str, content: &str) -> DocumentWrite {
    DocumentWrite {
        mode: DocumentWriteMode::Append,
        ..replace(file, content)
    }
}

pub(super) async fn write(
    store: &impl KnowledgeStore,
    write: DocumentWrite,
) -> (DocumentRow, bool) {
    match store.write_document(write).await.unwrap() {
        DocumentWritten::Stored { row, created } => (*row, created),
        DocumentWritten::TooLarge { size } => panic!("{size} bytes"),
    }
}

fn claim(now: i64) -> IndexClaim {
    IndexClaim {
        worker: "one".to_owned(),
        lease: LEASE,
        most_recoveries: 2,
        at: at(now),
    }
}

/// Indexes every document that is ready. Returns their number.
pub(super) async fn index(store: &impl KnowledgeStore, now: i64) -> usize {
    let mut done = 0;
    while let Some(document) = store.claim_document(Scope::All, claim(now)).await.unwrap() {
        let chunks = Document::chunks(str::from_utf8(&document.content).unwrap());
        let indexed = IndexOutcome::Indexed { text: None, chunks };
        let (name, token) = (&document.row.name, document.row.token.as_deref().unwrap());
        assert!(
            store
                .finish_index(name, token, indexed, at(now))
                .await
                .unwrap()
        );
        done += 1;
    }
    done
}

async fn found(store: &impl KnowledgeStore, workspace: &str, query: &str) -> Vec<(String, u32)> {
    let workspace = Workspace::new(workspace);
    let search = ChunkSearch {
        workspace: &workspace,
        query,
        limit: 10,
    };
    let hits = store.search_chunks(search).await.unwrap();
    hits.into_iter().map(|hit| (hit.file, hit.index)).collect()
}

pub(super) async fn files(store: &impl KnowledgeStore, query: &str) -> BTreeSet<String> {
    let found = found(store, "acme", query).await;
    found.into_iter().map(|(file, _)| file).collect()
}

tests! {
    ($) __suite_knowledge in knowledge for Documents;

    #[test]
    async fn document_round_trips(store: impl KnowledgeStore) {
        let content = b"\0\xff binary\n".to_vec();
        let new = DocumentWrite { mime: Some("application/pdf".to_owned()), ..replace("Ü 1.pdf", content.clone()) };
        let (row, created) = write(&store, new).await;
        assert!(created && !row.id.is_empty());
        assert_eq!((row.size, row.status, row.ready, row.chunks), (10, DocumentStatus::Pending, Some(at(100)), 0));
        let read = store.document(&name("Ü 1.pdf")).await.unwrap().unwrap();
        assert_eq!((&read.row, &read.content, &read.text), (&row, &content, &None));
        let document = store.claim_document(Scope::All, claim(100)).await.unwrap().unwrap();
        let outcome = IndexOutcome::Indexed { text: Some("a\0b".to_owned()), chunks: vec!["a\0b".to_owned()] };
        assert!(store.finish_index(&row.name, document.row.token.as_deref().unwrap(), outcome, at(200)).await.unwrap());
        let read = store.document(&row.name).await.unwrap().unwrap();
        assert_eq!((read.content, read.text.as_deref(), read.row.indexed), (content, Some("a\0b"), Some(at(200))));
        assert_eq!((read.row.status, read.row.chunks, read.row.ready), (DocumentStatus::Indexed, 1, None));
        let workspace = Workspace::new("acme");
        let hits = store.search_chunks(ChunkSearch { workspace: &workspace, query: "b", limit: 1 }).await.unwrap();
        assert_eq!(hits, [ChunkHit { file: "Ü 1.pdf".to_owned(), index: 0, content: "a\0b".to_owned(), score: 0.0328 }]);
        // Another write keeps the id and the time of the creation, and removes the text.
        let (again, created) = write(&store, DocumentWrite { at: at(300), ..replace("Ü 1.pdf", "new") }).await;
        assert_eq!((again.id, again.created, again.updated, created), (row.id, at(100), at(300), false));
        assert_eq!(store.document(&row.name).await.unwrap().unwrap().text, None);
    }

    // The contract of get_knowledge: the file name is exact and case-sensitive.
    #[test]
    async fn file_names_are_exact(store: impl KnowledgeStore) {
        write(&store, replace("Notes.md", "one")).await;
        assert!(store.document(&name("notes.md")).await.unwrap().is_none());
        assert!(store.document(&name("Notes")).await.unwrap().is_none());
        write(&store, replace("notes.md", "two")).await;
        let read = |file| { let store = &store; async move { store.document(&name(file)).await.unwrap().unwrap().content } };
        assert_eq!((read("Notes.md").await, read("notes.md").await), (b"one".to_vec(), b"two".to_vec()));
        assert!(store.remove_document(&name("Notes.md")).await.unwrap());
        assert!(!store.remove_document(&name("Notes.md")).await.unwrap());
        assert_eq!(read("notes.md").await, b"two");
        let acme = Workspace::new("acme");
        for (file, words) in [("", "0 bytes"), (" a", "white space"), ("a\nb", "control"), (&*"a".repeat(256), "256 bytes")] {
            conflict(DocumentName::new(&acme, file), words);
        }
        assert!(DocumentName::new(&acme, "a".repeat(255)).is_ok());
        // No URL can contain `.` or `..` as a segment of its path, so the admin API could not address such a document.
        for file in [".", ".."] {
            conflict(store.write_document(replace(file, "one")).await, "must not be `.` or `..`, use a name such as `notes.md`");
            assert!(store.document(&name(file)).await.unwrap().is_none());
        }
        write(&store, replace("..md", "one")).await;
    }

    // The contract of write_knowledge: append joins with a blank line. It keeps the type of the document, and joins only UTF-8 texts.
    #[test]
    async fn append_joins_with_a_blank_line(store: impl KnowledgeStore) {
        assert!(write(&store, append("a.md", "one")).await.1);
        let (row, created) = write(&store, append("a.md", "two")).await;
        assert_eq!((row.size, row.mime.as_str(), created), (8, "text/markdown", false));
        assert_eq!(store.document(&name("a.md")).await.unwrap().unwrap().content, b"one\n\ntwo");
        // An empty document gets no blank line.
        write(&store, replace("b.md", "")).await;
        write(&store, append("b.md", "first")).await;
        assert_eq!(store.document(&name("b.md")).await.unwrap().unwrap().content, b"first");
        let html = DocumentWrite { mime: Some("text/html".to_owned()), ..append("a.md", "x") };
        conflict(store.write_document(html).await, "text/markdown");
        write(&store, replace("c.pdf", [255, 254])).await;
        conflict(store.write_document(append("c.pdf", "x")).await, "not a text");
        write(&store, DocumentWrite { mime: Some("application/pdf".to_owned()), ..replace("c.pdf", "%PDF-1.4") }).await;
        conflict(store.write_document(append("c.pdf", "x")).await, "not a text");
        conflict(store.write_document(DocumentWrite { content: vec![255], ..append("a.md", "") }).await, "UTF-8");
        conflict(store.write_document(DocumentWrite { source: String::new(), ..append("a.md", "") }).await, "source");
        assert_eq!(store.document(&name("a.md")).await.unwrap().unwrap().content, b"one\n\ntwo");
    }

    // The contract of write_knowledge: a document has at most 10 MiB. The test writes documents on both sides of the limit.
    #[test]
    async fn documents_have_a_maximum_size(store: impl KnowledgeStore) {
        let most = usize::try_from(Document::MOST_BYTES).unwrap();
        write(&store, replace("a.md", vec![b'a'; most - 3])).await;
        let larger = store.write_document(append("a.md", "bc")).await.unwrap();
        assert_eq!(larger, DocumentWritten::TooLarge { size: Document::MOST_BYTES + 1 });
        assert_eq!(write(&store, append("a.md", "b")).await.0.size, Document::MOST_BYTES);
        let larger = store.write_document(replace("a.md", vec![b'a'; most + 1])).await.unwrap();
        assert_eq!(larger, DocumentWritten::TooLarge { size: Document::MOST_BYTES + 1 });
        let larger = store.write_document(replace("b.md", vec![b'a'; most + 1])).await.unwrap();
        assert_eq!(larger, DocumentWritten::TooLarge { size: Document::MOST_BYTES + 1 });
        assert!(store.document(&name("b.md")).await.unwrap().is_none());
    }

    // A search finds words in upper and lower case, and does not interpret operators in the query.
    #[test]
    async fn search_finds_words(store: impl KnowledgeStore) {
        write(&store, replace("tea.md", "Green TEA is brewed at 70 °C. Café hours differ.")).await;
        write(&store, replace("coffee.md", "Coffee is brewed with boiling water, not tea.")).await;
        write(&store, replace("empty.md", " \n")).await;
        write(&store, replace("signs.md", "--- 👍\n")).await;
        assert_eq!(index(&store, 100).await, 4);
        assert_eq!(files(&store, "tea").await, BTreeSet::from(["tea.md".to_owned(), "coffee.md".to_owned()]));
        // The chunk that contains every word is the first.
        assert_eq!(found(&store, "acme", "green tea").await[0], ("tea.md".to_owned(), 0));
        assert_eq!(found(&store, "acme", "boiling tea").await[0], ("coffee.md".to_owned(), 0));
        assert_eq!(files(&store, "cafe").await, BTreeSet::from(["tea.md".to_owned()]));
        for query in ["", "?!", "juice", "\"", "te*", "knowledge_text"] {
            assert_eq!(found(&store, "acme", query).await, [], "{query}");
        }
        for query in ["tea AND", "terms:tea", "(tea", "tea'", "te & tea | ! <->", "NEAR(tea", "\"tea", "-tea", "tea\0"] {
            assert_eq!(files(&store, query).await.len(), 2, "{query}");
        }
    }

    // Texts of scripts without spaces are found by their words.
    #[test]
    async fn search_finds_words_of_unspaced_scripts(store: impl KnowledgeStore) {
        write(&store, replace("zh.md", "我们在上海喝咖啡。")).await;
        write(&store, replace("ja.md", "昨日は東京都で会議をした。")).await;
        write(&store, replace("th.md", "เราดื่มกาแฟที่กรุงเทพ")).await;
        write(&store, replace("ko.md", "서울에서 회의를 했다")).await;
        index(&store, 100).await;
        for (query, file) in [("上海", "zh.md"), ("咖啡", "zh.md"), ("東京", "ja.md"), ("กาแฟ", "th.md"), ("ที่", "th.md"), ("서울", "ko.md")] {
            assert_eq!(found(&store, "acme", query).await.first(), Some(&(file.to_owned(), 0)), "{query}");
        }
        assert_eq!(found(&store, "acme", "海咖").await, []);
    }

    // A rare word is found although all chunks contain another word of the query, and the limit counts chunks.
    #[test]
    async fn rare_word_is_found_beside_a_frequent_word(store: impl KnowledgeStore) {
        let all: Vec<String> = (0..1_200).map(|_| "common ".to_owned() + &"x".repeat(1_793)).collect();
        write(&store, replace("common.md", all.concat())).await;
        write(&store, replace("rare.md", "a common and a rarest word")).await;
        index(&store, 100).await;
        let hits = found(&store, "acme", "common zebra rarest").await;
        assert_eq!((hits[0].0.as_str(), hits.len()), ("rare.md", 10));
        let workspace = Workspace::new("acme");
        for (limit, expected) in [(0, 0), (1, 1), (30, 30)] {
            let hits = store.search_chunks(ChunkSearch { workspace: &workspace, query: "common", limit }).await.unwrap();
            assert_eq!(hits.len(), expected);
            assert!(hits.is_sorted_by(|one, other| one.score >= other.score));
        }
    }

    // Documents of two workspaces are separate, even if their file names are equal.
    #[test]
    async fn documents_of_two_workspaces_are_separate(store: impl KnowledgeStore + Maintenance) {
        let foreign = DocumentName::new(&Workspace::new("umbrella"), "a.md").unwrap();
        write(&store, replace("a.md", "our recipe")).await;
        write(&store, DocumentWrite { name: foreign.clone(), ..replace("a.md", "their recipe") }).await;
        index(&store, 100).await;
        let read = |name: DocumentName| { let store = &store; async move { store.document(&name).await.unwrap().map(|document| document.content) } };
        assert_eq!(read(name("a.md")).await.unwrap(), b"our recipe");
        assert_eq!(read(foreign.clone()).await.unwrap(), b"their recipe");
        let workspaces = [Workspace::new("acme"), Workspace::new("umbrella"), Workspace::new("other")];
        for (workspace, contents) in workspaces.iter().zip([vec!["our recipe"], vec!["their recipe"], vec![]]) {
            let hits = store.search_chunks(ChunkSearch { workspace, query: "recipe", limit: 9 }).await.unwrap();
            assert_eq!(hits.iter().map(|hit| hit.content.as_str()).collect::<Vec<_>>(), contents);
            let listed = store.list_documents(Scope::Workspace(workspace), &DocumentFilter::default()).await.unwrap();
            assert_eq!(listed.len(), contents.len());
        }
        assert_eq!(found(&store, "umbrella", "our").await, []);
        // A claim in one workspace does not take a document of a different workspace.
        write(&store, DocumentWrite { name: foreign.clone(), ..replace("a.md", "new") }).await;
        assert!(store.claim_document(Scope::Workspace(&workspaces[0]), claim(200)).await.unwrap().is_none());
        assert!(store.remove_document(&foreign).await.unwrap());
        assert_eq!(read(foreign).await, None);
        assert_eq!(files(&store, "recipe").await.len(), 1);
    }

    #[test]
    async fn documents_are_listed_in_pages(store: impl KnowledgeStore) {
        for file in ["b", "B", "a", "é"] {
            write(&store, replace(file, file)).await;
        }
        let other = DocumentName::new(&Workspace::new("aaa"), "z").unwrap();
        write(&store, DocumentWrite { name: other.clone(), ..replace("z", "z") }).await;
        store.claim_document(Scope::Workspace(&Workspace::new("aaa")), claim(100)).await.unwrap().unwrap();
        let acme = Workspace::new("acme");
        let page = |scope: bool, filter: DocumentFilter| {
            let (store, acme) = (&store, &acme);
            async move {
                let scope = if scope { Scope::Workspace(acme) } else { Scope::All };
                let rows = store.list_documents(scope, &filter).await.unwrap();
                rows.into_iter().map(|row| row.name.file().to_owned()).collect::<Vec<_>>()
            }
        };
        let all = DocumentFilter::default();
        assert_eq!(page(true, all.clone()).await, ["B", "a", "b", "é"]);
        assert_eq!(page(false, all.clone()).await, ["z", "B", "a", "b", "é"]);
        assert_eq!(page(true, DocumentFilter { limit: Some(2), after: Some(name("B")), ..all.clone() }).await, ["a", "b"]);
        assert_eq!(page(true, DocumentFilter { after: Some(other), ..all.clone() }).await.len(), 4);
        assert_eq!(page(false, DocumentFilter { status: Some(DocumentStatus::Indexing), ..all.clone() }).await, ["z"]);
        assert_eq!(page(true, DocumentFilter { status: Some(DocumentStatus::Pending), ..all }).await.len(), 4);
    }

    // A claim whose lease expired is taken over, and its worker changes nothing.
    #[test]
    async fn expired_claim_is_taken_over(store: impl KnowledgeStore) {
        write(&store, replace("a.md", "one")).await;
        assert!(store.claim_document(Scope::All, claim(99)).await.unwrap().is_none());
        let first = store.claim_document(Scope::All, claim(100)).await.unwrap().unwrap().row;
        assert_eq!((first.status, first.ready, first.worker.as_deref()), (DocumentStatus::Indexing, Some(at(400)), Some("one")));
        assert!(store.claim_document(Scope::All, claim(399)).await.unwrap().is_none());
        let (name, token) = (&first.name, first.token.as_deref().unwrap());
        assert!(store.extend_index(name, token, LEASE, at(300)).await.unwrap());
        assert!(store.claim_document(Scope::All, claim(599)).await.unwrap().is_none());
        assert!(!store.extend_index(name, "other", LEASE, at(300)).await.unwrap());
        let second = store.claim_document(Scope::All, claim(600)).await.unwrap().unwrap().row;
        assert_eq!(second.recoveries, 1);
        assert!(!store.extend_index(name, token, LEASE, at(601)).await.unwrap());
        let outcome = IndexOutcome::Failed("X".to_owned());
        assert!(!store.finish_index(name, token, outcome.clone(), at(601)).await.unwrap());
        assert!(store.finish_index(name, second.token.as_deref().unwrap(), outcome, at(601)).await.unwrap());
        let row = store.document(name).await.unwrap().unwrap().row;
        assert_eq!((row.status, row.fault.as_deref(), row.ready), (DocumentStatus::Failed, Some("X"), None));
        // A new write resets the count of recoveries and the fault, and the document can be claimed.
        write(&store, DocumentWrite { at: at(700), ..replace("a.md", "two") }).await;
        let row = store.claim_document(Scope::All, claim(700)).await.unwrap().unwrap().row;
        assert_eq!((row.recoveries, row.fault.as_deref()), (0, None));
    }

    // Content that crashes its workers is not claimed forever, and other documents do not wait for it.
    #[test]
    async fn document_that_crashes_its_workers_fails(store: impl KnowledgeStore) {
        write(&store, replace("bomb", "old words")).await;
        index(&store, 100).await;
        write(&store, replace("bomb", "boom")).await;
        for number in 0..3 {
            let row = store.claim_document(Scope::All, claim(100 + number * 300)).await.unwrap().unwrap().row;
            assert_eq!(i64::from(row.recoveries), number);
        }
        write(&store, DocumentWrite { at: at(1_100), ..replace("later", "words") }).await;
        let row = store.claim_document(Scope::All, claim(1_100)).await.unwrap().unwrap().row;
        assert_eq!(row.name.file(), "later");
        let row = store.document(&name("bomb")).await.unwrap().unwrap().row;
        assert_eq!((row.status, row.fault.as_deref(), row.chunks), (DocumentStatus::Failed, Some(DocumentRow::CRASH_LIMIT), 0));
        assert_eq!(found(&store, "acme", "old").await, []);
    }

    // A write during a claim ends the claim, so that the chunks never belong to an earlier content.
    #[test]
    async fn write_during_the_index_ends_the_claim(store: impl KnowledgeStore) {
        write(&store, replace("a.md", "apples")).await;
        index(&store, 100).await;
        write(&store, replace("a.md", "pears")).await;
        let claimed = store.claim_document(Scope::All, claim(100)).await.unwrap().unwrap();
        // Until the index is finished, a search finds the previous content.
        assert_eq!(files(&store, "apples").await.len(), 1);
        write(&store, append("a.md", "plums")).await;
        let outcome = IndexOutcome::Indexed { text: None, chunks: vec!["pears".to_owned()] };
        let token = claimed.row.token.as_deref().unwrap();
        assert!(!store.finish_index(&claimed.row.name, token, outcome, at(101)).await.unwrap());
        assert_eq!(index(&store, 100).await, 1);
        assert_eq!((files(&store, "plums").await.len(), files(&store, "apples").await.len()), (1, 0));
        // A claim of a document that was removed cannot be finished either.
        write(&store, replace("a.md", "cherries")).await;
        let claimed = store.claim_document(Scope::All, claim(100)).await.unwrap().unwrap();
        store.remove_document(&name("a.md")).await.unwrap();
        let outcome = IndexOutcome::Indexed { text: None, chunks: vec!["cherries".to_owned()] };
        let token = claimed.row.token.as_deref().unwrap();
        assert!(!store.finish_index(&claimed.row.name, token, outcome, at(101)).await.unwrap());
        assert_eq!(found(&store, "acme", "cherries plums").await, []);
    }

    #[test]
    async fn retried_document_waits(store: impl KnowledgeStore) {
        write(&store, replace("a.md", "one")).await;
        let row = store.claim_document(Scope::All, claim(100)).await.unwrap().unwrap().row;
        let outcome = IndexOutcome::Retry(Duration::from_millis(50));
        assert!(store.finish_index(&row.name, row.token.as_deref().unwrap(), outcome, at(100)).await.unwrap());
        assert!(store.claim_document(Scope::All, claim(149)).await.unwrap().is_none());
        assert_eq!(store.claim_document(Scope::All, claim(150)).await.unwrap().unwrap().row.recoveries, 0);
    }

    // The erasure of a user removes the name of the user from the documents of the workspace, and keeps the documents.
    #[test]
    async fn erased_user_is_removed_from_documents(store: impl KnowledgeStore + Maintenance) {
        let workspace = Workspace::new("acme");
        let foreign = DocumentName::new(&Workspace::new("umbrella"), "a.md").unwrap();
        write(&store, replace("a.md", "one")).await;
        write(&store, DocumentWrite { principal: Some("bob".to_owned()), ..replace("b.md", "two") }).await;
        write(&store, DocumentWrite { name: foreign.clone(), ..replace("a.md", "three") }).await;
        store.erase_contents(Erasure::Principal { workspace: &workspace, principal: "ann" }).await.unwrap();
        let principal = |name: DocumentName| { let store = &store; async move { store.document(&name).await.unwrap().unwrap().row.principal } };
        assert_eq!(principal(name("a.md")).await, None);
        assert_eq!(principal(name("b.md")).await.as_deref(), Some("bob"));
        assert_eq!(principal(foreign).await.as_deref(), Some("ann"));
        assert_eq!(index(&store, 100).await, 3);
    }
}

tests! {
    ($) __suite_knowledge_races in knowledge for Documents;

    // 32 tasks of two processes append to one document: no text is lost, and the document is created once.
    #[test]
    fn concurrent_appends_lose_nothing(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let created = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move { write(&store, append("a.md", &format!("line {task}."))).await.1 }
            }).await;
            assert_eq!(created.into_iter().filter(|created| *created).count(), 1);
            let document = stores[1].document(&name("a.md")).await.unwrap().unwrap();
            let text = String::from_utf8(document.content).unwrap();
            let lines: BTreeSet<&str> = text.split("\n\n").collect();
            assert_eq!(lines.len(), 32, "{text}");
        });
    }

    // 32 tasks of two processes claim 20 documents: each document is claimed once.
    #[test]
    fn document_is_claimed_once(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            for number in 0..20 {
                write(&stores[0], replace(&format!("{number}.md"), "words")).await;
            }
            let claimed = at_once(|task| {
                let store = stores[usize::from(task % 2 == 1)].clone();
                async move { store.claim_document(Scope::All, claim(100)).await.unwrap().map(|document| document.row.name) }
            }).await;
            let claimed: Vec<DocumentName> = claimed.into_iter().flatten().collect();
            let distinct: BTreeSet<&DocumentName> = claimed.iter().collect();
            assert_eq!(distinct.len(), claimed.len());
            // A claim may find nothing while another transaction has locked the last row. A later claim finds the row.
            let mut left = 20 - claimed.len();
            while stores[0].claim_document(Scope::All, claim(100)).await.unwrap().is_some() {
                left -= 1;
            }
            assert_eq!(left, 0);
        });
    }
}
