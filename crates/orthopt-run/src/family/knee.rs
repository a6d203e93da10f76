//! How many nonzeros a component gets if none is given: the knee of the variance explained against the
//! count, along a short path that costs little.

use std::collections::BTreeMap;

use orthopt_core::smooth::Quadratic;
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::{Cancel, is_over};
use orthopt_linalg::error::Result;
use orthopt_linalg::kernels::{axpy, inner};
use orthopt_linalg::message::Message;
use orthopt_linalg::small::symmetric_eigen;

/// Nonzeros of a component that the rule examines; it chooses one of them, not the first: more than 30 are hard to
/// read, and one is no component.
pub const COUNTS: &[usize] = &[1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30];
/// The count where the variance has no knee, but no more than half of the variables: a component of all is not sparse.
const NO_KNEE: usize = 10;
/// A curve that rises above its chord by less than this share of its range has no knee.
const FLAT: f64 = 0.05;

/// A count of nonzeros for each component, and what it was chosen from.
#[derive(Clone, Debug, PartialEq)]
pub struct Knee {
    /// The count.
    pub count: usize,
    /// True if the curve bends at the count.
    pub bends: bool,
    /// Counts, with the share of tr C that r components with so many nonzeros each explain, found greedily: the true
    /// ones are larger.
    pub shares: Vec<(usize, f64)>,
    /// Value of the last nonzeros of a component: the weight λ of ‖X‖₀ that equals their decrease of f. The problem
    /// with this λ shares nonzeros among the components as it likes.
    pub lambda: f64,
    /// True if all counts were examined.
    complete: bool,
}

impl Knee {
    /// Examines r components with 1 to 30 nonzeros each, grown greedily one after the other in what earlier ones leave
    /// of C. Cost about 60r products with vectors.
    ///
    /// # Errors
    /// The eigenvalue routine does not converge.
    pub fn of(f: &impl Quadratic, r: usize) -> Result<Self> {
        let trace = (-f.diagonal().iter().sum::<f64>()).max(f64::MIN_POSITIVE);
        let cancel = Cancel::current().unwrap_or_default();
        let rotated = Start::Varimax.point_while(f, r, (false, 0), &cancel)?;
        let mut columns = Columns { f, known: BTreeMap::new() };
        let counts = COUNTS.iter().copied().filter(|k| *k <= f.nrows());
        let most = NO_KNEE.min(f.nrows().div_ceil(2));
        let mut shares: Vec<(usize, f64)> = Vec::new();
        for k in counts {
            let Some(variance) = grown(&mut columns, &rotated, k) else {
                // a curve that was not examined to its end says nothing
                return Ok(Self { count: most, bends: false, shares, lambda: 0.0, complete: false });
            };
            shares.push((k, variance / trace));
        }
        let from = usize::from(shares.len() > 1);
        let points: Vec<_> = shares[from..].iter().map(|(k, v)| (*k as f64, *v)).collect();
        let found = knee(&points);
        let place = match found {
            Some(place) => from + place,
            None => shares.iter().rposition(|(k, _)| *k <= most).unwrap_or(0),
        };
        let (count, share) = shares[place];
        let before = place.checked_sub(1).map_or((0, 0.0), |before| shares[before]);
        let more = (count - before.0) as f64;
        let lambda = (0.5 * (share - before.1) * trace / (r as f64 * more)).max(0.0);
        Ok(Self { count, bends: found.is_some(), shares, lambda, complete: true })
    }

    /// Why this count, and how to ask for another.
    pub fn reason(&self) -> Message {
        let shown = |k: usize| k == self.count || [1, 2, 5, 10, 20, 30].contains(&k);
        let curve =
            self.shares.iter().filter(|s| shown(s.0)).map(|(k, v)| format!("{k}: {:.1} %", 100.0 * v));
        let curve = curve.collect::<Vec<_>>().join(", ");
        let why = if self.bends {
            format!("the knee of the variance explained ({curve})")
        } else if !self.complete {
            format!(
                "half of the variables, {NO_KNEE} at most, as there was no time to search for a knee of the variance explained"
            )
        } else {
            format!(
                "the variance explained ({curve}) has no knee, and of the numbers looked at it is the largest up to \
                 {NO_KNEE} and up to half of the variables"
            )
        };
        let rule = format!("{} nonzeros in each component: {why}; ", self.count);
        let rule = Message::from(rule).option("nonzeros").text(" sets another number");
        if !self.complete {
            return rule;
        }
        rule.text("; the last ones correspond to ")
            .set("lambda", super::lambda::three_digits(self.lambda).to_string())
    }
}

/// The point of a rising curve that is furthest above the chord from its first point to its last one, both
/// axes counted as shares of their range; `None` where the curve is a straight line, or bends the other way.
pub fn knee(points: &[(f64, f64)]) -> Option<usize> {
    let (first, last) = (points.first()?, points.last()?);
    let (width, height) = (last.0 - first.0, last.1 - first.1);
    if !(width > 0.0 && height > 0.0) {
        return None;
    }
    let above = |p: &(f64, f64)| (p.1 - first.1) / height - (p.0 - first.0) / width;
    let best = (0..points.len()).fold(0, |b, i| if above(&points[i]) > above(&points[b]) { i } else { b });
    (above(&points[best]) >= FLAT).then_some(best)
}

/// Columns of C, each computed once.
struct Columns<'a, F> {
    f: &'a F,
    known: BTreeMap<usize, Vec<f64>>,
}

impl<F: Quadratic> Columns<'_, F> {
    fn column(&mut self, i: usize) -> &[f64] {
        let Self { f, known } = self;
        // f = −½⟨x, Cx⟩
        known.entry(i).or_insert_with(|| f.column(i).iter().map(|v| -v).collect())
    }
}

/// Span of the earlier components: an orthonormal basis Q of them, and CQ.
#[derive(Default)]
struct Taken {
    q: Vec<Vec<f64>>,
    cq: Vec<Vec<f64>>,
}

impl Taken {
    /// (I − QQᵀ)v.
    fn without(&self, mut v: Vec<f64>) -> Vec<f64> {
        for q in &self.q {
            axpy(-inner(q, &v), q, &mut v);
        }
        v
    }

    /// One vector more, the part of v that is new, from v and Cv; nothing where there is no such part.
    fn add(&mut self, mut v: Vec<f64>, mut cv: Vec<f64>) {
        for (q, cq) in self.q.iter().zip(&self.cq) {
            let share = inner(q, &v);
            axpy(-share, q, &mut v);
            axpy(-share, cq, &mut cv);
        }
        let length = inner(&v, &v).sqrt();
        if length > 1e-8 {
            v.iter_mut().chain(&mut cv).for_each(|e| *e /= length);
            self.q.push(v);
            self.cq.push(cv);
        }
    }

    /// Column i of D = (I − QQᵀ)C(I − QQᵀ) from that of C.
    fn column(&self, i: usize, of_c: &[f64]) -> Vec<f64> {
        let mut column = of_c.to_vec();
        for (q, cq) in self.q.iter().zip(&self.cq) {
            axpy(-q[i], cq, &mut column);
        }
        self.without(column)
    }
}

/// Variance of as many components as `rotated` has, with `count` nonzeros each; `None` if cancelled.
fn grown<F: Quadratic>(columns: &mut Columns<'_, F>, rotated: &RowMat, count: usize) -> Option<f64> {
    let (n, mut taken, mut variance) = (rotated.nrows(), Taken::default(), 0.0);
    for k in 0..rotated.ncols() {
        if is_over() {
            return None;
        }
        let direction = taken.without((0..n).map(|i| rotated.get(i, k)).collect());
        let Some((value, support, x)) = one(columns, &taken, &direction, count) else { continue };
        variance += value;
        let (mut dense, mut image) = (vec![0.0; n], vec![0.0; n]); // x, and Cx from columns that are known
        for (i, x) in support.iter().zip(&x) {
            dense[*i] = *x;
            axpy(*x, columns.column(*i), &mut image);
        }
        taken.add(dense, image);
    }
    Some(variance)
}

/// The variance, the rows and the entries of one component of D: rows enter where the gradient Dx is largest, x the
/// leading eigenvector of D on those before.
fn one<F: Quadratic>(
    columns: &mut Columns<'_, F>,
    taken: &Taken,
    direction: &[f64],
    count: usize,
) -> Option<(f64, Vec<usize>, Vec<f64>)> {
    let n = direction.len();
    let (mut support, mut of_d): (Vec<usize>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    let (mut gradient, mut x, mut value) = (direction.to_vec(), Vec::new(), 0.0);
    let mut used = vec![false; n];
    for size in 1..=count {
        let free = (0..n).filter(|i| !used[*i]);
        let next = free.max_by(|a, b| gradient[*a].abs().total_cmp(&gradient[*b].abs()))?;
        used[next] = true;
        support.push(next);
        of_d.push(taken.column(next, columns.column(next)));
        let d = RowMat::from_fn(size, size, |i, j| 0.5 * (of_d[i][support[j]] + of_d[j][support[i]]));
        let (values, vectors) = symmetric_eigen(&d)?;
        value = values[size - 1].max(0.0);
        x = (0..size).map(|i| vectors.get(i, size - 1)).collect::<Vec<f64>>();
        gradient = vec![0.0; n];
        for (x, column) in x.iter().zip(&of_d) {
            axpy(*x, column, &mut gradient);
        }
    }
    Some((value, support, x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_core::smooth::DenseQuadratic;

    /// If cancelled there is no knee, and the words say so.
    #[test]
    fn time_that_is_over() {
        let a = faer::Mat::from_fn(30, 12, |i, j| ((i * (j + 3)) as f64 * 0.37).sin());
        let f = orthopt_core::smooth::DenseGram::new(a.as_ref());
        let all = Knee::of(&f, 3).unwrap();
        assert!(all.complete && all.shares.len() > 2);
        let over = Cancel::never();
        over.cancel();
        let none = over.during(|| Knee::of(&f, 3)).unwrap();
        assert_eq!((none.count, none.bends, none.shares.len()), (6, false, 0), "half of the variables");
        let (own, whole) = (none.reason().to_string(), all.reason().to_string());
        assert!(own.contains("there was no time to search for a knee") && !own.contains("lambda"), "{own}");
        assert!(!whole.contains("no time") && whole.contains("lambda"), "{whole}");
    }

    #[test]
    fn knee_is_where_the_curve_bends() {
        let bent: Vec<_> = (1..=20).map(|k| (f64::from(k), f64::from(k.min(6)))).collect();
        assert_eq!(knee(&bent), Some(5)); // k = 6
        let straight: Vec<_> = (1..=20).map(|k| (f64::from(k), 3.0 * f64::from(k))).collect();
        assert_eq!(knee(&straight), None);
        let convex: Vec<_> = (1..=20).map(|k| (f64::from(k), f64::from(k * k))).collect();
        assert_eq!(knee(&convex), None);
        assert_eq!(knee(&[(1.0, 2.0)]), None);
        assert_eq!(knee(&[]), None);
    }

    /// Curves without a knee: variables that have nothing in common, and as many components as variables, which explain all
    /// whatever the count is.
    #[test]
    fn no_knee_is_no_dense_component() {
        let diagonal = |n: usize| {
            let m = RowMat::from_fn(n, n, |i, j| if i == j { -1.0 } else { 0.0 });
            DenseQuadratic::new(m.as_mat()).unwrap()
        };
        for (n, r, count) in [(4, 2, 2), (4, 4, 2), (13, 3, 6), (40, 3, 10), (3, 1, 2), (1, 1, 1)] {
            let found = Knee::of(&diagonal(n), r).unwrap();
            assert_eq!((found.count, found.bends), (count, false), "{n} x {r}: {:?}", found.shares);
            let said = found.reason().to_string();
            assert!(said.contains("has no knee") && said.contains("up to half of the variables"), "{said}");
        }
    }

    /// C = Σ 10·uᵤᵀ + 0.1 I with three blocks of 6 among 40 variables.
    #[test]
    fn blocks_are_counted() {
        let block = |i: usize| if i < 18 { i / 6 } else { 100 + i };
        let c = RowMat::from_fn(40, 40, |i, j| {
            f64::from(u8::from(block(i) == block(j))) * 10.0 + f64::from(u8::from(i == j)) * 0.1
        });
        let m = RowMat::from_fn(40, 40, |i, j| -c.get(i, j));
        let f = DenseQuadratic::new(m.as_mat()).unwrap();
        let found = Knee::of(&f, 3).unwrap();
        assert_eq!(found.count, 6, "{:?}", found.shares);
        // one entry of each of three blocks, then whole blocks
        let trace = 40.0 * 10.1;
        let share = |k: usize| found.shares.iter().find(|s| s.0 == k).unwrap().1;
        assert!((share(1) - 30.3 / trace).abs() < 1e-12);
        assert!((share(6) - 3.0 * 60.1 / trace).abs() < 1e-12);
        assert!(found.shares.windows(2).all(|w| w[1].1 >= w[0].1 - 1e-12));
        assert!((found.lambda - 5.0).abs() < 1e-9, "half the 10 that another entry of a block adds");
    }
}
