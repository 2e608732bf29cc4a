//! Generalising and instantiating (spec 05 section 5.4).

use rustc_hash::FxHashMap;

use super::graph::{GENERIC, Graph, Shape, Slot, Ty, for_each_part};

impl Graph {
    /// Quantifies the variables of `ty` above `level`, unless the type contains a recursive one.
    pub(crate) fn generalize(&mut self, ty: Ty, level: u32) {
        let root = self.find(ty);
        if self.level(root) <= level {
            return;
        }
        if self.contains_recursion(root) {
            self.lower(root, level);
            return;
        }
        self.start_walk();
        let mut stack = vec![(root, false)];
        while let Some((at, parts_done)) = stack.pop() {
            if parts_done {
                let mut highest = 0;
                for_each_part(&self.node(at).shape, |part| {
                    highest = highest.max(self.level(part))
                });
                self.set_level(at, highest);
                continue;
            }
            if self.level(at) <= level || self.level(at) == GENERIC || !self.visit(at) {
                continue;
            }
            if matches!(
                self.node(at).shape,
                Shape::Variable { .. } | Shape::RowVariable { .. }
            ) {
                self.set_level(at, GENERIC);
                continue;
            }
            stack.push((at, true));
            self.push_parts(at, |part| stack.push((part, false)));
        }
    }

    /// Lowers all variables above `level` to it: they stay shared.
    pub(crate) fn lower(&mut self, ty: Ty, level: u32) {
        self.start_walk();
        let mut stack = vec![self.find(ty)];
        while let Some(at) = stack.pop() {
            if self.level(at) <= level || !self.visit(at) {
                continue;
            }
            self.set_level(at, level);
            self.push_parts(at, |part| stack.push(part));
        }
    }

    fn push_parts(&self, at: Ty, mut push: impl FnMut(Ty)) {
        for_each_part(&self.node(at).shape, |part| push(self.find(part)));
    }

    /// Whether some type inside contains itself.
    pub(crate) fn contains_recursion(&mut self, ty: Ty) -> bool {
        let mut open = rustc_hash::FxHashSet::default();
        self.start_walk();
        let mut stack = vec![(self.find(ty), false)];
        while let Some((at, parts_done)) = stack.pop() {
            if parts_done {
                open.remove(&at);
                continue;
            }
            if open.contains(&at) {
                return true;
            }
            if !self.visit(at) {
                continue;
            }
            let before = stack.len();
            stack.push((at, true));
            self.push_parts(at, |part| stack.push((part, false)));
            if stack.len() == before + 1 {
                stack.pop();
            } else {
                open.insert(at);
            }
        }
        false
    }

    /// A copy of the quantified part of `ty` with fresh variables of `level`. A type without
    /// quantified variables is its own instance.
    pub(crate) fn instantiate(&mut self, ty: Ty, level: u32) -> Ty {
        let root = self.find(ty);
        if self.level(root) != GENERIC {
            return root;
        }
        let mut copies: FxHashMap<Ty, Ty> = FxHashMap::default();
        let mut stack = vec![(root, false)];
        while let Some((at, parts_done)) = stack.pop() {
            if parts_done {
                let shape = self.copy_shape(at, &copies);
                if let Some(copy) = copies.get(&at) {
                    self.fill(*copy, shape);
                }
                continue;
            }
            self.steps += 1;
            if self.level(at) != GENERIC || copies.contains_key(&at) {
                continue;
            }
            let copy = match self.node(at).shape {
                Shape::RowVariable { equality } => self.add(Shape::RowVariable { equality }, level),
                Shape::Variable { equality } => self.add(Shape::Variable { equality }, level),
                // Something quantified is inside, so the copy has the level of its copy. It is
                // known before its parts are, should they lead back here.
                _ => {
                    stack.push((at, true));
                    self.push_parts(at, |part| stack.push((part, false)));
                    self.add(Shape::Variable { equality: false }, level)
                }
            };
            copies.insert(at, copy);
        }
        copies.get(&root).copied().unwrap_or(root)
    }

    fn copy_shape(&self, at: Ty, copies: &FxHashMap<Ty, Ty>) -> Shape {
        let copy = |part: &Ty| {
            let part = self.find(*part);
            copies.get(&part).copied().unwrap_or(part)
        };
        match &self.node(at).shape {
            Shape::Array(item) => Shape::Array(copy(item)),
            Shape::Ref(item) => Shape::Ref(copy(item)),
            Shape::Task(item) => Shape::Task(copy(item)),
            Shape::Record(row) => Shape::Record(copy(row)),
            Shape::Variant(row) => Shape::Variant(copy(row)),
            Shape::Function(params, result) => {
                Shape::Function(params.iter().map(copy).collect(), copy(result))
            }
            Shape::Row(fields, tail) => {
                let fields = fields.iter().map(|(label, slot)| {
                    let slot = match slot {
                        Slot::Absent => Slot::Absent,
                        Slot::Types(types) => Slot::Types(types.iter().map(copy).collect()),
                    };
                    (*label, slot)
                });
                Shape::Row(fields.collect(), copy(tail))
            }
            other => other.clone(),
        }
    }
}
