//! The part g that is subtracted in F = f − g + h∘A: convex and Lipschitz, so −g is concave.
//!
//! A method linearises it: −g(X⁺) ≤ −g(X) − ⟨ξ, X⁺ − X⟩ for every subgradient ξ ∈ ∂g(X).
//! A new part is one type that implements [`Concave`] and one line in the list below.

use crate::linear_map::{AnyMap, LinearMap};
use crate::options::checked;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::order::select_numbers;

/// A convex function g of X that enters the objective with a minus sign.
pub trait Concave: Clone + std::fmt::Debug + Send + Sync {
    /// g(X).
    fn value(&self, x: &RowMat) -> f64;

    /// ξ ← a subgradient of g at X, the same one for the same X.
    fn subgradient(&self, x: &RowMat, xi: &mut RowMat);

    /// Checks that g fits an n × r matrix.
    ///
    /// # Errors
    /// Error if it does not fit.
    fn check(&self, _n: usize, _r: usize) -> Result<()> {
        Ok(())
    }

    /// True if g = 0.
    fn is_zero(&self) -> bool {
        false
    }

    /// True if g depends on the order of the entries, as the k largest do: an entry that passes
    /// another one changes the subgradients of both.
    fn ranks_entries(&self) -> bool {
        false
    }
}

/// g = 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NoConcave;

impl Concave for NoConcave {
    fn value(&self, _x: &RowMat) -> f64 {
        0.0
    }

    fn subgradient(&self, _x: &RowMat, xi: &mut RowMat) {
        xi.data_mut().fill(0.0);
    }

    fn is_zero(&self) -> bool {
        true
    }
}

/// g = λ‖X‖₍ₖ₎, λ times the sum of the k largest |Xᵢⱼ|. With h = λ‖·‖₁ what remains is λ times
/// the sum of all other |Xᵢⱼ|, which is zero exactly where X has at most k nonzeros.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargestK {
    lambda: f64,
    k: usize,
}

impl LargestK {
    /// The part with weight λ ≥ 0.
    ///
    /// # Errors
    /// λ negative, NaN or infinite.
    pub fn new(lambda: f64, k: usize) -> Result<Self> {
        Ok(Self { lambda: checked("lambda", lambda, "a finite number >= 0", |l| l >= 0.0)?, k })
    }

    /// k.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The k-th largest |x|, and how many entries of that size are among the k largest.
    fn threshold(&self, x: &RowMat) -> (f64, usize) {
        let mut sizes: Vec<f64> = x.data().iter().map(|v| v.abs()).collect();
        let tau = select_numbers(&mut sizes, self.k).unwrap_or(0.0);
        let above = sizes.iter().filter(|v| **v > tau).count();
        (tau, self.k - above)
    }
}

impl Concave for LargestK {
    fn value(&self, x: &RowMat) -> f64 {
        if self.k == 0 || self.k > x.data().len() {
            return self.lambda * x.data().iter().take(self.k).map(|v| v.abs()).sum::<f64>();
        }
        let (tau, ties) = self.threshold(x);
        // in the order of the entries, so that nothing depends on how the selection went
        let above: f64 = x.data().iter().map(|v| v.abs()).filter(|v| *v > tau).sum();
        self.lambda * (above + ties as f64 * tau)
    }

    /// λ·sign(Xᵢⱼ) on the k largest entries; among equal ones those that come first row by row,
    /// sign(0) = 0. Cost O(nr).
    fn subgradient(&self, x: &RowMat, xi: &mut RowMat) {
        xi.data_mut().fill(0.0);
        if self.k == 0 || self.k > x.data().len() {
            return;
        }
        let (tau, mut ties) = self.threshold(x);
        for (g, v) in xi.data_mut().iter_mut().zip(x.data()) {
            let size = v.abs();
            let tied = size == tau && ties > 0;
            if tied {
                ties -= 1;
            }
            if (size > tau || tied) && size > 0.0 {
                *g = self.lambda.copysign(*v);
            }
        }
    }

    fn ranks_entries(&self) -> bool {
        true
    }

    fn check(&self, n: usize, r: usize) -> Result<()> {
        if self.k > n * r {
            return Err(Error::InvalidOption {
                option: "k".into(),
                value: self.k.to_string(),
                expected: format!(
                    "at most {}, the number of entries of the {n} x {r} matrix it counts in",
                    n * r
                ),
            });
        }
        Ok(())
    }
}

/// g = λ Σ max(|x| − q, 0): with h = λ‖·‖₁ what remains is the capped ℓ1 penalty λ Σ min(|x|, q).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CappedExcess {
    lambda: f64,
    cap: f64, // q
}

impl CappedExcess {
    /// The part with weight λ ≥ 0 and cap q > 0.
    ///
    /// # Errors
    /// A parameter outside its range, NaN or infinite.
    pub fn new(lambda: f64, cap: f64) -> Result<Self> {
        let lambda = checked("lambda", lambda, "a finite number >= 0", |l| l >= 0.0)?;
        Ok(Self { lambda, cap: checked("cap", cap, "a finite number > 0", |q| q > 0.0)? })
    }
}

impl Concave for CappedExcess {
    fn value(&self, x: &RowMat) -> f64 {
        self.lambda * x.data().iter().map(|v| (v.abs() - self.cap).max(0.0)).sum::<f64>()
    }

    /// λ·sign(x) where |x| > q, 0 elsewhere.
    fn subgradient(&self, x: &RowMat, xi: &mut RowMat) {
        for (g, v) in xi.data_mut().iter_mut().zip(x.data()) {
            *g = if v.abs() > self.cap { self.lambda.copysign(*v) } else { 0.0 };
        }
    }
}

/// g∘A, convex like g: ∂(g∘A)(X) holds Aᵀ(ξ) for every ξ ∈ ∂g(A(X)). A penalty h − g with a linear map is
/// (h − g)(A(X)), so both parts go through the map.
#[derive(Clone, Debug)]
pub struct Through<G, A> {
    g: G,
    a: A,
}

impl<G, A> Through<G, A> {
    /// g(A(X)).
    pub fn new(g: G, a: A) -> Self {
        Self { g, a }
    }
}

impl<G: Concave, A: LinearMap> Concave for Through<G, A> {
    fn value(&self, x: &RowMat) -> f64 {
        self.g.value(&self.a.apply(x))
    }

    /// Aᵀ(ξ), ξ the subgradient of g at A(X).
    fn subgradient(&self, x: &RowMat, xi: &mut RowMat) {
        let ax = self.a.apply(x);
        let mut at_ax = RowMat::zeros(ax.nrows(), ax.ncols());
        self.g.subgradient(&ax, &mut at_ax);
        let pulled = self.a.adjoint(&at_ax, (x.nrows(), x.ncols()));
        xi.data_mut().copy_from_slice(pulled.data());
    }

    fn is_zero(&self) -> bool {
        self.g.is_zero()
    }

    fn ranks_entries(&self) -> bool {
        self.g.ranks_entries()
    }

    fn check(&self, n: usize, r: usize) -> Result<()> {
        let (p, s) = self.a.output((n, r))?;
        self.g.check(p, s)
    }
}

macro_rules! concave_parts {
    ($($variant:ident($type:ty), $doc:literal;)*) => {
        /// Any concave part of the library, chosen at run time.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnyConcave { $(#[doc = $doc] $variant($type),)* }

        impl Concave for AnyConcave {
            fn value(&self, x: &RowMat) -> f64 { match self { $(Self::$variant(g) => g.value(x),)* } }
            fn subgradient(&self, x: &RowMat, xi: &mut RowMat) { match self { $(Self::$variant(g) => g.subgradient(x, xi),)* } }
            fn check(&self, n: usize, r: usize) -> Result<()> { match self { $(Self::$variant(g) => g.check(n, r),)* } }
            fn is_zero(&self) -> bool { match self { $(Self::$variant(g) => g.is_zero(),)* } }
            fn ranks_entries(&self) -> bool { match self { $(Self::$variant(g) => g.ranks_entries(),)* } }
        }
    };
}

concave_parts! {
    None(NoConcave), "g = 0.";
    LargestK(LargestK), "λ times the sum of the k largest entries.";
    CappedExcess(CappedExcess), "λ Σ max(|x| − q, 0).";
    Through(Box<Through<AnyConcave, AnyMap>>), "One of the others at A(X).";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_first_and_zero_has_no_sign() {
        let x = RowMat::from_fn(2, 3, |i, j| [[1.0, -1.0, 0.0], [1.0, 2.0, 0.0]][i][j]);
        let mut xi = RowMat::zeros(2, 3);
        let g = LargestK::new(3.0, 2).unwrap();
        assert_eq!(g.value(&x), 9.0);
        g.subgradient(&x, &mut xi);
        assert_eq!(xi.data(), &[3.0, 0.0, 0.0, 0.0, 3.0, 0.0]);
        let g = LargestK::new(3.0, 3).unwrap();
        g.subgradient(&x, &mut xi);
        assert_eq!(xi.data(), &[3.0, -3.0, 0.0, 0.0, 3.0, 0.0]);
        let g = LargestK::new(3.0, 6).unwrap();
        assert_eq!(g.value(&x), 15.0);
        g.subgradient(&x, &mut xi);
        assert_eq!(xi.data(), &[3.0, -3.0, 0.0, 3.0, 3.0, 0.0]);
        let g = LargestK::new(3.0, 0).unwrap();
        assert_eq!(g.value(&x), 0.0);
        g.subgradient(&x, &mut xi);
        assert!(xi.data().iter().all(|v| *v == 0.0));
        let said = LargestK::new(3.0, 7).unwrap().check(2, 3).unwrap_err().to_string();
        assert_eq!(
            said,
            "k is 7: expected at most 6, the number of entries of the 2 x 3 matrix it counts in"
        );
        assert!(LargestK::new(f64::NAN, 2).is_err() && CappedExcess::new(1.0, 0.0).is_err());
    }

    fn through(g: AnyConcave, a: AnyMap) -> AnyConcave {
        AnyConcave::Through(Box::new(Through::new(g, a)))
    }

    /// A subgradient satisfies g(Y) ≥ g(X) + ⟨ξ, Y − X⟩ for all Y.
    #[test]
    fn subgradients_support_their_functions() {
        let point = |seed: usize| {
            RowMat::from_fn(7, 3, |i, j| ((seed * 31 + i * 7 + j * 3) as f64 * 0.61).sin().powi(3))
        };
        let parts = [
            AnyConcave::LargestK(LargestK::new(0.7, 6).unwrap()),
            AnyConcave::CappedExcess(CappedExcess::new(0.7, 0.2).unwrap()),
            AnyConcave::None(NoConcave),
            through(
                AnyConcave::LargestK(LargestK::new(0.7, 6).unwrap()),
                AnyMap::parse("differences").unwrap(),
            ),
            through(
                AnyConcave::CappedExcess(CappedExcess::new(0.7, 0.2).unwrap()),
                AnyMap::parse("rows:2,5-7").unwrap(),
            ),
        ];
        for g in &parts {
            for (a, b) in (0..40).map(|s| (point(s), point(s + 100))) {
                let mut xi = RowMat::zeros(7, 3);
                g.subgradient(&a, &mut xi);
                let below = g.value(&a) + xi.inner(&b) - xi.inner(&a);
                assert!(g.value(&b) >= below - 1e-12, "{g:?}");
                // both are positively homogeneous or exceed their linearisation at 0
                assert!(g.value(&a) <= xi.inner(&a) + 1e-12, "{g:?}");
            }
        }
    }

    /// The subgradient agrees with central differences if g∘A is smooth.
    #[test]
    fn the_subgradient_of_g_after_a_is_its_gradient() {
        let b = faer::Mat::from_fn(5, 7, |i, j| ((3 * i + 5 * j) as f64 * 0.7).sin());
        let maps = [
            AnyMap::parse("differences").unwrap(),
            AnyMap::parse("columns:3,1").unwrap(),
            AnyMap::Left(crate::linear_map::LeftMatrix::new(b.as_ref()).unwrap()),
        ];
        let x = RowMat::from_fn(7, 3, |i, j| ((i * 7 + j * 3) as f64 * 0.61).sin());
        for a in maps {
            let parts = [
                AnyConcave::LargestK(LargestK::new(0.7, 4).unwrap()),
                AnyConcave::CappedExcess(CappedExcess::new(0.7, 0.3).unwrap()),
            ];
            for part in parts {
                let (inside, g) = (part.value(&a.apply(&x)), through(part, a.clone()));
                assert_eq!(g.value(&x), inside);
                let mut xi = RowMat::zeros(7, 3);
                g.subgradient(&x, &mut xi);
                let step = 1e-6;
                for entry in 0..21 {
                    let at = |t: f64| {
                        let mut moved = x.clone();
                        moved.data_mut()[entry] += t;
                        g.value(&moved)
                    };
                    let slope = (at(step) - at(-step)) / (2.0 * step);
                    assert!((slope - xi.data()[entry]).abs() <= 1e-8, "{g:?}: {slope} {}", xi.data()[entry]);
                }
            }
        }
        let capped = AnyConcave::LargestK(LargestK::new(0.7, 21).unwrap());
        assert!(through(capped.clone(), AnyMap::parse("identity").unwrap()).check(7, 3).is_ok());
        let said =
            through(capped, AnyMap::parse("differences").unwrap()).check(7, 3).unwrap_err().to_string();
        assert!(said.contains("at most 18, the number of entries of the 6 x 3 matrix"), "{said}");
    }
}
