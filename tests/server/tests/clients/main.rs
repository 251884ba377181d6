//! Third-party clients of the OpenAPI document and of a running server: a linter, a generator of types with its client, and a fuzzer.

#![allow(clippy::unwrap_used, reason = "a case fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{ExitCode, Output, Stdio};

use server_tests::{Site, StoreKind, document, operations, seed, tokens};
use test_support::{Node, Ran};
use tokio::process::Command;
use tool_core::Registry;
use tool_core::policy::SharedPolicy;

fn main() -> ExitCode {
    test_support::suite![
        linter_finds_no_fault_in_the_document,
        generated_client_compiles_and_reads_the_server,
        fuzzer_finds_no_undocumented_response,
    ]
    .run()
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("clients")
        .join(name)
}

async fn output(mut command: Command) -> Output {
    command
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap()
}

/// Panics with both outputs of a program that has failed.
#[allow(clippy::panic, reason = "a case fails by panicking")]
fn succeeded(what: &str, output: &Output) {
    if !output.status.success() {
        let [out, error] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        panic!("{what} failed: {}\n{out}\n{error}", output.status);
    }
}

/// Runs a program of the installed Node packages in a folder that contains the document.
async fn node(program: &Path, arguments: &[&str], node: &Node, folder: &Path) -> Output {
    let mut command = Command::from(node.command());
    command.arg(program).args(arguments).current_dir(folder);
    output(command).await
}

// The document satisfies the recommended rules of Redocly's linter.
async fn linter_finds_no_fault_in_the_document() -> Ran {
    let redocly = Node::with("@redocly/cli")?;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("openapi.json"),
        tool_server::openapi_json(),
    )
    .unwrap();
    let program = redocly.package("@redocly/cli/bin/cli.js");
    let arguments = [
        "lint",
        "--extends",
        "recommended",
        "--max-problems",
        "1000",
        "openapi.json",
    ];
    let mut command = Command::from(redocly.command());
    command
        .arg(&program)
        .args(arguments)
        .current_dir(folder.path());
    command
        .env("REDOCLY_TELEMETRY", "off")
        .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    let linted = output(command).await;
    succeeded("the linter", &linted);
    let [out, error] = [&linted.stdout, &linted.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(!error.contains("warning"), "{out}\n{error}");
    Ok(())
}

// The types that openapi-typescript generates compile, a client that uses them can call the server, and invalid calls do not compile.
async fn generated_client_compiles_and_reads_the_server() -> Ran {
    let packages = Node::with("openapi-typescript")?;
    let site = Site::start(StoreKind::Sqlite).await;
    let acme = seed(&*site.store, "acme").await;
    // Node finds the packages from the folder of the script.
    let (folder, script) = packages.beside(&file("client.ts")).unwrap();
    std::fs::write(
        folder.path().join("openapi.json"),
        tool_server::openapi_json(),
    )
    .unwrap();
    std::fs::write(
        folder.path().join("package.json"),
        r#"{ "type": "module" }"#,
    )
    .unwrap();
    let generator = packages.package("openapi-typescript/bin/cli.js");
    let generated = node(
        &generator,
        &["openapi.json", "-o", "schema.ts"],
        &packages,
        folder.path(),
    )
    .await;
    succeeded("the generator", &generated);
    let compiler = packages.package("typescript/bin/tsc");
    let options = [
        "--strict",
        "--module",
        "nodenext",
        "--target",
        "es2022",
        "--lib",
        "es2022,dom",
        "--skipLibCheck",
        "--outDir",
        "out",
        "client.ts",
    ];
    let output = node(&compiler, &options, &packages, folder.path()).await;
    succeeded("the compiler", &output);
    assert_eq!(script.file_name().unwrap(), "client.ts");
    let url = format!("http://{}", site.address);
    let arguments = [url.as_str(), "approver-of-acme", acme.approval.as_str()];
    let ran = node(
        &folder.path().join("out/client.js"),
        &arguments,
        &packages,
        folder.path(),
    )
    .await;
    succeeded("the client", &ran);
    let text = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(
        text.trim(),
        format!("3 pending, {} approved, 404 not-found", acme.approval)
    );
    Ok(())
}

// With up to 50 examples for each operation except the two event streams, Schemathesis finds no response with a status of 500 or more, and no
// response that the document does not describe.
async fn fuzzer_finds_no_undocumented_response() -> Ran {
    let python = test_support::python("venv")?;
    let registry = Registry::builder().build().unwrap();
    let policy = SharedPolicy::default();
    let site = Site::with(StoreKind::Sqlite, |server| {
        server
            .policy(&policy)
            .registry(&registry)
            .authenticator(tokens(&["acme"]))
    })
    .await;
    let acme = seed(&*site.store, "acme").await;
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("openapi.json");
    std::fs::write(&schema, tool_server::openapi_json()).unwrap();
    // Some requests name existing records, so that they pass the look-up of the name.
    let known = format!(
        "[parameters]\n\"path.id\" = [\"{}\", \"x\"]\n\"path.key\" = [\"{}\", \"x\"]\n\"path.conversation\" = [\"{}\", \"x\"]\n\"path.kind\" = [\"kill\", \"x\"]\n\
         \"path.memory\" = [\"{}\", \"x\"]\n\"path.file\" = [\"{}\", \"x\"]\n\"path.task\" = [\"{}\", \"x\"]\n",
        acme.approval, acme.effect, acme.conversation, acme.memory, acme.file, acme.task,
    );
    std::fs::write(folder.path().join("schemathesis.toml"), known).unwrap();
    let mut command = Command::new(python);
    let url = format!("http://{}", site.address);
    command
        .args(["-c", "from schemathesis.cli import schemathesis; schemathesis()", "run"])
        .arg(&schema)
        .args(["--url", &url, "--header", "Authorization: Bearer host"])
        // The responses of these routes are streams that last for minutes.
        .args(["--exclude-path", "/v1/events"])
        .args(["--exclude-path", "/v1/threads/{conversation}/events"])
        .args(["--max-examples", "50", "--workers", "1", "--seed", "1", "--no-color"])
        .args(["--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,unsupported_method"])
        .args(["--phases", "examples,coverage,fuzzing"])
        .current_dir(folder.path());
    let ran = output(command).await;
    succeeded("Schemathesis", &ran);
    let text = String::from_utf8_lossy(&ran.stdout);
    let all = operations(&document()).len();
    assert!(
        text.contains(&format!("{all} tested")) || text.contains(&format!("Tested: {all}")),
        "{text}"
    );
    Ok(())
}
