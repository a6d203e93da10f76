//! Places of names: beyond the tips of arrows, inside a frame, apart from each other and from other arrows.

/// A box by its corners: left, top, right, bottom, or with y upward left, bottom, right, top.
pub type Box = [f64; 4];

/// Number of places that are tried above and below, and to each side.
const TRIED: i32 = 40;
const ASIDE: i32 = 8;

/// Steps that a place may be farther away to avoid an arrow.
const AROUND: f64 = 4.0;

/// Boxes of `sizes` for names of arrows from `zero` to `tips`, in order of importance: beyond the tip, or near to that place where
/// no earlier box is; a few steps farther away where that avoids an arrow. Boxes lie inside `frame` where that has room for them.
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
        let cost = |(across, up): (i32, i32), place: &Box| {
            let crossed = tips.iter().filter(|end| crosses(zero, **end, place)).count();
            (f64::from(across) * wide).hypot(f64::from(up) * high) + crossed as f64 * AROUND * high
        };
        let steps = (-TRIED..=TRIED).flat_map(|up| (-ASIDE..=ASIDE).map(move |across| (across, up)));
        let places = steps.map(|step| (step, at(step.0, step.1)));
        let free = places.filter(|(_, place)| !taken.iter().any(|other| overlap(place, other)));
        let best = free.min_by(|(a, place), (b, other)| cost(*a, place).total_cmp(&cost(*b, other)));
        taken.push(best.map_or_else(|| at(0, 0), |(_, place)| place));
    }
    taken
}

/// `x` between two ends, or in their middle where they are in the wrong order.
fn within(x: f64, low: f64, high: f64) -> f64 {
    if low <= high { x.clamp(low, high) } else { 0.5 * (low + high) }
}

/// True if the segment from `a` to `b` meets a box (Liang and Barsky 1984).
fn crosses(a: (f64, f64), b: (f64, f64), place: &Box) -> bool {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for (step, room) in
        [(-dx, a.0 - place[0]), (dx, place[2] - a.0), (-dy, a.1 - place[1]), (dy, place[3] - a.1)]
    {
        if step == 0.0 && room < 0.0 {
            return false;
        }
        if step < 0.0 {
            from = from.max(room / step);
        } else if step > 0.0 {
            to = to.min(room / step);
        }
    }
    from <= to
}

fn overlap(a: &Box, b: &Box) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_meets_a_box_where_one_of_its_points_is_in_it() {
        let place = [1.0, 1.0, 3.0, 2.0];
        let mut met = [0, 0];
        for k in 0..400 {
            // ends on two circles around a point beside the box
            let (t, u) = (f64::from(k) * 0.37, f64::from(k) * 1.91);
            let (a, b) = ((2.0 + 3.0 * t.cos(), 1.0 + 3.0 * t.sin()), (3.0 + u.cos(), 2.0 + 2.0 * u.sin()));
            let inside = (0..=2000).any(|i| {
                let s = f64::from(i) / 2000.0;
                let (x, y) = (a.0 + s * (b.0 - a.0), a.1 + s * (b.1 - a.1));
                (1.0..=3.0).contains(&x) && (1.0..=2.0).contains(&y)
            });
            met[usize::from(inside)] += 1;
            // what meets the inner part is in the box for longer than a step of the slow twin
            let inner = [place[0] + 5e-3, place[1] + 5e-3, place[2] - 5e-3, place[3] - 5e-3];
            assert!(!inside || crosses(a, b, &place), "{a:?} {b:?}");
            assert!(inside || !crosses(a, b, &inner), "{a:?} {b:?}");
        }
        assert!(met[0] > 50 && met[1] > 50, "{met:?}");
        assert!(crosses((0.0, 1.5), (4.0, 1.5), &place) && !crosses((0.0, 0.5), (4.0, 0.5), &place));
        assert!(!crosses((2.0, 3.0), (2.0, 4.0), &place) && crosses((2.0, 1.5), (2.0, 1.5), &place));
    }

    #[test]
    fn a_name_avoids_the_arrow_of_another() {
        // the place beyond the first tip lies on the second arrow
        let tips = [(50.0, 0.0), (90.0, 0.0)];
        let boxes = names((0.0, 0.0), &tips, &[(20.0, 10.0); 2], [-100.0, -100.0, 100.0, 100.0], 2.0);
        assert!(boxes.iter().all(|place| !crosses((0.0, 0.0), tips[1], place)), "{boxes:?}");
    }

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
