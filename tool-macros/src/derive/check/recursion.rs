//! A constant cannot hold itself, so a type inside itself is swapped for a marker type whose schema is a reference.
//!
//! Only tokens are swapped: `Option<Box<Node>>` becomes `Option<Box<__NodeAgain>>`, and the impls of `Option` and `Box` do the rest.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::{GenericArgument, PathArguments, Type};

use super::Check;
use crate::derive::model::Marker;
use crate::texts;

impl Check<'_> {
    /// Swaps the type's own name and `Self`.
    pub(super) fn swap(&mut self, ty: TokenStream) -> TokenStream {
        let own = self.own.clone();
        let mut found = None;
        let swapped = swap(ty.clone(), &mut |ident| {
            let hit = *ident == own || ident == "Self";
            hit.then(|| {
                found.get_or_insert_with(|| ident.clone());
                marker_ident(&own)
            })
        });
        match found {
            None => ty,
            Some(place) if self.generic => {
                self.errors.at(place, texts::RECURSIVE_GENERIC);
                ty
            }
            Some(_) => {
                self.mark(&own);
                swapped
            }
        }
    }

    /// Swaps the innermost type of a field under `#[schema(recursive)]`, which encloses this one.
    pub(super) fn swap_innermost(&mut self, ty: &Type, word: &Ident) -> TokenStream {
        let Some(inner) = innermost(ty) else {
            self.errors.at(word, texts::RECURSIVE_TYPE);
            return ty.to_token_stream();
        };
        if inner == "Self" || inner == self.own {
            return self.swap(ty.to_token_stream());
        }
        let inner = inner.clone();
        self.mark(&inner);
        replace_path(ty, &inner)
    }

    fn mark(&mut self, ident: &Ident) {
        let name = ident.unraw().to_string();
        if !self.markers.iter().any(|marker| marker.name == name) {
            self.markers.push(Marker {
                ident: marker_ident(ident),
                name,
            });
        }
    }
}

fn marker_ident(ident: &Ident) -> Ident {
    format_ident!("__{}Again", ident.unraw(), span = ident.span())
}

/// Swaps names that stand alone: not a segment of a longer path, not a lifetime, not the key of `Key = Type`.
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

/// The last segment of the innermost named type: `Folder` of `Option<Box<crate::Folder>>`.
fn innermost(ty: &Type) -> Option<&Ident> {
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
                _ => Some(&last.ident),
            }
        }
        _ => None,
    }
}

/// Replaces the path that ends in exactly this `inner` by its marker.
fn replace_path(ty: &Type, inner: &Ident) -> TokenStream {
    let mut ty = ty.clone();
    replace_in(&mut ty, inner);
    ty.into_token_stream()
}

fn replace_in(ty: &mut Type, inner: &Ident) {
    match ty {
        Type::Group(group) => replace_in(&mut group.elem, inner),
        Type::Paren(paren) => replace_in(&mut paren.elem, inner),
        Type::Array(array) => replace_in(&mut array.elem, inner),
        Type::Slice(slice) => replace_in(&mut slice.elem, inner),
        Type::Reference(reference) => replace_in(&mut reference.elem, inner),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last_mut() else {
                return;
            };
            if let PathArguments::AngleBracketed(list) = &mut last.arguments {
                for argument in &mut list.args {
                    if let GenericArgument::Type(ty) = argument {
                        replace_in(ty, inner);
                    }
                }
            } else if last.ident == *inner {
                path.qself = None;
                path.path = marker_ident(inner).into();
            }
        }
        _ => {}
    }
}
