//! Axes of plots.

use std::ops::Range;

use serde::{Serialize, Serializer};

/// Ratio of times from which on the time axis is logarithmic.
const LOG_FROM: f64 = 20.0;

/// A linear or logarithmic axis with its ticks, or a line for each of some names.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    pub name: String,
    #[serde(serialize_with = "ends")]
    pub range: Range<f64>,
    pub log: bool,
    pub ticks: Vec<f64>,
    /// Names at the ticks, first ones at the top or on the left; of numbers none.
    pub names: Vec<String>,
    /// Whole numbers are counted.
    pub whole: bool,
    #[serde(skip)]
    pub minor: Vec<f64>,
    #[serde(skip)]
    step: f64, // between ticks, where linear
}

fn ends<S: Serializer>(range: &Range<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    (range.start, range.end).serialize(serializer)
}

impl Axis {
    /// All times. The first point of a run is its start, at time 0.
    pub fn of_times(curves: &[Vec<(f64, f64)>]) -> Self {
        let all = || curves.iter().flatten().map(|p| p.0).filter(|t| *t > 0.0 && t.is_finite());
        let (first, last) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        if first >= last {
            let only = if last > 0.0 { last } else { 1.0 };
            return Self::linear(0.0..1.1 * only);
        }
        if last / first >= LOG_FROM {
            Self::logarithmic(first..1.1 * last)
        } else {
            Self::linear(0.0..1.05 * last)
        }
    }

    pub fn of_values(curves: &[Vec<(f64, f64)>]) -> Self {
        let all = || curves.iter().flatten().map(|p| p.1).filter(|f| f.is_finite());
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        if low > high {
            return Self::linear(0.0..1.0); // nothing finite
        }
        let least = 1e-6 * low.abs().max(high.abs()); // a flat curve needs room too
        let room = 0.05 * (high - low).max(least).max(1e-300);
        Self::linear(low - room..high + room)
    }

    fn empty() -> Self {
        let (name, ticks, names, minor) = Default::default();
        Self { name, range: 0.0..1.0, log: false, ticks, names, whole: false, minor, step: 0.0 }
    }

    /// A line for each name.
    pub fn of_names(names: Vec<String>) -> Self {
        let ticks = (0..names.len()).map(|k| k as f64).collect();
        Self { range: -0.5..names.len().max(1) as f64 - 0.5, ticks, names, ..Self::empty() }
    }

    /// From −`end` to `end`, with ticks at −`limit`, 0 and `limit`.
    pub fn symmetric(end: f64, limit: f64) -> Self {
        Self { ticks: vec![-limit, 0.0, limit], step: 0.01, ..Self::linear(-end..end) }
    }

    /// Of whole numbers.
    pub fn whole(range: Range<f64>) -> Self {
        let mut axis = Self { whole: true, ..Self::linear(range) };
        axis.ticks.retain(|tick| tick.fract() == 0.0);
        axis
    }

    /// The axis with a name, which says whether it is logarithmic.
    pub fn called(mut self, name: &str) -> Self {
        self.name = if self.log { format!("{name} (log scale)") } else { name.into() };
        self
    }

    /// With about seven ticks at round numbers.
    pub fn linear(range: Range<f64>) -> Self {
        let rough = (range.end - range.start) / 7.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough);
        let step = step.unwrap_or(rough);
        let first = (range.start / step).ceil();
        let count = ((range.end / step).floor() - first).clamp(0.0, 20.0) as i32;
        let ticks = (0..=count).map(|k| (first + f64::from(k)) * step).collect();
        Self { range, ticks, step, ..Self::empty() }
    }

    /// With decades, or 1, 2 and 5 of each for few decades.
    pub fn logarithmic(range: Range<f64>) -> Self {
        let decades = range.start.log10().floor() as i32..=range.end.log10().ceil() as i32;
        let within = |values: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|d| values.iter().map(move |m| m * 10f64.powi(d)));
            all.filter(|v| range.contains(v)).collect()
        };
        let tens = within(&[1.0]);
        let ticks = if tens.len() >= 3 { tens } else { within(&[1.0, 2.0, 5.0]) };
        let minor = within(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        Self { log: true, ticks, minor, range, ..Self::empty() }
    }

    /// Labels with enough digits to distinguish neighbours.
    pub fn labels(&self) -> impl Fn(&f64) -> String + use<> {
        let largest = self.ticks.iter().fold(0.0, |a: f64, t| a.max(t.abs()));
        let (log, step) = (self.log, self.step);
        move |value| {
            if log && !(1e-3..1e6).contains(value) {
                return format!("{:e}", crate::text::rounded(*value, 3));
            }
            if log {
                return format!("{}", crate::text::rounded(*value, 3));
            }
            if *value == 0.0 || step <= 0.0 {
                return "0".into();
            }
            if (1e-4..1e6).contains(&largest) {
                let decimals = (-step.log10().floor()).max(0.0) as usize;
                return format!("{value:.decimals$}");
            }
            let digits = (largest / step).log10().ceil().clamp(0.0, 12.0) as usize;
            format!("{value:.digits$e}")
        }
    }

    /// 0 at the lower end, 1 at the upper one.
    pub fn place(&self, value: f64) -> f64 {
        let Range { start, end } = self.range;
        if self.log {
            (value.max(start) / start).ln() / (end / start).ln()
        } else {
            (value - start) / (end - start)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(Axis::linear(-0.3..4.1).ticks, [0.0, 1.0, 2.0, 3.0, 4.0]);
        let axis = Axis::logarithmic(3e-4..2.0);
        assert_eq!(axis.ticks.len(), 4);
        assert_eq!((axis.labels())(&axis.ticks[0]), "0.001");
    }
}
