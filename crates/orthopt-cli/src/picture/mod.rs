//! Pictures of a result. Each is described once ([`chart`]), for all that draw it.

pub mod axis;
pub mod chart;
pub mod curves;
pub mod loadings;
pub mod path;
pub mod place;
pub mod plane;
pub mod scree;
mod shades;
pub mod variance;

use std::path::Path;

use serde::Deserialize;

use chart::Chart;

/// A picture that is asked for with what it shows.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "picture", rename_all = "snake_case")]
pub enum Asked {
    Convergence(curves::Convergence),
    Bounds(curves::Bounds),
    Path(path::Path),
    Loadings(loadings::Loadings),
    Stability(loadings::Stability),
    Scores(plane::Plane),
    Biplot(plane::Plane),
    Correlations(plane::Plane),
    Variance(variance::Variance),
    Scree(scree::Scree),
}

impl Asked {
    pub fn chart(&self) -> Chart {
        match self {
            Self::Convergence(shown) => shown.chart(),
            Self::Bounds(shown) => shown.chart(),
            Self::Path(shown) => shown.chart(),
            Self::Loadings(shown) => shown.chart(),
            Self::Stability(shown) => shown.chart(),
            Self::Scores(shown) => shown.scores(),
            Self::Biplot(shown) => shown.biplot(),
            Self::Correlations(shown) => shown.correlations(),
            Self::Variance(shown) => shown.chart(),
            Self::Scree(shown) => shown.chart(),
        }
    }
}

/// A file without its folders; other sources unchanged.
fn short_name(source: &str) -> &str {
    Path::new(source).file_name().and_then(|name| name.to_str()).unwrap_or(source)
}

/// `name`, cut to `most` characters.
pub fn cut(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.into();
    }
    name.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::chart::{Mark, Panel};
    use super::*;

    /// The places of a mark in the units of the axes.
    fn places(mark: &Mark) -> Vec<(f64, f64)> {
        match mark {
            Mark::Line { points, errors, .. } => {
                let ends = points.iter().zip(errors).flat_map(|(p, e)| [(p.0, p.1 - e), (p.0, p.1 + e)]);
                points.iter().copied().chain(ends).collect()
            }
            Mark::Points { points, .. } => points.clone(),
            Mark::Bars { corners, .. } => corners.iter().flat_map(|c| [(c[0], c[1]), (c[2], c[3])]).collect(),
            Mark::Words { at, .. } | Mark::Ring { at } => vec![*at],
            Mark::Cells { cells, .. } => {
                let corner = |k: usize, side: f64| k as f64 + side;
                let of = |side: f64| cells.iter().map(move |c| (corner(c.at.0, side), corner(c.at.1, side)));
                of(-0.5).chain(of(0.5)).collect()
            }
            Mark::Rule { x, .. } => vec![(*x, f64::NAN)],
            Mark::Arrows { tips, .. } => tips.clone(),
        }
    }

    fn check(panel: &Panel) {
        let inside = |value: f64, axis: &axis::Axis| {
            let room = 1e-9 * (axis.range.end - axis.range.start);
            !value.is_finite() || (axis.range.start - room..=axis.range.end + room).contains(&value)
        };
        for axis in [&panel.x, &panel.y] {
            assert!(axis.range.start < axis.range.end, "{axis:?}");
            assert!(axis.range.start.is_finite() && axis.range.end.is_finite(), "{axis:?}");
            assert!(axis.names.is_empty() || axis.names.len() == axis.ticks.len());
        }
        for (x, y) in panel.marks.iter().flat_map(places) {
            assert!(inside(x, &panel.x) && inside(y, &panel.y), "{x} {y}: {:?} {:?}", panel.x, panel.y);
        }
    }

    /// Pictures as the package for Python asks for them.
    fn asked(text: &str) -> Asked {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn all_marks_are_inside_whatever_is_drawn() {
        let names = r#""names": ["a", "b", "c"]"#;
        for text in [
            r#"{"picture": "convergence", "runs": [{"label": "a", "points": []}]}"#,
            r#"{"picture": "convergence", "runs": [{"label": "a", "points": [[0, -3]]}]}"#,
            r#"{"picture": "convergence", "runs": [{"label": "a", "points": [[0, 5], [0.001, 4], [90, -7e11]]}],
                "arms": [{"label": "b", "points": [[0.0001, 2]]}, {"label": "c", "points": []}]}"#,
            r#"{"picture": "bounds", "above": [[0.1, -2], [3, -2.5]], "below": [[0.1, -90], [3, -2.5]]}"#,
            r#"{"picture": "bounds"}"#,
            r#"{"picture": "path", "lines": [{"name": "a", "points": [[1, 10], [2, 20]], "errors": [12, 90]}], "chosen": 1}"#,
            r#"{"picture": "path", "lines": [{"name": "a", "points": [[3, -40]]}, {"name": "b", "points": [[3, 0]]}]}"#,
            &format!(r#"{{"picture": "loadings", "components": [[0, 0, 0]], {names}}}"#),
            &format!(r#"{{"picture": "loadings", "components": [[1, 0, -1e-9], [0, -0.3, 2]], {names}}}"#),
            &format!(
                r#"{{"picture": "loadings", "components": [[1, 0, -5], [0, -0.3, 2]], {names}, "form": "heatmap", "top": 2}}"#
            ),
            &format!(
                r#"{{"picture": "stability", "frequency": [[1, 0.2, 0]], "components": [[0.5, 0, 0]], {names}, "cosine": [0.9], "pairs": 3}}"#
            ),
            r#"{"picture": "scores", "points": [[0, 0]], "components": [0, 1]}"#,
            r#"{"picture": "scores", "points": [[1e9, -3], [1e9, -4]], "components": [0], "labels": ["10", "9"]}"#,
            &format!(
                r#"{{"picture": "biplot", "points": [[0.1, 30], [0.2, -2]], "components": [2, 0], "arrows": [[9, 1], [0, 0], [-80, 3]], {names}, "top": 2}}"#
            ),
            &format!(
                r#"{{"picture": "biplot", "points": [[0, 0]], "components": [0, 1], "arrows": [[1, 0], [0, 1], [0, 0]], {names}}}"#
            ),
            &format!(
                r#"{{"picture": "correlations", "components": [0, 1], "arrows": [[1, 0], [0, -1], [0.7, 0.7]], {names}}}"#
            ),
            r#"{"picture": "variance", "alone": [0.4], "adjusted": [0.4]}"#,
            r#"{"picture": "variance", "alone": [0.4, 0.9, 0], "adjusted": [0.4, 0.5, 0]}"#,
            r#"{"picture": "scree", "eigenvalues": [], "rule": "none", "rank": 5, "kept": 2}"#,
            r#"{"picture": "scree", "eigenvalues": [0.7, 0.3], "reference": [0.9, 0.2], "rule": "signs", "rank": 0, "kept": 1}"#,
        ] {
            let chart = asked(text).chart();
            assert!(!chart.panels.is_empty() && !chart.title.is_empty(), "{text}");
            chart.panels.iter().for_each(check);
        }
    }

    #[test]
    fn what_is_left_out_is_said() {
        let many: Vec<String> = (0..90).map(|k| format!("v{k}")).collect();
        let own: Vec<f64> = (0..90).map(|k| f64::from(k) - 45.5).collect();
        let shown = loadings::Loadings { components: vec![own], names: many, ..Default::default() };
        assert_eq!(shown.chart().hidden, "the 60 largest of 90 variables");
        let points = (0..9000).map(|k| (f64::from(k), 1.0)).collect();
        let shown = plane::Plane { points, components: vec![0, 1], ..Default::default() };
        assert_eq!(shown.scores().hidden, "3000 of 9000 samples");
        let Mark::Points { points, .. } = &shown.scores().panels[0].marks[0] else { panic!("no points") };
        assert_eq!(points.len(), 3000);
    }
}
