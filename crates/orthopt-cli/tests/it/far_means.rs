//! Columns whose means are 10⁹ standard deviations from 0, through every door of the command.

use crate::common::{Dir, read_npy, stdout};

const ROWS: usize = 730;

/// 2⁻³⁶ divides every number of the tables.
const UNIT: f64 = (1_u64 << 36) as f64;

/// Coordinates of three stations in metres that move by millimetres, as one table and as two; C of the numbers as they
/// are read, divided by m − 1, without rounding.
fn stations(dir: &Dir) -> Vec<Vec<f64>> {
    let means =
        [4075580.4, 931853.9, 4801568.2, 4027881.4, 306998.7, 4919499.0, 3850000.1, 652000.2, 5023000.3];
    let weights = [0.9, 0.1, 1.2, 0.5, 0.3, 1.3, 0.4, 0.2, 1.4];
    let mut state = 17_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
    };
    let head = "AAA_X,AAA_Y,AAA_Z,BBB_X,BBB_Y,BBB_Z,CCC_X,CCC_Y,CCC_Z\n";
    let lines: Vec<String> = (0..ROWS)
        .map(|i| {
            let season = 0.004 * (i as f64 * std::f64::consts::TAU / 365.25).sin();
            let value =
                |(mean, weight): (&f64, &f64)| format!("{:.4}", mean + weight * season + 0.001 * next());
            means.iter().zip(&weights).map(value).collect::<Vec<_>>().join(",") + "\n"
        })
        .collect();
    dir.write("both.csv", head.to_string() + &lines.concat());
    dir.write("year-1.csv", head.to_string() + &lines[..365].concat());
    dir.write("year-2.csv", head.to_string() + &lines[365..].concat());

    let number = |v: &str| {
        let scaled = v.trim().parse::<f64>().unwrap() * UNIT;
        assert_eq!(scaled.fract(), 0.0);
        scaled as i128
    };
    let table: Vec<Vec<i128>> = lines.iter().map(|line| line.split(',').map(number).collect()).collect();
    // distances from the first row, so that nothing overflows
    let entry = |i: usize, j: usize| table[i][j] - table[0][j];
    let sum = |j: usize| (0..ROWS).map(|i| entry(i, j)).sum::<i128>();
    let c = |j: usize, k: usize| {
        let products: i128 = (0..ROWS).map(|i| entry(i, j) * entry(i, k)).sum();
        let m = ROWS as f64;
        (ROWS as i128 * products - sum(j) * sum(k)) as f64 / (m * (m - 1.0)) / UNIT / UNIT
    };
    (0..9).map(|j| (0..9).map(|k| c(j, k)).collect()).collect()
}

/// The largest eigenvalue and its share of the trace.
fn first(c: &[Vec<f64>]) -> (f64, f64) {
    let mut v = vec![1.0; c.len()];
    let mut value = 0.0;
    for _ in 0..500 {
        let image: Vec<f64> = c.iter().map(|row| row.iter().zip(&v).map(|(a, b)| a * b).sum()).collect();
        value = image.iter().map(|w| w * w).sum::<f64>().sqrt();
        v = image.iter().map(|w| w / value).collect();
    }
    (value, value / (0..c.len()).map(|j| c[j][j]).sum::<f64>())
}

#[test]
fn every_door_keeps_the_digits() {
    let dir = Dir::new();
    let c = stations(&dir);
    let (value, share) = first(&c);
    for (output, how) in [("c.npz", &[][..]), ("exact.npz", &["--reproducible"])] {
        stdout(
            &mut dir.orthopt(&[&["data", "gram", "year-1.csv", "year-2.csv", "-o", output], how].concat()),
        );
    }
    stdout(&mut dir.orthopt(&["data", "gram", "year-2.csv", "-o", "later.npz"]));
    stdout(&mut dir.orthopt(&["data", "gram", "year-1.csv", "--add", "later.npz", "-o", "later.npz"]));
    stdout(&mut dir.orthopt(&["data", "gram", "year-1.csv", "-o", "first.npz"]));
    stdout(&mut dir.orthopt(&["data", "gram", "year-2.csv", "--add", "first.npz", "-o", "parts.npz"]));
    for ending in ["npy", "npz", "svm", "mtx"] {
        stdout(&mut dir.orthopt(&["data", "convert", "both.csv", &format!("both.{ending}")]));
    }
    let doors: [&[&str]; 16] = [
        &["both.csv"],
        &["year-1.csv", "year-2.csv"],
        &["year-*.csv"],
        &["year-*.csv", "--reproducible"],
        &["both.csv", "--stream"],
        &["both.csv", "--screen", "9"],
        &["both.csv", "--screen", "9", "--reproducible"],
        &["--gram", "c.npz"],
        &["--gram", "exact.npz"],
        &["--gram", "later.npz"],
        &["--gram", "parts.npz"],
        &["both.npy"],
        &["both.svm"],
        &["both.svm", "--stream"],
        &["both.mtx"],
        &["both.npz"],
    ];
    for door in doors {
        let object = dir.json(&[&["solve", "pca"], door, &["-r", "1", "--covariance", "-q"]].concat());
        let objective = object["objective"].as_f64().unwrap();
        assert!((objective + 0.5 * value).abs() <= 1e-10 * value, "{door:?}: {objective} {value}");
        let total = object["explained_variance"]["total"].as_f64().unwrap();
        assert!((total - share).abs() < 1e-10, "{door:?}: {total} {share}");
        // correlations, and what is found in them
        let sparse =
            ["-r", "1", "--scale", "std", "--nonzeros", "4", "--seed", "1", "-q", "--save-x", "x.npy"];
        stdout(&mut dir.orthopt(&[&["solve", "l0-pca"], door, &sparse[..]].concat()));
        let x = read_npy(&dir.path("x.npy"));
        let found: f64 = (0..9)
            .flat_map(|j| (0..9).map(move |k| (j, k)))
            .map(|(j, k)| x[j][0] * x[k][0] * c[j][k] / (c[j][j] * c[k][k]).sqrt())
            .sum();
        let support: Vec<usize> = (0..9).filter(|j| x[*j][0] != 0.0).collect();
        assert_eq!(support, [0, 2, 5, 8], "{door:?}");
        assert!(found > 3.5, "{door:?}: {found}");
    }
}

/// Values whose squares are no numbers are an error with the column where C would be zeros, and as good as others
/// where columns are scaled.
#[test]
fn squares_that_underflow_are_said() {
    let dir = Dir::new();
    let table = |unit: &str| -> String {
        (0..20).map(|i| format!("{}{unit},{}{unit}\n", i * i % 7, i * i % 11 + 3 * i % 5)).collect()
    };
    dir.write("usual.csv", table(""));
    dir.write("small.csv", table("e-170"));
    for how in [&["--stream"][..], &["--screen", "2"]] {
        let args = [&["solve", "pca", "small.csv", "-r", "1"], how].concat();
        dir.fails_in_one_line(&args, 1, &["small.csv", "column 1", "squares"]);
    }
    let solve = |file: &str| dir.json(&["solve", "pca", file, "-r", "1", "--stream", "--scale", "std", "-q"]);
    let (usual, small) = (solve("usual.csv"), solve("small.csv"));
    let objective = |object: &serde_json::Value| object["objective"].as_f64().unwrap();
    assert!((objective(&usual) - objective(&small)).abs() < 1e-12);
}

/// A column that is constant is zeros in C, whatever its value; one whose spread the sums have lost is an error.
#[test]
fn constant_columns_stay_constant() {
    let dir = Dir::new();
    let row = |i: usize| format!("{},0.1,{}\n", i % 5, 1e9 + (i % 3) as f64);
    dir.write("1.csv", (0..300).map(row).collect::<String>());
    dir.write("2.csv", (300..900).map(row).collect::<String>());
    for how in [&[][..], &["--reproducible"]] {
        let object =
            dir.json(&[&["solve", "pca", "1.csv", "2.csv", "-r", "2", "--covariance", "-q"], how].concat());
        assert!((0..2).all(|k| object["x"][1][k].as_f64().unwrap().abs() < 1e-12));
        let objective = object["objective"].as_f64().unwrap();
        let expected = -0.5 * (900.0 / 899.0) * (2.0 + 2.0 / 3.0);
        assert!((objective - expected).abs() < 1e-11, "{objective} {expected}");
    }
}
