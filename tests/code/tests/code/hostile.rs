//! Tests of code that attacks the host, exhausts its limits or fails by mistake.

use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use serde_json::json;
use tool_code::{Limits, RunResult, Status};
use tool_core::prelude::*;

use crate::support::{builder, gave, limits, message, run, run_with, short};

/// Runs the code samples, four at a time, to leave processor time for other tests.
async fn each<'a>(codes: &[&'a str], limits: Limits) -> Vec<(&'a str, RunResult)> {
    let runs = codes.iter().map(|code| {
        let limits = limits.clone();
        async move { (*code, run_with(limits, &toolset![], code).await) }
    });
    stream::iter(runs).buffered(4).collect().await
}

// S4-06: infinite loops are ended.
#[tokio::test]
async fn infinite_loops_are_ended() {
    let loops = [
        "for (;;);",
        "while (true) { try { for (;;); } catch {} finally { continue } }",
        "const f = () => f.call(null) || f(); try { f() } catch { for (;;); }",
        "await (async () => { for (;;) await null })()",
        "const again = () => Promise.resolve().then(again); await again()",
        "const again = () => queueMicrotask(again); again(); await new Promise(() => {})",
        "function* g() { for (;;) yield 1 } for (const _ of g());",
        "new Proxy({}, { get(t, k, p) { for (;;); } }).x",
        "return { toJSON() { for (;;); } }",
        "throw Object.defineProperty(new Error('x'), 'message', { get() { for (;;); } })",
        "Object.defineProperty(Error.prototype, 'name', { get() { for (;;); } }); throw new Error('x')",
        "export default 1; for await (const x of { async *[Symbol.asyncIterator]() { for (;;) yield 1 } });",
        "[1, 2].sort(() => { for (;;); })",
        "'x'.replace(/x/, () => { for (;;); })",
        "eval('for (;;);')",
        "new Function('for (;;);')()",
        "label: for (;;) { continue label }",
        "console.log({ toJSON() { for (;;); } })",
    ];
    let time = Duration::from_millis(700);
    for (code, result) in each(&loops, Limits { time, ..limits() }).await {
        assert_eq!(
            result.status,
            Status::Terminated,
            "{code}: {:?}",
            result.error
        );
        assert_eq!(
            message(&result),
            "the run exceeded its time limit of 700ms: do less in one run",
            "{code}"
        );
    }
}

// S4-05, S4-06: if the engine's interrupt does not end a run, its process is killed.
#[tokio::test]
async fn native_functions_that_ignore_interrupts_are_killed() {
    let natives = [
        "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
        "Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
        "Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)",
        "Array.prototype.shift.call({ length: 2 ** 53 - 1 })",
        "Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 0, 1)",
        "Array.prototype.sort.call({ length: 2 ** 53 - 1 })",
        "Array.prototype.some.call({ length: 2 ** 53 - 1 }, Boolean)",
        "Array.prototype.forEach.call({ length: 2 ** 53 - 1 }, Boolean)",
        "Array.prototype.flat.call({ length: 2 ** 53 - 1 })",
        "[].concat({ length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true })",
        "new Array(2 ** 32 - 1).join('')",
        "'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')",
        // The searched text differs only in its last character, so each of ten million positions costs ten million comparisons.
        "'a'.repeat(2e7).lastIndexOf('a'.repeat(1e7) + 'b')",
        "/(a*)*b/.test('a'.repeat(60))",
        "/^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))",
        "/(x+x+)+y/.exec('x'.repeat(60))",
    ];
    let time = Duration::from_millis(700);
    let mut killed = Vec::new();
    for (code, result) in each(&natives, Limits { time, ..limits() }).await {
        assert_eq!(
            result.status,
            Status::Terminated,
            "{code}: {:?}",
            result.error
        );
        // The interrupt ends a run immediately after the limit; a process is killed only some time later.
        if result.duration >= time + Duration::from_millis(150) {
            killed.push(code);
        }
    }
    println!(
        "{} of {} ended by the kill: {killed:#?}",
        killed.len(),
        natives.len()
    );
    assert!(killed.len() >= 10, "{killed:?}");
}

// S4-06: code that allocates more memory than its limit ends with the status `memory`.
#[tokio::test]
async fn memory_bombs_end_with_status_memory() {
    let bombs = [
        "new ArrayBuffer(1e9)",
        "new Uint8Array(1e9)",
        "const a = []; for (;;) a.push(new ArrayBuffer(1 << 20))",
        "const a = []; for (;;) a.push({})",
        "const a = []; for (;;) a.push([a])",
        "let a = [1]; for (;;) a = a.concat(a)",
        "let s = 'ab'; for (;;) s += s",
        "'x'.repeat(2 ** 29)",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, String(i))",
        "const f = []; for (;;) f.push(() => f)",
        "return JSON.parse('[' + '[],'.repeat(5e6) + '1]')",
        "return 'x,'.repeat(1e7).split(',')",
        "return [...Array(1e8).keys()]",
        "new Array(1e7).fill('x'.repeat(100)).map(x => x + Math.random())",
        "Array.from({ length: 1e9 }, Object)",
        "let p = Promise.resolve(); const all = []; for (;;) all.push(p = p.then(() => 1))",
        "const o = {}; for (let i = 0; ; i++) o['k' + i] = i",
        "await Promise.resolve(); const a = []; for (;;) a.push([1, 2, 3])",
        "await Promise.resolve().then(() => { const a = []; for (;;) a.push([1, 2, 3]) })",
        "const make = async () => { const a = []; for (;;) { a.push([0]); await null } }; await make()",
        "/(?:)/[Symbol.split]('x'.repeat(1e7))",
        "const a = []; for (let n = 1n << 1000000n; ; n += 1n) a.push(n)",
        "const a = []; try { for (;;) a.push(new Array(1000).fill(0)) } finally { for (;;) a.push([1]) }",
    ];
    for (code, result) in each(&bombs, limits()).await {
        assert_eq!(
            result.status,
            Status::Memory,
            "{code}: {:?} {:?}",
            result.status,
            result.error
        );
    }
    // If the code catches the allocation error, the run continues.
    let result = run("try { new ArrayBuffer(1e9) } catch (error) { return String(error) }").await;
    assert_eq!(gave(&result), json!("InternalError: out of memory"));
}

#[tokio::test]
async fn deep_recursion_is_an_error_and_does_not_crash_the_host() {
    let result = run("const f = n => f(n + 1) + 1; f(0)").await;
    assert_eq!(
        (result.status, &*result.error.as_ref().unwrap().name),
        (Status::Error, "RangeError")
    );
    let result = run("let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a").await;
    assert_eq!(result.status, Status::Error, "{:?}", result.error);
    let nested = [
        "[",
        "(",
        "{a:",
        "a?b:",
        "`${",
        "!",
        "async()=>",
        "a=>",
        "f(",
        "-",
        "new ",
    ]
    .map(|open| format!("x = {}", open.repeat(250_000 / open.len())));
    for code in nested {
        let result = run(&code).await;
        assert_eq!(
            result.status,
            Status::Error,
            "{}: {:?}",
            &code[..10],
            result.error
        );
    }
    let closed = format!("return {}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let result = run(&closed).await;
    assert_eq!(result.status, Status::Error, "{:?}", result.error);
}

/// Returns a number.
#[tool(read_only)]
fn add() -> u8 {
    1
}

// S4-05: code cannot access globals of the host.
#[tokio::test]
async fn code_sees_no_globals_of_the_host() {
    let names = [
        "process",
        "require",
        "module",
        "exports",
        "Deno",
        "Bun",
        "std",
        "os",
        "print",
        "scriptArgs",
        "loadScript",
        "__loadScript",
        "bjson",
        "Worker",
        "fetch",
        "XMLHttpRequest",
        "WebSocket",
        "setTimeout",
        "setInterval",
        "setImmediate",
        "clearTimeout",
        "performance",
        "navigator",
        "location",
        "window",
        "self",
        "global",
        "document",
        "WebAssembly",
        "crypto",
        "indexedDB",
        "localStorage",
        "Buffer",
        "gc",
        "DOMException",
        "host",
        "call",
        "native",
        "rquickjs",
        "qjs",
        "__dirname",
        "__filename",
        "importScripts",
        "postMessage",
        "structuredClone",
    ];
    let code = format!(
        "const roots = [globalThis, Function('return this')(), (0, eval)('this'), (() => {{}}).constructor('return globalThis')(), \
         (async () => {{}}).constructor('return globalThis')().constructor.prototype, tools.add.constructor('return this')()];\n\
         return {}.filter(name => roots.some(root => root && name in Object(root)) || eval(`typeof ${{name}}`) !== 'undefined')",
        json!(&names[..])
    );
    let result = run_with(limits(), &toolset![add], &code).await;
    assert_eq!(gave(&result), json!([]));

    let ways = [
        "await import('std')",
        "await import('os')",
        "await eval(\"import('fs')\")",
        "await Function(\"return import('node:fs')\")()",
        "await (async () => {}).constructor(\"return import('child_process')\")()",
        "await new (Object.getPrototypeOf(async function* () {}).constructor)(\"yield import('fs')\")().next()",
        "require('fs')",
        "import.meta.resolve('fs')",
        "import.meta.require('fs')",
        "tools.constructor('x')",
        "tools.__proto__.constructor",
        "tools.add.caller",
        "tools.add.arguments",
        "report.constructor('return process')()",
        "console.log.constructor('return require')()('fs')",
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    ];
    for code in ways {
        let result = run_with(short(), &toolset![add], code).await;
        assert_eq!(result.status, Status::Error, "{code}: {result:?}");
    }
    let result =
        run("return [Object.keys(import.meta), typeof import.meta.url, typeof this]").await;
    println!("{}", result.result);
    assert!(!result.result.get().contains('/'), "{result:?}");
}

#[tokio::test]
async fn poisoned_prototypes_affect_only_the_code() {
    /// Returns a list of numbers.
    #[tool(read_only)]
    fn look() -> Vec<u8> {
        vec![1, 2]
    }
    let tools = toolset![look];
    let poisons = [
        "globalThis.Promise = null",
        "globalThis.JSON = { stringify: () => '\"forged\"', parse: () => 'forged' }",
        "JSON.stringify = JSON.parse = () => { throw 1 }",
        "globalThis.Object = globalThis.Array = globalThis.Error = undefined",
        "Promise.prototype.then = () => { throw 1 }",
        "Promise.resolve = Promise.reject = Promise.all = () => 1",
        "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 }",
        "Array.prototype[Symbol.iterator] = function* () { yield 'forged' }",
        "Array.prototype.push = Array.prototype.map = () => { throw 1 }",
        "Object.prototype.id = 99; Object.prototype.name = 'hidden'; Object.prototype.done = {}; Object.prototype.status = 'success'",
        "Object.defineProperty(Object.prototype, 'default', { get: () => 'forged' })",
        "Error.prepareStackTrace = () => { throw 1 }; Error.stackTraceLimit = 1e9",
        "Object.defineProperty(Error.prototype, 'message', { set() { throw 1 } })",
        "Object.freeze(Object.prototype); Object.freeze(Function.prototype); Object.freeze(Promise.prototype)",
        "Object.defineProperty(Symbol.prototype, Symbol.toPrimitive, { value: () => 'x' })",
        "Set.prototype.has = () => true; Map.prototype.get = () => 'forged'",
        "Reflect.get = Reflect.ownKeys = () => { throw 1 }; globalThis.Proxy = null",
        "String.prototype.toString = Number.prototype.toString = () => 'forged'",
        "Object.prototype.__proto__ = null",
        "try { tools.look = () => 'forged' } catch {} try { delete tools.look } catch {} try { globalThis.tools = {} } catch {} try { Object.setPrototypeOf(tools, null) } catch {}",
        "try { Object.defineProperty(tools, 'look', { value: () => 'forged' }) } catch {} try { Object.defineProperty(globalThis, 'tools', { value: {} }) } catch {}",
        "try { await tools.look(1) } catch (error) { Reflect.setPrototypeOf(error.constructor, class { constructor() { return new Proxy({}, { defineProperty() { throw 1 } }) } }) }",
        "class Hidden extends Promise {} ; globalThis.Promise = Hidden; Promise.prototype.constructor = null",
    ];
    for poison in poisons {
        let code = format!(
            "{poison};\nconst seen = await tools.look({{}});\nreturn [seen.length, seen[0], seen[1], typeof seen];"
        );
        let result = run_with(limits(), &tools, &code).await;
        assert_eq!(
            gave(&result),
            json!([2, 1, 2, "object"]),
            "{poison}: {result:?}"
        );
    }
    // Code that overwrites the `then` protocol of JavaScript makes only its own promise hang or fail, and the run ends with an error.
    let hung = [
        "Object.prototype.then = function () {}",
        "Array.prototype.then = function () {}",
        "Object.prototype.then = (yes, no) => no('forged')",
    ];
    for poison in hung {
        let result = run_with(
            short(),
            &tools,
            &format!("{poison}; return await tools.look({{}})"),
        )
        .await;
        assert_eq!(result.status, Status::Error, "{poison}: {result:?}");
    }
    let result = run_with(
        limits(),
        &tools,
        "Array.prototype.toJSON = () => 'mine'; return await tools.look({})",
    )
    .await;
    assert_eq!(gave(&result), json!("mine"));
    let thrown = [
        "throw new Proxy(new Error('x'), {})",
        "throw Object.create(Error.prototype, { message: { get() { throw 1 } } })",
        "throw { get name() { throw 1 }, get message() { throw 2 } }",
        "throw Object.defineProperty(new Error('x'), 'stack', { value: { toString() { throw 1 } } })",
        "throw Object.assign(new Error('x'), { name: Symbol('s'), message: 1n })",
        "throw { toString() { throw 1 }, toJSON() { throw 2 } }",
        "throw Symbol('s')",
        "throw 'x'.repeat(1e7)",
        "const e = new Error('a'.repeat(1e6)); e.stack = 'code:1:'.repeat(1e5); throw e",
        "return new Proxy({}, { ownKeys() { throw new Error('no keys') } })",
        "return { get a() { throw 1 } }",
        "return { toJSON() { throw 1 } }",
    ];
    for code in thrown {
        let result = run(code).await;
        assert_eq!(result.status, Status::Error, "{code}: {result:?}");
        let error = result.error.unwrap();
        assert!(
            error.message.len() + error.stack.map_or(0, |stack| stack.len()) < 10_000,
            "{code}"
        );
    }
}

// S4-06: names of any length in errors of the compiler are cut, so that the error is reported.
#[tokio::test]
async fn long_names_in_compile_errors_are_cut() {
    let name = "n".repeat(100_000);
    for (code, class) in [
        (format!("let {name} = 1, {name} = 2;"), "SyntaxError"),
        (
            format!("import x from './{name}'; return x"),
            "ReferenceError",
        ),
        (
            format!("import x from '{name}'; return x"),
            "ReferenceError",
        ),
    ] {
        let error = run(&code).await.error.unwrap();
        assert_eq!(error.name, class, "{}", error.message);
        assert!(
            error.message.len() < 10_000 && error.message.contains("nnnn"),
            "{}",
            error.message
        );
    }
}

#[tokio::test]
async fn no_message_of_the_protocol_can_be_forged() {
    let frame =
        r#"'\0\0\0\x2a{"done":{"status":"success","result":1,"error":null,"logs_dropped":0}}'"#;
    let code = format!(
        "console.log({frame}); console.error('\\n' + {frame}); report({frame}); throw new Error({frame})"
    );
    let result = run(&code).await;
    assert_eq!(result.status, Status::Error);
    assert_eq!((result.logs.len(), result.reports.len()), (2, 1));
    assert!(
        result.logs[0].text.starts_with("\0\0\0*{\"done\""),
        "{result:?}"
    );
    // Values with the keys of protocol messages are treated as plain values.
    let result =
        run("return { done: { status: 'success' }, status: 'memory', call: { id: 0 } }").await;
    assert_eq!(gave(&result)["status"], "memory");
}

#[tokio::test]
async fn log_floods_are_truncated_and_counted() {
    let result = run("for (let i = 0; i < 1e5; i++) console.log('line', i); return 'done'").await;
    assert_eq!(gave(&result), json!("done"));
    let bytes: usize = result.logs.iter().map(|log| log.text.len()).sum();
    assert!(bytes <= 64 << 10, "{bytes}");
    assert_eq!(result.logs_dropped, 100_000 - result.logs.len() as u64);
    let result = run_with(
        short(),
        &toolset![],
        "for (;;) console.log('x'.repeat(1e6))",
    )
    .await;
    assert_eq!((result.status, result.logs.len()), (Status::Terminated, 1));
    assert!(result.logs[0].text.len() <= (64 << 10) + 3);
    let result = run_with(short(), &toolset![], "for (;;) console.log()").await;
    assert!(
        result.logs.len() <= 4096 && result.logs_dropped > 0,
        "{}",
        result.logs.len()
    );
    let result = run_with(
        short(),
        &toolset![],
        "for (;;) { try { report(1) } catch {} }",
    )
    .await;
    assert_eq!(
        (result.status, result.reports.len()),
        (Status::Terminated, 100)
    );
    for code in [
        "for (;;) Promise.reject(1)",
        "for (;;) { try { await import('x') } catch {} }",
    ] {
        let result = run_with(short(), &toolset![], code).await;
        assert!(
            [Status::Terminated, Status::Memory].contains(&result.status),
            "{code}: {result:?}"
        );
    }
}

#[tokio::test]
async fn runs_share_no_state() {
    let setup = builder().build().unwrap();
    let (tools, cx) = (toolset![], ToolContext::anonymous());
    let first = setup
        .start(
            "globalThis.left = 1; Object.prototype.left = 2; return 1",
            &tools,
            &cx,
        )
        .finish()
        .await
        .unwrap();
    gave(&first);
    let second = setup
        .start("return [typeof left, typeof {}.left]", &tools, &cx)
        .finish()
        .await
        .unwrap();
    assert_eq!(gave(&second), json!(["undefined", "undefined"]));
}
