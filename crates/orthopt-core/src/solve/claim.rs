//! Claim of a lower bound about the F of a point: the only place that states a proof of optimality.

use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

/// Share of the size of F that rounding may take: F and its bound are sums of terms of this size.
const ROUNDING: f64 = 1e-12;
/// Sizes of F below this have no digits to compare: products of such numbers are subnormal.
const SMALLEST: f64 = 1e-290;

/// The gap, relative to |F|, at which F counts as proved.
pub const PROVED: f64 = 1e-9;

/// Statement proved about the incumbent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// No feasible X has an F lower than the incumbent's by more than the gap asked for.
    Optimal,
    /// No feasible X with other supports has: the gap is what may be left on the supports of the incumbent.
    Supports,
}

impl Proof {
    /// A name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Supports => "supports",
        }
    }
}

/// Bound of all X but those on some supports.
#[derive(Clone, Debug, PartialEq)]
pub struct Elsewhere {
    /// Rows of the columns, sorted; the columns in any order.
    pub supports: Vec<Vec<usize>>,
    /// No feasible X whose columns stand on other supports has an F below this.
    pub bound: f64,
}

impl Elsewhere {
    /// True if the nonzeros of X are these supports.
    fn is_of(&self, x: &RowMat) -> bool {
        let support = |k: usize| (0..x.nrows()).filter(|i| x.get(*i, k) != 0.0).collect();
        let mut own: Vec<Vec<usize>> = (0..x.ncols()).map(support).collect();
        own.sort();
        own == self.supports
    }
}

/// F of a point, with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// F(X).
    pub objective: f64,
    /// ‖XᵀX − I‖_F.
    pub feasibility: f64,
}

/// A bound beside the F of a feasible point. It cannot be made where the two contradict each other, and says
/// `optimal` only where a finite F of a feasible X lies on its bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// No feasible X has an F below this; at most F of the point.
    pub bound: f64,
    /// (F − bound)/|F|, 0 where the two differ by rounding only; `None` without a finite F.
    pub gap: Option<f64>,
    /// A proof where the gap is closed.
    pub proof: Option<Proof>,
}

impl Claim {
    /// Claim of `bound` about `point`. The gap is closed if F − bound is at most `tolerance`·|F|, or rounding:
    /// 1e-12 of `size`, the size of the terms of F.
    ///
    /// # Errors
    /// [`Error::Contradiction`]: F of the point lies below the bound by more than rounding and 1e-9 of |F|.
    pub fn new(bound: f64, point: Option<Point>, size: f64, tolerance: f64) -> Result<Self> {
        let nothing = Self { bound, gap: None, proof: None };
        let Some(Point { objective, feasibility }) = point.filter(|p| p.objective.is_finite()) else {
            return Ok(nothing);
        };
        if bound == f64::NEG_INFINITY || bound.is_nan() {
            return Ok(Self { bound: f64::NEG_INFINITY, ..nothing });
        }
        let size = size.max(objective.abs());
        if size > 0.0 && size < SMALLEST {
            return Ok(Self { bound: bound.min(objective), ..nothing });
        }
        // an X that is feasible to δ has the F of a feasible one to δ times its size; without terms every F is 0
        let rounding = if size == 0.0 { SMALLEST } else { (ROUNDING + feasibility) * size };
        let above = objective - bound;
        if above < -(rounding + PROVED * objective.abs()) || above.is_nan() {
            return Err(Error::Contradiction { objective, bound });
        }
        if above < -rounding {
            return Ok(Self { bound: objective, ..nothing }); // no digits left to tell which of the two is lower
        }
        let gap = if above <= rounding { 0.0 } else { above / objective.abs() };
        let feasible = feasibility <= ROUNDING;
        let proof = (feasible && gap <= tolerance).then_some(Proof::Optimal);
        Ok(Self { bound: bound.min(objective), gap: Some(gap).filter(|gap| gap.is_finite()), proof })
    }

    /// This claim for `x`, whose F is that of `point`, if a bound of all other supports is known. The choice of
    /// supports is proved if that bound is at most `tolerance`·|F| below F.
    #[must_use]
    pub fn with(self, elsewhere: Option<&Elsewhere>, x: &RowMat, point: Point, tolerance: f64) -> Self {
        let Point { objective, feasibility } = point;
        let proves = |other: &Elsewhere| {
            other.is_of(x)
                && feasibility <= ROUNDING
                && objective - other.bound <= tolerance * objective.abs()
        };
        match (self.proof, self.gap, elsewhere) {
            (None, Some(_), Some(other)) if proves(other) => Self { proof: Some(Proof::Supports), ..self },
            _ => self,
        }
    }
}

/// True if F equals its lower bound, so that a search may end. An F far below the bound does not:
/// one of the two is wrong.
pub fn is_met(objective: f64, bound: f64) -> bool {
    objective.is_finite() && (objective - bound).abs() <= PROVED * objective.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(bound: f64, objective: f64, size: f64) -> Result<Claim> {
        Claim::new(bound, Some(Point { objective, feasibility: 1e-15 }), size, PROVED)
    }

    #[test]
    fn nothing_is_claimed_without_a_finite_point_or_a_bound() {
        for objective in [f64::INFINITY, f64::NAN, f64::NEG_INFINITY] {
            for bound in [-1.0, f64::INFINITY, f64::MAX] {
                let made = claim(bound, objective, 1.0).unwrap();
                assert_eq!((made.gap, made.proof), (None, None), "{bound} {objective}");
            }
        }
        assert!(Claim::new(-1.0, None, 1.0, 1e-9).unwrap().proof.is_none());
        for bound in [f64::NEG_INFINITY, f64::NAN] {
            let made = claim(bound, -1.0, 1.0).unwrap();
            assert_eq!((made.bound, made.gap, made.proof), (f64::NEG_INFINITY, None, None));
        }
    }

    #[test]
    fn an_objective_below_its_bound_is_an_error() {
        for (bound, objective) in
            [(-1.0, -1.1), (0.5, 0.4999996), (0.0, -1e-6), (f64::MAX, -3.0), (f64::INFINITY, 1.0)]
        {
            let error = claim(bound, objective, 1.0).unwrap_err();
            assert!(matches!(error, Error::Contradiction { .. }), "{bound} {objective}: {error}");
        }
        // rounding is no contradiction, and the bound is brought down to F
        let made = claim(-1.0 + 1e-15, -1.0, 1.0).unwrap();
        assert_eq!((made.bound, made.gap, made.proof), (-1.0, Some(0.0), Some(Proof::Optimal)));
    }

    #[test]
    fn a_minimum_of_zero_can_be_proved() {
        let made = claim(-1e-15, 0.0, 1.0).unwrap();
        assert_eq!((made.gap, made.proof), (Some(0.0), Some(Proof::Optimal)));
        assert_eq!(claim(-5e-324, 0.0, 0.0).unwrap().proof, Some(Proof::Optimal));
        let open = claim(-1e-3, 0.0, 1.0).unwrap();
        assert_eq!((open.gap, open.proof), (None, None));
    }

    #[test]
    fn scales_are_powers_of_two_and_change_no_word() {
        for (bound, objective) in [(-1.0, -1.0), (-1.0, -0.9), (-1.1, -1.0), (-1.0 - 1e-13, -1.0)] {
            let known = claim(bound, objective, 3.0).map(|made| (made.gap, made.proof));
            for k in [-900, -60, -1, 1, 40, 900] {
                let scale = 2f64.powi(k);
                let made =
                    claim(scale * bound, scale * objective, scale * 3.0).map(|made| (made.gap, made.proof));
                assert_eq!(made.is_ok(), known.is_ok());
                assert_eq!(made.ok(), known.clone().ok());
            }
        }
        // F has no digits there
        assert_eq!(claim(-1e-310, -1e-310, 1e-310).unwrap().proof, None);
    }

    #[test]
    fn an_infeasible_point_proves_nothing() {
        let point = Point { objective: -1.0, feasibility: 1e-7 };
        let made = Claim::new(-1.0, Some(point), 1.0, 1e-9).unwrap();
        assert_eq!(made.proof, None);
        let below = Point { objective: -1.0 - 0.5e-7, ..point };
        assert_eq!(Claim::new(-1.0, Some(below), 1.0, 1e-9).unwrap().proof, None);
    }

    #[test]
    fn supports_are_proved_of_the_x_on_them_only() {
        let x = RowMat::from_fn(4, 2, |i, k| f64::from(u8::from(i / 2 == k)) / 2f64.sqrt());
        let other = RowMat::from_fn(4, 2, |i, k| f64::from(u8::from(i % 2 == k)) / 2f64.sqrt());
        let elsewhere = Elsewhere { supports: vec![vec![0, 1], vec![2, 3]], bound: -1.0 - 1e-7 };
        let point = Point { objective: -1.0, feasibility: 1e-15 };
        let open = Claim::new(-1.001, Some(point), 1.0, 1e-6).unwrap();
        assert_eq!(open.proof, None);
        let made = |e: Option<&Elsewhere>, x: &RowMat, p: Point| open.with(e, x, p, 1e-6).proof;
        assert_eq!(made(Some(&elsewhere), &x, point), Some(Proof::Supports));
        assert_eq!(made(None, &x, point), None);
        assert_eq!(made(Some(&elsewhere), &other, point), None);
        assert_eq!(made(Some(&elsewhere), &x, Point { feasibility: 1e-7, ..point }), None);
        assert_eq!(made(Some(&elsewhere), &x, Point { objective: -0.99, ..point }), None);
        let lower = Elsewhere { bound: -1.0 - 1e-5, ..elsewhere.clone() };
        assert_eq!(made(Some(&lower), &x, point), None);
        // what is optimal stays so, and nothing is claimed of what has no gap
        let closed = Claim::new(-1.0, Some(point), 1.0, 1e-6).unwrap();
        assert_eq!(closed.with(Some(&elsewhere), &x, point, 1e-6).proof, Some(Proof::Optimal));
        let nothing = Claim::new(f64::NEG_INFINITY, Some(point), 1.0, 1e-6).unwrap();
        assert_eq!(nothing.with(Some(&elsewhere), &x, point, 1e-6).proof, None);
    }

    #[test]
    fn a_search_ends_at_its_bound_only() {
        assert!(is_met(-1.0, -1.0) && is_met(-1.0, -1.0 - 1e-10) && is_met(0.0, 0.0));
        for (objective, bound) in [
            (f64::INFINITY, -1.0),
            (f64::INFINITY, f64::INFINITY),
            (-2.0, -1.0),
            (-1.0, -2.0),
            (f64::NAN, 0.0),
        ] {
            assert!(!is_met(objective, bound), "{objective} {bound}");
        }
    }
}
