//! The penalty of docs/adding-a-penalty.md, in a list of its own: `crates/orthopt/tests/it/walkthrough.rs` compares this with the page.

use super::*;
use crate::options::Value;

mod log;
pub use log::{Log, LogShape};

/// As [`super::PenaltyInfo`], of this list.
#[derive(Debug)]
pub struct PenaltyInfo {
    name: &'static str,
    doc: &'static str,
    shape: &'static [Constant],
    lambda_share: Option<f64>,
    make: fn(f64) -> Result<AnyPenalty>,
    make_shaped: fn(f64, &Shape) -> Result<AnyPenalty>,
}

penalties! {
    Log(Log), "log", "lambda * ln(1 + |x| / epsilon) / ln(1 + 1 / epsilon)", LogShape, Some(LAMBDA_SHARE), Log::shaped;
}

#[test]
fn it_is_in_the_list_with_its_constant() {
    let [info] = PENALTIES else { panic!("{PENALTIES:?}") };
    assert_eq!((info.name, info.lambda_share, info.shape.len()), ("log", Some(LAMBDA_SHARE), 1));
    assert!(info.doc.starts_with("lambda"));
    let h = (info.make)(0.3).unwrap();
    assert_eq!((h.entry(0.0), h.entry(1.0)), (0.0, 0.3));
    let wider = Shape::from([("log-epsilon".to_string(), Value::Number(1e6))]);
    let nearly_l1 = (info.make_shaped)(0.3, &wider).unwrap();
    assert!((nearly_l1.entry(0.5) - 0.15).abs() < 1e-6);
    assert!((info.make)(-1.0).is_err());
    let none = Shape::from([("log-epsilon".to_string(), Value::Number(0.0))]);
    assert!((info.make_shaped)(0.3, &none).is_err());
}

#[test]
fn its_prox_is_the_best_of_a_grid() {
    let h = Log::shaped(0.3, LogShape { epsilon: 0.05 }).unwrap();
    for (v, mu) in [(0.0, 1.0), (0.2, 0.1), (-0.9, 0.5), (0.9, 2.0), (0.31, 0.02), (-2.0, 1.0)] {
        let cost = |x: f64| (x - v) * (x - v) / (2.0 * mu) + h.entry(x);
        let least = (-30_000..=30_000).map(|k| cost(1e-4 * f64::from(k))).fold(f64::INFINITY, f64::min);
        assert!(cost(h.prox(v, mu)) <= least, "{v} {mu}");
    }
}
