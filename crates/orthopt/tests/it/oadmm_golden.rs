//! OADMM against five iterations computed independently with 40 digits.

use crate::common::Steps;
use faer::Mat;
use orthopt::RowMat;
use orthopt::composite::crit_parts;
use orthopt::family::CompositeOptions;
use orthopt::problem::PcaData;
use orthopt::solve::Solver;
use orthopt::solvers::{Oadmm, OadmmOptions, Variant};
use serde_json::Value;

fn number(v: &Value) -> f64 {
    v.as_f64().expect("a number")
}

fn matrix(v: &Value) -> RowMat {
    let rows: Vec<Vec<f64>> = (v.as_array().expect("rows").iter())
        .map(|row| row.as_array().expect("a row").iter().map(number).collect())
        .collect();
    RowMat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

fn close(what: &str, found: f64, golden: f64) {
    assert!((found - golden).abs() <= 1e-10 * (1.0 + golden.abs()), "{what}: {found}, golden {golden}");
}

fn close_matrix(what: &str, found: &RowMat, golden: &RowMat) {
    assert_eq!((found.nrows(), found.ncols()), (golden.nrows(), golden.ncols()), "{what}");
    found.data().iter().zip(golden.data()).for_each(|(a, b)| close(what, *a, *b));
}

#[test]
fn trajectories() {
    let file: Value =
        serde_json::from_str(include_str!("../data/oadmm_trajectory.json")).expect("valid JSON");
    let d = matrix(&file["D"]);
    let a = Mat::from_fn(d.ncols(), d.nrows(), |i, j| d.get(j, i)); // samples in rows
    let k = file["k"].as_u64().map(|k| k as usize);
    let options = CompositeOptions { k, ..Default::default() };
    let rank = file["r"].as_u64().unwrap() as usize;
    let lambda = number(&file["lam"]);
    let p = orthopt::family::composite_problem("dc-pca", &PcaData::Dense(a.as_ref()), rank, lambda, &options)
        .unwrap();
    let x0 = matrix(&file["X0"]);
    let runs = file["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    for run in runs {
        let variant = if run["variant"] == "EP" { Variant::Ep } else { Variant::Rr };
        let options = OadmmOptions {
            chi: Some(number(&run["chi"])),
            beta0: Some(number(&run["beta0"])),
            xi: number(&run["xi"]),
            sigma: number(&run["sigma"]),
            theta: number(&run["theta"]),
            lf: Some(number(&file["L_f"])),
            b: number(&run["b"]),
            rho: number(&run["rho"]),
            gamma: number(&run["gamma"]),
            delta: number(&run["delta"]),
            ..OadmmOptions::new(variant)
        };
        close("alpha", options.alpha(), number(&run["alpha"]));
        close("F(X0)", p.value(&x0), number(&run["F_X0"]));
        let solver = Oadmm::new(options).unwrap();
        let mut st = solver.init(&p, x0.clone()).unwrap();
        let mut backtracks = 0;
        for golden in run["iterates"].as_array().unwrap() {
            let what = format!("{} b {} rho {} t {}", run["variant"], run["b"], run["rho"], golden["t"]);
            let info = solver.steps(&p, &mut st, 1);
            assert_eq!(st.t, golden["t"].as_u64().unwrap());
            close(&format!("{what}: beta"), st.beta, number(&golden["beta"]));
            close(&format!("{what}: mu"), st.mu, number(&golden["mu"]));
            close(&format!("{what}: F"), info.objective, number(&golden["objective_F_X"]));
            close(&format!("{what}: |z|"), st.at.z.norm(), number(&golden["norm_z"]));
            assert_eq!(st.backtracks - backtracks, golden["backtracks"].as_u64().unwrap(), "{what}");
            backtracks = st.backtracks;
            let gap =
                (st.at.x.data().iter().zip(st.at.y.data())).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
            close(&format!("{what}: |AX - y|"), gap, number(&golden["norm_AX_minus_y"]));
            let crit = crit_parts(&p, &st.at.x, &st.at.ycheck, &st.at.z);
            for (found, golden) in
                [crit.primal, crit.dual, crit.tangent].iter().zip(golden["crit_terms"].as_array().unwrap())
            {
                close(&format!("{what}: Crit"), *found, number(golden));
            }
            let nonzeros = st.at.ycheck.data().iter().filter(|v| **v != 0.0).count() as u64;
            assert_eq!(nonzeros, golden["nnz_ycheck"].as_u64().unwrap(), "{what}");
        }
        let last = &run["final"];
        close_matrix("X", &st.at.x, &matrix(&last["X"]));
        close_matrix("y", &st.at.y, &matrix(&last["y"]));
        close_matrix("z", &st.at.z, &matrix(&last["z"]));
        close_matrix("y check", &st.at.ycheck, &matrix(&last["ycheck"]));
    }
}
