//! OBCD with random pairs: time for the first 20,000 pairs from the start of the papers.

use std::path::Path;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use orthopt::nonsmooth::Nonsmooth;
use orthopt::problem::{PcaData, PcaProblem, Storage};
use orthopt::solve::{Solver, advance};
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt::start::Start;
use orthopt_data::{LoadOptions, Matrix, load};

const W1A: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/w1a.svm");
const PAIRS: u64 = 20_000;
const RANK: usize = 20;

fn problem(a: &Matrix, name: &str, lambda: f64) -> PcaProblem {
    let data = match a {
        Matrix::Dense(a) => PcaData::Dense(a.as_ref()),
        Matrix::Sparse(a) => PcaData::Sparse(a.as_ref(), None),
    };
    orthopt::family::pca_problem(name, &data, RANK, lambda, Storage::Auto).expect("valid data")
}

fn first_pairs(c: &mut Criterion, what: &str, p: &PcaProblem) {
    let nonneg = p.h.requires_nonneg();
    let start = if nonneg { Start::Partition } else { Start::Identity };
    let x0 = start.point(&p.f, RANK, nonneg, 0).expect("a start");
    let solver = Obcd::new(ObcdOptions::default()).expect("valid options");
    let state = solver.init(p, x0).expect("a valid start");
    let mut group = c.benchmark_group("obcd");
    group.throughput(Throughput::Elements(PAIRS));
    group.bench_function(what, |b| {
        b.iter_batched_ref(
            || state.clone(),
            |state| {
                let mut left = PAIRS;
                while left > 0 {
                    left -= advance(&solver, p, state, left).0;
                }
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn obcd(c: &mut Criterion) {
    let mut sources = vec![("randn:500:1000", "randn:500:1000")];
    if Path::new(W1A).exists() {
        sources.push(("w1a", W1A));
    } else {
        eprintln!("skipped: shared data not found (w1a.svm)");
    }
    for (name, spec) in sources {
        let a = load(spec, &LoadOptions::default()).expect("readable data").matrix;
        for (problem_name, lambda) in
            [("l0-pca", 100.0), ("l1-pca", 100.0), ("l1-pca", 1.0), ("nonneg-pca", 0.0)]
        {
            let p = problem(&a, problem_name, lambda);
            first_pairs(c, &format!("{name}/{problem_name}/{lambda}"), &p);
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = obcd
}
criterion_main!(benches);
