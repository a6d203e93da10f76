//! `orthopt check-proof FILE.json DATA`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueHint;
use orthopt::bound::{Limits, ProofFile};
use orthopt::family::{Call, Named};
use orthopt::request::{Counts, Rank, Request};

use super::solve::use_threads;
use crate::configured::Help;
use crate::failure::{EXIT_CODES, ExitCode};
use crate::files::Files;
use crate::given::{Asked, check_together};
use crate::input::Input;
use crate::options::{OF_PROOF, Typed};
use crate::pose::pose;
use crate::settings::Settings;
use crate::summary::Summary;
use crate::{interrupt, output};

const EXAMPLES: &str = "\
Examples:
  orthopt bound l0-pca builtin:pitprops -r 2 --nonzeros 4 --proof proof.json
  orthopt check-proof proof.json builtin:pitprops
  Only as a proof of this problem:
    orthopt check-proof proof.json builtin:pitprops -r 2 --nonzeros 4 --maximise adjusted";

/// Check a proof that `bound --proof` wrote: its multipliers, its X and its claim, for the C of DATA
///
/// Nothing is searched for, and no code is shared with what makes proofs. The problem and the preparation of the data are those
/// of the file; what is given here has to be the same. A file of another table, rank, limit or measure is refused.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "orthopt check-proof FILE.json DATA [OPTIONS]\n       orthopt check-proof FILE.json --gram FILE [OPTIONS]",
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    disable_help_flag = true
)]
pub struct Args {
    #[command(flatten)]
    help: Help,

    /// The proof
    #[arg(value_name = "FILE.json", value_hint = ValueHint::FilePath)]
    file: PathBuf,

    #[command(flatten)]
    options: Typed<OF_PROOF>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut options = args.options.0.clone();
    Files::of(&options).reads("FILE.json", Some(&args.file)).check()?;
    let proof = read(&args.file)?;
    of_file(&mut options, &proof);
    let settings = Settings::resolve(&mut options)?;
    let (info, asked) = (settings.problem, Asked::new(Call::BoundOfX, &options));
    asked.check(info, &settings.pose)?;
    check_together(&options)?;
    use_threads(settings.threads)?;
    let input = Input::load(&settings.data)?;
    asked.check_data(info, &settings.pose, &input)?;
    let (posed, _) = pose(info, &input, &settings.pose, interrupt::cancel())?;
    drop(input);
    let problem: Named = posed.problem;
    let claim = problem.check_proof(&proof, info.name).with_context(|| args.file.display().to_string())?;
    if settings.prints() {
        output::print(&told(&proof, claim))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> anyhow::Result<ProofFile> {
    let text = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let what = || format!("{}: it is not a file that `orthopt bound ... --proof` wrote", path.display());
    serde_json::from_slice(&text).with_context(what)
}

/// What is not given is what the file says.
fn of_file(options: &mut Request, proof: &ProofFile) {
    let (problem, data) = (&proof.problem, &proof.data);
    options.problem = Some(problem.name.clone());
    options.rank.get_or_insert(Rank::Given(problem.rank));
    let has_limit =
        options.nonzeros.is_some() || options.total_nonzeros.is_some() || options.variables.is_some();
    match &problem.limits {
        _ if has_limit => {}
        Some(Limits::Nonzeros(list)) => {
            // one number is for any rank, so that another rank is told as such
            let same = list.iter().all(|k| *k == list[0]);
            options.nonzeros = Some(Counts::Given(if same { list[..1].to_vec() } else { list.clone() }));
        }
        Some(Limits::Total(total)) => options.total_nonzeros = Some(*total),
        Some(Limits::Variables(variables)) => options.variables = Some(*variables),
        _ => {}
    }
    if options.total_nonzeros.is_some() && options.max_nonzeros.is_none() {
        options.max_nonzeros = problem.max_nonzeros;
    }
    let takes_measure = options.nonzeros.is_some() || options.total_nonzeros.is_some();
    if options.maximise.is_none() && takes_measure && !problem.nonnegative {
        options.maximise = Some(problem.measure.clone());
    }
    if options.lambda.is_none()
        && (problem.lambda != 0.0 || problem.limits.is_none() && problem.name == "l0-pca")
    {
        options.lambda = Some(problem.lambda);
    }
    if !data.gram && options.gram.is_none() {
        if data.centered {
            options.center.get_or_insert(true);
        }
        if data.scale != "none" && !data.scale.is_empty() {
            options.scale.get_or_insert_with(|| data.scale.clone());
        }
        if data.covariance {
            options.covariance.get_or_insert(true);
        }
    }
}

fn told(proof: &ProofFile, claim: &str) -> String {
    let mut summary = Summary::default();
    summary.line("proof", &format!("holds; written by {}", proof.version));
    summary.line("claim", claim);
    summary.take()
}
