//! Detection of mutually recursive types without `#[schema(recursive)]`.
//!
//! Constants of these types would contain each other, which rustc refuses with an error of 95 lines that mentions no attribute. A derive sees only
//! one type, so each derive records the names in its fields here, and the derive of the last type of a cycle finds its own name again. Names can be
//! ambiguous (two modules may have a type of the same name), so the generated code compares the types themselves, with the impls of `Holds` that
//! each derive writes. If the types differ, the field has its normal schema.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{GenericArgument, PathArguments, Type, TypePath};

use crate::derive::model::Decided;

/// The named types in the fields of each type that was derived in this run of the compiler.
static NAMES: Mutex<Option<HashMap<String, Vec<String>>>> = Mutex::new(None);

/// Names that the search skips: common types that contain no types of the program, and `Self`.
const FOREIGN: &[&str] = &[
    "String", "PathBuf", "Duration", "Value", "Url", "Uuid", "Utc", "Self",
];

/// A field that may lead back to its own type.
pub(crate) struct Circle {
    /// The number of the field's value, as in `Value::number`.
    pub(crate) number: usize,
    /// The type that the field names.
    pub(crate) held: TokenStream,
    /// The path from `held` back to the type that has the field, as indexes in [`Cycles::held`].
    pub(crate) way: Vec<usize>,
    /// The names on the path, such as `Entry`, `Folder`, `Entry`.
    pub(crate) names: Vec<String>,
}

/// The types that a type refers to, and the cycles that its fields may close.
#[derive(Default)]
pub(crate) struct Cycles {
    /// The types in the fields, without duplicates.
    pub(crate) held: Vec<TypePath>,
    pub(crate) circles: Vec<Circle>,
}

/// Finds the types in the fields of a type and the cycles through them, and records the names of the types in [`NAMES`].
pub(crate) fn find(decided: &Decided<'_>) -> Cycles {
    let mut found = Cycles::default();
    if decided.is_generic() {
        return found;
    }
    let sites: Vec<(usize, Vec<TypePath>)> = decided
        .sites()
        .iter()
        .map(|site| (site.value.number, named(&site.value.ty)))
        .collect();
    for path in sites.iter().flat_map(|(_, paths)| paths) {
        let text = path.to_token_stream().to_string();
        if !found
            .held
            .iter()
            .any(|held| held.to_token_stream().to_string() == text)
        {
            found.held.push(path.clone());
        }
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_with(HashMap::new);
    let own = &decided.name;
    names.insert(own.clone(), found.held.iter().map(name).collect());
    for (number, paths) in &sites {
        let circle = paths.iter().find_map(|path| {
            let (way, between) = way(names, &name(path), own)?;
            let mut all = vec![own.clone()];
            all.extend(between);
            Some(Circle {
                number: *number,
                held: path.to_token_stream(),
                way,
                names: all,
            })
        });
        found.circles.extend(circle);
    }
    found
}

/// Returns the shortest path from one name to another, and the names on the path.
fn way(
    names: &HashMap<String, Vec<String>>,
    from: &str,
    to: &str,
) -> Option<(Vec<usize>, Vec<String>)> {
    let mut seen = HashSet::from([from.to_owned()]);
    let mut open = VecDeque::from([(Vec::new(), vec![from.to_owned()])]);
    while let Some((way, on_it)) = open.pop_front() {
        let held = on_it.last().and_then(|last| names.get(last));
        for (number, next) in held.into_iter().flatten().enumerate() {
            let mut way = way.clone();
            way.push(number);
            let mut on_it = on_it.clone();
            on_it.push(next.clone());
            if next == to {
                return Some((way, on_it));
            }
            if seen.insert(next.clone()) {
                open.push_back((way, on_it));
            }
        }
    }
    None
}

fn name(path: &TypePath) -> String {
    path.path
        .segments
        .last()
        .map(|last| last.ident.unraw().to_string())
        .unwrap_or_default()
}

/// Returns the types in `ty` that have no parameters, begin with an upper-case letter and are not in [`FOREIGN`].
fn named(ty: &TokenStream) -> Vec<TypePath> {
    let mut found = Vec::new();
    if let Ok(ty) = syn::parse2(ty.clone()) {
        walk(&ty, &mut found);
    }
    found
}

fn walk(ty: &Type, found: &mut Vec<TypePath>) {
    match ty {
        Type::Group(group) => walk(&group.elem, found),
        Type::Paren(paren) => walk(&paren.elem, found),
        Type::Array(array) => walk(&array.elem, found),
        Type::Slice(slice) => walk(&slice.elem, found),
        Type::Reference(reference) => walk(&reference.elem, found),
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|elem| walk(elem, found)),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else {
                return;
            };
            match &last.arguments {
                PathArguments::AngleBracketed(inside) => {
                    for argument in &inside.args {
                        if let GenericArgument::Type(ty) = argument {
                            walk(ty, found);
                        }
                    }
                }
                _ if path.qself.is_none() && may_be_own(&last.ident.to_string()) => {
                    found.push(path.clone());
                }
                _ => {}
            }
        }
        _ => {}
    }
}

fn may_be_own(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && !FOREIGN.contains(&name)
}

impl Cycles {
    /// Generates `impl Holds<Step<0, …>, …> for Folder where Entry: Holds<…>` for each named type.
    pub(crate) fn impls(&self, decided: &Decided<'_>) -> TokenStream {
        let private = decided.paths.private();
        let ident = &decided.input.ident;
        let held = self.held.iter().enumerate();
        held.map(|(number, held)| {
            quote! {
                impl<__Rest, __Target> #private::circle::Holds<#private::circle::Step<#number, __Rest>, __Target> for #ident
                where
                    #held: #private::circle::Holds<__Rest, __Target>,
                {}
            }
        })
        .collect()
    }

    /// Returns the cycle that the value with this number may close.
    pub(crate) fn of(&self, number: usize) -> Option<&Circle> {
        self.circles.iter().find(|circle| circle.number == number)
    }
}

impl Circle {
    /// Generates `Circle::<Field, Folder, Step<0, Here>, Entry>`.
    pub(crate) fn question(&self, decided: &Decided<'_>, field: &TokenStream) -> TokenStream {
        let private = decided.paths.private();
        let ident = &decided.input.ident;
        let held = &self.held;
        let way = self.way.iter().rev().fold(
            quote!(#private::circle::Here),
            |rest, number| quote!(#private::circle::Step<#number, #rest>),
        );
        quote!(#private::circle::Circle::<#field, #held, #way, #ident>)
    }

    /// Formats the cycle as text, such as "`Entry` → `Folder` → `Entry`".
    pub(crate) fn text(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        names.join(" → ")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{named, way};

    // A cycle of types is found at any length.
    #[test]
    fn type_cycle_of_any_length_is_found() {
        let names: HashMap<String, Vec<String>> = [
            ("A", vec!["X", "B"]),
            ("B", vec!["C"]),
            ("C", vec!["B", "A"]),
        ]
        .map(|(name, held)| {
            let held = held.into_iter().map(str::to_owned).collect();
            (name.to_owned(), held)
        })
        .into();
        let (numbers, on_it) = way(&names, "A", "C").unwrap();
        assert_eq!(
            (numbers, on_it),
            (vec![1, 0], ["A", "B", "C"].map(str::to_owned).to_vec())
        );
        assert!(way(&names, "C", "D").is_none());
    }

    #[test]
    fn types_of_the_standard_library_are_skipped() {
        let found = |text: &str| -> Vec<String> {
            let ty = text.parse().unwrap();
            named(&ty).iter().map(super::name).collect()
        };
        assert_eq!(found("Option<Vec<(Box<crate::Entry>, u8)>>"), ["Entry"]);
        assert_eq!(found("HashMap<String, [Page<Leaf>; 3]>"), ["Leaf"]);
        assert!(found("Vec<std::string::String>").is_empty());
    }
}
