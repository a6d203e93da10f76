//! The compiled half of the R package: a matrix and options in, a list out. What can be said in R is said
//! there (`r/R`).
//!
//! A run is a thread that never touches R ([`running`]); R waits for it in short steps, between which it
//! checks for Ctrl-C itself. What is wrong with the input is returned as a list and raised by R as a condition,
//! so that nothing jumps over frames of Rust.

#![cfg(feature = "r")]
#![allow(missing_docs, reason = "the macros of extendr make functions beside ours")]

mod failure;
mod frame;
mod options;
mod proof;
mod running;

use extendr_api::prelude::*;
use extendr_api::serializer::to_robj;
use faer::MatRef;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::explore::Exploration;
use orthopt::family::Call;
use orthopt::message::Message;
use orthopt::problem::PcaData;
use orthopt::report::{DataFacts, Report};
use orthopt::request::{Front, similar};
use orthopt::threads;

use failure::{Failure, told};
use options::Options;
use running::{Came, Found, Running};

/// Poses the problem and starts the run: the list `ok` with a handle, or `error` with a text.
///
/// `x` is A, or C itself with the option `gram`.
#[extendr]
fn orthopt_begin(x: RMatrix<f64>, options: Robj) -> List {
    told(begin(&x, &options).map(|running| ExternalPtr::new(running).into()))
}

/// The same for an exploration.
#[extendr]
fn orthopt_explore(x: RMatrix<f64>, options: Robj) -> List {
    told(begin_exploring(&x, &options).map(|running| ExternalPtr::new(running).into()))
}

/// Waits for `seconds` at most; whether the run has ended.
#[extendr]
fn orthopt_wait(run: ExternalPtr<Running>, seconds: f64) -> bool {
    run.wait(seconds)
}

/// Asks the run to end with the best X so far.
#[extendr]
fn orthopt_stop(run: ExternalPtr<Running>) {
    run.stop();
}

/// What came of a run that has ended: the list `ok` with its report or its answers, or `error` with a text.
#[extendr]
fn orthopt_finish(run: ExternalPtr<Running>) -> List {
    told(run.take().and_then(|came| match came {
        Came::Solved(found) => solved(&found),
        Came::Explored(found) => explored(&found),
    }))
}

/// What a proof says of the data that it is of; see [`proof::data`].
#[extendr]
fn orthopt_proof_data(text: &str) -> List {
    told(proof::data(text))
}

/// What a proof claims, if it proves it for the matrix; see [`proof::check`].
#[extendr]
fn orthopt_check_proof(text: &str, x: RMatrix<f64>, options: Robj) -> List {
    told(proof::check(text, view(&x), &options))
}

/// The table of options; see [`options::described`].
#[extendr]
fn orthopt_options() -> List {
    options::described()
}

/// Names of the constants of solvers and penalties, as arguments.
#[extendr]
fn orthopt_constants() -> Vec<String> {
    orthopt::family::all_constants().iter().map(|c| c.option.replace('-', "_")).collect()
}

/// Names of options and constants that are like this one.
#[extendr]
fn orthopt_similar(name: &str) -> Vec<String> {
    similar(name, Front::R)
}

/// Which columns of a frame are variables and which rows are samples; see [`frame::arranged`].
#[extendr]
fn orthopt_frame(names: Vec<String>, cells: List, rows: i32, index: Robj, options: List) -> List {
    let rows = usize::try_from(rows).unwrap_or(0);
    told(frame::arranged(names, &cells, rows, index.as_string_vector(), &options))
}

/// Notes on samples, or on C itself.
#[extendr]
fn orthopt_remarks(x: RMatrix<f64>, gram: bool) -> Vec<String> {
    frame::remarks(&x, gram)
}

/// Whether one triangle of C is empty.
#[extendr]
fn orthopt_has_one_triangle(x: RMatrix<f64>) -> bool {
    frame::has_one_triangle(&x)
}

fn begin(x: &RMatrix<f64>, options: &Robj) -> Result<Running, Failure> {
    let Options { gram, proof, job, .. } = Options::read(options, Call::Solve)?;
    let (a, facts) = (view(x), facts(x, options)?);
    let data = if gram { PcaData::Gram(a) } else { PcaData::Dense(a) };
    let samples = job.request.stability.map(|_| a.to_owned());
    let clock = Cancel::never().within(job.request.time_limit);
    let posed = threads::pool(job.request.threads)?.install(|| job.pose(&data, facts, Vec::new(), &clock))?;
    Ok(Running::solving(posed, samples, proof))
}

fn begin_exploring(x: &RMatrix<f64>, options: &Robj) -> Result<Running, Failure> {
    let Options { gram, job, .. } = Options::read(options, Call::Explore)?;
    job.check()?;
    Ok(Running::exploring(job, view(x).to_owned(), gram, facts(x, options)?))
}

/// What is known of the preparation of R's matrix.
fn facts(x: &RMatrix<f64>, options: &Robj) -> Result<DataFacts, Failure> {
    let flag = |name| options::flag(options, name);
    let (gram, centered, scaled) = (flag("gram")?, flag("centered")?, flag("scaled")?);
    let data = if gram { PcaData::Gram(view(x)) } else { PcaData::Dense(view(x)) };
    let scale = if scaled { "unit" } else { "none" }.into(); // the columns of R's matrix have norm 1 then
    let covariance = !gram && !scaled; // R has divided by the root of rows - 1
    Ok(DataFacts { centered, scaled, scale, covariance, ..DataFacts::of(&data) })
}

/// The report as the JSON of the command has it, and what R asks besides.
fn solved(found: &Found) -> Result<Robj, Failure> {
    let broken = found.broken.as_ref().map(Failure::to_string).unwrap_or_default();
    reported(&found.report, &found.notes, found.proof_file.as_deref().unwrap_or_default(), &broken)
}

fn reported(report: &Report, notes: &[Message], proof_file: &str, broken: &str) -> Result<Robj, Failure> {
    let x = report.x();
    let rotation = RMatrix::new_matrix(x.nrows(), x.ncols(), |i, k| x.get(i, k));
    let notes: Vec<String> = notes.iter().map(failure::worded).collect();
    Ok(list!(
        rotation = rotation,
        report = to_robj(&report.object(failure::word))?,
        certified = report.is_certified(),
        global = to_robj(&report.global)?,
        notes = notes,
        proof_file = proof_file,
        broken = broken
    )
    .into())
}

/// The answers, the components, and what they rest on.
fn explored(found: &Exploration) -> Result<Robj, Failure> {
    let said = found.said();
    let questions: Vec<&str> = said.iter().map(|(question, _)| *question).collect();
    let answers = said.iter().map(|(_, all)| all.iter().map(failure::worded).collect::<Vec<_>>());
    let points = &found.path.points;
    let fewer = found.fewer.as_ref().map(|fewer| reported(&fewer.report, &[], "", ""));
    Ok(list!(
        components = reported(&found.report, &[], "", "")?,
        fewer = fewer.transpose()?.unwrap_or_else(|| NULL.into()),
        questions = questions,
        answers = List::from_values(answers),
        counts = points.iter().map(|point| point.at).collect::<Vec<_>>(),
        shares = points.iter().map(|point| point.maximised()).collect::<Vec<_>>(),
        nonzeros = found.count() as i32,
        bends = found.path.bends,
        interrupted = found.interrupted
    )
    .into())
}

/// faer's view of a matrix of R, which is stored by columns.
fn view(x: &RMatrix<f64>) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(x.data(), x.nrows(), x.ncols())
}

/// A matrix of R by rows.
fn copied(x: &RMatrix<f64>) -> RowMat {
    RowMat::from_mat(view(x))
}

extendr_module! {
    mod orthopt;
    fn orthopt_begin;
    fn orthopt_explore;
    fn orthopt_wait;
    fn orthopt_stop;
    fn orthopt_finish;
    fn orthopt_proof_data;
    fn orthopt_check_proof;
    fn orthopt_options;
    fn orthopt_constants;
    fn orthopt_similar;
    fn orthopt_frame;
    fn orthopt_remarks;
    fn orthopt_has_one_triangle;
}
