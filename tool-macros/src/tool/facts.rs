//! The facts of a tool that its options state, and the generation of code from them.
//!
//! An option that is a fact of the tool needs a field here, and a row in the table of options (`parse/options.rs`).

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{LitStr, Path};

use crate::docs::escape;
use crate::paths::{Paths, ends, underlined};
use crate::tool::parse::options::Options;
use crate::tool::parse::values::{Approval, Example, Predicate, Timeout};

/// The facts that a tool's options state.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option that is a single word"
)]
pub(crate) struct Facts<'a> {
    title: Option<&'a LitStr>,
    category: String,
    tags: &'a [LitStr],
    aliases: &'a [LitStr],
    pub(crate) examples: &'a [Example],
    approval: Option<&'a Approval>,
    pub(crate) to_model_output: Option<&'a Path>,
    timeout: Option<&'a Timeout>,
    sequential: bool,
    harness: bool,
    output_limit: Option<&'a TokenStream>,
    pub(crate) read_only: bool,
    destructive: bool,
    idempotent: bool,
    open_world: bool,
    /// The names of variants of `Dialect`; `None` for all providers.
    providers: Option<&'a [&'static str]>,
}

impl<'a> Facts<'a> {
    /// Decides the facts, with the defaults of options that are not written.
    pub(super) fn decide(options: &'a Options) -> Self {
        let category = options.category.as_ref();
        Self {
            title: options.title.as_ref(),
            category: category.map_or_else(|| "general".to_owned(), LitStr::value),
            tags: options.tags.as_deref().unwrap_or_default(),
            aliases: &options.aliases,
            examples: &options.examples,
            approval: options.approval.as_ref(),
            to_model_output: options.to_model_output.as_ref(),
            timeout: options.timeout.as_ref(),
            sequential: options.sequential.is_some(),
            harness: options.harness.is_some(),
            output_limit: options.output_limit.as_ref(),
            read_only: options.read_only.is_some(),
            destructive: options.destructive.is_some(),
            idempotent: options.idempotent.is_some(),
            open_world: options.open_world.is_some(),
            providers: options.providers.as_deref(),
        }
    }

    /// Generates the fields `category`, `tags` and `aliases` of `StaticDef`.
    pub(super) fn listing(&self) -> TokenStream {
        let (category, tags, aliases) = (&self.category, self.tags, self.aliases);
        quote! {
            category: #category,
            tags: &[#(#tags),*],
            aliases: &[#(#aliases),*],
        }
    }

    /// Generates the fields `approval`, `timeout`, `sequential` and `harness` of `StaticDef`.
    pub(super) fn handling(&self, paths: &Paths, input: &Ident) -> TokenStream {
        let approval = self.approval(paths, input);
        let timeout = self.timeout(paths);
        let (sequential, harness) = (self.sequential, self.harness);
        quote! {
            approval: #approval,
            timeout: #timeout,
            sequential: #sequential,
            harness: #harness,
        }
    }

    /// Generates the field `output_limit` of `StaticDef`.
    pub(super) fn limits(&self) -> TokenStream {
        let output_limit = option(self.output_limit);
        quote!(output_limit: #output_limit,)
    }

    /// Generates the title as `Option<Text>`.
    pub(super) fn title(&self, paths: &Paths) -> TokenStream {
        text(self.title, paths)
    }

    /// Generates each example as `ToolExample { … }`.
    pub(super) fn examples(&self, paths: &Paths) -> impl Iterator<Item = TokenStream> {
        let private = paths.private();
        self.examples.iter().map(move |example| {
            let label = text(example.label.as_ref(), paths);
            let input = example.input.example(paths);
            let result = example.result.as_ref().map(|result| result.example(paths));
            let result = option(result);
            quote!(#private::ToolExample { label: #label, input: #input, result: #result })
        })
    }

    /// Generates `Dialects::ALL`, or the dialects of `providers(…)`.
    pub(super) fn providers(&self, paths: &Paths) -> TokenStream {
        let private = paths.private();
        match self.providers {
            None => quote!(#private::Dialects::ALL),
            Some(names) => {
                let names = names.iter().map(|name| format_ident!("{name}"));
                quote!(#private::Dialects::NONE #(.with(#private::Dialect::#names))*)
            }
        }
    }

    /// Generates the declared effects.
    pub(super) fn declared(&self, paths: &Paths) -> TokenStream {
        let private = paths.private();
        let Self {
            read_only,
            destructive,
            idempotent,
            open_world,
            ..
        } = self;
        if ![read_only, destructive, idempotent, open_world].contains(&&true) {
            return quote!(#private::Declared::NONE);
        }
        quote! {
            #private::Declared {
                read_only: #read_only,
                destructive: #destructive,
                idempotent: #idempotent,
                open_world: #open_world,
            }
        }
    }

    /// Generates `Approval::…`. A predicate is a fn of the typed arguments and the context.
    fn approval(&self, paths: &Paths, input: &Ident) -> TokenStream {
        let private = paths.private();
        match self.approval {
            None => quote!(#private::Approval::ByEffect),
            Some(Approval::Always) => quote!(#private::Approval::Always),
            Some(Approval::When(predicate)) => {
                let (fn_name, place, value) = match predicate {
                    Predicate::Path(path) => {
                        let place = path.to_token_stream();
                        let picked = quote!(#private::PredicateOf::<#input, _>::of(#path).picked());
                        ("predicate_path", place.clone(), underlined(picked, &place))
                    }
                    Predicate::Closure(closure) => ("predicate", closure.clone(), closure.clone()),
                };
                // rustc reports a wrong type of the predicate at the predicate.
                let (first, _) = ends(&place);
                let private_at = paths.private_at(first);
                let fn_name = Ident::new(fn_name, first);
                let path = underlined(
                    quote_spanned!(first=> #private_at::#fn_name::<#input, _>),
                    &place,
                );
                quote!(#private::Approval::When(|__text, __cx| #path(__text, __cx, #value)))
            }
        }
    }

    fn timeout(&self, paths: &Paths) -> TokenStream {
        let private = paths.private();
        option(self.timeout.map(|timeout| match timeout {
            Timeout::Millis(millis) => quote!(#private::Duration::from_millis(#millis)),
            Timeout::Expr(expr) => expr.clone(),
        }))
    }
}

/// Generates a text as `Option<Text>`.
fn text(text: Option<&LitStr>, paths: &Paths) -> TokenStream {
    let private = paths.private();
    option(text.map(|text| {
        let text = escape(&text.value());
        quote!(#private::Text::escaped(#text))
    }))
}

/// Generates the expression `Some(…)` or `None`.
pub(super) fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        None => quote!(::core::option::Option::None),
        Some(value) => quote!(::core::option::Option::Some(#value)),
    }
}
