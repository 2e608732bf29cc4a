//! Random programs that the checker accepts.
//!
//! A program grows statement by statement. Each statement is a guess that follows the types of what is
//! there, not too closely: guesses that the checker refuses are dropped, so what it accepts wrongly is
//! kept and run. Labels and tags come from small sets, so that rows meet.

use chatml::check::{BindingKind, check};
use chatml::surface::Kind;
use chatml::types::{NodeId, NodeKind, TypeGraph};
use chatml::{Checked, parse};

use crate::random::Random;

mod expression;

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
        let sort = *generator.random.one_of(SORTS);
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
                let sort = *self.random.one_of(SORTS);
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
                let sort = *self.random.one_of(SORTS);
                let value = self.expression(sort, 3);
                format!("let {name} = {value}")
            }
        }
    }

    /// A polymorphic function of the kinds that go wrong when rows are treated wrongly.
    fn helper(&mut self) -> String {
        let name = self.fresh("f");
        let label = *self.random.one_of(LABELS);
        let other = *self.random.one_of(LABELS);
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
        let (first, second) = (*self.random.one_of(SORTS), *self.random.one_of(SORTS));
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

    fn lambda(&mut self, parameters: usize, depth: u32) -> String {
        let count = self.random.below(parameters + 1);
        let before = self.names.len();
        let mut params = Vec::new();
        for _ in 0..count {
            let name = self.fresh("p");
            let sort = *self.random.one_of(SORTS);
            params.push(name.clone());
            self.names.push(Name {
                text: name,
                sort,
                ty: None,
            });
        }
        let sort = *self.random.one_of(SORTS);
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
        (!fitting.is_empty()).then(|| self.random.one_of(&fitting).clone())
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
        let callee = self.random.one_of(&fitting).clone();
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
}
