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
    use ::tool_core::__private0::asks::{NoDecode as _, NoNode as _, NoSerde as _};
    use ::tool_core::__private0::circle::Open as _;
    type __F0 = String;
    type __F1 = Option<u32>;
    type __F2 = Delivery;
    impl<__Rest, __Target>
        ::tool_core::__private0::circle::Holds<
            ::tool_core::__private0::circle::Step<0usize, __Rest>,
            __Target,
        > for Order
    where
        Delivery: ::tool_core::__private0::circle::Holds<__Rest, __Target>,
    {
    }
    const __BOUNDS_0: &::tool_core::__private0::Constraints =
        &::tool_core::__private0::Constraints {
            min_length: ::core::option::Option::Some(1usize),
            max_length: ::core::option::Option::Some(80usize),
            ..::tool_core::__private0::Constraints::NONE
        };
    #[automatically_derived]
    impl ::tool_core::__private0::StrictSchema for Order {
        const SCHEMA: &'static ::tool_core::__private0::Schema =
            &::tool_core::__private0::Schema::new(::tool_core::__private0::Kind::Object(&[
                ::tool_core::__private0::Field::new(
                    "product",
                    ::tool_core::__private0::Text::escaped("The product."),
                    &::tool_core::__private0::Schema::new(
                        ::tool_core::__private0::Kind::Constrained(
                            ::tool_core::__private0::asks::NodeOf::<__F0>::NODE,
                            __BOUNDS_0,
                        ),
                    ),
                ),
                ::tool_core::__private0::Field::new(
                    "pieces",
                    ::tool_core::__private0::Text::escaped("The number of pieces."),
                    ::tool_core::__private0::asks::NodeOf::<__F1>::NODE,
                ),
                ::tool_core::__private0::Field::new(
                    "delivery",
                    ::tool_core::__private0::Text::escaped("The way of delivery."),
                    ::tool_core::__private0::asks::NodeOf::<__F2>::NODE,
                ),
            ]))
            .named("Order")
            .within(<Self as ::tool_core::__private0::StrictSchema>::MODULE)
            .described(::tool_core::__private0::Text::escaped("An order."))
            .checked_if(__INPUT);
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
    }
    #[automatically_derived]
    impl ::tool_core::__private0::UnwritableKey for Order {}
    type __V0 = ::tool_core::__private0::read::Via<
        {
            ::tool_core::__private0::read::how(
                ::tool_core::__private0::asks::DecodeOf::<__F0>::ASKS,
                ::tool_core::__private0::asks::SerdeOf::<__F0>::IS,
                ::tool_core::__private0::asks::NodeOf::<__F0>::IS,
            )
        },
        __F0,
    >;
    type __V1 = ::tool_core::__private0::read::Via<
        {
            ::tool_core::__private0::read::how(
                ::tool_core::__private0::asks::DecodeOf::<__F1>::ASKS,
                ::tool_core::__private0::asks::SerdeOf::<__F1>::IS,
                ::tool_core::__private0::asks::NodeOf::<__F1>::IS,
            )
        },
        __F1,
    >;
    type __V2 = ::tool_core::__private0::read::Via<
        {
            ::tool_core::__private0::read::how(
                ::tool_core::__private0::asks::DecodeOf::<__F2>::ASKS,
                ::tool_core::__private0::asks::SerdeOf::<__F2>::IS,
                ::tool_core::__private0::asks::NodeOf::<__F2>::IS,
            )
        },
        __F2,
    >;
    #[automatically_derived]
    impl ::tool_core::__private0::read::Decode for Order
    where
        for<'__a> (
            ::tool_core::__private0::read::One<__V0>,
            (
                ::tool_core::__private0::read::One<__V1>,
                (::tool_core::__private0::read::One<__V2>, ()),
            ),
        ): ::tool_core::__private0::read::Parts<Values = (__F0, (__F1, (__F2, ())))>,
    {
        #[allow(deprecated)]
        fn decode(
            __reader: &mut ::tool_core::__private0::read::Reader<'_>,
            __node: ::tool_core::__private0::read::Node<'_>,
        ) -> ::tool_core::__private0::Result<Self, ::tool_core::__private0::read::Unfit> {
            if let ::core::option::Option::Some(__read) =
                ::tool_core::__private0::asks::SerdeOf::<Order>::READ
            {
                return __read(__reader, __node);
            }
            let (__0, (__1, (__2, ()))) = __reader.fields::<(
                ::tool_core::__private0::read::One<__V0>,
                (
                    ::tool_core::__private0::read::One<__V1>,
                    (::tool_core::__private0::read::One<__V2>, ()),
                ),
            )>(__node, true)?;
            ::tool_core::__private0::Result::Ok(Self {
                product: __0,
                pieces: __1,
                delivery: __2,
            })
        }
    }
    const __INPUT: ::core::primitive::bool = {
        #[allow(unused_imports)]
        use ::tool_core::__private0::probe::NotSerde as _;
        <::tool_core::__private0::probe::Serde<Order>>::READ
            || !<::tool_core::__private0::probe::Serde<Order>>::WRITTEN
    };
    #[allow(long_running_const_eval)]
    const _: () = ::tool_core::__private0::check_field(
        <String as ::tool_core::__private0::StrictSchema>::SCHEMA,
        "Order",
        "product",
        __INPUT,
    );
    #[allow(long_running_const_eval)]
    const _: () = ::tool_core::__private0::check_constraints(
        ::tool_core::__private0::asks::NodeOf::<__F0>::NODE,
        __BOUNDS_0,
        "Order",
        "product",
    );
    #[allow(long_running_const_eval)]
    const _: () = ::tool_core::__private0::check_field(
        <Option<u32> as ::tool_core::__private0::StrictSchema>::SCHEMA,
        "Order",
        "pieces",
        __INPUT,
    );
    #[allow(long_running_const_eval)]
    const _: () = ::tool_core::__private0::check_field(
        <Delivery as ::tool_core::__private0::StrictSchema>::SCHEMA,
        "Order",
        "delivery",
        __INPUT,
    );
    #[automatically_derived]
    impl ::tool_core::__private0::IntoOutput for Order
    where
        for<'__serialize> Self:
            ::tool_core::__private0::serde::Serialize + ::core::marker::Send + 'static,
    {
        type Value = Self;
        fn into_returned(
            self,
        ) -> ::core::result::Result<
            ::tool_core::__private0::Returned<Self>,
            ::tool_core::__private0::ToolError,
        > {
            ::core::result::Result::Ok(::tool_core::__private0::Returned::Value(self))
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
    use ::tool_core::__private0::asks::{NoDecode as _, NoNode as _, NoSerde as _};
    use ::tool_core::__private0::circle::Open as _;
    type __F0 = String;
    #[automatically_derived]
    impl ::tool_core::__private0::StrictSchema for Delivery {
        const SCHEMA: &'static ::tool_core::__private0::Schema =
            &::tool_core::__private0::Schema::new(::tool_core::__private0::Kind::Union(
                ::tool_core::__private0::Union {
                    tagging: ::tool_core::__private0::Tagging::Internal { tag: "kind" },
                    variants: &[
                        ::tool_core::__private0::Variant {
                            name: "mail",
                            description: ::tool_core::__private0::Text::escaped("By mail."),
                            schema: ::core::option::Option::Some(
                                &::tool_core::__private0::Schema::new(
                                    ::tool_core::__private0::Kind::Object(&[
                                        ::tool_core::__private0::Field::new(
                                            "address",
                                            ::tool_core::__private0::Text::escaped("The address."),
                                            ::tool_core::__private0::asks::NodeOf::<__F0>::NODE,
                                        ),
                                    ]),
                                ),
                            ),
                        },
                        ::tool_core::__private0::Variant {
                            name: "pick_up",
                            description: ::tool_core::__private0::Text::escaped(
                                "The customer fetches it.",
                            ),
                            schema: ::core::option::Option::None,
                        },
                    ],
                },
            ))
            .named("Delivery")
            .within(<Self as ::tool_core::__private0::StrictSchema>::MODULE)
            .checked_if(__INPUT);
        const MODULE: &'static ::core::primitive::str = ::core::module_path!();
    }
    type __V0 = ::tool_core::__private0::read::Via<
        {
            ::tool_core::__private0::read::how(
                ::tool_core::__private0::asks::DecodeOf::<__F0>::ASKS,
                ::tool_core::__private0::asks::SerdeOf::<__F0>::IS,
                ::tool_core::__private0::asks::NodeOf::<__F0>::IS,
            )
        },
        __F0,
    >;
    #[automatically_derived]
    impl ::tool_core::__private0::read::Decode for Delivery
    where
        for<'__a> (::tool_core::__private0::read::One<__V0>, ()):
            ::tool_core::__private0::read::Parts<Values = (__F0, ())>,
    {
        #[allow(deprecated)]
        fn decode(
            __reader: &mut ::tool_core::__private0::read::Reader<'_>,
            __node: ::tool_core::__private0::read::Node<'_>,
        ) -> ::tool_core::__private0::Result<Self, ::tool_core::__private0::read::Unfit> {
            if let ::core::option::Option::Some(__read) =
                ::tool_core::__private0::asks::SerdeOf::<Delivery>::READ
            {
                return __read(__reader, __node);
            }
            __reader.variant(__node, |__reader, __number, __node| match __number {
                0usize => {
                    let (__0, ()) = __reader
                        .fields::<(::tool_core::__private0::read::One<__V0>, ())>(__node, true)?;
                    ::tool_core::__private0::Result::Ok(Self::Mail { address: __0 })
                }
                1usize => ::tool_core::__private0::Result::Ok(Self::PickUp),
                _ => __reader.none(),
            })
        }
    }
    const __INPUT: ::core::primitive::bool = {
        #[allow(unused_imports)]
        use ::tool_core::__private0::probe::NotSerde as _;
        <::tool_core::__private0::probe::Serde<Delivery>>::READ
            || !<::tool_core::__private0::probe::Serde<Delivery>>::WRITTEN
    };
    #[allow(long_running_const_eval)]
    const _: () = ::tool_core::__private0::check_field(
        <String as ::tool_core::__private0::StrictSchema>::SCHEMA,
        "Delivery",
        "Mail.address",
        __INPUT,
    );
    #[automatically_derived]
    impl ::tool_core::__private0::IntoOutput for Delivery
    where
        for<'__serialize> Self:
            ::tool_core::__private0::serde::Serialize + ::core::marker::Send + 'static,
    {
        type Value = Self;
        fn into_returned(
            self,
        ) -> ::core::result::Result<
            ::tool_core::__private0::Returned<Self>,
            ::tool_core::__private0::ToolError,
        > {
            ::core::result::Result::Ok(::tool_core::__private0::Returned::Value(self))
        }
    }
};
