//! The options of `#[tool(…)]`: one table, from which the parser, the list of known options and the conflicts are derived.

use proc_macro2::{Ident, TokenStream};
use syn::{LitStr, Path};

use crate::allow::{Allowed, TOOL_RULES};
use crate::case::Case;
use crate::constraint::value_of;
use crate::errors::Errors;
use crate::paths::Paths;
use crate::tool::parse::need::{Secret, Variable};
use crate::tool::parse::values::{
    Approval, Example, Timeout, approval, case, example, output_limit, parens, providers, text,
    texts_of, timeout,
};
use crate::tool::texts;
use crate::words::{in_tokens, once, unknown};

/// Defines [`Options`], its parser, [`WORDS`] and [`Options::check_conflicts`] from the rows of the table.
///
/// A row is `"word" => field: Type = value;`, where `value` reads the tokens after the word. The type determines how often the option may occur: see
/// [`Slot`]. `, unless other => text` after the value refuses the option together with the option in the field `other`.
macro_rules! options {
    (
        ($word:ident, $input:ident, $errors:ident)
        $(
            $(#[$doc:meta])+
            $option:literal => $field:ident: $ty:ty = $value:expr
            $(, unless $other:ident => $text:expr)?;
        )+
    ) => {
        /// The names of the options.
        pub(super) const WORDS: &[&str] = &[$($option),+];

        /// The options of one `#[tool(…)]`, as parsed.
        #[derive(Default)]
        pub(crate) struct Options {
            $($(#[$doc])+ pub(crate) $field: $ty,)+
        }

        impl Options {
            /// Reads the tokens after an option.
            fn take(
                &mut self,
                $word: &Ident,
                $input: syn::parse::ParseStream<'_>,
                $errors: &Errors,
            ) -> syn::Result<()> {
                match &*$word.to_string() {
                    $($option => {
                        let value = $value;
                        self.$field.put($word, value)
                    })+
                    _ => Err(unknown($word, WORDS)),
                }
            }

            /// Refuses options that contradict each other.
            pub(crate) fn check_conflicts(&self, errors: &Errors) {
                $($(
                    if let (Some(_), Some(word)) = (&self.$other, &self.$field) {
                        errors.at(word, $text);
                    }
                )?)+
            }
        }
    };
}

options! {
    (word, input, errors)

    /// `name = "search_docs"`: the name by which a model calls the tool, instead of the fn's.
    "name" => name: Option<LitStr> = text(input)?;
    /// `alias = "find_docs"`: an earlier name of the tool.
    "alias" => aliases: Vec<LitStr> = text(input)?;
    /// `title = "Search the docs"`: the name that people read.
    "title" => title: Option<LitStr> = text(input)?;
    /// `category = "search"`: the category in lists of tools.
    "category" => category: Option<LitStr> = text(input)?;
    /// `tags("docs", "search")`: additional terms by which a search finds the tool.
    "tags" => tags: Option<Vec<LitStr>> = texts_of(input)?;
    /// `example("Label", { … } => { … })`: a call and its result.
    "example" => examples: Vec<Example> = example(input)?;
    /// `approval` or `approval = asks`: the calls that a person must approve.
    "approval" => approval: Option<Approval> = approval(input)?;
    /// `to_model_output = summary`: the fn that returns the output for the model.
    "to_model_output" => to_model_output: Option<Path> = value_of(input)?;
    /// `timeout = "5s"`: the time after which a call is ended.
    "timeout" => timeout: Option<Timeout> = timeout(input)?;
    /// `sequential`: no other call of the turn runs at the same time.
    "sequential" => sequential: Option<Ident> = word.clone();
    /// `harness`: the tool belongs to the program that runs the agent.
    "harness" => harness: Option<Ident> = word.clone();
    /// `output_limit = 4096`: the maximum number of bytes of an output.
    "output_limit" => output_limit: Option<TokenStream> = output_limit(input)?;
    /// `read_only`: a call changes nothing.
    "read_only" => read_only: Option<Ident> = word.clone();
    /// `destructive`: a call may delete or overwrite data.
    "destructive" => destructive: Option<Ident> = word.clone(), unless read_only => texts::READ_AND_DESTROY;
    /// `idempotent`: a repeated call changes nothing further.
    "idempotent" => idempotent: Option<Ident> = word.clone();
    /// `open_world`: a call reaches systems outside of the host.
    "open_world" => open_world: Option<Ident> = word.clone();
    /// `providers(openai, anthropic)`: the providers to which the tool is offered, as the names of variants of `Dialect`.
    "providers" => providers: Option<Vec<&'static str>> = providers(input)?;
    /// `secret("key", …)`: a secret that the fn reads from its context.
    "secret" => secrets: Vec<Secret> = Secret::parse(parens(input)?, word, false, errors)?;
    /// `variable("NAME", …)`: a variable that the fn reads from its context.
    "variable" => variables: Vec<Variable> = Variable::parse(parens(input)?, word, false, errors)?;
    /// `rename_all = "camelCase"`: the naming convention of the arguments.
    "rename_all" => rename_all: Option<Case> = case(input)?;
    /// `input = SearchInput`: the name of the arguments' struct, instead of the fn's.
    "input" => input: Option<Ident> = value_of(input)?;
    /// `allow(rule, …)`: warnings that are silenced.
    "allow" => allow: Allowed = Allowed::parse(input, TOOL_RULES)?;
    /// `crate = my_crate::tool_core`: the path of tool-core.
    "crate" => paths: Option<Paths> = Paths::parse(input)?;
}

impl Options {
    /// Reads the attribute; adds every error to `errors`.
    pub(crate) fn parse(attr: TokenStream, errors: &Errors) -> Self {
        let mut options = Self::default();
        in_tokens(attr, errors, |word, input| {
            options.take(word, input, errors)
        });
        options
    }

    /// Returns the path of tool-core that the attribute states, even if the attribute has errors.
    pub(crate) fn paths_of(attr: TokenStream) -> Paths {
        let quiet = Errors::new();
        let paths = Self::parse(attr, &quiet).paths();
        drop(quiet.finish());
        paths
    }

    /// Returns the path of tool-core for generated code.
    pub(crate) fn paths(&self) -> Paths {
        self.paths.clone().unwrap_or_default()
    }
}

/// A field of [`Options`]. Its type determines how often the option may occur.
trait Slot {
    type Value;

    fn put(&mut self, word: &Ident, value: Self::Value) -> syn::Result<()>;
}

/// An option that may occur at most once.
impl<T> Slot for Option<T> {
    type Value = T;

    fn put(&mut self, word: &Ident, value: T) -> syn::Result<()> {
        once(self, word, value)
    }
}

/// An option that may occur any number of times.
impl<T> Slot for Vec<T> {
    type Value = T;

    fn put(&mut self, _: &Ident, value: T) -> syn::Result<()> {
        self.push(value);
        Ok(())
    }
}

/// An option that may occur any number of times, each time with a list.
impl Slot for Allowed {
    type Value = Self;

    fn put(&mut self, _: &Ident, value: Self) -> syn::Result<()> {
        self.extend(value);
        Ok(())
    }
}
