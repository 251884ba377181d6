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
#[doc = " Search the documentation. Use it for questions about the product."]
pub async fn search_docs(query: String, limit: u32) -> Vec<String> {
    search(&query, limit).await
}
#[doc = "Arguments of the tool `search_docs`."]
#[allow(
    non_camel_case_types,
    clippy::derive_partial_eq_without_eq,
    clippy::doc_markdown,
    clippy::pub_underscore_fields,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
pub struct search_docs {
    #[doc = " What to search for."]
    pub query: String,
    #[doc = " The number of results."]
    pub limit: u32,
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
        type __P0 = String;
        type __P1 = u32;
        type __Out = Vec<String>;
        impl ::tool_core::__private0::StrictSchema for search_docs {
            const SCHEMA: &'static ::tool_core::__private0::Schema =
                &::tool_core::__private0::Schema::new(::tool_core::__private0::Kind::Object(&[
                    ::tool_core::__private0::Field::new(
                        "query",
                        ::tool_core::__private0::Text::escaped("What to search for."),
                        ::tool_core::__private0::asks::NodeOf::<__P0>::NODE,
                    ),
                    ::tool_core::__private0::Field::new(
                        "limit",
                        ::tool_core::__private0::Text::escaped("The number of results."),
                        &::tool_core::__private0::Schema::new(
                            ::tool_core::__private0::Kind::Constrained(
                                ::tool_core::__private0::asks::NodeOf::<__P1>::NODE,
                                &::tool_core::__private0::Constraints {
                                    min: ::core::option::Option::Some(
                                        ::tool_core::__private0::Number::Integer {
                                            value: 1i128,
                                            text: "1",
                                        },
                                    ),
                                    max: ::core::option::Option::Some(
                                        ::tool_core::__private0::Number::Integer {
                                            value: 50i128,
                                            text: "50",
                                        },
                                    ),
                                    ..::tool_core::__private0::Constraints::NONE
                                },
                            ),
                        ),
                    )
                    .default_value(::tool_core::__private0::Example {
                        value: &::tool_core::__private0::Json::Number(
                            ::tool_core::__private0::Number::Integer {
                                value: 10i128,
                                text: "10",
                            },
                        ),
                        text: "10",
                    }),
                ]))
                .named("search_docs")
                .checked();
        }
        impl ::tool_core::__private0::HasSpec for search_docs {
            const SPEC: &'static ::tool_core::__private0::Spec = &::tool_core::__private0::Spec {
                name: "search_docs",
                title: ::core::option::Option::None,
                description: ::tool_core::__private0::Text::escaped(
                    "Search the documentation. Use it for questions about the product.",
                ),
                input: <search_docs as ::tool_core::__private0::StrictSchema>::SCHEMA,
                examples: &[],
                providers: ::tool_core::__private0::Dialects::ALL,
                hints: ::tool_core::__private0::Declared::NONE.hints(&[]),
            };
        }
        impl ::tool_core::__private0::Record for search_docs {
            const NAME: &'static ::core::primitive::str = "search_docs";
            const KEYS: &'static [&'static ::core::primitive::str] = &["query", "limit"];
            type List = (__P0, (__P1, ()));
            #[allow(
                clippy::unused_unit,
                reason = "a tool without arguments has the empty list"
            )]            fn refs (& self) -> << Self as :: tool_core :: __private0 :: Record > :: List as :: tool_core :: __private0 :: List > :: Refs < '_ >{
                (&self.query, (&self.limit, ()))
            }
            fn build((__0, (__1, ())): <Self as ::tool_core::__private0::Record>::List) -> Self {
                Self {
                    query: __0,
                    limit: __1,
                }
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
        type __V1 = ::tool_core::__private0::read::Via<
            {
                ::tool_core::__private0::read::how(
                    ::tool_core::__private0::asks::DecodeOf::<__P1>::ASKS,
                    ::tool_core::__private0::asks::SerdeOf::<__P1>::IS,
                    ::tool_core::__private0::asks::NodeOf::<__P1>::IS,
                )
            },
            __P1,
        >;
        impl ::tool_core::__private0::read::Decode for search_docs {
            fn decode(
                __reader: &mut ::tool_core::__private0::read::Reader<'_>,
                __node: ::tool_core::__private0::read::Node<'_>,
            ) -> ::tool_core::__private0::Result<Self, ::tool_core::__private0::read::Unfit>
            {
                ::tool_core::__private0::asks::PartsOf::<(
                    ::tool_core::__private0::read::One<__V0>,
                    (::tool_core::__private0::read::One<__V1>, ()),
                )>::read(__reader, __node)
                .map(<Self as ::tool_core::__private0::Record>::build)
            }
        }
        const _: fn() = ::tool_core::__private0::asks::can_read::<
            <__P0 as ::tool_core::__private0::asks::Same>::Type,
            __V0,
        >;
        const _: fn() = ::tool_core::__private0::asks::can_read::<
            <__P1 as ::tool_core::__private0::asks::Same>::Type,
            __V1,
        >;
        #[automatically_derived]
        impl<'__de> ::tool_core::__private0::Deserialize<'__de> for search_docs {
            fn deserialize<__From: ::tool_core::__private0::Deserializer<'__de>>(
                __from: __From,
            ) -> ::tool_core::__private0::Result<Self, __From::Error> {
                ::tool_core::__private0::read::deserialize(__from)
            }
        }
        #[automatically_derived]
        impl ::core::fmt::Debug for search_docs
        where
            for<'__a> <search_docs as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::DebugList,
        {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::tool_core::__private0::debug_record(self, __f)
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for search_docs
        where
            for<'__a> <search_docs as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::CloneList,
        {
            fn clone(&self) -> Self {
                ::tool_core::__private0::clone_record(self)
            }
        }
        #[automatically_derived]
        impl ::core::cmp::PartialEq for search_docs
        where
            for<'__a> <search_docs as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::EqList,
        {
            fn eq(&self, __other: &Self) -> ::core::primitive::bool {
                ::tool_core::__private0::eq_record(self, __other)
            }
        }
        #[automatically_derived]
        impl ::tool_core::__private0::Serialize for search_docs
        where
            for<'__a> <search_docs as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::WriteList,
        {
            fn serialize<__To: ::tool_core::__private0::Serializer>(
                &self,
                __to: __To,
            ) -> ::core::result::Result<__To::Ok, __To::Error> {
                ::tool_core::__private0::write_record(self, __to)
            }
        }
        static __TOOL_CORE_DEF: ::tool_core::__private0::StaticDef =
            ::tool_core::__private0::StaticDef {
                spec: <search_docs as ::tool_core::__private0::HasSpec>::SPEC,
                description: "Search the documentation. Use it for questions about the product.",
                category: "general",
                tags: &[],
                aliases: &[],
                secrets: &[],
                variables: &[],
                effect: ::tool_core::__private0::Declared::NONE.effect(&[]),
                approval: ::tool_core::__private0::Approval::ByEffect,
                timeout: ::core::option::Option::None,
                sequential: false,
                harness: false,
                only_calls: ::tool_core::__private0::Declared::NONE.only_calls(&[]),
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
                    search_docs,
                    { <search_docs as ::tool_core::__private0::Facts>::TOTAL },
                >,
                output: || {
                    use ::tool_core::__private0::probe::{ByJsonSchema as _, BySilence as _};
                    ::tool_core::__private0::probe::OutputSchema::<
                        <search_docs as ::tool_core::__private0::Returns>::Output,
                    >::NEW
                        .get()
                },
                start: ::tool_core::__private0::asks::StartOf::<search_docs>::START,
            };
        impl ::tool_core::__private0::Returns for search_docs {
            type Output = <::tool_core::__private0::asks::Picked<
                { ::tool_core::__private0::asks::ReturnOf::<__Out>::IS },
                __Out,
            > as ::tool_core::__private0::asks::Pick>::Value;
        }
        impl ::tool_core::__private0::Tool for search_docs {
            const NAME: &'static ::core::primitive::str = "search_docs";
            const DEF: ::tool_core::__private0::ToolDef =
                ::tool_core::__private0::ToolDef::linked(&__TOOL_CORE_DEF);
            const EFFECT: ::tool_core::__private0::Effect = __TOOL_CORE_DEF.effect;
            type Output = <search_docs as ::tool_core::__private0::Returns>::Output;
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
                        search_docs(self.query, self.limit).await,
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
        const _: () = ::tool_core::__private0::check_root(
            <search_docs as ::tool_core::__private0::HasSpec>::SPEC,
            &<search_docs as ::tool_core::__private0::Facts>::SURVEY,
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_argument(
            <String as ::tool_core::__private0::StrictSchema>::SCHEMA,
            <search_docs as ::tool_core::__private0::HasSpec>::SPEC,
            &<search_docs as ::tool_core::__private0::Facts>::SURVEY,
            0usize,
            "query",
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_argument(
            <u32 as ::tool_core::__private0::StrictSchema>::SCHEMA,
            <search_docs as ::tool_core::__private0::HasSpec>::SPEC,
            &<search_docs as ::tool_core::__private0::Facts>::SURVEY,
            1usize,
            "limit",
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_constraints(
            ::tool_core::__private0::asks::NodeOf::<__P1>::NODE,
            &::tool_core::__private0::Constraints {
                min: ::core::option::Option::Some(::tool_core::__private0::Number::Integer {
                    value: 1i128,
                    text: "1",
                }),
                max: ::core::option::Option::Some(::tool_core::__private0::Number::Integer {
                    value: 50i128,
                    text: "50",
                }),
                ..::tool_core::__private0::Constraints::NONE
            },
            "search_docs",
            "limit",
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_default(
            &::tool_core::__private0::Schema::new(::tool_core::__private0::Kind::Constrained(
                ::tool_core::__private0::asks::NodeOf::<__P1>::NODE,
                &::tool_core::__private0::Constraints {
                    min: ::core::option::Option::Some(::tool_core::__private0::Number::Integer {
                        value: 1i128,
                        text: "1",
                    }),
                    max: ::core::option::Option::Some(::tool_core::__private0::Number::Integer {
                        value: 50i128,
                        text: "50",
                    }),
                    ..::tool_core::__private0::Constraints::NONE
                },
            )),
            &::tool_core::__private0::Example {
                value: &::tool_core::__private0::Json::Number(
                    ::tool_core::__private0::Number::Integer {
                        value: 10i128,
                        text: "10",
                    },
                ),
                text: "10",
            },
            "search_docs",
            "limit",
        );
        const _: fn() = ::tool_core::__private0::asks::can_return::<
            <__Out as ::tool_core::__private0::asks::Same>::Type,
        >;
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_output_keys(
            {
                #[allow(unused_imports)]
                use ::tool_core::__private0::Written as _;
                <::tool_core::__private0::WrittenMap<
                    <search_docs as ::tool_core::__private0::Returns>::Output,
                >>::UNWRITABLE
                    || <::tool_core::__private0::WrittenValue<
                        <search_docs as ::tool_core::__private0::Returns>::Output,
                    >>::UNWRITABLE
            },
            "search_docs",
        );
    };
    const _: () = <::tool_core::__private0::warn::LimitOptional<
        {
            ::tool_core::__private0::crosses_optionals(
                <search_docs as ::tool_core::__private0::HasSpec>::SPEC,
                &<search_docs as ::tool_core::__private0::Facts>::SURVEY,
                1usize,
            )
        },
    >>::W;
};
