//! The OBCD paper's Figure 2: F over the angle for two 2 × 2 problems, its critical points, and
//! where one pair step leads from each of them.
//!
//! ```text
//! min F(V) = ‖V − A‖² + λ‖V‖₁   over V ∈ O(2),      A = [1 0; −1 −1], λ = 0;   A = [1 0; 1 2], λ = 5
//! ```

use std::f64::consts::TAU;

use orthopt::penalty::PairPenalty;
use orthopt::penalty::find_penalty;
use orthopt_core::pair::PairModel;
use orthopt_core::pair::fold::Scratch;
use orthopt_linalg::plane::Branch;
use orthopt_linalg::plane::PairMove;
use plotters::prelude::*;

use super::sheet::{Drawing, Grid};
use crate::plot::{Area, COLOURS, Drawn, FONT, GRID, svg};
use crate::text;

struct Problem {
    name: &'static str,
    a: [[f64; 2]; 2],
    lambda: f64,
}

const PROBLEMS: [Problem; 2] = [
    Problem { name: "(27)", a: [[1.0, 0.0], [-1.0, -1.0]], lambda: 0.0 },
    Problem { name: "(28)", a: [[1.0, 0.0], [1.0, 2.0]], lambda: 5.0 },
];

/// The branches with their names.
const BRANCHES: [(Branch, &str); 2] = [(Branch::Rotation, "rotation"), (Branch::Reflection, "reflection")];
/// Points of a curve.
const POINTS: usize = 720;
/// Values of F that differ by less are the same.
const SAME: f64 = 1e-9;

/// A point where 0 is among the slopes of F.
#[derive(Clone, Copy, Debug)]
struct Critical {
    branch: usize,
    theta: f64,
    value: f64,
}

impl Problem {
    /// F at V.
    fn value(&self, v: [[f64; 2]; 2]) -> f64 {
        let entries = v.iter().flatten().zip(self.a.iter().flatten());
        entries.map(|(v, a)| (v - a).powi(2) + self.lambda * v.abs()).sum()
    }

    fn at(&self, branch: usize, theta: f64) -> f64 {
        self.value(PairMove::new(BRANCHES[branch].0, theta.cos(), theta.sin()).matrix())
    }

    /// All critical points. F is b·cos θ + d·sin θ plus a constant on each quarter of a branch: it is
    /// stationary at one angle of that quarter at most, and its kinks are at the ends.
    fn critical(&self) -> Vec<Critical> {
        let quarter = TAU / 4.0;
        let mut found = Vec::new();
        for branch in 0..BRANCHES.len() {
            let f = |theta: f64| self.at(branch, theta);
            let slopes = |k: usize| -> (f64, f64) {
                // b and d of the quarter k from its values
                let start = k as f64 * quarter;
                let (one, mid, two) = (f(start), f(start + 0.5 * quarter), f(start + quarter));
                // with u = θ − start: F = e + p cos u + q sin u
                let (p_minus_q, half) = (one - two, std::f64::consts::FRAC_1_SQRT_2);
                let p_plus_q = (one + two - 2.0 * mid) / (1.0 - 2.0 * half);
                (0.5 * (p_plus_q + p_minus_q), 0.5 * (p_plus_q - p_minus_q))
            };
            let smooth: Vec<(f64, f64)> = (0..4).map(slopes).collect();
            for (k, (p, q)) in smooth.iter().enumerate() {
                let (start, (before_p, _)) = (k as f64 * quarter, smooth[(k + 3) % 4]);
                // slopes of F to the left and to the right of the start of the quarter
                let (left, right) = (-before_p, *q);
                if left.min(right) <= SAME && left.max(right) >= -SAME {
                    found.push(Critical { branch, theta: start, value: f(start) });
                }
                let inside = q.atan2(*p).rem_euclid(TAU / 2.0);
                if inside > SAME && inside < quarter - SAME {
                    let theta = start + inside;
                    found.push(Critical { branch, theta, value: f(theta) });
                }
            }
        }
        found
    }

    /// F after one step of OBCD from V: the pair problem solved exactly.
    fn after_step(&self, from: &Critical) -> anyhow::Result<f64> {
        let v = PairMove::new(BRANCHES[from.branch].0, from.theta.cos(), from.theta.sin()).matrix();
        let info = find_penalty(if self.lambda == 0.0 { "none" } else { "l1" })?;
        let h = (info.make)(self.lambda)?;
        // ‖WV − A‖² = const − 2⟨W, AVᵀ⟩ for the step W
        let p = self.a.map(|row| v.map(|z| -2.0 * (row[0] * z[0] + row[1] * z[1])));
        let model = PairModel::linear(p, &v[0], &v[1]);
        let step = h.search(&model, &mut Scratch::new(2)).unwrap_or(PairMove::IDENTITY);
        let (mut one, mut two) = ([0.0; 2], [0.0; 2]);
        step.apply(&v[0], &v[1], &mut one, &mut two);
        Ok(self.value([one, two]))
    }

    /// The lowest F of both curves.
    fn lowest(&self) -> f64 {
        self.critical().iter().fold(f64::INFINITY, |best, c| best.min(c.value))
    }
}

/// The figure and the table of its critical points.
///
/// # Errors
/// The drawing fails.
pub fn figure() -> anyhow::Result<Drawing> {
    let header = ["problem", "branch", "theta (degrees)", "F", "F after one pair step", ""];
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for problem in &PROBLEMS {
        let (critical, best) = (problem.critical(), problem.lowest());
        let mut kept = 0;
        for point in &critical {
            let after = problem.after_step(point)?;
            let stays = (point.value - after).abs() <= SAME;
            kept += usize::from(stays);
            rows.push(vec![
                problem.name.into(),
                BRANCHES[point.branch].1.into(),
                text::number(point.theta.to_degrees(), 5),
                text::number(point.value, 6),
                text::number(after, 6),
                if stays { "block stationary".into() } else { String::new() },
            ]);
        }
        notes.push(format!(
            "{}: {} critical points on the two branches, of which {kept} is left alone by the pair step; from all others one \
             step ends at the global minimum {}.",
            problem.name,
            critical.len(),
            text::number(best, 6)
        ));
    }
    notes.push(
        "The paper counts 4 and 8 critical points; (28) has 8 on each of its branches, the maxima between its kinks included."
            .into(),
    );
    let grid = Grid { header: header.map(String::from).to_vec(), rows };
    Ok(Drawing { svg: draw()?, grid, notes })
}

fn draw() -> anyhow::Result<String> {
    svg(|root| {
        for (panel, problem) in root.split_evenly((1, 2)).iter().zip(&PROBLEMS) {
            draw_problem(panel, problem)?;
        }
        Ok(root.present()?)
    })
}

fn draw_problem(panel: &Area<'_>, problem: &Problem) -> Drawn {
    let curve = |branch: usize| {
        (0..=POINTS).map(move |k| {
            let theta = TAU * k as f64 / POINTS as f64;
            (theta.to_degrees(), problem.at(branch, theta))
        })
    };
    let all = || (0..BRANCHES.len()).flat_map(curve).map(|p| p.1);
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let room = 0.08 * (high - low);
    let mut chart = ChartBuilder::on(panel)
        .margin(24)
        .caption(format!("problem {}", problem.name), (FONT, 34))
        .x_label_area_size(90)
        .y_label_area_size(90)
        .build_cartesian_2d(0.0..360.0, low - room..high + 4.0 * room)?;
    chart
        .configure_mesh()
        .bold_line_style(GRID.stroke_width(1))
        .light_line_style(WHITE)
        .label_style((FONT, 26))
        .axis_desc_style((FONT, 28))
        .x_labels(5)
        .x_desc("theta, degrees")
        .y_desc("F")
        .draw()?;
    for (branch, (_, name)) in BRANCHES.iter().enumerate() {
        let style = COLOURS[branch].stroke_width(4);
        chart
            .draw_series(LineSeries::new(curve(branch), style))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 40, y)], style));
    }
    let (critical, best) = (problem.critical(), problem.lowest());
    let places = |which: bool| {
        let wanted = critical.iter().filter(move |c| (c.value - best <= SAME) == which);
        wanted.map(|c| (c.theta.to_degrees(), c.value)).collect::<Vec<_>>()
    };
    let hollow = places(false).into_iter().map(|p| Circle::new(p, 9, BLACK.stroke_width(3)));
    chart
        .draw_series(hollow)?
        .label("critical")
        .legend(|(x, y)| Circle::new((x + 20, y), 9, BLACK.stroke_width(3)));
    let full = places(true).into_iter().map(|p| Circle::new(p, 12, BLACK.filled()));
    chart
        .draw_series(full)?
        .label("block stationary")
        .legend(|(x, y)| Circle::new((x + 20, y), 12, BLACK.filled()));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .legend_area_size(48)
        .label_font((FONT, 24))
        .background_style(WHITE.mix(0.9))
        .border_style(GRID)
        .draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_critical_points_are_found_and_only_the_minimum_resists_the_pair_step() {
        for (problem, count) in PROBLEMS.iter().zip([4, 16]) {
            let critical = problem.critical();
            assert_eq!(critical.len(), count, "{}: {critical:?}", problem.name);
            // no angle is lower, and F has an extremum or a kink at each of them
            for c in &critical {
                let near = |d: f64| problem.at(c.branch, c.theta + d) - c.value;
                assert!(near(1e-4) * near(-1e-4) > 0.0, "{} {c:?}", problem.name);
            }
            let best = problem.lowest();
            for k in 0..POINTS {
                let theta = TAU * k as f64 / POINTS as f64;
                assert!((0..2).all(|b| problem.at(b, theta) >= best - SAME));
            }
            let resists = critical.iter().filter(|c| c.value - best <= SAME).count();
            assert_eq!(resists, 1, "{}", problem.name);
            for c in &critical {
                let after = problem.after_step(c).unwrap();
                assert!((after - best).abs() < 1e-9, "{} {c:?}: {after}, lowest {best}", problem.name);
            }
        }
    }

    #[test]
    fn the_figure_shows_both() {
        let drawing = figure().unwrap();
        assert_eq!(drawing.grid.rows.len(), 20);
        for word in ["problem (27)", "problem (28)", "block stationary", "theta, degrees"] {
            assert!(drawing.svg.contains(word), "{word}");
        }
    }
}
