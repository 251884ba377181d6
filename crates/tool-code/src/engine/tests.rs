//! Tests of the engine over a pipe, within the test process.

use std::io::pipe;
use std::thread;
use std::time::Duration;

use super::serve;
use crate::limits::Limits;
use crate::outcome::Status;
use crate::protocol::{self, Done, Outcome, Program, ToEngine, ToHost};

const MOST: usize = 16 << 20;

/// The messages of a run.
struct Said {
    started: bool,
    logs: Vec<String>,
    reports: Vec<String>,
    calls: Vec<(String, String)>,
    done: Done,
}

impl Said {
    fn result(&self) -> &str {
        self.done
            .result
            .as_ref()
            .map_or("nothing", |result| result.get())
    }

    fn error(&self) -> &str {
        self.done
            .error
            .as_ref()
            .map_or("nothing", |error| &error.message)
    }

    fn place(&self) -> (u32, u32) {
        let error = self.done.error.as_ref().unwrap();
        (error.line.unwrap(), error.column.unwrap())
    }
}

fn limits() -> Limits {
    Limits {
        time: Duration::from_secs(20),
        ..Limits::default()
    }
}

fn run_with(
    code: &str,
    limits: Limits,
    modules: &[(&str, &str)],
    answer: impl Fn(&str, &str) -> Outcome,
) -> Said {
    let (from_host, mut to_engine) = pipe().unwrap();
    let (mut from_engine, to_host) = pipe().unwrap();
    let engine = thread::spawn(move || serve(from_host, to_host));
    let program = Program {
        code: code.to_owned(),
        tools: vec![
            "add".to_owned(),
            "list_files".to_owned(),
            "odd-name".to_owned(),
        ],
        files: Vec::new(),
        only_check: false,
        modules: modules
            .iter()
            .map(|(name, source)| ((*name).to_owned(), (*source).to_owned()))
            .collect(),
        limits,
    };
    protocol::write(&mut to_engine, &ToEngine::Run(Box::new(program))).unwrap();
    let mut said = (false, Vec::new(), Vec::new(), Vec::new());
    let done = loop {
        match protocol::read(&mut from_engine, MOST).unwrap().unwrap() {
            ToHost::Started => said.0 = true,
            ToHost::Log { text, .. } => said.1.push(text),
            ToHost::Report { value } => said.2.push(value.get().to_owned()),
            ToHost::Call {
                id,
                name,
                arguments,
            } => {
                let outcome = answer(&name, &arguments);
                said.3.push((name, arguments));
                protocol::write(&mut to_engine, &ToEngine::Answer { id, outcome }).unwrap();
            }
            ToHost::Done(done) => break done,
        }
    };
    engine.join().unwrap();
    let (started, logs, reports, calls) = said;
    Said {
        started,
        logs,
        reports,
        calls,
        done,
    }
}

fn run(code: &str) -> Said {
    run_with(code, limits(), &[], |_, arguments| {
        Outcome::Output(arguments.to_owned())
    })
}

#[track_caller]
fn gives(code: &str, result: &str) {
    let said = run(code);
    assert_eq!(
        (said.done.status, said.result()),
        (Status::Success, result),
        "{:?}",
        said.done.error
    );
}

#[track_caller]
fn fails(code: &str, status: Status, text: &str) {
    let said = run(code);
    assert_eq!(said.done.status, status, "{:?}", said.done);
    assert!(said.error().contains(text), "{:?}", said.done.error);
}

#[test]
fn result_is_the_return_value_or_the_default_export() {
    gives("return 1 + 1", "2");
    gives(
        "export default { a: [1, 'b', null] }",
        r#"{"a":[1,"b",null]}"#,
    );
    gives("const x = await Promise.resolve(3); return x", "3");
    gives("1 + 1", "nothing");
    gives("#!/usr/bin/env node\nreturn 4", "4");
    gives("return '\\ud800x'", "\"\u{fffd}x\"");
    gives("return '\\\\ud800'", r#""\\ud800""#);
}

#[test]
fn typescript_is_stripped_and_compiled() {
    gives(
        "const n: number = 2; interface A { b: string }; type C = A | null; return n as any satisfies number",
        "2",
    );
    gives(
        "enum Color { Red, Green = 'g' } return [Color.Red, Color.Green, Color[0]]",
        r#"[0,"g","Red"]"#,
    );
    gives(
        "class P { constructor(public x: number, private readonly y?: string) {} } return new P(1).x",
        "1",
    );
    // In TypeScript `f<{a: 1}>(…)` is a call with type arguments; in JavaScript it would be two comparisons.
    gives(
        "function f<T extends object>(t: T): T { return t } return f<{a: 1}>({a: 1}).a",
        "1",
    );
    gives("namespace N { export const a = 1 } export default N.a", "1");
    // An import that is marked with `type` is removed, so its module need not exist.
    gives(
        "import type { X } from './nowhere'; const x: X = 1; return x",
        "1",
    );
    fails(
        "import { X } from './nowhere'; return 1",
        Status::LinkError,
        "./nowhere",
    );
}

#[test]
fn error_positions_refer_to_the_original_code() {
    let said = run("type A = {\n  a: string;\n};\n\nlet x: A | undefined;\n  null.f();");
    assert_eq!(said.done.status, Status::Error);
    assert_eq!(said.place().0, 6, "{:?}", said.done);
    let said = run(
        "interface A {\n  a: string;\n}\nfunction f(a: A): never {\n  throw new TypeError(a.a);\n}\nreturn f({ a: 'no' })",
    );
    assert_eq!((said.error(), said.place().0), ("no", 5), "{:?}", said.done);
    assert!(
        said.done
            .error
            .as_ref()
            .unwrap()
            .stack
            .as_ref()
            .unwrap()
            .contains("code:7:"),
        "{:?}",
        said.done
    );
    let said = run("let a = 1;\nlet b = ;\n");
    assert_eq!(said.place(), (2, 9), "{:?}", said.done);
    assert!(!said.started);
    let said = run("import { add } from 'tools';\nlet a = 1;\nlet a = 2;\nreturn a");
    assert_eq!(said.place().0, 3, "{:?}", said.done);
}

#[test]
fn module_is_imported_only_by_its_bare_name() {
    let granted = [(
        "dates",
        "export const year: number = 2024; export default 1",
    )];
    let run = |code: &str| {
        run_with(code, limits(), &granted, |_, _| {
            Outcome::Output("1".to_owned())
        })
    };
    assert_eq!(
        run("import { year } from 'dates'; return year").result(),
        "2024"
    );
    assert_eq!(
        run("const { year } = await import('dates'); return year").result(),
        "2024"
    );
    for name in [
        "./dates",
        "/etc/passwd",
        "file:///etc/passwd",
        "https://a.example/x.js",
        "node:fs",
        "std",
        "os",
        "qjs:std",
        "../x",
        "data:text/javascript,1",
        "",
    ] {
        let said = run(&format!("import x from '{name}'; return x"));
        assert_eq!(
            said.done.status,
            Status::LinkError,
            "{name}: {:?}",
            said.done
        );
        let said = run(&format!("await import('{name}')"));
        assert_eq!(said.done.status, Status::Error, "{name}: {:?}", said.done);
    }
    let said = run("import { month } from 'dates'; return month");
    assert_eq!(said.done.status, Status::LinkError);
    assert!(said.error().contains("month"), "{:?}", said.done);
    let said = run("const a = 1;\n import x from './dates';\nreturn x");
    assert_eq!(said.place(), (2, 16), "{:?}", said.done);
}

#[test]
fn tools_are_async_functions() {
    let said = run(
        "const a = await tools.add({ a: 1, b: undefined }); const b = await tools['odd-name'](); return [a, b]",
    );
    assert_eq!(said.result(), r#"[{"a":1},{}]"#, "{:?}", said.done);
    assert_eq!(
        said.calls,
        [
            ("add".to_owned(), r#"{"a":1}"#.to_owned()),
            ("odd-name".to_owned(), "{}".to_owned())
        ]
    );
    gives(
        "import { add, list_files } from 'tools'; import all from 'tools'; return [await add({a: 1}), all === tools]",
        r#"[{"a":1},true]"#,
    );
    fails(
        "await tools.ad({})",
        Status::Error,
        "there is no tool `ad`, the available tools are add, list_files, odd-name",
    );
    fails(
        "await tools.listFiles({})",
        Status::Error,
        "did you mean `list_files`?",
    );
    fails("await tools.add(1)", Status::Error, "one object");
    fails("await tools.add({}, {})", Status::Error, "one object");
    fails("await tools.add({ n: 1n })", Status::Error, "no JSON");
    let failed = |_: &str, _: &str| Outcome::Failed {
        kind: "denied".to_owned(),
        message: "no way".to_owned(),
    };
    let said = run_with(
        "try { await tools.add({}) } catch (e) { return [e.name, e.kind, e.message, e instanceof Error] }",
        limits(),
        &[],
        failed,
    );
    assert_eq!(
        said.result(),
        r#"["ToolError","denied","no way",true]"#,
        "{:?}",
        said.done
    );
    let said = run_with(
        "let a: number = 1;\n\n  await tools.add({});",
        limits(),
        &[],
        failed,
    );
    assert_eq!(
        (said.error(), said.place().0),
        ("no way", 3),
        "{:?}",
        said.done
    );
    let few = Limits {
        calls: 2,
        ..limits()
    };
    let said = run_with("for (;;) await tools.add({})", few, &[], |_, _| {
        Outcome::Output("1".to_owned())
    });
    assert_eq!((said.calls.len(), said.done.status), (2, Status::Error));
    assert!(said.error().contains("2 calls"), "{:?}", said.done);
}

#[test]
fn only_language_globals_and_three_host_globals_exist() {
    let said = run("return Object.getOwnPropertyNames(globalThis).sort()");
    let names: Vec<String> = serde_json::from_str(said.result()).unwrap();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let language = [
        "AggregateError",
        "Array",
        "ArrayBuffer",
        "AsyncDisposableStack",
        "Atomics",
        "BigInt",
        "BigInt64Array",
        "BigUint64Array",
        "Boolean",
        "DataView",
        "Date",
        "DisposableStack",
        "Error",
        "EvalError",
        "FinalizationRegistry",
        "Float16Array",
        "Float32Array",
        "Float64Array",
        "Function",
        "Infinity",
        "Int16Array",
        "Int32Array",
        "Int8Array",
        "InternalError",
        "Iterator",
        "JSON",
        "Map",
        "Math",
        "NaN",
        "Number",
        "Object",
        "Promise",
        "Proxy",
        "RangeError",
        "ReferenceError",
        "Reflect",
        "RegExp",
        "Set",
        "SharedArrayBuffer",
        "String",
        "SuppressedError",
        "Symbol",
        "SyntaxError",
        "TypeError",
        "URIError",
        "Uint16Array",
        "Uint32Array",
        "Uint8Array",
        "Uint8ClampedArray",
        "WeakMap",
        "WeakRef",
        "WeakSet",
        "decodeURI",
        "decodeURIComponent",
        "encodeURI",
        "encodeURIComponent",
        "escape",
        "eval",
        "globalThis",
        "isFinite",
        "isNaN",
        "parseFloat",
        "parseInt",
        "queueMicrotask",
        "undefined",
        "unescape",
    ];
    let mut expected = [&language[..], &["console", "report", "tools"]].concat();
    expected.sort_unstable();
    assert_eq!(names, expected);
}

#[test]
fn console_and_reports_are_collected() {
    let said = run(
        "console.log('a', 1, { b: [2n < 3] }, null, undefined, Symbol('s'), () => 1); console.error(new TypeError('x')); report({ a: 1 }); report(); return 1",
    );
    assert_eq!(
        said.logs,
        [
            r#"a 1 {"b":[true]} null undefined [symbol] [function]"#,
            "TypeError: x"
        ],
        "{:?}",
        said.done
    );
    assert_eq!(said.reports, [r#"{"a":1}"#, "null"]);
}

#[test]
fn unhandled_rejection_is_an_error() {
    fails(
        "Promise.reject(new Error('lost'));",
        Status::Error,
        "unhandled promise rejection: lost",
    );
    gives(
        "const p = Promise.reject(1); try { await p } catch { } return 2",
        "2",
    );
    fails(
        "await new Promise(() => {})",
        Status::Error,
        "never settles",
    );
    fails("throw { a: 1 }", Status::Error, r#"the code threw {"a":1}"#);
    fails("throw null", Status::Error, "the code threw null");
}

#[test]
fn maximal_limits_are_accepted() {
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
    let code = "console.log('x'); report(1); return await tools.add({})";
    let said = run_with(code, none, &[], |_, _| Outcome::Output("2".to_owned()));
    assert_eq!(said.done.status, Status::Success, "{:?}", said.done);
    assert_eq!(said.done.result.unwrap().get(), "2");
    let deep = "const f = () => f() + 1; f()";
    let stack = Limits {
        stack: most,
        ..limits()
    };
    let said = run_with(deep, stack, &[], |_, _| Outcome::Output("1".to_owned()));
    assert_eq!(said.done.status, Status::Error, "{:?}", said.done);
}

#[test]
fn limits_of_a_run_are_enforced() {
    let short = Limits {
        time: Duration::from_millis(300),
        ..limits()
    };
    for code in [
        "for (;;);",
        "await (async () => { for (;;) await 1 })()",
        "const f = () => Promise.resolve().then(f); await f()",
    ] {
        let said = run_with(code, short.clone(), &[], |_, _| {
            Outcome::Output("1".to_owned())
        });
        assert_eq!(
            said.done.status,
            Status::Terminated,
            "{code} {:?}",
            said.done
        );
    }
    for code in [
        "const a = []; for (;;) a.push(new Array(1000).fill(1))",
        "new ArrayBuffer(1e9)",
        "'x'.repeat(5e8)",
        "let s = 'x'; for (;;) s += s + 'y'; ",
        // `normalize` reports no error of its own when memory runs out.
        "for (let n = 1e5; ; n *= 2) '\\u0344'.repeat(n).normalize('NFD')",
    ] {
        // Only cases that leave memory for an error are tested. The others are detected by the memory of the process, which many runs share in this
        // test.
        let said = run(code);
        assert_eq!(said.done.status, Status::Memory, "{code} {:?}", said.done);
    }
    fails("const f = () => f() + 1; f()", Status::Error, "call stack");
    gives(
        "try { new ArrayBuffer(1e9) } catch (e) { return e.message }",
        "\"out of memory\"",
    );
}
