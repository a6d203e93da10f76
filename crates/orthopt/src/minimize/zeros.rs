//! Exact zeros of BX, where a penalty of BX with a square matrix B asks for them.

use orthopt_core::objective::Objective;
use orthopt_linalg::RowMat;
use orthopt_linalg::factor::inverse;
use orthopt_linalg::masked_system::MaskedSystem;
use orthopt_linalg::products::{cross, gram, times};

/// Largest n: B⁻¹ costs 2n³ flops.
const LARGEST: usize = 1000;
/// Sizes up to which entries are tried as zeros all together, relative to the largest.
const LIMITS: [f64; 6] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10];
/// Rounding errors of F, relative to the sizes of f and h; and of entries.
const NOISE: f64 = 1e-14;
/// Newton steps; half a dozen suffice where the method converges.
const MOST: usize = 30;
/// ‖XᵀX − I‖_F of what is returned.
const FEASIBLE: f64 = 1e-12;

/// BX in units of its rows.
struct Units {
    t: RowMat,         // B⁻¹ with unit columns
    lengths: Vec<f64>, // those of the columns of B⁻¹
}

/// The X near `x` that has XᵀX = I, zeros of BX and the lowest F, no higher than that of `x`, of those that are found while `has_time`;
/// `None` where there is none.
pub fn with_zeros(
    b: &RowMat,
    x: &RowMat,
    objective: impl Fn(&RowMat) -> Objective,
    has_time: impl Fn() -> bool,
) -> Option<RowMat> {
    if !has_time() {
        return None;
    }
    let units = Units::of(b)?;
    let u = units.of_x(b, x);
    let largest = u.data().iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let within = |limit: f64| u.data().iter().filter(|v| v.abs() <= limit * largest).count();
    let mut counts: Vec<(usize, f64)> = LIMITS.iter().map(|limit| (within(*limit), *limit)).collect();
    counts.dedup_by_key(|(count, _)| *count);
    counts.retain(|(count, _)| *count > within(NOISE));
    let before = (!counts.is_empty() && has_time()).then(|| objective(x))?;
    let mut lowest = before.total + NOISE * (before.smooth.abs() + before.nonsmooth.abs());
    let mut found = None;
    for (_, limit) in counts {
        let mut kept = u.clone();
        kept.data_mut().iter_mut().filter(|v| v.abs() <= limit * largest).for_each(|v| *v = 0.0);
        if let Some(x) = units.on_support(kept, &has_time).filter(|_| has_time()) {
            let f = objective(&x).total;
            if f <= lowest {
                (lowest, found) = (f, Some(x));
            }
        }
    }
    found
}

impl Units {
    fn of(b: &RowMat) -> Option<Self> {
        let n = b.nrows();
        let mut t = (n <= LARGEST).then(|| inverse(b)).flatten()?;
        let length = |k: usize| {
            let largest = (0..n).fold(0.0, |m: f64, i| m.max(t.get(i, k).abs())); // squares may overflow
            largest * (0..n).map(|i| (t.get(i, k) / largest).powi(2)).sum::<f64>().sqrt()
        };
        let lengths: Vec<f64> = (0..n).map(length).collect();
        (0..n).for_each(|i| t.row_mut(i).iter_mut().zip(&lengths).for_each(|(v, length)| *v /= length));
        Some(Self { t, lengths })
    }

    /// U = BX times the lengths.
    fn of_x(&self, b: &RowMat, x: &RowMat) -> RowMat {
        let mut u = times(b, x);
        self.lengths
            .iter()
            .enumerate()
            .for_each(|(i, length)| u.row_mut(i).iter_mut().for_each(|v| *v *= length));
        u
    }

    /// X = TU, and XᵀX − I.
    fn point(&self, u: &RowMat) -> (RowMat, RowMat) {
        let x = times(&self.t, u);
        let mut e = gram(&x);
        (0..e.nrows()).for_each(|k| e.set(k, k, e.get(k, k) - 1.0));
        (x, e)
    }

    /// The X with XᵀX = I whose U is near `u` and has its zeros, by Newton's method; `None` where it finds none.
    ///
    /// A step is the shortest one, U ← U + P ∘ (TᵀXΛ), P the nonzeros and Λ symmetric. Cost 8n²r flops, and those of a repair on the
    /// support.
    fn on_support(&self, mut u: RowMat, has_time: &impl Fn() -> bool) -> Option<RowMat> {
        let mut system = MaskedSystem::new(u.nrows(), u.ncols());
        system.mask().iter_mut().zip(u.data()).for_each(|(p, u)| *p = f64::from(u8::from(*u != 0.0)));
        let (mut x, mut e) = self.point(&u);
        for _ in 0..MOST {
            if !has_time() {
                return None;
            }
            let error = e.norm();
            e.data_mut().iter_mut().for_each(|v| *v *= 0.5);
            let frame = cross(&self.t, &x);
            system.forget();
            let mut next = times(&frame, &system.solve(&frame, &e, 0.5 * error));
            for (new, old) in next.data_mut().iter_mut().zip(u.data()) {
                *new = if *old == 0.0 { 0.0 } else { old + *new };
            }
            let (after, left) = self.point(&next);
            let falls = left.norm() < error; // false where it is no number
            if !falls {
                return (error <= FEASIBLE).then_some(x);
            }
            (u, x, e) = (next, after, left);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_linalg::factor::cholesky;

    /// Upper triangular of condition some `ratio`, with nonzeros right of the diagonal.
    fn triangle(n: usize, ratio: f64) -> RowMat {
        RowMat::from_fn(n, n, |i, k| {
            let size = ratio.powf(-(i as f64) / n.max(2) as f64);
            if i == k {
                size
            } else if i < k {
                0.3 * size * ((5 * i + 3 * k) as f64).sin()
            } else {
                0.0
            }
        })
    }

    /// U with (B⁻¹U)ᵀB⁻¹U = I whose column k has nonzeros in rows 0 to 2k + 2 alone.
    fn planted(b: &RowMat, r: usize) -> RowMat {
        let n = b.nrows();
        let u =
            RowMat::from_fn(n, r, |i, k| if i <= 2 * k + 2 { ((7 * i + 11 * k) as f64).cos() } else { 0.0 });
        let x = times(&inverse(b).unwrap(), &u);
        let l = cholesky(&gram(&x)).unwrap();
        let back = inverse(&RowMat::from_fn(r, r, |i, k| l.get(k, i))).unwrap();
        let mut u = times(&u, &back);
        (0..n).for_each(|i| (0..r).filter(|k| i > 2 * k + 2).for_each(|k| u.set(i, k, 0.0)));
        u
    }

    fn on_support(b: &RowMat, y: &RowMat) -> Option<RowMat> {
        let units = Units::of(b)?;
        let u = RowMat::from_fn(y.nrows(), y.ncols(), |i, k| units.lengths[i] * y.get(i, k));
        units.on_support(u, &|| true)
    }

    fn moved(u: &RowMat, by: f64) -> RowMat {
        RowMat::from_fn(u.nrows(), u.ncols(), |i, k| u.get(i, k) * (1.0 + by * ((3 * i + k) as f64).sin()))
    }

    #[test]
    fn a_planted_point_is_restored_with_its_zeros() {
        for (n, r) in [(4, 1), (9, 3), (12, 4), (30, 12)] {
            for ratio in [1.0, 1e2, 1e4] {
                let b = triangle(n, ratio);
                let u = planted(&b, r);
                let x = on_support(&b, &moved(&u, 1e-4)).unwrap_or_else(|| panic!("{n} x {r}, {ratio}"));
                let again = times(&b, &x);
                for (new, old) in again.data().iter().zip(u.data()) {
                    let what = format!("{n} x {r}, {ratio}: {new} for {old}");
                    assert!(
                        if *old == 0.0 { new.abs() <= 1e-13 } else { (new - old).abs() <= 1e-2 },
                        "{what}"
                    );
                }
                let mut e = gram(&x);
                (0..r).for_each(|k| e.set(k, k, e.get(k, k) - 1.0));
                assert!(e.norm() <= FEASIBLE, "{n} x {r}, {ratio}");
            }
        }
    }

    /// Entries of size 1e-5 become zeros where F = ‖BX‖₁ does not rise, and none where F rises with a zero.
    #[test]
    fn zeros_are_taken_where_f_does_not_rise() {
        let (n, r) = (12, 3);
        let b = triangle(n, 10.0);
        let u = planted(&b, r);
        let near = RowMat::from_fn(n, r, |i, k| u.get(i, k) + 1e-5 * ((4 * i + 7 * k) as f64).sin());
        let near = times(&inverse(&b).unwrap(), &near);
        let mut x = near.clone();
        assert!(orthopt_linalg::orthonormal::nearest(&near, &mut x));
        let of = |sign: f64| {
            let b = b.clone();
            move |x: &RowMat| {
                let h = sign * times(&b, x).data().iter().map(|v| v.abs()).sum::<f64>();
                Objective { total: h, smooth: 0.0, nonsmooth: h }
            }
        };
        let found = with_zeros(&b, &x, of(1.0), || true).unwrap();
        let zeros = times(&b, &found).data().iter().filter(|v| v.abs() <= 1e-13).count();
        assert_eq!(zeros, u.data().iter().filter(|v| **v == 0.0).count());
        assert!(of(1.0)(&found).total <= of(1.0)(&x).total);
        assert_eq!(with_zeros(&b, &found, of(1.0), || true), None); // once is enough
        assert_eq!(with_zeros(&b, &x, of(-1.0), || true), None);
        // where time ends after any number of questions X is left alone or has its zeros, and F is never asked for once it is over
        for most in 0..60 {
            let left = std::cell::Cell::new(most);
            let has_time = || left.replace(left.get() - 1) > 0;
            let asked = |x: &RowMat| {
                assert!(left.get() >= 0, "{most}");
                of(1.0)(x)
            };
            let found = with_zeros(&b, &x, asked, has_time);
            assert!(most > 0 || found.is_none());
            assert!(found.is_none_or(|found| of(1.0)(&found).total <= of(1.0)(&x).total));
        }
    }

    /// Rows of B and Y in other units, up to 2^±500: the same bits.
    #[test]
    fn units_move_no_bit() {
        let (n, r) = (9, 3);
        let b = triangle(n, 10.0);
        let y = moved(&planted(&b, r), 1e-3);
        let expected = on_support(&b, &y).unwrap();
        for power in [|_| 500, |_| -500, |i: usize| 100 * i as i32 - 400, |i: usize| 40 - 9 * i as i32] {
            let scaled =
                |m: &RowMat| RowMat::from_fn(n, m.ncols(), |i, k| 2.0f64.powi(power(i)) * m.get(i, k));
            assert_eq!(on_support(&scaled(&b), &scaled(&y)), Some(expected.clone()));
        }
    }

    /// `None` if there is no such X, or if it cannot be found.
    #[test]
    fn what_has_no_answer_has_none() {
        let (n, r) = (8, 3);
        let good = triangle(n, 10.0);
        let y = moved(&planted(&good, r), 1e-3);
        let repeated = RowMat::from_fn(n, n, |i, k| good.get(i, k.max(1)));
        let empty = RowMat::from_fn(n, n, |i, k| if k == 2 { 0.0 } else { good.get(i, k) });
        let feasible = |x: Option<RowMat>| {
            x.is_none_or(|x| {
                let mut e = gram(&x);
                (0..x.ncols()).for_each(|k| e.set(k, k, e.get(k, k) - 1.0));
                e.norm() <= FEASIBLE
            })
        };
        for b in [repeated, empty, RowMat::zeros(n, n), triangle(n, 1e8), triangle(n, 1e300)] {
            assert!(feasible(on_support(&b, &y)));
        }
        assert_eq!(on_support(&good, &RowMat::zeros(n, r)), None);
        let one_row = RowMat::from_fn(n, r, |i, _| f64::from(u8::from(i == 0)));
        assert_eq!(on_support(&good, &one_row), None); // of rank one
        assert_eq!(
            on_support(&good, &RowMat::from_fn(n, r, |i, _| if i == 0 { f64::NAN } else { 0.0 })),
            None
        );
        let square = RowMat::from_fn(3, 3, |i, k| if i <= k { 1.0 } else { 0.0 });
        assert!(feasible(on_support(&triangle(3, 2.0), &square)));
    }
}
