//! A short text of a tree: what groups with what.

use crate::ast::*;

pub(super) fn program(program: &Program) -> String {
    program
        .statements
        .iter()
        .map(statement)
        .collect::<Vec<_>>()
        .join(" ;; ")
}

fn statement(statement: &Statement) -> String {
    match &statement.kind {
        StatementKind::Type(decl) => format!("type {} = {}", decl.name.name, ty(&decl.definition)),
        StatementKind::Let(b) => format!("let {}", binding(b)),
        StatementKind::LetRec(bs) => format!(
            "letrec {}",
            bs.iter().map(binding).collect::<Vec<_>>().join(" and ")
        ),
        StatementKind::Module { name, body } => {
            format!(
                "module {}<{}>",
                name.name,
                body.iter()
                    .map(self::statement)
                    .collect::<Vec<_>>()
                    .join(" ;; ")
            )
        }
        StatementKind::Open(name) => format!("open {}", name.name),
        StatementKind::Expr(e) => expr(e),
        StatementKind::Error { names } => {
            format!(
                "error<{}>",
                names
                    .iter()
                    .map(|n| n.name.to_string())
                    .collect::<Vec<_>>()
                    .join(",")
            )
        }
    }
}

fn binder(b: &Binder) -> String {
    b.name.as_deref().unwrap_or("_").to_owned()
}

fn binding(b: &Binding) -> String {
    let annotation = b
        .annotation
        .as_ref()
        .map_or(String::new(), |t| format!(":{}", ty(t)));
    format!("{}{annotation}={}", binder(&b.binder), expr(&b.value))
}

fn list(items: &[Expr]) -> String {
    items.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn path(path: &[Ident]) -> String {
    path.iter()
        .map(|i| i.name.to_string())
        .collect::<Vec<_>>()
        .join(".")
}

fn fields(fields: &[Field]) -> String {
    fields
        .iter()
        .map(|f| format!("{}={}", f.label.name, expr(&f.value)))
        .collect::<Vec<_>>()
        .join("; ")
}

pub(super) fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Unit => "()".into(),
        ExprKind::Int(n) => n.to_string(),
        ExprKind::Float(n) => format!("{n:?}"),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::String(s) => format!("{s:?}"),
        ExprKind::Var(name) => name.to_string(),
        ExprKind::Module(p) => path(p),
        ExprKind::Member { path: p, name } => format!("{}.{}", path(p), name.name),
        ExprKind::Tag { tag, args } if args.is_empty() => format!("`{}", tag.name),
        ExprKind::Tag { tag, args } => format!("`{}({})", tag.name, list(args)),
        ExprKind::Array(items) => format!("[{}]", list(items)),
        ExprKind::Record(f) => format!("{{{}}}", fields(f)),
        ExprKind::Update { base, fields: f } => format!("{{{} with {}}}", expr(base), fields(f)),
        ExprKind::Postfix { base, suffixes } => {
            suffixes
                .iter()
                .fold(expr(base), |text, suffix| match &suffix.kind {
                    SuffixKind::Call(args) => format!("{text}({})", list(args)),
                    SuffixKind::Field(label) => format!("{text}.{}", label.name),
                    SuffixKind::Index(i) => format!("{text}[{}]", expr(i)),
                })
        }
        ExprKind::Prefix { ops, operand } => {
            ops.iter()
                .rev()
                .fold(expr(operand), |text, (op, _)| match op {
                    PrefixOp::Deref => format!("(!{text})"),
                    PrefixOp::Negate => format!("(-{text})"),
                    PrefixOp::NegateFloat => format!("(-.{text})"),
                })
        }
        ExprKind::Binary { first, rest } => rest.iter().fold(expr(first), |text, step| {
            format!("({text} {} {})", step.op.as_str(), expr(&step.right))
        }),
        ExprKind::Ref(e) => format!("ref({})", expr(e)),
        ExprKind::Assign { target, value } => format!("({} := {})", expr(target), expr(value)),
        ExprKind::SetIndex {
            array,
            index,
            value,
        } => {
            format!("({}[{}] <- {})", expr(array), expr(index), expr(value))
        }
        ExprKind::While { condition, body } => {
            format!("while<{}><{}>", expr(condition), expr(body))
        }
        ExprKind::Fun(lambda) => format!(
            "fun<{}><{}>",
            lambda
                .params
                .iter()
                .map(binder)
                .collect::<Vec<_>>()
                .join(" "),
            expr(&lambda.body)
        ),
        ExprKind::If {
            branches,
            otherwise,
        } => branches.iter().rev().fold(expr(otherwise), |text, branch| {
            format!(
                "if<{}><{}><{text}>",
                expr(&branch.condition),
                expr(&branch.body)
            )
        }),
        ExprKind::Match { scrutinee, arms } => {
            let arms: Vec<String> = arms
                .iter()
                .map(|a| format!("{}->{}", pattern(&a.pattern), expr(&a.body)))
                .collect();
            format!("match<{}><{}>", expr(scrutinee), arms.join(" | "))
        }
        ExprKind::Block(block) => {
            let mut parts: Vec<String> = block.steps.iter().map(step).collect();
            parts.push(expr(&block.result));
            format!("<{}>", parts.join("; "))
        }
    }
}

fn step(step: &Step) -> String {
    match &step.kind {
        StepKind::Expr(e) => expr(e),
        StepKind::Let(b) => format!("let {}", binding(b)),
        StepKind::LetRec(bs) => format!(
            "letrec {}",
            bs.iter().map(binding).collect::<Vec<_>>().join(" and ")
        ),
        StepKind::Bind(b) => format!("let* {}={}", binder(&b.binder), expr(&b.task)),
        StepKind::Map(b) => format!("let+ {}={}", binder(&b.binder), expr(&b.task)),
    }
}

fn pattern(p: &Pattern) -> String {
    match &p.kind {
        PatternKind::Wildcard => "_".into(),
        PatternKind::Var(name) => name.to_string(),
        PatternKind::Unit => "()".into(),
        PatternKind::Int(n) => n.to_string(),
        PatternKind::Float(n) => format!("{n:?}"),
        PatternKind::Bool(b) => b.to_string(),
        PatternKind::String(s) => format!("{s:?}"),
        PatternKind::Tag { tag, args } if args.is_empty() => format!("`{}", tag.name),
        PatternKind::Tag { tag, args } => {
            format!(
                "`{}({})",
                tag.name,
                args.iter().map(pattern).collect::<Vec<_>>().join(", ")
            )
        }
        PatternKind::Record { fields, open } => {
            let mut parts: Vec<String> = fields
                .iter()
                .map(|(l, p)| format!("{}={}", l.name, pattern(p)))
                .collect();
            if *open {
                parts.push("_".into());
            }
            format!("{{{}}}", parts.join("; "))
        }
    }
}

fn ty(t: &TypeExpr) -> String {
    match &t.kind {
        TypeExprKind::Name(name) => name.to_string(),
        TypeExprKind::Postfix { base, constructors } => {
            format!("({} {})", ty(base), path(constructors))
        }
        TypeExprKind::Arrow { params, result } => {
            format!(
                "({} -> {})",
                params.iter().map(ty).collect::<Vec<_>>().join(", "),
                ty(result)
            )
        }
        TypeExprKind::Record(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(l, t)| format!("{}:{}", l.name, ty(t)))
                .collect();
            format!("{{{}}}", fields.join("; "))
        }
        TypeExprKind::Variant(cases) => {
            let cases: Vec<String> = cases
                .iter()
                .map(|(tag, args)| {
                    format!(
                        "`{}({})",
                        tag.name,
                        args.iter().map(ty).collect::<Vec<_>>().join(", ")
                    )
                })
                .collect();
            format!("[{}]", cases.join(" | "))
        }
    }
}
