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
        use my_crate::tool_core::__private0::NoPredicate as _;
        use my_crate::tool_core::__private0::asks::{
            NoDecode as _, NoField as _, NoHost as _, NoNode as _, NoParts as _, NoReturn as _,
            NoSecret as _, NoSerde as _, NoStart as _, NoStream as _, NoVariable as _,
            NotAsked as _,
        };
        type __P0 = String;
        type __P1 = String;
        type __Out = bool;
        impl my_crate::tool_core::__private0::StrictSchema for SendInput {
            const SCHEMA: &'static my_crate::tool_core::__private0::Schema =
                &my_crate::tool_core::__private0::Schema::new(
                    my_crate::tool_core::__private0::Kind::Object(&[
                        my_crate::tool_core::__private0::Field::new(
                            "to",
                            my_crate::tool_core::__private0::Text::escaped("The recipient."),
                            my_crate::tool_core::__private0::asks::NodeOf::<__P0>::NODE,
                        ),
                        my_crate::tool_core::__private0::Field::new(
                            "text",
                            my_crate::tool_core::__private0::Text::escaped("The text."),
                            my_crate::tool_core::__private0::asks::NodeOf::<__P1>::NODE,
                        ),
                    ]),
                )
                .named("send_message")
                .checked();
        }
        impl my_crate::tool_core::__private0::HasSpec for SendInput {
            const SPEC: &'static my_crate::tool_core::__private0::Spec =
                &my_crate::tool_core::__private0::Spec {
                    name: "send_message",
                    title: ::core::option::Option::Some(
                        my_crate::tool_core::__private0::Text::escaped("Send a message"),
                    ),
                    description: my_crate::tool_core::__private0::Text::escaped("Send a message."),
                    input: <SendInput as my_crate::tool_core::__private0::StrictSchema>::SCHEMA,
                    examples: &[my_crate::tool_core::__private0::ToolExample {
                        label: ::core::option::Option::Some(
                            my_crate::tool_core::__private0::Text::escaped("A greeting"),
                        ),
                        input: my_crate::tool_core::__private0::Example {
                            value: &my_crate::tool_core::__private0::Json::Object(&[
                                ("to", my_crate::tool_core::__private0::Json::String("ada")),
                                (
                                    "text",
                                    my_crate::tool_core::__private0::Json::String("Hello"),
                                ),
                            ]),
                            text: "{\"to\":\"ada\",\"text\":\"Hello\"}",
                        },
                        result: ::core::option::Option::Some(
                            my_crate::tool_core::__private0::Example {
                                value: &my_crate::tool_core::__private0::Json::Boolean(true),
                                text: "true",
                            },
                        ),
                    }],
                    providers: my_crate::tool_core::__private0::Dialects::NONE
                        .with(my_crate::tool_core::__private0::Dialect::OpenAi)
                        .with(my_crate::tool_core::__private0::Dialect::Anthropic),
                    hints: my_crate::tool_core::__private0::Declared {
                        read_only: false,
                        destructive: true,
                        idempotent: true,
                        open_world: true,
                    }
                    .hints(&[]),
                };
        }
        impl my_crate::tool_core::__private0::Record for SendInput {
            const NAME: &'static ::core::primitive::str = "SendInput";
            const KEYS: &'static [&'static ::core::primitive::str] = &["to", "text"];
            type List = (__P0, (__P1, ()));
            #[allow(
                clippy::unused_unit,
                reason = "a tool without arguments has the empty list"
            )]            fn refs (& self) -> << Self as my_crate :: tool_core :: __private0 :: Record > :: List as my_crate :: tool_core :: __private0 :: List > :: Refs < '_ >{
                (&self.to, (&self.text, ()))
            }
            fn build(
                (__0, (__1, ())): <Self as my_crate::tool_core::__private0::Record>::List,
            ) -> Self {
                Self { to: __0, text: __1 }
            }
        }
        type __V0 = my_crate::tool_core::__private0::read::Via<
            {
                my_crate::tool_core::__private0::read::how(
                    my_crate::tool_core::__private0::asks::DecodeOf::<__P0>::ASKS,
                    my_crate::tool_core::__private0::asks::SerdeOf::<__P0>::IS,
                    my_crate::tool_core::__private0::asks::NodeOf::<__P0>::IS,
                )
            },
            __P0,
        >;
        type __V1 = my_crate::tool_core::__private0::read::Via<
            {
                my_crate::tool_core::__private0::read::how(
                    my_crate::tool_core::__private0::asks::DecodeOf::<__P1>::ASKS,
                    my_crate::tool_core::__private0::asks::SerdeOf::<__P1>::IS,
                    my_crate::tool_core::__private0::asks::NodeOf::<__P1>::IS,
                )
            },
            __P1,
        >;
        impl my_crate::tool_core::__private0::read::Decode for SendInput {
            fn decode(
                __reader: &mut my_crate::tool_core::__private0::read::Reader<'_>,
                __node: my_crate::tool_core::__private0::read::Node<'_>,
            ) -> my_crate::tool_core::__private0::Result<
                Self,
                my_crate::tool_core::__private0::read::Unfit,
            > {
                my_crate::tool_core::__private0::asks::PartsOf::<(
                    my_crate::tool_core::__private0::read::One<__V0>,
                    (my_crate::tool_core::__private0::read::One<__V1>, ()),
                )>::read(__reader, __node)
                .map(<Self as my_crate::tool_core::__private0::Record>::build)
            }
        }
        const _: fn() = my_crate::tool_core::__private0::asks::can_read::<
            <__P0 as my_crate::tool_core::__private0::asks::Same>::Type,
            __V0,
        >;
        const _: fn() = my_crate::tool_core::__private0::asks::can_read::<
            <__P1 as my_crate::tool_core::__private0::asks::Same>::Type,
            __V1,
        >;
        #[automatically_derived]
        impl<'__de> my_crate::tool_core::__private0::Deserialize<'__de> for SendInput {
            fn deserialize<__From: my_crate::tool_core::__private0::Deserializer<'__de>>(
                __from: __From,
            ) -> my_crate::tool_core::__private0::Result<Self, __From::Error> {
                my_crate::tool_core::__private0::read::deserialize(__from)
            }
        }
        #[automatically_derived]
        impl ::core::fmt::Debug for SendInput
        where
            for<'__a> <SendInput as my_crate::tool_core::__private0::Record>::List:
                my_crate::tool_core::__private0::DebugList,
        {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                my_crate::tool_core::__private0::debug_record(self, __f)
            }
        }
        #[automatically_derived]
        impl ::core::clone::Clone for SendInput
        where
            for<'__a> <SendInput as my_crate::tool_core::__private0::Record>::List:
                my_crate::tool_core::__private0::CloneList,
        {
            fn clone(&self) -> Self {
                my_crate::tool_core::__private0::clone_record(self)
            }
        }
        #[automatically_derived]
        impl ::core::cmp::PartialEq for SendInput
        where
            for<'__a> <SendInput as my_crate::tool_core::__private0::Record>::List:
                my_crate::tool_core::__private0::EqList,
        {
            fn eq(&self, __other: &Self) -> ::core::primitive::bool {
                my_crate::tool_core::__private0::eq_record(self, __other)
            }
        }
        #[automatically_derived]
        impl my_crate::tool_core::__private0::Serialize for SendInput
        where
            for<'__a> <SendInput as my_crate::tool_core::__private0::Record>::List:
                my_crate::tool_core::__private0::WriteList,
        {
            fn serialize<__To: my_crate::tool_core::__private0::Serializer>(
                &self,
                __to: __To,
            ) -> ::core::result::Result<__To::Ok, __To::Error> {
                my_crate::tool_core::__private0::write_record(self, __to)
            }
        }
        static __TOOL_CORE_DEF: my_crate::tool_core::__private0::StaticDef =
            my_crate::tool_core::__private0::StaticDef {
                spec: <SendInput as my_crate::tool_core::__private0::HasSpec>::SPEC,
                description: "Send a message.",
                category: "mail",
                tags: &["mail", "team"],
                aliases: &["send_mail", "mail"],
                secrets: &[],
                variables: &[],
                effect: my_crate::tool_core::__private0::Declared {
                    read_only: false,
                    destructive: true,
                    idempotent: true,
                    open_world: true,
                }
                .effect(&[]),
                approval: my_crate::tool_core::__private0::Approval::When(|__text, __cx| {
                    my_crate::tool_core::__private0::predicate::<SendInput, _>(
                        __text,
                        __cx,
                        |call, cx| call.to != cx.principal().id,
                    )
                }),
                timeout: ::core::option::Option::Some(
                    my_crate::tool_core::__private0::Duration::from_millis(5000u64),
                ),
                sequential: true,
                harness: true,
                only_calls: my_crate::tool_core::__private0::Declared {
                    read_only: false,
                    destructive: true,
                    idempotent: true,
                    open_world: true,
                }
                .only_calls(&[]),
                output_limit: ::core::option::Option::Some(4096),
                origin: my_crate::tool_core::__private0::Origin {
                    krate: my_crate::tool_core::__private0::krate(
                        ::core::option_env!("CARGO_PKG_NAME"),
                        ::core::module_path!(),
                    ),
                    module: ::core::module_path!(),
                    file: ::core::file!(),
                    line: ::core::line!(),
                },
                text: my_crate::tool_core::__private0::text::<
                    SendInput,
                    { <SendInput as my_crate::tool_core::__private0::Facts>::TOTAL },
                >,
                output: || {
                    use my_crate::tool_core::__private0::probe::{
                        ByJsonSchema as _, BySilence as _,
                    };
                    my_crate::tool_core::__private0::probe::OutputSchema::<
                        <SendInput as my_crate::tool_core::__private0::Returns>::Output,
                    >::NEW
                        .get()
                },
                start: my_crate::tool_core::__private0::asks::StartOf::<SendInput>::START,
            };
        impl my_crate::tool_core::__private0::Returns for SendInput {
            type Output = <my_crate::tool_core::__private0::asks::Picked<
                { my_crate::tool_core::__private0::asks::ReturnOf::<__Out>::IS },
                __Out,
            > as my_crate::tool_core::__private0::asks::Pick>::Value;
        }
        impl my_crate::tool_core::__private0::Tool for SendInput {
            const NAME: &'static ::core::primitive::str = "send_message";
            const DEF: my_crate::tool_core::__private0::ToolDef =
                my_crate::tool_core::__private0::ToolDef::linked(&__TOOL_CORE_DEF);
            const EFFECT: my_crate::tool_core::__private0::Effect = __TOOL_CORE_DEF.effect;
            type Output = <SendInput as my_crate::tool_core::__private0::Returns>::Output;
            #[allow(clippy::unit_arg)]
            fn run(
                self,
                _: my_crate::tool_core::__private0::ToolContext,
                _: my_crate::tool_core::__private0::Pass,
            ) -> impl my_crate::tool_core::__private0::Future<
                Output = ::core::result::Result<
                    my_crate::tool_core::__private0::Returned<Self::Output>,
                    my_crate::tool_core::__private0::ToolError,
                >,
            >
            + 'static
            + ::core::marker::Send {
                async move {
                    my_crate::tool_core::__private0::asks::ReturnOf::<__Out>::into_returned(
                        send(self.to, self.text).await,
                    )
                }
            }
            fn model_view(
                __output: &Self::Output,
            ) -> ::core::option::Option<my_crate::tool_core::__private0::ModelOutput> {
                {
                    let __view: my_crate::tool_core::__private0::ModelOutput = summary(__output);
                    ::core::option::Option::Some(__view)
                }
            }
            fn to_arguments(
                &self,
            ) -> ::core::option::Option<my_crate::tool_core::__private0::String> {
                use my_crate::tool_core::__private0::probe::Unwritten as _;
                my_crate::tool_core::__private0::probe::Arguments(self).get()
            }
            #[inline]
            fn stored_output(
                __text: &::core::primitive::str,
            ) -> ::core::option::Option<
                my_crate::tool_core::__private0::serde_json::Result<Self::Output>,
            > {
                use my_crate::tool_core::__private0::probe::Unread as _;
                my_crate::tool_core::__private0::probe::StoredOutput::<Self::Output>::NEW
                    .read(__text)
            }
        }
        #[my_crate::tool_core::__private0::linkme::distributed_slice(
            my_crate::tool_core::__private0::TOOLS
        )]
        # [linkme (crate = my_crate :: tool_core :: __private0 :: linkme)]
        static __TOOL_CORE_LINK: my_crate::tool_core::__private0::Link =
            my_crate::tool_core::__private0::Link::new(
                my_crate::tool_core::__private0::ToolDef::linked(&__TOOL_CORE_DEF),
            );
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::__private0::check_root(
            <SendInput as my_crate::tool_core::__private0::HasSpec>::SPEC,
            &<SendInput as my_crate::tool_core::__private0::Facts>::SURVEY,
        );
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::__private0::check_argument(
            <String as my_crate::tool_core::__private0::StrictSchema>::SCHEMA,
            <SendInput as my_crate::tool_core::__private0::HasSpec>::SPEC,
            &<SendInput as my_crate::tool_core::__private0::Facts>::SURVEY,
            0usize,
            "to",
        );
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::__private0::check_argument(
            <String as my_crate::tool_core::__private0::StrictSchema>::SCHEMA,
            <SendInput as my_crate::tool_core::__private0::HasSpec>::SPEC,
            &<SendInput as my_crate::tool_core::__private0::Facts>::SURVEY,
            1usize,
            "text",
        );
        const _: fn() = my_crate::tool_core::__private0::asks::can_return::<
            <__Out as my_crate::tool_core::__private0::asks::Same>::Type,
        >;
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::__private0::check_example_entry(
            <SendInput as my_crate::tool_core::__private0::StrictSchema>::SCHEMA,
            "to",
            &my_crate::tool_core::__private0::Json::String("ada"),
            "send_message",
        );
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::__private0::check_example_entry(
            <SendInput as my_crate::tool_core::__private0::StrictSchema>::SCHEMA,
            "text",
            &my_crate::tool_core::__private0::Json::String("Hello"),
            "send_message",
        );
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::__private0::check_stated_result(
            {
                #[allow(unused_imports)]
                use my_crate::tool_core::__private0::probe::NoTypeSchema as _;
                <my_crate::tool_core::__private0::probe::TypeSchema<
                    <SendInput as my_crate::tool_core::__private0::Returns>::Output,
                >>::SCHEMA
            },
            &my_crate::tool_core::__private0::Example {
                value: &my_crate::tool_core::__private0::Json::Boolean(true),
                text: "true",
            },
            "send_message",
            0usize,
        );
        #[allow(long_running_const_eval)]
        const _: () = my_crate::tool_core::__private0::check_output_keys(
            {
                #[allow(unused_imports)]
                use my_crate::tool_core::__private0::Written as _;
                <my_crate::tool_core::__private0::WrittenMap<
                    <SendInput as my_crate::tool_core::__private0::Returns>::Output,
                >>::UNWRITABLE
                    || <my_crate::tool_core::__private0::WrittenValue<
                        <SendInput as my_crate::tool_core::__private0::Returns>::Output,
                    >>::UNWRITABLE
            },
            "send_message",
        );
    };
};
