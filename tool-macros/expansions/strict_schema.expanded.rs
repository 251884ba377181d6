#[doc(hidden)]
#[allow(
    dead_code,
    non_camel_case_types,
    private_bounds,
    unused_imports,
    unused_qualifications,
    long_running_const_eval,
    clippy::absolute_paths,
    reason = "generated from names and types that the user chose"
)]
const _: () = {
    use ::tool_core::private::asks::{NoDecode as _, NoNode as _, NoSerde as _};
    use ::tool_core::private::circle::Open as _;
    type __F0 = String;
    type __F1 = Option<u32>;
    type __F2 = Delivery;
    impl<__Rest, __Target>
        ::tool_core::private::circle::Holds<
            ::tool_core::private::circle::Step<0usize, __Rest>,
            __Target,
        > for Order
    where
        Delivery: ::tool_core::private::circle::Holds<__Rest, __Target>,
    {
    }
    const __BOUNDS_0: &::tool_core::private::Constraints = &::tool_core::private::Constraints {
        min_length: ::core::option::Option::Some(1usize),
        max_length: ::core::option::Option::Some(80usize),
        ..::tool_core::private::Constraints::NONE
    };
    #[automatically_derived]
    impl ::tool_core::private::StrictSchema for Order {
        const SCHEMA: &'static ::tool_core::private::Schema =
            &::tool_core::private::Schema::new(::tool_core::private::Kind::Object(&[
                ::tool_core::private::Field::new(
                    "product",
                    ::tool_core::private::Text::escaped("The product."),
                    &::tool_core::private::Schema::new(::tool_core::private::Kind::Constrained(
                        ::tool_core::private::asks::NodeOf::<__F0>::NODE,
                        __BOUNDS_0,
                    )),
                ),
                ::tool_core::private::Field::new(
                    "pieces",
                    ::tool_core::private::Text::escaped("The number of pieces."),
                    ::tool_core::private::asks::NodeOf::<__F1>::NODE,
                ),
                ::tool_core::private::Field::new(
                    "delivery",
                    ::tool_core::private::Text::escaped("The way of delivery."),
                    ::tool_core::private::asks::NodeOf::<__F2>::NODE,
                ),
            ]))
            .named("Order")
            .within(<Self as ::tool_core::private::StrictSchema>::MODULE)
            .described(::tool_core::private::Text::escaped("An order."))
            .checked_if(__INPUT);
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
    }
    #[automatically_derived]
    impl ::tool_core::private::UnwritableKey for Order {}
    type __V0 = ::tool_core::private::read::Via<
        {
            ::tool_core::private::read::how(
                ::tool_core::private::asks::DecodeOf::<__F0>::ASKS,
                ::tool_core::private::asks::SerdeOf::<__F0>::IS,
                ::tool_core::private::asks::NodeOf::<__F0>::IS,
            )
        },
        __F0,
    >;
    type __V1 = ::tool_core::private::read::Via<
        {
            ::tool_core::private::read::how(
                ::tool_core::private::asks::DecodeOf::<__F1>::ASKS,
                ::tool_core::private::asks::SerdeOf::<__F1>::IS,
                ::tool_core::private::asks::NodeOf::<__F1>::IS,
            )
        },
        __F1,
    >;
    type __V2 = ::tool_core::private::read::Via<
        {
            ::tool_core::private::read::how(
                ::tool_core::private::asks::DecodeOf::<__F2>::ASKS,
                ::tool_core::private::asks::SerdeOf::<__F2>::IS,
                ::tool_core::private::asks::NodeOf::<__F2>::IS,
            )
        },
        __F2,
    >;
    #[automatically_derived]
    impl ::tool_core::private::read::Decode for Order
    where
        for<'__a> (
            ::tool_core::private::read::One<__V0>,
            (
                ::tool_core::private::read::One<__V1>,
                (::tool_core::private::read::One<__V2>, ()),
            ),
        ): ::tool_core::private::read::Parts<Values = (__F0, (__F1, (__F2, ())))>,
    {
        #[allow(deprecated)]
        fn decode(
            __reader: &mut ::tool_core::private::read::Reader<'_>,
            __node: ::tool_core::private::read::Node<'_>,
        ) -> ::tool_core::private::Result<Self, ::tool_core::private::read::Unfit> {
            if let ::core::option::Option::Some(__read) =
                ::tool_core::private::asks::SerdeOf::<Order>::READ
            {
                return __read(__reader, __node);
            }
            let (__0, (__1, (__2, ()))) = __reader.fields::<(
                ::tool_core::private::read::One<__V0>,
                (
                    ::tool_core::private::read::One<__V1>,
                    (::tool_core::private::read::One<__V2>, ()),
                ),
            )>(__node, true)?;
            ::tool_core::private::Result::Ok(Self {
                product: __0,
                pieces: __1,
                delivery: __2,
            })
        }
    }
    const __INPUT: ::core::primitive::bool = {
        #[allow(unused_imports)]
        use ::tool_core::private::probe::NotSerde as _;
        <::tool_core::private::probe::Serde<Order>>::READ
            || !<::tool_core::private::probe::Serde<Order>>::WRITTEN
    };
    #[allow(long_running_const_eval)]
    const _: () = ::tool_core::private::check_field(
        <String as ::tool_core::private::StrictSchema>::SCHEMA,
        "Order",
        "product",
        __INPUT,
    );
    #[allow(long_running_const_eval)]
    const _: () = ::tool_core::private::check_constraints(
        ::tool_core::private::asks::NodeOf::<__F0>::NODE,
        __BOUNDS_0,
        "Order",
        "product",
    );
    #[allow(long_running_const_eval)]
    const _: () = ::tool_core::private::check_field(
        <Option<u32> as ::tool_core::private::StrictSchema>::SCHEMA,
        "Order",
        "pieces",
        __INPUT,
    );
    #[allow(long_running_const_eval)]
    const _: () = ::tool_core::private::check_field(
        <Delivery as ::tool_core::private::StrictSchema>::SCHEMA,
        "Order",
        "delivery",
        __INPUT,
    );
    #[automatically_derived]
    impl ::tool_core::private::IntoOutput for Order
    where
        for<'__serialize> Self:
            ::tool_core::private::serde::Serialize + ::core::marker::Send + 'static,
    {
        type Value = Self;
        fn into_returned(
            self,
        ) -> ::core::result::Result<
            ::tool_core::private::Returned<Self>,
            ::tool_core::private::ToolError,
        > {
            ::core::result::Result::Ok(::tool_core::private::Returned::Value(self))
        }
    }
};
#[doc(hidden)]
#[allow(
    dead_code,
    non_camel_case_types,
    private_bounds,
    unused_imports,
    unused_qualifications,
    long_running_const_eval,
    clippy::absolute_paths,
    reason = "generated from names and types that the user chose"
)]
const _: () = {
    use ::tool_core::private::asks::{NoDecode as _, NoNode as _, NoSerde as _};
    use ::tool_core::private::circle::Open as _;
    type __F0 = String;
    #[automatically_derived]
    impl ::tool_core::private::StrictSchema for Delivery {
        const SCHEMA: &'static ::tool_core::private::Schema = &::tool_core::private::Schema::new(
            ::tool_core::private::Kind::Union(::tool_core::private::Union {
                tagging: ::tool_core::private::Tagging::Internal { tag: "kind" },
                variants: &[
                    ::tool_core::private::Variant {
                        name: "mail",
                        description: ::tool_core::private::Text::escaped("By mail."),
                        schema: ::core::option::Option::Some(&::tool_core::private::Schema::new(
                            ::tool_core::private::Kind::Object(&[
                                ::tool_core::private::Field::new(
                                    "address",
                                    ::tool_core::private::Text::escaped("The address."),
                                    ::tool_core::private::asks::NodeOf::<__F0>::NODE,
                                ),
                            ]),
                        )),
                    },
                    ::tool_core::private::Variant {
                        name: "pick_up",
                        description: ::tool_core::private::Text::escaped(
                            "The customer fetches it.",
                        ),
                        schema: ::core::option::Option::None,
                    },
                ],
            }),
        )
        .named("Delivery")
        .within(<Self as ::tool_core::private::StrictSchema>::MODULE)
        .checked_if(__INPUT);
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
    }
    type __V0 = ::tool_core::private::read::Via<
        {
            ::tool_core::private::read::how(
                ::tool_core::private::asks::DecodeOf::<__F0>::ASKS,
                ::tool_core::private::asks::SerdeOf::<__F0>::IS,
                ::tool_core::private::asks::NodeOf::<__F0>::IS,
            )
        },
        __F0,
    >;
    #[automatically_derived]
    impl ::tool_core::private::read::Decode for Delivery
    where
        for<'__a> (::tool_core::private::read::One<__V0>, ()):
            ::tool_core::private::read::Parts<Values = (__F0, ())>,
    {
        #[allow(deprecated)]
        fn decode(
            __reader: &mut ::tool_core::private::read::Reader<'_>,
            __node: ::tool_core::private::read::Node<'_>,
        ) -> ::tool_core::private::Result<Self, ::tool_core::private::read::Unfit> {
            if let ::core::option::Option::Some(__read) =
                ::tool_core::private::asks::SerdeOf::<Delivery>::READ
            {
                return __read(__reader, __node);
            }
            __reader.variant(__node, |__reader, __number, __node| match __number {
                0usize => {
                    let (__0, ()) = __reader
                        .fields::<(::tool_core::private::read::One<__V0>, ())>(__node, true)?;
                    ::tool_core::private::Result::Ok(Self::Mail { address: __0 })
                }
                1usize => ::tool_core::private::Result::Ok(Self::PickUp),
                _ => __reader.none(),
            })
        }
    }
    const __INPUT: ::core::primitive::bool = {
        #[allow(unused_imports)]
        use ::tool_core::private::probe::NotSerde as _;
        <::tool_core::private::probe::Serde<Delivery>>::READ
            || !<::tool_core::private::probe::Serde<Delivery>>::WRITTEN
    };
    #[allow(long_running_const_eval)]
    const _: () = ::tool_core::private::check_field(
        <String as ::tool_core::private::StrictSchema>::SCHEMA,
        "Delivery",
        "Mail.address",
        __INPUT,
    );
    #[automatically_derived]
    impl ::tool_core::private::IntoOutput for Delivery
    where
        for<'__serialize> Self:
            ::tool_core::private::serde::Serialize + ::core::marker::Send + 'static,
    {
        type Value = Self;
        fn into_returned(
            self,
        ) -> ::core::result::Result<
            ::tool_core::private::Returned<Self>,
            ::tool_core::private::ToolError,
        > {
            ::core::result::Result::Ok(::tool_core::private::Returned::Value(self))
        }
    }
};
