//! The struct of a tool's arguments, and its impls.
//!
//! ```text
//! /// Arguments of the tool `search_docs`.
//! pub struct search_docs {
//!     /// The text to search for.
//!     pub query: String,
//!     pub limit: u32,
//! }
//! ```
//!
//! A braced struct is only in the type namespace, so it may have the fn's name, and one `use` imports both.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Generics, Ident, Type};

use crate::paths::{ends, respan, underlined};
use crate::reads::{self, nested};
use crate::tool::model::{Decided, Param};

/// A field of the struct.
struct Field<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    /// The alias of its type in generated code.
    alias: Ident,
    /// The wire key; unused for `#[args]`.
    key: &'a str,
    /// Whether it has `as = Type`, so that its own type need not have a schema.
    foreign: bool,
    /// The number of the parameter.
    number: usize,
}

fn fields<'a>(tool: &'a Decided<'a>) -> Vec<Field<'a>> {
    let field = |param: &'a Param<'a>, key: &'a str, foreign| Field {
        ident: param.ident,
        ty: param.ty,
        alias: param.alias(),
        key,
        foreign,
        number: param.number,
    };
    let args = tool.args().map(|param| field(param, "", false));
    let arguments = tool
        .arguments()
        .map(|(param, argument)| field(param, &argument.key, argument.words.as_type.is_some()));
    args.into_iter().chain(arguments).collect()
}

/// Generates the struct, with the rest of the expansion in an attribute. See `beside` in this crate.
pub(crate) fn item(tool: &Decided<'_>, rest: &TokenStream) -> TokenStream {
    let private = tool.paths.private();
    let vis = tool.vis;
    let input = &tool.input;
    let doc = format!("Arguments of the tool `{}`.", tool.name);
    let fields = tool
        .params
        .iter()
        .filter(|param| param.is_sent())
        .map(|param| {
            let ident = param.ident;
            let ty = param.ty;
            let docs = &param.docs;
            let none = docs.is_empty().then(|| quote!(#[doc = "All arguments."]));
            quote!(#none #(#docs)* #vis #ident: #ty)
        });
    // In an `impl`, the error about the struct underlines the fn's name.
    let span = tool.span();
    let mut fields = Group::new(Delimiter::Brace, quote!(#(#fields),*));
    fields.set_span(span);
    let word = Ident::new("struct", span);
    // The fields are as visible as the struct: a `pub` field in a private struct would trigger a lint.
    quote! {
        #[doc = #doc]
        #[allow(
            non_camel_case_types,
            clippy::derive_partial_eq_without_eq,
            clippy::doc_markdown,
            clippy::pub_underscore_fields,
            clippy::struct_excessive_bools,
            clippy::struct_field_names
        )]
        #[#private::beside(#rest)]
        #vis #word #input #fields
    }
}

/// Generates `Record`, `Decode`, `Deserialize`, `Serialize`, `Debug`, `Clone` and `PartialEq`.
pub(crate) fn impls(tool: &Decided<'_>) -> TokenStream {
    let fields = fields(tool);
    let record = record(tool, &fields);
    let decode = decode(tool, &fields);
    let derived = derived(tool);
    quote!(#record #decode #derived)
}

/// Generates `impl Record`:
///
/// ```text
/// impl Record for search_docs {
///     const NAME: &'static str = "search_docs";
///     const KEYS: &'static [&'static str] = &["query", "limit"];
///     type List = (String, (u32, ()));
///     fn refs(&self) -> <Self::List as List>::Refs<'_> { (&self.query, (&self.limit, ())) }
///     fn build((__0, (__1, ())): Self::List) -> Self { Self { query: __0, limit: __1 } }
/// }
/// ```
fn record(tool: &Decided<'_>, fields: &[Field<'_>]) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let name = input.unraw().to_string();
    let keys = fields.iter().map(|field| field.key);
    let names: Vec<_> = fields
        .iter()
        .map(|field| field.ident.unraw().to_string())
        .collect();
    let renamed = fields
        .iter()
        .zip(&names)
        .any(|(field, name)| field.key != name);
    let names = renamed.then(
        || quote!(const FIELDS: &'static [&'static ::core::primitive::str] = &[#(#names),*];),
    );
    let idents: Vec<_> = fields.iter().map(|field| field.ident).collect();
    let types = nested(fields.iter().map(|field| field.alias.to_token_stream()));
    let refs = nested(idents.iter().map(|ident| quote!(&self.#ident)));
    // The names are generated, because a parameter may have the same name as a constant of the user.
    let locals: Vec<Ident> = (0..fields.len())
        .map(|number| format_ident!("__{number}"))
        .collect();
    let pattern = nested(locals.iter().map(|local| quote!(#local)));
    quote! {
        impl #private::Record for #input {
            const NAME: &'static ::core::primitive::str = #name;
            const KEYS: &'static [&'static ::core::primitive::str] = &[#(#keys),*];
            #names
            type List = #types;
            #[allow(clippy::unused_unit, reason = "a tool without arguments has the empty list")]
            fn refs(&self) -> <<Self as #private::Record>::List as #private::List>::Refs<'_> {
                #refs
            }
            fn build(#pattern: <Self as #private::Record>::List) -> Self {
                Self { #(#idents: #locals),* }
            }
        }
    }
}

/// Generates `impl Decode`, `impl Deserialize` and the type that reads each argument:
///
/// ```text
/// type __V0 = Via<{ how(DecodeOf::<__P0>::ASKS, …) }, __P0>;
/// impl Decode for search_docs {
///     fn decode(__reader: &mut Reader<'_>, __node: Node<'_>) -> Result<Self, Unfit> {
///         PartsOf::<(One<__V0>, (One<__V1>, ()))>::read(__reader, __node).map(<Self as Record>::build)
///     }
/// }
/// const _: fn() = can_read::<String, __V0>;
/// ```
fn decode(tool: &Decided<'_>, fields: &[Field<'_>]) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let vias = fields.iter().map(|field| {
        let (alias, how, via) = (&field.alias, how(tool, field), via(field));
        quote!(type #via = #private::read::Via<#how, #alias>;)
    });
    let read = if tool.args().is_some() {
        let Field { ident, alias, .. } = &fields[0];
        let via = via(&fields[0]);
        quote! {
            #private::asks::FieldOf::<#via>::read(__reader, __node).map(|__args: #alias| Self { #ident: __args })
        }
    } else {
        let parts = nested(fields.iter().map(|field| {
            let via = via(field);
            quote!(#private::read::One<#via>)
        }));
        quote!(#private::asks::PartsOf::<#parts>::read(__reader, __node).map(<Self as #private::Record>::build))
    };
    let asks = fields.iter().map(|field| {
        let place = field.ty.to_token_stream();
        let at = Span::call_site().located_at(ends(&place).0);
        let private_at = respan(private.clone(), at);
        let asked = asked(tool, &field.alias, field.ty);
        let via = via(field);
        let ask = underlined(
            quote_spanned!(at=> #private_at::asks::can_read::<#asked, #via>),
            &place,
        );
        quote!(const _: fn() = #ask;)
    });
    let deserialize = reads::deserialize(&tool.paths, input, &Generics::default());
    quote! {
        #(#vias)*
        impl #private::read::Decode for #input {
            fn decode(__reader: &mut #private::read::Reader<'_>, __node: #private::read::Node<'_>) -> #private::Result<Self, #private::read::Unfit> {
                #read
            }
        }
        #(#asks)*
        #deserialize
    }
}

/// Returns the name of the type that reads an argument: `__V0` for `__P0`.
fn via(field: &Field<'_>) -> Ident {
    format_ident!("__V{}", field.number)
}

/// Generates the constant that decides whether `Decode` or `Deserialize` reads an argument.
fn how(tool: &Decided<'_>, field: &Field<'_>) -> TokenStream {
    if field.foreign {
        return quote!(1);
    }
    let how = reads::how(&tool.paths, &field.alias);
    quote!({ #how })
}

/// Generates the alias as a generic argument for which rustc underlines all of `place`, because rustc's errors point at the generic argument.
pub(crate) fn asked(tool: &Decided<'_>, alias: &Ident, place: &impl ToTokens) -> TokenStream {
    let private = tool.paths.private();
    let same = quote!(<#alias as #private::asks::Same>::Type);
    underlined(same, &place.to_token_stream())
}

/// Generates the impls that apply if all fields implement the trait: a bound with a `for<'a>` may be unsatisfied.
fn derived(tool: &Decided<'_>) -> TokenStream {
    let private = tool.paths.private();
    let input = &tool.input;
    let list = quote!(for<'__a> <#input as #private::Record>::List);
    let write = if tool.args().is_some() {
        quote!(write_transparent)
    } else {
        quote!(write_record)
    };
    quote! {
        #[automatically_derived]
        impl ::core::fmt::Debug for #input where #list: #private::DebugList {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #private::debug_record(self, __f)
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for #input where #list: #private::CloneList {
            fn clone(&self) -> Self {
                #private::clone_record(self)
            }
        }
        #[automatically_derived]
        impl ::core::cmp::PartialEq for #input where #list: #private::EqList {
            fn eq(&self, __other: &Self) -> ::core::primitive::bool {
                #private::eq_record(self, __other)
            }
        }
        #[automatically_derived]
        impl #private::Serialize for #input where #list: #private::WriteList {
            fn serialize<__To: #private::Serializer>(&self, __to: __To) -> ::core::result::Result<__To::Ok, __To::Error> {
                #private::#write(self, __to)
            }
        }
    }
}
