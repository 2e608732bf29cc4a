//! From a validated input to the commands of a request (spec 06 sections 4.6 and 5.1).

use chatmd_policy::chain::{Chain, Operator};
use chatmd_policy::input::InputRequest;

use crate::materialise::{Argument, PreparedMode, PreparedTool};
use crate::refusal::Refusal;

/// When a pipeline runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// Always.
    Always,
    /// When the last executed pipeline succeeded.
    Success,
    /// When it failed.
    Failure,
}

impl Condition {
    /// Whether it is met. Before the first pipeline there is nothing that could have failed.
    pub(super) fn met(self, last_succeeded: Option<bool>) -> bool {
        match self {
            Self::Always => true,
            Self::Success => last_succeeded != Some(false),
            Self::Failure => last_succeeded == Some(false),
        }
    }
}

/// One pipeline of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pipeline {
    pub(super) condition: Condition,
    /// argv of each stage.
    pub(super) stages: Vec<Vec<String>>,
}

/// The pipelines of a request; model text is never joined into a command line.
pub(super) fn pipelines(
    tool: &PreparedTool,
    request: InputRequest,
) -> Result<Vec<Pipeline>, Refusal> {
    let one = |argv| {
        vec![Pipeline {
            condition: Condition::Always,
            stages: vec![argv],
        }]
    };
    match (&tool.mode, request) {
        (
            PreparedMode::Fixed {
                program,
                arguments: declared,
            },
            InputRequest::Fixed { arguments },
        ) => {
            let mut argv = Vec::with_capacity(1 + declared.len() + arguments.len());
            argv.push(program.clone());
            argv.extend(declared.iter().map(Argument::expose).map(str::to_owned));
            argv.extend(arguments);
            Ok(one(argv))
        }
        (PreparedMode::Structured, InputRequest::Structured { argv }) => Ok(one(argv)),
        (PreparedMode::Chain, InputRequest::Chain { chain, .. }) => Ok(of_chain(chain)),
        _ => Err(Refusal::internal()),
    }
}

fn of_chain(chain: Chain) -> Vec<Pipeline> {
    let first = std::iter::once(Condition::Always);
    let conditions = first.chain(chain.operators.into_iter().map(|operator| match operator {
        Operator::And => Condition::Success,
        Operator::Or => Condition::Failure,
        Operator::Sequence => Condition::Always,
    }));
    chain
        .pipelines
        .into_iter()
        .zip(conditions)
        .map(|(pipeline, condition)| Pipeline {
            condition,
            stages: pipeline.stages,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn conditions_follow_the_last_executed_pipeline() {
        let chain = chatmd_policy::chain::parse("a && b | c || d ; e").unwrap();
        let pipelines = of_chain(chain);
        let conditions: Vec<_> = pipelines.iter().map(|p| p.condition).collect();
        assert_eq!(
            conditions,
            [
                Condition::Always,
                Condition::Success,
                Condition::Failure,
                Condition::Always
            ]
        );
        assert_eq!(pipelines.get(1).unwrap().stages.len(), 2);
        // A failing `a` skips `b | c` and runs `d`.
        assert!(!Condition::Success.met(Some(false)) && Condition::Failure.met(Some(false)));
        assert!(Condition::Success.met(Some(true)) && !Condition::Failure.met(Some(true)));
    }
}
