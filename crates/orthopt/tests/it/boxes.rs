//! Entries in a box: every solver has a point to begin at, and a box that no X meets is called so.

use crate::common::gaussian;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::{AnyProblem, Family, Request, find_problem, pose};
use orthopt::penalty::Shape;
use orthopt::problem::{PcaData, PcaProblem};
use orthopt::solve::{Status, Stopping};
use orthopt::start::Start;
use orthopt_core::constraint::stiefel;

fn boxed((n, r): (usize, usize), lower: f64, upper: f64) -> orthopt::Result<PcaProblem> {
    let a = gaussian(2 * n, n, 5);
    let shape: Shape = [("box-lower".into(), lower), ("box-upper".into(), upper)].into();
    let options =
        Request { rank: Some(r.into()), penalty: Some("box".into()), constants: shape, ..Default::default() };
    let posed = pose(find_problem("pca")?, &PcaData::Dense(a.as_ref()), &options)?;
    let AnyProblem::Pca(p) = posed.problem else { panic!("pca with a penalty is f + h") };
    Ok(p)
}

#[test]
fn every_solver_begins_inside_and_ends_there() {
    let stopping = Stopping { max_iters: Some(300), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    for (shape, lower, upper) in
        [((20, 3), -0.4, 0.4), ((16, 4), -0.25, 0.25), ((30, 3), -0.05, 0.5), ((24, 3), 0.0, 0.5)]
    {
        let p = boxed(shape, lower, upper).unwrap();
        let mut solvers = 0;
        for info in p.solvers().iter().filter(|info| (info.handles)(&p)) {
            let wanted = Request { solver: Some(info.name.into()), ..Default::default() };
            let s = p
                .plan(&wanted)
                .unwrap()
                .run(&p, &wanted, &stopping, Some(0), &Cancel::never(), &mut [])
                .unwrap();
            let what = format!("{} in [{lower}, {upper}]: {}", info.name, s.message);
            assert!(s.objective.total.is_finite() && s.status != Status::NumericalError, "{what}");
            assert!(s.x.data().iter().all(|v| (lower - 1e-8..=upper + 1e-8).contains(v)), "{what}");
            assert!(stiefel::feasibility(&s.x) <= 1e-10, "{what}");
            solvers += 1;
        }
        assert!(solvers > 5, "only {solvers} solvers take the box");
        // and what the library chooses
        let wanted = Request::default();
        let stopping = Stopping { max_iters: Some(20_000), ..stopping };
        let s =
            p.plan(&wanted).unwrap().run(&p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap();
        assert!(s.objective.total.is_finite() && s.status != Status::NumericalError, "{}", s.message);
        for (name, _) in p.recipe().starts {
            if let Ok(x) = p.start(name, 3) {
                assert!(p.value(&x).is_finite(), "{name} in [{lower}, {upper}]");
            }
        }
    }
}

#[test]
fn a_box_without_a_point_is_refused() {
    for ((n, r), lower, upper, why) in [
        ((25, 2), -0.19, 0.19, "a sum of squares of at most 0.9025"),
        ((25, 2), -0.1, 0.15, "a sum of squares of at most 0.5625"),
        ((10, 3), 0.0, 0.5, "4 * 3 is more than the 10 rows"),
    ] {
        let message = boxed((n, r), lower, upper).unwrap_err().to_string();
        assert!(message.starts_with("infeasible: no ") && message.contains(why), "{message}");
    }
    // 1/5: columns of equal entries, two of which are never orthogonal in odd dimension, is no proof that is tried
    let p = boxed((25, 2), -0.2, 0.2).unwrap();
    let stopping = Stopping { max_iters: Some(100), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    for solver in [None, Some("obcd".to_string())] {
        let wanted = Request { solver, ..Default::default() };
        let found = p.plan(&wanted).unwrap().run(&p, &wanted, &stopping, None, &Cancel::never(), &mut []);
        let message = found.unwrap_err().to_string();
        assert!(message.contains("was found to start from (there may be none)"), "{message}");
    }
}

#[test]
fn a_start_outside_is_refused() {
    let p = boxed((20, 2), -0.5, 0.5).unwrap();
    let x = RowMat::from_fn(20, 2, |i, k| f64::from(u8::from(i == k)));
    let wanted =
        Request { solver: Some("obcd".into()), init: Some(Start::Given(x).into()), ..Default::default() };
    let stopping = Stopping { max_iters: Some(100), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let found = p.plan(&wanted).unwrap().run(&p, &wanted, &stopping, None, &Cancel::never(), &mut []);
    let message = found.unwrap_err().to_string();
    assert!(message.contains("has 1 in row 1, column 1, outside the box [-0.5, 0.5]"), "{message}");
}
