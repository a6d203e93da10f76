//! Colours of numbers: purple, white, orange (PuOr of ColorBrewer, safe for the colour-blind and distinct in grey by the numbers
//! beside them).

/// Steps between the ends of a scale.
const STEPS: i32 = 128;

/// From −1 to 1, or from 0 to 1. Only 0 has the colour of the page.
pub(super) fn all(signed: bool) -> Vec<(u8, u8, u8)> {
    let first = if signed { -STEPS } else { 0 };
    (first..=STEPS).map(|k| colour(f64::from(k) / f64::from(STEPS))).collect()
}

fn colour(share: f64) -> (u8, u8, u8) {
    if share == 0.0 {
        return (255, 255, 255);
    }
    let (r, g, b) = if share < 0.0 { (84.0, 39.0, 136.0) } else { (200.0, 90.0, 6.0) };
    let mix = |end: f64| (255.0 + (end - 255.0) * share.abs().min(1.0).powf(0.8)).round().min(254.0) as u8;
    (mix(r), mix(g), mix(b))
}
