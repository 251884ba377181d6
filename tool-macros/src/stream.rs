//! Front end of `tool_stream!`: reports code that the body must not contain, at its token, and passes the rest to async-stream.
//!
//! ```text
//! tool_stream! { yield Step::Started; let pages = fetch().await?; Report::from(pages) }
//! // becomes
//! private::generator(OutputSlot::new(), |__output| private::async_stream::try_stream! {
//!     if false { yield __output.step(); }
//!     __output.set({ use private::Tried as _; yield { Step::Started }; let pages = fetch().await.__tried()?; Report::from(pages) });
//! })
//! ```
//!
//! Only tokens are read, so rustc reports the syntax errors of a body. async-stream rewrites
//! `?` without the user's span, so the conversion to `ToolError` is generated here, with that span.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::errors::Errors;
use crate::paths::private;

const RETURN: &str = "`return` would end the stream without its output, make the output the last expression, or end it with an error: `Err(ToolError::new(\"…\"))?`";
const NO_OUTPUT: &str = "the stream has no output, write it as the last expression, without `;`";
const YIELD_LAST: &str =
    "`yield` reports progress and the last expression is the output, write it without `yield`";
const YIELD_INSIDE: &str = "`yield` reaches the stream from its own body only, not from a closure, an `async` block or a fn inside of it: write a loop, such as `for item in items { yield item; }`";
const TRY_IN_MACRO: &str =
    "`?` cannot be used inside a macro call in `tool_stream!`, bind it with `let` before the call";

/// Expands the macro. The first token tree is a group with the path of tool-core.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut input = input.into_iter();
    let core = if let Some(TokenTree::Group(group)) = input.next() {
        group.stream()
    } else {
        quote!(::tool_core)
    };
    let private = private(Span::call_site());
    let body: Vec<TokenTree> = input.collect();
    let errors = Errors::new();
    check_output(&body, &errors);
    let mut scrub = BodyRewriter {
        errors: &errors,
        tries: false,
        yields: Vec::new(),
    };
    let body = scrub.scrub(body, false);
    // async-stream gives the `.await` of each step the span of its macro call. rustc underlines this span if a value that is not
    // `Send`, such as a lock guard, is alive during the `.await`. The span is exact only for a stream with a single `yield`.
    let place = match &*scrub.yields {
        [one] => *one,
        _ => Span::call_site(),
    };
    // async-stream converts the error of a `?` with `.into()`, which fails without a prelude.
    let tried = scrub.tries.then(|| {
        quote! {
            #[allow(unused_imports)]
            use ::core::convert::Into as _;
            use #core::#private::Tried as _;
        }
    });
    if let Err(error) = errors.finish() {
        // `no_stream` returns a stream of any type, so that the surrounding fn causes no further error.
        return quote!({ #error #core::#private::no_stream() });
    }
    let output = Ident::new("__output", Span::mixed_site());
    let stream = at_place(quote!(#core::#private::async_stream::try_stream!), place);
    let inner = quote! {
        if false {
            yield #output.step();
        }
        #output.set({ #tried #body });
    };
    let mut inner = Group::new(Delimiter::Brace, inner);
    inner.set_span(Span::call_site().located_at(place));
    let generator = at_place(quote!(#core::#private::generator), place);
    quote! {
        #generator(#core::#private::OutputSlot::new(), |#output| #stream #inner)
    }
}

/// Moves the tokens to a different span, and keeps their name resolution.
fn at_place(tokens: TokenStream, place: Span) -> TokenStream {
    let moved = tokens.into_iter().map(|mut token| {
        token.set_span(token.span().located_at(place));
        token
    });
    moved.collect()
}

/// Checks that the body ends with an expression, the output, and that this expression is not a `yield`.
fn check_output(body: &[TokenTree], errors: &Errors) {
    match body.last() {
        None => errors.at_span(Span::call_site(), NO_OUTPUT),
        Some(last @ TokenTree::Punct(punct)) if punct.as_char() == ';' => {
            // A `return` in the last statement has its own error, with the same advice.
            let mut statement = body
                .iter()
                .rev()
                .skip(1)
                .take_while(|token| !is_punct(token, ';'));
            if !statement.any(|token| is_word(token, "return")) {
                errors.at(last, NO_OUTPUT);
            }
        }
        Some(_) => {}
    }
    let last = body
        .iter()
        .rposition(|token| is_punct(token, ';'))
        .map_or(0, |at| at + 1);
    if let Some(token) = body.get(last)
        && is_word(token, "yield")
    {
        errors.at(token, YIELD_LAST);
    }
}

struct BodyRewriter<'a> {
    errors: &'a Errors,
    /// Whether the body contains a `?`.
    tries: bool,
    /// The position of each `yield`.
    yields: Vec<Span>,
}

impl BodyRewriter<'_> {
    /// Rewrites the tokens that run in the stream itself, and skips closures, `async` blocks and inner fns.
    fn scrub(&mut self, tokens: Vec<TokenTree>, in_macro: bool) -> TokenStream {
        let mut out: Vec<TokenTree> = Vec::with_capacity(tokens.len());
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(word) if word == "return" => {
                    self.errors.at(&word, RETURN);
                    out.push(word.into());
                }
                TokenTree::Ident(word) if word == "yield" => {
                    self.yields.push(word.span());
                    out.push(word.into());
                    let mut step = Vec::new();
                    while let Some(token) = tokens.next_if(|token| !is_punct(token, ';')) {
                        step.push(token);
                    }
                    // Without `;`, or with a comma as in an arm of a `match`, the tokens do not show where the step ends.
                    let ends = tokens.peek().is_some() && !step.is_empty();
                    let ends = ends && !step.iter().any(|token| is_punct(token, ','));
                    let step = self.scrub(step, in_macro);
                    if ends {
                        // With its own block, a step of the wrong type is reported at the step. Without it, rustc reports a wrong
                        // argument of the `Ok(…)` that async-stream generates, and points into the source of the standard library.
                        out.push(Group::new(Delimiter::Brace, step).into());
                    } else {
                        out.extend(step);
                    }
                }
                TokenTree::Ident(word) if word == "async" || word == "fn" => {
                    let start = out.len();
                    out.push(word.into());
                    // `async move { … }`, `async || { … }`, `fn inner(…) -> … { … }`
                    while let Some(token) = tokens.next_if(|token| !is_punct(token, ';')) {
                        let ends = is_block(&token);
                        out.push(token);
                        if ends {
                            break;
                        }
                    }
                    self.no_yield(&out[start..]);
                }
                TokenTree::Punct(bar) if bar.as_char() == '|' && starts_expression(out.last()) => {
                    let start = out.len();
                    out.push(bar.into());
                    skip_closure(&mut tokens, &mut out);
                    self.no_yield(&out[start..]);
                }
                TokenTree::Punct(question)
                    if question.as_char() == '?' && ends_expression(out.last()) =>
                {
                    if in_macro {
                        self.errors.at(&question, TRY_IN_MACRO);
                    }
                    self.tries = true;
                    // The span has the user's position, but is marked as generated, so that lints skip it.
                    let span = Span::call_site().located_at(question.span());
                    out.extend(quote_spanned!(span=> .__tried()));
                    out.push(question.into());
                }
                TokenTree::Group(group) => {
                    let called = out.last().is_some_and(|token| is_punct(token, '!'));
                    let inner =
                        self.scrub(group.stream().into_iter().collect(), in_macro || called);
                    let mut scrubbed = Group::new(group.delimiter(), inner);
                    scrubbed.set_span(group.span());
                    out.push(scrubbed.into());
                }
                other => out.push(other),
            }
        }
        out.into_iter().collect()
    }

    /// Refuses a `yield` in code that does not run in the stream itself.
    fn no_yield(&self, tokens: &[TokenTree]) {
        if let Some(word) = first_yield(tokens.iter().cloned()) {
            self.errors.at(word, YIELD_INSIDE);
        }
    }
}

/// Returns the first `yield` that is not in a macro call such as `tool_stream!`.
pub(crate) fn first_yield(tokens: impl IntoIterator<Item = TokenTree>) -> Option<Ident> {
    let mut called = false;
    for token in tokens {
        match &token {
            TokenTree::Ident(word) if word == "yield" => return Some(word.clone()),
            TokenTree::Group(group) if !called => {
                if let Some(found) = first_yield(group.stream()) {
                    return Some(found);
                }
            }
            _ => {}
        }
        called = is_punct(&token, '!');
    }
    None
}

/// Moves the rest of a closure to `out`, after its first `|`: the parameters and the body.
fn skip_closure(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = TokenTree>>,
    out: &mut Vec<TokenTree>,
) {
    for token in tokens.by_ref() {
        let ends = is_punct(&token, '|');
        out.push(token);
        if ends {
            break;
        }
    }
    // A block is the whole body; after `-> Type`, the body must be a block.
    let mut until_block = false;
    if let Some(token) = tokens.next_if(|token| is_block(token) || is_punct(token, '-')) {
        until_block = !is_block(&token);
        out.push(token);
        if !until_block {
            return;
        }
    }
    while let Some(token) =
        tokens.next_if(|token| until_block || !(is_punct(token, ',') || is_punct(token, ';')))
    {
        let ends = until_block && is_block(&token);
        out.push(token);
        if ends {
            break;
        }
    }
}

fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn is_word(token: &TokenTree, text: &str) -> bool {
    matches!(token, TokenTree::Ident(word) if word == text)
}

fn is_block(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// Returns whether an expression may start after this token; a `|` there starts a closure.
fn starts_expression(before: Option<&TokenTree>) -> bool {
    match before {
        None => true,
        Some(TokenTree::Punct(punct)) => !matches!(punct.as_char(), '?' | '|'),
        Some(TokenTree::Ident(word)) => [
            "move", "return", "break", "in", "else", "match", "if", "while", "yield", "static",
        ]
        .iter()
        .any(|keyword| word == keyword),
        Some(_) => false,
    }
}

/// Returns whether this token may end an expression; a `?` after it is the operator, not a bound.
fn ends_expression(before: Option<&TokenTree>) -> bool {
    match before {
        None => false,
        Some(TokenTree::Punct(punct)) => punct.as_char() == '?',
        Some(_) => true,
    }
}
