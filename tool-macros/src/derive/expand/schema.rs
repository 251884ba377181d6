//! Generation of the schema tree as a constant expression.

use proc_macro2::TokenStream;
use quote::quote;

use crate::derive::model::{Branch, Decided, Entry, Flow, Name, Payload, Shape, Tagging, Value};

/// Generates a constant for each set of constraints and each default, which the tree and the checks name.
pub(super) fn constants(decided: &Decided<'_>) -> TokenStream {
    let paths = &decided.paths;
    let private = paths.private();
    let mut out = TokenStream::new();
    for site in decided.sites() {
        if let Some(name) = site.value.bounds_name() {
            let tree = site.value.bounds.tree(paths);
            out.extend(quote!(const #name: &#private::Constraints = &#tree;));
        }
        if let Some(default) = site.entry.and_then(|entry| entry.default.as_ref()) {
            let name = site.value.default_name();
            let example = default.example(paths);
            out.extend(quote!(const #name: #private::Example = #example;));
        }
    }
    out
}

/// Generates `&Schema::new(…).named("Name").within(MODULE).described(…).checked_if(__INPUT)`.
pub(super) fn of(decided: &Decided<'_>) -> TokenStream {
    let paths = &decided.paths;
    let private = paths.private();
    let kind = match &decided.shape {
        Shape::Record(entries) => object(decided, entries),
        Shape::Wrapper(value) => {
            let inner = plain(decided, value);
            let bounds = value.bounds_name().map_or_else(
                || quote!(&#private::Constraints::NONE),
                |name| quote!(#name),
            );
            quote!(#private::Kind::Constrained(#inner, #bounds))
        }
        Shape::Enum(values) => {
            let values = values.iter().map(|(_, Name { name, doc })| {
                let doc = doc.text(paths);
                quote!(#private::EnumValue { value: #name, description: #doc })
            });
            quote!(#private::Kind::Enum(&[#(#values),*]))
        }
        Shape::IntegerEnum(values) => {
            let values = values.iter().map(|(ident, Name { name, doc })| {
                let doc = doc.text(paths);
                quote!(#private::IntegerValue { value: Self::#ident as ::core::primitive::i128, name: #name, description: #doc })
            });
            quote!(#private::Kind::IntegerEnum(&[#(#values),*]))
        }
        Shape::Union(tagging, branches) => union(decided, tagging, branches),
    };
    let name = &decided.name;
    let described = (!decided.doc.is_empty()).then(|| {
        let doc = decided.doc.text(paths);
        quote!(.described(#doc))
    });
    let checked = (!decided.is_generic()).then(|| quote!(.checked_if(__INPUT)));
    quote! {
        &#private::Schema::new(#kind).named(#name).within(<Self as #private::StrictSchema>::MODULE) #described #checked
    }
}

/// Generates the schema of a value. In a type with parameters, this is `<Type as StrictSchema>::SCHEMA`. In a type without parameters, it is
/// `NodeOf::<__F0>::NODE`, which also compiles if the value's type has no schema (a separate check of each field reports that), or the node of a
/// `Circle`.
pub(super) fn plain(decided: &Decided<'_>, value: &Value) -> TokenStream {
    let private = decided.paths.private();
    if decided.is_generic() {
        return asked(decided, value);
    }
    let alias = value.alias();
    if let Some(circle) = decided.circles.of(value.number) {
        let question = circle.question(decided, &quote!(#alias));
        quote!(#question::NODE)
    } else {
        quote!(#private::asks::NodeOf::<#alias>::NODE)
    }
}

/// Generates `<Type as StrictSchema>::SCHEMA`.
pub(super) fn asked(decided: &Decided<'_>, value: &Value) -> TokenStream {
    let private = decided.paths.private();
    let ty = &value.ty;
    quote!(<#ty as #private::StrictSchema>::SCHEMA)
}

/// Generates an alias for each type that generated code names.
pub(super) fn aliases(decided: &Decided<'_>) -> TokenStream {
    if decided.is_generic() {
        return TokenStream::new();
    }
    let private = decided.paths.private();
    let aliases = decided.sites();
    let aliases = aliases.iter().map(|site| {
        let (alias, ty) = (site.value.alias(), &site.value.ty);
        quote!(type #alias = #ty;)
    });
    quote! {
        use #private::asks::{NoDecode as _, NoNode as _, NoSerde as _};
        use #private::circle::Open as _;
        #(#aliases)*
    }
}

/// Generates the schema with constraints added.
pub(super) fn bounded(decided: &Decided<'_>, value: &Value) -> TokenStream {
    let private = decided.paths.private();
    let inner = plain(decided, value);
    match value.bounds_name() {
        None => inner,
        Some(name) => quote!(&#private::Schema::new(#private::Kind::Constrained(#inner, #name))),
    }
}

/// Generates `Kind::Object(&[…])`. With flattened fields, only const evaluation knows the length of the array.
fn object(decided: &Decided<'_>, entries: &[Entry<'_>]) -> TokenStream {
    let private = decided.paths.private();
    if !entries.iter().any(|entry| entry.flatten) {
        let fields = entries.iter().map(|entry| field(decided, entry));
        return quote!(#private::Kind::Object(&[#(#fields),*]));
    }
    let parts = entries.iter().map(|entry| {
        if entry.flatten {
            let inner = plain(decided, &entry.value);
            quote!(#private::Flat::Inner(#inner))
        } else {
            let field = field(decided, entry);
            quote!(#private::Flat::One(#field))
        }
    });
    quote! {
        #private::Kind::Object({
            const PARTS: &[#private::Flat] = &[#(#parts),*];
            const FIELDS: [#private::Field; #private::flat_len(PARTS)] = #private::flatten(PARTS);
            &FIELDS
        })
    }
}

/// Generates `Field::new("key", Text::escaped("…"), …).default_value(…)`.
fn field(decided: &Decided<'_>, entry: &Entry<'_>) -> TokenStream {
    let paths = &decided.paths;
    let private = paths.private();
    let Entry { name, out_name, .. } = entry;
    let doc = entry.doc.text(paths);
    let schema = bounded(decided, &entry.value);
    let mut field = quote!(#private::Field::new(#name, #doc, #schema));
    if entry.default.is_some() {
        let default = entry.value.default_name();
        field.extend(quote!(.default_value(#default)));
    }
    if out_name != name {
        field.extend(quote!(.out_name(#out_name)));
    }
    match entry.flow {
        Flow::Both => {}
        Flow::Input => field.extend(quote!(.input_only())),
        Flow::Output => field.extend(quote!(.output_only())),
    }
    if let Some(form) = &entry.audit {
        field.extend(form.call(paths));
    }
    if entry.may_skip {
        field.extend(quote!(.may_skip()));
    }
    if entry.null_if_absent {
        field.extend(quote!(.null_if_absent()));
    }
    field
}

fn union(decided: &Decided<'_>, tagging: &Tagging, branches: &[Branch<'_>]) -> TokenStream {
    let paths = &decided.paths;
    let private = paths.private();
    let tagging = match tagging {
        Tagging::External => quote!(#private::Tagging::External),
        Tagging::Internal(tag) => quote!(#private::Tagging::Internal { tag: #tag }),
        Tagging::Adjacent(tag, content) => {
            quote!(#private::Tagging::Adjacent { tag: #tag, content: #content })
        }
        Tagging::Untagged => quote!(#private::Tagging::Untagged),
    };
    let variants = branches.iter().map(|branch| {
        let Name { name, doc } = &branch.name;
        let doc = doc.text(paths);
        let schema = match &branch.payload {
            Payload::Nothing => quote!(::core::option::Option::None),
            Payload::Value(value) => {
                let schema = bounded(decided, value);
                quote!(::core::option::Option::Some(#schema))
            }
            Payload::Record(entries) => {
                let object = object(decided, entries);
                quote!(::core::option::Option::Some(&#private::Schema::new(#object)))
            }
        };
        quote!(#private::Variant { name: #name, description: #doc, schema: #schema })
    });
    quote!(#private::Kind::Union(#private::Union { tagging: #tagging, variants: &[#(#variants),*] }))
}
