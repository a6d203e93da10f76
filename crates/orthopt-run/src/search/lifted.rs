//! A portfolio for the problems of one type as one for a type that holds them: `part` gives the problem.

use std::sync::Arc;

use rand_pcg::Pcg64;

use super::task::{Phase, Task};
use super::{Arm, MakeTask, Move, Portfolio};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;

impl<P: 'static> Portfolio<P> {
    /// The portfolio for problems that hold one of these.
    pub(crate) fn lifted<Q: 'static>(self, part: fn(&Q) -> &P) -> Portfolio<Q> {
        let Self { arms, moves, run, polish, settle, tuning } = self;
        let lifted_arm = |Arm { solver, start, random, continues, task, constants }: Arm<P>| Arm {
            solver,
            start,
            random,
            continues,
            task: lifted_task(task, part),
            constants,
        };
        let lifted_move = |of| Arc::new(Lifted { of, part }) as Arc<dyn Move<Q>>;
        Portfolio {
            arms: arms.into_iter().map(lifted_arm).collect(),
            moves: moves.into_iter().map(lifted_move).collect(),
            settle: settle.map(|task| lifted_task(task, part)),
            run,
            polish,
            tuning,
        }
    }
}

fn lifted_task<P: 'static, Q: 'static>(task: MakeTask<P>, part: fn(&Q) -> &P) -> MakeTask<Q> {
    Box::new(move |problem, level, seed| {
        let Task { phases, x0 } = task(part(problem), level, seed)?;
        Ok(Task {
            phases: phases.into_iter().map(|p| lifted_phase(p, part)).collect(),
            x0: Box::new(move |problem, cancel| x0(part(problem), cancel)),
        })
    })
}

fn lifted_phase<P: 'static, Q: 'static>(of: Phase<P>, part: fn(&Q) -> &P) -> Phase<Q> {
    let Phase { solver, most, share, again, patient, hands_on } = of;
    Phase { solver: solver.lifted(part), most, share, again, patient, hands_on }
}

struct Lifted<P, Q> {
    of: Arc<dyn Move<P>>,
    part: fn(&Q) -> &P,
}

impl<P: 'static, Q: 'static> Move<Q> for Lifted<P, Q> {
    fn name(&self) -> &'static str {
        self.of.name()
    }

    fn point(&self, problem: &Q, best: &[RowMat], rng: &mut Pcg64, cancel: &Cancel) -> Option<RowMat> {
        self.of.point((self.part)(problem), best, rng, cancel)
    }

    fn phases(&self, problem: &Q, rng: &mut Pcg64) -> Vec<Phase<Q>> {
        let phases = self.of.phases((self.part)(problem), rng);
        phases.into_iter().map(|p| lifted_phase(p, self.part)).collect()
    }
}
