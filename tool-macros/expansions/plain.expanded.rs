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
        use ::tool_core::private::NoPredicate as _;
        use ::tool_core::private::asks::{
            NoDecode as _, NoField as _, NoHost as _, NoNode as _, NoParts as _, NoReturn as _,
            NoSecret as _, NoSerde as _, NoStart as _, NoStream as _, NoVariable as _,
            NotAsked as _,
        };
        type __P0 = String;
        type __P1 = u32;
        type __Out = Vec<String>;
        impl ::tool_core::private::StrictSchema for search_docs {
            const SCHEMA: &'static ::tool_core::private::Schema =
                &::tool_core::private::Schema::new(::tool_core::private::Kind::Object(&[
                    ::tool_core::private::Field::new(
                        "query",
                        ::tool_core::private::Text::escaped("What to search for."),
                        ::tool_core::private::asks::NodeOf::<__P0>::NODE,
                    ),
                    ::tool_core::private::Field::new(
                        "limit",
                        ::tool_core::private::Text::escaped("The number of results."),
                        &::tool_core::private::Schema::new(
                            ::tool_core::private::Kind::Constrained(
                                ::tool_core::private::asks::NodeOf::<__P1>::NODE,
                                &::tool_core::private::Constraints {
                                    min: ::core::option::Option::Some(
                                        ::tool_core::private::Number::Integer {
                                            value: 1i128,
                                            text: "1",
                                        },
                                    ),
                                    max: ::core::option::Option::Some(
                                        ::tool_core::private::Number::Integer {
                                            value: 50i128,
                                            text: "50",
                                        },
                                    ),
                                    ..::tool_core::private::Constraints::NONE
                                },
                            ),
                        ),
                    )
                    .default_value(::tool_core::private::Example {
                        value: &::tool_core::private::Json::Number(
                            ::tool_core::private::Number::Integer {
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
        impl ::tool_core::private::HasSpec for search_docs {
            const SPEC: &'static ::tool_core::private::Spec = &::tool_core::private::Spec {
                name: "search_docs",
                title: ::core::option::Option::None,
                description: ::tool_core::private::Text::escaped(
                    "Search the documentation. Use it for questions about the product.",
                ),
                input: <search_docs as ::tool_core::private::StrictSchema>::SCHEMA,
                examples: &[],
                providers: ::tool_core::private::Dialects::ALL,
                hints: ::tool_core::private::Declared::NONE.hints(&[]),
            };
        }
        impl ::tool_core::private::Record for search_docs {
            const NAME: &'static ::core::primitive::str = "search_docs";
            const KEYS: &'static [&'static ::core::primitive::str] = &["query", "limit"];
            type List = (__P0, (__P1, ()));
            #[allow(
                clippy::unused_unit,
                reason = "a tool without arguments has the empty list"
            )]            fn refs (& self) -> << Self as :: tool_core :: private :: Record > :: List as :: tool_core :: private :: List > :: Refs < '_ >{
                (&self.query, (&self.limit, ()))
            }
            fn build((__0, (__1, ())): <Self as ::tool_core::private::Record>::List) -> Self {
                Self {
                    query: __0,
                    limit: __1,
                }
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
        type __V1 = ::tool_core::private::read::Via<
            {
                ::tool_core::private::read::how(
                    ::tool_core::private::asks::DecodeOf::<__P1>::ASKS,
                    ::tool_core::private::asks::SerdeOf::<__P1>::IS,
                    ::tool_core::private::asks::NodeOf::<__P1>::IS,
                )
            },
            __P1,
        >;
        impl ::tool_core::private::read::Decode for search_docs {
            fn decode(
                __reader: &mut ::tool_core::private::read::Reader<'_>,
                __node: ::tool_core::private::read::Node<'_>,
            ) -> ::tool_core::private::Result<Self, ::tool_core::private::read::Unfit> {
                ::tool_core::private::asks::PartsOf::<(
                    ::tool_core::private::read::One<__V0>,
                    (::tool_core::private::read::One<__V1>, ()),
                )>::read(__reader, __node)
                .map(<Self as ::tool_core::private::Record>::build)
            }
        }
        const _: fn() = ::tool_core::private::asks::can_read::<
            <__P0 as ::tool_core::private::asks::Same>::Type,
            __V0,
        >;
        const _: fn() = ::tool_core::private::asks::can_read::<
            <__P1 as ::tool_core::private::asks::Same>::Type,
            __V1,
        >;
        #[automatically_derived]
        impl<'__de> ::tool_core::private::Deserialize<'__de> for search_docs {
            fn deserialize<__From: ::tool_core::private::Deserializer<'__de>>(
                __from: __From,
            ) -> ::tool_core::private::Result<Self, __From::Error> {
                ::tool_core::private::read::deserialize(__from)
            }
        }
        #[automatically_derived]
        impl ::core::fmt::Debug for search_docs
        where
            for<'__a> <search_docs as ::tool_core::private::Record>::List:
                ::tool_core::private::DebugList,
        {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::tool_core::private::debug_record(self, __f)
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for search_docs
        where
            for<'__a> <search_docs as ::tool_core::private::Record>::List:
                ::tool_core::private::CloneList,
        {
            fn clone(&self) -> Self {
                ::tool_core::private::clone_record(self)
            }
        }
        #[automatically_derived]
        impl ::core::cmp::PartialEq for search_docs
        where
            for<'__a> <search_docs as ::tool_core::private::Record>::List:
                ::tool_core::private::EqList,
        {
            fn eq(&self, __other: &Self) -> ::core::primitive::bool {
                ::tool_core::private::eq_record(self, __other)
            }
        }
        #[automatically_derived]
        impl ::tool_core::private::Serialize for search_docs
        where
            for<'__a> <search_docs as ::tool_core::private::Record>::List:
                ::tool_core::private::WriteList,
        {
            fn serialize<__To: ::tool_core::private::Serializer>(
                &self,
                __to: __To,
            ) -> ::core::result::Result<__To::Ok, __To::Error> {
                ::tool_core::private::write_record(self, __to)
            }
        }
        static __TOOL_CORE_DEF: ::tool_core::private::StaticDef = ::tool_core::private::StaticDef {
            spec: <search_docs as ::tool_core::private::HasSpec>::SPEC,
            description: "Search the documentation. Use it for questions about the product.",
            category: "general",
            tags: &[],
            secrets: &[],
            variables: &[],
            effect: ::tool_core::private::Declared::NONE.effect(&[]),
            approval: ::tool_core::private::Approval::ByEffect,
            timeout: ::core::option::Option::None,
            sequential: false,
            harness: false,
            only_calls: ::tool_core::private::Declared::NONE.only_calls(&[]),
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
                search_docs,
                { <search_docs as ::tool_core::private::Facts>::TOTAL },
            >,
            output: || {
                use ::tool_core::private::probe::{ByJsonSchema as _, BySilence as _};
                ::tool_core::private::probe::OutputSchema::<
                    <search_docs as ::tool_core::private::Returns>::Output,
                >::NEW
                    .get()
            },
            start: ::tool_core::private::asks::StartOf::<search_docs>::START,
        };
        impl ::tool_core::private::Returns for search_docs {
            type Output = <::tool_core::private::asks::Picked<
                { ::tool_core::private::asks::ReturnOf::<__Out>::IS },
                __Out,
            > as ::tool_core::private::asks::Pick>::Value;
        }
        impl ::tool_core::private::Tool for search_docs {
            const NAME: &'static ::core::primitive::str = "search_docs";
            const DEF: ::tool_core::private::ToolDef =
                ::tool_core::private::ToolDef::linked(&__TOOL_CORE_DEF);
            const EFFECT: ::tool_core::private::Effect = __TOOL_CORE_DEF.effect;
            type Output = <search_docs as ::tool_core::private::Returns>::Output;
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
                        search_docs(self.query, self.limit).await,
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
        const _: () = ::tool_core::private::check_root(
            <search_docs as ::tool_core::private::HasSpec>::SPEC,
            &<search_docs as ::tool_core::private::Facts>::SURVEY,
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::private::check_argument(
            <String as ::tool_core::private::StrictSchema>::SCHEMA,
            <search_docs as ::tool_core::private::HasSpec>::SPEC,
            &<search_docs as ::tool_core::private::Facts>::SURVEY,
            0usize,
            "query",
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::private::check_argument(
            <u32 as ::tool_core::private::StrictSchema>::SCHEMA,
            <search_docs as ::tool_core::private::HasSpec>::SPEC,
            &<search_docs as ::tool_core::private::Facts>::SURVEY,
            1usize,
            "limit",
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::private::check_constraints(
            ::tool_core::private::asks::NodeOf::<__P1>::NODE,
            &::tool_core::private::Constraints {
                min: ::core::option::Option::Some(::tool_core::private::Number::Integer {
                    value: 1i128,
                    text: "1",
                }),
                max: ::core::option::Option::Some(::tool_core::private::Number::Integer {
                    value: 50i128,
                    text: "50",
                }),
                ..::tool_core::private::Constraints::NONE
            },
            "search_docs",
            "limit",
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::private::check_default(
            &::tool_core::private::Schema::new(::tool_core::private::Kind::Constrained(
                ::tool_core::private::asks::NodeOf::<__P1>::NODE,
                &::tool_core::private::Constraints {
                    min: ::core::option::Option::Some(::tool_core::private::Number::Integer {
                        value: 1i128,
                        text: "1",
                    }),
                    max: ::core::option::Option::Some(::tool_core::private::Number::Integer {
                        value: 50i128,
                        text: "50",
                    }),
                    ..::tool_core::private::Constraints::NONE
                },
            )),
            &::tool_core::private::Example {
                value: &::tool_core::private::Json::Number(::tool_core::private::Number::Integer {
                    value: 10i128,
                    text: "10",
                }),
                text: "10",
            },
            "search_docs",
            "limit",
        );
        const _: fn() = ::tool_core::private::asks::can_return::<
            <__Out as ::tool_core::private::asks::Same>::Type,
        >;
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::private::check_output_keys(
            {
                #[allow(unused_imports)]
                use ::tool_core::private::Written as _;
                <::tool_core::private::WrittenMap<
                    <search_docs as ::tool_core::private::Returns>::Output,
                >>::UNWRITABLE
                    || <::tool_core::private::WrittenValue<
                        <search_docs as ::tool_core::private::Returns>::Output,
                    >>::UNWRITABLE
            },
            "search_docs",
        );
    };
    const _: () = <::tool_core::private::warn::LimitOptional<
        {
            ::tool_core::private::crosses_optionals(
                <search_docs as ::tool_core::private::HasSpec>::SPEC,
                &<search_docs as ::tool_core::private::Facts>::SURVEY,
                1usize,
            )
        },
    >>::W;
};
