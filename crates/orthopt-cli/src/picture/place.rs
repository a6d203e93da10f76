//! Places of names: beyond the tips of arrows, inside a frame, apart from each other.

/// A box by its corners: left, top, right, bottom, or with y upward left, bottom, right, top.
pub type Box = [f64; 4];

/// Number of places that are tried above and below, and to each side.
const TRIED: i32 = 40;
const ASIDE: i32 = 3;

/// Boxes of `sizes` for names of arrows from `zero` to `tips`, in order of importance: beyond the tip, or as near to that place as
/// no earlier box is. Boxes lie inside `frame` where that has room for them.
pub fn names(zero: (f64, f64), tips: &[(f64, f64)], sizes: &[(f64, f64)], frame: Box, gap: f64) -> Vec<Box> {
    let mut taken: Vec<Box> = Vec::with_capacity(tips.len());
    for (tip, (wide, high)) in tips.iter().zip(sizes) {
        let (dx, dy) = (tip.0 - zero.0, tip.1 - zero.1);
        let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
        let x = tip.0 + dx / length * (0.5 * wide + gap);
        let y = tip.1 + dy / length * (0.5 * high + gap);
        let at = |across: i32, up: i32| {
            let (x, y) = (x + f64::from(across) * 0.5 * wide, y + f64::from(up) * 0.5 * high);
            let x = within(x, frame[0] + 0.5 * wide, frame[2] - 0.5 * wide);
            let y = within(y, frame[1] + 0.5 * high, frame[3] - 0.5 * high);
            [x - 0.5 * wide, y - 0.5 * high, x + 0.5 * wide, y + 0.5 * high]
        };
        let steps = (-TRIED..=TRIED).flat_map(|up| (-ASIDE..=ASIDE).map(move |across| (across, up)));
        let mut steps: Vec<(i32, i32)> = steps.collect();
        let far = |(across, up): (i32, i32)| (f64::from(across) * wide).hypot(f64::from(up) * high);
        steps.sort_by(|a, b| far(*a).total_cmp(&far(*b)));
        let mut places = steps.into_iter().map(|(across, up)| at(across, up));
        let free = places.find(|place| !taken.iter().any(|other| overlap(place, other)));
        taken.push(free.unwrap_or_else(|| at(0, 0)));
    }
    taken
}

/// `x` between two ends, or in their middle where they are in the wrong order.
fn within(x: f64, low: f64, high: f64) -> f64 {
    if low <= high { x.clamp(low, high) } else { 0.5 * (low + high) }
}

fn overlap(a: &Box, b: &Box) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_apart_and_inside() {
        let tips = vec![(90.0, 1.0); 12];
        let frame = [-100.0, -100.0, 100.0, 100.0];
        let boxes = names((0.0, 0.0), &tips, &[(40.0, 10.0); 12], frame, 2.0);
        for (i, a) in boxes.iter().enumerate() {
            assert!(a[0] >= frame[0] && a[1] >= frame[1] && a[2] <= frame[2] && a[3] <= frame[3], "{a:?}");
            assert!(boxes[..i].iter().all(|b| !overlap(a, b)), "{a:?}");
        }
        // a single name stays beyond its tip
        let alone = names((0.0, 0.0), &[(50.0, 0.0)], &[(20.0, 10.0)], frame, 2.0);
        assert_eq!(alone, [[52.0, -5.0, 72.0, 5.0]]);
    }
}
