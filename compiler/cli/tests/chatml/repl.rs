//! The session without a terminal.

use super::support::{Project, Run};

fn repl(kind: &str, input: &str) -> Run {
    Project::new(&[]).run_with_stdin(&["chatml", "repl", "--kind", kind], input.as_bytes())
}

#[test]
fn inputs_and_answers() {
    for (input, answers) in [
        ("1 + 2\n", "- : int = 3\n"),
        ("1 + 2", "- : int = 3\n"),
        ("let x = 2\nx * x\n", "x : int = 2\n- : int = 4\n"),
        ("let f a = a\nf(\"s\")\n", "f : 'a -> 'a\n- : string = s\n"),
        (
            "let f x =\n  x + 1\nf(1)\n",
            "f : int -> int\n- : int = 2\n",
        ),
        (
            "let f v = match v with\n| `A -> 1\n| `B -> 2\n\nf(`B)\n",
            "f : [ `A | `B ] -> int\n- : int = 2\n",
        ),
        (
            "match 1 with | 1 -> 2 | _ -> 3\n4\n",
            "- : int = 2\n- : int = 4\n",
        ),
        (
            "let a = [1, 2]\n[0]\n",
            "a : int array = [|1, 2|]\n- : int array = [|0|]\n",
        ),
        (
            "type t = int\nmodule M = struct let a = 1 end\nM.a\n",
            "type t\nmodule M\n- : int = 1\n",
        ),
        (
            "print(\"p\")\nprint(\"q\")\n",
            "p\n- : unit = ()\nq\n- : unit = ()\n",
        ),
        ("let s = \"a\n\nb\"\n", "s : string = a\n\nb\n"),
        ("\n\n(* nothing *)\n", ""),
        (":type fun r -> r.port\n", "{ port : 'a; .. } -> 'a\n"),
        (
            "let x = 1\nlet x = true\n:names\n",
            "x : int = 1\nx : bool = true\nx : bool\n",
        ),
        (
            "let x = 1\n:reset\nlet x = 2\n",
            "x : int = 1\nx : int = 2\n",
        ),
        (":quit\n1\n", ""),
        ("1\r\n2\r\n", "- : int = 1\n- : int = 2\n"),
    ] {
        let run = repl("core", input);
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.as_str()),
            (0, answers, ""),
            "{input:?}"
        );
    }
}

#[test]
fn failures_go_on_and_show_in_the_exit_code() {
    for (input, answers, said) in [
        (
            "1 + true\n2\n",
            "- : int = 2\n",
            "error[chatml.type.mismatch]",
        ),
        (
            "let n = ref(1)\nn := 2; fail(\"no\")\n!n\n",
            "n : int ref = ref(1)\n- : int = 1\n",
            "error[chatml.run.fail]: no",
        ),
        (
            "let x =\n\n3\n",
            "- : int = 3\n",
            "error[chatml.syntax.unexpected_end]",
        ),
        ("(1,\n", "", "error[chatml.syntax."),
        (
            "\"a\n\n\n4\n",
            "- : int = 4\n",
            "error[chatml.lex.unterminated_string]",
        ),
        (":typ 1\n3\n", "- : int = 3\n", "try `:type`"),
        (":type\n", "", ":type needs an expression"),
        (":quit now\n1\n", "- : int = 1\n", ":quit takes no argument"),
        (":surface Review\n", "", "has no `Review`"),
    ] {
        let run = repl("core", input);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (1, answers),
            "{input:?}: {}",
            run.stderr
        );
        assert!(run.stderr.contains(said), "{input:?}: {}", run.stderr);
    }
    // Places count from the start of the input.
    let run = repl("core", "let a = 1\nlet b = 2\na + true\n");
    assert!(run.stderr.contains("<input 3>:1:5"), "{}", run.stderr);
    let run = Project::new(&[]).run_with_stdin(&["chatml", "repl"], b"\"\xff\"\n");
    assert_eq!(run.code, 1);
}

#[test]
fn the_surface_is_that_of_the_kind() {
    let run = repl("shell_reviewer", ":surface\n");
    for shown in [
        "string_length : string -> int",
        "Review.approve_for : string -> unit task",
        "type shell_policy",
    ] {
        assert!(run.stdout.contains(shown), "{}", run.stdout);
    }
    for hidden in ["print", "Match.", "shell_audit", "Turn"] {
        assert!(!run.stdout.contains(hidden), "{hidden}: {}", run.stdout);
    }
    for (name, shown) in [
        ("String.trim", "String.trim : string -> string\n  "),
        ("Review", "Review: "),
        ("fail", "fail : string -> 'a\n  "),
        ("json", "type json = [ `Null"),
    ] {
        let run = repl("shell_reviewer", &format!(":surface {name}\n"));
        assert!(run.stdout.starts_with(shown), "{name}: {}", run.stdout);
    }
}

/// An endless line is refused, not gathered.
#[test]
fn an_input_is_bounded() {
    let mut input = vec![b'x'; 3 << 20];
    input.push(b'\n');
    let run = Project::new(&[]).run_with_stdin(&["chatml", "repl"], &input);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("too large"), "{}", run.stderr);
}
