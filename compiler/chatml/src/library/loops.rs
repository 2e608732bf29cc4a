//! Library functions that call back into the script, as instructions.
//!
//! They iterate over a copy of the array (spec 05b section 2.2: a callback that changes the array
//! does not affect the traversal). Every visited item counts one step, every callback another.

use super::known;
use crate::eval::{Function, Instr, Reg};

/// Names in the order of [`functions`].
const NAMES: &[&str] = &[
    "Array.init",
    "Array.map",
    "Array.mapi",
    "Array.iter",
    "Array.iteri",
    "Array.fold",
    "Array.filter",
    "Array.exists",
    "Array.for_all",
    "Array.find",
    "Array.find_map",
];

/// The index of a function in every program.
pub(crate) fn index(name: &str) -> Option<u32> {
    NAMES
        .iter()
        .position(|known| *known == name)
        .and_then(|index| u32::try_from(index).ok())
}

/// The name of a function.
pub(crate) fn name(index: u32) -> &'static str {
    NAMES.get(index as usize).copied().unwrap_or("Array")
}

const ARRAY: Reg = 0;
const CALLBACK: Reg = 1;
/// The accumulator of `fold`, whose callback comes last.
const INITIAL: Reg = 1;
const FOLD_CALLBACK: Reg = 2;
const ITEMS: Reg = 3;
const INDEX: Reg = 4;
const LEN: Reg = 5;
const RESULT: Reg = 6;
const ANSWER: Reg = 7;
const ITEM: Reg = 8;
const COUNT: Reg = 9;
/// Arguments of callbacks; the callee's registers begin here.
const FIRST: Reg = 10;
const SECOND: Reg = 11;
const REGISTERS: u32 = 13;

/// The functions in the order of their names.
pub(crate) fn functions() -> Vec<Function> {
    vec![
        init(),
        map(false),
        map(true),
        iter(false),
        iter(true),
        fold(),
        filter(),
        search(true),
        search(false),
        find(),
        find_map(),
    ]
}

struct Assembler {
    code: Vec<Instr>,
    /// Where the loop begins, and its exit jump.
    start: u32,
    exit: usize,
}

impl Assembler {
    /// Takes the copy of the array and its length.
    fn new(prologue: &[Instr]) -> Self {
        Self {
            code: prologue.to_vec(),
            start: 0,
            exit: 0,
        }
    }

    fn over_array() -> Self {
        Self::new(&[
            Instr::Copy {
                dst: ITEMS,
                array: ARRAY,
            },
            Instr::Length {
                dst: LEN,
                array: ITEMS,
            },
        ])
    }

    fn push(&mut self, instr: Instr) -> &mut Self {
        self.code.push(instr);
        self
    }

    fn here(&self) -> u32 {
        u32::try_from(self.code.len()).unwrap_or(u32::MAX)
    }

    fn begin_loop(&mut self) -> &mut Self {
        self.push(Instr::Int {
            dst: INDEX,
            value: 0,
        });
        self.start = self.here();
        self.exit = self.code.len();
        self.push(Instr::JumpUnlessLess {
            a: INDEX,
            b: LEN,
            to: 0,
        });
        self.push(Instr::Step)
    }

    fn item(&mut self, dst: Reg) -> &mut Self {
        self.push(Instr::Item {
            dst,
            array: ITEMS,
            index: INDEX,
        })
    }

    fn call(&mut self, callee: Reg, dst: Reg, count: u16) -> &mut Self {
        self.push(Instr::Call {
            dst,
            callee,
            base: FIRST,
            count,
        })
    }

    fn move_to(&mut self, dst: Reg, src: Reg) -> &mut Self {
        self.push(Instr::Move { dst, src })
    }

    fn end_loop(&mut self) -> &mut Self {
        self.push(Instr::AddImm {
            dst: INDEX,
            a: INDEX,
            value: 1,
        });
        let start = self.start;
        self.push(Instr::Jump { to: start });
        let end = self.here();
        if let Some(Instr::JumpUnlessLess { to, .. }) = self.code.get_mut(self.exit) {
            *to = end;
        }
        self
    }

    /// A forward jump that [`Self::land`] completes.
    fn jump(&mut self, instr: Instr) -> usize {
        self.code.push(instr);
        self.code.len() - 1
    }

    fn land(&mut self, hole: usize) {
        let here = self.here();
        if let Some(
            Instr::JumpUnless { to, .. } | Instr::JumpUnlessCase { to, .. } | Instr::Jump { to },
        ) = self.code.get_mut(hole)
        {
            *to = here;
        }
    }

    fn finish(self, parameters: u16) -> Function {
        Function {
            code: self.code.into(),
            spans: Box::default(),
            parameters,
            registers: REGISTERS,
            captures: Box::default(),
            library: true,
        }
    }
}

fn init() -> Function {
    let mut code = Assembler::new(&[
        Instr::CheckCount {
            src: ARRAY,
            message: 0,
        },
        Instr::NewDynamic {
            dst: RESULT,
            len: ARRAY,
        },
        Instr::Move {
            dst: LEN,
            src: ARRAY,
        },
    ]);
    code.begin_loop()
        .move_to(FIRST, INDEX)
        .call(CALLBACK, ANSWER, 1)
        .push(Instr::SetItem {
            array: RESULT,
            index: INDEX,
            src: ANSWER,
        })
        .end_loop()
        .push(Instr::Return { src: RESULT });
    code.finish(2)
}

/// Puts the arguments of a callback in place and calls it.
fn call_back(code: &mut Assembler, indexed: bool) {
    if indexed {
        code.move_to(FIRST, INDEX)
            .item(SECOND)
            .call(CALLBACK, ANSWER, 2);
    } else {
        code.item(FIRST).call(CALLBACK, ANSWER, 1);
    }
}

fn map(indexed: bool) -> Function {
    let mut code = Assembler::over_array();
    code.push(Instr::NewDynamic {
        dst: RESULT,
        len: LEN,
    })
    .begin_loop();
    call_back(&mut code, indexed);
    code.push(Instr::SetItem {
        array: RESULT,
        index: INDEX,
        src: ANSWER,
    })
    .end_loop()
    .push(Instr::Return { src: RESULT });
    code.finish(2)
}

fn iter(indexed: bool) -> Function {
    let mut code = Assembler::over_array();
    code.begin_loop();
    call_back(&mut code, indexed);
    code.end_loop()
        .push(Instr::Unit { dst: RESULT })
        .push(Instr::Return { src: RESULT });
    code.finish(2)
}

fn fold() -> Function {
    let mut code = Assembler::over_array();
    code.begin_loop()
        .move_to(FIRST, INITIAL)
        .item(SECOND)
        .call(FOLD_CALLBACK, INITIAL, 2)
        .end_loop()
        .push(Instr::Return { src: INITIAL });
    code.finish(3)
}

fn filter() -> Function {
    let mut code = Assembler::over_array();
    code.push(Instr::NewDynamic {
        dst: RESULT,
        len: LEN,
    })
    .push(Instr::Int {
        dst: COUNT,
        value: 0,
    })
    .begin_loop()
    .item(ITEM)
    .move_to(FIRST, ITEM)
    .call(CALLBACK, ANSWER, 1);
    let no = code.jump(Instr::JumpUnless {
        cond: ANSWER,
        expected: true,
        to: 0,
    });
    code.push(Instr::SetItem {
        array: RESULT,
        index: COUNT,
        src: ITEM,
    })
    .push(Instr::AddImm {
        dst: COUNT,
        a: COUNT,
        value: 1,
    });
    code.land(no);
    code.end_loop()
        .push(Instr::Shorten {
            dst: RESULT,
            array: RESULT,
            len: COUNT,
        })
        .push(Instr::Return { src: RESULT });
    code.finish(2)
}

/// `exists` looks for `true`, `for_all` for `false`; what is found is the answer.
fn search(wanted: bool) -> Function {
    let mut code = Assembler::over_array();
    code.begin_loop();
    call_back(&mut code, false);
    let no = code.jump(Instr::JumpUnless {
        cond: ANSWER,
        expected: wanted,
        to: 0,
    });
    code.push(Instr::Return { src: ANSWER });
    code.land(no);
    code.end_loop()
        .push(Instr::Bool {
            dst: RESULT,
            value: !wanted,
        })
        .push(Instr::Return { src: RESULT });
    code.finish(2)
}

fn none(code: &mut Assembler) {
    code.push(Instr::Variant {
        dst: RESULT,
        base: RESULT,
        case: known::NONE.0,
    })
    .push(Instr::Return { src: RESULT });
}

fn find() -> Function {
    let mut code = Assembler::over_array();
    code.begin_loop()
        .item(ITEM)
        .move_to(FIRST, ITEM)
        .call(CALLBACK, ANSWER, 1);
    let no = code.jump(Instr::JumpUnless {
        cond: ANSWER,
        expected: true,
        to: 0,
    });
    code.push(Instr::Variant {
        dst: RESULT,
        base: ITEM,
        case: known::SOME.0,
    })
    .push(Instr::Return { src: RESULT });
    code.land(no);
    code.end_loop();
    none(&mut code);
    code.finish(2)
}

fn find_map() -> Function {
    let mut code = Assembler::over_array();
    code.begin_loop();
    call_back(&mut code, false);
    let no = code.jump(Instr::JumpUnlessCase {
        src: ANSWER,
        case: known::SOME.0,
        to: 0,
    });
    code.push(Instr::Return { src: ANSWER });
    code.land(no);
    code.end_loop();
    none(&mut code);
    code.finish(2)
}
