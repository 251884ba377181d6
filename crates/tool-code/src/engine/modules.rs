//! Resolution of `import`: modules that the host grants, by bare specifiers, and files of a stored function, by relative paths.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Exception, Module, Result};

use super::compile::relative;
use super::fault::CODE;

/// The module that exports the tools.
pub(super) const TOOLS: &str = "tools";

/// Returns the name of a file's module. It is not a bare name, so it differs from the name of every granted module.
pub(super) fn module_of(path: &str) -> String {
    format!("./{path}")
}

/// Granted modules by their specifiers, and files by the names of their modules.
#[derive(Clone)]
pub(super) struct Granted {
    scripts: Rc<BTreeMap<String, String>>,
    /// Whether an import was refused, or an imported module is invalid.
    refused: Rc<Cell<bool>>,
}

impl Granted {
    pub(super) fn new(scripts: BTreeMap<String, String>) -> Self {
        Self {
            scripts: Rc::new(scripts),
            refused: Rc::default(),
        }
    }

    pub(super) fn has_refused(&self) -> bool {
        self.refused.get()
    }

    fn refuse(&self, ctx: &Ctx<'_>, text: &str) -> Error {
        self.refused.set(true);
        Exception::throw_reference(ctx, text)
    }

    fn names(&self) -> String {
        let names: Vec<String> = self
            .scripts
            .keys()
            .filter(|name| is_bare(name))
            .map(|name| format!("`{name}`"))
            .collect();
        names.join(", ")
    }
}

/// Returns whether a specifier is a bare name, without a path or scheme.
pub(crate) fn is_bare(name: &str) -> bool {
    let mut parts = name.split('/');
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    match name.strip_prefix('@') {
        Some(scoped) => scoped.split('/').count() >= 2 && scoped.split('/').all(plain),
        None => parts.all(plain),
    }
}

impl Resolver for Granted {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        if attributes.is_some() {
            let text = format!("cannot import `{name}` with attributes: leave them out");
            return Err(self.refuse(ctx, &text));
        }
        // The code imports from the folder of the files. Granted modules import no files.
        let from = base.strip_prefix("./").or((base == CODE).then_some(CODE));
        if let Some(path) = from.and_then(|from| relative(from, name)) {
            let exact = module_of(&path);
            let full = module_of(&format!("{path}.ts"));
            let found = [exact, full].into_iter();
            if let Some(found) = found
                .into_iter()
                .find(|name| self.scripts.contains_key(name))
            {
                return Ok(found);
            }
        }
        if !is_bare(name) {
            let text = format!(
                "cannot import `{name}`: only bare names can be imported, here {}",
                self.names()
            );
            return Err(self.refuse(ctx, &text));
        }
        if !self.scripts.contains_key(name) {
            let text = format!(
                "there is no module `{name}`, the available modules are {}",
                self.names()
            );
            return Err(self.refuse(ctx, &text));
        }
        Ok(name.to_owned())
    }
}

impl Loader for Granted {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        match self.scripts.get(name) {
            Some(script) => Module::declare(ctx.clone(), name, script.as_str())
                .inspect_err(|_| self.refused.set(true)),
            None => Err(self.refuse(ctx, &format!("there is no module `{name}`"))),
        }
    }
}

/// Returns the source of the module `tools`. It exports each tool whose name is a valid binding, and the global `tools` as its default.
pub(super) fn exports(names: &[String]) -> String {
    let mut script = String::from("const tools = globalThis.tools;\nexport default tools;\n");
    for name in names.iter().filter(|name| is_binding(name)) {
        // The export is aliased, because a tool may also be named `tools`.
        let _ = writeln!(
            script,
            "const $_{name} = tools.{name};
export {{ $_{name} as {name} }};"
        );
    }
    script
}

/// Returns whether a name can be bound by `import { name }`.
fn is_binding(name: &str) -> bool {
    // Names that no binding in a JavaScript module can have.
    const RESERVED: &[&str] = &[
        "arguments",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "var",
        "void",
        "while",
        "with",
        "yield",
    ];
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !RESERVED.contains(&name)
}
