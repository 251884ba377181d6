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
#[doc = " Adds two numbers."]
fn add(a: f64, b: f64) -> f64 {
    a + b
}
#[doc = "Arguments of the tool `add`."]
#[allow(
    non_camel_case_types,
    clippy::derive_partial_eq_without_eq,
    clippy::doc_markdown,
    clippy::pub_underscore_fields,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
struct add {
    #[doc = " The first number."]
    a: f64,
    #[doc = " The second number."]
    b: f64,
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
        type __P0 = f64;
        type __P1 = f64;
        type __Out = f64;
        impl ::tool_core::__private0::StrictSchema for add {
            const SCHEMA: &'static ::tool_core::__private0::Schema =
                &::tool_core::__private0::Schema::new(::tool_core::__private0::Kind::Object(&[
                    ::tool_core::__private0::Field::new(
                        "a",
                        ::tool_core::__private0::Text::escaped("The first number."),
                        ::tool_core::__private0::asks::NodeOf::<__P0>::NODE,
                    ),
                    ::tool_core::__private0::Field::new(
                        "b",
                        ::tool_core::__private0::Text::escaped("The second number."),
                        ::tool_core::__private0::asks::NodeOf::<__P1>::NODE,
                    ),
                ]))
                .named("add")
                .checked();
        }
        impl ::tool_core::__private0::HasSpec for add {
            const SPEC: &'static ::tool_core::__private0::Spec = &::tool_core::__private0::Spec {
                name: "add",
                title: ::core::option::Option::None,
                description: ::tool_core::__private0::Text::escaped("Adds two numbers."),
                input: <add as ::tool_core::__private0::StrictSchema>::SCHEMA,
                examples: &[],
                providers: ::tool_core::__private0::Dialects::ALL,
                hints: ::tool_core::__private0::Declared::NONE.hints(&[]),
            };
        }
        impl ::tool_core::__private0::Record for add {
            const NAME: &'static ::core::primitive::str = "add";
            const KEYS: &'static [&'static ::core::primitive::str] = &["a", "b"];
            type List = (__P0, (__P1, ()));
            #[allow(
                clippy::unused_unit,
                reason = "a tool without arguments has the empty list"
            )]            fn refs (& self) -> << Self as :: tool_core :: __private0 :: Record > :: List as :: tool_core :: __private0 :: List > :: Refs < '_ >{
                (&self.a, (&self.b, ()))
            }
            fn build((__0, (__1, ())): <Self as ::tool_core::__private0::Record>::List) -> Self {
                Self { a: __0, b: __1 }
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
        impl ::tool_core::__private0::read::Decode for add {
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
        impl<'__de> ::tool_core::__private0::Deserialize<'__de> for add {
            fn deserialize<__From: ::tool_core::__private0::Deserializer<'__de>>(
                __from: __From,
            ) -> ::tool_core::__private0::Result<Self, __From::Error> {
                ::tool_core::__private0::read::deserialize(__from)
            }
        }
        #[automatically_derived]
        impl ::core::fmt::Debug for add
        where
            for<'__a> <add as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::DebugList,
        {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::tool_core::__private0::debug_record(self, __f)
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for add
        where
            for<'__a> <add as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::CloneList,
        {
            fn clone(&self) -> Self {
                ::tool_core::__private0::clone_record(self)
            }
        }
        #[automatically_derived]
        impl ::core::cmp::PartialEq for add
        where
            for<'__a> <add as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::EqList,
        {
            fn eq(&self, __other: &Self) -> ::core::primitive::bool {
                ::tool_core::__private0::eq_record(self, __other)
            }
        }
        #[automatically_derived]
        impl ::tool_core::__private0::Serialize for add
        where
            for<'__a> <add as ::tool_core::__private0::Record>::List:
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
                spec: <add as ::tool_core::__private0::HasSpec>::SPEC,
                description: "Adds two numbers.",
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
                    add,
                    { <add as ::tool_core::__private0::Facts>::TOTAL },
                >,
                output: || {
                    use ::tool_core::__private0::probe::{ByJsonSchema as _, BySilence as _};
                    ::tool_core::__private0::probe::OutputSchema::<
                        <add as ::tool_core::__private0::Returns>::Output,
                    >::NEW
                        .get()
                },
                start: ::tool_core::__private0::asks::StartOf::<add>::START,
            };
        impl ::tool_core::__private0::Returns for add {
            type Output = <::tool_core::__private0::asks::Picked<
                { ::tool_core::__private0::asks::ReturnOf::<__Out>::IS },
                __Out,
            > as ::tool_core::__private0::asks::Pick>::Value;
        }
        impl ::tool_core::__private0::Tool for add {
            const NAME: &'static ::core::primitive::str = "add";
            const DEF: ::tool_core::__private0::ToolDef =
                ::tool_core::__private0::ToolDef::linked(&__TOOL_CORE_DEF);
            const EFFECT: ::tool_core::__private0::Effect = __TOOL_CORE_DEF.effect;
            type Output = <add as ::tool_core::__private0::Returns>::Output;
            #[allow(clippy::unit_arg)]
            fn run(
                self,
                __cx: ::tool_core::__private0::ToolContext,
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
                    ::tool_core::__private0::blocking(&__cx, move || {
                        ::tool_core::__private0::asks::ReturnOf::<__Out>::into_returned(add(
                            self.a, self.b,
                        ))
                    })
                    .await?
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
            <add as ::tool_core::__private0::HasSpec>::SPEC,
            &<add as ::tool_core::__private0::Facts>::SURVEY,
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_argument(
            <f64 as ::tool_core::__private0::StrictSchema>::SCHEMA,
            <add as ::tool_core::__private0::HasSpec>::SPEC,
            &<add as ::tool_core::__private0::Facts>::SURVEY,
            0usize,
            "a",
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_argument(
            <f64 as ::tool_core::__private0::StrictSchema>::SCHEMA,
            <add as ::tool_core::__private0::HasSpec>::SPEC,
            &<add as ::tool_core::__private0::Facts>::SURVEY,
            1usize,
            "b",
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
                    <add as ::tool_core::__private0::Returns>::Output,
                >>::UNWRITABLE
                    || <::tool_core::__private0::WrittenValue<
                        <add as ::tool_core::__private0::Returns>::Output,
                    >>::UNWRITABLE
            },
            "add",
        );
    };
};
