//! Random programs that the checker accepts.
//!
//! A program grows statement by statement. Each statement is a guess that follows the types of what is
//! there, not too closely: guesses that the checker refuses are dropped, so what it accepts wrongly is
//! kept and run. Labels and tags come from small sets, so that rows meet.

use chatml::check::{BindingKind, check};
use chatml::surface::Kind;
use chatml::types::{NodeId, NodeKind, TypeGraph};
use chatml::{Checked, parse};

/// SplitMix64: small, fast, the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let index = self.below(items.len() as u64);
        &items[usize::try_from(index).unwrap()]
    }
}

/// What a guess aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Int,
    Float,
    Bool,
    Text,
    Unit,
    Record,
    Variant,
    Array,
    Ref,
    Task,
    Function,
    Any,
}

const SORTS: &[Sort] = &[
    Sort::Int,
    Sort::Int,
    Sort::Float,
    Sort::Bool,
    Sort::Text,
    Sort::Unit,
    Sort::Record,
    Sort::Record,
    Sort::Variant,
    Sort::Variant,
    Sort::Array,
    Sort::Ref,
    Sort::Task,
    Sort::Function,
];

const LABELS: &[&str] = &["a", "b", "c", "d"];
const TAGS: &[(&str, usize)] = &[("A", 0), ("B", 1), ("C", 2), ("Some", 1), ("None", 0)];

fn sort_of(ty: &TypeGraph, node: NodeId) -> Sort {
    match ty.node(node).map(|node| &node.kind) {
        Some(NodeKind::Int) => Sort::Int,
        Some(NodeKind::Float) => Sort::Float,
        Some(NodeKind::Bool) => Sort::Bool,
        Some(NodeKind::String) => Sort::Text,
        Some(NodeKind::Unit) => Sort::Unit,
        Some(NodeKind::Record { .. }) => Sort::Record,
        Some(NodeKind::Variant { .. }) => Sort::Variant,
        Some(NodeKind::Array(_)) => Sort::Array,
        Some(NodeKind::Ref(_)) => Sort::Ref,
        Some(NodeKind::Task(_)) => Sort::Task,
        Some(NodeKind::Function { .. }) => Sort::Function,
        _ => Sort::Any,
    }
}

/// A name in scope, with its type where the checker has said it.
#[derive(Clone, Debug)]
struct Name {
    text: String,
    sort: Sort,
    ty: Option<TypeGraph>,
}

struct Generator {
    random: Random,
    names: Vec<Name>,
    fresh: u32,
    /// How deep [`Generator::of_type`] is in a type.
    nesting: u32,
}

/// The program of a seed. The checker accepts it.
pub(crate) fn program(seed: u64) -> String {
    let mut generator = Generator {
        random: Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d)),
        names: Vec::new(),
        fresh: 0,
        nesting: 0,
    };
    let mut source = String::new();
    let statements = 4 + generator.random.below(8);
    for _ in 0..statements {
        for _attempt in 0..6 {
            let candidate = format!("{source}{}\n", generator.statement());
            if let Some(checked) = checked(&candidate) {
                generator.learn(&checked);
                source = candidate;
                break;
            }
        }
    }
    for _attempt in 0..12 {
        let sort = *generator.random.pick(SORTS);
        let last = generator.expression(sort, 4);
        let candidate = format!("{source}let out = {last}\n");
        if checked(&candidate).is_some() {
            return candidate;
        }
    }
    format!("{source}let out = 0\n")
}

fn checked(source: &str) -> Option<Checked> {
    let parsed = parse(source);
    if !parsed.is_ok() {
        return None;
    }
    let checked = check(&parsed.program, Kind::Core);
    checked.is_ok().then_some(checked)
}

impl Generator {
    /// Takes over the names of the program with their types.
    fn learn(&mut self, checked: &Checked) {
        self.names.clear();
        for binding in &checked.bindings {
            if binding.kind != BindingKind::Value {
                continue;
            }
            let Some(ty) = checked.scheme(binding) else {
                continue;
            };
            self.names.push(Name {
                text: binding.name.to_string(),
                sort: sort_of(&ty, ty.root),
                ty: Some(ty),
            });
        }
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn statement(&mut self) -> String {
        match self.random.below(10) {
            0..4 => self.helper(),
            4 => self.recursive(),
            5 => {
                let module = self.fresh("M");
                let (first, second) = (self.fresh("m"), self.fresh("m"));
                let sort = *self.random.pick(SORTS);
                let value = self.expression(sort, 2);
                let function = self.lambda(2, 2);
                let out = self.fresh("v");
                let member = if self.random.chance(50) {
                    &first
                } else {
                    &second
                };
                format!(
                    "module {module} = struct let {first} = {value} let {second} = {function} end\nlet {out} = {module}.{member}"
                )
            }
            _ => {
                let name = self.fresh("v");
                let sort = *self.random.pick(SORTS);
                let value = self.expression(sort, 3);
                format!("let {name} = {value}")
            }
        }
    }

    /// A polymorphic function of the kinds that go wrong when rows are treated wrongly.
    fn helper(&mut self) -> String {
        let name = self.fresh("f");
        let label = *self.random.pick(LABELS);
        let other = *self.random.pick(LABELS);
        let literal = self.expression(Sort::Int, 1);
        let body = match self.random.below(20) {
            0 => format!("{name} r = r.{label}"),
            1 => format!("{name} r x = {{ r with {label} = x }}"),
            2 => format!("{name} b r = if b then r else {{ r with {label} = {literal} }}"),
            3 => format!("{name} b x y = if b then x else y"),
            4 => format!("{name} xs x = xs[0] <- x; xs"),
            5 => format!("{name} x = `Some(x)"),
            6 => format!("{name} o d = match o with | `Some(x) -> x | `None -> d"),
            7 => format!("{name} v = match v with | `A -> {literal} | `B(x) -> x | _ -> 0"),
            8 => format!("{name} f x = f(f(x))"),
            9 => format!("{name} x y = x == y"),
            10 => format!("{name} x = let c = ref(x) in fun () -> !c"),
            11 => format!("{name} r = {{ r with {label} = r.{other} }}"),
            12 => format!("{name} c x = let old = !c in c := x; old"),
            13 => format!("{name} r s = if r.{label} == s.{label} then r else s"),
            14 => format!("{name} f r = f({{ r with {label} = {literal} }})"),
            15 => format!("{name} xs = Array.map(xs, fun r -> r.{label})"),
            16 => format!("{name} t = let* x = t in Task.pure(`B(x))"),
            17 | 18 => {
                let body = self.with_getter();
                format!("{name} r = r.{other}; let get = fun () -> r.{label} in {body}")
            }
            _ => {
                let lambda = self.lambda(2, 3);
                return format!("let {name} = {lambda}");
            }
        };
        format!("let {body}")
    }

    /// A body that may use `get()` as values of several sorts: the field of a parameter is one type,
    /// whatever function it is read through.
    fn with_getter(&mut self) -> String {
        let before = self.names.len();
        for sort in [Sort::Int, Sort::Int, Sort::Text, Sort::Record, Sort::Bool] {
            self.names.push(Name {
                text: "get()".to_owned(),
                sort,
                ty: None,
            });
        }
        let (first, second) = (*self.random.pick(SORTS), *self.random.pick(SORTS));
        let body = format!(
            "({}; {})",
            self.construct(first, 1),
            self.construct(second, 1)
        );
        self.names.truncate(before);
        body
    }

    fn recursive(&mut self) -> String {
        let name = self.fresh("g");
        let step = self.expression(Sort::Any, 2);
        match self.random.below(4) {
            0 => format!("let rec {name} n x = if n < 1 then x else {name}(n - 1, x)"),
            1 => format!("let rec {name} n = if n < 1 then {step} else {name}(n - 2)"),
            2 => format!("let rec {name} n v = if n < 1 then v else {name}(n - 1, `Some(v))"),
            _ => format!(
                "let rec {name} n r = if n < 1 then r else {name}(n - 1, {{ r with a = r.a + 1 }})"
            ),
        }
    }

    fn lambda(&mut self, parameters: u64, depth: u32) -> String {
        let count = self.random.below(parameters + 1);
        let before = self.names.len();
        let mut params = Vec::new();
        for _ in 0..count {
            let name = self.fresh("p");
            let sort = *self.random.pick(SORTS);
            params.push(name.clone());
            self.names.push(Name {
                text: name,
                sort,
                ty: None,
            });
        }
        let sort = *self.random.pick(SORTS);
        let body = self.expression(sort, depth.saturating_sub(1));
        self.names.truncate(before);
        let params = if params.is_empty() {
            "()".to_owned()
        } else {
            params.join(" ")
        };
        format!("(fun {params} -> {body})")
    }

    /// A name of the sort, or now and then any name.
    fn name(&mut self, sort: Sort) -> Option<String> {
        let loose = self.random.chance(5);
        let fitting: Vec<String> = self
            .names
            .iter()
            .filter(|name| loose || sort == Sort::Any || name.sort == sort)
            .map(|name| name.text.clone())
            .collect();
        (!fitting.is_empty()).then(|| self.random.pick(&fitting).clone())
    }

    /// A call of a known function whose result may have the sort.
    fn call(&mut self, sort: Sort, depth: u32) -> Option<String> {
        let mut fitting = Vec::new();
        for name in &self.names {
            let Some(ty) = &name.ty else { continue };
            if let Some(NodeKind::Function { result, .. }) = ty.root().map(|node| &node.kind) {
                let found = sort_of(ty, *result);
                if sort == Sort::Any || found == Sort::Any || found == sort {
                    fitting.push(name.clone());
                }
            }
        }
        if fitting.is_empty() {
            return None;
        }
        let callee = self.random.pick(&fitting).clone();
        let ty = callee.ty?;
        let NodeKind::Function { params, .. } = &ty.root()?.kind else {
            return None;
        };
        let arguments: Vec<String> = params
            .iter()
            .map(|param| self.of_type(&ty, *param, depth.saturating_sub(1)))
            .collect();
        Some(format!("{}({})", callee.text, arguments.join(", ")))
    }

    /// An expression that should have a type.
    fn of_type(&mut self, ty: &TypeGraph, node: NodeId, depth: u32) -> String {
        // A recursive type unfolds for ever.
        const DEEPEST: u32 = 10;
        let sort = sort_of(ty, node);
        if self.nesting >= DEEPEST {
            return self.leaf(sort);
        }
        self.nesting += 1;
        let text = self.of_node(ty, node, depth);
        self.nesting -= 1;
        text
    }

    fn of_node(&mut self, ty: &TypeGraph, node: NodeId, depth: u32) -> String {
        let sort = sort_of(ty, node);
        let kind = ty.node(node).map(|node| node.kind.clone());
        let leaf = depth == 0;
        match kind {
            Some(NodeKind::Record { fields, row }) => {
                if self.random.chance(25)
                    && let Some(name) = self.name(Sort::Record)
                {
                    return name;
                }
                let mut parts: Vec<String> = Vec::new();
                for (label, field) in &fields {
                    let value = self.of_type(ty, *field, depth.saturating_sub(1));
                    parts.push(format!("{label} = {value}"));
                }
                if row.is_some() {
                    for label in LABELS {
                        if self.random.chance(35)
                            && !fields.iter().any(|(field, _)| **field == **label)
                        {
                            let value = self.expression(Sort::Any, depth.saturating_sub(2));
                            parts.push(format!("{label} = {value}"));
                        }
                    }
                }
                format!("{{ {} }}", parts.join("; "))
            }
            Some(NodeKind::Variant { cases, .. }) if !cases.is_empty() && !leaf => {
                let (tag, types) = self.random.pick(&cases).clone();
                if types.is_empty() {
                    return format!("`{tag}");
                }
                let arguments: Vec<String> = types
                    .iter()
                    .map(|argument| self.of_type(ty, *argument, depth - 1))
                    .collect();
                format!("`{tag}({})", arguments.join(", "))
            }
            Some(NodeKind::Variant { cases, .. }) => cases
                .iter()
                .find(|(_, types)| types.is_empty())
                .map_or_else(|| "`A".to_owned(), |(tag, _)| format!("`{tag}")),
            Some(NodeKind::Array(item)) => {
                let count = 1 + self.random.below(2);
                let items: Vec<String> = (0..count)
                    .map(|_| self.of_type(ty, item, depth.saturating_sub(1)))
                    .collect();
                format!("[{}]", items.join(", "))
            }
            Some(NodeKind::Ref(content)) => {
                if self.random.chance(40)
                    && let Some(name) = self.name(Sort::Ref)
                {
                    return name;
                }
                format!(
                    "ref({})",
                    self.of_type(ty, content, depth.saturating_sub(1))
                )
            }
            Some(NodeKind::Task(content)) => format!(
                "Task.pure({})",
                self.of_type(ty, content, depth.saturating_sub(1))
            ),
            Some(NodeKind::Function { params, result }) if !leaf => {
                let before = self.names.len();
                let mut names = Vec::new();
                for param in &params {
                    let name = self.fresh("q");
                    self.names.push(Name {
                        text: name.clone(),
                        sort: sort_of(ty, *param),
                        ty: None,
                    });
                    names.push(name);
                }
                let body = self.of_type(ty, result, depth - 1);
                self.names.truncate(before);
                let names = if names.is_empty() {
                    "()".to_owned()
                } else {
                    names.join(" ")
                };
                format!("(fun {names} -> {body})")
            }
            _ => self.expression(sort, depth),
        }
    }

    fn expression(&mut self, sort: Sort, depth: u32) -> String {
        let sort = match sort {
            Sort::Any => *self.random.pick(SORTS),
            sort => sort,
        };
        if self.random.chance(if depth == 0 { 60 } else { 25 })
            && let Some(name) = self.name(sort)
        {
            return name;
        }
        if depth == 0 {
            return self.leaf(sort);
        }
        if self.random.chance(30)
            && let Some(call) = self.call(sort, depth)
        {
            return call;
        }
        let inner = depth - 1;
        match self.random.below(12) {
            0 => {
                let condition = self.expression(Sort::Bool, inner);
                let (yes, no) = (self.expression(sort, inner), self.expression(sort, inner));
                format!("(if {condition} then {yes} else {no})")
            }
            1 => {
                let bound = *self.random.pick(SORTS);
                let value = self.expression(bound, inner);
                let name = self.fresh("l");
                self.names.push(Name {
                    text: name.clone(),
                    sort: bound,
                    ty: None,
                });
                let body = self.expression(sort, inner);
                self.names.pop();
                format!("(let {name} = {value} in {body})")
            }
            2 => self.matching(sort, inner),
            3 => {
                let record = self.expression(Sort::Record, inner);
                let label = *self.random.pick(LABELS);
                format!("{record}.{label}")
            }
            4 => {
                let array = self.expression(Sort::Array, inner);
                format!("{array}[0]")
            }
            5 => {
                let cell = self.expression(Sort::Ref, inner);
                format!("(!{cell})")
            }
            6 => {
                let effect = self.effect(inner);
                let value = self.expression(sort, inner);
                format!("({effect}; {value})")
            }
            _ => self.construct(sort, inner),
        }
    }

    fn effect(&mut self, depth: u32) -> String {
        let sort = *self.random.pick(SORTS);
        let value = self.expression(sort, depth);
        match self.random.below(3) {
            0 => format!("{} := {value}", self.expression(Sort::Ref, 0)),
            1 => format!("{}[0] <- {value}", self.expression(Sort::Array, 0)),
            _ => value,
        }
    }

    fn matching(&mut self, sort: Sort, depth: u32) -> String {
        let scrutinee = self.expression(Sort::Variant, depth);
        let mut arms = String::new();
        for (tag, arguments) in TAGS {
            if self.random.chance(50) {
                continue;
            }
            let before = self.names.len();
            let names: Vec<String> = (0..*arguments).map(|_| self.fresh("x")).collect();
            for name in &names {
                let guess = *self.random.pick(SORTS);
                self.names.push(Name {
                    text: name.clone(),
                    sort: guess,
                    ty: None,
                });
            }
            let body = self.expression(sort, depth.saturating_sub(1));
            self.names.truncate(before);
            let pattern = if names.is_empty() {
                format!("`{tag}")
            } else {
                format!("`{tag}({})", names.join(", "))
            };
            arms.push_str(&format!(" | {pattern} -> {body}"));
        }
        if arms.is_empty() || self.random.chance(60) {
            let body = self.expression(sort, depth.saturating_sub(1));
            arms.push_str(&format!(" | _ -> {body}"));
        }
        format!("(match {scrutinee} with{arms})")
    }

    fn leaf(&mut self, sort: Sort) -> String {
        match sort {
            Sort::Int => self.random.below(5).to_string(),
            Sort::Float => format!("{}.5", self.random.below(5)),
            Sort::Bool => if self.random.chance(50) {
                "true"
            } else {
                "false"
            }
            .to_owned(),
            Sort::Text => format!("\"t{}\"", self.random.below(3)),
            Sort::Unit => "()".to_owned(),
            Sort::Record => {
                let label = *self.random.pick(LABELS);
                format!("{{ {label} = {} }}", self.random.below(5))
            }
            Sort::Variant => "`A".to_owned(),
            Sort::Array => "[1, 2]".to_owned(),
            Sort::Ref => "(ref 1)".to_owned(),
            Sort::Task => "Task.pure(1)".to_owned(),
            Sort::Function | Sort::Any => "(fun z -> z)".to_owned(),
        }
    }

    fn construct(&mut self, sort: Sort, depth: u32) -> String {
        match sort {
            Sort::Int => {
                let (left, right) = (
                    self.expression(Sort::Int, depth),
                    self.expression(Sort::Int, depth),
                );
                match self.random.below(5) {
                    0 => format!("({left} - {right})"),
                    1 => format!("({left} * {right})"),
                    2 => format!("({left} / {right})"),
                    3 => format!("length({})", self.expression(Sort::Array, depth)),
                    _ => format!("({left} + {right})"),
                }
            }
            Sort::Float => {
                let (left, right) = (
                    self.expression(Sort::Float, depth),
                    self.expression(Sort::Float, depth),
                );
                format!("({left} +. {right})")
            }
            Sort::Bool => {
                let operand = *self.random.pick(SORTS);
                let (left, right) = (
                    self.expression(operand, depth),
                    self.expression(operand, depth),
                );
                match self.random.below(3) {
                    0 => {
                        let left = self.expression(Sort::Int, depth);
                        let right = self.expression(Sort::Int, depth);
                        format!("({left} < {right})")
                    }
                    1 => format!("({left} != {right})"),
                    _ => format!("({left} == {right})"),
                }
            }
            Sort::Text => match self.random.below(3) {
                0 => format!("to_string({})", self.expression(Sort::Any, depth)),
                1 => format!("variant_tag({})", self.expression(Sort::Variant, depth)),
                _ => format!(
                    "({} ++ {})",
                    self.expression(Sort::Text, depth),
                    self.expression(Sort::Text, depth)
                ),
            },
            Sort::Record => self.record(depth),
            Sort::Variant => {
                let (tag, count) = *self.random.pick(TAGS);
                if count == 0 {
                    return format!("`{tag}");
                }
                let arguments: Vec<String> = (0..count)
                    .map(|_| self.expression(Sort::Any, depth))
                    .collect();
                format!("`{tag}({})", arguments.join(", "))
            }
            Sort::Array => {
                let item = *self.random.pick(SORTS);
                match self.random.below(4) {
                    0 => {
                        let array = self.expression(Sort::Array, depth);
                        let function = self.lambda(1, depth);
                        format!("Array.map({array}, {function})")
                    }
                    1 => {
                        let array = self.expression(Sort::Array, depth);
                        format!("Array.append({array}, {array})")
                    }
                    _ => {
                        let items: Vec<String> = (0..1 + self.random.below(3))
                            .map(|_| self.expression(item, depth))
                            .collect();
                        format!("[{}]", items.join(", "))
                    }
                }
            }
            Sort::Ref => format!("ref({})", self.expression(Sort::Any, depth)),
            Sort::Task => {
                let task = self.expression(Sort::Task, depth);
                let name = self.fresh("k");
                let (value, bound) = (self.expression(Sort::Any, depth), self.lambda(1, depth));
                match self.random.below(4) {
                    0 => format!("(let* {name} = {task} in Task.pure({value}))"),
                    1 => format!("Task.map({task}, {bound})"),
                    2 => format!("Task.catch({task}, fun {name} -> Task.pure({value}))"),
                    _ => format!("Task.pure({value})"),
                }
            }
            Sort::Unit => {
                let array = self.expression(Sort::Array, depth);
                format!("Array.iter({array}, fun it -> ())")
            }
            Sort::Function | Sort::Any => self.lambda(2, depth + 1),
        }
    }

    fn record(&mut self, depth: u32) -> String {
        if self.random.chance(35) {
            let base = self.expression(Sort::Record, depth);
            let label = *self.random.pick(LABELS);
            let value = self.expression(Sort::Any, depth);
            return format!("{{ {base} with {label} = {value} }}");
        }
        let mut parts = Vec::new();
        for label in LABELS {
            if self.random.chance(50) {
                let sort = if self.random.chance(60) {
                    Sort::Int
                } else {
                    Sort::Any
                };
                let value = self.expression(sort, depth);
                parts.push(format!("{label} = {value}"));
            }
        }
        if parts.is_empty() {
            return "{ a = 1 }".to_owned();
        }
        format!("{{ {} }}", parts.join("; "))
    }
}
