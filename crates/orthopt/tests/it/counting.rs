//! Reported nonzeros and F are those of the saved X.

use faer::Mat;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::criticality;
use orthopt::family::{AnyProblem, Family, Request, find_problem, pose};
use orthopt::objective::{Evaluate, count_nonzeros};
use orthopt::problem::{PcaData, PcaProblem};
use orthopt::report::Assessment;
use orthopt::solve::Stopping;

const STOPPING: Stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };

/// One variable of size 1e6 and others of size 1: the loadings of these are next to 1e-6, and each lowers f by about 5.
fn of_scales(lambda: f64) -> PcaProblem {
    let a = Mat::from_fn(12, 8, |i, j| {
        let noise = ((i * 5 + j * 3 + i * j) as f64).sin();
        if j == 0 { 1e6 * (1.0 + i as f64 / 12.0) } else { 1.0 + 0.1 * noise }
    });
    let options = Request { rank: Some(1.into()), lambda: Some(lambda), ..Default::default() };
    let posed = pose(find_problem("l0-pca").unwrap(), &PcaData::Dense(a.as_ref()), &options).unwrap();
    let AnyProblem::Pca(p) = posed.problem else { panic!("l0-pca is f + h") };
    p
}

#[test]
fn what_is_printed_is_what_is_saved() {
    for lambda in [1e-3, 1.0, 100.0] {
        let p = of_scales(lambda);
        for solver in [None, Some("obcd".to_string())] {
            let wanted = Request { solver, ..Default::default() };
            let s = p
                .plan(&wanted)
                .unwrap()
                .run(&p, &wanted, &STOPPING, None, &Cancel::never(), &mut [])
                .unwrap();
            let saved = s.x.data().iter().filter(|v| **v != 0.0).count();
            assert_eq!(s.nnz, saved, "lambda {lambda}: {:?}", s.x);
            assert!(lambda < 100.0 || saved == 1, "the price is more than what an entry is worth: {:?}", s.x);
            assert_eq!(s.objective.nonsmooth, lambda * saved as f64);
            assert_eq!(s.objective.total, p.value(&s.x));
        }
    }
}

/// Tiny entries of another program's X count as nonzero everywhere, with a note.
#[test]
fn a_given_x_is_judged_as_it_is() {
    let p = AnyProblem::from(of_scales(1.0));
    let x = RowMat::from_fn(8, 1, |i, _| match i {
        0 => 1.0,
        1..=3 => 1e-8,
        _ => 0.0,
    });
    let found = Assessment::new(&p, x, "X", 1e-9).unwrap();
    assert_eq!((found.nnz, found.tiny, found.objective.nonsmooth), (4, 3, 4.0));
    assert!(p.asks_for_zeros());
}

/// The rule itself: dust goes where F falls, X stays orthonormal, and what is worth its price stays.
#[test]
fn dust_goes_where_f_does_not_rise() {
    let p = of_scales(1.0);
    let dusty = RowMat::from_fn(8, 1, |i, _| if i == 0 { 1.0 } else { 1e-12 });
    let clean = p.cleaned(&dusty).unwrap();
    assert_eq!((count_nonzeros(&clean), clean.get(0, 0)), (1, 1.0));
    assert!(p.value(&clean) < p.value(&dusty) && criticality(&p, &clean).is_finite());
    assert!(p.cleaned(&clean).is_none(), "once is enough");
    // the leading eigenvector: its small entries are worth more than 0.01 together, and less than 100 each
    let v = p.start("pca", 0).unwrap();
    assert!(v.data()[1..].iter().all(|v| v.abs() <= 1e-6) && count_nonzeros(&v) == 8, "{v:?}");
    assert!(of_scales(0.0).cleaned(&v).is_none(), "each entry is worth its price");
    assert_eq!(count_nonzeros(&of_scales(100.0).cleaned(&v).unwrap()), 1);
}
