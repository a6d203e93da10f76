//! Searches on some of the variables: their answers are answers of the whole problem.

use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::Scope;
use orthopt::family::Effort;
use orthopt::family::{Family, Request};
use orthopt::penalty::{AnyPenalty, L0};
use orthopt::problem::{
    Cardinality, CardinalityProblem, PcaData, PcaProblem, Storage, covariance_model, support,
};
use orthopt::solve::{Solution, Stopping};
use orthopt_linalg::eigen::symmetric_eigenpairs;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const ROWS: usize = 200;
const COLUMNS: usize = 3200;
const RANK: usize = 8;
const SIZE: usize = 5;

/// Noise, and eight groups of five variables that move together: group k is every 80th variable from k on.
fn data(seed: u64, unit: f64) -> faer::Mat<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut a = faer::Mat::from_fn(ROWS, COLUMNS, |_, _| unit * (rng.random::<f64>() - 0.5));
    for i in 0..ROWS {
        for k in 0..RANK {
            let factor = unit * 4.0 * (rng.random::<f64>() - 0.5);
            (0..SIZE).for_each(|l| a[(i, 80 * l + k)] += factor);
        }
    }
    a
}

fn solved<P: Family>(p: &P) -> Solution {
    let effort = Some(Effort::Quick);
    let wanted = Request { seed: Some(1), effort, ..Request::default() };
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
}

fn counts(a: &faer::Mat<f64>, count: usize) -> CardinalityProblem {
    let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Auto).unwrap();
    CardinalityProblem::new(f, RANK, Cardinality::Components(vec![count; RANK]), 0.0, false).unwrap()
}

fn prices(a: &faer::Mat<f64>, lambda: f64) -> PcaProblem {
    let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Auto).unwrap();
    PcaProblem::new(f, AnyPenalty::L0(L0::new(lambda).unwrap()), RANK).unwrap()
}

fn supports(x: &RowMat) -> Vec<Vec<usize>> {
    let mut all: Vec<_> = (0..x.ncols()).map(|k| support(x, k)).collect();
    all.sort();
    all
}

fn planted() -> Vec<Vec<usize>> {
    (0..RANK).map(|k| (0..SIZE).map(|l| 80 * l + k).collect()).collect()
}

/// The slow twin: the leading eigenvalue of C on the rows of each component after each exchange with each of all variables.
#[test]
fn no_exchange_with_any_of_all_variables_lowers_f() {
    let a = data(1, 1.0);
    // fewer nonzeros than the groups have, so that components could have others
    for count in [SIZE, 3] {
        let found = solved(&counts(&a, count));
        let report = found.search.as_ref().unwrap().variables.unwrap();
        assert!(report.checked && report.of == COLUMNS && report.searched < COLUMNS / 4, "{report:?}");
        assert!(found.notes.iter().any(|note| note.to_string().contains("variables took part")));
        if count == SIZE {
            assert_eq!(supports(&found.x), planted());
        }
        for rows in supports(&found.x) {
            let column = |i: &usize| -> Vec<f64> {
                (0..COLUMNS).map(|j| (0..ROWS).map(|l| a[(l, *i)] * a[(l, j)]).sum()).collect()
            };
            let c: Vec<Vec<f64>> = rows.iter().map(column).collect();
            let own: Vec<f64> = (0..COLUMNS).map(|j| (0..ROWS).map(|l| a[(l, j)].powi(2)).sum()).collect();
            let leading = |out: Option<usize>, enter: usize| {
                let entry = |s: usize, t: usize| match (Some(s) == out, Some(t) == out) {
                    (true, true) => own[enter],
                    (true, false) => c[t][enter],
                    (false, true) => c[s][enter],
                    (false, false) => c[s][rows[t]],
                };
                symmetric_eigenpairs(&RowMat::from_fn(count, count, entry)).unwrap().0[0]
            };
            let before = leading(None, 0);
            for enter in (0..COLUMNS).filter(|i| found.x.row(*i).iter().all(|v| *v == 0.0)) {
                for out in 0..count {
                    assert!(leading(Some(out), enter) <= before * (1.0 + 1e-9), "{enter} for {}", rows[out]);
                }
            }
        }
    }
}

#[test]
fn no_pair_of_all_rows_lowers_f() {
    let p = prices(&data(2, 1.0), 20.0);
    let found = solved(&p);
    let report = found.search.as_ref().unwrap().variables.unwrap();
    assert!(report.checked && report.searched < COLUMNS / 4, "{report:?}");
    assert_eq!(supports(&found.x), planted());
    let certificate = p.block_stationarity(&found.x, Scope::All, &Cancel::never()).unwrap();
    assert!(certificate.holds(1e-8 * found.objective.total.abs()), "{certificate:?}");
}

#[test]
fn the_unit_and_the_threads_change_no_bit() {
    let on = |threads: usize, unit: f64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solved(&counts(&data(3, unit), 4)).x)
    };
    let one = on(1, 1.0);
    assert!(one == on(2, 1.0) && one == on(1, 1024.0));
}

#[test]
fn small_tables_are_searched_as_a_whole() {
    let a = data(4, 1.0);
    let small = faer::Mat::from_fn(ROWS, 300, |i, j| a[(i, j)]);
    assert!(solved(&counts(&small, 3)).search.unwrap().variables.is_none());
}
