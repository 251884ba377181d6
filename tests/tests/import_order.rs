//! The order of the modules of `tool-core`: a module imports only modules of the same row and of earlier rows. The
//! imports between modules of one row, and between modules of the other crates, must not form a cycle.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::visit_mut::VisitMut;
use tool_tests::sources::each_source;

/// The rows of modules, from the bottom to the top. A module may import modules of the same row, but not in a cycle.
/// ARCHITECTURE.md has the same rows.
const ORDER: &[&[&str]] = &[
    &["sync", "hidden", "decision"],
    &["effect", "store", "need"],
    &["redact"],
    &["error"],
    &["output", "stream"],
    &["call"],
    &["context"],
    &["tool"],
    &["limits", "audit", "bounded", "search", "policy"],
    &["registry"],
    &["visibility"],
    &["gate"],
    &["toolset"],
    &["run"],
    &["private", "turn", "skill", "stored"],
    &["testing", "prelude", "guides"],
];

/// The other crates that are checked.
const OTHERS: &[&str] = &[
    "crates/tool-rules",
    "crates/tool-schema",
    "crates/tool-import",
    "tool-macros",
    "crates/tool-contracts",
    "tool-std",
    "crates/tool-isolate",
    "crates/tool-store",
    "crates/tool-http",
    "crates/tool-wire",
    "crates/tool-agent",
    "crates/tool-mcp",
    "crates/tool-server",
    "crates/tool-cli",
    "crates/tool-code",
];

/// Returns the source folder of a crate.
fn source(krate: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(krate)
        .join("src")
}

/// A visitor that removes items which are compiled only for tests.
struct WithoutTests;

impl VisitMut for WithoutTests {
    fn visit_file_mut(&mut self, file: &mut syn::File) {
        file.items.retain(|item| !is_test(item));
        syn::visit_mut::visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| !is_test(item));
        }
        syn::visit_mut::visit_item_mod_mut(self, module);
    }
}

fn is_test(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Const(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string();
        attribute.path().is_ident("cfg")
            && text
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| word == "test")
    })
}

/// Collects the first name of each path that begins at the root of the crate: `crate::name`, `crate::{name, …}`, and `super::…::name` with
/// one `super` for each level of the module.
fn names(tokens: TokenStream, depth: usize, found: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |at: usize, text: &str| matches!(tokens.get(at), Some(TokenTree::Ident(name)) if name == text);
    let is_path = |at: usize| {
        matches!(tokens.get(at), Some(TokenTree::Punct(one)) if one.as_char() == ':')
            && matches!(tokens.get(at + 1), Some(TokenTree::Punct(two)) if two.as_char() == ':')
    };
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            names(group.stream(), depth, found);
        }
        // A path with `$crate` in the body of `macro_rules!` is part of generated code, so it is not an import.
        let is_generated = at > 0
            && matches!(&tokens[at - 1], TokenTree::Punct(dollar) if dollar.as_char() == '$');
        let after = if is(at, "crate") && !is_generated && is_path(at + 1) {
            at + 3
        } else if depth > 0
            && (0..depth).all(|up| is(at + 3 * up, "super") && is_path(at + 3 * up + 1))
        {
            at + 3 * depth
        } else {
            continue;
        };
        match tokens.get(after) {
            Some(TokenTree::Ident(name)) => {
                found.insert(name.to_string());
            }
            Some(TokenTree::Group(group)) => {
                let mut first = true;
                for token in group.stream() {
                    match token {
                        TokenTree::Ident(name) if first => {
                            found.insert(name.to_string());
                            first = false;
                        }
                        TokenTree::Punct(comma) if comma.as_char() == ',' => first = true,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the names that `lib.rs` exports at the root, each with its module.
fn exported(source: &Path) -> BTreeMap<String, String> {
    fn walk(tree: &syn::UseTree, module: Option<&str>, found: &mut BTreeMap<String, String>) {
        let mut leaf = |name: String| {
            if let Some(module) = module {
                found.insert(name, module.to_owned());
            }
        };
        match tree {
            syn::UseTree::Path(path) => {
                let name = path.ident.to_string();
                walk(&path.tree, Some(module.unwrap_or(&name)), found);
            }
            syn::UseTree::Name(name) => leaf(name.ident.to_string()),
            syn::UseTree::Rename(rename) => leaf(rename.rename.to_string()),
            syn::UseTree::Group(group) => group
                .items
                .iter()
                .for_each(|tree| walk(tree, module, found)),
            syn::UseTree::Glob(_) => {}
        }
    }
    let file = syn::parse_file(&fs::read_to_string(source.join("lib.rs")).unwrap()).unwrap();
    let mut found = BTreeMap::new();
    for item in &file.items {
        if let syn::Item::Use(item) = item {
            walk(&item.tree, None, &mut found);
        }
    }
    found
}

/// Returns the top-level modules of a crate.
fn modules(source: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(source).unwrap();
    let names = files.map(|file| file.unwrap().path().file_stem().unwrap().to_owned());
    let names = names.map(|name| name.into_string().unwrap());
    names.filter(|name| name != "lib").collect()
}

/// Returns the imports of the top-level modules: pairs of a module and an imported module, with the files of the imports.
fn imports(source: &Path) -> BTreeMap<(String, String), BTreeSet<String>> {
    let (exported, modules) = (exported(source), modules(source));
    let mut imports: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    each_source(source, &mut |path| {
        let local = path.strip_prefix(source).unwrap().with_extension("");
        let parts: Vec<&str> = local.iter().map(|part| part.to_str().unwrap()).collect();
        // Skip `lib.rs`, which names every module, and tests, which may import every module.
        if parts == ["lib"] || parts.contains(&"tests") {
            return;
        }
        let mut file = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
        WithoutTests.visit_file_mut(&mut file);
        let mut found = BTreeSet::new();
        names(file.into_token_stream(), parts.len(), &mut found);
        for name in found {
            // `lib.rs` may export a macro with the name of a module.
            let module = match exported.get(&name) {
                Some(module) if !modules.contains(&name) => module,
                _ => &name,
            };
            if module != parts[0] {
                let local = local.display().to_string();
                imports
                    .entry((parts[0].to_owned(), module.clone()))
                    .or_default()
                    .insert(local);
            }
        }
    });
    imports
}

fn row(module: &str) -> Option<usize> {
    ORDER.iter().position(|row| row.contains(&module))
}

#[test]
fn modules_import_only_modules_below_them() {
    let mut upward = Vec::new();
    for ((module, imported), files) in imports(&source("tool-core")) {
        let at = row(&module).unwrap_or_else(|| panic!("add the module `{module}` to `ORDER`"));
        // Names that are not in the order are macros or crates.
        let Some(below) = row(&imported) else {
            continue;
        };
        if below > at {
            upward.push(format!("`{module}` imports `{imported}`: {files:?}"));
        }
    }
    assert!(
        upward.is_empty(),
        "a module imports a module that is above it:\n{}",
        upward.join("\n")
    );
}

/// Returns the modules that import each other in a cycle, and the modules between two cycles.
fn circle<'a>(
    mut modules: BTreeSet<&'a str>,
    imports: &BTreeMap<(String, String), BTreeSet<String>>,
) -> BTreeSet<&'a str> {
    let has = |from: &str, to: &str| imports.contains_key(&(from.to_owned(), to.to_owned()));
    // A module is not in a cycle if no other module imports it, or if it imports no other module.
    while let Some(free) = modules.iter().copied().find(|module| {
        let others = || modules.iter().filter(|other| *other != module);
        !others().any(|other| has(other, module)) || !others().any(|other| has(module, other))
    }) {
        modules.remove(free);
    }
    modules
}

#[test]
fn modules_of_the_other_crates_have_no_import_cycle() {
    let mut wrong = Vec::new();
    for krate in OTHERS {
        let imports = imports(&source(krate));
        let modules = circle(
            imports.keys().map(|(module, _)| &**module).collect(),
            &imports,
        );
        if !modules.is_empty() {
            wrong.push(format!("{krate}: {modules:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "modules import each other in a cycle:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn modules_of_a_row_have_no_import_cycle() {
    let imports = imports(&source("tool-core"));
    for row in ORDER {
        let left = circle(row.iter().copied().collect(), &imports);
        assert!(
            left.is_empty(),
            "the modules of a row form the cycle {left:?}"
        );
    }
}

#[test]
fn every_module_is_in_the_order_and_on_the_page() {
    let listed: BTreeSet<String> = ORDER
        .iter()
        .flat_map(|row| row.iter().map(|name| (*name).to_owned()))
        .collect();
    assert_eq!(modules(&source("tool-core")), listed);
    let page = fs::read_to_string(source("tool-core").join("../../ARCHITECTURE.md")).unwrap();
    for row in ORDER {
        let row: Vec<String> = row.iter().map(|module| format!("`{module}`")).collect();
        assert!(
            page.contains(&row.join(" ")),
            "ARCHITECTURE.md lacks the row {}",
            row.join(" ")
        );
    }
}
