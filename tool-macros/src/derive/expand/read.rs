//! Generation of `Decode`, which reads a value from a model's arguments.
//!
//! A type that also implements `Deserialize` is read with that impl, because the user may have written it with stricter rules than the schema.
//! For `#[schema(deserialize)]`, the derive generates `Deserialize` from `Decode`.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Field, Fields, Type};

use super::impls::{self, bounded_by};
use crate::derive::model::{Branch, Decided, Entry, Flow, Name, Payload, Shape, Value};
use crate::reads::{self, nested};
use crate::serde_attr::Serde;
use crate::texts;

/// Generates the impl of `Decode` for a type, and the items that it needs:
///
/// ```text
/// type __V0 = Via<{ how(DecodeOf::<__F0>::ASKS, …) }, __F0>;
/// type __V1 = Via<{ … }, __F1>;
/// impl Decode for Query where for<'__a> (One<__V0>, (One<__V1>, ())): Parts<Values = (__F0, (__F1, ()))> {
///     fn decode(__reader: &mut Reader<'_>, __node: Node<'_>) -> Result<Self, Unfit> {
///         if let Some(__read) = SerdeOf::<Query>::READ {
///             return __read(__reader, __node);
///         }
///         let (__0, (__1, ())) = __reader.fields::<(One<__V0>, (One<__V1>, ()))>(__node, true)?;
///         Ok(Self { text: __0, limit: __1 })
///     }
/// }
/// ```
///
/// The bounds are in a `where` clause with a `for`, so that they may be unsatisfied: a type that is only written need not
/// be readable. No associated type names the types of fields, because a public type may have a field of a private type.
pub(super) fn of(decided: &Decided<'_>) -> TokenStream {
    let mut read = Read {
        decided,
        private: decided.paths.private(),
        markers: TokenStream::new(),
        count: 0,
    };
    let body = read.body();
    read.implementation(body)
}

/// The code that reads the type, and the types that must be readable for it.
struct Body {
    code: TokenStream,
    needs: Vec<TokenStream>,
}

/// The fields of a record, as nested tuples.
struct List {
    parts: TokenStream,
    values: TokenStream,
    /// The pattern `(__0, (__1, ()))`.
    pattern: TokenStream,
    /// The initializers `text: __0, limit: __1`.
    fields: TokenStream,
}

struct Read<'d> {
    decided: &'d Decided<'d>,
    private: TokenStream,
    /// Generated items next to the impl: marker types that read a field or provide its value, and aliases of readers.
    markers: TokenStream,
    count: usize,
}

impl Read<'_> {
    fn implementation(self, body: Option<Body>) -> TokenStream {
        let Self {
            decided,
            private,
            markers,
            ..
        } = self;
        let ident = &decided.input.ident;
        let generics = bounded_by(decided, &quote!(#private::read::Decode));
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        let own = decided.deserialize.as_ref();
        let mut error = None;
        let Body { code, needs } = body.unwrap_or_else(|| {
            let Some(word) = own else {
                return Body {
                    code: quote!(__reader.by_serde(__node)),
                    needs: vec![quote!(Self: #private::read::Owned)],
                };
            };
            error = Some(
                syn::Error::new_spanned(word, texts::DESERIALIZE_BY_SERDE).into_compile_error(),
            );
            // Without a body, a tool that takes the type would cause a second error.
            Body {
                code: quote!(__reader.none()),
                needs: Vec::new(),
            }
        });
        let asks = (own.is_none() && decided.is_generic()).then(|| {
            quote!(
                const ASKS: ::core::primitive::bool = true;
            )
        });
        // For a type with parameters, only the concrete parameters determine whether it implements `Deserialize`, so `decode` does not decide.
        let by_serde = (own.is_none() && !decided.is_generic()).then(|| {
            quote! {
                if let ::core::option::Option::Some(__read) = #private::asks::SerdeOf::<#ident>::READ {
                    return __read(__reader, __node);
                }
            }
        });
        let deserialize = own.map(|_| impls::deserialize(decided));
        let predicates = where_clause.iter().flat_map(|clause| &clause.predicates);
        // This impl consists of tokens, because syn cannot parse blocks in types.
        quote! {
            #error
            #markers
            #[automatically_derived]
            impl #impl_generics #private::read::Decode for #ident #ty_generics
            where
                #(#predicates,)*
                #(for<'__a> #needs,)*
            {
                #asks
                #[allow(deprecated)]
                fn decode(__reader: &mut #private::read::Reader<'_>, __node: #private::read::Node<'_>) -> #private::Result<Self, #private::read::Unfit> {
                    #by_serde
                    #code
                }
            }
            #deserialize
        }
    }

    /// Returns the body of `decode`, or `None` if only an impl of `Deserialize` can read the type.
    fn body(&mut self) -> Option<Body> {
        let private = self.private.clone();
        let decided = self.decided;
        if let Some(other) = decided.serde.reader() {
            // A type that is only written may have a type in serde's attribute that cannot be read.
            if decided.siblings.is_only_written() {
                return None;
            }
            let ty = other.ty()?;
            let field = match &decided.shape {
                Shape::Wrapper(value) if same(&value.ty, &ty) => self.field_of(value, None),
                Shape::IntegerEnum(_) => quote!(#private::read::Via<0, #ty>),
                _ => quote!(#private::read::Via<1, #ty>),
            };
            let convert = if other.word == "from" {
                quote!(|__from| ::core::result::Result::Ok::<Self, ::core::convert::Infallible>(<Self as ::core::convert::From<#ty>>::from(__from)))
            } else if other.word == "try_from" {
                quote!(|__from| <Self as ::core::convert::TryFrom<#ty>>::try_from(__from))
            } else {
                return None;
            };
            let code = quote!(__reader.converted::<#field, Self, _>(__node, #convert));
            let need = quote!(#field: #private::read::Field<Value = #ty>);
            return Some(Body {
                code,
                needs: vec![need],
            });
        }
        match &decided.shape {
            Shape::Record(entries) => {
                let fields = match &decided.input.data {
                    syn::Data::Struct(data) => &data.fields,
                    _ => return None,
                };
                let (code, need) = self.record(fields, entries, &quote!(Self))?;
                Some(Body {
                    code,
                    needs: vec![need],
                })
            }
            Shape::Wrapper(value) => self.wrapper(value),
            Shape::Enum(names) => Some(self.names(names, &quote!(choice))),
            Shape::IntegerEnum(names) => Some(self.names(names, &quote!(integer_choice))),
            Shape::Union(_, branches) => self.union(branches),
        }
    }

    /// Generates the code that reads one of several names or numbers, by the index that the reader returns.
    fn names(&self, names: &[(&Ident, Name)], choice: &TokenStream) -> Body {
        let private = &self.private;
        let arms = names
            .iter()
            .enumerate()
            .map(|(number, (ident, _))| quote!(#number => #private::Result::Ok(Self::#ident),));
        let code = quote! {
            match __reader.#choice(__node)? {
                #(#arms)*
                _ => __reader.none(),
            }
        };
        Body {
            code,
            needs: Vec::new(),
        }
    }

    fn wrapper(&mut self, value: &Value) -> Option<Body> {
        let private = self.private.clone();
        let syn::Data::Struct(data) = &self.decided.input.data else {
            return None;
        };
        if self.decided.stated_as {
            return None;
        }
        let sent = data
            .fields
            .iter()
            .find(|field| !serde_of(field).is_skipped())?;
        let serde = serde_of(sent);
        let field = self.reading(value, &sent.ty, &serde)?;
        let ty = self.real(value, &sent.ty);
        let mut needs = vec![quote!(#field: #private::read::Field<Value = #ty>)];
        let mut inits = Vec::new();
        for (member, field) in data.fields.members().zip(&data.fields) {
            let by_default = serde_of(field).default;
            let path = by_default.and_then(|by_default| by_default.path);
            let value = match path {
                _ if std::ptr::eq(field, sent) => quote!(__inner),
                Some(path) => {
                    let path: syn::ExprPath = path.parse().ok()?;
                    quote!(#path())
                }
                None => {
                    let ty = &field.ty;
                    needs.push(quote!(#ty: ::core::default::Default));
                    quote!(::core::default::Default::default())
                }
            };
            inits.push(quote!(#member: #value));
        }
        let code = quote! {
            let __inner = __reader.inner::<#field>(__node)?;
            #private::Result::Ok(Self { #(#inits),* })
        };
        Some(Body { code, needs })
    }

    fn union(&mut self, branches: &[Branch<'_>]) -> Option<Body> {
        let private = self.private.clone();
        let mut needs = Vec::new();
        let mut arms = TokenStream::new();
        for (number, branch) in branches.iter().enumerate() {
            let ident = branch.ident;
            let arm = match &branch.payload {
                Payload::Nothing => quote!(#private::Result::Ok(Self::#ident)),
                Payload::Value(value) => {
                    let (Fields::Unnamed(fields), 1) = (branch.fields, branch.fields.len()) else {
                        return None;
                    };
                    let original = fields.unnamed.first()?;
                    let mut serde = serde_of(original);
                    serde.other_type.extend(branch.serde.other_type.clone());
                    let field = self.reading(value, &original.ty, &serde)?;
                    let ty = self.real(value, &original.ty);
                    needs.push(quote!(#field: #private::read::Field<Value = #ty>));
                    quote!(__reader.inner::<#field>(__node).map(Self::#ident))
                }
                Payload::Record(entries) => {
                    if branch.serde.reader().is_some() {
                        return None;
                    }
                    let (code, need) =
                        self.record(branch.fields, entries, &quote!(Self::#ident))?;
                    needs.push(need);
                    quote!({ #code })
                }
            };
            arms.extend(quote!(#number => #arm,));
        }
        let code = quote! {
            __reader.variant(__node, |__reader, __number, __node| match __number {
                #arms
                _ => __reader.none(),
            })
        };
        Some(Body { code, needs })
    }

    /// Returns the code that reads a record, and the types that must be readable for it.
    fn record(
        &mut self,
        fields: &Fields,
        entries: &[Entry<'_>],
        constructor: &TokenStream,
    ) -> Option<(TokenStream, TokenStream)> {
        let private = self.private.clone();
        let List {
            parts,
            values,
            pattern,
            fields,
        } = self.list(fields, entries)?;
        let plain = entries.iter().all(|entry| {
            let mut bytes = entry.name.bytes();
            bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let code = quote! {
            let #pattern = __reader.fields::<#parts>(__node, #plain)?;
            #private::Result::Ok(#constructor { #fields })
        };
        Some((
            code,
            quote!(#parts: #private::read::Parts<Values = #values>),
        ))
    }

    /// Lists the fields of a record; `entries` are the fields on the wire.
    fn list(&mut self, fields: &Fields, entries: &[Entry<'_>]) -> Option<List> {
        let private = self.private.clone();
        let mut parts = Vec::new();
        let mut values = Vec::new();
        let mut locals = Vec::new();
        let mut inits = TokenStream::new();
        for (number, field) in fields.iter().enumerate() {
            let ident = field.ident.as_ref()?;
            let local = format_ident!("__{number}");
            let entry = entries
                .iter()
                .find(|entry| std::ptr::eq(entry.original, field));
            let (part, value) = if let Some(entry) = entry {
                (self.part(entry)?, self.real(&entry.value, &field.ty))
            } else {
                let ty = &field.ty;
                let inner = self.never(ty, &serde_of(field))?;
                (
                    quote!(#private::read::Skipped<#inner>),
                    ty.to_token_stream(),
                )
            };
            parts.push(part);
            values.push(value);
            inits.extend(quote!(#ident: #local,));
            locals.push(local.into_token_stream());
        }
        Some(List {
            parts: nested(parts.into_iter()),
            values: nested(values.into_iter()),
            pattern: nested(locals.into_iter()),
            fields: inits,
        })
    }

    /// Returns the type that reads one field.
    fn part(&mut self, entry: &Entry<'_>) -> Option<TokenStream> {
        let private = self.private.clone();
        let original = &entry.original.ty;
        if entry.flatten {
            let ty = self.real(&entry.value, original);
            let field = self.reading(&entry.value, original, &entry.serde)?;
            return Some(quote!(#private::read::Flat<#field, #ty>));
        }
        if entry.flow == Flow::Output {
            let never = self.never(original, &entry.serde)?;
            return Some(quote!(#private::read::One<#never>));
        }
        let field = self.reading(&entry.value, original, &entry.serde)?;
        if entry.default.is_some() || !entry.must_be_optional {
            return Some(quote!(#private::read::One<#field>));
        }
        // An absent key gets the value of serde's `default`, on the field or on its container.
        let stated = entry.serde.default.as_ref();
        let value = match stated.map(|stated| &stated.path) {
            Some(None) => {
                let absent = quote!(#private::read::ByDefault<#original>);
                return Some(quote!(#private::read::One<(#field, #absent)>));
            }
            Some(Some(path)) => {
                let path: syn::ExprPath = path.parse().ok()?;
                quote!(#path())
            }
            None => {
                let this = &self.decided.input.ident;
                let name = entry.original.ident.as_ref()?;
                quote!(<#this as ::core::default::Default>::default().#name)
            }
        };
        let absent = self.absent(original, &value)?;
        Some(quote!(#private::read::One<(#field, #absent)>))
    }

    /// Returns the reader for a field that a model never sends.
    fn never(&mut self, ty: &Type, serde: &Serde) -> Option<TokenStream> {
        let private = self.private.clone();
        let path = serde
            .default
            .as_ref()
            .and_then(|default| default.path.as_ref());
        let absent = match path {
            None => quote!(#private::read::ByDefault<#ty>),
            Some(path) => {
                let path: syn::ExprPath = path.parse().ok()?;
                self.absent(ty, &quote!(#path()))?.into_token_stream()
            }
        };
        Some(quote!((#private::read::Via<2, #ty>, #absent)))
    }

    /// Returns a marker type that provides a value for an absent key; `None` for a type with parameters, which the marker could not name.
    fn absent(&mut self, ty: &Type, value: &TokenStream) -> Option<Ident> {
        if self.decided.is_generic() {
            return None;
        }
        let private = self.private.clone();
        let marker = self.marker();
        let ty = self.outside(ty);
        self.markers.extend(quote! {
            struct #marker;
            impl #private::read::Absent for #marker {
                type Value = #ty;
                fn value() -> #ty {
                    #value
                }
            }
        });
        Some(marker)
    }

    /// Replaces `Self` in a field's type, for code outside of the impl, where `Self` is a different type.
    fn outside(&self, ty: &Type) -> TokenStream {
        fn named(tokens: TokenStream, own: &Ident) -> TokenStream {
            let each = tokens.into_iter().map(|token| match token {
                TokenTree::Ident(ident) if ident == "Self" => TokenTree::Ident(own.clone()),
                TokenTree::Group(group) => {
                    TokenTree::Group(Group::new(group.delimiter(), named(group.stream(), own)))
                }
                other => other,
            });
            each.collect()
        }
        named(ty.to_token_stream(), &self.decided.input.ident)
    }

    fn marker(&mut self) -> Ident {
        self.count += 1;
        format_ident!("__Read{}", self.count - 1)
    }

    /// Returns the reader of a value whose schema is from a different type, or that an attribute of serde reads. `None` if the derive cannot name it.
    fn stated(&mut self, ty: &Type, serde: &Serde) -> Option<TokenStream> {
        let private = self.private.clone();
        let Some(reader) = serde.reader() else {
            return Some(quote!(#private::read::Via<1, #ty>));
        };
        if self.decided.is_generic() || self.decided.siblings.is_only_written() {
            return None;
        }
        let path: syn::ExprPath = reader.path()?;
        let path = if reader.word == "with" {
            quote!(#path::deserialize)
        } else {
            quote!(#path)
        };
        let marker = self.marker();
        let ty = self.outside(ty);
        self.markers.extend(quote! {
            struct #marker;
            impl #private::read::Field for #marker {
                type Value = #ty;
                fn read(__reader: &mut #private::read::Reader<'_>, __node: #private::read::Node<'_>) -> #private::Result<#ty, #private::read::Unfit> {
                    __reader.with(__node, |__from| #path(__from))
                }
            }
        });
        Some(marker.into_token_stream())
    }

    /// Returns the reader of a field's value.
    fn reading(&mut self, value: &Value, original: &Type, serde: &Serde) -> Option<TokenStream> {
        if value.own.is_some() || serde.reader().is_some() {
            return self.stated(original, serde);
        }
        Some(self.field_of(value, Some(original)))
    }

    fn field_of(&mut self, value: &Value, original: Option<&Type>) -> TokenStream {
        let private = self.private.clone();
        let decided = self.decided;
        let ty = &value.ty;
        if decided.is_generic() {
            return quote!(#private::read::Via<0, #ty>);
        }
        if let Some(original) = original
            && self.leads_back(value, original)
        {
            let marker = self.marker();
            let original = self.outside(original);
            self.markers.extend(quote! {
                struct #marker;
                impl #private::read::Field for #marker {
                    type Value = #original;
                    fn read(__reader: &mut #private::read::Reader<'_>, __node: #private::read::Node<'_>) -> #private::Result<#original, #private::read::Unfit> {
                        #private::asks::DecodeOf::<#original>::decode(__reader, __node)
                    }
                }
            });
            return marker.into_token_stream();
        }
        let alias = value.alias();
        let via = format_ident!("__V{}", value.number);
        let how = reads::how(&decided.paths, &alias);
        self.markers
            .extend(quote!(type #via = #private::read::Via<{ #how }, #alias>;));
        via.into_token_stream()
    }

    /// Returns whether a value's type contains this type, so that no bound may mention the value's type.
    fn leads_back(&self, value: &Value, original: &Type) -> bool {
        self.decided.circles.of(value.number).is_some() || !same(&value.ty, original)
    }

    /// Returns the type of a field's values, for bounds.
    fn real(&self, value: &Value, original: &Type) -> TokenStream {
        if self.decided.is_generic() || !same(&value.ty, original) {
            return original.to_token_stream();
        }
        value.alias().into_token_stream()
    }
}

fn serde_of(field: &Field) -> Serde {
    // Errors in the attributes are already reported.
    let errors = crate::errors::Errors::new();
    let serde = Serde::of(&field.attrs, crate::serde_attr::Place::Field, &errors);
    let _ = errors.finish();
    serde
}

fn same(left: &impl ToTokens, right: &impl ToTokens) -> bool {
    left.to_token_stream().to_string() == right.to_token_stream().to_string()
}
