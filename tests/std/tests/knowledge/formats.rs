//! Documents in HTML and PDF. PDF files are hostile input.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};
use tool_core::store::{DocumentName, DocumentWrite, DocumentWriteMode, Timestamp, Workspace};
use tool_std::isolate::Isolation;
use tool_std::knowledge::{DocumentFault, Indexer};

use crate::support::Desk;

const PDF: &str = "application/pdf";

fn indexer(desk: &Desk) -> Indexer {
    let isolation = Isolation::new().helper(env!("CARGO_BIN_EXE_std-host"));
    desk.knowledge.indexer().isolation(isolation)
}

async fn upload(desk: &Desk, file: &str, mime: &str, content: impl Into<Vec<u8>>) {
    let write = DocumentWrite {
        name: DocumentName::new(&Workspace::new("acme"), file).unwrap(),
        mode: DocumentWriteMode::Replace,
        content: content.into(),
        mime: Some(mime.to_owned()),
        source: "upload".to_owned(),
        principal: None,
        at: Timestamp::now(),
    };
    desk.knowledge.write(write).await.unwrap();
}

/// Uploads a document, indexes it, and returns it as `get_knowledge` does.
async fn read(mime: &str, content: impl Into<Vec<u8>>) -> Value {
    let desk = Desk::new();
    upload(&desk, "a", mime, content).await;
    indexer(&desk).run_until_idle().await.unwrap();
    desk.get("a").await
}

/// Asserts that a document cannot be indexed, for this reason.
fn failed(document: &Value, fault: DocumentFault) {
    assert_eq!(document["status"], "failed", "{document}");
    assert_eq!(document["error"], fault.to_string(), "{document}");
}

/// Returns a PDF with one page of this content.
fn pdf(content: &[u8], filter: &str) -> Vec<u8> {
    file(content, filter, "null", "")
}

/// Returns a PDF with one page of this content, a sixth object, and additional entries of the trailer. If the sixth object is a stream, the font uses
/// it as its `ToUnicode` map.
fn file(content: &[u8], filter: &str, sixth: &str, trailer: &str) -> Vec<u8> {
    let table = if sixth.contains("stream") {
        "/ToUnicode 6 0 R"
    } else {
        ""
    };
    let head = format!("<< /Length {} {filter} >>\nstream\n", content.len());
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_vec(),
        [head.as_bytes(), content, b"\nendstream"].concat(),
        format!("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding {table} >>").into_bytes(),
        sixth.as_bytes().to_vec(),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (object, number) in objects.iter().zip(1..) {
        places.push(file.len());
        file.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        file.extend_from_slice(object);
        file.extend_from_slice(b"\nendobj\n");
    }
    let table = file.len();
    file.extend_from_slice(b"xref\n0 7\n0000000000 65535 f \n");
    for place in places {
        file.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
    }
    let end = format!("trailer\n<< /Size 7 /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF\n");
    file.extend_from_slice(end.as_bytes());
    file
}

fn page(text: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
    pdf(content.as_bytes(), "")
}

/// Returns a compressed stream of `times` times 32 MiB of zeros.
fn zeros(times: usize) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![0; 32 << 20]).unwrap();
    // The block ends at a byte boundary and is not marked as the last block, so its copies form one stream.
    encoder.flush().unwrap();
    let block = encoder.get_ref().clone();
    let mut stream = vec![0x78, 0x9c];
    for _ in 0..times {
        stream.extend_from_slice(&block);
    }
    stream.extend_from_slice(&[0x03, 0x00, 0, 0, 0, 1]);
    stream
}

// The text of a PDF is found, and `get_knowledge` returns the text.
#[tokio::test]
async fn text_of_a_pdf_is_found() {
    let desk = Desk::new();
    upload(
        &desk,
        "terms.pdf",
        PDF,
        page("The warranty lasts two years."),
    )
    .await;
    assert_eq!(desk.get("terms.pdf").await["content"], Value::Null);
    assert_eq!(indexer(&desk).run_until_idle().await.unwrap(), 1);
    assert_eq!(desk.search("warranty").await, ["terms.pdf"]);
    let read = desk.get("terms.pdf").await;
    assert_eq!(
        (&read["status"], &read["mime"]),
        (&json!("indexed"), &json!(PDF))
    );
    let text = read["content"].as_str().unwrap();
    assert_eq!(text.trim(), "The warranty lasts two years.");
    // Text cannot be appended to a PDF.
    let append = json!({"action": "append", "file": "terms.pdf", "content": "x"});
    let error = desk.fails("write_knowledge", append).await;
    assert!(error.contains("is not a text"), "{error}");
}

// The text of a compressed PDF is read.
#[tokio::test]
async fn compressed_pdf_is_read() {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder
        .write_all(b"BT /F1 12 Tf 72 700 Td (compressed) Tj ET")
        .unwrap();
    let content = encoder.finish().unwrap();
    let read = read(PDF, pdf(&content, "/Filter /FlateDecode")).await;
    let text = read["content"].as_str().map(str::trim);
    assert_eq!(text, Some("compressed"), "{read}");
}

// Encrypted, scanned and damaged files have their own errors.
#[tokio::test]
async fn pdf_without_a_text_has_a_named_error() {
    let key = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    let encrypt = format!("<< /Filter /Standard /V 1 /R 2 /P -4 /O <{key}> /U <{key}> >>");
    let trailer = format!("/ID [<{key}> <{key}>] /Encrypt 6 0 R");
    failed(
        &read(PDF, file(b"BT (secret) Tj ET", "", &encrypt, &trailer)).await,
        DocumentFault::PdfEncrypted,
    );
    failed(
        &read(PDF, pdf(b"0 0 612 792 re f", "")).await,
        DocumentFault::PdfScanned,
    );
    let whole = page("text");
    for content in [
        Vec::new(),
        b"%PDF-1.4\n".to_vec(),
        b"no PDF".to_vec(),
        whole[..200].to_vec(),
        vec![b'['; 1 << 20],
    ] {
        failed(&read(PDF, content).await, DocumentFault::PdfDamaged);
    }
}

// A document with a stream that decompresses to 2 GiB fails with a named error, and the other document is indexed.
#[tokio::test]
async fn pdf_bomb_has_a_named_error() {
    let bomb = pdf(&zeros(64), "/Filter /FlateDecode");
    assert!(bomb.len() < 4 << 20, "{}", bomb.len());
    let desk = Desk::new();
    upload(&desk, "bomb.pdf", PDF, bomb).await;
    upload(
        &desk,
        "terms.pdf",
        PDF,
        page("The warranty lasts two years."),
    )
    .await;
    assert_eq!(indexer(&desk).run_until_idle().await.unwrap(), 2);
    failed(&desk.get("bomb.pdf").await, DocumentFault::PdfMemory);
    assert_eq!(desk.search("warranty").await, ["terms.pdf"]);
}

// Reading a PDF stops at the time limit.
#[tokio::test]
async fn slow_pdf_has_a_named_error() {
    let desk = Desk::new();
    upload(
        &desk,
        "slow.pdf",
        PDF,
        pdf(&b"BT (a) Tj ET ".repeat(700_000), ""),
    )
    .await;
    let quick = indexer(&desk).pdf_limits(1 << 30, Duration::from_millis(100));
    quick.run_until_idle().await.unwrap();
    failed(&desk.get("slow.pdf").await, DocumentFault::PdfTimeout);
}

// On a host without the helper process, the document stays pending.
#[tokio::test]
async fn pdf_waits_for_a_host_with_a_sandbox() {
    let desk = Desk::new();
    upload(&desk, "terms.pdf", PDF, page("text")).await;
    let without = desk
        .knowledge
        .indexer()
        .isolation(Isolation::new().helper("/nonexistent"));
    assert_eq!(without.run_until_idle().await.unwrap(), 1);
    assert_eq!(desk.get("terms.pdf").await["status"], "pending");
}

// HTML is indexed as Markdown, without scripts and navigation, and `get_knowledge` returns the HTML as it was written.
#[tokio::test]
async fn html_is_indexed_as_text() {
    let desk = Desk::new();
    let html = "<html><head><title>Shop hours</title><script>const hidden = 1;</script></head><body><nav>menu</nav>\
                <h2>Hamburg</h2><p>Open &amp; staffed from <b>nine</b>.</p></body></html>";
    let write =
        json!({"action": "write", "file": "hours.html", "content": html, "mime": "text/html"});
    desk.ok("write_knowledge", write).await;
    assert_eq!(desk.index().await, 1);
    let found = desk
        .ok("search_knowledge", json!({"query": "staffed nine"}))
        .await;
    assert_eq!(
        found["results"][0]["content"],
        "# Shop hours\n\n## Hamburg\n\nOpen & staffed from **nine**."
    );
    for hidden in ["hidden", "menu", "amp"] {
        assert!(desk.search(hidden).await.is_empty(), "{hidden}");
    }
    assert_eq!(desk.get("hours.html").await["content"], html);
    // The text is decoded with the charset of the media type.
    upload(
        &desk,
        "latin.html",
        "text/html; charset=iso-8859-1",
        b"<p>caf\xe9 au lait</p>".as_slice(),
    )
    .await;
    desk.index().await;
    assert_eq!(desk.search("café").await, ["latin.html"]);
}

// HTML that is crafted to slow down its parser fails with a named error.
#[tokio::test]
async fn hostile_html_has_a_named_error() {
    for html in ["<div>".repeat(10_000), "<b>x".repeat(100_000)] {
        failed(
            &read("text/html", html).await,
            DocumentFault::HtmlTooComplex,
        );
    }
}

// The text of a PDF is limited to the size of a document, even if the file is small: here each character code is mapped to 200 characters.
#[tokio::test]
async fn text_of_a_pdf_is_limited() {
    let long = "0078".repeat(200);
    let table = format!(
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def 1 begincodespacerange <00> <FF> endcodespacerange \
         1 beginbfchar <61> <{long}> endbfchar endcmap end end"
    );
    let sixth = format!("<< /Length {} >>\nstream\n{table}\nendstream", table.len());
    let content = |characters| format!("BT /F1 12 Tf 72 700 Td ({}) Tj ET", "a".repeat(characters));
    let small = read(PDF, file(content(50).as_bytes(), "", &sixth, "")).await;
    assert_eq!(
        small["content"].as_str().unwrap().trim(),
        "x".repeat(10_000)
    );
    let large = file(content(55_000).as_bytes(), "", &sixth, "");
    failed(&read(PDF, large).await, DocumentFault::TextTooLarge);
}
