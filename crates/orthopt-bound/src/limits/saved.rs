//! Multipliers of the root, for others to check what they prove (docs/bounds-limits.md, section 7).

use super::super::types::{Kind, Options};
use super::admm::{Effort, Proved, Splitting};
use super::dual::{Dual, Part, Problem};
use super::{is_small, limits_of, posed};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;

/// A node has no limit of time here.
const EFFORT: Effort = Effort { iterations: 400, patience: 8, share: 0.01, rounds: 1 };

/// Multipliers Z, U, d, a of every part, W and π, for every list of limits: a bound of F over all X that keep to the limits,
/// with nothing known of their supports. Matrices that belong together stand below each other.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LimitDual {
    /// The limits of the parts, one row for each list.
    pub counts: RowMat,
    /// Z (n × n) of every part of every list.
    pub z: RowMat,
    /// U, likewise.
    pub u: RowMat,
    /// d, one row for each part of each list.
    pub d: RowMat,
    /// a, likewise.
    pub a: RowMat,
    /// W (n × n) of every list.
    pub w: RowMat,
    /// π, one row for each list.
    pub pi: RowMat,
    /// The lower bound of F that they prove.
    pub bound: f64,
}

impl LimitDual {
    /// Those of C times a power of four.
    #[doc(hidden)]
    pub fn times(mut self, unit: f64) -> Self {
        let times = |matrix: &mut RowMat, by: f64| matrix.data_mut().iter_mut().for_each(|v| *v *= by);
        for matrix in [&mut self.z, &mut self.u, &mut self.d, &mut self.w, &mut self.pi] {
            times(matrix, unit);
        }
        times(&mut self.a, unit.sqrt());
        self.bound *= unit;
        self
    }

    /// All arrays by the names that they have in files.
    pub fn arrays(&self) -> [(&'static str, &RowMat); 7] {
        [
            ("counts", &self.counts),
            ("part_Z", &self.z),
            ("part_U", &self.u),
            ("part_d", &self.d),
            ("part_a", &self.a),
            ("W", &self.w),
            ("pi", &self.pi),
        ]
    }
}

/// The parts one by one, W = 0: better than together where one has few rows and another many.
fn apart(problem: &Problem, parts: &[Part], over: &dyn Fn() -> bool) -> Option<Proved> {
    if parts.len() < 2 {
        return None;
    }
    let (mut most, mut dual) = (0.0, Dual { parts: Vec::new(), joint: None, given: Vec::new() });
    for part in parts {
        let mut run = Splitting::new(problem, std::slice::from_ref(part), None);
        run.keeps = true;
        let found = run.lower(0.0, EFFORT, over)?;
        most += found.most + f64::EPSILON * (most + found.most).abs();
        dual.parts.extend(found.dual.parts);
        dual.given.extend(found.dual.given);
    }
    Some(Proved { most, dual })
}

/// The multipliers for a limit of nonzeros; `None` for other kinds, for too many variables, and where `cancel`
/// ends it before there are any. `objective` is the lowest F known.
///
/// # Errors
/// Data that are not finite.
pub fn limit_dual(
    f: &impl Quadratic,
    r: usize,
    kind: &Kind,
    objective: Option<f64>,
    cancel: &Cancel,
) -> Result<Option<LimitDual>> {
    if matches!(kind, Kind::L0 { .. }) {
        return Ok(None); // the relaxation has multipliers that are simpler to check
    }
    let small = |(rank, _): &(usize, Vec<Vec<usize>>)| is_small(f.nrows(), r / rank);
    let Some((rank, lists)) = limits_of(kind, r, f.nrows()).filter(small) else { return Ok(None) };
    let (mut problem, mut scale) = posed(f, r, (kind, &Options::default()), rank, usize::MAX)?;
    let best = objective.filter(|v| v.is_finite()).map_or(f64::NEG_INFINITY, |v| -v);
    scale = problem.rescaled(scale, best / r as f64);
    let n = problem.c.nrows();
    let mut all: Vec<(Vec<f64>, Dual)> = Vec::new();
    let mut most = f64::NEG_INFINITY;
    for list in &lists {
        let parts: Vec<Part> = list.iter().map(|k| Part::all(n, *k)).collect();
        let mut run = Splitting::new(&problem, &parts, None);
        run.keeps = true;
        let Some(mut found) = run.lower(best / scale, EFFORT, &|| cancel.is_over()) else { return Ok(None) };
        if let Some(apart) = apart(&problem, &parts, &|| cancel.is_over()).filter(|a| a.most < found.most) {
            found = apart;
        }
        most = most.max(found.most);
        all.push((list.iter().map(|k| *k as f64).collect(), found.dual));
    }
    let parts = lists[0].len();
    let (mut z, mut u, mut d, mut a) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut w, mut pi) = (Vec::new(), Vec::new());
    let scaled = |out: &mut Vec<f64>, list: &[f64]| out.extend(list.iter().map(|v| v * scale));
    for (_, dual) in &all {
        for given in &dual.given {
            scaled(&mut z, given.z.data());
            scaled(&mut u, given.u.data());
            scaled(&mut d, &given.d);
            a.extend(given.squares.iter().map(|v| (v.max(0.0) * scale).sqrt()));
        }
        match &dual.joint {
            Some(joint) => {
                scaled(&mut w, joint.w.data());
                scaled(&mut pi, &joint.pi);
            }
            None => {
                w.resize(w.len() + n * n, 0.0);
                pi.resize(pi.len() + n, 0.0);
            }
        }
    }
    let count = all.len();
    let matrix = |rows: usize, columns: usize, data: Vec<f64>| {
        RowMat::from_vec(rows, columns, data).unwrap_or_else(|| RowMat::zeros(rows, columns))
    };
    Ok(Some(LimitDual {
        counts: matrix(count, parts, all.iter().flat_map(|(list, _)| list.clone()).collect()),
        z: matrix(count * parts * n, n, z),
        u: matrix(count * parts * n, n, u),
        d: matrix(count * parts, n, d),
        a: matrix(count * parts, n, a),
        w: matrix(count * n, n, w),
        pi: matrix(count, n, pi),
        bound: -(most * scale).next_up(),
    }))
}
