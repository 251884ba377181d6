//! Parser of the fn: its header, without `syn`'s `full` feature, and its body as unparsed tokens.
//!
//! An incomplete body (`let x = ; foo.`) is passed on unchanged, so that editors still complete it.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{
    Abi, Attribute, Generics, Ident, Token, Type, Visibility, WhereClause, parenthesized, token,
};

use crate::errors::Errors;
use crate::half::{is_half_typed, without_head};
use crate::tool::texts;

/// A fn with everything that its header can contain, allowed or not.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) constness: Option<Token![const]>,
    pub(crate) asyncness: Option<Token![async]>,
    pub(crate) unsafety: Option<Token![unsafe]>,
    pub(crate) abi: Option<Abi>,
    pub(crate) fn_token: Token![fn],
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) paren: token::Paren,
    pub(crate) params: Vec<Param>,
    pub(crate) output: Option<(Token![->], Type)>,
    pub(crate) where_clause: Option<WhereClause>,
    pub(crate) body: TokenStream,
}

/// A parameter: a named one, or the tokens of a parameter that a tool cannot have.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all values are of the large variant, and few exist"
)]
pub(crate) enum Param {
    /// A parameter `#[…] mut name: Type`.
    Named(Named),
    /// Any other parameter; its error is already reported.
    Other(TokenStream),
}

/// A parameter `#[…] mut name: Type`.
pub(crate) struct Named {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) mutability: Option<Token![mut]>,
    pub(crate) ident: Ident,
    pub(crate) colon: Token![:],
    pub(crate) ty: Type,
}

/// Parses a fn item. Returns `None` if the header cannot be parsed; then at least one error is recorded.
pub(crate) fn parse(item: TokenStream, errors: &Errors) -> Option<Function> {
    let read = (|input: ParseStream<'_>| header(input, errors)).parse2(item);
    match read {
        Ok(function) => Some(function),
        Err(error) => {
            if errors.is_empty() {
                errors.push(error);
            }
            None
        }
    }
}

fn header(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Function> {
    let attrs = input.call(Attribute::parse_outer)?;
    let vis = input.parse()?;
    let constness = input.parse()?;
    let asyncness = input.parse()?;
    let unsafety = input.parse()?;
    let abi = input.parse()?;
    let fn_token = input
        .parse()
        .map_err(|error| syn::Error::new(error.span(), texts::NOT_A_FN))?;
    let ident = input.parse()?;
    let generics = input.parse()?;
    let content;
    let paren = parenthesized!(content in input);
    let params = params(&content, errors)?;
    let output = if input.peek(Token![->]) {
        Some((input.parse()?, input.parse()?))
    } else {
        None
    };
    let where_clause = input.parse()?;
    Ok(Function {
        attrs,
        vis,
        constness,
        asyncness,
        unsafety,
        abi,
        fn_token,
        ident,
        generics,
        paren,
        params,
        output,
        where_clause,
        body: input.parse()?,
    })
}

fn params(input: ParseStream<'_>, errors: &Errors) -> syn::Result<Vec<Param>> {
    let mut params = Vec::new();
    while !input.is_empty() {
        let start = input.cursor().token_stream();
        let read = named(input).and_then(|param| {
            if param.is_err() || input.is_empty() || input.peek(Token![,]) {
                Ok(param)
            } else {
                Err(input.error("expected `,`"))
            }
        });
        match read {
            Ok(Ok(param)) => params.push(Param::Named(param)),
            Ok(Err(refusal)) => {
                skip_to_comma(input)?;
                let tokens = until_comma(start);
                report(refusal, &tokens, errors);
                params.push(Param::Other(tokens));
            }
            Err(error) => {
                skip_to_comma(input)?;
                let tokens = until_comma(start);
                report(error, &tokens, errors);
                params.push(Param::Other(tokens));
            }
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(params)
}

/// Records why a parameter is invalid, unless the parameter is incomplete: rustc has already reported that.
fn report(error: syn::Error, tokens: &TokenStream, errors: &Errors) {
    if is_reported(tokens) {
        errors.reported_by_rustc();
    } else if tokens.clone().into_iter().any(|token| is_self(&token)) {
        errors.at(without_head(tokens.clone()), texts::RECEIVER);
    } else {
        errors.push(error);
    }
}

fn is_reported(tokens: &TokenStream) -> bool {
    let has_receiver = tokens.clone().into_iter().any(|token| is_self(&token));
    !has_receiver && !is_pattern(tokens) && is_half_typed(without_head(tokens.clone()))
}

fn is_self(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(word) if word == "self")
}

/// Returns whether a parameter begins with the pattern `_` or with `...`. Such a parameter has no name, but is complete.
fn is_pattern(tokens: &TokenStream) -> bool {
    let mut tokens = without_head(tokens.clone()).into_iter();
    match tokens.next() {
        Some(TokenTree::Ident(name)) => name == "_",
        Some(first) => [Some(first), tokens.next(), tokens.next()]
            .iter()
            .all(|token| matches!(token, Some(TokenTree::Punct(dot)) if dot.as_char() == '.')),
        None => false,
    }
}

/// Parses a named parameter. The inner result contains the error for a parameter of a different form.
fn named(input: ParseStream<'_>) -> syn::Result<Result<Named, syn::Error>> {
    let attrs = input.call(Attribute::parse_outer)?;
    if let Some(refusal) = refused_shape(input) {
        return Ok(Err(refusal));
    }
    let mutability = input.parse()?;
    let ident = input.parse()?;
    let colon = input.parse()?;
    Ok(Ok(Named {
        attrs,
        mutability,
        ident,
        colon,
        ty: input.parse()?,
    }))
}

/// Refuses receivers, variadics and patterns, each with what to write instead.
fn refused_shape(input: ParseStream<'_>) -> Option<syn::Error> {
    if is_receiver(&input.fork()) {
        return Some(input.error(texts::RECEIVER));
    }
    if input.peek(Token![...]) {
        return Some(
            input.error("a tool has a fixed list of arguments, take a `Vec<T>` instead of `...`"),
        );
    }
    if input.peek(Token![_]) {
        return Some(
            input.error("the model reads the parameter's name, give it one instead of `_`"),
        );
    }
    let ahead = input.fork();
    let plain = ahead.parse::<Option<Token![mut]>>().is_ok()
        && ahead.call(Ident::parse_any).is_ok()
        && ahead.peek(Token![:])
        && !ahead.peek(Token![::]);
    if plain {
        None
    } else {
        Some(input.error("the model reads the parameter's name, write a plain name and destructure the value in the body"))
    }
}

fn is_receiver(ahead: ParseStream<'_>) -> bool {
    let reference = ahead
        .parse::<Option<Token![&]>>()
        .is_ok_and(|and| and.is_some());
    if reference && ahead.peek(syn::Lifetime) && ahead.parse::<syn::Lifetime>().is_err() {
        return false;
    }
    ahead.parse::<Option<Token![mut]>>().is_ok()
        && ahead.peek(Token![self])
        && !ahead.peek2(Token![::])
}

/// Returns the first `Self` that is not in a nested item or a macro call.
fn own_type(tokens: TokenStream) -> Option<TokenTree> {
    let mut in_item = false;
    let mut before = ' ';
    for token in tokens {
        match &token {
            TokenTree::Ident(word) if word == "Self" && !in_item => return Some(token),
            TokenTree::Ident(word)
                if [
                    "impl",
                    "trait",
                    "struct",
                    "enum",
                    "union",
                    "macro_rules",
                    "macro",
                ]
                .iter()
                .any(|item| word == item) =>
            {
                in_item = true;
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => in_item = false,
            TokenTree::Group(group) if in_item => {
                in_item = group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Group(group) if before != '!' => {
                if let Some(found) = own_type(group.stream()) {
                    return Some(found);
                }
            }
            _ => {}
        }
        before = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
    }
    None
}

/// Skips the rest of a parameter. Commas between `<` and `>` belong to its type.
fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    let mut depth = 0_usize;
    while !(input.is_empty() || depth == 0 && input.peek(Token![,])) {
        if input.peek(Token![->]) {
            input.parse::<Token![->]>()?;
            continue;
        }
        depth = deeper(depth, &input.parse()?);
    }
    Ok(())
}

fn until_comma(tokens: TokenStream) -> TokenStream {
    let mut depth = 0_usize;
    let mut before = ' ';
    tokens
        .into_iter()
        .take_while(|token| {
            let punct = match token {
                TokenTree::Punct(punct) => punct.as_char(),
                _ => ' ',
            };
            if !(before == '-' && punct == '>') {
                depth = deeper(depth, token);
            }
            before = punct;
            !(depth == 0 && punct == ',')
        })
        .collect()
}

fn deeper(depth: usize, token: &TokenTree) -> usize {
    match token {
        TokenTree::Punct(punct) if punct.as_char() == '<' => depth + 1,
        TokenTree::Punct(punct) if punct.as_char() == '>' => depth.saturating_sub(1),
        _ => depth,
    }
}

impl Function {
    /// Returns whether rustc has reported a syntax error in the parameters.
    pub(crate) fn is_half_typed(&self) -> bool {
        self.params.iter().any(|param| match param {
            Param::Other(tokens) => is_reported(tokens),
            Param::Named(_) => false,
        })
    }

    /// Returns whether the fn is in an `impl` or a `trait`, as far as its own tokens show.
    pub(crate) fn is_associated(&self) -> bool {
        self.has_receiver() || self.own_type().is_some()
    }

    /// Returns whether the fn takes `self`.
    pub(crate) fn has_receiver(&self) -> bool {
        self.params.iter().any(|param| match param {
            Param::Other(tokens) => tokens.clone().into_iter().any(|token| is_self(&token)),
            Param::Named(_) => false,
        })
    }

    /// Returns the first `Self` in the types of parameters, the return type and the body. In a fn, `Self` is only valid in an `impl` or a `trait`.
    pub(crate) fn own_type(&self) -> Option<TokenTree> {
        let header = self.named().map(|named| named.ty.to_token_stream());
        let output = self.output.iter().map(|(_, ty)| ty.to_token_stream());
        header
            .chain(output)
            .chain([self.body.clone()])
            .find_map(own_type)
    }

    /// Returns the parameters that have names.
    pub(crate) fn named(&self) -> impl Iterator<Item = &Named> {
        self.params.iter().filter_map(|param| match param {
            Param::Named(named) => Some(named),
            Param::Other(_) => None,
        })
    }
}

impl Function {
    /// Generates the fn with these parameters.
    pub(crate) fn with_params(&self, params: &[impl ToTokens]) -> TokenStream {
        let Self {
            attrs,
            vis,
            constness,
            asyncness,
            unsafety,
            abi,
            fn_token,
            ident,
            generics,
            paren,
            output,
            where_clause,
            body,
            ..
        } = self;
        let mut tokens =
            quote!(#(#attrs)* #vis #constness #asyncness #unsafety #abi #fn_token #ident #generics);
        paren.surround(&mut tokens, |tokens| quote!(#(#params),*).to_tokens(tokens));
        if let Some((arrow, ty)) = output {
            quote!(#arrow #ty).to_tokens(&mut tokens);
        }
        quote!(#where_clause #body).to_tokens(&mut tokens);
        tokens
    }
}

/// Generates the fn again, without the attributes that rustc does not accept on parameters, such as doc comments and the attributes of this macro.
impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.with_params(&self.params).to_tokens(tokens);
    }
}

impl ToTokens for Param {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Other(other) => without_attributes(other.clone()).to_tokens(tokens),
            Self::Named(named) => {
                let Named {
                    attrs,
                    mutability,
                    ident,
                    colon,
                    ty,
                } = named;
                for attr in attrs.iter().filter(|attr| belongs_to_the_fn(attr)) {
                    attr.to_tokens(tokens);
                }
                mutability.to_tokens(tokens);
                ident.to_tokens(tokens);
                colon.to_tokens(tokens);
                ty.to_tokens(tokens);
            }
        }
    }
}

/// Returns whether rustc accepts an attribute on a parameter. `cfg` and `cfg_attr` are included, although `split` handles valid ones before.
pub(crate) fn belongs_to_the_fn(attr: &Attribute) -> bool {
    [
        "allow", "expect", "warn", "deny", "forbid", "cfg", "cfg_attr",
    ]
    .iter()
    .any(|word| attr.path().is_ident(word))
}

fn without_attributes(tokens: TokenStream) -> TokenStream {
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_attribute = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#')
            && matches!(tokens.peek(), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket);
        if is_attribute {
            tokens.next();
        } else {
            kept.push(token);
        }
    }
    kept.into_iter().collect()
}
