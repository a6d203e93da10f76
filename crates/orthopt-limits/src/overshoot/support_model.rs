//! The moves: entries pruned by their exact loss, added by their exact gain, exchanged, and added to be pruned again.

use std::cell::RefCell;

use super::common::regrouped;
use super::kept::{Kept, Section};
use super::local::{Local, Products};
use crate::problem::{CardinalityProblem, MeasuredProblem};
use orthopt_core::objective::lowers;
use orthopt_core::problem::{Between, Cardinality};
use orthopt_core::smooth::Measure;
use orthopt_core::smooth::Quadratic;
use orthopt_core::smooth::measured::{Covariance, Gains};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::long::is_long;
use orthopt_linalg::order::{descending_to, largest_first, select_largest};
use orthopt_linalg::products::{cross, product};

/// Entries up to this in absolute value are on their way to zero.
const ZERO: f64 = 1e-11;
/// Share of the value that they may take along.
const CLEAN: f64 = 1e-11;
/// Share of the entries too many that leave between two polishes, and of those there are that enter.
const AT_ONCE: f64 = 0.15;
/// Entries that are tried one by one where all of them together leave no feasible point.
const ONE_BY_ONE: usize = 12;
/// Entries of least loss that an exchange tries to do without, and those of most gain that it tries for each.
const LEAVING: usize = 12;
pub(super) const ENTERING: usize = 4;
/// An entry is tried where its gain before the others follow leaves at most this share of the value to be made up.
const BEHIND: f64 = 0.02;
/// Least gain of an exchange, and rounding, as shares of the size of the value.
pub(super) const WORTH: f64 = 1e-9;
const ROUNDING: f64 = 1e-13;
/// Entries outside the supports whose gains are computed, those with the largest gradient.
const CANDIDATES: usize = 512;
/// Work between two checks of the clock.
const CLOCK: usize = 10_000_000;

/// Steps of a polish, and the share of the value that three in a row must bring: in passing, before an entry is believed, of a
/// point that stays, and at the end.
pub(super) const PASSING: (usize, f64) = (25, 1e-7);
const BRIEF: (usize, f64) = (6, 1e-6);
pub(super) const GROWING: (usize, f64) = (40, 1e-8);
pub(super) const STAYING: (usize, f64) = (200, 1e-11);
pub(super) const LAST: (usize, f64) = (1000, 1e-15);

/// The objective that is maximised, with its limits.
pub struct SupportModel<'a, F> {
    f: &'a F,
    pub(super) cov: &'a Covariance,
    pub(super) measure: Measure,
    pub(super) given: bool, // adjusted variance in the order of the columns
    rank: usize,
    between: Between,
    limits: Limits,
    price: f64,     // of a nonzero, in the unit of C
    cancel: Cancel, // once it is over the limits are met without polishing
    kept: RefCell<Kept>,
}

/// Limits of nonzeros.
#[derive(Clone, Debug)]
pub enum Limits {
    /// Of each component.
    Each(Vec<usize>),
    /// Of all together, with the least and the most of one component.
    Total(usize, usize, usize),
}

impl Limits {
    fn of(limits: &Cardinality, least: usize, most: usize) -> Self {
        match limits {
            Cardinality::Components(list) => Self::Each(list.clone()),
            Cardinality::Total(total) | Cardinality::Rows(total) => Self::Total(*total, least, most),
        }
    }

    fn excess(&self, counts: &[usize]) -> usize {
        match self {
            Self::Each(most) => counts.iter().zip(most).map(|(c, s)| c.saturating_sub(*s)).sum(),
            Self::Total(total, _, most) => {
                let above: usize = counts.iter().map(|c| c.saturating_sub(*most)).sum();
                above.max(counts.iter().sum::<usize>().saturating_sub(*total))
            }
        }
    }

    /// True if component k has to lose an entry before the limits hold, or may lose one to that end.
    fn may_lose(&self, counts: &[usize], k: usize) -> bool {
        match self {
            Self::Each(most) => counts[k] > most[k],
            Self::Total(total, least, most) => {
                let rest = counts.iter().sum::<usize>() > *total;
                counts[k] > *most || (rest && counts[k] > *least)
            }
        }
    }

    fn least(&self) -> usize {
        match self {
            Self::Each(_) => 1,
            Self::Total(_, least, _) => *least,
        }
    }

    fn may_gain(&self, counts: &[usize], k: usize) -> bool {
        match self {
            Self::Each(most) => counts[k] < most[k],
            Self::Total(total, _, most) => counts.iter().sum::<usize>() < *total && counts[k] < *most,
        }
    }

    /// Nonzeros of a component where one after the other gets its share.
    pub fn shares(&self, r: usize) -> Vec<usize> {
        match self {
            Self::Each(most) => most.clone(),
            Self::Total(total, least, most) => vec![(total / r).clamp(*least, *most).max(1); r],
        }
    }
}

/// X on supports that may have zeros, and the measure of it in the unit of the search.
#[derive(Clone, Debug)]
pub struct Point {
    /// X.
    pub x: RowMat,
    /// By rows.
    pub mask: Vec<bool>,
    /// Value of the measure.
    pub value: f64,
}

impl Point {
    pub(super) fn counts(&self) -> Vec<usize> {
        counts(&self.mask, self.x.ncols())
    }
}

fn counts(mask: &[bool], r: usize) -> Vec<usize> {
    let mut out = vec![0; r];
    mask.iter().enumerate().for_each(|(e, free)| out[e % r] += usize::from(*free));
    out
}

/// Which entries differ from zero.
pub(super) fn mask_of(x: &RowMat) -> Vec<bool> {
    x.data().iter().map(|v| *v != 0.0).collect()
}

fn masked(x: &RowMat, mask: &[bool]) -> RowMat {
    let mut x = x.clone();
    x.data_mut().iter_mut().zip(mask).filter(|(_, free)| !**free).for_each(|(v, _)| *v = 0.0);
    x
}

impl<'a, F: Quadratic> SupportModel<'a, F> {
    /// That of a problem, until the run of this thread is cancelled.
    pub fn of(p: &'a MeasuredProblem<F>) -> Self {
        let cov = p.f.covariance();
        let limits = Limits::of(p.limits(), p.share().min, p.share().max);
        let what = (p.f.measure(), p.between(), limits);
        Self { given: p.f.is_in_given_order(), ..Self::new(p.f.quadratic(), cov, p.rank(), what, p.lambda()) }
    }

    /// That of variance under limits of nonzeros.
    pub fn of_variance(p: &'a CardinalityProblem<F>, cov: &'a Covariance) -> Self {
        let limits = Limits::of(p.limits(), 1, p.nrows());
        Self::new(&p.f, cov, p.rank(), (Measure::Variance, Between::Orthogonal, limits), p.lambda())
    }

    fn new(
        f: &'a F,
        cov: &'a Covariance,
        rank: usize,
        (measure, between, limits): (Measure, Between, Limits),
        lambda: f64,
    ) -> Self {
        let price = 2.0 * lambda / cov.unit();
        let cancel = Cancel::current().unwrap_or_default();
        let kept = RefCell::default();
        Self { f, cov, measure, given: false, rank, between, limits, price, cancel, kept }
    }

    /// This model with a clock: once `cancel` is over, it returns a point on the constraints without polishing it.
    pub fn until(self, cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// Who waits.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// True if time is over.
    pub fn is_over(&self) -> bool {
        self.cancel.is_over()
    }

    /// True if time is over before a step of so much work, a long one.
    pub(super) fn is_left(&self, work: usize) -> bool {
        is_long(work) && self.is_over()
    }

    /// Candidates whose exact values are computed from one check of the clock to the next.
    fn between_checks(&self) -> usize {
        let r = self.rank;
        let cost = if self.measure == Measure::Adjusted { r * r } else { r * r * r };
        (CLOCK / cost.max(1)).clamp(1, CANDIDATES)
    }

    /// This model with variance as the measure.
    pub fn for_variance(&self) -> Self {
        let (limits, cancel, kept) = (self.limits.clone(), self.cancel.clone(), self.kept.clone());
        Self { measure: Measure::Variance, limits, cancel, kept, ..*self }
    }

    /// Variance between orthogonal components, whose scores may be correlated.
    pub fn for_orthogonal(&self) -> Self {
        Self { between: Between::Orthogonal, ..self.for_variance() }
    }

    /// One component on another covariance matrix, for variance, or for explained variance where that is the measure.
    pub fn alone<'b>(&self, f: &'b F, cov: &'b Covariance, nonzeros: usize) -> SupportModel<'b, F> {
        let measure = if self.squares() { Measure::Explained } else { Measure::Variance };
        let (between, limits) = (Between::Orthogonal, Limits::Each(vec![nonzeros]));
        SupportModel {
            f,
            cov,
            measure,
            given: false,
            rank: 1,
            between,
            limits,
            price: 0.0,
            cancel: self.cancel.clone(),
            kept: RefCell::default(),
        }
    }

    /// C on some rows, in increasing order, where there are few enough to keep it.
    pub(super) fn block(&self, rows: &[usize]) -> Option<RowMat> {
        self.kept.borrow_mut().block((self.f, self.cov), rows)
    }

    /// C on some rows, in increasing order, for products with it.
    pub(super) fn section(&self, rows: &[usize]) -> Option<Section> {
        Section::of_samples((self.f, self.cov), rows).or_else(|| self.block(rows).map(Section::C))
    }

    /// −½ tr(XᵀCX).
    pub fn f(&self) -> &'a F {
        self.f
    }

    /// Rows and columns of X.
    pub fn shape(&self) -> (usize, usize) {
        (self.f.nrows(), self.rank)
    }

    /// Columns of X.
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// Divisor of C.
    pub fn unit(&self) -> f64 {
        self.cov.unit()
    }

    /// Relation between two components.
    pub fn between(&self) -> Between {
        self.between
    }

    /// The limits of nonzeros.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// True if C² is examined.
    pub fn squares(&self) -> bool {
        self.measure == Measure::Explained
    }

    /// True if every component has as many nonzeros as it must.
    pub fn meets(&self, x: &RowMat) -> bool {
        counts(&mask_of(x), self.rank).iter().all(|count| *count >= self.limits.least())
    }

    /// True if the first of two values is above the second by more than the share `least` of its size.
    pub fn raises(&self, new: f64, old: f64, least: f64) -> bool {
        lowers(-new, -old, self.cov.scale(self.rank), least)
    }

    /// The objective: the measure minus the price of the entries.
    pub fn worth(&self, at: &Point) -> f64 {
        at.value - self.price * at.mask.iter().filter(|free| **free).count() as f64
    }

    pub(super) fn gains(&self, x: &RowMat) -> Gains<'a> {
        Gains::new((self.f, self.cov), x, (self.measure, self.given))
    }

    /// The measure of X.
    pub fn value(&self, x: &RowMat) -> f64 {
        self.gains(x).value()
    }

    /// Gains and losses of single entries, less what getting back to the constraints costs.
    fn priced(&self, at: &Point) -> Gains<'a> {
        let alone = |row: &[bool]| row.iter().filter(|free| **free).count() < 2;
        if !self.between.is_uncorrelated() && at.mask.chunks(self.rank).all(alone) {
            return self.gains(&at.x); // the only constraints are lengths
        }
        self.gains(&at.x).at_shadow_prices(Local::new(self, &at.mask).shadow_prices(&at.x))
    }

    /// Losses of the entries of X, the least first, as values without them: those of `gains`, or where time is over before all are known
    /// those of entries that have nothing in common with others.
    pub(super) fn losses(&self, at: &Point, gains: Gains<'a>) -> Vec<(f64, usize)> {
        let inside: Vec<usize> = (0..at.mask.len()).filter(|e| at.mask[*e]).collect();
        let alone = |e: &usize| (at.value - self.cov.scale(1) * at.x.data()[*e].powi(2), *e);
        let mut all =
            self.losses_in_time(at, &inside, gains).unwrap_or_else(|| inside.iter().map(alone).collect());
        largest_first(&mut all);
        all
    }

    fn losses_in_time(
        &self,
        at: &Point,
        inside: &[usize],
        mut gains: Gains<'a>,
    ) -> Option<Vec<(f64, usize)>> {
        let r = self.rank;
        let mut all = Vec::with_capacity(inside.len());
        for some in inside.chunks(self.between_checks()) {
            if self.is_over() {
                return None;
            }
            let value = |e: &usize| Some((gains.without((e / r, e % r), at.x.data()[*e])?, *e));
            all.extend(some.iter().filter_map(value));
        }
        Some(all)
    }

    /// Values with each of the entries that are `allowed`, the best first, and what is entered.
    pub(super) fn entries(
        &self,
        mut gains: Gains<'a>,
        allowed: impl Fn(usize) -> bool,
    ) -> Vec<(f64, usize, f64)> {
        let r = self.rank;
        let g = gains.gradient();
        let mut outside: Vec<(f64, usize)> =
            (0..g.data().len()).filter(|e| allowed(*e)).map(|e| (g.data()[e].abs(), e)).collect();
        select_largest(&mut outside, CANDIDATES);
        let mut with: Vec<(f64, usize)> = Vec::new();
        let mut entered = std::collections::BTreeMap::new();
        let at_a_time = self.between_checks();
        for (count, (_, e)) in outside.into_iter().enumerate() {
            if count % at_a_time == 0 && self.is_over() {
                break;
            }
            let (value, entry) = gains.with((e / r, e % r), g.data()[e]);
            with.push((value, e));
            entered.insert(e, entry);
        }
        largest_first(&mut with);
        with.into_iter().map(|(value, e)| (value, e, entered[&e])).collect()
    }

    /// The point without its entries of rounding size, back on the constraints without them: where scores have hardly any variance
    /// their correlations see an entry of 1e-15. `None` where there are none, or they are needed.
    pub(super) fn without_dust(&self, at: &Point) -> Option<Point> {
        let (n, r) = self.shape();
        let mut mask = mask_of(&at.x);
        for k in 0..r {
            // as many as each column must have stay
            let order = descending_to(n, &|i| at.x.get(i, k).abs());
            let spare = order.into_iter().skip(self.limits.least());
            spare.filter(|i| at.x.get(*i, k).abs() <= ZERO).for_each(|i| mask[i * r + k] = false);
        }
        if mask == mask_of(&at.x) {
            return None;
        }
        let kept = |clean: &Point| !self.raises(at.value, clean.value, CLEAN) && self.meets(&clean.x);
        self.polish(&masked(&at.x, &mask), &mask, LAST).filter(kept)
    }

    /// True if the limits hold.
    pub(super) fn fits(&self, at: &Point) -> bool {
        self.limits.excess(&at.counts()) == 0
    }

    /// Entries of least exact loss leave, some at a time, until the limits hold and no entry costs more than it brings.
    pub fn prune(&self, mut at: Point) -> Option<Point> {
        let r = self.rank;
        loop {
            at.mask.iter_mut().zip(at.x.data()).for_each(|(free, v)| *free &= v.abs() > ZERO);
            at.x = masked(&at.x, &at.mask);
            let has = at.counts();
            if has.contains(&0) {
                return None;
            }
            let excess = self.limits.excess(&has);
            if excess == 0 && (self.price == 0.0 || self.is_over()) {
                break;
            }
            let losses = self.losses(&at, self.gains(&at.x));
            let worthless = losses.iter().filter(|(v, _)| v + self.price >= at.value).count();
            let share = if self.is_over() { 1.0 } else { AT_ONCE };
            let most = ((share * excess.max(worthless) as f64) as usize).max(1);
            let (mut mask, mut now, mut left) = (at.mask.clone(), has.clone(), Vec::new());
            for (value, e) in &losses {
                let k = e % r;
                let wanted = if excess > 0 {
                    self.limits.may_lose(&now, k)
                } else {
                    value + self.price >= at.value && now[k] > self.limits.least()
                };
                if now[k] > 1 && wanted && left.len() < most {
                    mask[*e] = false;
                    now[k] -= 1;
                    left.push(*e);
                }
            }
            if left.is_empty() {
                break;
            }
            let next = self.polish(&masked(&at.x, &mask), &mask, PASSING);
            let one_less = || (!self.is_over()).then(|| self.without_one(&at, &losses, &has, excess))?;
            at = match next.or_else(one_less) {
                Some(next) => next,
                None if excess == 0 => break, // dear entries that the constraints need
                None => return None,
            };
        }
        self.polish(&at.x, &at.mask, STAYING)
    }

    /// The first entry in the order of losses without which there is a feasible point.
    fn without_one(
        &self,
        at: &Point,
        losses: &[(f64, usize)],
        has: &[usize],
        excess: usize,
    ) -> Option<Point> {
        let fits =
            |e: &usize| has[e % self.rank] > 1 && (excess == 0 || self.limits.may_lose(has, e % self.rank));
        losses.iter().map(|loss| loss.1).filter(fits).take(ONE_BY_ONE).find_map(|e| {
            let mut mask = at.mask.clone();
            mask[e] = false;
            self.polish(&masked(&at.x, &mask), &mask, PASSING)
        })
    }

    /// Entries on rows that no component uses, those of most exact gain first and some at a time, while the limits allow it and it
    /// pays.
    pub fn fill(&self, mut at: Point) -> Option<Point> {
        while let Some(next) = self.entered(&at, AT_ONCE).or_else(|| self.entered(&at, 0.0)) {
            at = next;
        }
        self.polish(&at.x, &at.mask, STAYING)
    }

    /// The slow twin of [`fill`](Self::fill).
    #[cfg(test)]
    pub fn fill_one_by_one(&self, mut at: Point) -> Option<Point> {
        while let Some(next) = self.entered(&at, 0.0) {
            at = next;
        }
        self.polish(&at.x, &at.mask, STAYING)
    }

    /// X with this share of the entries that it has more, one at least; `None` where that does not pay.
    fn entered(&self, at: &Point, share: f64) -> Option<Point> {
        let r = self.rank;
        let mut has = at.counts();
        let mut open: Vec<bool> = (0..r).map(|k| self.limits.may_gain(&has, k)).collect();
        // those that have fewer than they must come first, whatever it brings
        let short: Vec<bool> = (0..r).map(|k| open[k] && has[k] < self.limits.least()).collect();
        let must = short.contains(&true);
        if must {
            open = short;
        }
        if !open.contains(&true) || (self.is_over() && !must) {
            return None;
        }
        // gains beside few entries say little of many that enter together
        let all: usize = has.iter().sum();
        let most = if must { 1 } else { ((share * all as f64) as usize).max(1) };
        let mut used: Vec<bool> = at.mask.chunks(r).map(|row| row.contains(&true)).collect();
        let entries = self.entries(self.gains(&at.x), |e| open[e % r] && !used[e / r]);
        let (mut x, mut mask, mut entered) = (at.x.clone(), at.mask.clone(), 0);
        for (value, e, entry) in entries {
            let pays = must || value - self.price > at.value;
            if pays && entered < most && !used[e / r] && self.limits.may_gain(&has, e % r) {
                x.data_mut()[e] = entry;
                (mask[e], used[e / r]) = (true, true);
                has[e % r] += 1;
                entered += 1;
            }
        }
        let raised = |next: &Point| must || self.raises(self.worth(next), self.worth(at), ROUNDING);
        (entered > 0).then(|| self.polish(&x, &mask, GROWING))?.filter(raised)
    }

    /// The first exchange of an entry for another one, of any component that may have it, that raises the value.
    pub fn exchange(&self, at: &Point) -> Option<Point> {
        let r = self.rank;
        let losses = self.losses(at, self.priced(at));
        let now = Products::of(self, &at.x);
        for (_, e) in losses.iter().take(LEAVING) {
            if self.is_over() {
                break;
            }
            let mut mask = at.mask.clone();
            mask[*e] = false;
            let has = counts(&mask, r);
            if has[e % r] == 0 {
                continue;
            }
            let beside = (&self.bound_to(&at.mask, &[e % r])[..], &now);
            let out = f64::NEG_INFINITY;
            let left = self.polish_columns(out, (&masked(&at.x, &mask), &mask), BRIEF, beside);
            let Some(left) = left else { continue };
            let allowed = self.enterable(&mask, &has, *e);
            let entries = self.entries(self.priced(&left), |e| allowed[e]);
            for (value, enter, entry) in entries.into_iter().take(ENTERING) {
                if value <= at.value - BEHIND * at.value.abs() {
                    break;
                }
                let (mut x, mut mask) = (left.x.clone(), mask.clone());
                // an entry in a row that is used begins at zero: columns must stay orthogonal
                if !mask[enter / r * r..(enter / r + 1) * r].contains(&true) {
                    x.data_mut()[enter] = entry;
                }
                mask[enter] = true;
                let better = |p: &Point| self.raises(p.value, at.value, WORTH);
                let both: Vec<bool> = mask.iter().zip(&at.mask).map(|(a, b)| a | b).collect();
                let beside = (&self.bound_to(&both, &[e % r, enter % r])[..], &now);
                let next = self.polish_columns(at.value, (&x, &mask), PASSING, beside);
                if let Some(next) = next.filter(better) {
                    return self.polish(&next.x, &next.mask, STAYING).filter(better);
                }
            }
        }
        // rows that columns share change for all of them at once
        let regrouped = regrouped(self, at).filter(|p| self.raises(p.value, at.value, WORTH));
        regrouped.or_else(|| self.replaced(at))
    }

    /// Which columns share a row.
    pub(super) fn meet(&self, mask: &[bool]) -> Vec<bool> {
        let r = self.rank;
        let mut meet = vec![false; r * r];
        for row in mask.chunks(r) {
            for a in (0..r).filter(|a| row[*a]) {
                (0..r).filter(|b| row[*b]).for_each(|b| meet[a * r + b] = true);
            }
        }
        meet
    }

    /// Entries that may enter where `out` has left: those whose row is free, or used by components only that share other rows
    /// with theirs, as two columns that meet in one row are not orthogonal.
    fn enterable(&self, mask: &[bool], has: &[usize], out: usize) -> Vec<bool> {
        let (n, r) = self.shape();
        let meet = self.meet(mask);
        let orthogonal = self.between.is_orthogonal();
        let mut allowed = vec![false; n * r];
        for k in 0..r {
            let short = has[out % r] < self.limits.least() && out % r != k;
            if short || !self.limits.may_gain(has, k) {
                continue;
            }
            for i in 0..n {
                let row = &mask[i * r..(i + 1) * r];
                let alone = (0..r).any(|p| p != k && row[p] && !meet[p * r + k]);
                allowed[i * r + k] = !(row[k] || orthogonal && alone);
            }
        }
        allowed[out] = false;
        allowed
    }

    /// The `most` entries with the largest gradient along the manifold added, whatever rows they are in, and as many pruned
    /// again.
    pub fn overshoot(&self, at: &Point, most: usize) -> Option<Point> {
        let g = self.gains(&at.x).gradient();
        let xg = cross(&at.x, &g).symmetric_part();
        let mut d = g;
        product(&mut d, true, -1.0, at.x.as_mat(), xg.as_mat());
        let outside = (0..at.mask.len()).filter(|e| !at.mask[*e]);
        let mut sizes: Vec<(f64, usize)> = outside.map(|e| (d.data()[e].abs(), e)).collect();
        select_largest(&mut sizes, most);
        let mut mask = at.mask.clone();
        sizes.iter().for_each(|(_, e)| mask[*e] = true);
        let wide = self.polish(&at.x, &mask, GROWING)?;
        self.filled(self.prune(wide)?)
    }

    /// The point with what the limits leave used.
    pub fn filled(&self, at: Point) -> Option<Point> {
        let has = at.counts();
        if (0..self.rank).any(|k| self.limits.may_gain(&has, k)) { self.fill(at) } else { Some(at) }
    }
}
