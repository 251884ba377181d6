//! Compilation of TypeScript and JavaScript for the engine, with source positions mapped back to the original code.

use std::collections::BTreeMap;
use std::path::PathBuf;

use oxc_allocator::Allocator;
use oxc_ast::ast::Statement;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_diagnostics::{Diagnostics, OxcDiagnostic};
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_semantic::SemanticBuilder;
use oxc_span::{GetSpan, SourceType, Span};
use oxc_transformer::{TransformOptions, Transformer};

use super::fault::cut;
use crate::outcome::CodeError;

/// A module that was compiled to JavaScript.
pub(crate) struct Compiled {
    pub(crate) script: String,
    pub(crate) places: Places,
    /// The imported modules, and the position of the first import of each.
    imports: Vec<(String, (u32, u32))>,
    /// Whether the module has a default export.
    has_default: bool,
}

/// Compiled files by their paths.
pub(crate) type Files = BTreeMap<String, Compiled>;

/// Compiles files that import each other by relative paths. The first file is the entry point, whose default export is called. `modules` are the bare
/// names that can be imported. Fails with the first fault and its file.
pub(crate) fn files(
    sources: &[(String, String)],
    modules: &[&str],
) -> Result<Files, (String, CodeError)> {
    let mut files = Files::new();
    for (path, source) in sources {
        let compiled = granted(&without_hashbang(source));
        let compiled = compiled.map_err(|error| (path.clone(), error))?;
        files.insert(path.clone(), compiled);
    }
    for (path, compiled) in &files {
        for (name, place) in &compiled.imports {
            let known =
                |name: &str| files.contains_key(name) || files.contains_key(&format!("{name}.ts"));
            let short = cut(name);
            let text = match relative(path, name) {
                Some(target) if known(&target) => continue,
                None if modules.contains(&name.as_str()) => continue,
                Some(target) => {
                    let target = cut(&target);
                    format!("cannot import `{short}`: the file `{target}` does not exist")
                }
                None => format!(
                    "cannot import `{short}`: write the relative path of a file, such as `./lib.ts`, or one of `{}`",
                    modules.join("`, `")
                ),
            };
            let error = CodeError::new("SyntaxError", text).at(Some(*place));
            return Err((path.clone(), error));
        }
    }
    match sources
        .first()
        .and_then(|(path, _)| Some((path, files.get(path)?)))
    {
        Some((path, entry)) if !entry.has_default => {
            let text = "the file has no default export, write `export default async function (args) { … }`";
            Err((path.clone(), CodeError::new("SyntaxError", text)))
        }
        _ => Ok(files),
    }
}

/// Returns the path of the file that a relative specifier in a file names, or `None` if the specifier is not relative or leads out of the files.
pub(crate) fn relative(from: &str, name: &str) -> Option<String> {
    if !name.starts_with("./") && !name.starts_with("../") {
        return None;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

impl Compiled {
    /// Adds the position of the import whose module the error names, if the error has no position.
    pub(crate) fn placed(&self, error: CodeError) -> CodeError {
        let names = |name: &str| {
            let quoted = [format!("`{name}`"), format!("'{name}'")];
            quoted.iter().any(|name| error.message.contains(name))
        };
        match self.imports.iter().find(|(name, _)| names(name)) {
            Some((_, place)) if error.line.is_none() => error.at(Some(*place)),
            _ => error,
        }
    }
}

/// A map from positions in the script to positions in the original code, both zero-based.
#[derive(Default)]
pub(crate) struct Places {
    /// Line and column in the script, followed by line and column in the compiled source, inserted lines included; sorted.
    marks: Vec<[u32; 4]>,
    /// Number of lines that were inserted before the code.
    before: u32,
}

impl Places {
    /// Maps a position in the script to the position in the code, both one-based, or returns `None` if it was generated.
    pub(crate) fn original(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let (line, column) = (line.checked_sub(1)?, column.saturating_sub(1));
        let after = self
            .marks
            .partition_point(|mark| (mark[0], mark[1]) <= (line, column));
        // A position before the first mark of its line is mapped to that mark.
        let mark = after
            .checked_sub(1)
            .and_then(|at| self.marks.get(at))
            .filter(|mark| mark[0] == line)
            .or_else(|| self.marks.get(after).filter(|mark| mark[0] == line))?;
        Some((mark[2].checked_sub(self.before)? + 1, mark[3] + 1))
    }
}

/// Compiles the code of a run: a module, or the body of an async function if it has a `return` at the top level.
pub(crate) fn program(code: &str) -> Result<Compiled, CodeError> {
    let code = &without_hashbang(code);
    if let Ok(kind) = language(code, false) {
        return module(code, kind, 0);
    }
    let kind = language(code, true)?;
    // The code is valid only if `return` is allowed at the top level: the body becomes a function, and its imports are moved before it.
    let allocator = Allocator::default();
    let parsed = parse(&allocator, code, kind, true);
    let mut imports = String::new();
    let mut body = code.clone();
    for statement in &parsed.program.body {
        match statement {
            Statement::ImportDeclaration(import) => {
                let text = blank(&mut body, code, import.span);
                imports.push_str(text);
                imports.push_str(";\n");
            }
            statement if statement.is_module_declaration() => {
                let text =
                    "code that returns a value cannot export as well, keep `return` or `export`";
                return Err(CodeError::new("SyntaxError", text)
                    .at(Some(place(code, statement.span().start))));
            }
            _ => {}
        }
    }
    let before = imports.matches('\n').count() + 1;
    let whole = format!("{imports}export default await (async () => {{\n{body}\n}})();\n");
    let compiled = module(&whole, kind, u32::try_from(before).unwrap_or(u32::MAX))?;
    Ok(Compiled {
        imports: imported(&parsed, code),
        ..compiled
    })
}

fn imported(parsed: &ParserReturn<'_>, code: &str) -> Vec<(String, (u32, u32))> {
    let modules = parsed.module_record.requested_modules.iter();
    let places = modules.filter_map(|(name, requests)| {
        let first = requests.first()?;
        Some((name.to_string(), place(code, first.span.start)))
    });
    places.collect()
}

/// Compiles source that is a module: a module that the host grants, or a file of a stored function.
pub(crate) fn granted(source: &str) -> Result<Compiled, CodeError> {
    module(source, language(source, false)?, 0)
}

/// Returns the language of the code: TypeScript if it parses as TypeScript, otherwise JavaScript. If it is neither, returns the error for TypeScript.
fn language(code: &str, returns: bool) -> Result<SourceType, CodeError> {
    let mut first = None;
    for kind in [SourceType::ts(), SourceType::mjs()] {
        let allocator = Allocator::default();
        let parsed = parse(&allocator, code, kind, returns);
        match first_error(&parsed.diagnostics) {
            None if !parsed.panicked => return Ok(kind),
            error => {
                let error = error.map_or_else(unreadable, |error| fault(error, code, 0));
                first.get_or_insert(error);
            }
        }
    }
    Err(first.unwrap_or_else(unreadable))
}

fn unreadable() -> CodeError {
    CodeError::new("SyntaxError", "the code cannot be read")
}

fn parse<'a>(
    allocator: &'a Allocator,
    code: &'a str,
    kind: SourceType,
    returns: bool,
) -> ParserReturn<'a> {
    let options = ParseOptions {
        allow_return_outside_function: returns,
        ..ParseOptions::default()
    };
    Parser::new(allocator, code, kind)
        .with_options(options)
        .parse()
}

fn module(code: &str, kind: SourceType, before: u32) -> Result<Compiled, CodeError> {
    let check = |diagnostics: &Diagnostics| match first_error(diagnostics) {
        Some(error) => Err(fault(error, code, before)),
        None => Ok(()),
    };
    let allocator = Allocator::default();
    let parsed = parse(&allocator, code, kind, false);
    check(&parsed.diagnostics)?;
    let imports = imported(&parsed, code);
    let record = &parsed.module_record;
    let mut exports = record
        .local_export_entries
        .iter()
        .chain(&record.indirect_export_entries);
    let has_default = exports.any(|entry| entry.export_name.default_export_span().is_some());
    let mut program = parsed.program;
    let semantic = SemanticBuilder::new()
        .with_check_syntax_error(true)
        .with_excess_capacity(2.0)
        .with_enum_eval(true)
        .build(&program);
    check(&semantic.diagnostics)?;
    let scoping = semantic.semantic.into_scoping();
    let name = PathBuf::from("code");
    let mut options = TransformOptions::default();
    // Unused imports are not removed. An import of a type must be marked with `type`.
    options.typescript.only_remove_type_imports = true;
    let transformed =
        Transformer::new(&allocator, &name, &options).build_with_scoping(scoping, &mut program);
    check(&transformed.diagnostics)?;
    let options = CodegenOptions {
        source_map_path: Some(name),
        ..CodegenOptions::default()
    };
    let generated = Codegen::new().with_options(options).build(&program);
    let marks = generated.map.map_or_else(Vec::new, |map| {
        let marks = map.get_tokens().map(|mark| {
            [
                mark.get_dst_line(),
                mark.get_dst_col(),
                mark.get_src_line(),
                mark.get_src_col(),
            ]
        });
        marks.collect()
    });
    Ok(Compiled {
        script: generated.code,
        places: Places { marks, before },
        imports,
        has_default,
    })
}

fn first_error(diagnostics: &Diagnostics) -> Option<&OxcDiagnostic> {
    diagnostics.errors().next()
}

fn fault(error: &OxcDiagnostic, code: &str, before: u32) -> CodeError {
    let mut message = error.message.to_string();
    if let Some(help) = &error.help {
        message.push_str(": ");
        message.push_str(help);
    }
    let labels = &error.labels;
    // For a duplicate declaration, the first label is the original declaration, and the last label is the duplicate.
    let label = if message.ends_with("already been declared") {
        labels.last()
    } else {
        let primary = labels.iter().find(|label| label.primary());
        primary.or(labels.first())
    };
    let at = label.map(|label| place(code, label.offset()));
    let at = at.and_then(|(line, column)| Some((line.checked_sub(before)?, column)));
    // The message contains names from the code.
    CodeError::new("SyntaxError", cut(&message)).at(at)
}

/// Returns the one-based line and column of an offset. The column counts UTF-16 code units.
fn place(code: &str, offset: u32) -> (u32, u32) {
    let before = code.get(..offset as usize).unwrap_or(code);
    let line = before.matches('\n').count() + 1;
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or("")
        .encode_utf16()
        .count()
        + 1;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    (number(line), number(column))
}

/// Replaces a span with blanks, except for line breaks, and returns the original text.
fn blank<'a>(body: &mut String, code: &'a str, span: Span) -> &'a str {
    let range = span.start as usize..span.end as usize;
    let text = code.get(range.clone()).unwrap_or("");
    let blanks: String = text
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect();
    body.replace_range(range, &blanks);
    text
}

/// Turns a hashbang line into a comment: a hashbang is valid only at the very start, and the code may be wrapped.
fn without_hashbang(code: &str) -> String {
    match code.strip_prefix("#!") {
        Some(rest) => format!("//{rest}"),
        None => code.to_owned(),
    }
}
