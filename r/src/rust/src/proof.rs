//! Checks of proofs that can be cited.

use extendr_api::prelude::*;
use extendr_api::serializer::to_robj;
use faer::MatRef;
use orthopt::bound::{CheckedProof, ProofFile};
use orthopt::cancel::Cancel;
use orthopt::family::{Call, CallOptions, find_problem};
use orthopt::job::Job;
use orthopt::problem::PcaData;
use orthopt::report::DataFacts;
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
    let given = CallOptions::new(Call::BoundOfX, request.given());
    let info = if flag(list, "any")? { find_problem(&file.problem.name)? } else { problem_of(list)? };
    request.problem = Some(info.name.into());
    request.complete(&file);
    let mut job = Job::new(info, request.checked()?, given);
    job.chooses_counts = false; // the proof says how many
    let data = if gram { PcaData::Gram(a) } else { PcaData::Dense(a) };
    let checked = threads::pool(job.request.threads)?.install(|| -> Result<CheckedProof, Failure> {
        let posed = job.pose(&data, DataFacts::of(&data), Vec::new(), &Cancel::never())?;
        posed.check_x(false)?;
        Ok(posed.problem.check_proof(&file, info.name)?)
    })?;
    Ok(to_robj(&checked)?)
}
