//! Damaged bytes of accumulators, with checksums that are right again: an accumulator that works, or an error.

use faer::mat;
use orthopt_fuzz::{mutated, one_line, run};
use rand::RngExt;

use super::bytes::{HEAD, checksum};
use super::{GramAccumulator, Summation};

fn accumulator(how: Summation) -> Vec<u8> {
    let mut made = GramAccumulator::new(2, how, "a", None).unwrap();
    made.add(mat![[1.5, -2.0], [0.25, 1e6], [0.0, 3.0]].as_ref().into(), None).unwrap();
    made.named(vec!["first".into(), "b".into()]).unwrap().to_bytes()
}

#[test]
fn fuzz_gram_bytes() {
    let valid = [Summation::Compensated, Summation::Reproducible].map(accumulator);
    run("gram_bytes", 2000, |rng| {
        let bytes = &valid[rng.random_range(0..2)];
        let mut bytes = match rng.random_range(0..4) {
            0 => mutated(rng, bytes, bytes),
            _ => [&bytes[..HEAD], &mutated(rng, &bytes[HEAD..], bytes)].concat(),
        };
        if bytes.len() >= HEAD {
            let sum = checksum(&bytes[HEAD..]);
            bytes[HEAD - 8..HEAD].copy_from_slice(&sum.to_le_bytes());
        }
        match GramAccumulator::from_bytes(&bytes, "a") {
            Err(error) => one_line(&error.to_string()),
            Ok(found) => works(found),
        }
    });
}

/// The sums may be of no rows that there are, but can be asked, added to and written.
fn works(mut found: GramAccumulator) {
    let n = found.columns();
    assert!(found.names().is_none_or(|names| names.len() == n));
    assert_eq!(found.sums().len(), n);
    if let Ok(c) = found.gram() {
        assert_eq!(c.shape(), (n, n));
    }
    let again = GramAccumulator::from_bytes(&found.to_bytes(), "b").unwrap();
    assert_eq!(again.to_bytes(), found.to_bytes());
    let rows = faer::Mat::<f64>::from_fn(3, n, |i, j| (i + 2 * j) as f64 - 1.5);
    found.add(rows.as_ref().into(), None).unwrap();
    found.merge(&again).unwrap();
    found.widen(n + 2, Some(50_000_000)).unwrap();
    assert_eq!(found.sums().len(), n + 2);
}
