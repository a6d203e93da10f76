//! `check_proof`: does this file prove what it says?

use orthopt::bound::ProofFile;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Failure;
use crate::input::Given;
use crate::options::Stated;
use crate::solve::pose_for;
use crate::supervise::attend;
use crate::threads;

/// Checks the text of a proof; returns a dictionary of what is proved. Ctrl-C is raised when the check has ended.
#[pyfunction]
pub fn check_proof<'py>(
    py: Python<'py>,
    proof: &str,
    data: Given<'py>,
    options: Stated,
) -> PyResult<Bound<'py, PyDict>> {
    let file = ProofFile::of_text(proof).map_err(Failure::from)?;
    let mut stated = options;
    stated.options.complete(&file);
    let request = stated.checked()?;
    let mut job = request.job(&file.problem.name).map_err(Failure::from)?;
    job.chooses_counts = false; // the proof says how many
    let (posed, _, _) = pose_for(py, job, &data, &request, None)?;
    let (problem, name, threads) = (posed.problem, posed.task.problem.name, posed.job.request.threads);
    let checked = attend(py, move |_| -> Result<_, Failure> {
        Ok(threads::pool(threads)?.install(|| problem.check_proof(&file, name))?)
    });
    let checked = checked??;
    let out = PyDict::new(py);
    out.set_item("claim", checked.claim)?;
    out.set_item("proof", checked.proof)?;
    out.set_item("objective", checked.objective)?;
    out.set_item("bound", checked.bound)?;
    out.set_item("gap", checked.gap)?;
    out.set_item("elsewhere", checked.elsewhere)?;
    out.set_item("version", checked.version)?;
    Ok(out)
}
