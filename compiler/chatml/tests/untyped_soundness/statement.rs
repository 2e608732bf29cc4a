//! Statements, and programs of those that the checker accepts.

use chatml::ast::Program;

use crate::accepted;
use crate::generator::{Generator, LABELS};

impl Generator {
    /// The right side of a function that is polymorphic in interesting ways. Its parameters are
    /// `x` and `y`.
    fn helper(&mut self) -> (&'static str, String) {
        let (l, m) = (self.random.pick(LABELS), self.random.pick(LABELS));
        let value = self.ground(1);
        let (o, n) = (self.effect("(w)"), self.effect("(w)"));
        let twice = |e: &str| format!("({}; {}; {e})", o.replace('w', e), n.replace('w', e));
        let bodies: [(&'static str, String); 26] = [
            ("x", format!("{{ x with {l} = {value} }}")),
            ("x y", format!("{{ x with {l} = y }}")),
            (
                "x y",
                format!("if x then y else {{ y with {l} = {value} }}"),
            ),
            (
                "x y",
                format!("if x then {{ y with {m} = {value} }} else {{ y with {l} = {value} }}"),
            ),
            (
                "x y",
                format!("match x with | true -> {{ y with {l} = y.{m} }} | false -> y"),
            ),
            ("x y", format!("if x.{l} then x else {{ x with {m} = y }}")),
            ("x", format!("x.{l}")),
            ("x", format!("{{ {l} = x.{l}; {m}{m} = x }}")),
            ("x y", "[x, y]".to_owned()),
            ("x", "ref x".to_owned()),
            ("x y", "(x := y; x)".to_owned()),
            ("x y", format!("(x.{l}[0] <- y; x)")),
            ("x y", "(x[0] <- y; x)".to_owned()),
            ("x y", "x(y)".to_owned()),
            ("x", "let g = (fun y -> [x, y]) in g".to_owned()),
            ("x", "let r = ref [] in (r := [x]; !r)".to_owned()),
            ("x", "match x with | `A(y) -> y | `B -> 0".to_owned()),
            ("x y", "match x with | `A(z) -> z | _ -> y".to_owned()),
            // Local functions over a parameter: what is the parameter's must not be generalised.
            (
                "x",
                format!("let g = (fun z -> x.{l}) in {}", twice("g(1)")),
            ),
            (
                "x",
                format!("let g = (fun z -> (x := z; !x)) in {}", twice("g(x)")),
            ),
            (
                "x",
                format!(
                    "let g = (fun z -> (x := z; !x)) in ({}; {}; !x)",
                    o.replace('w', "g(1)"),
                    n.replace('w', "g(\"s\")")
                ),
            ),
            ("x", format!("let z = (x.{l}; x) in {}", twice("z"))),
            ("x", format!("let z = x in {}", twice("z"))),
            (
                "x",
                format!(
                    "let g = (fun z -> {{ x with {l} = z }}) in {}",
                    twice("g(1)")
                ),
            ),
            ("x y", "x == y".to_owned()),
            (
                "x y",
                format!(
                    "match x with | {{ {l} = z; _ }} -> if true then x else {{ x with {m} = y }}"
                ),
            ),
        ];
        let at = self.random.below(bodies.len());
        bodies[at].clone()
    }

    /// A use of `subject` by its type.
    fn effect(&mut self, subject: &str) -> String {
        let label = self.random.pick(LABELS);
        match self.random.below(5) {
            0 => format!("{subject} + 1"),
            1 => format!("{subject} ++ \"s\""),
            2 => format!("{subject}.{label} + 1"),
            3 => format!("{subject}.{label} ++ \"s\""),
            _ => format!("(if {subject} then 1 else 2)"),
        }
    }

    fn argument(&mut self) -> String {
        match self.random.below(4) {
            0 => self.name(),
            1 => self
                .random
                .pick(&["true", "false", "`A(1)", "`B", "[]", "ref []", "(ref 1)"])
                .to_owned(),
            _ => self.ground(2),
        }
    }

    /// Something a name may stand for: itself, part of it, what a call of it gives.
    fn subject(&mut self) -> String {
        let name = self.name();
        match self.random.below(8) {
            0 | 1 => name,
            2 => format!("{name}.{}", self.random.pick(LABELS)),
            3 => format!("{name}({})", self.argument()),
            4 => format!("{name}({}, {})", self.argument(), self.argument()),
            5 => format!("(!{name})"),
            6 => format!("{name}[0]"),
            _ => match self.modules.len() {
                0 => name,
                count => {
                    let at = self.random.below(count);
                    let (module, member) = &self.modules[at];
                    format!("{module}.{member}")
                }
            },
        }
    }

    /// A use that goes wrong at once when a value is not what its type says.
    fn observe(&mut self) -> String {
        let subject = self.subject();
        match self.random.below(9) {
            0 => format!("{subject} + 1"),
            1 => format!("{subject} ++ \"s\""),
            2 => format!("{subject}.{} + 1", self.random.pick(LABELS)),
            3 => format!("{subject}.{} ++ \"s\"", self.random.pick(LABELS)),
            4 => format!("if {subject} then 1 else 2"),
            5 => format!("match {subject} with | `A(x) -> x + 1 | _ -> 0"),
            6 => format!("{subject}[0] + 1"),
            7 => format!("if {subject}.{} then 1 else 2", self.random.pick(LABELS)),
            _ => subject,
        }
    }

    fn mutate(&mut self) -> String {
        let (subject, value) = (self.subject(), self.argument());
        match self.random.below(3) {
            0 => format!("({subject} := {value}; 0)"),
            1 => format!("({subject}[0] <- {value}; 0)"),
            _ => format!("(({subject}).{} := {value}; 0)", self.random.pick(LABELS)),
        }
    }

    /// A cell whose content is not fixed yet, or looks so.
    fn cell(&mut self) -> String {
        let open = self
            .random
            .pick(&["[]", "`None", "(fun x -> x)", "{ }", "[[]]", "(ref [])"])
            .to_owned();
        let content = if self.random.below(2) == 0 {
            open
        } else {
            self.subject()
        };
        match self.random.below(4) {
            0 => format!("[{content}]"),
            1 => format!("{{ {} = ref {content} }}", self.random.pick(LABELS)),
            2 => format!("(fun () -> ref {content})()"),
            _ => format!("ref {content}"),
        }
    }

    /// A statement, and the names it defines.
    fn statement(&mut self) -> (String, Vec<String>, Option<(String, String)>) {
        let name = self.fresh("v");
        let text = match self.random.below(14) {
            0..=2 => {
                let (params, body) = self.helper();
                format!("let {name} {params} = {body}")
            }
            3..=5 => format!("let {name} = {}", self.subject()),
            6..=8 => format!("let {name} = {}", self.observe()),
            9 => format!("let {name} = {}", self.mutate()),
            10 => format!("let {name} = {}", self.cell()),
            11 => format!("let {name} = {}", self.ground(2)),
            _ => return self.wild_statement(),
        };
        (text, vec![name], None)
    }

    /// The same out of anything the grammar has.
    fn wild_statement(&mut self) -> (String, Vec<String>, Option<(String, String)>) {
        let x = self.fresh("v");
        let depth = 1 + self.random.below(3);
        match self.random.below(12) {
            0..=4 => (format!("let {x} = {}", self.expr(depth)), vec![x], None),
            5..=8 => {
                let p = self.fresh("p");
                (
                    format!("let {x} {p} = {}", self.with(&p, depth)),
                    vec![x],
                    None,
                )
            }
            9 => {
                let (p, q) = (self.fresh("p"), self.fresh("p"));
                self.names.push(p.clone());
                let body = self.with(&q, depth);
                self.names.pop();
                (format!("let {x} {p} {q} = {body}"), vec![x], None)
            }
            10 => {
                let p = self.fresh("p");
                self.names.push(x.clone());
                let body = self.with(&p, depth);
                self.names.pop();
                (format!("let rec {x} {p} = {body}"), vec![x], None)
            }
            _ => {
                let module = self.fresh("M");
                let text = format!(
                    "module {module} = struct let {x} = {} end",
                    self.expr(depth)
                );
                (text, vec![], Some((module, x)))
            }
        }
    }

    /// A program the checker accepts.
    pub(crate) fn program(&mut self) -> (String, Program) {
        self.names.clear();
        self.modules.clear();
        let mut source = String::new();
        for _ in 0..70 {
            let (text, names, module) = self.statement();
            let longer = format!("{source}{text}\n");
            if accepted(&longer).is_none() {
                continue;
            }
            source = longer;
            self.names.extend(names);
            self.modules.extend(module);
            if self.names.len() > 14 {
                break;
            }
        }
        let all: Vec<String> = self
            .names
            .iter()
            .map(|name| format!("{name} = {name}"))
            .collect();
        let whole = format!("{source}let all = {{ {} }}\nall", all.join("; "));
        let program = accepted(&whole).expect("a record of accepted values is accepted");
        (whole, program)
    }
}
