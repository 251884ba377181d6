//! The TypeScript types and zod schemas of all tools, checked by the TypeScript compiler and by zod.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Output};

use serde_json::Value;
use test_support::{Node, Ran, suite};
use tool_core::Registry;
use tool_std as _;

fn main() -> ExitCode {
    suite![typescript_types_and_zod_schemas_accept_real_calls_case].run()
}

/// Runs the program with the packs, and returns its output.
fn packs(arguments: &[&str], root: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_packs"))
        .args(arguments)
        .env("WORKSPACES_ROOT", root)
        .output()
        .unwrap();
    succeeded("packs", &output)
}

fn succeeded(program: &str, output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{program}: {out}\n{err}");
    out.into_owned()
}

/// Writes a module with the examples of each tool, whose types the compiler checks.
fn examples() -> String {
    let mut text = "import type { Tools } from \"./tools.js\";\n\nexport const examples: { [Name in keyof Tools]?: Tools[Name][\"input\"][] } = {\n".to_owned();
    let mut count = 0;
    for tool in Registry::linked().unwrap().tools() {
        let inputs: Vec<&str> = tool
            .examples()
            .iter()
            .map(|example| example.input.text)
            .collect();
        count += inputs.len();
        writeln!(text, "  {}: [{}],", tool.name(), inputs.join(", ")).unwrap();
    }
    assert!(count > 40, "only {count} examples");
    text + "};\n"
}

// S2-24: the generated module compiles; its types and schemas accept the examples of each tool and the results of real calls, and refuse others
fn typescript_types_and_zod_schemas_accept_real_calls_case() -> Ran {
    let packages = Node::with("zod")?;
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/types/check.ts");
    let (folder, _) = packages.beside(&check).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let root = tempfile::tempdir().unwrap();
    write("package.json", r#"{ "type": "module" }"#);
    write("tools.ts", &packs(&["types", "--typescript"], root.path()));
    let plain = packs(&["types", "--typescript", "--no-zod"], root.path());
    assert!(!plain.contains("zod"));
    write("plain.ts", &plain);
    write("examples.ts", &examples());
    let call = |arguments: &[&str]| {
        let arguments = [&["call", "--format", "json", "--approve"], arguments].concat();
        let events = packs(&arguments, root.path());
        let done: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
        done["output"].to_string()
    };
    let written = call(&["write_file", "--path", "a.md", "--content", "# A\n"]);
    let listed = call(&["list_directory", "--path", "."]);
    let results = format!(
        "export const results = [\n  [\"write_file\", {written}],\n  [\"list_directory\", {listed}],\n] as const;\n"
    );
    write("results.ts", &results);
    let options = [
        "--strict",
        "--exactOptionalPropertyTypes",
        "--module",
        "nodenext",
        "--target",
        "es2022",
        "--lib",
        "es2022,dom",
        "--skipLibCheck",
        "--outDir",
        "out",
        "check.ts",
        "plain.ts",
    ];
    let node = |program: &Path, arguments: &[&str]| {
        let mut command = packages.command();
        command.arg(program).args(arguments);
        command.current_dir(folder.path()).output().unwrap()
    };
    let compiled = node(&packages.package("typescript/bin/tsc"), &options);
    succeeded("the compiler", &compiled);
    let ran = node(&folder.path().join("out/check.js"), &[]);
    let text = succeeded("the check", &ran);
    assert!(text.contains("2 results"), "{text}");
    Ok(())
}
