//! The struct of the arguments and what it can do by itself.
//!
//! ```text
//! /// Arguments of the tool `search_docs`.
//! pub struct search_docs {
//!     /// What to search for.
//!     pub query: String,
//!     pub limit: u32,
//! }
//! ```
//!
//! A braced struct lives in the type namespace only, so it may have the fn's name, and one `use` imports both.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;
use syn::{Ident, Type};

use crate::tool::model::Tool;

/// A field of the struct.
struct Field<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    /// Its key on the wire; unused for `#[args]`.
    key: &'a str,
    /// `as = Type`: the type need not have a schema itself.
    foreign: bool,
}

fn fields<'a>(tool: &'a Tool<'a>) -> Vec<Field<'a>> {
    let args = tool.args().map(|named| Field {
        ident: &named.ident,
        ty: &named.ty,
        key: "",
        foreign: false,
    });
    let arguments = tool.arguments().map(|(named, argument)| Field {
        ident: &named.ident,
        ty: &named.ty,
        key: &argument.key,
        foreign: argument.words.as_type.is_some(),
    });
    args.into_iter().chain(arguments).collect()
}

/// The struct.
pub(crate) fn item(tool: &Tool<'_>) -> TokenStream {
    let vis = &tool.written.vis;
    let input = &tool.input;
    let doc = format!("Arguments of the tool `{}`.", tool.name);
    let fields = tool
        .params
        .iter()
        .filter(|param| param.is_sent())
        .map(|param| {
            let ident = &param.named.ident;
            let ty = &param.named.ty;
            let mut docs = param
                .named
                .attrs
                .iter()
                .filter(|attr| attr.path().is_ident("doc"))
                .peekable();
            let none = docs
                .peek()
                .is_none()
                .then(|| quote!(#[doc = "All arguments."]));
            quote!(#none #(#docs)* #vis #ident: #ty)
        });
    // As visible as the struct: a `pub` field in a private struct would be a lint of its own.
    quote! {
        #[doc = #doc]
        #[allow(
            non_camel_case_types,
            clippy::derive_partial_eq_without_eq,
            clippy::doc_markdown,
            clippy::struct_excessive_bools,
            clippy::struct_field_names
        )]
        #vis struct #input { #(#fields),* }
    }
}

/// `Deserialize`, `Serialize`, `Debug`, `Clone` and `PartialEq`.
pub(crate) fn impls(tool: &Tool<'_>) -> TokenStream {
    let fields = fields(tool);
    let deserialize = if tool.args().is_some() {
        transparent(tool, &fields)
    } else {
        deserialize(tool, &fields)
    };
    let derived = derived(tool, &fields);
    quote!(#deserialize #derived)
}

/// ```text
/// impl Record for search_docs {
///     const KEYS: &'static [&'static str] = &["query", "limit"];
///     fn read<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
///         let (query, (limit, ())) = read_record(map, Self::KEYS, (<String as Argument>::slot(), (<u32 as Argument>::slot(), ())))?;
///         Ok(Self { query, limit })
///     }
/// }
/// ```
fn deserialize(tool: &Tool<'_>, fields: &[Field<'_>]) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let idents: Vec<_> = fields.iter().map(|field| field.ident).collect();
    let keys = fields.iter().map(|field| field.key);
    // Locals of our own: a parameter may have the name of a constant of the user's.
    let locals: Vec<Ident> = (0..fields.len())
        .map(|number| format_ident!("__{number}"))
        .collect();
    let pattern = nested(locals.iter().map(|local| quote!(#local)));
    let slots = nested(fields.iter().map(|field| {
        let ty = field.ty;
        if field.foreign {
            quote!(#private::slot::<#ty, A>())
        } else {
            quote!(<#ty as #private::Argument>::slot::<A>())
        }
    }));
    quote! {
        impl #private::Record for #input {
            const KEYS: &'static [&'static ::core::primitive::str] = &[#(#keys),*];
            fn read<'de, A: #private::MapAccess<'de>>(map: A) -> ::core::result::Result<Self, A::Error> {
                let #pattern = #private::read_record(map, <Self as #private::Record>::KEYS, #slots)?;
                ::core::result::Result::Ok(Self { #(#idents: #locals),* })
            }
        }
        #[automatically_derived]
        impl<'de> #private::Deserialize<'de> for #input {
            fn deserialize<D: #private::Deserializer<'de>>(from: D) -> ::core::result::Result<Self, D::Error> {
                #private::deserialize_record(from)
            }
        }
    }
}

/// `#[args]`: read and written as the one struct.
fn transparent(tool: &Tool<'_>, fields: &[Field<'_>]) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let Field { ident, ty, .. } = &fields[0];
    quote! {
        #[automatically_derived]
        impl<'de> #private::Deserialize<'de> for #input {
            fn deserialize<D: #private::Deserializer<'de>>(from: D) -> ::core::result::Result<Self, D::Error> {
                <#ty as #private::Argument>::read(from).map(|args| Self { #ident: args })
            }
        }
    }
}

/// What the struct can do where all its fields can: a bound with a `for<'a>` may be untrue.
fn derived(tool: &Tool<'_>, fields: &[Field<'_>]) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let name = input.unraw().to_string();
    let idents: Vec<_> = fields.iter().map(|field| field.ident).collect();
    let names = idents.iter().map(|ident| ident.unraw().to_string());
    let types = distinct(fields);
    let bounds = |bound: TokenStream| quote!(where #(for<'__a> #types: #bound),*);
    let serialize = if tool.args().is_some() {
        quote!(#private::Serialize::serialize(#(&self.#idents)*, to))
    } else {
        let values = nested(idents.iter().map(|ident| quote!(&self.#ident)));
        quote!(#private::write_record(to, #name, <Self as #private::Record>::KEYS, #values))
    };
    let equal = if fields.is_empty() {
        quote!(true)
    } else {
        quote!(#(::core::cmp::PartialEq::eq(&self.#idents, &other.#idents))&&*)
    };
    let [debug, clone, partial_eq, serialise] = [
        quote!(::core::fmt::Debug),
        quote!(::core::clone::Clone),
        quote!(::core::cmp::PartialEq),
        quote!(#private::Serialize),
    ]
    .map(bounds);
    quote! {
        #[automatically_derived]
        impl ::core::fmt::Debug for #input #debug {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #private::debug_record(f, #name, &[#((#names, &self.#idents)),*])
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for #input #clone {
            fn clone(&self) -> Self {
                Self { #(#idents: ::core::clone::Clone::clone(&self.#idents)),* }
            }
        }
        #[automatically_derived]
        impl ::core::cmp::PartialEq for #input #partial_eq {
            fn eq(&self, other: &Self) -> ::core::primitive::bool {
                #equal
            }
        }
        #[automatically_derived]
        impl #private::Serialize for #input #serialise {
            fn serialize<S: #private::Serializer>(&self, to: S) -> ::core::result::Result<S::Ok, S::Error> {
                #serialize
            }
        }
    }
}

/// Each type once, as written: a bound that stands twice costs twice.
fn distinct<'a>(fields: &'a [Field<'a>]) -> Vec<&'a Type> {
    let mut seen = Vec::new();
    let mut types = Vec::new();
    for field in fields {
        let ty = field.ty;
        let text = quote!(#ty).to_string();
        if !seen.contains(&text) {
            seen.push(text);
            types.push(ty);
        }
    }
    types
}

/// `(a, (b, (c, ())))`: one generic impl in the core crate serves every length.
fn nested(items: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    items
        .rev()
        .fold(quote!(()), |rest, item| quote!((#item, #rest)))
}
