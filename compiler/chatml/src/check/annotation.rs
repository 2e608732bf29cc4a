//! Types as written, and type declarations (spec 05 section 5.2).

use std::collections::HashSet;

use super::graph::{Fields, GROUND, Graph, Shape, Slot, Ty};
use super::{Check, Checker, fail, suggest};
use crate::ast::{Ident, Name, TypeDecl, TypeExpr, TypeExprKind};
use crate::diagnostic::{Code, Diagnostic};
use crate::span::Span;
use crate::surface;

const PRIMITIVES: [&str; 5] = ["int", "float", "bool", "string", "unit"];

/// The declaration whose right side is being read.
struct Declaring {
    name: Name,
    placeholder: Ty,
    used: bool,
}

/// Reads one type expression.
struct Reader<'c> {
    checker: &'c mut Checker,
    declaring: Option<Declaring>,
}

impl Checker {
    /// The type an annotation stands for.
    pub(super) fn annotation(&mut self, written: &TypeExpr) -> Check<Ty> {
        Reader {
            checker: self,
            declaring: None,
        }
        .ty(written, false)
    }

    pub(super) fn type_declaration(&mut self, decl: &TypeDecl) -> Check<Ty> {
        self.check_type_name(&decl.name)?;
        let placeholder = self.graph.add(Shape::Variable { equality: false }, GROUND);
        let mut reader = Reader {
            checker: self,
            declaring: Some(Declaring {
                name: decl.name.name.clone(),
                placeholder,
                used: false,
            }),
        };
        let body = reader.ty(&decl.definition, false)?;
        let recursive = reader.declaring.is_some_and(|declaring| declaring.used);
        self.graph.define(placeholder, body);
        if recursive {
            self.graph.set_name(body, decl.name.name.clone());
        }
        self.types.insert(
            decl.name.name.clone(),
            super::TypeName {
                ty: Some(body),
                span: decl.name.span,
            },
        );
        Ok(body)
    }

    fn check_type_name(&mut self, name: &Ident) -> Check<()> {
        let text = &*name.name;
        if PRIMITIVES.contains(&text) {
            let message = format!("`{text}` is a primitive type and can not be declared");
            return fail(Diagnostic::new(Code::PrimitiveType, name.span, message));
        }
        if let Some(known) = self.types.get(text) {
            let message = format!("the type `{text}` is already declared");
            return fail(
                Diagnostic::new(Code::DuplicateType, name.span, message)
                    .label(known.span, "first declared here"),
            );
        }
        if surface::alias(text).is_some_and(|alias| alias.kinds.contains(self.scope.kind())) {
            let message = format!(
                "the type `{text}` is already declared: scripts of this kind have it from the start"
            );
            return fail(Diagnostic::new(Code::DuplicateType, name.span, message));
        }
        Ok(())
    }

    /// A type name of the library.
    pub(super) fn library_type(&mut self, name: &str) -> Option<Ty> {
        let alias = surface::alias(name).filter(|alias| alias.kinds.contains(self.scope.kind()))?;
        if let Some(ty) = self.library_types.get(alias.name) {
            return Some(*ty);
        }
        let ty = self.graph.import(alias.graph());
        self.library_types.insert(alias.name, ty);
        Some(ty)
    }
}

impl Reader<'_> {
    /// `guarded` if a record, variant, array or function stands around the type.
    fn ty(&mut self, written: &TypeExpr, guarded: bool) -> Check<Ty> {
        match &written.kind {
            TypeExprKind::Name(name) => self.named(name, written.span, guarded),
            TypeExprKind::Postfix { base, constructors } => {
                self.postfix(base, constructors, guarded)
            }
            TypeExprKind::Arrow { params, result } => self.arrow(params, result),
            TypeExprKind::Record(fields) => self.record(fields),
            TypeExprKind::Variant(cases) => self.variant(cases),
        }
    }

    fn named(&mut self, name: &Name, span: Span, guarded: bool) -> Check<Ty> {
        let primitive = match &**name {
            "int" => Some(Graph::INT),
            "float" => Some(Graph::FLOAT),
            "bool" => Some(Graph::BOOL),
            "string" => Some(Graph::STRING),
            "unit" => Some(Graph::UNIT),
            _ => None,
        };
        if let Some(primitive) = primitive {
            return Ok(primitive);
        }
        if let Some(declaring) = &mut self.declaring
            && declaring.name == *name
        {
            declaring.used = true;
            if guarded {
                return Ok(declaring.placeholder);
            }
            let message = format!("the type `{name}` would be nothing but itself");
            return fail(Diagnostic::new(Code::UnguardedType, span, message).help(
                "a type may mention itself inside a record, a variant, an array or a function",
            ));
        }
        if let Some(known) = self.checker.types.get(name) {
            return Ok(match known.ty {
                Some(ty) => ty,
                None => self.checker.fresh(),
            });
        }
        if let Some(ty) = self.checker.library_type(name) {
            return Ok(ty);
        }
        fail(self.unknown(name, span))
    }

    fn unknown(&self, name: &Name, span: Span) -> Diagnostic {
        let mut found = Diagnostic::new(
            Code::UnknownType,
            span,
            format!("there is no type `{name}` here"),
        );
        if matches!(&**name, "array" | "task") {
            return found.help(format!(
                "`{name}` is written behind the type it applies to, as in `int {name}`"
            ));
        }
        let kind = self.checker.scope.kind();
        if let Some(note) = suggest::type_elsewhere(name, kind) {
            return found.note(note);
        }
        let library = surface::aliases_of(kind).map(|alias| alias.name);
        let declared = self.checker.types.keys().map(|name| &**name);
        if let Some(near) = suggest::nearest(name, library.chain(declared).chain(PRIMITIVES)) {
            found = found.help(format!("did you mean `{near}`?")).fix(
                format!("Replace by `{near}`"),
                span,
                near,
            );
        } else {
            found = found.help("a type has to be declared above its first use");
        }
        found
    }

    fn postfix(&mut self, base: &TypeExpr, constructors: &[Ident], guarded: bool) -> Check<Ty> {
        for constructor in constructors {
            if !matches!(&*constructor.name, "array" | "task") {
                let message = format!("there is no type constructor `{}`", constructor.name);
                return fail(
                    Diagnostic::new(Code::UnknownConstructor, constructor.span, message)
                        .help("the only ones are `array` and `task`; an optional value is `` [ `None | `Some(t) ] ``"),
                );
            }
        }
        let in_array = constructors
            .iter()
            .any(|constructor| &*constructor.name == "array");
        let mut ty = self.ty(base, guarded || in_array)?;
        for constructor in constructors {
            ty = if &*constructor.name == "array" {
                self.checker.graph.array(ty)
            } else {
                self.checker.graph.task(ty)
            };
        }
        Ok(ty)
    }

    fn arrow(&mut self, params: &[TypeExpr], result: &TypeExpr) -> Check<Ty> {
        let no_parameters = match params {
            [only] => {
                !only.parenthesized
                    && matches!(&only.kind, TypeExprKind::Name(name) if &**name == "unit")
            }
            _ => false,
        };
        let mut types = Vec::new();
        if !no_parameters {
            for param in params {
                types.push(self.ty(param, true)?);
            }
        }
        let result = self.ty(result, true)?;
        Ok(self.checker.graph.function(types, result))
    }

    fn record(&mut self, fields: &[(Ident, TypeExpr)]) -> Check<Ty> {
        unique(fields.iter().map(|(label, _)| label), "label")?;
        let mut row: Fields = Vec::new();
        for (label, ty) in fields {
            let label = self.checker.graph.label(&label.name);
            row.push((label, Slot::Types(Box::new([self.ty(ty, true)?]))));
        }
        Ok(self.checker.graph.record(row, Graph::ROW_EMPTY))
    }

    fn variant(&mut self, cases: &[(Ident, Vec<TypeExpr>)]) -> Check<Ty> {
        unique(cases.iter().map(|(tag, _)| tag), "tag")?;
        let mut row: Fields = Vec::new();
        for (tag, args) in cases {
            let mut types = Vec::new();
            for arg in args {
                types.push(self.ty(arg, true)?);
            }
            let label = self.checker.graph.label(&tag.name);
            row.push((label, Slot::Types(types.into())));
        }
        Ok(self.checker.graph.variant(row, Graph::ROW_EMPTY))
    }
}

/// Refuses a repeated label or tag.
pub(super) fn unique<'a>(idents: impl Iterator<Item = &'a Ident>, what: &str) -> Check<()> {
    let mut seen: HashSet<&str> = HashSet::default();
    let mut earlier: Vec<&Ident> = Vec::new();
    for ident in idents {
        if !seen.insert(&ident.name) {
            let mut found = Diagnostic::new(
                Code::DuplicateField,
                ident.span,
                format!("the {what} `{}` stands here twice", ident.name),
            );
            if let Some(first) = earlier.iter().find(|first| first.name == ident.name) {
                found = found.label(first.span, "first here");
            }
            return fail(found);
        }
        earlier.push(ident);
    }
    Ok(())
}
