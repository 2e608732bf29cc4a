//! The engines behind one shape: a closure that runs the compiled program once.

use chatml::instance::{evaluate, prepare as prepare_chatml};
use chatml::limits::{Limits, Unlimited};
use chatml::surface::Kind;
use starlark::environment::{FrozenModule, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};

use crate::programs::Program;

/// A compiled program.
pub type Run = Box<dyn FnMut() -> i64>;

/// ChatML, rhai, starlark.
pub fn prepare(program: &Program) -> [Run; 3] {
    [
        chatml(program.chatml),
        rhai(program.rhai),
        starlark(program.starlark),
    ]
}

fn chatml(source: &str) -> Run {
    let limits = Limits {
        fuel: 1_000_000_000,
        max_value: 64 * 1024 * 1024,
        ..Limits::default()
    };
    let (program, _) = prepare_chatml(source, Kind::Core).expect("the program is well typed");
    Box::new(move || {
        let evaluation = evaluate(&program, &limits, &Unlimited).expect("the program runs");
        evaluation
            .text
            .and_then(|text| text.parse().ok())
            .expect("the program yields a number")
    })
}

fn rhai(source: &str) -> Run {
    let mut engine = rhai::Engine::new();
    engine.set_max_call_levels(1000);
    let ast = engine
        .compile(format!("{source}\nrun()"))
        .expect("the program compiles");
    Box::new(move || engine.eval_ast::<i64>(&ast).expect("the program runs"))
}

fn starlark(source: &str) -> Run {
    let globals = GlobalsBuilder::extended_by(&[LibraryExtension::StructType]).build();
    let ast = AstModule::parse("program.star", source.to_owned(), &Dialect::Extended)
        .expect("the program parses");
    let frozen: FrozenModule = Module::with_temp_heap(|module| {
        {
            let mut evaluator = Evaluator::new(&module);
            evaluator
                .eval_module(ast, &globals)
                .expect("the program compiles");
        }
        module.freeze()
    })
    .expect("the module freezes");
    Box::new(move || {
        Module::with_temp_heap(|module| {
            let run = frozen.get("run").expect("the function exists");
            let mut evaluator = Evaluator::new(&module);
            let value = evaluator
                .eval_function(module.heap().access_owned_frozen_value(&run), &[], &[])
                .expect("the program runs");
            i64::from(value.unpack_i32().expect("the program yields a number"))
        })
    })
}
