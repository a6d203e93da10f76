//! The check of what is left on known supports: the boxes of the file hold every X on them, and their multipliers are
//! evaluated anew (docs/bounds-adjusted.md, section 3).

use super::certain::{cross, largest, rounding};
use super::lists::ScaledProblem;
use super::{Cell, Leaf, Multipliers, Refusal, Rows, matrix, refused};
use orthopt_linalg::RowMat;
use orthopt_linalg::cholesky;
use orthopt_linalg::products::times;

/// Slack of ranges, which are to rounding.
const RANGE: f64 = 1e-10;
/// Largest error of eigenvectors in the file.
const AXES: f64 = 1e-12;

/// Known supports and what does not depend on a box.
struct Known<'a> {
    a: RowMat,                // A'A ⪰ C on the rows of the supports
    c: RowMat,                // A'A as computed
    places: &'a [Vec<usize>], // of the supports among those rows
    shared: Vec<usize>,       // rows of two or more supports
    heads: usize,
    most: Vec<f64>,   // of the variance on each support
    values: Vec<f64>, // of C in the axes of the first support
    axes: RowMat,
}

/// Ranges of x₁'Cx₁, of |q'Ax| of each column and of the ratios of x₁ in its axes.
#[derive(Clone)]
struct Ranges {
    own: (f64, f64),
    columns: Vec<(f64, f64)>,
    ratios: Vec<(f64, f64)>,
}

/// A bound of what X on these supports has; as large as can be where the file has nothing on them.
pub fn bound(scaled: &ScaledProblem, supports: &[Vec<usize>], leaves: &[Leaf]) -> Result<f64, Refusal> {
    let heads = usize::from(scaled.has_order);
    let later = &supports[heads..];
    let holds = leaves.iter().any(|leaf| leaf.cells.iter().any(has_n));
    let mut most = f64::NEG_INFINITY;
    // without N the bound is the same in every order of the later columns
    for order in if holds { orders(later.len()) } else { vec![(0..later.len()).collect()] } {
        let mut placed = supports[..heads].to_vec();
        placed.extend(order.iter().map(|p| later[*p].clone()));
        let Some(leaf) = leaves.iter().find(|leaf| leaf.supports == placed) else { return Ok(f64::INFINITY) };
        most = most.max(of_order(scaled, leaf, heads)?);
    }
    Ok(most)
}

fn has_n(cell: &Cell) -> bool {
    cell.multipliers.as_ref().is_some_and(|multipliers| !multipliers.n.is_empty())
}

/// All orders of so many.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let with = |order: Vec<usize>| (0..count).map(move |at| [&order[..at], &[last], &order[at..]].concat());
    orders(last).into_iter().flat_map(with).collect()
}

fn of_order(scaled: &ScaledProblem, leaf: &Leaf, heads: usize) -> Result<f64, Refusal> {
    if leaf.cut.is_nan() || leaf.cut > scaled.cut {
        return refused("a leaf takes for granted more than the best X has");
    }
    let mut rows: Vec<usize> = leaf.supports.concat();
    rows.sort_unstable();
    rows.dedup();
    let place = |i: &usize| rows.partition_point(|j| j < i);
    let places: Vec<Vec<usize>> = leaf.supports.iter().map(|set| set.iter().map(place).collect()).collect();
    let known = Known::new(scaled, &rows, &places, heads, &leaf.axes)?;
    let has_ratios =
        leaf.cells.iter().any(|cell| cell.multipliers.as_ref().is_some_and(|m| !m.mu.is_empty()));
    let ranges = known.ranges(scaled, leaf.cut, has_ratios)?;
    known.cell(&leaf.cells, 0, ranges)
}

impl<'a> Known<'a> {
    fn new(
        scaled: &ScaledProblem,
        rows: &[usize],
        places: &'a [Vec<usize>],
        heads: usize,
        axes: &Rows,
    ) -> Result<Self, Refusal> {
        let m = rows.len();
        let trace: f64 = rows.iter().map(|i| scaled.c.get(*i, *i)).sum();
        let shift = 4.0 * rounding(m + 4) * trace.max(f64::MIN_POSITIVE);
        let raised =
            RowMat::from_fn(m, m, |i, j| scaled.c.get(rows[i], rows[j]) + if i == j { shift } else { 0.0 });
        let Some(l) = cholesky::cholesky(&raised) else {
            return refused("C has no Cholesky factor on a leaf");
        };
        let a = RowMat::from_fn(m, m, |i, j| l.get(j, i));
        let c = cross(&a, &a).symmetric_part();
        let number = |i: &usize| places.iter().filter(|set| set.contains(i)).count();
        let shared = (0..m).filter(|i| number(i) > 1).collect();
        let off = rounding(m + 2) * a.norm().powi(2);
        let of = |set: &Vec<usize>| largest(&part(&c, set), off);
        let Some(most) = places.iter().map(of).collect::<Option<Vec<f64>>>() else {
            return refused("an eigenvalue is not finite");
        };
        let first = &places[0];
        let Some(axes) = matrix(axes, first.len(), Some(first.len())) else {
            return refused("the axes of a leaf have another size");
        };
        let block = part(&c, first);
        let (image, square) = (times(&block, &axes), cross(&axes, &axes));
        let values: Vec<f64> = (0..first.len())
            .map(|k| (0..first.len()).map(|i| axes.get(i, k) * image.get(i, k)).sum())
            .collect();
        let k = first.len();
        let wrong = RowMat::from_fn(k, k, |i, j| image.get(i, j) - axes.get(i, j) * values[j]).norm();
        let bent = RowMat::from_fn(k, k, |i, j| square.get(i, j) - f64::from(u8::from(i == j))).norm();
        // NaN is no small number
        let fits = wrong <= AXES * k as f64 * block.norm() && bent <= AXES * k as f64;
        match fits && values.iter().all(|v| *v <= values[0] * (1.0 + RANGE)) {
            true => Ok(Self { a, c, places, shared, heads, most, values, axes }),
            false => refused("the axes of a leaf are no eigenvectors"),
        }
    }

    fn r(&self) -> usize {
        self.places.len()
    }

    /// Ranges that hold for every X with more than `cut`.
    fn ranges(&self, scaled: &ScaledProblem, cut: f64, has_ratios: bool) -> Result<Ranges, Refusal> {
        let (up, down) = (1.0 + RANGE, 1.0 - RANGE);
        let own = scaled.own_order;
        let cap = |j: usize| up * if own { self.most[j].min(self.most[0] * up) } else { self.most[j] };
        let caps: Vec<f64> = (0..self.r()).map(cap).collect();
        let all: f64 = caps.iter().sum();
        let least = |j: usize| down * (cut - up * (all - caps[j])).max(0.0);
        let share = if own { cut / self.r() as f64 } else { 0.0 };
        let first = (least(0).max(down * share) * down, caps[0] * up);
        let columns = (0..self.r()).map(|j| (least(j).sqrt(), (caps[j] * up).sqrt())).collect();
        let mut ranges = Ranges { own: first, columns, ratios: Vec::new() };
        if has_ratios {
            let second = self.values[1..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if self.heads == 0 || first.0 <= second * (1.0 + 1e-7) {
                return refused("a leaf has ratios that are not bounded");
            }
            let reach = ((first.1 - first.0).max(0.0) / (first.0 - second)).sqrt() * 1.0001 + 1e-9;
            ranges.ratios = vec![(-reach, reach); self.values.len() - 1];
        }
        Ok(self.narrowed(ranges))
    }

    /// The range of x₁'Cx₁ that the ratios leave.
    fn narrowed(&self, mut ranges: Ranges) -> Ranges {
        if ranges.ratios.is_empty() {
            return ranges;
        }
        let (first, others) = (self.values[0], &self.values[1..]);
        let second = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let last = others.iter().copied().fold(f64::INFINITY, f64::min);
        let holds_zero = |(l, h): &(f64, f64)| *l <= 0.0 && *h >= 0.0;
        let nearest =
            |range: &(f64, f64)| if holds_zero(range) { 0.0 } else { range.0.powi(2).min(range.1.powi(2)) };
        let low: f64 = ranges.ratios.iter().map(nearest).sum();
        let high: f64 = ranges.ratios.iter().map(|(l, h)| (l * l).max(h * h)).sum();
        let slack = RANGE * first.abs();
        ranges.own.0 = ranges.own.0.max((first + last * high) / (1.0 + high) - slack);
        ranges.own.1 = ranges.own.1.min((first + second * low) / (1.0 + low) + slack);
        ranges
    }

    fn is_empty(&self, ranges: &Ranges) -> bool {
        let none = |range: &(f64, f64)| range.0 > range.1;
        (self.heads == 1 && none(&ranges.own)) || ranges.columns[self.heads..].iter().any(none)
    }

    /// A bound over a box: of its own multipliers, or of both parts.
    fn cell(&self, cells: &[Cell], at: usize, ranges: Ranges) -> Result<f64, Refusal> {
        if self.is_empty(&ranges) {
            return Ok(f64::NEG_INFINITY);
        }
        let Some(cell) = cells.get(at) else { return refused(format!("box {at} of a leaf is missing")) };
        let own = match &cell.multipliers {
            Some(multipliers) => self.of_multipliers(&ranges, multipliers)?,
            None => f64::INFINITY,
        };
        let Some(split) = &cell.split else { return Ok(own) };
        if split.below <= at || split.above <= at {
            return refused(format!("box {at} of a leaf is not before its parts"));
        }
        let (mut below, mut above) = (ranges.clone(), ranges);
        let r = self.r();
        for (part, is_below) in [(&mut below, true), (&mut above, false)] {
            let range = match split.range {
                0 => Some(&mut part.own),
                p if p <= r => part.columns.get_mut(p - 1),
                p => part.ratios.get_mut(p - 1 - r),
            };
            let Some(range) = range else { return refused(format!("box {at} of a leaf divides nothing")) };
            if !split.at.is_finite() {
                return refused(format!("box {at} of a leaf is divided at no number"));
            }
            if is_below { range.1 = split.at.min(range.1) } else { range.0 = split.at.max(range.0) }
        }
        let below = self.cell(cells, split.below, self.narrowed(below))?;
        let above = self.cell(cells, split.above, self.narrowed(above))?;
        Ok(own.min(below.max(above)))
    }

    /// Bound that the multipliers prove over the ranges. Factors are exact as they are stored, A times them as it is
    /// computed.
    fn of_multipliers(&self, ranges: &Ranges, written: &Multipliers) -> Result<f64, Refusal> {
        let m = self.a.nrows();
        let Some(given) = Given::read(written, self) else {
            return refused("multipliers of a leaf have another size, or values that are not finite");
        };
        let rounding = 4.0 * rounding(4 * m + 16);
        let size = 1.0 + given.size;
        let mut value = given.trace * (1.0 + rounding);
        let too_large = || refused("an eigenvalue of a leaf is not finite");
        if self.heads == 1 {
            let (alpha, beta) = (ranges.own.0.max(0.0), ranges.own.1.max(f64::MIN_POSITIVE));
            let a = columns_of(&self.a, &self.places[0]);
            let (kappa, long) = (written.kappa, a.norm());
            let image = cross(&a, &given.factor);
            let mut b = part(&self.c, &self.places[0]);
            b.data_mut().iter_mut().for_each(|v| *v *= 1.0 + kappa);
            let turned = RowMat::from_fn(image.ncols(), image.nrows(), |i, j| image.get(j, i));
            add(&mut b, -1.0 / beta, &times(&image, &turned));
            add(&mut b, -1.0, &self.on_support(given.w.as_ref(), 0));
            let mut of_ratios = 0.0;
            for (k, (range, mu)) in ranges.ratios.iter().zip(&written.mu).enumerate() {
                let form = self.ratio_form(k, *range);
                of_ratios += mu * (form.norm() + 8.0);
                add(&mut b, *mu, &form);
            }
            let off = rounding
                * ((1.0 + kappa) * long * long + long * long * given.m.norm() / beta + size + of_ratios);
            let Some(found) = largest(&b.symmetric_part(), off) else { return too_large() };
            value += found - kappa * alpha;
        }
        for j in self.heads..self.r() {
            let a = columns_of(&self.a, &self.places[j]);
            let (long, k) = (a.norm(), a.ncols());
            let before = given.n.iter().take(j.saturating_sub(1));
            let mut taken_from = given.m.clone();
            before.for_each(|n| add(&mut taken_from, 1.0, n));
            let own = j.checked_sub(1).and_then(|i| given.n.get(i)).filter(|_| self.heads == 1);
            if given.w.is_none() && own.is_none() {
                let turned = RowMat::from_fn(k, m, |i, l| a.get(l, i));
                let mut b = times(&a, &turned);
                add(&mut b, -1.0, &taken_from);
                let Some(found) = largest(&b.symmetric_part(), rounding * (long * long + size)) else {
                    return too_large();
                };
                value += found;
                continue;
            }
            let (l, h) = ranges.columns[j];
            let (c, delta) = (0.5 * (l + h), written.delta[j]);
            let mut taken = self.on_support(given.w.as_ref(), j);
            if let Some(n) = own {
                add(&mut taken, 1.0 / self.most[j].max(f64::MIN_POSITIVE), &cross(&a, &times(n, &a)));
            }
            let b = RowMat::from_fn(m + k, m + k, |x, y| {
                let shift = if x == y { delta } else { 0.0 };
                match (x < m, y < m) {
                    (true, true) => shift - taken_from.get(x, y),
                    (false, false) => -taken.get(x - m, y - m) - shift,
                    (true, false) => c * a.get(x, y - m),
                    (false, true) => c * a.get(y, x - m),
                }
            });
            let by_n = own.map_or(0.0, |n| long * long * n.norm() / self.most[j].max(f64::MIN_POSITIVE));
            let off = rounding * (size + by_n + c * long + delta.abs());
            let Some(found) = largest(&b.symmetric_part(), off) else { return too_large() };
            value += 2.0 * found - l * h + rounding * h * h;
        }
        Ok(value + rounding * (value.abs() + size))
    }

    /// W on a support, zero where a row is not shared.
    fn on_support(&self, w: Option<&RowMat>, j: usize) -> RowMat {
        let set = &self.places[j];
        let place = |i: usize| self.shared.iter().position(|s| *s == i);
        RowMat::from_fn(set.len(), set.len(), |a, b| match (w, place(set[a]), place(set[b])) {
            (Some(w), Some(x), Some(y)) => w.get(x, y),
            _ => 0.0,
        })
    }

    /// The symmetric part of 2(v_k − lv_1)(hv_1 − v_k)'/(h − l), whose form is not negative at an x₁ with its ratio in [l, h].
    fn ratio_form(&self, k: usize, (l, h): (f64, f64)) -> RowMat {
        let (v, size) = (&self.axes, self.axes.nrows());
        let low: Vec<f64> = (0..size).map(|i| v.get(i, k + 1) - l * v.get(i, 0)).collect();
        let high: Vec<f64> = (0..size).map(|i| h * v.get(i, 0) - v.get(i, k + 1)).collect();
        let width = (h - l).max(1e-9);
        RowMat::from_fn(size, size, |i, j| (low[i] * high[j] + high[i] * low[j]) / width)
    }
}

/// Multipliers as matrices.
struct Given {
    factor: RowMat, // L with M = LL'
    m: RowMat,
    n: Vec<RowMat>,
    w: Option<RowMat>,
    trace: f64,
    size: f64,
}

impl Given {
    fn read(written: &Multipliers, known: &Known<'_>) -> Option<Self> {
        let m = known.a.nrows();
        let numbers = written.delta.iter().chain(&written.mu).chain([&written.kappa]);
        let fits = written.delta.len() == known.r()
            && written.n.len() <= known.r().saturating_sub(2)
            && (known.heads == 1 || written.n.is_empty())
            && written.w.is_empty() == known.shared.is_empty()
            && (written.mu.is_empty() || (known.heads == 1 && written.mu.len() + 1 == known.values.len()))
            && written.kappa >= 0.0
            && written.mu.iter().all(|mu| *mu >= 0.0)
            && numbers.into_iter().all(|v| v.is_finite());
        fits.then_some(())?;
        // what A times a factor comes to is the factor
        let left = |rows: &Rows| Some(times(&known.a, &matrix(rows, m, None)?));
        let (factor, of_n) = (left(&written.m)?, written.n.iter().map(left).collect::<Option<Vec<_>>>()?);
        let of_w = match known.shared.len() {
            0 => None,
            shared => Some(matrix(&written.w, shared, None)?),
        };
        let squares = |l: &RowMat| l.data().iter().map(|v| v * v).sum::<f64>();
        let trace = squares(&factor) + of_n.iter().chain(&of_w).map(squares).sum::<f64>();
        let (m, n): (RowMat, Vec<RowMat>) = (outer(&factor), of_n.iter().map(outer).collect());
        let w = of_w.as_ref().map(outer);
        let size = m.norm() + n.iter().chain(&w).map(RowMat::norm).sum::<f64>();
        (trace + size).is_finite().then_some(Self { factor, m, n, w, trace, size })
    }
}

/// LL'.
fn outer(l: &RowMat) -> RowMat {
    let turned = RowMat::from_fn(l.ncols(), l.nrows(), |i, j| l.get(j, i));
    times(l, &turned).symmetric_part()
}

fn add(out: &mut RowMat, t: f64, m: &RowMat) {
    out.data_mut().iter_mut().zip(m.data()).for_each(|(o, v)| *o += t * v);
}

fn part(c: &RowMat, rows: &[usize]) -> RowMat {
    RowMat::from_fn(rows.len(), rows.len(), |i, j| c.get(rows[i], rows[j]))
}

fn columns_of(a: &RowMat, columns: &[usize]) -> RowMat {
    RowMat::from_fn(a.nrows(), columns.len(), |i, j| a.get(i, columns[j]))
}
