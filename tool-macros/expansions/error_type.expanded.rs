const _: () = {
    fn __shown(
        __error: &(dyn ::tool_core::__private0::StdError + 'static),
    ) -> ::core::option::Option<::core::primitive::bool> {
        use ::tool_core::__private0::asks::NotAnError as _;
        let __error = ::tool_core::__private0::asks::ErrorOf::<StockError>::of(__error)?;
        ::core::option::Option::Some(::core::matches!(__error, StockError::SoldOut { .. }))
    }
    const _: fn() = ::tool_core::__private0::asks::is_error::<StockError>;
    #[::tool_core::__private0::linkme::distributed_slice(::tool_core::__private0::SHOWN_ERRORS)]
    # [linkme (crate = :: tool_core :: __private0 :: linkme)]
    static __TOOL_CORE_SHOWN: ::tool_core::__private0::ShownError =
        ::tool_core::__private0::ShownError::new(__shown);
};
#[allow(
    clippy::fn_params_excessive_bools,
    clippy::missing_const_for_fn,
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    clippy::unnecessary_wraps,
    clippy::unused_async
)]
#[doc = " Reserve a product."]
async fn reserve(order: Order) -> Result<Reservation, StockError> {
    stock::reserve(order).await
}
#[doc = "Arguments of the tool `reserve`."]
#[allow(
    non_camel_case_types,
    clippy::derive_partial_eq_without_eq,
    clippy::doc_markdown,
    clippy::pub_underscore_fields,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
struct reserve {
    #[doc = " The product and the number of pieces."]
    order: Order,
}
#[allow(long_running_const_eval, non_local_definitions)]
const _: () = {
    #[allow(dead_code, unused_imports, unused_qualifications, clippy::unused_unit)]
    const _: () = {
        use ::tool_core::__private0::NoPredicate as _;
        use ::tool_core::__private0::asks::{
            NoDecode as _, NoField as _, NoHost as _, NoNode as _, NoParts as _, NoReturn as _,
            NoSecret as _, NoSerde as _, NoStart as _, NoStream as _, NoVariable as _,
            NotAsked as _,
        };
        type __P0 = Order;
        type __Out = Result<Reservation, StockError>;
        impl ::tool_core::__private0::StrictSchema for reserve {
            const SCHEMA: &'static ::tool_core::__private0::Schema =
                ::tool_core::__private0::asks::NodeOf::<__P0>::NODE;
        }
        impl ::tool_core::__private0::HasSpec for reserve {
            const SPEC: &'static ::tool_core::__private0::Spec = &::tool_core::__private0::Spec {
                name: "reserve",
                title: ::core::option::Option::None,
                description: ::tool_core::__private0::Text::escaped("Reserve a product."),
                input: <reserve as ::tool_core::__private0::StrictSchema>::SCHEMA,
                examples: &[],
                providers: ::tool_core::__private0::Dialects::ALL,
                hints: ::tool_core::__private0::Declared {
                    read_only: false,
                    destructive: true,
                    idempotent: false,
                    open_world: false,
                }
                .hints(&[]),
            };
        }
        impl ::tool_core::__private0::Record for reserve {
            const NAME: &'static ::core::primitive::str = "reserve";
            const KEYS: &'static [&'static ::core::primitive::str] = &[""];
            const FIELDS: &'static [&'static ::core::primitive::str] = &["order"];
            type List = (__P0, ());
            #[allow(
                clippy::unused_unit,
                reason = "a tool without arguments has the empty list"
            )]            fn refs (& self) -> << Self as :: tool_core :: __private0 :: Record > :: List as :: tool_core :: __private0 :: List > :: Refs < '_ >{
                (&self.order, ())
            }
            fn build((__0, ()): <Self as ::tool_core::__private0::Record>::List) -> Self {
                Self { order: __0 }
            }
        }
        type __V0 = ::tool_core::__private0::read::Via<
            {
                ::tool_core::__private0::read::how(
                    ::tool_core::__private0::asks::DecodeOf::<__P0>::ASKS,
                    ::tool_core::__private0::asks::SerdeOf::<__P0>::IS,
                    ::tool_core::__private0::asks::NodeOf::<__P0>::IS,
                )
            },
            __P0,
        >;
        impl ::tool_core::__private0::read::Decode for reserve {
            fn decode(
                __reader: &mut ::tool_core::__private0::read::Reader<'_>,
                __node: ::tool_core::__private0::read::Node<'_>,
            ) -> ::tool_core::__private0::Result<Self, ::tool_core::__private0::read::Unfit>
            {
                ::tool_core::__private0::asks::FieldOf::<__V0>::read(__reader, __node)
                    .map(|__args: __P0| Self { order: __args })
            }
        }
        const _: fn() = ::tool_core::__private0::asks::can_read::<
            <__P0 as ::tool_core::__private0::asks::Same>::Type,
            __V0,
        >;
        #[automatically_derived]
        impl<'__de> ::tool_core::__private0::Deserialize<'__de> for reserve {
            fn deserialize<__From: ::tool_core::__private0::Deserializer<'__de>>(
                __from: __From,
            ) -> ::tool_core::__private0::Result<Self, __From::Error> {
                ::tool_core::__private0::read::deserialize(__from)
            }
        }
        #[automatically_derived]
        impl ::core::fmt::Debug for reserve
        where
            for<'__a> <reserve as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::DebugList,
        {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::tool_core::__private0::debug_record(self, __f)
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for reserve
        where
            for<'__a> <reserve as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::CloneList,
        {
            fn clone(&self) -> Self {
                ::tool_core::__private0::clone_record(self)
            }
        }
        #[automatically_derived]
        impl ::core::cmp::PartialEq for reserve
        where
            for<'__a> <reserve as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::EqList,
        {
            fn eq(&self, __other: &Self) -> ::core::primitive::bool {
                ::tool_core::__private0::eq_record(self, __other)
            }
        }
        #[automatically_derived]
        impl ::tool_core::__private0::Serialize for reserve
        where
            for<'__a> <reserve as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::WriteList,
        {
            fn serialize<__To: ::tool_core::__private0::Serializer>(
                &self,
                __to: __To,
            ) -> ::core::result::Result<__To::Ok, __To::Error> {
                ::tool_core::__private0::write_transparent(self, __to)
            }
        }
        static __TOOL_CORE_DEF: ::tool_core::__private0::StaticDef =
            ::tool_core::__private0::StaticDef {
                spec: <reserve as ::tool_core::__private0::HasSpec>::SPEC,
                description: "Reserve a product.",
                category: "general",
                tags: &[],
                aliases: &[],
                secrets: &[],
                variables: &[],
                effect: ::tool_core::__private0::Declared {
                    read_only: false,
                    destructive: true,
                    idempotent: false,
                    open_world: false,
                }
                .effect(&[]),
                approval: ::tool_core::__private0::Approval::ByEffect,
                timeout: ::core::option::Option::None,
                sequential: false,
                harness: false,
                only_calls: ::tool_core::__private0::Declared {
                    read_only: false,
                    destructive: true,
                    idempotent: false,
                    open_world: false,
                }
                .only_calls(&[]),
                output_limit: ::core::option::Option::None,
                origin: ::tool_core::__private0::Origin {
                    krate: ::tool_core::__private0::krate(
                        ::core::option_env!("CARGO_PKG_NAME"),
                        ::core::module_path!(),
                    ),
                    module: ::core::module_path!(),
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
                text: ::tool_core::__private0::text::<
                    reserve,
                    { <reserve as ::tool_core::__private0::Facts>::TOTAL },
                >,
                output: || {
                    use ::tool_core::__private0::probe::{ByJsonSchema as _, BySilence as _};
                    ::tool_core::__private0::probe::OutputSchema::<
                        <reserve as ::tool_core::__private0::Returns>::Output,
                    >::NEW
                        .get()
                },
                start: ::tool_core::__private0::asks::StartOf::<reserve>::START,
            };
        impl ::tool_core::__private0::Returns for reserve {
            type Output = <::tool_core::__private0::asks::Picked<
                { ::tool_core::__private0::asks::ReturnOf::<__Out>::IS },
                __Out,
            > as ::tool_core::__private0::asks::Pick>::Value;
        }
        impl ::tool_core::__private0::Tool for reserve
        where
            for<'__a> __P0: ::core::marker::Send,
        {
            const NAME: &'static ::core::primitive::str = "reserve";
            const DEF: ::tool_core::__private0::ToolDef =
                ::tool_core::__private0::ToolDef::linked(&__TOOL_CORE_DEF);
            const EFFECT: ::tool_core::__private0::Effect = __TOOL_CORE_DEF.effect;
            type Output = <reserve as ::tool_core::__private0::Returns>::Output;
            #[allow(clippy::unit_arg)]
            fn run(
                self,
                _: ::tool_core::__private0::ToolContext,
                _: ::tool_core::__private0::Pass,
            ) -> impl ::tool_core::__private0::Future<
                Output = ::core::result::Result<
                    ::tool_core::__private0::Returned<Self::Output>,
                    ::tool_core::__private0::ToolError,
                >,
            >
            + 'static
            + ::core::marker::Send {
                async move {
                    ::tool_core::__private0::asks::ReturnOf::<__Out>::into_returned(
                        reserve(self.order).await,
                    )
                }
            }
            fn model_view(
                __output: &Self::Output,
            ) -> ::core::option::Option<::tool_core::__private0::ModelOutput> {
                {
                    use ::tool_core::__private0::probe::WholeView as _;
                    ::tool_core::__private0::probe::ModelView(__output).get()
                }
            }
            fn to_arguments(&self) -> ::core::option::Option<::tool_core::__private0::String> {
                use ::tool_core::__private0::probe::Unwritten as _;
                ::tool_core::__private0::probe::Arguments(self).get()
            }
            #[inline]
            fn stored_output(
                __text: &::core::primitive::str,
            ) -> ::core::option::Option<::tool_core::__private0::serde_json::Result<Self::Output>>
            {
                use ::tool_core::__private0::probe::Unread as _;
                ::tool_core::__private0::probe::StoredOutput::<Self::Output>::NEW.read(__text)
            }
        }
        #[::tool_core::__private0::linkme::distributed_slice(::tool_core::__private0::TOOLS)]
        # [linkme (crate = :: tool_core :: __private0 :: linkme)]
        static __TOOL_CORE_LINK: ::tool_core::__private0::Link = ::tool_core::__private0::Link::new(
            ::tool_core::__private0::ToolDef::linked(&__TOOL_CORE_DEF),
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_limits(
            <reserve as ::tool_core::__private0::HasSpec>::SPEC,
            &<reserve as ::tool_core::__private0::Facts>::SURVEY,
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_param(
            <Order as ::tool_core::__private0::StrictSchema>::SCHEMA,
            ::tool_core::__private0::Dialects::ALL,
            "reserve",
            "order",
        );
        const _: fn() = ::tool_core::__private0::asks::SentOf::<
            <__P0 as ::tool_core::__private0::asks::Same>::Type,
        >::ask;
        const _: fn() = ::tool_core::__private0::asks::can_return::<
            <__Out as ::tool_core::__private0::asks::Same>::Type,
        >;
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_output_keys(
            {
                #[allow(unused_imports)]
                use ::tool_core::__private0::Written as _;
                <::tool_core::__private0::WrittenMap<
                    <reserve as ::tool_core::__private0::Returns>::Output,
                >>::UNWRITABLE
                    || <::tool_core::__private0::WrittenValue<
                        <reserve as ::tool_core::__private0::Returns>::Output,
                    >>::UNWRITABLE
            },
            "reserve",
        );
    };
    const _: () = <::tool_core::__private0::warn::LimitOptional<
        {
            ::tool_core::__private0::warn::many_optionals(
                <reserve as ::tool_core::__private0::HasSpec>::SPEC,
                &<reserve as ::tool_core::__private0::Facts>::SURVEY,
            )
        },
    >>::W;
    const _: () = <::tool_core::__private0::warn::LimitUnion<
        {
            ::tool_core::__private0::warn::many_unions(
                <reserve as ::tool_core::__private0::HasSpec>::SPEC,
                &<reserve as ::tool_core::__private0::Facts>::SURVEY,
            )
        },
    >>::W;
};
