//! Expressions out of random parts.

use crate::random::Random;

pub(crate) const LABELS: &[&str] = &["a", "b", "c"];
pub(crate) const TAGS: &[&str] = &["A", "B"];

/// What a program is made of so far.
pub(crate) struct Generator {
    pub(crate) random: Random,
    /// Values in scope, innermost last.
    pub(crate) names: Vec<String>,
    pub(crate) modules: Vec<(String, String)>,
    pub(crate) fresh: usize,
}

impl Generator {
    pub(crate) fn fresh(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    pub(crate) fn name(&mut self) -> String {
        match self.names.len() {
            0 => "1".to_owned(),
            count => {
                // Recent names more often: programs build on what they have.
                let back = self.random.below(count).min(self.random.below(count));
                self.names[count - 1 - back].clone()
            }
        }
    }

    pub(crate) fn literal(&mut self) -> String {
        self.random
            .pick(&[
                "1", "0", "2", "true", "false", "\"s\"", "()", "1.5", "[]", "{ }",
            ])
            .to_owned()
    }

    pub(crate) fn fields(&mut self, depth: usize) -> String {
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
    pub(crate) fn with(&mut self, name: &str, depth: usize) -> String {
        self.names.push(name.to_owned());
        let body = self.expr(depth);
        self.names.pop();
        body
    }

    pub(crate) fn function(&mut self, depth: usize) -> String {
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

    pub(crate) fn call(&mut self, depth: usize) -> String {
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

    pub(crate) fn case(&mut self, depth: usize) -> String {
        let tag = self.random.pick(TAGS);
        match self.random.below(4) {
            0 => format!("`{tag}"),
            1 => format!("`{tag}({}, {})", self.expr(depth), self.expr(depth)),
            _ => format!("`{tag}({})", self.expr(depth)),
        }
    }

    pub(crate) fn arms(&mut self, depth: usize) -> String {
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

    pub(crate) fn local(&mut self, depth: usize) -> String {
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

    pub(crate) fn library(&mut self, depth: usize) -> String {
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

    pub(crate) fn expr(&mut self, depth: usize) -> String {
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

    pub(crate) fn condition(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => self.expr(depth),
            1 => "false".to_owned(),
            _ => "true".to_owned(),
        }
    }

    /// A value of a type without variables, mostly small.
    pub(crate) fn ground(&mut self, depth: usize) -> String {
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
}
