//! Components that maximise a measure of what they explain: golden values, brute force, checks of the mathematics.

use std::time::Instant;

use orthopt::RowMat;
use orthopt::family::{Between, Family, Limit, Named, PoseOptions, Wanted, find_problem, pose};
use orthopt::problem::{MeasuredProblem, PcaData};
use orthopt::smooth::{Measure, Order};
use orthopt::solve::{Solution, Stopping};

fn pitprops() -> faer::Mat<f64> {
    orthopt_data::load("builtin:pitprops", &Default::default()).unwrap().matrix.to_dense()
}

fn problem(c: &faer::Mat<f64>, r: usize, options: PoseOptions) -> MeasuredProblem {
    let options = PoseOptions { rank: Some(r), ..options };
    let posed = pose(find_problem("l0-pca").unwrap(), &PcaData::Gram(c.as_ref()), &options).unwrap();
    let Named::Measured(p) = posed.problem else { panic!("a measure") };
    p
}

fn solve(p: &MeasuredProblem) -> Solution {
    let wanted = Wanted::default();
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &mut []).unwrap()
}

fn share(c: &faer::Mat<f64>, s: &Solution) -> f64 {
    let trace: f64 = (0..c.nrows()).map(|i| c[(i, i)]).sum();
    -2.0 * s.objective.total / trace
}

#[test]
fn explore() {
    let c = pitprops();
    for (measure, r, limit, golden) in [
        (Measure::Adjusted, 2, Limit::Nonzeros(vec![4]), 0.383124210),
        (Measure::Adjusted, 2, Limit::Nonzeros(vec![5]), 0.420429226),
        (Measure::Adjusted, 3, Limit::Nonzeros(vec![4]), 0.535340145),
        (Measure::Adjusted, 3, Limit::Nonzeros(vec![5]), 0.569995085),
        (Measure::Adjusted, 2, Limit::Total(8), 0.430511716),
        (Measure::Adjusted, 2, Limit::Total(10), 0.455291153),
        (Measure::Adjusted, 3, Limit::Total(12), 0.558632903),
        (Measure::Adjusted, 3, Limit::Total(15), 0.589630563),
        (Measure::Polar, 2, Limit::Nonzeros(vec![4]), 0.389999657),
        (Measure::Polar, 3, Limit::Nonzeros(vec![4]), 0.542631703),
        (Measure::Polar, 3, Limit::Nonzeros(vec![5]), 0.577367001),
        (Measure::Explained, 2, Limit::Nonzeros(vec![4]), 0.494333573),
        (Measure::Explained, 3, Limit::Nonzeros(vec![5]), 0.644262562),
    ] {
        let begun = Instant::now();
        let p = problem(
            &c,
            r,
            PoseOptions { maximise: measure, limit: Some(limit.clone()), ..Default::default() },
        );
        let s = solve(&p);
        println!(
            "{measure:?} {r} {limit:?}: {:.9} golden {golden:.9} {:+.1e} feas {:.1e} {:.2}s",
            share(&c, &s),
            share(&c, &s) - golden,
            s.feasibility,
            begun.elapsed().as_secs_f64()
        );
        for arm in &s.search.as_ref().unwrap().arms {
            println!(
                "     {} {:.9} work {:.2e} runs {}",
                arm.start,
                -2.0 * arm.objective / 13.0,
                arm.work as f64,
                arm.runs
            );
        }
        for m in &s.search.as_ref().unwrap().moves {
            println!("     {:?}", m);
        }
        println!("{:?}", s.notes);
    }
    for (k, r, golden) in [(4, 2, 0.382843512), (5, 2, 0.420377652), (4, 3, 0.535206838), (5, 3, 0.540296345)]
    {
        let p = problem(
            &c,
            r,
            PoseOptions {
                maximise: Measure::Adjusted,
                order: Order::Sequential,
                limit: Some(Limit::Nonzeros(vec![k])),
                ..Default::default()
            },
        );
        let s = solve(&p);
        println!("seq {r}x{k}: {:.9} golden {golden:.9} {} {:.1e}", share(&c, &s), s.message, s.feasibility);
    }
    for (r, limit) in [
        (3, Limit::Total(6)),
        (3, Limit::Nonzeros(vec![3])),
        (3, Limit::Nonzeros(vec![4])),
        (3, Limit::Total(12)),
    ] {
        let p = problem(
            &c,
            r,
            PoseOptions { between: Between::Both, limit: Some(limit.clone()), ..Default::default() },
        );
        let s = solve(&p);
        println!("both {r} {limit:?}: {:.9} feas {:.1e} {:?}", share(&c, &s), s.feasibility, s.status);
        println!("{:?}", s.x);
    }
}
