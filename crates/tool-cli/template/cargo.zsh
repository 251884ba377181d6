
# Cargo's own completion calls this function for `cargo tool …`.
function _cargo-tool() {
    words[1]=cargo-tool
    _clap_dynamic_completer_cargo_tool
}
