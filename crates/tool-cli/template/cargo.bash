
# `cargo tool …` is completed like the program `cargo-tool …`. Cargo's own completion handles everything else.
_cargo_tool_completes() {
    complete -p cargo 2> /dev/null | sed -n 's/.* -F \([^ ]*\) .*/\1/p'
}
_cargo_tool_behind_cargo() {
    local all=("${COMP_WORDS[@]}") last=${COMP_CWORD} at=1
    if [[ "${all[1]}" == +* ]]; then
        at=2
    fi
    if [[ "${all[at]}" == tool && ${last} -gt ${at} ]]; then
        local COMP_WORDS=(cargo-tool "${all[@]:at + 1}") COMP_CWORD=$((last - at))
        _clap_complete_cargo_tool cargo-tool "$2" "$3"
        return
    fi
    if [[ -z "${_cargo_tool_cargo}" ]]; then
        # bash-completion loads cargo's completion when it is first requested.
        complete -r cargo 2> /dev/null
        if declare -F _comp_load > /dev/null; then
            _comp_load cargo
        elif declare -F _completion_loader > /dev/null; then
            _completion_loader cargo
        fi
        _cargo_tool_cargo="$(_cargo_tool_completes)"
        : "${_cargo_tool_cargo:=none}"
        complete -o bashdefault -o default -F _cargo_tool_behind_cargo cargo
    fi
    if [[ "${_cargo_tool_cargo}" != none ]]; then
        "${_cargo_tool_cargo}" "$@"
    fi
}
if [[ "$(_cargo_tool_completes)" != _cargo_tool_behind_cargo ]]; then
    _cargo_tool_cargo="$(_cargo_tool_completes)"
    complete -o bashdefault -o default -F _cargo_tool_behind_cargo cargo
fi
