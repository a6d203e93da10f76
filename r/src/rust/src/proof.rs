//! Checks of proofs that can be cited.

use extendr_api::prelude::*;
use extendr_api::serializer::to_robj;
use faer::MatRef;
use orthopt::bound::{CheckedProof, ProofFile};
use orthopt::family::{Call, Case, Run, find_problem, pose};
use orthopt::problem::PcaData;
use orthopt::threads;

use crate::failure::Failure;
use crate::options::{flag, problem_of, request};

/// What was done to the data that a proof is of.
pub fn data(text: &str) -> Result<Robj, Failure> {
    Ok(to_robj(&ProofFile::of_text(text)?.data)?)
}

/// What a proof claims, if it proves it for A, or for C itself with `gram`. The list has `gram`, whether the problem is that of the
/// file (`any`) or of `penalty` and `nonneg`, and the options of the problem that are given.
pub fn check(text: &str, a: MatRef<'_, f64>, list: &Robj) -> Result<Robj, Failure> {
    let file = ProofFile::of_text(text)?;
    let gram = flag(list, "gram")?;
    let mut request = request(list)?;
    let given = request.given();
    let info = if flag(list, "any")? { find_problem(&file.problem.name)? } else { problem_of(list)? };
    request.problem = Some(info.name.into());
    file.complete(&mut request);
    let settled = request.settled()?;
    let case = Case::new(info, &settled.pose).of_gram(gram).in_call(Call::BoundOfX);
    case.check(given.iter().copied())?;
    let data = if gram { PcaData::Gram(a) } else { PcaData::Dense(a) };
    let checked = threads::pool(settled.threads)?.install(|| -> Result<CheckedProof, Failure> {
        let problem = pose(info, &data, &settled.pose)?.problem;
        case.run_by(Run::none(&problem)).check(given.iter().copied())?;
        Ok(problem.check_proof(&file, info.name)?)
    })?;
    Ok(to_robj(&checked)?)
}
