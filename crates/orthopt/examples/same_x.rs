//! Solves a sparse PCA problem of the samples in a file and prints how it ended, the notes, and the bits of X in hexadecimal:
//! what the command line (`--json`, `--save-x`), Python and R give for the same options.
//!
//! ```sh
//! cargo run -p orthopt --example same_x -- l0-pca samples.npy rank=3 nonzeros=4 seed=7
//! ```
//!
//! Options have the names of the command, which has many that [`SparsePca`] has no method for.

use orthopt::prelude::*;
use orthopt::problem::PcaData;
use orthopt::request::{Front, find_option};
use orthopt_data::{LoadOptions, Matrix as Read, load};

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [problem, file, options @ ..] = &args[..] else {
        return Err("usage: same_x PROBLEM FILE [OPTION=VALUE ...]".into());
    };
    let data = load(file, &LoadOptions::default())?;
    let a = match &data.matrix {
        Read::Dense(a) => PcaData::Dense(a.as_ref()),
        Read::Sparse(a) => PcaData::Sparse(a.as_ref(), None),
    };
    let mut asked = match problem.as_str() {
        "l0-pca" => SparsePca::l0(a),
        "l1-pca" => SparsePca::l1(a),
        "nonneg-pca" => SparsePca::nonneg(a),
        "pca" => SparsePca::plain(a),
        other => return Err(format!("this example has no problem {other}").into()),
    };
    for option in options {
        let (name, text) = option.split_once('=').ok_or_else(|| format!("{option} is not OPTION=VALUE"))?;
        asked = match find_option(name, Front::Command) {
            _ if name == "center" => asked.center(),
            Some(entry) => asked.option(name, entry.typed(text)?),
            None => asked.option(name, text),
        };
    }
    let found = asked.fit()?;
    println!("status {}", found.solution.status.name());
    for note in found.task.notes.iter().chain(&found.notes) {
        println!("note {note}");
    }
    for value in found.x().data() {
        println!("{:016x}", value.to_bits());
    }
    Ok(())
}
