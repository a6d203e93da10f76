//! The best X on given supports: monotone gradient ascent with Barzilai–Borwein steps on {supp X ⊂ M} and the constraints,
//! every point on them to rounding.
//!
//! Only pairs of columns that share a row are equations of XᵀX = I, beside the length of each column; XᵀCX = diagonal are
//! r(r − 1)/2 more. With the Jacobian J of the equations on the entries, the tangent part of a gradient g is
//! g − Jᵀ(JJᵀ)⁻¹Jg, and Newton's x ← x − Jᵀ(JJᵀ)⁻¹c(x) leads back to the constraints.

use super::kept::{Section, multiplied};
use super::support_model::{Point, SupportModel, mask_of};
use orthopt_core::smooth::Quadratic;
use orthopt_core::smooth::measured::Small;
use orthopt_linalg::RowMat;
use orthopt_linalg::factor::transpose;
use orthopt_linalg::kernels::{self, axpy};
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
/// A pivot of JJᵀ below this share of the largest entry: the equation follows from others.
const DEPENDENT: f64 = 1e-13;
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
/// Equations whose JJᵀ is formed.
pub const EQUATIONS: usize = 1 << 14;
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

    /// Length of the gradient of f along the constraints on the support of X, in the unit of f.
    pub fn criticality(&self, x: &RowMat) -> Option<f64> {
        Some(Local::new(self, &mask_of(x)).criticality(x)? * self.unit())
    }
}

/// The columns of X on the rows that any of them may use.
pub(super) struct Local<'g, 'a, F> {
    model: &'g SupportModel<'a, F>,
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
        let (n, r) = model.shape();
        let rows: Vec<usize> = (0..n).filter(|i| mask[i * r..(i + 1) * r].contains(&true)).collect();
        let free = |a: usize, k: usize| mask[rows[a] * r + k];
        let supports: Vec<Vec<usize>> =
            (0..r).map(|k| (0..rows.len()).filter(|a| free(*a, k)).collect()).collect();
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
        Self { model, rows, c, c2, supports, equations, in_column, full, sparse }
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

    /// The rows of X that are examined, with zeros outside the supports.
    fn gather(&self, x: &RowMat) -> RowMat {
        let mut out = RowMat::zeros(self.rows.len(), x.ncols());
        for (k, support) in self.supports.iter().enumerate() {
            support.iter().for_each(|a| out.set(*a, k, x.get(self.rows[*a], k)));
        }
        out
    }

    fn scatter(&self, x: &RowMat) -> RowMat {
        let mut out = RowMat::zeros(self.model.shape().0, x.ncols());
        self.rows.iter().enumerate().for_each(|(a, i)| out.row_mut(*i).copy_from_slice(x.row(a)));
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
        let s = self.crossed(&x, &m).symmetric_part();
        let w = if self.model.squares() {
            self.crossed(&x, &self.second(&x)).symmetric_part()
        } else {
            RowMat::zeros(0, 0)
        };
        let r = x.ncols();
        count(8 * r * r * r);
        let sizes = self.sizes(&x);
        let (value, q, p) = small.weights(self.model.measure, (s.data(), w.data()), &sizes);
        At { x, m, system: None, value, q, p }
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

    /// Half of what the value loses, to first order, for each unit of entry (i, k), as column k must then get back to its relations to the
    /// others: the part of Jᵀy at the best X on the supports that is not of lengths, on all rows. `None` where there is no such relation.
    pub fn prices(&self, x: &RowMat) -> Option<RowMat> {
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
    pub fn climb(&self, x: &RowMat, (steps, least): (usize, f64), above: f64) -> Option<(f64, RowMat)> {
        let r = x.ncols();
        let mut small = Small::new(r, self.model.given);
        let (x, m) = self.retract(self.gather(x), None)?;
        let mut at = self.at(x, m, &mut small);
        let Some(mut g) = self.tangent(&mut at) else { return Some((at.value, self.scatter(&at.x))) };
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
        Some((at.value, self.scatter(&at.x)))
    }
}

/// Numbers from which on vectors are filled.
const VECTORS: usize = 32;

/// ⟨a, b⟩ of vectors that are mostly short.
fn inner(a: &[f64], b: &[f64]) -> f64 {
    if a.len() >= VECTORS { kernels::inner(a, b) } else { a.iter().zip(b).map(|(a, b)| a * b).sum() }
}

/// JJᵀ of the equations, factored.
struct Normal {
    q: usize,
    l: Vec<f64>,       // unit lower L of LDLᵀ by rows
    d: Vec<f64>,       // 0 for equations that follow from others
    first: Vec<usize>, // before it a row of L is zero
}

impl Normal {
    /// `None` where it takes long and time is over, or more memory than 2 GB.
    fn new<F: Quadratic>(local: &Local<'_, '_, F>, x: &RowMat, m: &RowMat) -> Option<Self> {
        let q = local.equations.len();
        if q > EQUATIONS {
            return None;
        }
        let (mut l, first) = local.normal_matrix(x, m)?;
        let largest = (0..q).fold(0.0f64, |most, i| most.max(l[i * (q + 1)]));
        let mut d = vec![0.0; q];
        let mut flops = 0;
        for i in 0..q {
            if local.model.is_left(flops) {
                return None;
            }
            let (above, own) = l.split_at_mut(i * q);
            // w = row i of LD, then of L
            for j in first[i]..i {
                let from = first[i].max(first[j]);
                let (w, row) = (&own[from..j], &above[j * q + from..j * q + j]);
                own[j] -= inner(w, row);
                flops += j - from + 1;
            }
            let mut pivot = own[i];
            for j in first[i]..i {
                let w = own[j];
                own[j] = if d[j] > 0.0 { w / d[j] } else { 0.0 };
                pivot -= w * own[j];
            }
            d[i] = if pivot > DEPENDENT * largest { pivot } else { 0.0 };
        }
        count(flops);
        Some(Self { q, l, d, first })
    }

    /// A solution of JJᵀy = `b`, which is in its range.
    fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        let row = |i: usize| &self.l[i * self.q + self.first[i]..i * self.q + i];
        for i in 0..self.q {
            b[i] -= inner(row(i), &b[self.first[i]..i]);
        }
        for (b, d) in b.iter_mut().zip(&self.d) {
            *b = if *d > 0.0 { *b / d } else { 0.0 };
        }
        for i in (0..self.q).rev() {
            let (before, after) = b.split_at_mut(i);
            row(i).iter().zip(&mut before[self.first[i]..]).for_each(|(l, b)| *b -= after[0] * l);
        }
        b
    }
}

/// The order of Cuthill and McKee of columns that meet, and equations in the order in which it completes them: a row of their LDLᵀ then
/// begins near its diagonal.
fn near_each_other(mut equations: Vec<Equation>, r: usize) -> Vec<Equation> {
    let mut neighbours = vec![Vec::new(); r];
    for e in equations.iter().filter(|e| e.a != e.b) {
        neighbours[e.a].push(e.b);
        neighbours[e.b].push(e.a);
    }
    let degree = |k: &usize| neighbours[*k].len();
    let (mut place, mut queue) = (vec![usize::MAX; r], Vec::with_capacity(r));
    let mut seeds: Vec<usize> = (0..r).collect();
    seeds.sort_by_key(degree);
    for seed in seeds {
        let mut next = queue.len();
        if place[seed] == usize::MAX {
            place[seed] = queue.len();
            queue.push(seed);
        }
        while next < queue.len() {
            let mut found = neighbours[queue[next]].clone();
            found.sort_by_key(degree);
            for k in found {
                if place[k] == usize::MAX {
                    place[k] = queue.len();
                    queue.push(k);
                }
            }
            next += 1;
        }
    }
    equations.sort_by_key(|e| (place[e.a].max(place[e.b]), place[e.a].min(place[e.b])));
    equations
}

impl<F: Quadratic> Local<'_, '_, F> {
    /// The lower half of JJᵀ by rows, and where each row begins: equations meet in a column, by the products of their other columns on
    /// its support. `None` where that takes long and time is over.
    fn normal_matrix(&self, x: &RowMat, m: &RowMat) -> Option<(Vec<f64>, Vec<usize>)> {
        let q = self.equations.len();
        let (mut l, mut first) = (vec![0.0; q * q], (0..q).collect::<Vec<usize>>());
        let (mut parts, mut flops) = (Vec::new(), q * q);
        for (support, list) in self.supports.iter().zip(&self.in_column) {
            if self.model.is_left(flops) {
                return None;
            }
            let size = support.len();
            let own = size * list.len() * list.len();
            count(own);
            flops += own;
            parts.clear();
            for (i, other) in list {
                let z = if self.equations[*i].scores { m } else { x };
                parts.extend(support.iter().map(|a| z.get(*a, *other)));
            }
            for (at, (i, _)) in list.iter().enumerate() {
                let u = &parts[at * size..(at + 1) * size];
                for (beside, (j, _)) in list.iter().enumerate().filter(|(_, (j, _))| j <= i) {
                    let sum = inner(u, &parts[beside * size..(beside + 1) * size]);
                    l[i * q + j] += sum;
                    if sum != 0.0 {
                        first[*i] = first[*i].min(*j);
                    }
                }
            }
        }
        Some((l, first))
    }
}

/// The equations of each column, and the other column of each; one of a column with itself is there twice.
fn in_columns(equations: &[Equation], r: usize) -> Vec<Vec<(usize, usize)>> {
    let mut out = vec![Vec::new(); r];
    for (i, e) in equations.iter().enumerate() {
        out[e.a].push((i, e.b));
        out[e.b].push((i, e.a));
    }
    out
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
            let plain = RowMat::from_fn(m, n, |_, _| rng.random_range(-1.0..1.0));
            let b = RowMat::from_fn(r, n, |_, _| rng.random_range(-1.0..1.0));
            let entry = |i: usize, j: usize| match seed % 4 {
                0 => plain.get(i, j),
                1 => plain.get(i, j / 2),
                2 => plain.get(i, j) * f64::from(u8::from(j != 5)),
                _ => (0..r).map(|l| plain.get(i, l) * b.get(l, j)).sum(),
            };
            let measure = [Measure::Adjusted, Measure::Polar, Measure::Variance][seed as usize / 4 % 3];
            let between = [Between::Orthogonal, Between::Uncorrelated][seed as usize / 12 % 2];
            let full = seed % 8 == 0;
            let mask: Vec<bool> =
                (0..n * r).map(|e| e / r < n - 2 && (full || (e / r + 3 * (e % r)) % 5 < 3)).collect();
            let x =
                RowMat::from_fn(n, r, |i, k| if mask[i * r + k] { rng.random_range(-1.0..1.0) } else { 0.0 });
            let found = |unit: f64| {
                let a = Mat::from_fn(m, n, |i, j| unit * entry(i, j));
                let f = Measured::new(DenseGram::new(a.as_ref()), measure).unwrap();
                let limits = Cardinality::Components(vec![n; r]);
                let p = MeasuredProblem::new(f, r, limits, 0.0, between).unwrap();
                let model = SupportModel::of(&p);
                let at =
                    model.polish(&x, &mask, LAST).filter(|at| at.x.data().iter().all(|v| v.is_finite()))?;
                let prices = Local::new(&model, &mask).prices(&at.x)?;
                let slope = model.gains(&at.x).at_prices(Some(prices.clone())).gradient();
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

    /// A climb that may end early is the whole one where that leads above the value, but for a few, and is on the constraints where it is not;
    /// data times a power of two give the same bits.
    #[test]
    fn few_climbs_that_lead_above_a_value_are_given_up() {
        let (m, n, r) = (14, 12, 4);
        let (mut above, mut lost, mut ended) = (0, 0, 0);
        for seed in 0..100u64 {
            let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
            let plain = RowMat::from_fn(m, n, |_, _| rng.random_range(-1.0..1.0));
            // columns that come twice, a column of zeros, and rank 3 too
            let b = RowMat::from_fn(3, n, |_, _| rng.random_range(-1.0..1.0));
            let entry = |i: usize, j: usize| match seed % 4 {
                0 => plain.get(i, j),
                1 => plain.get(i, j / 2),
                2 => plain.get(i, j) * f64::from(u8::from(j != 5)),
                _ => (0..3).map(|l| plain.get(i, l) * b.get(l, j)).sum(),
            };
            let mask: Vec<bool> = (0..n * r).map(|_| rng.random::<f64>() < 0.4).collect();
            let x =
                RowMat::from_fn(n, r, |i, k| if mask[i * r + k] { rng.random_range(-1.0..1.0) } else { 0.0 });
            let share = rng.random_range(0.9..1.1);
            let found = |unit: f64| {
                let a = Mat::from_fn(m, n, |i, j| unit * entry(i, j));
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
