//! A macro for enums of tools that correspond to enums of the store.

/// Defines an enum of a tool, and its conversion to and from the enum of the store.
macro_rules! mirrored {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident,)+ } = $stored:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl From<tool_core::store::$stored> for $name {
            fn from(stored: tool_core::store::$stored) -> Self {
                match stored {
                    $(tool_core::store::$stored::$variant => Self::$variant,)+
                }
            }
        }

        impl From<$name> for tool_core::store::$stored {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$variant => Self::$variant,)+
                }
            }
        }
    };
}

pub(crate) use mirrored;
