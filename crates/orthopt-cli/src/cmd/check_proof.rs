//! `orthopt check-proof FILE.json DATA`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueHint;
use orthopt::bound::{CheckedProof, ProofFile};
use orthopt::family::{Call, CallOptions};

use crate::configured::Help;
use crate::failure::{EXIT_CODES, ExitCode};
use crate::files::Files;
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
    options.complete(&proof);
    let given = CallOptions::new(Call::BoundOfX, options.given());
    let mut settings = Settings::resolve(given, &mut options)?;
    settings.job.chooses_counts = false; // the proof says how many
    let input = Input::load(&settings.data)?;
    let posed = pose(settings.job.clone(), &input, interrupt::cancel())?;
    drop(input);
    let checked = posed
        .problem
        .check_proof(&proof, posed.task.problem.name)
        .with_context(|| args.file.display().to_string())?;
    if settings.prints() {
        output::print(&told(&checked))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> anyhow::Result<ProofFile> {
    let text = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    // a file of something else is invalid data, and no wrong option
    ProofFile::of_text(&String::from_utf8_lossy(&text))
        .map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))
}

fn told(checked: &CheckedProof) -> String {
    let mut summary = Summary::default();
    summary.line("proof", &format!("holds; written by {}", checked.version));
    summary.line("claim", &checked.claim);
    summary.take()
}
