//! Names that newcomers bring along from other formats, and what says the same here.

/// Where what an element `name` below `parent` is meant to say is written.
pub(super) fn element(parent: &str, matcher: bool, name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    Some(match (parent, name.as_str()) {
        (_, "command" | "cmd" | "commands" | "match") if matcher => {
            "to match by the program's name write `<basename value=\"git\"/>`; \
             by the first words of the command, `<argv_prefix values=\"git, status\"/>`"
        }
        (_, "args" | "arg" | "arguments") if matcher => {
            "to match the first words of a command write `<argv_prefix values=\"git, status\"/>`; \
             to match one argument, `<argument …/>`"
        }
        ("shell_access", "network" | "internet" | "net") => {
            "the network is a capability: `<capabilities network=\"true\"/>`"
        }
        ("shell_access", "read" | "write" | "filesystem" | "path" | "paths" | "root" | "roots") => {
            "paths stand in `<capabilities>`: `<capabilities><read path=\"${workspace}\"/></capabilities>`"
        }
        ("shell_access", "allow" | "deny" | "ask" | "rule" | "rules" | "command" | "commands") => {
            "what may run is decided by rules: `<policy><rule id=\"git\" action=\"allow\">\
             <basename value=\"git\"/></rule></policy>`"
        }
        ("policy", "allow" | "deny" | "ask") => {
            "the action is an attribute of the rule: `<rule id=\"git\" action=\"allow\">\
             <basename value=\"git\"/></rule>`"
        }
        ("shell_access", "timeout" | "limit") => "times are limits: `<limits wall_time=\"30s\"/>`",
        ("shell_access", "env" | "variables") => "variables stand in `<environment>`",
        ("tool", "description") => "the description is an attribute: `<tool … description=\"…\">`",
        ("tool", "args" | "arg") => {
            "fixed arguments follow the program: `<command program=\"git\"><arg value=\"status\"/></command>`"
        }
        ("tool", "timeout" | "limits") => {
            "times are limits of the runtime: `<limits wall_time=\"30s\"/>` in its `<shell_access>`"
        }
        _ => return None,
    })
}

/// The attribute of `element` that says what `name` is meant to say.
pub(super) fn rename(element: &str, name: &str) -> Option<&'static str> {
    Some(match (element, name) {
        ("limits", "timeout" | "time" | "duration") => "wall_time",
        ("tool", "cmd" | "run" | "exec") => "command",
        ("shell_access" | "script", "name") => "id",
        ("import", "file" | "path" | "href") => "src",
        _ => return None,
    })
}

/// Where what an attribute `name` of `element` is meant to say is written, if not in an attribute
/// of the same element.
pub(super) fn attribute(element: &str, name: &str) -> Option<&'static str> {
    Some(match (element, name) {
        ("tool", "args" | "arg" | "arguments" | "argv") => {
            "fixed arguments are part of the command: `command=\"git status\"`, or \
             `<command program=\"git\"><arg value=\"status\"/></command>`"
        }
        ("tool" | "shell_access" | "rule", "timeout" | "wall_time") => {
            "times are limits of the runtime: `<limits wall_time=\"30s\"/>` in its `<shell_access>`"
        }
        ("shell_access" | "tool", "network") => {
            "the network is a capability of the runtime: `<capabilities network=\"true\"/>` in its `<shell_access>`"
        }
        ("tool", "cwd" | "env" | "sandbox") => {
            "this belongs to the runtime: write it in its `<shell_access>`"
        }
        ("rule", "allow" | "deny" | "ask" | "command" | "program" | "match") => {
            "a rule says what it does by `action` and what it is about by its content: \
             `<rule id=\"git\" action=\"allow\"><basename value=\"git\"/></rule>`"
        }
        _ => return None,
    })
}
