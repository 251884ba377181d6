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
#[doc = " Send a message."]
async fn send(to: String, text: String) -> bool {
    deliver(&to, &text).await
}
#[doc = "Arguments of the tool `send_message`."]
#[allow(
    non_camel_case_types,
    clippy::derive_partial_eq_without_eq,
    clippy::doc_markdown,
    clippy::pub_underscore_fields,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
struct SendInput {
    #[doc = " The recipient."]
    to: String,
    #[doc = " The text."]
    text: String,
}
#[allow(long_running_const_eval, non_local_definitions)]
const _: () = {
    #[allow(dead_code, unused_imports, unused_qualifications, clippy::unused_unit)]
    const _: () = {
        use my_crate::tool_core::private::NoPredicate as _;
        use my_crate::tool_core::private::asks::{
            NoDecode as _, NoField as _, NoHost as _, NoNode as _, NoParts as _, NoReturn as _,
            NoSecret as _, NoSerde as _, NoStart as _, NoStream as _, NoVariable as _,
            NotAsked as _,
        };
        type __P0 = String;
        type __P1 = String;
        type __Out = bool;
        impl my_crate::tool_core::private::StrictSchema for SendInput {
            const SCHEMA: &'static my_crate::tool_core::private::Schema =
                &my_crate::tool_core::private::Schema::new(
                    my_crate::tool_core::private::Kind::Object(&[
                        my_crate::tool_core::private::Field::new(
                            "to",
                            my_crate::tool_core::private::Text::escaped("The recipient."),
                            my_crate::tool_core::private::asks::NodeOf::<__P0>::NODE,
                        ),
                        my_crate::tool_core::private::Field::new(
                            "text",
                            my_crate::tool_core::private::Text::escaped("The text."),
                            my_crate::tool_core::private::asks::NodeOf::<__P1>::NODE,
                        ),
                    ]),
                )
                .named("send_message")
                .checked();
        }
        impl my_crate::tool_core::private::HasSpec for SendInput {
            const SPEC: &'static my_crate::tool_core::private::Spec =
                &my_crate::tool_core::private::Spec {
                    name: "send_message",
                    title: ::core::option::Option::Some(
                        my_crate::tool_core::private::Text::escaped("Send a message"),
                    ),
                    description: my_crate::tool_core::private::Text::escaped("Send a message."),
                    input: <SendInput as my_crate::tool_core::private::StrictSchema>::SCHEMA,
                    examples: &[my_crate::tool_core::private::ToolExample {
                        label: ::core::option::Option::Some(
                            my_crate::tool_core::private::Text::escaped("A greeting"),
                        ),
                        input: my_crate::tool_core::private::Example {
                            value: &my_crate::tool_core::private::Json::Object(&[
                                ("to", my_crate::tool_core::private::Json::String("ada")),
                                ("text", my_crate::tool_core::private::Json::String("Hello")),
                            ]),
                            text: "{\"to\":\"ada\",\"text\":\"Hello\"}",
                        },
                        result: ::core::option::Option::Some(
                            my_crate::tool_core::private::Example {
                                value: &my_crate::tool_core::private::Json::Boolean(true),
                                text: "true",
                            },
                        ),
                    }],
                    providers: my_crate::tool_core::private::Dialects::NONE
                        .with(my_crate::tool_core::private::Dialect::OpenAi)
                        .with(my_crate::tool_core::private::Dialect::Anthropic),
                    hints: my_crate::tool_core::private::Declared {
                        read_only: false,
                        destructive: true,
                        idempotent: true,
                        open_world: true,
                    }
                    .hints(&[]),
                };
        }
        impl my_crate::tool_core::private::Record for SendInput {
            const NAME: &'static ::core::primitive::str = "SendInput";
            const KEYS: &'static [&'static ::core::primitive::str] = &["to", "text"];
            type List = (__P0, (__P1, ()));
            #[allow(
                clippy::unused_unit,
                reason = "a tool without arguments has the empty list"
            )]            fn refs (& self) -> << Self as my_crate :: tool_core :: private :: Record > :: List as my_crate :: tool_core :: private :: List > :: Refs < '_ >{
                (&self.to, (&self.text, ()))
            }
            fn build(
                (__0, (__1, ())): <Self as my_crate::tool_core::private::Record>::List,
            ) -> Self {
                Self { to: __0, text: __1 }
            }
        }
        type __V0 = my_crate::tool_core::private::read::Via<
            {
                my_crate::tool_core::private::read::how(
                    my_crate::tool_core::private::asks::DecodeOf::<__P0>::ASKS,
                    my_crate::tool_core::private::asks::SerdeOf::<__P0>::IS,
                    my_crate::tool_core::private::asks::NodeOf::<__P0>::IS,
                )
            },
            __P0,
        >;
        type __V1 = my_crate::tool_core::private::read::Via<
            {
                my_crate::tool_core::private::read::how(
                    my_crate::tool_core::private::asks::DecodeOf::<__P1>::ASKS,
                    my_crate::tool_core::private::asks::SerdeOf::<__P1>::IS,
                    my_crate::tool_core::private::asks::NodeOf::<__P1>::IS,
                )
            },
            __P1,
        >;
        impl my_crate::tool_core::private::read::Decode for SendInput {
            fn decode(
                __reader: &mut my_crate::tool_core::private::read::Reader<'_>,
                __node: my_crate::tool_core::private::read::Node<'_>,
            ) -> my_crate::tool_core::private::Result<Self, my_crate::tool_core::private::read::Unfit>
            {
                my_crate::tool_core::private::asks::PartsOf::<(
                    my_crate::tool_core::private::read::One<__V0>,
                    (my_crate::tool_core::private::read::One<__V1>, ()),
                )>::read(__reader, __node)
                .map(<Self as my_crate::tool_core::private::Record>::build)
            }
        }
        const _: fn() = my_crate::tool_core::private::asks::can_read::<
            <__P0 as my_crate::tool_core::private::asks::Same>::Type,
            __V0,
        >;
        const _: fn() = my_crate::tool_core::private::asks::can_read::<
            <__P1 as my_crate::tool_core::private::asks::Same>::Type,
            __V1,
        >;
        #[automatically_derived]
        impl<'__de> my_crate::tool_core::private::Deserialize<'__de> for SendInput {
            fn deserialize<__From: my_crate::tool_core::private::Deserializer<'__de>>(
                __from: __From,
            ) -> my_crate::tool_core::private::Result<Self, __From::Error> {
                my_crate::tool_core::private::read::deserialize(__from)
            }
        }
        #[automatically_derived]
        impl ::core::fmt::Debug for SendInput
        where
            for<'__a> <SendInput as my_crate::tool_core::private::Record>::List:
                my_crate::tool_core::private::DebugList,
        {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                my_crate::tool_core::private::debug_record(self, __f)
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for SendInput
        where
            for<'__a> <SendInput as my_crate::tool_core::private::Record>::List:
                my_crate::tool_core::private::CloneList,
        {
            fn clone(&self) -> Self {
                my_crate::tool_core::private::clone_record(self)
            }
        }
        #[automatically_derived]
        impl ::core::cmp::PartialEq for SendInput
        where
            for<'__a> <SendInput as my_crate::tool_core::private::Record>::List:
                my_crate::tool_core::private::EqList,
        {
            fn eq(&self, __other: &Self) -> ::core::primitive::bool {
                my_crate::tool_core::private::eq_record(self, __other)
            }
        }
        #[automatically_derived]
        impl my_crate::tool_core::private::Serialize for SendInput
        where
            for<'__a> <SendInput as my_crate::tool_core::private::Record>::List:
                my_crate::tool_core::private::WriteList,
        {
            fn serialize<__To: my_crate::tool_core::private::Serializer>(
                &self,
                __to: __To,
            ) -> ::core::result::Result<__To::Ok, __To::Error> {
                my_crate::tool_core::private::write_record(self, __to)
            }
        }
        static __TOOL_CORE_DEF: my_crate::tool_core::private::StaticDef =
            my_crate::tool_core::private::StaticDef {
                spec: <SendInput as my_crate::tool_core::private::HasSpec>::SPEC,
                description: "Send a message.",
                category: "mail",
                tags: &["mail", "team"],
                secrets: &[],
                variables: &[],
                effect: my_crate::tool_core::private::Declared {
                    read_only: false,
                    destructive: true,
                    idempotent: true,
                    open_world: true,
                }
                .effect(&[]),
                approval: my_crate::tool_core::private::Approval::When(|__text, __cx| {
                    my_crate::tool_core::private::predicate::<SendInput, _>(
                        __text,
                        __cx,
                        |call, cx| call.to != cx.principal().id,
                    )
                }),
                timeout: ::core::option::Option::Some(
                    my_crate::tool_core::private::Duration::from_millis(5000u64),
                ),
                sequential: true,
                harness: true,
                only_calls: my_crate::tool_core::private::Declared {
                    read_only: false,
                    destructive: true,
                    idempotent: true,
                    open_world: true,
                }
                .only_calls(&[]),
                output_limit: ::core::option::Option::Some(4096),
                origin: my_crate::tool_core::private::Origin {
                    krate: my_crate::tool_core::private::krate(
                        ::core::option_env!("CARGO_PKG_NAME"),
                        ::core::module_path!(),
                    ),
                    module: ::core::module_path!(),
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
                text: my_crate::tool_core::private::text::<
                    SendInput,
                    { <SendInput as my_crate::tool_core::private::Facts>::TOTAL },
                >,
                output: || {
                    use my_crate::tool_core::private::probe::{ByJsonSchema as _, BySilence as _};
                    my_crate::tool_core::private::probe::OutputSchema::<
                        <SendInput as my_crate::tool_core::private::Returns>::Output,
                    >::NEW
                        .get()
                },
                start: my_crate::tool_core::private::asks::StartOf::<SendInput>::START,
            };
        impl my_crate::tool_core::private::Returns for SendInput {
            type Output = <my_crate::tool_core::private::asks::Picked<
                { my_crate::tool_core::private::asks::ReturnOf::<__Out>::IS },
                __Out,
            > as my_crate::tool_core::private::asks::Pick>::Value;
        }
        impl my_crate::tool_core::private::Tool for SendInput {
            const NAME: &'static ::core::primitive::str = "send_message";
            const DEF: my_crate::tool_core::private::ToolDef =
                my_crate::tool_core::private::ToolDef::linked(&__TOOL_CORE_DEF);
            const EFFECT: my_crate::tool_core::private::Effect = __TOOL_CORE_DEF.effect;
            type Output = <SendInput as my_crate::tool_core::private::Returns>::Output;
            #[allow(clippy::unit_arg)]
            fn run(
                self,
                _: my_crate::tool_core::private::ToolContext,
                _: my_crate::tool_core::private::Pass,
            ) -> impl my_crate::tool_core::private::Future<
                Output = ::core::result::Result<
                    my_crate::tool_core::private::Returned<Self::Output>,
                    my_crate::tool_core::private::ToolError,
                >,
            >
            + 'static
            + ::core::marker::Send {
                async move {
                    my_crate::tool_core::private::asks::ReturnOf::<__Out>::into_returned(
                        send(self.to, self.text).await,
                    )
                }
            }
            fn model_view(
                __output: &Self::Output,
            ) -> ::core::option::Option<my_crate::tool_core::private::ModelOutput> {
                {
                    let __view: my_crate::tool_core::private::ModelOutput = summary(__output);
                    ::core::option::Option::Some(__view)
                }
            }
            fn to_arguments(&self) -> ::core::option::Option<my_crate::tool_core::private::String> {
                use my_crate::tool_core::private::probe::Unwritten as _;
                my_crate::tool_core::private::probe::Arguments(self).get()
            }
            #[inline]
            fn stored_output(
                __text: &::core::primitive::str,
            ) -> ::core::option::Option<
                my_crate::tool_core::private::serde_json::Result<Self::Output>,
            > {
                use my_crate::tool_core::private::probe::Unread as _;
                my_crate::tool_core::private::probe::StoredOutput::<Self::Output>::NEW.read(__text)
            }
        }
        #[my_crate::tool_core::private::linkme::distributed_slice(
            my_crate::tool_core::private::TOOLS
        )]
        # [linkme (crate = my_crate :: tool_core :: private :: linkme)]
        static __TOOL_CORE_LINK: my_crate::tool_core::private::Link =
            my_crate::tool_core::private::Link::new(my_crate::tool_core::private::ToolDef::linked(
                &__TOOL_CORE_DEF,
            ));
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::private::check_root(
            <SendInput as my_crate::tool_core::private::HasSpec>::SPEC,
            &<SendInput as my_crate::tool_core::private::Facts>::SURVEY,
        );
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::private::check_argument(
            <String as my_crate::tool_core::private::StrictSchema>::SCHEMA,
            <SendInput as my_crate::tool_core::private::HasSpec>::SPEC,
            &<SendInput as my_crate::tool_core::private::Facts>::SURVEY,
            0usize,
            "to",
        );
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::private::check_argument(
            <String as my_crate::tool_core::private::StrictSchema>::SCHEMA,
            <SendInput as my_crate::tool_core::private::HasSpec>::SPEC,
            &<SendInput as my_crate::tool_core::private::Facts>::SURVEY,
            1usize,
            "text",
        );
        const _: fn() = my_crate::tool_core::private::asks::can_return::<
            <__Out as my_crate::tool_core::private::asks::Same>::Type,
        >;
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::private::check_example_entry(
            <SendInput as my_crate::tool_core::private::StrictSchema>::SCHEMA,
            "to",
            &my_crate::tool_core::private::Json::String("ada"),
            "send_message",
        );
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::private::check_example_entry(
            <SendInput as my_crate::tool_core::private::StrictSchema>::SCHEMA,
            "text",
            &my_crate::tool_core::private::Json::String("Hello"),
            "send_message",
        );
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::private::check_stated_result(
            {
                #[allow(unused_imports)]
                use my_crate::tool_core::private::probe::NoTypeSchema as _;
                <my_crate::tool_core::private::probe::TypeSchema<
                    <SendInput as my_crate::tool_core::private::Returns>::Output,
                >>::SCHEMA
            },
            &my_crate::tool_core::private::Example {
                value: &my_crate::tool_core::private::Json::Boolean(true),
                text: "true",
            },
            "send_message",
            0usize,
        );
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::private::check_output_keys(
            {
                #[allow(unused_imports)]
                use my_crate::tool_core::private::Written as _;
                <my_crate::tool_core::private::WrittenMap<
                    <SendInput as my_crate::tool_core::private::Returns>::Output,
                >>::UNWRITABLE
                    || <my_crate::tool_core::private::WrittenValue<
                        <SendInput as my_crate::tool_core::private::Returns>::Output,
                    >>::UNWRITABLE
            },
            "send_message",
        );
    };
};
