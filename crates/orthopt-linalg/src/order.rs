//! Sorting by numbers, for a few types.
//!
//! The standard library's sort is some 2,500 lines of machine-level code for every closure it is given,
//! and code that is generic over the family of a problem repeats each of them. Sorts by a
//! number use these functions instead: each number is computed once, and pairs of a number and an index are sorted by
//! [`f64::total_cmp`], which also orders NaN.

/// The least number first; of equal ones the smaller index.
pub fn least_first(pairs: &mut [(f64, usize)]) {
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
}

/// The largest number first; of equal ones the smaller index.
pub fn largest_first(pairs: &mut [(f64, usize)]) {
    pairs.sort_unstable_by(by_largest);
}

/// Keeps the first `most` of [`largest_first`], in any order.
pub fn select_largest(pairs: &mut Vec<(f64, usize)>, most: usize) {
    if most < pairs.len() {
        pairs.select_nth_unstable_by(most, by_largest);
        pairs.truncate(most);
    }
}

fn by_largest(a: &(f64, usize), b: &(f64, usize)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// Sorts by `key`, the least first; what is equal stays in order.
pub fn ascending(order: &mut [usize], key: &dyn Fn(usize) -> f64) {
    rearrange(order, key, least_first);
}

/// Sorts by `key`, the largest first; what is equal stays in order.
pub fn descending(order: &mut [usize], key: &dyn Fn(usize) -> f64) {
    rearrange(order, key, largest_first);
}

fn rearrange(order: &mut [usize], key: &dyn Fn(usize) -> f64, sort: fn(&mut [(f64, usize)])) {
    let before = order.to_vec();
    let mut pairs: Vec<(f64, usize)> = before.iter().enumerate().map(|(place, i)| (key(*i), place)).collect();
    sort(&mut pairs);
    order.iter_mut().zip(pairs).for_each(|(o, (_, place))| *o = before[place]);
}

/// 0, 1, ..., n − 1 in [`ascending`] order.
pub fn ascending_to(n: usize, key: &dyn Fn(usize) -> f64) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    ascending(&mut all, key);
    all
}

/// 0, 1, ..., n − 1 in [`descending`] order.
pub fn descending_to(n: usize, key: &dyn Fn(usize) -> f64) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    descending(&mut all, key);
    all
}

/// The items with the largest worth first; what is equal stays in order.
pub fn best_first<T>(items: Vec<T>, worth: impl Fn(&T) -> f64) -> Vec<T> {
    let order = descending_to(items.len(), &|k| worth(&items[k]));
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    order.into_iter().filter_map(|k| items[k].take()).collect()
}

/// Brings the `most` largest numbers to the front, in any order, and returns the last of them; all where there are no more.
pub fn select_numbers(numbers: &mut [f64], most: usize) -> Option<f64> {
    let last = most.min(numbers.len()).checked_sub(1)?;
    Some(*numbers.select_nth_unstable_by(last, |a, b| b.total_cmp(a)).1)
}

/// Numbers, the least first.
pub fn sort_numbers(numbers: &mut [f64]) {
    numbers.sort_by(f64::total_cmp);
}

/// Numbers, the largest first.
pub fn sort_numbers_down(numbers: &mut [f64]) {
    sort_numbers(numbers);
    numbers.reverse();
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Numbers with many ties, and what has a place of its own.
    fn numbers(seed: u64) -> Vec<f64> {
        let mut rng = Pcg64::seed_from_u64(seed);
        let special = [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY];
        let one = |rng: &mut Pcg64| match rng.random_range(0..20) {
            k @ 0..6 => special[k],
            _ => f64::from(rng.random_range(-9..9)) / 4.0,
        };
        let n = rng.random_range(0..300);
        (0..n).map(|_| one(&mut rng)).collect()
    }

    #[test]
    fn indices_come_in_the_order_of_a_stable_sort() {
        for seed in 0..50 {
            let key = numbers(seed);
            let mixed: Vec<usize> = (0..key.len()).map(|k| (7 * k + 3) % key.len()).collect();
            let (mut up, mut down) = (mixed.clone(), mixed.clone());
            ascending(&mut up, &|i| key[i]);
            descending(&mut down, &|i| key[i]);
            let (mut slow_up, mut slow_down) = (mixed.clone(), mixed);
            slow_up.sort_by(|a, b| key[*a].total_cmp(&key[*b]));
            slow_down.sort_by(|a, b| key[*b].total_cmp(&key[*a]));
            assert_eq!((up, down), (slow_up, slow_down));
            let mut all: Vec<usize> = (0..key.len()).collect();
            all.sort_by(|a, b| key[*a].total_cmp(&key[*b]).then(a.cmp(b)));
            assert_eq!(ascending_to(key.len(), &|i| key[i]), all);
            all.sort_by(|a, b| key[*b].total_cmp(&key[*a]).then(a.cmp(b)));
            assert_eq!(descending_to(key.len(), &|i| key[i]), all);
        }
    }

    #[test]
    fn pairs_items_and_numbers_are_sorted_as_the_standard_library_does() {
        for seed in 0..50 {
            let key = numbers(seed);
            let pairs: Vec<(f64, usize)> = key.iter().rev().copied().zip(0..).collect();
            let indices = |pairs: &[(f64, usize)]| pairs.iter().map(|p| p.1).collect::<Vec<_>>();
            let (mut up, mut down) = (pairs.clone(), pairs.clone());
            least_first(&mut up);
            largest_first(&mut down);
            let (mut slow_up, mut slow_down) = (pairs.clone(), pairs.clone());
            slow_up.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            slow_down.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            assert_eq!((indices(&up), indices(&down)), (indices(&slow_up), indices(&slow_down)));
            assert_eq!(indices(&best_first(pairs.clone(), |p| p.0)), indices(&slow_down));
            for most in [0, 1, key.len() / 2, key.len(), key.len() + 1] {
                let mut some = pairs.clone();
                select_largest(&mut some, most);
                largest_first(&mut some);
                assert_eq!(indices(&some), indices(&slow_down[..most.min(key.len())]));
            }
            for most in [0, 1, key.len() / 2, key.len() + 1] {
                let (mut some, mut slow) = (key.clone(), key.clone());
                let last = select_numbers(&mut some, most);
                slow.sort_by(|a, b| b.total_cmp(a));
                let most = most.min(key.len());
                assert_eq!(last.map(f64::to_bits), slow[..most].last().map(|v| v.to_bits()));
                sort_numbers_down(&mut some[..most]);
                assert!(some[..most].iter().zip(&slow).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
            let (mut least, mut largest) = (key.clone(), key.clone());
            sort_numbers(&mut least);
            sort_numbers_down(&mut largest);
            let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
            let mut slow = key;
            slow.sort_by(f64::total_cmp);
            assert!(least.iter().zip(&slow).all(same));
            slow.sort_by(|a, b| b.total_cmp(a));
            assert!(largest.iter().zip(&slow).all(same));
        }
    }
}
