//! `spiked:zht[:M[:SEED]]`: the synthetic example of Zou, Hastie and Tibshirani, "Sparse Principal
//! Component Analysis" (2006), Section 5.2.
//!
//! Three hidden factors V1 ~ N(0, 290), V2 ~ N(0, 300), V3 = −0.3 V1 + 0.925 V2 + ε, ε ~ N(0, 1)
//! (second arguments are variances), and ten variables with independent noise e ~ N(0, 1):
//! X1..X4 = V1 + e, X5..X8 = V2 + e, X9, X10 = V3 + e. The two ideal sparse components are V2's
//! variables, then V1's, with equal weights; they are the data set's truth. (The paper uses the
//! exact covariance; M samples, 1000 unless given, approach it.)
//!
//! Drawn sample by sample: V1, V2, ε, then the ten e.

use faer::Mat;

use crate::dataset::{DataSet, zeros};
use crate::error::DataError;
use crate::generate::Arguments;

const VARIABLES: usize = 10;

pub(super) fn generate(arguments: &mut Arguments<'_>) -> Result<DataSet, DataError> {
    let samples = arguments.count_or("M", 1000)?;
    let mut random = arguments.seeded()?;
    let mut matrix = zeros(&arguments.budget(), samples, VARIABLES)?;
    for i in 0..samples {
        let v1 = 290.0_f64.sqrt() * random.normal();
        let v2 = 300.0_f64.sqrt() * random.normal();
        let v3 = -0.3 * v1 + 0.925 * v2 + random.normal();
        for j in 0..VARIABLES {
            let factor = [v1, v2, v3][j / 4];
            matrix[(i, j)] = factor + random.normal();
        }
    }
    let mut data = DataSet::new(matrix, arguments.source());
    data.names = Some((1..=VARIABLES).map(|j| format!("X{j}")).collect());
    data.truth = Some(Mat::from_fn(VARIABLES, 2, |j, component| {
        let supports = [4..8, 0..4];
        if supports[component].contains(&j) { 0.5 } else { 0.0 }
    }));
    Ok(data)
}
