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
#[doc = " List the orders of a customer."]
async fn list_orders(
    customer: String,
    orders: &Orders,
    clock: Option<Clock>,
    key: SecretString,
    url: Option<String>,
) -> Vec<Order> {
    orders.of(&customer, clock, key, url).await
}
#[doc = "Arguments of the tool `list_orders`."]
#[allow(
    non_camel_case_types,
    clippy::derive_partial_eq_without_eq,
    clippy::doc_markdown,
    clippy::pub_underscore_fields,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
struct list_orders {
    #[doc = " The customer's name."]
    customer: String,
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
        type __P1 = Orders;
        type __P2 = Option<Clock>;
        type __P3 = SecretString;
        type __P4 = Option<String>;
        type __Out = Vec<Order>;
        impl ::tool_core::__private0::StrictSchema for list_orders {
            const SCHEMA: &'static ::tool_core::__private0::Schema =
                &::tool_core::__private0::Schema::new(::tool_core::__private0::Kind::Object(&[
                    ::tool_core::__private0::Field::new(
                        "customer",
                        ::tool_core::__private0::Text::escaped("The customer's name."),
                        ::tool_core::__private0::asks::NodeOf::<__P0>::NODE,
                    ),
                ]))
                .named("list_orders")
                .checked();
        }
        impl ::tool_core::__private0::HasSpec for list_orders {
            const SPEC: &'static ::tool_core::__private0::Spec = &::tool_core::__private0::Spec {
                name: "list_orders",
                title: ::core::option::Option::None,
                description: ::tool_core::__private0::Text::escaped(
                    "List the orders of a customer.",
                ),
                input: <list_orders as ::tool_core::__private0::StrictSchema>::SCHEMA,
                examples: &[],
                providers: ::tool_core::__private0::Dialects::ALL,
                hints: ::tool_core::__private0::Declared::NONE.hints(&[
                    ::tool_core::__private0::asks::HostOf::<__P1>::EFFECT,
                    ::tool_core::__private0::asks::HostOf::<__P2>::EFFECT,
                ]),
            };
        }
        impl ::tool_core::__private0::Record for list_orders {
            const NAME: &'static ::core::primitive::str = "list_orders";
            const KEYS: &'static [&'static ::core::primitive::str] = &["customer"];
            type List = (__P0, ());
            #[allow(
                clippy::unused_unit,
                reason = "a tool without arguments has the empty list"
            )]            fn refs (& self) -> << Self as :: tool_core :: __private0 :: Record > :: List as :: tool_core :: __private0 :: List > :: Refs < '_ >{
                (&self.customer, ())
            }
            fn build((__0, ()): <Self as ::tool_core::__private0::Record>::List) -> Self {
                Self { customer: __0 }
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
        impl ::tool_core::__private0::read::Decode for list_orders {
            fn decode(
                __reader: &mut ::tool_core::__private0::read::Reader<'_>,
                __node: ::tool_core::__private0::read::Node<'_>,
            ) -> ::tool_core::__private0::Result<Self, ::tool_core::__private0::read::Unfit>
            {
                ::tool_core::__private0::asks::PartsOf::<(
                    ::tool_core::__private0::read::One<__V0>,
                    (),
                )>::read(__reader, __node)
                .map(<Self as ::tool_core::__private0::Record>::build)
            }
        }
        const _: fn() = ::tool_core::__private0::asks::can_read::<
            <__P0 as ::tool_core::__private0::asks::Same>::Type,
            __V0,
        >;
        #[automatically_derived]
        impl<'__de> ::tool_core::__private0::Deserialize<'__de> for list_orders {
            fn deserialize<__From: ::tool_core::__private0::Deserializer<'__de>>(
                __from: __From,
            ) -> ::tool_core::__private0::Result<Self, __From::Error> {
                ::tool_core::__private0::read::deserialize(__from)
            }
        }
        #[automatically_derived]
        impl ::core::fmt::Debug for list_orders
        where
            for<'__a> <list_orders as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::DebugList,
        {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::tool_core::__private0::debug_record(self, __f)
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for list_orders
        where
            for<'__a> <list_orders as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::CloneList,
        {
            fn clone(&self) -> Self {
                ::tool_core::__private0::clone_record(self)
            }
        }
        #[automatically_derived]
        impl ::core::cmp::PartialEq for list_orders
        where
            for<'__a> <list_orders as ::tool_core::__private0::Record>::List:
                ::tool_core::__private0::EqList,
        {
            fn eq(&self, __other: &Self) -> ::core::primitive::bool {
                ::tool_core::__private0::eq_record(self, __other)
            }
        }
        #[automatically_derived]
        impl ::tool_core::__private0::Serialize for list_orders
        where
            for<'__a> <list_orders as ::tool_core::__private0::Record>::List:
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
                spec: <list_orders as ::tool_core::__private0::HasSpec>::SPEC,
                description: "List the orders of a customer.",
                category: "general",
                tags: &[],
                aliases: &[],
                secrets: &[
                    ::tool_core::__private0::SecretNeed {
                        key: ::tool_core::__private0::Cow::Borrowed("audit_key"),
                        kind: ::tool_core::__private0::SecretKind::Text,
                        label: ::core::option::Option::None,
                        description: ::core::option::Option::None,
                        optional: false,
                    },
                    ::tool_core::__private0::SecretNeed {
                        key: ::tool_core::__private0::Cow::Borrowed("shop_key"),
                        kind: ::tool_core::__private0::SecretKind::Text,
                        label: ::core::option::Option::Some(
                            ::tool_core::__private0::Cow::Borrowed("Key of the shop"),
                        ),
                        description: ::core::option::Option::None,
                        optional: ::tool_core::__private0::asks::SecretOf::<__P3>::OPTIONAL,
                    },
                ],
                variables: &[::tool_core::__private0::VariableNeed {
                    name: ::tool_core::__private0::Cow::Borrowed("SHOP_URL"),
                    kind: ::tool_core::__private0::VariableKind::Text,
                    description: ::core::option::Option::None,
                    required: !::tool_core::__private0::asks::VariableOf::<__P4>::OPTIONAL,
                    scoped: false,
                }],
                effect: ::tool_core::__private0::Declared::NONE.effect(&[
                    ::tool_core::__private0::asks::HostOf::<__P1>::EFFECT,
                    ::tool_core::__private0::asks::HostOf::<__P2>::EFFECT,
                ]),
                approval: ::tool_core::__private0::Approval::ByEffect,
                timeout: ::core::option::Option::None,
                sequential: false,
                harness: false,
                only_calls: ::tool_core::__private0::Declared::NONE.only_calls(&[
                    (
                        ::tool_core::__private0::asks::HostOf::<__P1>::EFFECT,
                        ::tool_core::__private0::asks::HostOf::<__P1>::ONLY_CALLS,
                    ),
                    (
                        ::tool_core::__private0::asks::HostOf::<__P2>::EFFECT,
                        ::tool_core::__private0::asks::HostOf::<__P2>::ONLY_CALLS,
                    ),
                ]),
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
                    list_orders,
                    { <list_orders as ::tool_core::__private0::Facts>::TOTAL },
                >,
                output: || {
                    use ::tool_core::__private0::probe::{ByJsonSchema as _, BySilence as _};
                    ::tool_core::__private0::probe::OutputSchema::<
                        <list_orders as ::tool_core::__private0::Returns>::Output,
                    >::NEW
                        .get()
                },
                start: ::tool_core::__private0::asks::StartOf::<list_orders>::START,
            };
        impl ::tool_core::__private0::Returns for list_orders {
            type Output = <::tool_core::__private0::asks::Picked<
                { ::tool_core::__private0::asks::ReturnOf::<__Out>::IS },
                __Out,
            > as ::tool_core::__private0::asks::Pick>::Value;
        }
        impl ::tool_core::__private0::Tool for list_orders {
            const NAME: &'static ::core::primitive::str = "list_orders";
            const DEF: ::tool_core::__private0::ToolDef =
                ::tool_core::__private0::ToolDef::linked(&__TOOL_CORE_DEF);
            const EFFECT: ::tool_core::__private0::Effect = __TOOL_CORE_DEF.effect;
            type Output = <list_orders as ::tool_core::__private0::Returns>::Output;
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
                    :: tool_core :: __private0 :: asks :: ReturnOf :: < __Out > :: into_returned (list_orders (self . customer , & :: tool_core :: __private0 :: host (& __cx , < Orders as :: tool_core :: __private0 :: FromContext > :: from_context) ? , :: tool_core :: __private0 :: host (& __cx , < Option < Clock > as :: tool_core :: __private0 :: FromContext > :: from_context) ? , :: tool_core :: __private0 :: secret (& __cx , "shop_key" , < SecretString as :: tool_core :: __private0 :: FromSecret > :: from_secret) ? , :: tool_core :: __private0 :: variable (& __cx , "SHOP_URL" , < Option < String > as :: tool_core :: __private0 :: FromVariable > :: from_variable) ?) . await)
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
            <list_orders as ::tool_core::__private0::HasSpec>::SPEC,
            &<list_orders as ::tool_core::__private0::Facts>::SURVEY,
        );
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_argument(
            <String as ::tool_core::__private0::StrictSchema>::SCHEMA,
            <list_orders as ::tool_core::__private0::HasSpec>::SPEC,
            &<list_orders as ::tool_core::__private0::Facts>::SURVEY,
            0usize,
            "customer",
        );
        const _: fn() = ::tool_core::__private0::asks::can_return::<
            <__Out as ::tool_core::__private0::asks::Same>::Type,
        >;
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_secrets(&[
            ::tool_core::__private0::SecretNeed {
                key: ::tool_core::__private0::Cow::Borrowed("audit_key"),
                kind: ::tool_core::__private0::SecretKind::Text,
                label: ::core::option::Option::None,
                description: ::core::option::Option::None,
                optional: false,
            },
            ::tool_core::__private0::SecretNeed {
                key: ::tool_core::__private0::Cow::Borrowed("shop_key"),
                kind: ::tool_core::__private0::SecretKind::Text,
                label: ::core::option::Option::Some(::tool_core::__private0::Cow::Borrowed(
                    "Key of the shop",
                )),
                description: ::core::option::Option::None,
                optional: ::tool_core::__private0::asks::SecretOf::<__P3>::OPTIONAL,
            },
        ]);
        #[allow(long_running_const_eval)]
        const _: () = ::tool_core::__private0::check_output_keys(
            {
                #[allow(unused_imports)]
                use ::tool_core::__private0::Written as _;
                <::tool_core::__private0::WrittenMap<
                    <list_orders as ::tool_core::__private0::Returns>::Output,
                >>::UNWRITABLE
                    || <::tool_core::__private0::WrittenValue<
                        <list_orders as ::tool_core::__private0::Returns>::Output,
                    >>::UNWRITABLE
            },
            "list_orders",
        );
    };
};
