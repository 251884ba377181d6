//! Tests of language features, limits, status and imports of a code run.

use std::time::Duration;

use serde_json::json;
use tool_code::{Level, Limits, Status};
use tool_core::prelude::*;

use crate::support::{builder, gave, limits, message, run, run_with, short};

// S4-05: TypeScript code runs in a child process with an isolated engine, and its value is the result of the run.
#[tokio::test]
async fn typescript_runs_in_a_child_process_and_returns_a_result() {
    let code = r"
        enum Unit { Metre = 'm', Foot = 'ft' }
        interface Length { value: number; unit: Unit }
        const inMetres = ({ value, unit }: Length): number => unit === Unit.Metre ? value : value * 0.3048;
        const lengths: Length[] = [{ value: 10, unit: Unit.Foot }, { value: 2, unit: Unit.Metre }];
        const sum = await Promise.resolve(lengths.map(inMetres).reduce((a, b) => a + b));
        return { sum, unit: Unit.Metre };
    ";
    let result = run(code).await;
    assert_eq!(gave(&result), json!({"sum": 5.048, "unit": "m"}));
    assert!(result.duration > Duration::ZERO);
}

// S4-06: a result has a status, reports, logs and its duration.
#[tokio::test]
async fn a_result_has_status_reports_logs_and_duration() {
    let result = run("console.log('one', { two: 2 }); console.warn('three'); report({ done: 0.5 }); report('all'); return [1]").await;
    let text = serde_json::to_value(&result).unwrap();
    let took = text["duration_ms"].as_u64();
    assert!(took.is_some());
    assert_eq!(
        text,
        json!({
            "status": "success",
            "result": [1],
            "reports": [{"done": 0.5}, "all"],
            "logs": [{"level": "info", "text": "one {\"two\":2}"}, {"level": "warn", "text": "three"}],
            "duration_ms": took,
        })
    );
}

// S4-06: each possible end of a run has its own status.
#[tokio::test]
async fn each_way_to_end_has_its_status() {
    let cases = [
        ("return 1", Status::Success),
        ("throw new Error('no')", Status::Error),
        ("let a = ;", Status::Error),
        (
            "const a = []; for (;;) a.push(new Array(1000).fill(0))",
            Status::Memory,
        ),
        ("import fs from 'fs'; return fs", Status::LinkError),
        (
            "import { nope } from 'tools'; return nope",
            Status::LinkError,
        ),
        ("for (;;);", Status::Terminated),
    ];
    let mut words = Vec::new();
    for (code, status) in cases {
        let result = run_with(short(), &toolset![], code).await;
        assert_eq!(result.status, status, "{code}: {:?}", result.error);
        assert_eq!(result.error.is_none(), status == Status::Success);
        words.push(result.status.as_str());
    }
    words.dedup();
    assert_eq!(
        words,
        ["success", "error", "memory", "link_error", "terminated"]
    );
}

// S4-06: the result contains the logs and reports even if the run is ended early.
#[tokio::test]
async fn logs_and_reports_are_kept_when_a_run_is_ended() {
    for end in [
        "for (;;);",
        "throw 1",
        "const a = []; for (;;) a.push([0])",
        "/(a*)*b/.test('a'.repeat(40))",
    ] {
        let result = run_with(
            short(),
            &toolset![],
            &format!("console.error('before'); report(7); {end}"),
        )
        .await;
        assert_ne!(result.status, Status::Success, "{end}");
        assert_eq!(result.logs.len(), 1, "{end}: {result:?}");
        assert_eq!(
            (result.logs[0].level, &*result.logs[0].text),
            (Level::Error, "before")
        );
        assert_eq!(result.reports[0].get(), "7");
    }
}

#[tokio::test]
async fn error_location_refers_to_the_original_code() {
    let code = "type Deep = {\n  a: { b: string } | null;\n};\n\nfunction read(deep: Deep): string {\n  return deep.a!.b;\n}\n\nreturn read({ a: null });";
    let result = run(code).await;
    let error = result.error.as_ref().unwrap();
    assert_eq!(
        (&*error.name, error.line),
        ("TypeError", Some(6)),
        "{error:?}"
    );
    assert!(
        error.stack.as_ref().unwrap().contains("code:9:"),
        "{error:?}"
    );

    let result = run("const fine = 1;\nconst broken: = 2;\n").await;
    let error = result.error.as_ref().unwrap();
    assert_eq!(
        (&*error.name, error.line, error.column),
        ("SyntaxError", Some(2), Some(15)),
        "{error:?}"
    );
}

#[tokio::test]
async fn invalid_typescript_is_reported_with_its_line() {
    let cases = [
        ("let a = 1;\nlet a = 2;", 2),
        ("const x: number = ;", 1),
        ("function f( {", 1),
        ("\n\nclass A { constructor( }", 3),
        ("if (true {", 1),
        ("const s = `unfinished", 1),
        ("return 1;\nexport const a = 1;", 2),
        ("\nawait = 3", 2),
    ];
    for (code, line) in cases {
        let result = run(code).await;
        let error = result.error.as_ref().unwrap();
        assert_eq!(
            (result.status, &*error.name, error.line),
            (Status::Error, "SyntaxError", Some(line)),
            "{code}: {error:?}"
        );
    }
}

// S4-06: only granted modules can be imported, and only by bare specifiers.
#[tokio::test]
async fn only_granted_modules_can_be_imported_and_only_by_bare_names() {
    let setup = builder()
        .module("dates", "export const days = (a: number, b: number): number => (b - a) / 86_400_000;")
        .module("@acme/tax", "import { days } from 'dates'; export default (from: number) => days(from, 86_400_000 * 3);")
        .build()
        .unwrap();
    let (tools, cx) = (toolset![], ToolContext::anonymous());
    let run = async |code: String| setup.start(code, &tools, &cx).finish().await.unwrap();
    assert_eq!(
        gave(&run("import tax from '@acme/tax'; return tax(0)".to_owned()).await),
        json!(3)
    );
    for name in [
        "./dates",
        "/etc/passwd",
        "../dates",
        "file:///etc/passwd",
        "https://evil.example/x.js",
        "node:fs",
        "std",
        "os",
        "data:text/javascript,1",
        "dates/",
        "dates?x",
        "",
    ] {
        let result = run(format!("import x from '{name}';\nreturn 1;")).await;
        assert_eq!(
            result.status,
            Status::LinkError,
            "{name}: {:?}",
            result.error
        );
        assert_eq!(result.error.as_ref().unwrap().line, Some(1), "{name}");
        let late = run(format!(
            "try {{ await import('{name}') }} catch (error) {{ return error.message }}"
        ))
        .await;
        assert!(gave(&late).as_str().unwrap().contains(name), "{name}");
    }
    for name in ["./x", "", "a b", "https://a.example", "tools", "/x"] {
        assert!(builder().module(name, "").build().is_err(), "{name}");
    }
}

#[tokio::test]
async fn invalid_host_module_is_named_in_the_error() {
    let setup = builder()
        .module("dates", "export const = 1")
        .build()
        .unwrap();
    let result = setup
        .start("return 1", &toolset![], &ToolContext::anonymous())
        .finish()
        .await
        .unwrap();
    assert_eq!(result.status, Status::LinkError);
    assert!(
        message(&result).starts_with("the host's module `dates` cannot be read: "),
        "{result:?}"
    );
}

// S4-06: the caller's handle terminates a run and records a reason.
#[tokio::test]
async fn caller_ends_a_run_with_a_reason() {
    // The engine's interrupt ends the first code. The second never checks for the interrupt, so its process is killed. The third waits for a call.
    for code in [
        "console.log('begun'); for (;;);",
        "console.log('begun'); /(a*)*b/.test('a'.repeat(60))",
        "await tools.hang({})",
    ] {
        #[tool(read_only)]
        /// Waits until it is cancelled.
        async fn hang() -> u8 {
            std::future::pending().await
        }
        let setup = builder().build().unwrap();
        let run = setup.start(code, &toolset![hang], &ToolContext::anonymous());
        let handle = run.handle();
        assert!(handle.running());
        assert_eq!(setup.runs().len(), 1);
        let (result, ()) = tokio::join!(run.finish(), async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            handle.terminate("the user has left");
            handle.terminate("too late");
        });
        let result = result.unwrap();
        assert_eq!(
            (result.status, message(&result)),
            (Status::Terminated, "the user has left"),
            "{code}"
        );
        assert!(!handle.running());
        assert!(setup.runs().is_empty());
        handle.terminate("nothing happens");
    }
}

#[tokio::test]
async fn a_dropped_run_is_no_longer_running() {
    let setup = builder().build().unwrap();
    let run = setup.start("for (;;);", &toolset![], &ToolContext::anonymous());
    let handle = run.handle();
    let ended = tokio::time::timeout(Duration::from_millis(300), run.finish()).await;
    assert!(ended.is_err());
    assert!(!handle.running());
    assert!(setup.runs().is_empty());
}

#[tokio::test]
async fn exceeded_limits_are_explained() {
    let result = run_with(
        Limits {
            code: 10,
            ..limits()
        },
        &toolset![],
        "return 1 + 1 + 1",
    )
    .await;
    assert_eq!(
        (result.status, message(&result)),
        (
            Status::Error,
            "the code has 16 bytes, and 10 are allowed: make it shorter, or run it in parts"
        )
    );
    let result = run_with(
        Limits {
            result: 100,
            ..limits()
        },
        &toolset![],
        "return 'x'.repeat(200)",
    )
    .await;
    assert!(
        message(&result).contains("202 bytes, and 100 are left"),
        "{result:?}"
    );
    let result = run_with(
        Limits {
            result: 100,
            ..limits()
        },
        &toolset![],
        "report('x'.repeat(60)); report('x'.repeat(60))",
    )
    .await;
    assert!(message(&result).contains("report less"), "{result:?}");
    let result = run_with(
        Limits {
            reports: 2,
            ..limits()
        },
        &toolset![],
        "report(1); report(2); report(3)",
    )
    .await;
    assert_eq!(result.reports.len(), 2);
    assert!(message(&result).contains("report a list"), "{result:?}");
    assert!(
        builder()
            .limits(Limits {
                memory: 0,
                ..limits()
            })
            .build()
            .is_err()
    );
    for odd in [
        "return () => 1",
        "return 10n",
        "const a = {}; a.a = a; return a",
    ] {
        assert_eq!(run(odd).await.status, Status::Error, "{odd}");
    }
    assert_eq!(
        gave(&run("return [undefined, NaN, new Date(0), new Map([[1, 2]])]").await),
        json!([null, null, "1970-01-01T00:00:00.000Z", {}])
    );
}

#[tokio::test]
async fn unsettled_promises_and_uncaught_rejections_are_errors() {
    let result = run("await new Promise(() => {})").await;
    assert_eq!(
        (result.status, message(&result)),
        (
            Status::Error,
            "the code waits for a promise that never settles"
        )
    );
    let result = run("Promise.reject(new RangeError('lost'));\nreturn 1").await;
    assert_eq!(
        (result.status, message(&result)),
        (Status::Error, "unhandled promise rejection: lost")
    );
    let result = run("(async () => { throw 1 })(); return 1").await;
    assert_eq!(result.status, Status::Error);
    assert_eq!(
        gave(
            &run(
                "const late = Promise.reject(1); await null; try { await late } catch { return 2 }"
            )
            .await
        ),
        json!(2)
    );
}

#[tokio::test]
async fn maximal_limits_are_accepted() {
    let most = usize::MAX;
    let none = Limits {
        time: Duration::MAX,
        memory: most,
        stack: most,
        code: most,
        calls: most,
        parallel: most,
        message: most,
        result: most,
        logs: most,
        reports: most,
    };
    let result = run_with(none, &toolset![], "console.log('x'); report(1); return 2").await;
    assert_eq!(gave(&result), 2);
    assert_eq!((result.logs.len(), result.reports.len()), (1, 1));
}
