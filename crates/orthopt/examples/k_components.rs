//! k-components alone: starts and moves until the time is over; F, nonzeros, seconds and the trace of F.
//!
//! ```sh
//! cargo run --release -p orthopt --example k_components -- genes.npy 10 lambda 0.3 1
//! cargo run --release -p orthopt --example k_components -- genes.npy 10 nonzeros 50 1 adjusted
//! ```
//! TABLE RANK (lambda L | nonzeros S | total S) [SECONDS] [adjusted | polar | nonneg] [gram] [SEED]; columns are centred and have norm 1. Seconds 0: until a
//! dozen moves gain nothing. `gram` keeps the data as they are, else whichever of them and C is quicker.

use std::time::Instant;

use orthopt::cancel::Cancel;
use orthopt::problem::{PcaData, Storage};
use orthopt::smooth::Measure;
use orthopt_data::{LoadOptions, Matrix, Prepare, Scale, load};
use orthopt_run::search::k_components::KComponents;
use orthopt_run::search::k_components::Limits;
use orthopt_run::search::k_components::Request;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, rank, how, amount, rest @ ..] = &args[..] else {
        return Err(
            "usage: k_components TABLE RANK (lambda L | nonzeros S | total S) [SECONDS] [WORDS]".into()
        );
    };
    let rank: usize = rank.parse()?;
    let has = |word: &str| rest.iter().any(|w| w == word);
    let seconds: f64 = rest.first().map_or(Ok(0.0), |s| s.parse())?;
    let seed = rest[1..].iter().find_map(|w| w.parse().ok()).unwrap_or(0);
    let mut request = match how.as_str() {
        "lambda" => Request::new(amount.parse()?, Limits::Free),
        "nonzeros" => Request::new(0.0, Limits::Each(vec![amount.parse()?; rank])),
        _ => Request::new(0.0, Limits::Total { total: amount.parse()?, min: 1, max: usize::MAX }),
    };
    request.nonneg = has("nonneg");
    request.measure = if has("adjusted") { Measure::Adjusted } else { Measure::Variance };
    if has("polar") {
        request.measure = Measure::Polar;
    }

    let prepare = Prepare { center: true, scale: Scale::Unit, ..Prepare::default() };
    let prepared = prepare.apply(load(file, &LoadOptions::default())?.matrix)?;
    let data = match &prepared.matrix {
        Matrix::Dense(a) => PcaData::Dense(a.as_ref()),
        Matrix::Sparse(a) => PcaData::Sparse(a.as_ref(), prepared.means),
    };
    let storage = if has("gram") { Storage::Gram } else { Storage::Auto };
    let f = orthopt::family::pca_problem("l0-pca", &data, rank, request.lambda, storage)?.f;

    let begun = Instant::now();
    let spent = || begun.elapsed().as_secs_f64();
    let cancel = Cancel::never().within((seconds > 0.0).then_some(seconds));
    let over = || cancel.is_over();
    let mut search = KComponents::new(&f, rank, &request, seed).ok_or("too few variables")?;
    search.start(&over);
    let mut trace = vec![(spent(), search.value().unwrap_or(f64::NAN))];
    while !over() && (seconds > 0.0 || !search.is_idle()) {
        if search.advance(&over) {
            trace.push((spent(), search.value().unwrap_or(f64::NAN)));
        }
    }
    let searched = spent();
    let found = search.found().ok_or("nothing found")?;
    let nonzeros = found.x.data().iter().filter(|v| **v != 0.0).count();
    println!("F {:.6}  nonzeros {nonzeros}  {searched:.3} s + {:.3} s", found.value, spent() - searched);
    println!("{} of {} moves gained; start {:.3} s", found.gains, found.moves, trace[0].0);
    let shown: Vec<String> = trace.iter().map(|(t, v)| format!("{t:.3} s {:.6}", -v)).collect();
    println!("{}", shown.join(", "));
    Ok(())
}
