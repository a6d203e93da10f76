//! Proofs that can be cited, problem by problem.

use super::request::{Counts, Rank, Request};
use super::{AnyProblem, Family};
use orthopt_bound::{Bound, CheckedProof, Kind, Limits, Prepared, ProofFile, Proved, Statement, no_bound};
use orthopt_core::problem::{Between, Cardinality};
use orthopt_core::smooth::{Measure, Order, Quadratic};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};

/// Variables up to which multipliers of variance are written as text.
const LARGEST: usize = 300;

impl AnyProblem {
    /// The problem, as a proof file states it.
    ///
    /// # Errors
    /// There is no bound, or none that a file could prove, and why.
    pub fn statement(&self, name: &str) -> Result<Statement> {
        let (kind, (n, rank)) = (self.bounded()?.1, self.shape());
        let (mut measure, mut most) = (Measure::Variance, None);
        if let Self::Measured(p) = self.near() {
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
        Statement::of(name, measure, rank, &kind, (self.unit(), most))
    }

    /// The C that a proof is about.
    fn matrix(&self) -> Result<RowMat> {
        let (f, (n, _)) = (self.bounded()?.0, self.shape());
        let unit = self.unit();
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
            cancel,
        };
        proved.file(statement, data)
    }

    /// What a file claims, if it proves it for this problem of the name `name`: nothing is searched for, and no code is shared with
    /// what makes proofs.
    ///
    /// ```
    /// use orthopt::bound::{Options, Prepared, ProofFile};
    /// use orthopt::cancel::Cancel;
    /// use orthopt::family::{Family, find_problem, pose};
    /// use orthopt::problem::PcaData;
    /// use orthopt::request::{Front, Request, Written};
    ///
    /// let c = faer::Mat::from_fn(6, 6, |i, j| if i == j { 2.0 } else { 1.0 / (1.0 + i as f64 + j as f64) });
    /// let data = PcaData::Gram(c.as_ref());
    /// let mut request = Request::of(Front::Command);
    /// request.set("rank", Written::Whole(2))?;
    /// request.set("nonzeros", Written::Whole(2))?;
    /// let problem = pose(find_problem("l0-pca")?, &data, &request.checked()?)?.problem;
    /// let (never, options) = (Cancel::never(), Options { nodes: u64::MAX, keeps: true, ..Options::default() });
    /// let x = problem.start(problem.recipe().default_start, 0)?;
    /// let bound = problem.lower_bound(Some(&x), &options, &never, &|_| ())?;
    /// let text = problem.proof_file("l0-pca", (&bound, &x), Prepared::default(), &never)?.text();
    ///
    /// // who reads it has C, and the file says what the problem is
    /// let file = ProofFile::of_text(&text)?;
    /// let mut request = Request::of(Front::Command);
    /// request.complete(&file);
    /// let problem = pose(find_problem("l0-pca")?, &data, &request.checked()?)?.problem;
    /// let checked = problem.check_proof(&file, "l0-pca")?;
    /// assert!(checked.claim.starts_with("Of all 6 x 2 matrices X with X'X = I, at most 2 nonzeros"));
    /// # Ok::<(), orthopt::Error>(())
    /// ```
    ///
    /// # Errors
    /// It is of another table or problem, or its numbers prove nothing; which, and why.
    pub fn check_proof(&self, file: &ProofFile, name: &str) -> Result<CheckedProof> {
        file.check(&self.matrix()?, &self.statement(name)?)
    }
}

impl Request {
    /// Fills in what is not given from a proof file: its problem, and its preparation of samples.
    pub fn complete(&mut self, file: &ProofFile) {
        let (problem, data) = (&file.problem, &file.data);
        self.problem.get_or_insert_with(|| problem.name.clone());
        self.rank.get_or_insert(Rank::Given(problem.rank));
        let has_limit = self.nonzeros.is_some() || self.total_nonzeros.is_some() || self.variables.is_some();
        match &problem.limits {
            _ if has_limit => {}
            Some(Limits::Nonzeros(list)) => {
                // one number is for any rank, so that another rank is named
                let same = list.iter().all(|k| *k == list[0]);
                self.nonzeros = Some(Counts::Given(if same { list[..1].to_vec() } else { list.clone() }));
            }
            Some(Limits::Total(total)) => self.total_nonzeros = Some(*total),
            Some(Limits::Variables(variables)) => self.variables = Some(*variables),
            None => {}
        }
        if self.total_nonzeros.is_some() && self.max_nonzeros.is_none() {
            self.max_nonzeros = problem.max_nonzeros;
        }
        // another problem is named, without a measure that it does not have
        let is_asked = self.problem.as_ref() == Some(&problem.name);
        let takes_measure = is_asked && (self.nonzeros.is_some() || self.total_nonzeros.is_some());
        if self.maximise.is_none() && takes_measure && !problem.nonnegative {
            self.maximise = Measure::parse(&problem.measure).ok();
        }
        if self.lambda.is_none()
            && (problem.lambda != 0.0 || problem.limits.is_none() && problem.name == "l0-pca")
        {
            self.lambda = Some(problem.lambda);
        }
        if !data.gram && self.gram.is_none() {
            self.prepare_as(data);
        }
    }

    /// The preparation of samples, as far as it is not what holds where nothing is said.
    fn prepare_as(&mut self, data: &Prepared) {
        let by_deviations = data.scale == "std";
        if data.scale != "none" && !data.scale.is_empty() {
            self.scale.get_or_insert_with(|| data.scale.clone());
        }
        if data.covariance != by_deviations {
            self.covariance.get_or_insert(data.covariance);
        }
        if data.centered != (data.covariance || by_deviations) {
            self.center.get_or_insert(data.centered);
        }
    }
}
