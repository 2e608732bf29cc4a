//! The outcome of a request from those of its commands.

use super::Evaluation;

/// A chain has the outcome of the first of its worst commands.
pub(super) fn combine(evaluation: &mut Evaluation) {
    let mut worst = None;
    for (number, command) in evaluation.commands.iter().enumerate() {
        let better = |(_, known): (usize, _)| command.outcome > known;
        if worst.is_none_or(better) {
            worst = Some((number, command.outcome));
        }
    }
    let Some((number, outcome)) = worst else {
        return;
    };
    evaluation.outcome = outcome;
    evaluation.deciding = Some(number);
    if let Some(command) = evaluation.commands.get(number) {
        evaluation.step = command.step;
        evaluation.code = command.code.map(str::to_owned);
        evaluation.reason.clone_from(&command.reason);
    }
}
