//! Expressions: of a type, of a sort, or anything.

use chatml::types::{NodeId, NodeKind, TypeGraph};

use super::{Generator, LABELS, Name, SORTS, Sort, TAGS, sort_of};

impl Generator {
    /// An expression that should have a type.
    pub(super) fn of_type(&mut self, ty: &TypeGraph, node: NodeId, depth: u32) -> String {
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

    pub(super) fn of_node(&mut self, ty: &TypeGraph, node: NodeId, depth: u32) -> String {
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
                let (tag, types) = self.random.one_of(&cases).clone();
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

    pub(super) fn expression(&mut self, sort: Sort, depth: u32) -> String {
        let sort = match sort {
            Sort::Any => *self.random.one_of(SORTS),
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
                let bound = *self.random.one_of(SORTS);
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
                let label = *self.random.one_of(LABELS);
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

    pub(super) fn effect(&mut self, depth: u32) -> String {
        let sort = *self.random.one_of(SORTS);
        let value = self.expression(sort, depth);
        match self.random.below(3) {
            0 => format!("{} := {value}", self.expression(Sort::Ref, 0)),
            1 => format!("{}[0] <- {value}", self.expression(Sort::Array, 0)),
            _ => value,
        }
    }

    pub(super) fn matching(&mut self, sort: Sort, depth: u32) -> String {
        let scrutinee = self.expression(Sort::Variant, depth);
        let mut arms = String::new();
        for (tag, arguments) in TAGS {
            if self.random.chance(50) {
                continue;
            }
            let before = self.names.len();
            let names: Vec<String> = (0..*arguments).map(|_| self.fresh("x")).collect();
            for name in &names {
                let guess = *self.random.one_of(SORTS);
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

    pub(super) fn leaf(&mut self, sort: Sort) -> String {
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
                let label = *self.random.one_of(LABELS);
                format!("{{ {label} = {} }}", self.random.below(5))
            }
            Sort::Variant => "`A".to_owned(),
            Sort::Array => "[1, 2]".to_owned(),
            Sort::Ref => "(ref 1)".to_owned(),
            Sort::Task => "Task.pure(1)".to_owned(),
            Sort::Function | Sort::Any => "(fun z -> z)".to_owned(),
        }
    }

    pub(super) fn construct(&mut self, sort: Sort, depth: u32) -> String {
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
                let operand = *self.random.one_of(SORTS);
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
                let (tag, count) = *self.random.one_of(TAGS);
                if count == 0 {
                    return format!("`{tag}");
                }
                let arguments: Vec<String> = (0..count)
                    .map(|_| self.expression(Sort::Any, depth))
                    .collect();
                format!("`{tag}({})", arguments.join(", "))
            }
            Sort::Array => {
                let item = *self.random.one_of(SORTS);
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

    pub(super) fn record(&mut self, depth: u32) -> String {
        if self.random.chance(35) {
            let base = self.expression(Sort::Record, depth);
            let label = *self.random.one_of(LABELS);
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
