//! Proofs that can be cited, problem by problem.

use super::{Family, Named};
use crate::bound::{Bound, Kind, Prepared, ProofFile, Proved, Statement, no_bound};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::problem::{Between, Cardinality};
use crate::smooth::{Measure, Order, Quadratic};

/// Variables up to which multipliers of variance are written as text.
const LARGEST: usize = 300;

impl Named {
    /// What is minimised, as a proof file states it.
    ///
    /// # Errors
    /// There is no bound, or none that a file could prove, and why.
    pub fn statement(&self, name: &str) -> Result<Statement> {
        let (kind, (n, rank)) = (self.bounded()?.1, self.shape());
        let (near, unit) = self.in_unit().unwrap_or((self, 1.0));
        let (mut measure, mut most) = (Measure::Variance, None);
        if let Self::Measured(p) = near {
            measure = p.f.measure();
            let plain = p.between() == Between::Orthogonal && p.order() == Order::Joint;
            if measure == Measure::Explained || !plain {
                return Err(no_bound(
                    "a proof to cite is one of variance, adjusted or polar variance with all components together and X'X = I alone",
                ));
            }
            let limited = matches!(p.limits(), Cardinality::Total(_)) && p.share().max < n;
            most = limited.then_some(p.share().max);
        }
        Statement::of(name, measure, rank, &kind, (unit, most))
    }

    /// The C that a proof is about.
    fn matrix(&self) -> Result<RowMat> {
        let (f, (n, _)) = (self.bounded()?.0, self.shape());
        let unit = self.in_unit().map_or(1.0, |(_, unit)| unit);
        let c = RowMat::from_fn(n, n, |i, j| -f.curvature(i, j) * unit);
        match c.find_non_finite() {
            None => Ok(c),
            Some((i, j)) => Err(Error::NotFinite { what: "C".into(), row: i + 1, col: j + 1 }),
        }
    }

    /// What `bound` proves of `x` or of an X of its own, with all numbers that others need to check it.
    ///
    /// # Errors
    /// Nothing is proved that a file could hold, and why.
    pub fn proof_file(
        &self,
        name: &str,
        (bound, x): (&Bound, &RowMat),
        data: Prepared,
        cancel: &Cancel,
    ) -> Result<ProofFile> {
        let statement = self.statement(name)?;
        let n = self.shape().0;
        let of_variance = statement.measure == Measure::Variance.name();
        if of_variance && n > LARGEST {
            return Err(no_bound(&format!(
                "multipliers of {n} variables are too many for a file of text, which has those of {LARGEST} at most; the dual in an .npz \
                 file has them"
            )));
        }
        let kind = self.bounded()?.1;
        // Z of X >= 0 with limits has no check of its own
        let has_z = of_variance && !matches!(kind, Kind::NonnegativeLimited(_));
        let proved = Proved {
            bound,
            x,
            c: &self.matrix()?,
            z: if has_z { Some(self.dual(bound)?.z) } else { None },
            limits: if of_variance { self.limit_dual(bound.objective, cancel)? } else { None },
        };
        proved.file(statement, data)
    }

    /// The claim of a file, if it proves it for this problem.
    ///
    /// # Errors
    /// It is of another table or problem, or its numbers prove nothing; which, and why.
    pub fn check_proof<'a>(&self, file: &'a ProofFile, name: &str) -> Result<&'a str> {
        file.check(&self.matrix()?, &self.statement(name)?)
    }
}
