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
#[doc = " Export all orders."]
fn export_orders(orders: Orders) -> ToolStream<Progress, usize> {
    tool_stream! { yield Progress (0) ; orders . len () }
}
#[doc = "Arguments of the tool `export_orders`."]
#[allow(
    non_camel_case_types,
    clippy::derive_partial_eq_without_eq,
    clippy::doc_markdown,
    clippy::pub_underscore_fields,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
struct export_orders {}
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
        type __P0 = Orders;
        type __Out = ToolStream<Progress, usize>;
        impl ::tool_core::private::StrictSchema for export_orders {
            const SCHEMA: &'static ::tool_core::private::Schema =
                &::tool_core::private::Schema::new(::tool_core::private::Kind::Object(&[]))
                    .named("export_orders")
                    .checked();
        }
        impl ::tool_core::private::HasSpec for export_orders {
            const SPEC: &'static ::tool_core::private::Spec = &::tool_core::private::Spec {
                name: "export_orders",
                title: ::core::option::Option::None,
                description: ::tool_core::private::Text::escaped("Export all orders."),
                input: <export_orders as ::tool_core::private::StrictSchema>::SCHEMA,
                examples: &[],
                providers: ::tool_core::private::Dialects::ALL,
                hints: ::tool_core::private::Declared::NONE
                    .hints(&[::tool_core::private::asks::HostOf::<__P0>::EFFECT]),
            };
        }
        impl ::tool_core::private::Record for export_orders {
            const NAME: &'static ::core::primitive::str = "export_orders";
            const KEYS: &'static [&'static ::core::primitive::str] = &[];
            type List = ();
            #[allow(
                clippy::unused_unit,
                reason = "a tool without arguments has the empty list"
            )]            fn refs (& self) -> << Self as :: tool_core :: private :: Record > :: List as :: tool_core :: private :: List > :: Refs < '_ >{
                ()
            }
            fn build((): <Self as ::tool_core::private::Record>::List) -> Self {
                Self {}
            }
        }
        impl ::tool_core::private::read::Decode for export_orders {
            fn decode(
                __reader: &mut ::tool_core::private::read::Reader<'_>,
                __node: ::tool_core::private::read::Node<'_>,
            ) -> ::tool_core::private::Result<Self, ::tool_core::private::read::Unfit> {
                ::tool_core::private::asks::PartsOf::<()>::read(__reader, __node)
                    .map(<Self as ::tool_core::private::Record>::build)
            }
        }
        #[automatically_derived]
        impl<'__de> ::tool_core::private::Deserialize<'__de> for export_orders {
            fn deserialize<__From: ::tool_core::private::Deserializer<'__de>>(
                __from: __From,
            ) -> ::tool_core::private::Result<Self, __From::Error> {
                ::tool_core::private::read::deserialize(__from)
            }
        }
        #[automatically_derived]
        impl ::core::fmt::Debug for export_orders
        where
            for<'__a> <export_orders as ::tool_core::private::Record>::List:
                ::tool_core::private::DebugList,
        {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::tool_core::private::debug_record(self, __f)
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for export_orders
        where
            for<'__a> <export_orders as ::tool_core::private::Record>::List:
                ::tool_core::private::CloneList,
        {
            fn clone(&self) -> Self {
                ::tool_core::private::clone_record(self)
            }
        }
        #[automatically_derived]
        impl ::core::cmp::PartialEq for export_orders
        where
            for<'__a> <export_orders as ::tool_core::private::Record>::List:
                ::tool_core::private::EqList,
        {
            fn eq(&self, __other: &Self) -> ::core::primitive::bool {
                ::tool_core::private::eq_record(self, __other)
            }
        }
        #[automatically_derived]
        impl ::tool_core::private::Serialize for export_orders
        where
            for<'__a> <export_orders as ::tool_core::private::Record>::List:
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
            spec: <export_orders as ::tool_core::private::HasSpec>::SPEC,
            description: "Export all orders.",
            category: "general",
            tags: &[],
            secrets: &[],
            variables: &[],
            effect: ::tool_core::private::Declared::NONE
                .effect(&[::tool_core::private::asks::HostOf::<__P0>::EFFECT]),
            approval: ::tool_core::private::Approval::ByEffect,
            timeout: ::core::option::Option::None,
            sequential: false,
            harness: false,
            only_calls: ::tool_core::private::Declared::NONE.only_calls(&[(
                ::tool_core::private::asks::HostOf::<__P0>::EFFECT,
                ::tool_core::private::asks::HostOf::<__P0>::ONLY_CALLS,
            )]),
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
                export_orders,
                { <export_orders as ::tool_core::private::Facts>::TOTAL },
            >,
            output: || {
                use ::tool_core::private::probe::{ByJsonSchema as _, BySilence as _};
                ::tool_core::private::probe::OutputSchema::<
                    <export_orders as ::tool_core::private::Returns>::Output,
                >::NEW
                    .get()
            },
            start: ::tool_core::private::asks::StartOf::<export_orders>::START,
        };
        impl ::tool_core::private::Returns for export_orders {
            type Output = <::tool_core::private::asks::Picked<
                { ::tool_core::private::asks::ReturnOf::<__Out>::IS },
                __Out,
            > as ::tool_core::private::asks::Pick>::Value;
        }
        impl ::tool_core::private::Tool for export_orders {
            const NAME: &'static ::core::primitive::str = "export_orders";
            const DEF: ::tool_core::private::ToolDef =
                ::tool_core::private::ToolDef::linked(&__TOOL_CORE_DEF);
            const EFFECT: ::tool_core::private::Effect = __TOOL_CORE_DEF.effect;
            type Output = <export_orders as ::tool_core::private::Returns>::Output;
            #[allow(clippy::unit_arg)]
            fn run(
                self,
                __cx: ::tool_core::private::ToolContext,
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
                    let __of_work = ::core::clone::Clone::clone(&__cx);
                    ::tool_core::private::blocking(&__of_work, move || {
                        ::tool_core::private::asks::ReturnOf::<__Out>::into_returned(export_orders(
                            ::tool_core::private::host(
                                &__cx,
                                <Orders as ::tool_core::private::FromContext>::from_context,
                            )?,
                        ))
                    })
                    .await?
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
            <export_orders as ::tool_core::private::HasSpec>::SPEC,
            &<export_orders as ::tool_core::private::Facts>::SURVEY,
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
                    <export_orders as ::tool_core::private::Returns>::Output,
                >>::UNWRITABLE
                    || <::tool_core::private::WrittenValue<
                        <export_orders as ::tool_core::private::Returns>::Output,
                    >>::UNWRITABLE
            },
            "export_orders",
        );
    };
};
