//! Joining the types of branches (spec 05 section 5.3).

use rustc_hash::FxHashMap;

use super::graph::{Fields, Graph, Shape, Slot, Ty};
use super::unify::Conflict;

impl Graph {
    /// The type of a value that comes from either of two branches. Records keep the labels both
    /// have; everything else has to be the same. On an error some parts may be unified already.
    pub(crate) fn join(&mut self, a: Ty, b: Ty, level: u32) -> Result<Ty, Conflict> {
        let mut known: FxHashMap<(Ty, Ty), Ty> = FxHashMap::default();
        let mut work: Vec<(Ty, Ty, Option<Ty>)> = vec![(a, b, None)];
        let mut whole = a;
        while let Some((a, b, placeholder)) = work.pop() {
            let (a, b) = (self.find(a), self.find(b));
            let joined = match (&self.node(a).shape, &self.node(b).shape) {
                (Shape::Record(x), Shape::Record(y)) if a != b => {
                    let (x, y) = (*x, *y);
                    match known.get(&(a, b)) {
                        Some(joined) => *joined,
                        None => {
                            let joined = self.join_records(x, y, level, &mut work);
                            known.insert((a, b), joined);
                            joined
                        }
                    }
                }
                _ => {
                    self.unify(a, b)?;
                    a
                }
            };
            match placeholder {
                Some(placeholder) => self.define(placeholder, joined),
                None => whole = joined,
            }
        }
        Ok(whole)
    }

    /// A record of placeholders for the common labels; `work` says what they stand for.
    fn join_records(
        &mut self,
        x: Ty,
        y: Ty,
        level: u32,
        work: &mut Vec<(Ty, Ty, Option<Ty>)>,
    ) -> Ty {
        let (left, left_tail) = self.collect_row(x);
        let (right, right_tail) = self.collect_row(y);
        let same_tail = left_tail == right_tail;
        let tail = if same_tail {
            left_tail
        } else {
            Self::ROW_EMPTY
        };
        let open = same_tail && matches!(self.node(tail).shape, Shape::RowVariable { .. });
        let mut fields: Fields = Vec::new();
        let first_new = work.len();
        let mut others = right.iter().peekable();
        let absent = |fields: &mut Fields, label| {
            // Behind the shared tail there may be a field of this name and another type.
            if open {
                fields.push((label, Slot::Absent));
            }
        };
        for (label, slot) in &left {
            while let Some((other, _)) = others.next_if(|(other, _)| other < label) {
                absent(&mut fields, *other);
            }
            match (slot, others.next_if(|(other, _)| other == label)) {
                (Slot::Types(types), Some((_, Slot::Types(other_types)))) => {
                    let (Some(ty), Some(other)) = (types.first(), other_types.first()) else {
                        continue;
                    };
                    let placeholder = self.add(Shape::Variable { equality: false }, level);
                    work.push((*ty, *other, Some(placeholder)));
                    fields.push((*label, Slot::Types(Box::new([placeholder]))));
                }
                _ => absent(&mut fields, *label),
            }
        }
        for (other, _) in others {
            absent(&mut fields, *other);
        }
        work[first_new..].reverse();
        self.record(fields, tail)
    }
}
