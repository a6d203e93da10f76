//! The best X on given supports: monotone gradient ascent with Barzilai–Borwein steps on {supp X ⊂ M} and the constraints,
//! every point on them to rounding.
//!
//! Only pairs of columns that share a row are equations of XᵀX = I, beside the length of each column; XᵀCX = diagonal are
//! r(r − 1)/2 more. With the Jacobian J of the equations on the entries, the tangent part of a gradient g is
//! g − Jᵀ(JJᵀ)⁻¹Jg, and Newton's x ← x − Jᵀ(JJᵀ)⁻¹c(x) leads back to the constraints.

mod normal;

use super::kept::{Section, multiplied};
use super::support_model::{Point, SupportModel, mask_of};
pub use normal::EQUATIONS;
use normal::{Normal, in_columns, inner, near_each_other};
use orthopt_core::smooth::Quadratic;
use orthopt_core::smooth::measured::Small;
use orthopt_linalg::RowMat;
use orthopt_linalg::factor::transpose;
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::products::{cross, is_sparse, multiply, product};
use orthopt_linalg::small::polar;
use orthopt_linalg::work::count;

/// Steps of Newton's method, and the largest violation that it may leave; it ends where a step brings nothing.
const NEWTON: usize = 12;
const FEASIBLE: f64 = 1e-13;
/// The Jacobian of an earlier point serves where a step with it leaves less than this share of the violation.
const FAST: f64 = 0.25;
/// A violation that is rounding.
const EXACT: f64 = 4.0 * f64::EPSILON;
/// Shorter steps that are tried where one does not raise the value.
const SHORTER: usize = 8;
const SHORTEN: f64 = 0.3;
/// A squared gradient below this share of the squared value is rounding.
const STILL: f64 = 1e-24;
/// Steps in a row that may bring too little: more of them where digits of X are asked for that the value does not show, and that the gradient
/// falls by half brings something, too.
const SHORT: usize = 3;
const LONG: usize = 12;
const EXACTLY: f64 = 1e-12;
/// A climb is given up where twice in a row so many more gains like the last one would not lead above what is to be improved. (From
/// starting points at random 5 % of those that would get there are lost.)
const GAINS: f64 = 100.0;
const FEW: usize = 2;
/// Fixed cost of a step, in units of work.
const OVERHEAD: usize = 30_000;

impl<F: Quadratic> SupportModel<'_, F> {
    /// The best point on the supports near `x`; `None` where no feasible one is found.
    pub fn polish(&self, x: &RowMat, mask: &[bool], effort: (usize, f64)) -> Option<Point> {
        self.polish_above(f64::NEG_INFINITY, (x, mask), effort)
    }

    /// [`SupportModel::polish`] that may end early where it does not lead above a value.
    pub fn polish_above(&self, above: f64, of: (&RowMat, &[bool]), effort: (usize, f64)) -> Option<Point> {
        let (x, mask) = of;
        let (value, x) = Local::new(self, mask).climb(x, effort, above)?;
        value.is_finite().then(|| Point { x, mask: mask.to_vec(), value })
    }

    /// [`SupportModel::polish_above`] of some columns beside the others, which stay as they are in `beside`.
    pub(super) fn polish_columns(
        &self,
        above: f64,
        of: (&RowMat, &[bool]),
        effort: (usize, f64),
        (columns, beside): (&[usize], &Products),
    ) -> Option<Point> {
        let (x, mask) = of;
        if columns.len() == x.ncols() {
            return self.polish_above(above, of, effort);
        }
        let (value, x) = Local::of_columns(self, mask, columns, Some(beside)).climb(x, effort, above)?;
        value.is_finite().then(|| Point { x, mask: mask.to_vec(), value })
    }

    /// The columns that are on constraints with one of `some`, or with one that is, in increasing order: the others need not move if these
    /// do.
    pub(super) fn bound_to(&self, mask: &[bool], some: &[usize]) -> Vec<usize> {
        let r = self.shape().1;
        if self.between().is_uncorrelated() || self.squares() {
            return (0..r).collect();
        }
        let meet = self.meet(mask);
        let (mut out, mut next) = (some.to_vec(), 0);
        out.sort_unstable();
        out.dedup();
        while next < out.len() {
            let k = out[next];
            out.extend((0..r).filter(|l| meet[k * r + l] && !out.contains(l)).collect::<Vec<_>>());
            next += 1;
        }
        out.sort_unstable();
        out
    }

    /// Length of the gradient of f along the constraints on the support of X, in the unit of f.
    pub fn criticality(&self, x: &RowMat) -> Option<f64> {
        Some(Local::new(self, &mask_of(x)).criticality(x)? * self.unit())
    }
}

/// CX, XᵀCX and the scales of the variances of all columns of an X.
pub(super) struct Products {
    m: RowMat,
    s: RowMat,
    sizes: Vec<f64>,
}

impl Products {
    pub fn of<F: Quadratic>(model: &SupportModel<'_, F>, x: &RowMat) -> Self {
        let m = model.cov.times(model.f(), x);
        let s = cross(x, &m).symmetric_part();
        let sizes = model.cov.sizes(x).into_iter().map(|size| size * size).collect();
        Self { m, s, sizes }
    }
}

/// What stays: the others beside the columns that move, and their CX on the rows of these.
struct Fixed {
    image: RowMat, // zero for columns that move
    s: RowMat,
    sizes: Vec<f64>,
}

/// Some columns of X, all of them or those that the others share no constraint with, on the rows that any of these may use.
pub(super) struct Local<'g, 'a, F> {
    model: &'g SupportModel<'a, F>,
    columns: Vec<usize>,
    fixed: Option<Fixed>,
    rows: Vec<usize>,
    c: Option<Section>, // C on these rows
    c2: Option<RowMat>, // C² on these rows
    supports: Vec<Vec<usize>>,
    equations: Vec<Equation>,
    in_column: Vec<Vec<(usize, usize)>>, // equations of each column, and their other columns
    full: bool,                          // all columns may use all rows, and XᵀX = I is all there is
    sparse: bool,                        // products take the entries of X one by one
}

/// ⟨xₐ, z_b⟩ is 1 for a = b and 0 else, Z = X, or CX where `scores`; its derivative along D is ⟨dₐ, z_b⟩ + ⟨zₐ, d_b⟩.
#[derive(Clone, Copy, Debug)]
struct Equation {
    a: usize,
    b: usize,
    scores: bool,
}

/// A point with what is computed from it.
struct At {
    x: RowMat,
    m: RowMat,              // CX
    system: Option<Normal>, // where there are equations beside lengths
    value: f64,
    q: RowMat,
    p: Option<RowMat>,
}

impl<'g, 'a, F: Quadratic> Local<'g, 'a, F> {
    pub fn new(model: &'g SupportModel<'a, F>, mask: &[bool]) -> Self {
        let all: Vec<usize> = (0..model.shape().1).collect();
        Self::of_columns(model, mask, &all, None)
    }

    fn of_columns(
        model: &'g SupportModel<'a, F>,
        mask: &[bool],
        columns: &[usize],
        beside: Option<&Products>,
    ) -> Self {
        let (n, all) = model.shape();
        let r = columns.len();
        let rows: Vec<usize> = (0..n).filter(|i| columns.iter().any(|k| mask[i * all + k])).collect();
        let free = |a: usize, k: usize| mask[rows[a] * all + columns[k]];
        let supports: Vec<Vec<usize>> =
            (0..r).map(|k| (0..rows.len()).filter(|a| free(*a, k)).collect()).collect();
        let fixed = beside.map(|beside| {
            let stays = |k: usize| f64::from(u8::from(!columns.contains(&k)));
            let stays: Vec<f64> = (0..all).map(stays).collect();
            let image = RowMat::from_fn(rows.len(), all, |a, k| stays[k] * beside.m.get(rows[a], k));
            Fixed { image, s: beside.s.clone(), sizes: beside.sizes.clone() }
        });
        let full = supports.iter().all(|s| s.len() == rows.len());
        let meet = |a: usize, b: usize| full || supports[a].iter().any(|i| free(*i, b));
        let between = model.between();
        let mut equations = Vec::new();
        for a in 0..r {
            for b in a..r {
                if a == b || (between.is_orthogonal() && meet(a, b)) {
                    equations.push(Equation { a, b, scores: false });
                }
                if a != b && between.is_uncorrelated() {
                    equations.push(Equation { a, b, scores: true });
                }
            }
        }
        let c = model.section(&rows);
        let c2 = if model.squares() { model.cov.square_block(model.f(), &rows) } else { None };
        let full = full && !between.is_uncorrelated() && between.is_orthogonal();
        let equations = near_each_other(equations, r);
        let in_column = in_columns(&equations, r);
        let sparse = is_sparse(supports.iter().map(Vec::len).sum(), rows.len(), r);
        let columns = columns.to_vec();
        Self { model, columns, fixed, rows, c, c2, supports, equations, in_column, full, sparse }
    }

    /// XᵀY for an X with zeros outside the supports.
    fn crossed(&self, x: &RowMat, y: &RowMat) -> RowMat {
        if !self.sparse {
            return cross(x, y);
        }
        let mut out = RowMat::zeros(x.ncols(), y.ncols());
        count(self.supports.iter().map(Vec::len).sum::<usize>() * y.ncols());
        for (k, support) in self.supports.iter().enumerate() {
            let row = out.row_mut(k);
            support.iter().for_each(|a| axpy(x.get(*a, k), y.row(*a), row));
        }
        out
    }

    /// `out ← out + YQ` on the supports, and zero outside.
    fn add_on_supports(&self, out: &mut RowMat, y: &RowMat, q: &RowMat) {
        let q = transpose(q);
        count(self.supports.iter().map(Vec::len).sum::<usize>() * y.ncols());
        for (k, support) in self.supports.iter().enumerate() {
            support.iter().for_each(|a| out.set(*a, k, out.get(*a, k) + inner(y.row(*a), q.row(k))));
        }
    }

    /// The rows and columns of X that are examined, with zeros outside the supports.
    fn gather(&self, x: &RowMat) -> RowMat {
        let mut out = RowMat::zeros(self.rows.len(), self.columns.len());
        for (k, support) in self.supports.iter().enumerate() {
            support.iter().for_each(|a| out.set(*a, k, x.get(self.rows[*a], self.columns[k])));
        }
        out
    }

    /// These columns on all rows.
    fn scatter(&self, x: &RowMat) -> RowMat {
        let mut out = RowMat::zeros(self.model.shape().0, x.ncols());
        self.rows.iter().enumerate().for_each(|(a, i)| out.row_mut(*i).copy_from_slice(x.row(a)));
        out
    }

    /// These columns beside the others of `all`.
    fn beside(&self, all: &RowMat, x: &RowMat) -> RowMat {
        let x = self.scatter(x);
        if self.fixed.is_none() {
            return x;
        }
        let mut out = all.clone();
        for (b, k) in self.columns.iter().enumerate() {
            (0..out.nrows()).for_each(|i| out.set(i, *k, x.get(i, b)));
        }
        out
    }

    /// CX on the rows.
    fn image(&self, x: &RowMat) -> RowMat {
        match &self.c {
            Some(c) => c.times(x, self.sparse),
            None => self.on_rows(&self.model.cov.times(self.model.f(), &self.scatter(x))),
        }
    }

    /// C²X on the rows.
    fn second(&self, x: &RowMat) -> RowMat {
        let model = self.model;
        match &self.c2 {
            Some(c2) => multiplied(c2, x, self.sparse),
            None => {
                let x = self.scatter(x);
                let m = model.cov.times(model.f(), &x);
                self.on_rows(&model.cov.twice(model.f(), &x, &m))
            }
        }
    }

    fn on_rows(&self, image: &RowMat) -> RowMat {
        RowMat::from_fn(self.rows.len(), image.ncols(), |a, k| image.get(self.rows[a], k))
    }

    fn at(&self, x: RowMat, m: RowMat, small: &mut Small) -> At {
        let mut s = self.crossed(&x, &m).symmetric_part();
        let w = if self.model.squares() {
            self.crossed(&x, &self.second(&x)).symmetric_part()
        } else {
            RowMat::zeros(0, 0)
        };
        let mut sizes = self.sizes(&x);
        if let Some(fixed) = &self.fixed {
            (s, sizes) = self.with_fixed(fixed, &x, (&s, &sizes));
        }
        let r = s.ncols();
        count(8 * r * r * r);
        let (value, q, p) = small.weights(self.model.measure, (s.data(), w.data()), &sizes);
        At { x, m, system: None, value, q, p }
    }

    /// S and the scales of all columns.
    fn with_fixed(&self, fixed: &Fixed, x: &RowMat, (s, sizes): (&RowMat, &[f64])) -> (RowMat, Vec<f64>) {
        let (mut all, mut all_sizes) = (fixed.s.clone(), fixed.sizes.clone());
        let beside = self.crossed(x, &fixed.image);
        for (a, k) in self.columns.iter().enumerate() {
            all_sizes[*k] = sizes[a];
            for l in 0..all.ncols() {
                all.set(*k, l, beside.get(a, l));
                all.set(l, *k, beside.get(a, l));
            }
        }
        for (a, k) in self.columns.iter().enumerate() {
            self.columns.iter().enumerate().for_each(|(b, l)| all.set(*k, *l, s.get(a, b)));
        }
        (all, all_sizes)
    }

    /// Scales of the terms that add up to the variances of the columns.
    fn sizes(&self, x: &RowMat) -> Vec<f64> {
        let own = |k: usize, a: usize| x.get(a, k).abs() * self.model.cov.deviation(self.rows[a]);
        let size =
            |(k, support): (usize, &Vec<usize>)| support.iter().map(|a| own(k, *a)).sum::<f64>().powi(2);
        self.supports.iter().enumerate().map(size).collect()
    }

    /// Half of the gradient of the measure on the supports, along the constraints; `None` where that takes long and time is over.
    fn tangent(&self, at: &mut At) -> Option<RowMat> {
        let mut g = self.gradient(at);
        if self.full {
            let symmetric = cross(&at.x, &g).symmetric_part();
            product(&mut g, true, -1.0, at.x.as_mat(), symmetric.as_mat());
            return Some(g);
        }
        let (system, y) = self.multipliers(at, &g)?;
        self.subtract(&mut g, &at.x, &at.m, &y);
        at.system = Some(system);
        Some(g)
    }

    /// Half of the gradient of the measure on the supports.
    fn gradient(&self, at: &At) -> RowMat {
        let mut g = RowMat::zeros(at.x.nrows(), at.x.ncols());
        if let Some(fixed) = &self.fixed {
            let (r, own) = (at.q.ncols(), &self.columns);
            let q = RowMat::from_fn(own.len(), own.len(), |a, b| at.q.get(own[a], own[b]));
            self.add_on_supports(&mut g, &at.m, &q);
            let q = RowMat::from_fn(r, own.len(), |k, b| at.q.get(k, own[b]));
            self.add_on_supports(&mut g, &fixed.image, &q);
            return g;
        }
        if self.sparse {
            self.add_on_supports(&mut g, &at.m, &at.q);
            if let Some(p) = &at.p {
                self.add_on_supports(&mut g, &self.second(&at.x), p);
            }
            return g;
        }
        product(&mut g, false, 1.0, at.m.as_mat(), at.q.as_mat());
        if let Some(p) = &at.p {
            product(&mut g, true, 1.0, self.second(&at.x).as_mat(), p.as_mat());
        }
        if self.full { g } else { self.masked(&g) }
    }

    /// JJᵀ, factored, and the y with which g − Jᵀy is along the constraints; `None` where that takes long and time is over.
    fn multipliers(&self, at: &At, g: &RowMat) -> Option<(Normal, Vec<f64>)> {
        let system = Normal::new(self, &at.x, &at.m)?;
        let gx = self.crossed(g, &at.x);
        let uncorrelated = self.model.between().is_uncorrelated();
        let gm = if uncorrelated { self.crossed(g, &at.m) } else { RowMat::zeros(0, 0) };
        let of = |e: &Equation| {
            let z = if e.scores { &gm } else { &gx };
            z.get(e.a, e.b) + z.get(e.b, e.a)
        };
        let y = system.solve(self.equations.iter().map(of).collect());
        Some((system, y))
    }

    /// Shadow prices: half of what the value loses, to first order, for each unit of entry (i, k), as column k must then get back to its relations to the
    /// others: the part of Jᵀy at the best X on the supports that is not of lengths, on all rows. `None` where there is no such relation.
    pub fn shadow_prices(&self, x: &RowMat) -> Option<RowMat> {
        let r = x.ncols();
        if self.equations.len() == r {
            return None;
        }
        let (x, m) = self.retract(self.gather(x), None)?;
        let at = self.at(x, m, &mut Small::new(r, self.model.given));
        let g = self.gradient(&at);
        let (mut of_x, of_m) = if self.full {
            (cross(&at.x, &g).symmetric_part(), RowMat::zeros(r, r))
        } else {
            self.by_columns(&self.multipliers(&at, &g)?.1)
        };
        (0..r).for_each(|k| of_x.set(k, k, 0.0));
        let x = self.scatter(&at.x);
        let mut prices = multiply(x.as_mat(), of_x.as_mat());
        if self.model.between().is_uncorrelated() {
            let image = self.model.cov.times(self.model.f(), &x);
            product(&mut prices, true, 1.0, image.as_mat(), of_m.as_mat());
        }
        Some(prices)
    }

    /// y as symmetric matrices: Jᵀy is X times the first and CX times the second, on the supports.
    fn by_columns(&self, y: &[f64]) -> (RowMat, RowMat) {
        let r = self.in_column.len();
        let (mut of_x, mut of_m) = (RowMat::zeros(r, r), RowMat::zeros(r, r));
        for (e, y) in self.equations.iter().zip(y) {
            let to = if e.scores { &mut of_m } else { &mut of_x };
            to.set(e.a, e.b, to.get(e.a, e.b) + y);
            to.set(e.b, e.a, to.get(e.b, e.a) + y);
        }
        (of_x, of_m)
    }

    /// g ← g − Jᵀy.
    fn subtract(&self, g: &mut RowMat, x: &RowMat, m: &RowMat, y: &[f64]) {
        let (of_x, of_m) = self.by_columns(y);
        let scores = self.model.between().is_uncorrelated();
        for (k, support) in self.supports.iter().enumerate() {
            for a in support {
                let (row, image) = (x.row(*a), m.row(*a));
                let mut sum = inner(row, of_x.row(k));
                if scores {
                    sum += inner(image, of_m.row(k));
                }
                g.set(*a, k, g.get(*a, k) - sum);
            }
        }
    }

    fn masked(&self, v: &RowMat) -> RowMat {
        let mut out = RowMat::zeros(v.nrows(), v.ncols());
        for (k, support) in self.supports.iter().enumerate() {
            support.iter().for_each(|a| out.set(*a, k, v.get(*a, k)));
        }
        out
    }

    /// The violation of each equation.
    fn violations(&self, x: &RowMat, m: &RowMat) -> Vec<f64> {
        let gram = self.crossed(x, x);
        let s = if self.model.between().is_uncorrelated() { self.crossed(x, m) } else { RowMat::zeros(0, 0) };
        let of = |e: &Equation| match e.scores {
            true => 0.5 * (s.get(e.a, e.b) + s.get(e.b, e.a)),
            false => gram.get(e.a, e.b) - f64::from(u8::from(e.a == e.b)),
        };
        self.equations.iter().map(of).collect()
    }

    /// X on the constraints, with CX; `None` where Newton's method does not get there. The Jacobian of the point `from` that X is a step
    /// from stays as long as it leads to the constraints fast enough.
    fn retract(&self, mut x: RowMat, from: Option<&At>) -> Option<(RowMat, RowMat)> {
        count(OVERHEAD);
        let r = x.ncols();
        for (k, support) in self.supports.iter().enumerate() {
            let length = support.iter().map(|a| x.get(*a, k).powi(2)).sum::<f64>().sqrt();
            if length.is_nan() || length <= f64::MIN_POSITIVE {
                return None;
            }
            support.iter().for_each(|a| x.set(*a, k, x.get(*a, k) / length));
        }
        if self.full && r > 1 {
            let x = polar(&x)?;
            let m = self.image(&x);
            return Some((x, m));
        }
        if self.equations.len() == r {
            let m = self.image(&x);
            return Some((x, m)); // lengths are all there is
        }
        let uncorrelated = self.model.between().is_uncorrelated();
        let seen = |x: &RowMat| if uncorrelated { self.image(x) } else { RowMat::zeros(0, 0) };
        let mut from = from.and_then(|at| Some((at, at.system.as_ref()?)));
        let (mut m, mut before, mut left) = (seen(&x), f64::INFINITY, NEWTON);
        loop {
            let c = self.violations(&x, &m);
            let error = c.iter().fold(0.0f64, |e, v| e.max(v.abs()));
            if error <= EXACT || (error <= FEASIBLE && error >= 0.5 * before) {
                let m = if uncorrelated { m } else { self.image(&x) };
                return Some((x, m));
            }
            if !error.is_finite() || left == 0 {
                let m = if uncorrelated { m } else { self.image(&x) };
                return (error <= FEASIBLE).then_some((x, m));
            }
            from = from.filter(|_| error < FAST * before);
            before = error;
            let mut step = RowMat::zeros(x.nrows(), r);
            match from {
                Some((at, system)) => self.subtract(&mut step, &at.x, &at.m, &system.solve(c)),
                None => {
                    left -= 1;
                    self.subtract(&mut step, &x, &m, &Normal::new(self, &x, &m)?.solve(c));
                }
            }
            x.data_mut().iter_mut().zip(step.data()).for_each(|(x, d)| *x += d);
            m = seen(&x);
        }
    }
}

impl<F: Quadratic> Local<'_, '_, F> {
    /// Length of the tangent part of half the gradient at X.
    pub fn criticality(&self, x: &RowMat) -> Option<f64> {
        let x = self.gather(x);
        let m = self.image(&x);
        let mut at = self.at(x, m, &mut Small::new(self.model.shape().1, self.model.given));
        let size = self.tangent(&mut at)?.norm();
        size.is_finite().then_some(size)
    }

    /// The point that steps from `x` lead to, at most `steps` of them, until three in a row bring less than the share `least`
    /// of the value, or until it is clear that they do not lead above the value `above`; `None` where there is no feasible point near `x`.
    /// X comes back with all its rows.
    pub fn climb(&self, all: &RowMat, (steps, least): (usize, f64), above: f64) -> Option<(f64, RowMat)> {
        let r = all.ncols();
        let mut small = Small::new(r, self.model.given);
        let (x, m) = self.retract(self.gather(all), None)?;
        let mut at = self.at(x, m, &mut small);
        let Some(mut g) = self.tangent(&mut at) else { return Some((at.value, self.beside(all, &at.x))) };
        let mut step = r as f64 / at.value.abs().max(f64::MIN_POSITIVE);
        let patience = if least < EXACTLY { LONG } else { SHORT };
        let (mut little, mut smallest, mut hopeless) = (0, f64::INFINITY, 0);
        for k in 0..steps {
            let size = g.inner(&g);
            if size.is_nan() || size <= STILL * at.value * at.value || self.model.is_over() {
                break;
            }
            let mut next = None;
            for _ in 0..SHORTER {
                let mut y = at.x.clone();
                y.data_mut().iter_mut().zip(g.data()).for_each(|(y, g)| *y += step * g);
                if let Some((y, m)) = self.retract(y, Some(&at)) {
                    let reached = self.at(y, m, &mut small);
                    // where the value is flat to rounding the gradient still says where to go
                    if reached.value >= at.value * (1.0 - 4.0 * f64::EPSILON) {
                        next = Some(reached);
                        break;
                    }
                }
                step *= SHORTEN;
            }
            let Some(mut next) = next else { break };
            let Some(h) = self.tangent(&mut next) else {
                at = next;
                break;
            };
            let (mut ss, mut sy, mut yy) = (0.0, 0.0, 0.0);
            let points = next.x.data().iter().zip(at.x.data());
            for ((x1, x0), (g1, g0)) in points.zip(h.data().iter().zip(g.data())) {
                let (s, y) = (x1 - x0, g0 - g1);
                ss += s * s;
                sy += s * y;
                yy += y * y;
            }
            // of the two lengths of Barzilai and Borwein by turns; where the value is convex along the way longer
            step = match sy > 0.0 && yy > 0.0 {
                true if k % 2 == 0 => ss / sy,
                true => sy / yy,
                false => 3.0 * step,
            };
            let is_nearer = least < EXACTLY && h.inner(&h) < 0.25 * smallest;
            if is_nearer {
                smallest = h.inner(&h);
            }
            let gain = next.value - at.value;
            let gains = gain >= least * at.value.abs();
            little = if gains || is_nearer { 0 } else { little + 1 };
            hopeless = if GAINS * gain.max(0.0) < above - next.value { hopeless + 1 } else { 0 };
            (at, g) = (next, h);
            if little >= patience || hopeless == FEW {
                break;
            }
        }
        Some((at.value, self.beside(all, &at.x)))
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand::{RngExt, SeedableRng};

    use super::super::support_model::{LAST, PASSING};
    use super::*;
    use crate::problem::MeasuredProblem;
    use orthopt_core::objective::Evaluate;
    use orthopt_core::problem::{Between, Cardinality};
    use orthopt_core::smooth::{DenseGram, Measure, Measured};
    use orthopt_linalg::cancel::Cancel;

    /// Random samples, columns that come twice, a column of zeros, or samples of a low rank.
    fn samples((m, n, rank): (usize, usize, usize), kind: u64, rng: &mut rand_pcg::Pcg64) -> RowMat {
        let plain = RowMat::from_fn(m, n, |_, _| rng.random_range(-1.0..1.0));
        let b = RowMat::from_fn(rank, n, |_, _| rng.random_range(-1.0..1.0));
        RowMat::from_fn(m, n, |i, j| match kind {
            0 => plain.get(i, j),
            1 => plain.get(i, j / 2),
            2 => plain.get(i, j) * f64::from(u8::from(j != 5)),
            _ => (0..rank).map(|l| plain.get(i, l) * b.get(l, j)).sum(),
        })
    }

    /// A step along the tangent ends on the constraints whether the Jacobian of its beginning stays or not; the two ends differ by no more than
    /// the square of the step, and X has no other rows.
    #[test]
    fn the_jacobian_of_the_beginning_leads_to_the_constraints_too() {
        let (m, n, r) = (14, 12, 5);
        let mut tried = 0;
        for seed in 0..20u64 {
            let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
            let a = Mat::from_fn(m, n, |_, _| rng.random_range(-1.0..1.0));
            let f = Measured::new(DenseGram::new(a.as_ref()), Measure::Adjusted).unwrap();
            let between = [Between::Orthogonal, Between::Uncorrelated, Between::Both][seed as usize % 3];
            let p = MeasuredProblem::new(f, r, Cardinality::Components(vec![n; r]), 0.0, between).unwrap();
            let model = SupportModel::of(&p);
            let mask: Vec<bool> = (0..n * r).map(|e| (e / r + e % r) % 4 != 0).collect();
            let local = Local::new(&model, &mask);
            let x =
                RowMat::from_fn(n, r, |i, k| if mask[i * r + k] { rng.random_range(-1.0..1.0) } else { 0.0 });
            let Some((x, image)) = local.retract(local.gather(&x), None) else { continue };
            let mut at = local.at(x, image, &mut Small::new(r, false));
            let g = local.tangent(&mut at).unwrap();
            assert!(at.system.is_some());
            tried += 1;
            for length in [1e-1, 1e-3, 1e-6] {
                let step = length / g.norm();
                let y = RowMat::from_fn(n, r, |i, k| at.x.get(i, k) + step * g.get(i, k));
                let ends = [None, Some(&at)].map(|from| local.retract(y.clone(), from).unwrap().0);
                for (x, image) in ends.iter().map(|x| (x, local.image(x))) {
                    let c = local.violations(x, &image);
                    assert!(c.iter().all(|v| v.abs() <= FEASIBLE), "{seed}, {length}: {c:?}");
                    assert!(x.data().iter().zip(&mask).all(|(v, free)| *free || *v == 0.0));
                }
                let apart = (0..n * r).map(|e| ends[0].data()[e] - ends[1].data()[e]);
                let apart = apart.fold(0.0f64, |most, d| most.max(d.abs()));
                assert!(apart <= 100.0 * length * length + 1e-12, "{seed}, {length}: {apart}");
            }
        }
        assert!(tried >= 15, "{tried}");
    }

    /// Between the best X on its supports and a feasible X′ near it with one entry more the value rises by the priced slope of that entry,
    /// but for the square of the entry. Without the price it does not; prices are the same bits for data times a power of two.
    #[test]
    fn an_entry_raises_the_value_by_its_slope_less_its_price() {
        let (m, n, r) = (14, 12, 4);
        let (mut tried, mut needed) = (0, 0);
        for seed in 0..48u64 {
            let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
            let samples = samples((m, n, r), seed % 4, &mut rng);
            let measure = [Measure::Adjusted, Measure::Polar, Measure::Variance][seed as usize / 4 % 3];
            let between = [Between::Orthogonal, Between::Uncorrelated][seed as usize / 12 % 2];
            let full = seed % 8 == 0;
            let mask: Vec<bool> =
                (0..n * r).map(|e| e / r < n - 2 && (full || (e / r + 3 * (e % r)) % 5 < 3)).collect();
            let x =
                RowMat::from_fn(n, r, |i, k| if mask[i * r + k] { rng.random_range(-1.0..1.0) } else { 0.0 });
            let found = |unit: f64| {
                let a = Mat::from_fn(m, n, |i, j| unit * samples.get(i, j));
                let f = Measured::new(DenseGram::new(a.as_ref()), measure).unwrap();
                let limits = Cardinality::Components(vec![n; r]);
                let p = MeasuredProblem::new(f, r, limits, 0.0, between).unwrap();
                let model = SupportModel::of(&p);
                let at =
                    model.polish(&x, &mask, LAST).filter(|at| at.x.data().iter().all(|v| v.is_finite()))?;
                let prices = Local::new(&model, &mask).shadow_prices(&at.x)?;
                let slope = model.gains(&at.x).at_shadow_prices(Some(prices.clone())).gradient();
                let plain = model.gains(&at.x).gradient();
                // entries outside the supports: (what the value gains, slope, slope without the price)
                let gained = |e: usize| {
                    let (mut x, mut mask) = (at.x.clone(), mask.clone());
                    (x.data_mut()[e], mask[e]) = (1e-5, true);
                    let near = model.polish(&x, &mask, (0, 0.0))?;
                    let entered = near.x.data()[e];
                    Some((
                        (model.value(&near.x) - model.value(&at.x)) / (2.0 * entered),
                        slope.data()[e],
                        plain.data()[e],
                    ))
                };
                let gained: Vec<_> = (0..n * r).filter(|e| !mask[*e]).filter_map(gained).collect();
                Some((at, prices, gained, model.cov.scale(r)))
            };
            let Some((at, prices, gained, scale)) = found(1.0) else { continue };
            for (gain, slope, plain) in gained {
                assert!((gain - slope).abs() <= 1e-3 * scale, "{seed}: {gain}, {slope}, {plain}");
                tried += 1;
                needed += u32::from((gain - plain).abs() > 1e-2 * scale);
            }
            for unit in [2f64.powi(200), 2f64.powi(-200)] {
                let (same, same_prices, ..) = found(unit).unwrap();
                assert_eq!((same.x.data(), same_prices.data()), (at.x.data(), prices.data()), "{seed}");
            }
        }
        assert!(tried >= 200 && 4 * needed >= tried, "{needed} of {tried}");
    }

    /// Columns that share no row with the others are polished beside them: these keep their bits, the value is that of the whole X on the
    /// constraints, and the direction is that of the whole X. The bits in any unit are the same.
    #[test]
    fn columns_are_polished_beside_the_others() {
        let (m, n, r) = (14, 15, 6);
        let mut moved = 0;
        for seed in 0..32u64 {
            let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
            let samples = samples((m, n, 3), seed % 4, &mut rng);
            let measure = [Measure::Adjusted, Measure::Polar, Measure::Variance][seed as usize / 4 % 3];
            // columns 0 to 2 share the rows up to 8, the others have two each
            let mask: Vec<bool> = (0..n * r)
                .map(|e| match (e / r, e % r) {
                    (i, k) if k < 3 => i < 9 && (i + 3 * k) % 9 < 6,
                    (i, k) => i >= 9 && (i - 9) / 2 == k - 3,
                })
                .collect();
            let x =
                RowMat::from_fn(n, r, |i, k| if mask[i * r + k] { rng.random_range(-1.0..1.0) } else { 0.0 });
            let found = |unit: f64| {
                let a = Mat::from_fn(m, n, |i, j| unit * samples.get(i, j));
                let f = Measured::new(DenseGram::new(a.as_ref()), measure).unwrap();
                let limits = Cardinality::Components(vec![n; r]);
                let p = MeasuredProblem::new(f, r, limits, 0.0, Between::Orthogonal).unwrap();
                let model = SupportModel::of(&p);
                let x = model.polish(&x, &mask, (0, 0.0)).unwrap().x;
                let products = Products::of(&model, &x);
                let columns = model.bound_to(&mask, &[1, 4, 1]);
                assert_eq!(columns, [0, 1, 2, 4]);
                let of = (&x, &mask[..]);
                let at = model.polish_columns(f64::NEG_INFINITY, of, LAST, (&columns, &products)).unwrap();
                assert!(p.feasibility(&at.x) < 1e-12 && at.mask == mask, "{seed}");
                for e in (0..n * r).filter(|e| !columns.contains(&(e % r)) || !mask[*e]) {
                    assert_eq!(at.x.data()[e], x.data()[e], "{seed}");
                }
                let scale = model.cov.scale(r);
                // the root of a singular S has half of the digits
                let digits = if seed % 4 == 3 { 1e-6 } else { 1e-9 };
                assert!((at.value - model.value(&at.x)).abs() <= digits * scale, "{seed}");
                // the twin moves all columns
                let tangent = |local: &Local<'_, '_, DenseGram>| {
                    let (y, image) = local.retract(local.gather(&x), None).unwrap();
                    local.tangent(&mut local.at(y, image, &mut Small::new(r, false))).unwrap()
                };
                let some = Local::of_columns(&model, &mask, &columns, Some(&products));
                let whole = Local::new(&model, &mask);
                let (own, all) = (some.scatter(&tangent(&some)), whole.scatter(&tangent(&whole)));
                for (i, (b, k)) in (0..n).flat_map(|i| columns.iter().enumerate().map(move |c| (i, c))) {
                    let apart = (own.get(i, b) - all.get(i, *k)).abs();
                    // where scores depend on each other there is no derivative
                    assert!(apart <= 1e-9 * scale || seed % 4 == 3, "{seed}, {i}, {k}: {apart}");
                }
                (at.x, at.value > model.value(&x) + 1e-3 * scale)
            };
            let (x, is_higher) = found(1.0);
            moved += u32::from(is_higher);
            for unit in [2f64.powi(200), 2f64.powi(-200)] {
                assert_eq!(found(unit).0.data(), x.data(), "{seed}");
            }
        }
        assert!(moved >= 20, "{moved}");
    }

    /// A climb that may end early is the whole one where that leads above the value, but for a few, and is on the constraints where it is not;
    /// data times a power of two give the same bits.
    #[test]
    fn few_climbs_that_lead_above_a_value_are_given_up() {
        let (m, n, r) = (14, 12, 4);
        let (mut above, mut lost, mut ended) = (0, 0, 0);
        for seed in 0..100u64 {
            let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
            let samples = samples((m, n, 3), seed % 4, &mut rng);
            let mask: Vec<bool> = (0..n * r).map(|_| rng.random::<f64>() < 0.4).collect();
            let x =
                RowMat::from_fn(n, r, |i, k| if mask[i * r + k] { rng.random_range(-1.0..1.0) } else { 0.0 });
            let share = rng.random_range(0.9..1.1);
            let found = |unit: f64| {
                let a = Mat::from_fn(m, n, |i, j| unit * samples.get(i, j));
                let f = Measured::new(DenseGram::new(a.as_ref()), Measure::Adjusted).unwrap();
                let limits = Cardinality::Components(vec![n; r]);
                let p = MeasuredProblem::new(f, r, limits, 0.0, Between::Orthogonal).unwrap();
                let model = SupportModel::of(&p);
                let whole = model.polish(&x, &mask, PASSING)?;
                let least = share * whole.value;
                let early = model.polish_above(least, (&x, &mask), PASSING).unwrap();
                assert!(p.feasibility(&early.x) < 1e-12 && early.mask == mask, "{seed}");
                Some((whole, early, least))
            };
            let Some((whole, early, least)) = found(1.0) else { continue };
            for unit in [2f64.powi(200), 2f64.powi(-200)] {
                assert_eq!(found(unit).unwrap().1.x.data(), early.x.data(), "{seed}");
            }
            let is_whole = early.x.data() == whole.x.data();
            if whole.value > least {
                above += 1;
                lost += u32::from(!is_whole && early.value <= least);
            } else {
                ended += u32::from(!is_whole);
            }
        }
        assert!(above >= 40 && 10 * lost <= above && ended >= 40, "{lost} of {above} lost, {ended} ended");
    }

    /// A system of many equations is left where time is over, and what is feasible already is kept; one of few is solved.
    #[test]
    fn many_equations_are_left_where_time_is_over() {
        let polished = |r: usize, is_over: bool, is_feasible: bool| {
            let (m, n) = (r + 4, r + 2);
            let mut rng = rand_pcg::Pcg64::seed_from_u64(3);
            let a = Mat::from_fn(m, n, |_, _| rng.random_range(-1.0..1.0));
            let f = Measured::new(DenseGram::new(a.as_ref()), Measure::Adjusted).unwrap();
            let limits = Cardinality::Components(vec![n; r]);
            let p = MeasuredProblem::new(f, r, limits, 0.0, Between::Orthogonal).unwrap();
            let cancel = Cancel::never();
            if is_over {
                cancel.cancel();
            }
            let model = SupportModel::of(&p).until(&cancel);
            let mask: Vec<bool> = (0..n * r).map(|e| e / r != e % r + 1).collect();
            let noise = if is_feasible { 0.0 } else { 0.01 };
            let mut x = RowMat::zeros(n, r);
            let mut entry =
                |i: usize, k: usize| f64::from(u8::from(i == k)) + noise * rng.random_range(-1.0..1.0);
            for e in (0..n * r).filter(|e| mask[*e]) {
                x.data_mut()[e] = entry(e / r, e % r);
            }
            model.polish(&x, &mask, PASSING).map(|at| p.feasibility(&at.x))
        };
        for (r, is_over, is_feasible, found) in [
            (50, true, false, false),
            (50, true, true, true),
            (4, true, false, true),
            (4, false, false, true),
        ] {
            let point = polished(r, is_over, is_feasible);
            assert_eq!(point.is_some(), found, "{r}, {is_over}, {is_feasible}");
            assert!(point.is_none_or(|error| error <= 1e-12), "{r}: {point:?}");
        }
    }
}
