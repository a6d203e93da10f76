//! A log-log plot of costs against sizes, as SVG.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

/// A named series of (x, y), both positive.
pub struct Series {
    pub label: String,
    pub points: Vec<(f64, f64)>,
}

const COLOURS: [RGBColor; 3] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115)];

/// Slope of the least-squares line through (log x, log y).
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|p| (p.0.ln(), p.1.ln())).collect();
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let cov: f64 = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    cov / logs.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>()
}

/// The plot as text.
///
/// # Errors
/// Nothing to draw, or the drawing fails.
pub fn draw(title: &str, x_name: &str, y_name: &str, series: &[Series]) -> Result<String> {
    let all = || series.iter().flat_map(|s| s.points.iter().copied());
    let range = |get: fn((f64, f64)) -> f64| {
        let low = all().map(get).fold(f64::INFINITY, f64::min);
        let high = all().map(get).fold(0.0, f64::max);
        (low > 0.0 && high.is_finite()).then_some((0.5 * low, 2.0 * high))
    };
    let (Some(x), Some(y)) = (range(|p| p.0), range(|p| p.1)) else {
        return Err(anyhow!("nothing positive to plot"));
    };
    let mut svg = String::new();
    let fail = |e: &dyn std::fmt::Display| anyhow!("cannot draw the plot: {e}");
    {
        let root = SVGBackend::with_string(&mut svg, (800, 500)).into_drawing_area();
        root.fill(&WHITE).map_err(|e| fail(&e))?;
        let mut chart = ChartBuilder::on(&root)
            .caption(title, ("sans-serif", 20))
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d((x.0..x.1).log_scale(), (y.0..y.1).log_scale())
            .map_err(|e| fail(&e))?;
        let mesh = chart.configure_mesh().x_desc(x_name).y_desc(y_name).draw();
        mesh.map_err(|e| fail(&e))?;
        for (k, s) in series.iter().enumerate() {
            let colour = COLOURS[k % COLOURS.len()];
            let line = LineSeries::new(s.points.iter().copied(), colour.stroke_width(2)).point_size(4);
            let drawn = chart.draw_series(line).map_err(|e| fail(&e))?;
            drawn
                .label(&s.label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
        let labels = chart.configure_series_labels().background_style(WHITE).border_style(BLACK).draw();
        labels.map_err(|e| fail(&e))?;
        root.present().map_err(|e| fail(&e))?;
    }
    Ok(svg)
}
