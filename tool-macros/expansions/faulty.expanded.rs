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
::core::compile_error! { "unknown option `titel`, did you mean `title`? known are `name`, `title`, `category`, `tags`, `example`, `approval`, `to_model_output`, `timeout`, `sequential`, `harness`, `output_limit`, `read_only`, `destructive`, `idempotent`, `open_world`, `providers`, `secret`, `variable`, `rename_all`, `input`, `allow`, `crate`" }
::core::compile_error! { "[effect] a tool that only reads destroys nothing, keep one of `read_only` and `destructive`" }
::core::compile_error! { "a reference comes from the host and a text from the model, take `String`" }
::core::compile_error! { "[field-description-missing] `lines` has no description, write above it in `///` what the model should put there" }
#[doc(hidden)]
const _: () = {
    impl ::tool_core::private::HasSpec for read_file {
        const SPEC: &'static ::tool_core::private::Spec = &::tool_core::private::FAULTY_SPEC;
    }
    impl ::tool_core::private::Tool for read_file
    where
        for<'__a> read_file: ::core::marker::Send,
    {
        const NAME: &'static ::core::primitive::str = "";
        const DEF: ::tool_core::private::ToolDef = ::tool_core::private::FAULTY_DEF;
        const EFFECT: ::tool_core::private::Effect = ::tool_core::private::Effect::NONE;
        type Output = ();
        fn run(
            self,
            _: ::tool_core::private::ToolContext,
            _: ::tool_core::private::Pass,
        ) -> impl ::tool_core::private::Future<
            Output = ::core::result::Result<
                ::tool_core::private::Returned<()>,
                ::tool_core::private::ToolError,
            >,
        >
        + 'static
        + ::core::marker::Send {
            ::tool_core::private::faulty_run()
        }
    }
};
