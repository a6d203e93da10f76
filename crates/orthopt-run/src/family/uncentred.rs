//! A remark on samples whose means were left in: PCA mostly finds the mean then.

use orthopt_core::problem::PcaData;
use orthopt_core::smooth::for_each;
use orthopt_linalg::message::Message;

/// From this share of tr C on, means that were left in are worth a remark.
const MEANS_SHARE: f64 = 0.05;

/// A note for samples that are not centred and whose means make up a good part of tr C. `roots` are the roots of the
/// weights that the rows have been multiplied with, where they have some.
pub fn remark_on_means(data: &PcaData<'_>, roots: Option<&[f64]>) -> Option<Message> {
    let root = |i: usize| roots.map_or(1.0, |roots| roots[i]);
    let mut sums = vec![0.0; data.ncols()];
    let mut trace = 0.0;
    let mut see = |i: usize, j: usize, value: f64| {
        sums[j] += root(i) * value;
        trace += value * value;
    };
    let rows = match data {
        PcaData::Dense(a) => {
            for_each(*a, see);
            a.nrows()
        }
        PcaData::Sparse(a, None) => {
            for j in 0..a.ncols() {
                a.row_idx_of_col(j).zip(a.val_of_col(j)).for_each(|(i, value)| see(i, j, *value));
            }
            a.nrows()
        }
        _ => return None,
    };
    let mass: f64 = (0..rows).map(|i| root(i) * root(i)).sum();
    let due = sums.iter().map(|sum| sum * sum).sum::<f64>() / mass;
    (due > MEANS_SHARE * trace).then(|| {
        let share = 100.0 * due / trace;
        Message::from(format!("the columns are not centred: their means make up {share:.0} % of tr C; "))
            .option("center")
            .text(" subtracts them")
    })
}
