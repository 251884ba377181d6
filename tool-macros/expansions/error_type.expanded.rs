const _: () = {
    fn __shown(
        __error: &(dyn ::tool_core::private::StdError + 'static),
    ) -> ::core::option::Option<::core::primitive::bool> {
        use ::tool_core::private::asks::NotAnError as _;
        let __error = ::tool_core::private::asks::ErrorOf::<StockError>::of(__error)?;
        ::core::option::Option::Some(::core::matches!(__error, StockError::SoldOut { .. }))
    }
    const _: fn() = ::tool_core::private::asks::is_error::<StockError>;
    #[::tool_core::private::linkme::distributed_slice(::tool_core::private::SHOWN_ERRORS)]
    # [linkme (crate = :: tool_core :: private :: linkme)]
    static __TOOL_CORE_SHOWN: ::tool_core::private::ShownError =
        ::tool_core::private::ShownError::new(__shown);
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
        use ::tool_core::private::NoPredicate as _;
        use ::tool_core::private::asks::{
            NoDecode as _, NoField as _, NoHost as _, NoNode as _, NoParts as _, NoReturn as _,
            NoSecret as _, NoSerde as _, NoStart as _, NoStream as _, NoVariable as _,
            NotAsked as _,
        };
        type __P0 = Order;
        type __Out = Result<Reservation, StockError>;
        impl ::tool_core::private::StrictSchema for reserve {
            const SCHEMA: &'static ::tool_core::private::Schema =
                ::tool_core::private::asks::NodeOf::<__P0>::NODE;
        }
        impl ::tool_core::private::HasSpec for reserve {
            const SPEC: &'static ::tool_core::private::Spec = &::tool_core::private::Spec {
                name: "reserve",
                title: ::core::option::Option::None,
                description: ::tool_core::private::Text::escaped("Reserve a product."),
                input: <reserve as ::tool_core::private::StrictSchema>::SCHEMA,
                examples: &[],
                providers: ::tool_core::private::Dialects::ALL,
                hints: ::tool_core::private::Declared {
                    read_only: false,
                    destructive: true,
                    idempotent: false,
                    open_world: false,
                }
                .hints(&[]),
            };
        }
        impl ::tool_core::private::Record for reserve {
            const NAME: &'static ::core::primitive::str = "reserve";
            const KEYS: &'static [&'static ::core::primitive::str] = &[""];
            const FIELDS: &'static [&'static ::core::primitive::str] = &["order"];
            type List = (__P0, ());
            #[allow(
                clippy::unused_unit,
                reason = "a tool without arguments has the empty list"
            )]            fn refs (& self) -> << Self as :: tool_core :: private :: Record > :: List as :: tool_core :: private :: List > :: Refs < '_ >{
                (&self.order, ())
            }
            fn build((__0, ()): <Self as ::tool_core::private::Record>::List) -> Self {
                Self { order: __0 }
            }
        }
        type __V0 = ::tool_core::private::read::Via<
            {
                ::tool_core::private::read::how(
                    ::tool_core::private::asks::DecodeOf::<__P0>::ASKS,
                    ::tool_core::private::asks::SerdeOf::<__P0>::IS,
                    ::tool_core::private::asks::NodeOf::<__P0>::IS,
                )
            },
            __P0,
        >;
        impl ::tool_core::private::read::Decode for reserve {
            fn decode(
                __reader: &mut ::tool_core::private::read::Reader<'_>,
                __node: ::tool_core::private::read::Node<'_>,
            ) -> ::tool_core::private::Result<Self, ::tool_core::private::read::Unfit> {
                ::tool_core::private::asks::FieldOf::<__V0>::read(__reader, __node)
                    .map(|__args: __P0| Self { order: __args })
            }
        }
        const _: fn() = ::tool_core::private::asks::can_read::<
            <__P0 as ::tool_core::private::asks::Same>::Type,
            __V0,
        >;
        #[automatically_derived]
        impl<'__de> ::tool_core::private::Deserialize<'__de> for reserve {
            fn deserialize<__From: ::tool_core::private::Deserializer<'__de>>(
                __from: __From,
            ) -> ::tool_core::private::Result<Self, __From::Error> {
                ::tool_core::private::read::deserialize(__from)
            }
        }
        #[automatically_derived]
        impl ::core::fmt::Debug for reserve
        where
            for<'__a> <reserve as ::tool_core::private::Record>::List:
                ::tool_core::private::DebugList,
        {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::tool_core::private::debug_record(self, __f)
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for reserve
        where
            for<'__a> <reserve as ::tool_core::private::Record>::List:
                ::tool_core::private::CloneList,
        {
            fn clone(&self) -> Self {
                ::tool_core::private::clone_record(self)
            }
        }
        #[automatically_derived]
        impl ::core::cmp::PartialEq for reserve
        where
            for<'__a> <reserve as ::tool_core::private::Record>::List: ::tool_core::private::EqList,
        {
            fn eq(&self, __other: &Self) -> ::core::primitive::bool {
                ::tool_core::private::eq_record(self, __other)
            }
        }
        #[automatically_derived]
        impl ::tool_core::private::Serialize for reserve
        where
            for<'__a> <reserve as ::tool_core::private::Record>::List:
                ::tool_core::private::WriteList,
        {
            fn serialize<__To: ::tool_core::private::Serializer>(
                &self,
                __to: __To,
            ) -> ::core::result::Result<__To::Ok, __To::Error> {
                ::tool_core::private::write_transparent(self, __to)
            }
        }
        static __TOOL_CORE_DEF: ::tool_core::private::StaticDef = ::tool_core::private::StaticDef {
            spec: <reserve as ::tool_core::private::HasSpec>::SPEC,
            description: "Reserve a product.",
            category: "general",
            tags: &[],
            secrets: &[],
            variables: &[],
            effect: ::tool_core::private::Declared {
                read_only: false,
                destructive: true,
                idempotent: false,
                open_world: false,
            }
            .effect(&[]),
            approval: ::tool_core::private::Approval::ByEffect,
            timeout: ::core::option::Option::None,
            sequential: false,
            harness: false,
            only_calls: ::tool_core::private::Declared {
                read_only: false,
                destructive: true,
                idempotent: false,
                open_world: false,
            }
            .only_calls(&[]),
            output_limit: ::core::option::Option::None,
            origin: ::tool_core::private::Origin {
                krate: ::tool_core::private::krate(
                    ::core::option_env!("CARGO_PKG_NAME"),
                    ::core::module_path!(),
                ),
                module: ::core::module_path!(),
                file: ::core::file!(),
                line: ::core::line!(),
            },
            text: ::tool_core::private::text::<
                reserve,
                { <reserve as ::tool_core::private::Facts>::TOTAL },
            >,
            output: || {
                use ::tool_core::private::probe::{ByJsonSchema as _, BySilence as _};
                ::tool_core::private::probe::OutputSchema::<
                    <reserve as ::tool_core::private::Returns>::Output,
                >::NEW
                    .get()
            },
            start: ::tool_core::private::asks::StartOf::<reserve>::START,
        };
        impl ::tool_core::private::Returns for reserve {
            type Output = <::tool_core::private::asks::Picked<
                { ::tool_core::private::asks::ReturnOf::<__Out>::IS },
                __Out,
            > as ::tool_core::private::asks::Pick>::Value;
        }
        impl ::tool_core::private::Tool for reserve
        where
            for<'__a> __P0: ::core::marker::Send,
        {
            const NAME: &'static ::core::primitive::str = "reserve";
            const DEF: ::tool_core::private::ToolDef =
                ::tool_core::private::ToolDef::linked(&__TOOL_CORE_DEF);
            const EFFECT: ::tool_core::private::Effect = __TOOL_CORE_DEF.effect;
            type Output = <reserve as ::tool_core::private::Returns>::Output;
            #[allow(clippy::unit_arg)]
            fn run(
                self,
                _: ::tool_core::private::ToolContext,
                _: ::tool_core::private::Pass,
            ) -> impl ::tool_core::private::Future<
                Output = ::core::result::Result<
                    ::tool_core::private::Returned<Self::Output>,
                    ::tool_core::private::ToolError,
                >,
            >
            + 'static
            + ::core::marker::Send {
                async move {
                    ::tool_core::private::asks::ReturnOf::<__Out>::into_returned(
                        reserve(self.order).await,
                    )
                }
            }
            fn model_view(
                __output: &Self::Output,
            ) -> ::core::option::Option<::tool_core::private::ModelOutput> {
                {
                    use ::tool_core::private::probe::WholeView as _;
                    ::tool_core::private::probe::ModelView(__output).get()
                }
            }
            fn to_arguments(&self) -> ::core::option::Option<::tool_core::private::String> {
                use ::tool_core::private::probe::Unwritten as _;
                ::tool_core::private::probe::Arguments(self).get()
            }
            #[inline]
            fn stored_output(
                __text: &::core::primitive::str,
            ) -> ::core::option::Option<::tool_core::private::serde_json::Result<Self::Output>>
            {
                use ::tool_core::private::probe::Unread as _;
                ::tool_core::private::probe::StoredOutput::<Self::Output>::NEW.read(__text)
            }
        }
        #[::tool_core::private::linkme::distributed_slice(::tool_core::private::TOOLS)]
        # [linkme (crate = :: tool_core :: private :: linkme)]
        static __TOOL_CORE_LINK: ::tool_core::private::Link = ::tool_core::private::Link::new(
            ::tool_core::private::ToolDef::linked(&__TOOL_CORE_DEF),
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::private::check_limits(
            <reserve as ::tool_core::private::HasSpec>::SPEC,
            &<reserve as ::tool_core::private::Facts>::SURVEY,
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::private::check_param(
            <Order as ::tool_core::private::StrictSchema>::SCHEMA,
            ::tool_core::private::Dialects::ALL,
            "reserve",
            "order",
        );
        const _: fn() = ::tool_core::private::asks::SentOf::<
            <__P0 as ::tool_core::private::asks::Same>::Type,
        >::ask;
        const _: fn() = ::tool_core::private::asks::can_return::<
            <__Out as ::tool_core::private::asks::Same>::Type,
        >;
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::private::check_output_keys(
            {
                #[allow(unused_imports)]
                use ::tool_core::private::Written as _;
                < :: tool_core :: private :: WrittenMap :: << reserve as :: tool_core :: private :: Returns > :: Output >> :: UNWRITABLE || < :: tool_core :: private :: WrittenValue :: << reserve as :: tool_core :: private :: Returns > :: Output >> :: UNWRITABLE
            },
            "reserve",
        );
    };
    const _: () = <::tool_core::private::warn::LimitOptional<
        {
            ::tool_core::private::warn::many_optionals(
                <reserve as ::tool_core::private::HasSpec>::SPEC,
                &<reserve as ::tool_core::private::Facts>::SURVEY,
            )
        },
    >>::W;
    const _: () = <::tool_core::private::warn::LimitUnion<
        {
            ::tool_core::private::warn::many_unions(
                <reserve as ::tool_core::private::HasSpec>::SPEC,
                &<reserve as ::tool_core::private::Facts>::SURVEY,
            )
        },
    >>::W;
};
