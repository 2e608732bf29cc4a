//! Values across the boundary: host data into a heap and back (spec 05 sections 8.2 to 8.4).

use super::Value;
use super::data::Data;
use super::heap::Heap;
use super::symbols::{CaseId, ShapeId, Symbols};
use crate::limits::{Excess, Limits, Meter, Path, Segment, Stop};

/// Why a value can not leave the instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotExported {
    /// It holds something that is no data.
    NotData {
        /// Where.
        path: String,
        /// What was found.
        found: &'static str,
    },
    /// It is over a limit.
    Excess(Excess),
}

impl std::fmt::Display for NotExported {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotData { path, found } => write!(out, "{path}: {found} is not data"),
            Self::Excess(excess) => excess.fmt(out),
        }
    }
}

/// What import has still to do; a stack of its own, so that depth costs no native stack.
enum Build<'a> {
    Visit(&'a Data),
    Array(usize),
    Record(ShapeId, usize),
    Variant(CaseId, usize),
}

/// Copies host data into the heap.
pub(crate) fn import(heap: &mut Heap, symbols: &mut Symbols, data: &Data) -> Result<Value, Stop> {
    let mut jobs = vec![Build::Visit(data)];
    let mut built: Vec<Value> = Vec::new();
    while let Some(job) = jobs.pop() {
        let value = match job {
            Build::Visit(data) => match data {
                Data::Unit => Value::Unit,
                Data::Bool(value) => Value::Bool(*value),
                Data::Int(value) => Value::Int(*value),
                Data::Float(value) => Value::Float(*value),
                Data::String(text) => heap.string(text)?,
                Data::Array(items) => {
                    jobs.push(Build::Array(items.len()));
                    jobs.extend(items.iter().rev().map(Build::Visit));
                    continue;
                }
                Data::Record(fields) => {
                    let labels: Vec<_> = fields.keys().map(|label| symbols.name(label)).collect();
                    let (shape, _) = symbols.shape(&labels);
                    jobs.push(Build::Record(shape, fields.len()));
                    jobs.extend(fields.values().rev().map(Build::Visit));
                    continue;
                }
                Data::Variant { tag, arguments } => {
                    let count = u32::try_from(arguments.len()).map_err(|_| Stop::Memory)?;
                    let case = symbols.case(tag, count);
                    jobs.push(Build::Variant(case, arguments.len()));
                    jobs.extend(arguments.iter().rev().map(Build::Visit));
                    continue;
                }
            },
            Build::Array(count) => {
                let parts = tail(&mut built, count);
                heap.array(&parts)?
            }
            Build::Record(shape, count) => {
                let parts = tail(&mut built, count);
                heap.record(shape, &parts)?
            }
            Build::Variant(case, count) => {
                let parts = tail(&mut built, count);
                heap.variant(case, &parts)?
            }
        };
        built.push(value);
    }
    Ok(built.pop().unwrap_or(Value::Unit))
}

fn tail<T>(built: &mut Vec<T>, count: usize) -> Vec<T> {
    built.split_off(built.len().saturating_sub(count))
}

enum Read<'a> {
    Visit(Value, u32),
    Enter(Segment<'a>),
    Leave,
    Array(usize),
    Record(ShapeId, usize),
    Variant(CaseId, usize),
}

/// Copies a value out of the heap if it is data within the limits. `root` names it in findings.
pub(crate) fn export(
    heap: &Heap,
    symbols: &Symbols,
    limits: &Limits,
    value: Value,
    root: &str,
) -> Result<Data, NotExported> {
    let mut reader = Reader {
        heap,
        symbols,
        meter: Meter::new(limits),
        path: Path {
            root,
            segments: Vec::new(),
        },
        jobs: vec![Read::Visit(value, 0)],
        built: Vec::new(),
    };
    reader.run()
}

struct Reader<'a> {
    heap: &'a Heap,
    symbols: &'a Symbols,
    meter: Meter<'a>,
    path: Path<'a>,
    jobs: Vec<Read<'a>>,
    built: Vec<Data>,
}

impl<'a> Reader<'a> {
    fn run(&mut self) -> Result<Data, NotExported> {
        while let Some(job) = self.jobs.pop() {
            let data = match job {
                Read::Enter(segment) => {
                    self.path.segments.push(segment);
                    continue;
                }
                Read::Leave => {
                    self.path.segments.pop();
                    continue;
                }
                Read::Visit(value, depth) => match self.visit(value, depth)? {
                    Some(data) => data,
                    None => continue,
                },
                Read::Array(count) => Data::Array(tail(&mut self.built, count)),
                Read::Record(shape, count) => {
                    let values = tail(&mut self.built, count);
                    let symbols = self.symbols;
                    let labels = symbols
                        .shape_of(shape)
                        .map(|shape| shape.labels())
                        .unwrap_or_default();
                    Data::Record(
                        labels
                            .iter()
                            .map(|label| symbols.text(*label).to_owned())
                            .zip(values)
                            .collect(),
                    )
                }
                Read::Variant(case, count) => Data::Variant {
                    tag: self.symbols.tag(case).to_owned(),
                    arguments: tail(&mut self.built, count),
                },
            };
            self.built.push(data);
        }
        Ok(self.built.pop().unwrap_or(Data::Unit))
    }

    /// A leaf, or nothing when jobs for the parts were added.
    fn visit(&mut self, value: Value, depth: u32) -> Result<Option<Data>, NotExported> {
        let (heap, symbols) = (self.heap, self.symbols);
        self.within(|meter| meter.part(depth))?;
        let data = match value {
            Value::Unit => Data::Unit,
            Value::Bool(value) => {
                self.within(|meter| meter.bytes(1))?;
                Data::Bool(value)
            }
            Value::Int(value) => {
                self.within(|meter| meter.bytes(8))?;
                Data::Int(value)
            }
            Value::Float(value) => {
                if !value.is_finite() {
                    return Err(self.not_data("a float that is not finite"));
                }
                self.within(|meter| meter.bytes(8))?;
                Data::Float(value)
            }
            Value::String(text) => {
                let text = heap.str(text);
                self.within(|meter| meter.string(text.len()))?;
                Data::String(text.to_owned())
            }
            Value::Array(items) => {
                let items = heap.items(items);
                self.within(|meter| meter.items(items.len()))?;
                self.jobs.push(Read::Array(items.len()));
                for (index, item) in items.iter().enumerate().rev() {
                    self.part(*item, depth, Segment::Index(index));
                }
                return Ok(None);
            }
            Value::Record { shape, at } => {
                let labels = symbols
                    .shape_of(shape)
                    .map(|shape| shape.labels())
                    .unwrap_or_default();
                self.within(|meter| meter.items(labels.len()))?;
                self.jobs.push(Read::Record(shape, labels.len()));
                let values = heap.run(at, symbols.width(shape));
                for (label, value) in labels.iter().zip(values).rev() {
                    let label = symbols.text(*label);
                    self.within(|meter| meter.bytes(label.len() as u64))?;
                    self.part(*value, depth, Segment::Label(label));
                }
                return Ok(None);
            }
            Value::Variant { case, at } => {
                let tag = symbols.tag(case);
                self.within(|meter| meter.bytes(tag.len() as u64))?;
                let values = heap.run(at, symbols.arguments(case));
                self.jobs.push(Read::Variant(case, values.len()));
                for (index, value) in values.iter().enumerate().rev() {
                    self.part(*value, depth, Segment::Argument(tag, index));
                }
                return Ok(None);
            }
            Value::Ref(_) | Value::Closure { .. } | Value::Builtin(_) | Value::Task { .. } => {
                return Err(self.not_data(value.kind()));
            }
        };
        Ok(Some(data))
    }

    fn part(&mut self, value: Value, depth: u32, segment: Segment<'a>) {
        self.jobs.push(Read::Leave);
        self.jobs.push(Read::Visit(value, depth.saturating_add(1)));
        self.jobs.push(Read::Enter(segment));
    }

    fn within(
        &mut self,
        measure: impl FnOnce(&mut Meter<'a>) -> Result<(), (crate::limits::ExcessKind, u64)>,
    ) -> Result<(), NotExported> {
        measure(&mut self.meter).map_err(|(kind, limit)| {
            NotExported::Excess(Excess {
                path: self.path.to_string(),
                kind,
                limit,
            })
        })
    }

    fn not_data(&self, found: &'static str) -> NotExported {
        NotExported::NotData {
            path: self.path.to_string(),
            found,
        }
    }
}
