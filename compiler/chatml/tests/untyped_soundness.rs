//! What the checker accepts does not go wrong (spec 05 section 5.3). The other generator, in
//! `soundness`, builds programs by type; this one lets the checker choose.
//!
//! Programs grow statement by statement out of random parts: functions that are polymorphic over
//! records, calls with values of random shape, cells, mutations, observations that go wrong at
//! once when a value is not what its type says, and anything else the grammar has. A statement
//! stays if the checker accepts the program with it. So the generator knows nothing of types, and
//! every feature meets every other: rows, joins, references, arrays, closures, recursion, modules,
//! tasks. Each finished program is run; no run may end in `chatml.run.internal`, and the final
//! value, which gathers all variables, must have the inferred type.
//!
//! The generator bites: it finds a failure within some thousand programs when the checker
//! generalises expansive bindings, when a join leaves out that a field is hidden, or when binding a
//! variable does not lower the levels inside, or when row variables are generalised regardless of theirs.
//!
//! `CHATML_SOUND_PROGRAMS` sets how many programs (default 600); `CHATML_SOUND_SEED` where to start.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use chatml::ast::Program;
use chatml::eval::compile;
use chatml::instance::evaluate;
use chatml::limits::{Limits, Unlimited};
use chatml::surface::Kind;
use chatml::{check, parse};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }
}

const LABELS: &[&str] = &["a", "b", "c"];
const TAGS: &[&str] = &["A", "B"];

struct Generator {
    random: Random,
    /// Values in scope, innermost last.
    names: Vec<String>,
    modules: Vec<(String, String)>,
    fresh: usize,
}

impl Generator {
    fn fresh(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn name(&mut self) -> String {
        match self.names.len() {
            0 => "1".to_owned(),
            count => {
                // Recent names more often: programs build on what they have.
                let back = self.random.below(count).min(self.random.below(count));
                self.names[count - 1 - back].clone()
            }
        }
    }

    fn literal(&mut self) -> String {
        self.random
            .pick(&[
                "1", "0", "2", "true", "false", "\"s\"", "()", "1.5", "[]", "{ }",
            ])
            .to_owned()
    }

    fn fields(&mut self, depth: usize) -> String {
        let start = self.random.below(LABELS.len());
        let count = 1 + self.random.below(LABELS.len());
        let fields: Vec<String> = LABELS
            .iter()
            .cycle()
            .skip(start)
            .take(count)
            .map(|label| format!("{label} = {}", self.expr(depth)))
            .collect();
        fields.join("; ")
    }

    /// An expression in which `name` may be used as well.
    fn with(&mut self, name: &str, depth: usize) -> String {
        self.names.push(name.to_owned());
        let body = self.expr(depth);
        self.names.pop();
        body
    }

    fn function(&mut self, depth: usize) -> String {
        let (x, y) = (self.fresh("p"), self.fresh("p"));
        match self.random.below(4) {
            0 => format!("(fun () -> {})", self.expr(depth)),
            1 => {
                self.names.push(x.clone());
                let body = self.with(&y, depth);
                self.names.pop();
                format!("(fun {x} {y} -> {body})")
            }
            _ => format!("(fun {x} -> {})", self.with(&x, depth)),
        }
    }

    fn call(&mut self, depth: usize) -> String {
        let callee = if self.random.below(8) == 0 {
            self.function(depth)
        } else {
            self.name()
        };
        match self.random.below(5) {
            0 => format!("{callee}()"),
            1 | 2 => format!("{callee}({})", self.expr(depth)),
            3 => format!("{callee}({}, {})", self.expr(depth), self.expr(depth)),
            _ => format!(
                "{callee}({}).{}",
                self.expr(depth),
                self.random.pick(LABELS)
            ),
        }
    }

    fn case(&mut self, depth: usize) -> String {
        let tag = self.random.pick(TAGS);
        match self.random.below(4) {
            0 => format!("`{tag}"),
            1 => format!("`{tag}({}, {})", self.expr(depth), self.expr(depth)),
            _ => format!("`{tag}({})", self.expr(depth)),
        }
    }

    fn arms(&mut self, depth: usize) -> String {
        let x = self.fresh("m");
        let tagged = |generator: &mut Self, tag: &str| {
            let x = generator.fresh("m");
            match generator.random.below(3) {
                0 => format!("| `{tag} -> {}", generator.expr(depth)),
                1 => format!("| `{tag}({x}) -> {}", generator.with(&x, depth)),
                _ => format!("| `{tag}(_) -> {}", generator.expr(depth)),
            }
        };
        match self.random.below(6) {
            0 => format!("{} {}", tagged(self, "A"), tagged(self, "B")),
            1 => format!("{} | {x} -> {}", tagged(self, "A"), self.with(&x, depth)),
            2 => format!("{} | _ -> {}", tagged(self, "B"), self.expr(depth)),
            3 => format!(
                "| true -> {} | false -> {}",
                self.expr(depth),
                self.expr(depth)
            ),
            4 => {
                let rest = if self.random.below(3) == 0 { "" } else { "; _" };
                format!(
                    "| {{ {} = {x}{rest} }} -> {}",
                    self.random.pick(LABELS),
                    self.with(&x, depth)
                )
            }
            _ => format!("| 1 -> {} | _ -> {}", self.expr(depth), self.expr(depth)),
        }
    }

    fn local(&mut self, depth: usize) -> String {
        let x = self.fresh("l");
        let value = self.expr(depth);
        let body = self.with(&x, depth);
        match self.random.below(6) {
            0 => format!("(let* {x} = {value} in {body})"),
            1 => format!("(let+ {x} = {value} in {body})"),
            2 => {
                let y = self.fresh("p");
                self.names.push(x.clone());
                let inner = self.with(&y, depth);
                self.names.pop();
                format!("(let rec {x} {y} = {inner} in {body})")
            }
            _ => format!("(let {x} = {value} in {body})"),
        }
    }

    fn library(&mut self, depth: usize) -> String {
        let (e, f) = (
            self.expr(depth),
            if self.random.below(2) == 0 {
                self.name()
            } else {
                self.function(depth)
            },
        );
        match self.random.below(10) {
            0 => format!("Array.map({e}, {f})"),
            1 => format!("Array.fold({e}, {}, {f})", self.expr(depth)),
            2 => format!("Array.append({e}, {})", self.expr(depth)),
            3 => format!("Task.pure({e})"),
            4 => format!("Task.bind({e}, {f})"),
            5 => format!("Option.get_or({e}, {})", self.expr(depth)),
            6 => format!("swap_ref({e}, {})", self.expr(depth)),
            7 => format!("Array.find({e}, {f})"),
            8 => format!("to_string({e})"),
            _ => format!("Array.make(2, {e})"),
        }
    }

    fn expr(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.below(5) == 0 {
            return if self.random.below(3) == 0 {
                self.literal()
            } else {
                self.name()
            };
        }
        let d = depth - 1;
        match self.random.below(30) {
            0..=2 => format!("{{ {} }}", self.fields(d)),
            3 | 4 => format!(
                "{{ {} with {} = {} }}",
                self.expr(d),
                self.random.pick(LABELS),
                self.expr(d)
            ),
            5..=7 => format!("{}.{}", self.name(), self.random.pick(LABELS)),
            8 | 9 => self.case(d),
            10 | 11 => format!("(match {} with {})", self.expr(d), self.arms(d)),
            12 | 13 => self.function(d),
            14..=16 => self.call(d),
            17..=19 => format!(
                "(if {} then {} else {})",
                self.condition(d),
                self.expr(d),
                self.expr(d)
            ),
            20 | 21 => self.local(d),
            22 => format!("[{}, {}]", self.expr(d), self.expr(d)),
            23 => format!("{}[0]", self.name()),
            24 => format!("({}[0] <- {}; {})", self.name(), self.expr(d), self.expr(d)),
            25 => format!("(ref {})", self.expr(d)),
            26 => match self.random.below(2) {
                0 => format!("(!{})", self.name()),
                _ => format!("({} := {}; {})", self.name(), self.expr(d), self.expr(d)),
            },
            27 => match self.modules.len() {
                0 => self.name(),
                count => {
                    let at = self.random.below(count);
                    let (module, member) = &self.modules[at];
                    format!("{module}.{member}")
                }
            },
            28 => self.library(d),
            _ => match self.random.below(3) {
                0 => format!("({} + {})", self.expr(d), self.expr(d)),
                1 => format!("({} == {})", self.expr(d), self.expr(d)),
                _ => format!("({} ++ {})", self.expr(d), self.expr(d)),
            },
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => self.expr(depth),
            1 => "false".to_owned(),
            _ => "true".to_owned(),
        }
    }

    /// A value of a type without variables, mostly small.
    fn ground(&mut self, depth: usize) -> String {
        let leaf = depth == 0 || self.random.below(3) == 0;
        match self.random.below(if leaf { 5 } else { 10 }) {
            0 | 1 => self.random.pick(&["1", "2"]).to_owned(),
            2 => "\"s\"".to_owned(),
            3 => self.random.pick(&["true", "false"]).to_owned(),
            4 => self.name(),
            5 => format!("[{}]", self.ground(depth - 1)),
            6 => format!("`{}({})", self.random.pick(TAGS), self.ground(depth - 1)),
            7 => format!(
                "(fun x -> {})",
                self.random
                    .pick(&["x", "x + 1", "x ++ \"s\"", "[x]", "x.a"])
            ),
            _ => {
                let mut fields: Vec<String> = Vec::new();
                for label in LABELS {
                    if self.random.below(2) == 0 {
                        fields.push(format!("{label} = {}", self.ground(depth - 1)));
                    }
                }
                format!("{{ {} }}", fields.join("; "))
            }
        }
    }

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
    fn program(&mut self) -> (String, Program) {
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

fn accepted(source: &str) -> Option<Program> {
    let parsed = parse(source);
    assert!(parsed.is_ok(), "{source}\n{:?}", parsed.errors);
    check(&parsed.program, Kind::Core)
        .is_ok()
        .then_some(parsed.program)
}

/// What is wrong with a run of an accepted program.
fn complaint(program: &Program) -> Option<String> {
    let checked = check(program, Kind::Core);
    let ty = checked.program_type()?;
    let compiled = match compile(program) {
        Ok(compiled) => Arc::new(compiled),
        Err(error) => return Some(format!("does not compile: {error:?}")),
    };
    let limits = Limits {
        fuel: 5_000,
        ..Limits::default()
    };
    match evaluate(&compiled, &limits, &Unlimited) {
        Ok(evaluation) => evaluation
            .misfit(&ty)
            .map(|what| format!("{what} does not fit `{ty}`")),
        Err(fault) if fault.code == "chatml.run.internal" => Some(fault.to_string()),
        Err(_) => None,
    }
}

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[test]
fn accepted_programs_do_not_go_wrong() {
    let count = from_environment("CHATML_SOUND_PROGRAMS", 600);
    let seed = from_environment("CHATML_SOUND_SEED", 1);
    let mut finished = 0;
    for number in 0..count {
        let mut generator = Generator {
            random: Random(seed.wrapping_mul(1_000_003).wrapping_add(number)),
            names: Vec::new(),
            modules: Vec::new(),
            fresh: 0,
        };
        let (source, program) = generator.program();
        if let Some(complaint) = complaint(&program) {
            panic!("program {number} of seed {seed}: {complaint}\n{source}");
        }
        finished += 1;
    }
    assert_eq!(finished, count);
}
