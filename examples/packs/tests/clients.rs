//! The packs over MCP: widely used clients call each tool once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Node, Ran, suite};

fn main() -> ExitCode {
    suite![
        the_python_client_uses_each_tool_once_case,
        the_inspector_uses_each_tool_once_case,
    ]
    .run()
}

const PACKS: &str = env!("CARGO_BIN_EXE_packs");

const PAGE: &str = "<html><head><title>Lamps</title></head><body><nav>Home Shop</nav><article><h1>Lamps</h1><p>Lamps burn for a \
    thousand hours, and then somebody has to change them, which is a matter of a minute with the right ladder and of an hour \
    without one.</p></article></body></html>";

const FOUND: &str = r#"{"query":"lamps","results":[{"title":"Lamps","url":"https://example.com/lamps","content":"All about lamps","score":1.0}]}"#;

/// A call, and a text that its result contains.
struct Once {
    tool: &'static str,
    arguments: Value,
    says: &'static str,
}

fn once(tool: &'static str, arguments: Value, says: &'static str) -> Once {
    Once {
        tool,
        arguments,
        says,
    }
}

/// One call of each tool, in order: earlier calls provide the input of later calls. `{web}` is a server on this machine, and `{clone}` is the
/// repository that `git_clone` has created.
fn calls() -> Vec<Once> {
    let clone = || json!({"path": "{clone}"});
    vec![
        once("log_hello_world", json!({}), r#""logged":true"#),
        once(
            "slow_count",
            json!({"to": 2, "pause_ms": 0}),
            r#""count":2"#,
        ),
        once(
            "write_file",
            json!({"path": "plan.md", "content": "# Plan\n1. Begin\n"}),
            r#""created":true"#,
        ),
        once("read_file", json!({"path": "plan.md"}), "1. Begin"),
        once(
            "read_file_parts",
            json!({"parts": [{"path": "plan.md", "start_line": 2, "end_line": 2}]}),
            "1. Begin",
        ),
        once(
            "edit_file",
            json!({"path": "plan.md", "old_text": "Begin", "new_text": "Start"}),
            "plan.md",
        ),
        once("list_directory", json!({"path": "."}), "plan.md"),
        once("find_files", json!({"pattern": "*.md"}), "plan.md"),
        once("search_files", json!({"pattern": "St[a-z]+"}), "1. Start"),
        once(
            "run_command",
            json!({"command": ["sort", "-r"], "stdin": "a\nb\n"}),
            r#""stdout":"b\na\n""#,
        ),
        once("git_clone", json!({"repo": "acme/site"}), "cloned"),
        once(
            "git_branch",
            json!({"path": "{clone}", "action": "create", "name": "draft"}),
            "draft",
        ),
        once("git_status", clone(), r#""branch":"draft""#),
        once("git_diff", clone(), "diff"),
        once("git_log", clone(), "Begin"),
        once(
            "write_file",
            json!({"path": "{clone}/page.md", "content": "A page\n"}),
            r#""created":true"#,
        ),
        once(
            "git_commit",
            json!({"path": "{clone}", "message": "Write a page"}),
            "commit",
        ),
        once("git_push", clone(), "draft"),
        once(
            "git_fetch",
            json!({"path": "{clone}", "branch": "main"}),
            "origin/main",
        ),
        once(
            "http_get",
            json!({"url": "{web}/items"}),
            r#""items":[1,2]"#,
        ),
        once(
            "http_request",
            json!({"url": "{web}/items", "method": "POST", "body": "{}"}),
            r#""status":200"#,
        ),
        once(
            "fetch_webpage",
            json!({"url": "{web}/page"}),
            "Lamps burn for a thousand hours",
        ),
        once(
            "search_web",
            json!({"query": "lamps"}),
            "https://example.com/lamps",
        ),
        once(
            "run_code",
            json!({"code": "const plan = await tools.read_file({path: 'plan.md'}); return plan.lines + 40;"}),
            r#""result":42"#,
        ),
        once("schedule_task", json!({"action": "list"}), r#""tasks":[]"#),
        once("describe_api", json!({}), "read_file"),
    ]
    .into_iter()
    .chain(calls_of_stores())
    .chain(calls_of_github())
    .collect()
}

/// Calls of the tools that keep memories, attachments, documents and plans.
fn calls_of_stores() -> Vec<Once> {
    let plan = json!({
        "title": "Report", "objective": "Write the report", "schemas": [], "edges": [], "entry_nodes": ["write"],
        "nodes": [{
            "id": "write", "type": "task", "label": "Write", "owner": {"executor": "agent", "name": "writer"},
            "objective": "Write the text", "instructions": "", "output_schema_ref": null, "deliverables": [],
            "success_criteria": ["It is short."], "completion_checks": [],
        }],
    });
    let ready = r#""ready_nodes":["write"]"#;
    vec![
        once(
            "remember",
            json!({"content": "Ada drinks green tea.", "memory_type": "preference", "scope": "org"}),
            r#""event":"add""#,
        ),
        once(
            "search_memory",
            json!({"query": "tea"}),
            "Ada drinks green tea.",
        ),
        once(
            "memory_block",
            json!({"note": "The plan is in plan.md."}),
            r#""total_notes":1"#,
        ),
        once(
            "search_conversation",
            json!({"query": "plan"}),
            r#""count":0"#,
        ),
        once(
            "upload_attachment",
            json!({"data": "aGVsbG8=", "file": "hello.txt"}),
            "attachments/hello.txt",
        ),
        once(
            "write_knowledge",
            json!({"action": "write", "file": "returns.md", "content": "Returns are free."}),
            r#""ok":true"#,
        ),
        once(
            "get_knowledge",
            json!({"file": "returns.md"}),
            "Returns are free.",
        ),
        // The document may not be indexed yet.
        once(
            "search_knowledge",
            json!({"query": "returns"}),
            r#""found":"#,
        ),
        once("create_execution_plan", json!({"draft": plan}), ready),
        once("get_active_execution_plan", json!({}), "Report"),
        once(
            "replace_execution_plan",
            json!({"draft": plan, "reason": "A better plan"}),
            ready,
        ),
        once("resume_execution_plan_run", json!({}), ready),
        once(
            "submit_execution_node_result",
            json!({"node_id": "write", "status": "completed", "structured_output": null, "artifacts": [], "notes": null}),
            "completed",
        ),
    ]
}

/// Calls of the tools that read from GitHub.
fn calls_of_github() -> Vec<Once> {
    let repo = || json!({"repo": "acme/site"});
    let numbered = || json!({"repo": "acme/site", "number": 17});
    vec![
        once("get_github_issue", numbered(), "A lamp burns"),
        once("list_github_issues", repo(), "A lamp burns"),
        once(
            "search_github_issues",
            json!({"query": "lamp"}),
            "A lamp burns",
        ),
        once("get_github_pull_request", numbered(), "A lamp burns"),
    ]
}

/// The files and servers that the packs work on. They are removed when the test ends.
struct World {
    folder: TempDir,
    web: String,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let seed = folder.path().join("seed");
        let bare = folder.path().join("server/acme/site.git");
        git(&["init", "-q", "-b", "main", seed.to_str().unwrap()]);
        let commit = ["commit", "-q", "--allow-empty", "-m", "Begin"];
        git(&[&["-C", seed.to_str().unwrap()][..], &commit].concat());
        let (from, to) = (seed.to_str().unwrap(), bare.to_str().unwrap());
        git(&["clone", "-q", "--bare", from, to]);
        Self { folder, web: web() }
    }

    fn settle(&self, command: &mut Command) {
        let server = self.folder.path().join("server");
        command
            .env("WORKSPACES_ROOT", self.folder.path().join("workspaces"))
            .env("PACKS_GIT", format!("file://{}", server.display()))
            .env("PACKS_LOCAL", "1")
            .env("PACKS_SEARXNG", &self.web)
            .env("PACKS_GITHUB", format!("{}/github", self.web));
    }

    /// Replaces the placeholders `{web}` and `{clone}` in the arguments.
    fn fill(&self, arguments: &Value, clone: &str) -> Value {
        let text = arguments.to_string();
        let text = text.replace("{web}", &self.web).replace("{clone}", clone);
        serde_json::from_str(&text).unwrap()
    }
}

fn git(arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "Ann")
            .env(format!("GIT_{who}_EMAIL"), "ann@example.org");
    }
    assert!(git.status().unwrap().success());
}

/// Starts a server with a page, a search engine's response and a list. It ends with the process.
fn web() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            std::thread::spawn(move || answer(&stream));
        }
    });
    address
}

fn answer(mut stream: &TcpStream) -> std::io::Result<()> {
    let mut from = BufReader::new(stream);
    let mut first = String::new();
    from.read_line(&mut first)?;
    let (mut line, mut length) = (String::new(), 0);
    while from.read_line(&mut line)? > 2 {
        if let Some((name, value)) = line.trim().split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or_default();
        }
        line.clear();
    }
    std::io::copy(&mut from.take(length), &mut std::io::sink())?;
    let path = first.split(' ').nth(1).unwrap_or_default();
    let found;
    let github = path.strip_prefix("/github");
    let (kind, body) = if let Some(path) = github {
        found = github_answer(path);
        ("application/json", &*found)
    } else if path.starts_with("/page") {
        ("text/html", PAGE)
    } else if path.starts_with("/search") {
        ("application/json", FOUND)
    } else {
        ("application/json", r#"{"items":[1,2]}"#)
    };
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Returns a response of GitHub's API: an issue or a pull request, a list or a search.
fn github_answer(path: &str) -> String {
    let item = json!({
        "number": 17, "title": "A lamp burns", "state": "open", "html_url": "https://github.com/acme/site/issues/17",
        "repository_url": "https://api.github.com/repos/acme/site", "user": {"login": "ann"}, "body": "It does.",
        "head": {"ref": "draft", "label": "acme:draft"}, "base": {"ref": "main", "label": "acme:main"},
        "commits": 1, "changed_files": 1, "additions": 1, "deletions": 0,
    });
    let answer = if path.starts_with("/search") {
        json!({"total_count": 1, "incomplete_results": false, "items": [item]})
    } else if path.contains("/17") {
        item
    } else {
        json!([item])
    };
    answer.to_string()
}

/// Returns the path of the repository in a result of `git_clone`, below the folder of the conversation.
fn clone_of(text: &str) -> Option<String> {
    let (_, after) = text.split_once("/.repos/")?;
    Some(format!(".repos/{}", after.split('"').next()?))
}

/// Returns the text for the model in the result that the inspector prints first.
fn text_of(stdout: &[u8]) -> String {
    let mut values = serde_json::Deserializer::from_slice(stdout).into_iter::<Value>();
    let result = values.next().unwrap().unwrap();
    let parts = result["content"].as_array().unwrap();
    parts
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect()
}

/// A child process that is killed when the value is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

// S2-44: the Python client uses each tool once; `log_hello_world` waits for approval.
fn the_python_client_uses_each_tool_once_case() -> Ran {
    let python = test_support::python("mcp2")?;
    let world = World::new();
    let calls = calls();
    let asked: Vec<_> = calls
        .iter()
        .map(|call| json!({"tool": call.tool, "arguments": world.fill(&call.arguments, "{clone}")}))
        .collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/each.py");
    let mut command = Command::new(python);
    command
        .arg(script)
        .arg(PACKS)
        .arg(Value::from(asked).to_string());
    world.settle(&mut command);
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();

    let mut names: Vec<_> = said["names"].as_array().unwrap().iter().collect();
    let mut called: Vec<_> = calls.iter().map(|call| json!(call.tool)).collect();
    names.sort_by_key(ToString::to_string);
    called.sort_by_key(ToString::to_string);
    called.dedup();
    assert_eq!(names, called.iter().collect::<Vec<_>>());
    for (call, result) in calls.iter().zip(said["results"].as_array().unwrap()) {
        assert_eq!(result["error"], false, "{result}\n{told}");
        let text = result["text"].as_str().unwrap();
        assert!(text.contains(call.says), "{}: {text}", call.tool);
    }
    Ok(())
}

fn the_inspector_uses_each_tool_once_case() -> Ran {
    let node = Node::with("@modelcontextprotocol/inspector")?;
    let launcher = node.package("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let world = World::new();
    let mut command = Command::new(PACKS);
    command
        .args(["serve", "--http", "127.0.0.1:0"])
        .stderr(Stdio::piped());
    world.settle(&mut command);
    // Without this policy, destructive calls would wait for approval.
    let policy = world.folder.path().join("policy.json");
    let rule = json!({"name": "trusted", "verdict": "allow", "tools": ["*"]});
    std::fs::write(&policy, json!({"rules": [rule]}).to_string()).unwrap();
    command.env("PACKS_POLICY", policy);
    let mut server = Server(command.spawn().unwrap());
    let mut line = String::new();
    let mut said = BufReader::new(server.0.stderr.take().unwrap());
    said.read_line(&mut line).unwrap();
    let address = line.split_whitespace().last().unwrap();
    let mut clone = String::new();
    for call in calls() {
        let arguments = world.fill(&call.arguments, &clone).to_string();
        let output = node
            .command()
            .arg(&launcher)
            .args(["--cli", address, "--transport", "http"])
            .args(["--method", "tools/call", "--tool-name", call.tool])
            .args(["--tool-args-json", &arguments])
            .output()
            .unwrap();
        let text = text_of(&output.stdout);
        let told = String::from_utf8_lossy(&output.stderr);
        // A policy cannot remove an approval that the tool itself requires, and the inspector cannot ask a user.
        let says = match call.tool {
            "log_hello_world" | "git_push" => "approved by a person",
            _ => call.says,
        };
        assert!(text.contains(says), "{}: {text}\n{told}", call.tool);
        if call.tool == "git_clone" {
            clone = clone_of(&text).unwrap();
        }
    }
    Ok(())
}
