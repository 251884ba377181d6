//! Recursive types: a marker type whose schema is a reference replaces the inner occurrence, because a constant cannot contain itself.
//!
//! Only tokens are replaced: `Option<Box<Node>>` becomes `Option<Box<__NodeAgain>>`, and the impls of `Option` and `Box` generate the schema.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::{GenericArgument, PathArguments, Type, TypePath};

use super::Check;
use crate::derive::model::Marker;
use crate::texts;

impl Check<'_> {
    /// Replaces the type's own name and `Self` in a type with the marker of the type.
    pub(super) fn swap(&mut self, ty: TokenStream) -> TokenStream {
        let own = self.own.clone();
        let mut found = None;
        let again = marker_ident(&own, None);
        let swapped = swap(ty.clone(), &mut |ident| {
            let hit = *ident == own || ident == "Self";
            hit.then(|| {
                found.get_or_insert_with(|| ident.clone());
                again.clone()
            })
        });
        match found {
            None => ty,
            Some(place) if self.generic => {
                self.errors.at(place, texts::RECURSIVE_GENERIC);
                ty
            }
            Some(_) => {
                self.mark(&own, own.to_token_stream());
                swapped
            }
        }
    }

    /// Replaces the innermost named type in the type of a `#[schema(recursive)]` field with a marker. Values of that named type contain values of the
    /// derived type.
    pub(super) fn swap_innermost(&mut self, ty: &Type, word: &Ident) -> TokenStream {
        let Some((inner, target)) = innermost(ty) else {
            self.errors.at(word, texts::RECURSIVE_TYPE);
            return ty.to_token_stream();
        };
        if inner == "Self" || inner == self.own && target.path.segments.len() == 1 {
            return self.swap(ty.to_token_stream());
        }
        let marker = self.mark(inner, target.to_token_stream());
        replace(ty, target, &marker)
    }

    /// Returns the marker of a type, and creates it on first use. Two types with the same name have two markers.
    fn mark(&mut self, ident: &Ident, target: TokenStream) -> Ident {
        let text = target.to_string();
        let known = self
            .markers
            .iter()
            .find(|marker| marker.target.to_string() == text);
        if let Some(marker) = known {
            return marker.ident.clone();
        }
        let number = (*self.own != text).then_some(self.markers.len());
        let marker = marker_ident(ident, number);
        self.markers.push(Marker {
            ident: marker.clone(),
            name: ident.unraw().to_string(),
            target,
        });
        marker
    }
}

/// Returns the name of a marker; the marker of the type itself has no number.
fn marker_ident(ident: &Ident, number: Option<usize>) -> Ident {
    let number = number.map_or_else(String::new, |number| number.to_string());
    format_ident!("__{}Again{}", ident.unraw(), number, span = ident.span())
}

/// Replaces single names. Segments of longer paths, lifetimes, and the key in `Key = Type` stay unchanged.
fn swap(tokens: TokenStream, swapped: &mut impl FnMut(&Ident) -> Option<Ident>) -> TokenStream {
    let mut out = TokenStream::new();
    let mut before = ' ';
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let after = match tokens.peek() {
            Some(TokenTree::Punct(punct)) => punct.as_char(),
            _ => ' ',
        };
        let last = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        let token = match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), swap(group.stream(), swapped));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            TokenTree::Ident(ident) if !":'".contains(before) && !":=".contains(after) => {
                let ident = swapped(&ident)
                    .map(|mut other| {
                        other.set_span(ident.span());
                        other
                    })
                    .unwrap_or(ident);
                TokenTree::Ident(ident)
            }
            other => other,
        };
        before = last;
        out.extend([token]);
    }
    out
}

/// Returns the last segment and the path of the innermost named type: `Folder` and `crate::Folder` for `Option<Box<crate::Folder>>`.
fn innermost(ty: &Type) -> Option<(&Ident, &TypePath)> {
    match ty {
        Type::Group(group) => innermost(&group.elem),
        Type::Paren(paren) => innermost(&paren.elem),
        Type::Array(array) => innermost(&array.elem),
        Type::Slice(slice) => innermost(&slice.elem),
        Type::Reference(reference) => innermost(&reference.elem),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            match &last.arguments {
                PathArguments::AngleBracketed(inside) => inside
                    .args
                    .iter()
                    .filter_map(|argument| match argument {
                        GenericArgument::Type(ty) => innermost(ty),
                        _ => None,
                    })
                    .next_back(),
                _ => Some((&last.ident, path)),
            }
        }
        _ => None,
    }
}

/// Replaces the type that is exactly `target` with its marker.
fn replace(ty: &Type, target: &TypePath, marker: &Ident) -> TokenStream {
    let mut ty = ty.clone();
    replace_in(&mut ty, &target.to_token_stream().to_string(), marker);
    ty.into_token_stream()
}

fn replace_in(ty: &mut Type, target: &str, marker: &Ident) {
    match ty {
        Type::Group(group) => replace_in(&mut group.elem, target, marker),
        Type::Paren(paren) => replace_in(&mut paren.elem, target, marker),
        Type::Array(array) => replace_in(&mut array.elem, target, marker),
        Type::Slice(slice) => replace_in(&mut slice.elem, target, marker),
        Type::Reference(reference) => replace_in(&mut reference.elem, target, marker),
        Type::Path(path) => {
            if path.to_token_stream().to_string() == target {
                path.qself = None;
                path.path = marker.clone().into();
                return;
            }
            let Some(last) = path.path.segments.last_mut() else {
                return;
            };
            if let PathArguments::AngleBracketed(list) = &mut last.arguments {
                for argument in &mut list.args {
                    if let GenericArgument::Type(ty) = argument {
                        replace_in(ty, target, marker);
                    }
                }
            }
        }
        _ => {}
    }
}
