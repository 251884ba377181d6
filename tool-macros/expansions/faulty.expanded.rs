#[doc = " Read a file."]
async fn read_file(path: &str, lines: u32) -> String {
    read(path, lines).await
}
#[doc = "Arguments of the tool `read_file`."]
#[allow(
    non_camel_case_types,
    clippy::derive_partial_eq_without_eq,
    clippy::doc_markdown,
    clippy::pub_underscore_fields,
    clippy::struct_excessive_bools,
    clippy::struct_field_names
)]
struct read_file {
    #[doc = "All arguments."]
    lines: u32,
}
::core::compile_error! { "unknown option `titel`, did you mean `title`? expected one of `name`, `alias`, `title`, `category`, `tags`, `example`, `approval`, `to_model_output`, `timeout`, `sequential`, `harness`, `output_limit`, `read_only`, `destructive`, `idempotent`, `open_world`, `providers`, `secret`, `variable`, `rename_all`, `input`, `allow`, `crate`" }
::core::compile_error! { "[effect] a tool that only reads destroys nothing, keep one of `read_only` and `destructive`" }
::core::compile_error! { "a reference means a host value, but the model fills in a text: take `String`" }
::core::compile_error! { "[field-description-missing] `lines` has no description, write above it in `///` what the model should put there" }
#[doc(hidden)]
const _: () = {
    impl ::tool_core::__private0::HasSpec for read_file {
        const SPEC: &'static ::tool_core::__private0::Spec = &::tool_core::__private0::FAULTY_SPEC;
    }
    impl ::tool_core::__private0::Tool for read_file
    where
        for<'__a> read_file: ::core::marker::Send,
    {
        const NAME: &'static ::core::primitive::str = "";
        const DEF: ::tool_core::__private0::ToolDef = ::tool_core::__private0::FAULTY_DEF;
        const EFFECT: ::tool_core::__private0::Effect = ::tool_core::__private0::Effect::NONE;
        type Output = ();
        fn run(
            self,
            _: ::tool_core::__private0::ToolContext,
            _: ::tool_core::__private0::Pass,
        ) -> impl ::tool_core::__private0::Future<
            Output = ::core::result::Result<
                ::tool_core::__private0::Returned<()>,
                ::tool_core::__private0::ToolError,
            >,
        >
        + 'static
        + ::core::marker::Send {
            ::tool_core::__private0::faulty_run()
        }
    }
};
