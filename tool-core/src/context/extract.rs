//! Traits of parameters that the host supplies.

use std::any::type_name;

use secrecy::SecretString;

use super::ToolContext;
use crate::effect::Effect;
use crate::error::ToolError;

/// A value that the host supplies to a tool, as a parameter `index: &DocIndex` or `#[context] index: DocIndex`.
///
/// The type is owned and cheap to clone, such as a handle.
///
/// ```
/// use std::sync::Arc;
/// use tool_core::{Effect, FromContext, ToolContext, ToolError};
///
/// #[derive(Clone)]
/// struct DocIndex(Arc<Vec<String>>);
///
/// impl FromContext for DocIndex {
///     const EFFECT: Effect = Effect::READ;
///
///     fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
///         cx.extension().ok_or_else(|| ToolError::unavailable("the index of documents"))
///     }
/// }
///
/// let cx = ToolContext::builder().with(DocIndex(Arc::default())).build();
/// assert!(cx.get::<DocIndex>().is_ok());
/// assert!(ToolContext::anonymous().get::<DocIndex>().is_err());
/// assert!(ToolContext::anonymous().get::<Option<DocIndex>>().unwrap().is_none());
/// ```
#[diagnostic::on_unimplemented(
    message = "the host cannot supply `{Self}`",
    label = "not a host value",
    note = "write `&tool_core::Reads<…>` with the type in the brackets if the tool only reads the value, or `&tool_core::Writes<…>` if it changes it",
    note = "or make a type of your own crate a host value: `tool_core::host_value!({Self}, tool_core::Effect::READ);`",
    note = "a parameter that the model fills in is taken by value, without `&` and without `#[context]`"
)]
#[doc(alias("dependency injection", "Depends", "State", "extractor"))]
pub trait FromContext: Sized {
    /// The effect of a tool that takes this value. Implementations must set it.
    const EFFECT: Effect;

    /// Whether the value's whole effect consists of calls, each of which passes the gate itself.
    #[doc(hidden)]
    const ONLY_CALLS: bool = false;

    /// Returns the value from the context.
    fn from_context(cx: &ToolContext) -> Result<Self, ToolError>;
}

impl FromContext for ToolContext {
    const EFFECT: Effect = Effect::NONE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self {
            // Inside of a call, the context of the tool provides no access to host values.
            open: cx.scope().is_none(),
            ..cx.clone()
        })
    }
}

/// Returns `None` if the value cannot be taken from the context.
impl<T: FromContext> FromContext for Option<T> {
    const EFFECT: Effect = T::EFFECT;
    const ONLY_CALLS: bool = T::ONLY_CALLS;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        Ok(T::from_context(cx).ok())
    }
}

/// Makes a type a host value: a tool can take as a parameter the value that [`ToolContextBuilder::with`](crate::ToolContextBuilder::with) added.
///
/// ```
/// use tool_core::{Effect, ToolContext};
///
/// #[derive(Clone)]
/// struct Clock;
/// tool_core::host_value!(Clock, Effect::READ);
///
/// assert!(ToolContext::builder().with(Clock).build().get::<Clock>().is_ok());
/// ```
#[doc(alias("shared state", "dependency injection", "State"))]
#[macro_export]
macro_rules! host_value {
    ($type:ty, NONE $(,)?) => {
        $crate::host_value!(@bare $type, NONE);
    };
    ($type:ty, READ $(,)?) => {
        $crate::host_value!(@bare $type, READ);
    };
    ($type:ty, WRITE $(,)?) => {
        $crate::host_value!(@bare $type, WRITE);
    };
    ($type:ty, DESTROY $(,)?) => {
        $crate::host_value!(@bare $type, DESTROY);
    };
    ($type:ty, EXTERNAL $(,)?) => {
        $crate::host_value!(@bare $type, EXTERNAL);
    };
    ($type:ty, ALL $(,)?) => {
        $crate::host_value!(@bare $type, ALL);
    };
    ($type:ty, $effect:expr $(,)?) => {
        impl $crate::FromContext for $type {
            const EFFECT: $crate::Effect = $effect;

            fn from_context(
                __cx: &$crate::ToolContext,
            ) -> ::core::result::Result<Self, $crate::ToolError> {
                $crate::ToolContext::extension::<Self>(__cx).ok_or_else(|| {
                    $crate::ToolError::unavailable(::core::concat!(
                        "`",
                        ::core::stringify!($type),
                        "`"
                    ))
                })
            }
        }
    };
    ($type:ty $(,)?) => {
        ::core::compile_error!(::core::concat!(
            "`host_value!` needs the effect of a tool that takes the value: write `host_value!(",
            ::core::stringify!($type),
            ", tool_core::Effect::READ)` for a value that is only read"
        ));
    };
    (@bare $type:ty, $effect:ident) => {
        ::core::compile_error!(::core::concat!(
            "`",
            ::core::stringify!($effect),
            "` is an effect of `tool_core::Effect`: write `host_value!(",
            ::core::stringify!($type),
            ", tool_core::Effect::",
            ::core::stringify!($effect),
            ")`"
        ));
    };
}

/// A parameter for a declared secret: `SecretString` or `Option<SecretString>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot hold a secret",
    label = "not a type for secrets",
    note = "write `SecretString`, or `Option<SecretString>` where the tool works without it"
)]
pub trait FromSecret: Sized {
    /// Whether the tool can work without the secret.
    const OPTIONAL: bool;

    /// Converts the host's secret. `secret` is `None` if the host has no secret with this key.
    fn from_secret(secret: Option<&SecretString>, key: &str) -> Result<Self, ToolError>;
}

impl FromSecret for SecretString {
    const OPTIONAL: bool = false;

    fn from_secret(secret: Option<&SecretString>, key: &str) -> Result<Self, ToolError> {
        secret
            .cloned()
            .ok_or_else(|| ToolError::unavailable(format_args!("the secret `{key}`")))
    }
}

impl FromSecret for Option<SecretString> {
    const OPTIONAL: bool = true;

    fn from_secret(secret: Option<&SecretString>, _: &str) -> Result<Self, ToolError> {
        Ok(secret.cloned())
    }
}

/// A parameter for a declared variable: text, a number, `bool`, `char`, a secret, or an `Option` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type for a variable",
    label = "not a type for variables",
    note = "write `String`, a number, `bool`, or `Option` of these where the tool works without it"
)]
pub trait FromVariable: Sized {
    /// Whether the tool can work without the variable.
    const OPTIONAL: bool;

    /// Converts the host's text. `text` is `None` if the variable has no value.
    fn from_variable(text: Option<&str>, name: &str) -> Result<Self, ToolError>;
}

impl<T: FromVariable> FromVariable for Option<T> {
    const OPTIONAL: bool = true;

    fn from_variable(text: Option<&str>, name: &str) -> Result<Self, ToolError> {
        text.map(|text| T::from_variable(Some(text), name))
            .transpose()
    }
}

impl FromVariable for SecretString {
    const OPTIONAL: bool = false;

    fn from_variable(text: Option<&str>, name: &str) -> Result<Self, ToolError> {
        String::from_variable(text, name).map(Self::from)
    }
}

macro_rules! parsed {
    ($($type:ty),+ $(,)?) => {$(
        impl FromVariable for $type {
            const OPTIONAL: bool = false;

            fn from_variable(text: Option<&str>, name: &str) -> Result<Self, ToolError> {
                let text = text.ok_or_else(|| ToolError::unavailable(format_args!("the variable `{name}`")))?;
                // The message does not contain the value, because it may be secret.
                text.parse().map_err(|_| {
                    ToolError::unavailable(name).operator(format!("the value of the variable `{name}` is not a valid `{}`", type_name::<$type>()))
                })
            }
        }
    )+};
}

parsed!(
    String, bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64
);
