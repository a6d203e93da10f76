//! The exact messages for text files that cannot be used.

use crate::common::{expect_messages, message, message_with, read, read_with};
use orthopt_data::{DataError, LoadOptions};

#[test]
fn libsvm() {
    expect_messages(
        "a.svm",
        &[
            ("1 1:2\n1 0:3\n", "a.svm:2: index 0 in `0:3`; indices are counted from 1"),
            ("1 x:3\n", "a.svm:1: the index in `x:3` is not a whole number of at least 1"),
            ("1 -2:3\n", "a.svm:1: the index in `-2:3` is not a whole number of at least 1"),
            (
                "1 99999999999999999999999:3\n",
                "a.svm:1: the index in `99999999999999999999999:3` is not a whole number of at least 1",
            ),
            ("# c\n\n1 12\n", "a.svm:3: `12` has no colon; expected index:value"),
            ("1 3:x\n", "a.svm:1: the value in `3:x` is not a number"),
            ("1 3:\n", "a.svm:1: the value in `3:` is not a number"),
            ("1 5:1 2:1\n", "a.svm:1: index 2 comes after index 5; indices must increase within a line"),
            ("1 5:1 5:2\n", "a.svm:1: index 5 appears twice; every index may occur once per line"),
            (
                "1:3 2:4\n",
                "a.svm:1: the line starts with `1:3` where a label is required; \
                 put a number first (0 if there are no labels)",
            ),
            (
                "spam 2:4\n",
                "a.svm:1: the label `spam` is not a finite number; labels must be single numbers such as -1 or 2",
            ),
            (
                "1,2 2:4\n",
                "a.svm:1: the label `1,2` is not a finite number; labels must be single numbers such as -1 or 2",
            ),
            (
                "nan 2:4\n",
                "a.svm:1: the label `nan` is not a finite number; labels must be single numbers such as -1 or 2",
            ),
            (
                "3 qid:1 2:4\n",
                "a.svm:1: `qid:` (query numbers of ranking data) is not supported; remove these fields",
            ),
            (
                "1 1:2\n\n1 1:3 7:nan\n",
                "a.svm:3: the value in row 2, column 7 (counted from 1) is NaN; \
                 all values must be finite: remove the row or fill the value in",
            ),
            (
                "1 7:1e999\n",
                "a.svm:1: the value in row 1, column 7 (counted from 1) is inf; \
                 all values must be finite: remove the row or fill the value in",
            ),
            ("", "a.svm: the file is empty"),
            ("# nothing\n\n", "a.svm: no data (0 rows, 0 columns); at least one of each is needed"),
            ("1\n-1\n", "a.svm: no data (2 rows, 0 columns); at least one of each is needed"),
            (
                "1 1:1 999999999999:1\n",
                "a.svm: a sparse matrix with 999999999999 columns but only 2 entries is refused \
                 (at most 16777216 for so few); check the sizes or indices",
            ),
        ],
    );
}

#[test]
fn libsvm_features() {
    let options = |features| LoadOptions { features: Some(features), ..LoadOptions::default() };
    let (_, data) = read_with("a.svm", "1 1:2 3:4\n", &options(5));
    let matrix = data.unwrap().matrix;
    assert_eq!((matrix.nrows(), matrix.ncols(), matrix.nnz()), (1, 5, 2));
    assert_eq!(
        message_with("a.svm", "1 1:2\n1 1:2 6:4\n", &options(5)),
        "a.svm:2: index 6 is larger than the number of features asked for (5); \
         ask for more, or for none to take the largest index"
    );
}

#[test]
fn matrix_market_banner_and_sizes() {
    expect_messages(
        "a.mtx",
        &[
            ("", "a.mtx: the file is empty"),
            (
                "1 2 3\n",
                "a.mtx:1: expected `%%MatrixMarket matrix coordinate|array real|integer|pattern \
                 general|symmetric|skew-symmetric`, found `1 2 3`",
            ),
            (
                "%%MatrixMarket matrix coordinate complex general\n",
                "a.mtx:1: `complex` matrices are not supported, only real, integer and pattern; convert the file",
            ),
            (
                "%%MatrixMarket matrix coordinate quaternions_of_unit_length_in_a_rather_long_word general\n",
                "a.mtx:1: `quaternions_of_unit_length_in_a_rather_l...` matrices are not supported, only real, integer \
                 and pattern; convert the file",
            ),
            (
                "%%MatrixMarket matrix coordinate real hermitian\n",
                "a.mtx:1: `hermitian` matrices are not supported, only general, symmetric and skew-symmetric; \
                 convert the file",
            ),
            (
                "%%MatrixMarket matrix array pattern general\n",
                "a.mtx:1: `array pattern` matrices are not supported, only coordinate pattern; convert the file",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n% only comments\n",
                "a.mtx: the line of sizes is missing; the file is truncated",
            ),
            (
                "%%MatrixMarket matrix coordinate real general\n3 4\n",
                "a.mtx:2: expected the sizes `rows columns entries`, found `3 4`",
            ),
            (
                "%%MatrixMarket matrix array real general\n3 -4\n",
                "a.mtx:2: expected the sizes `rows columns`, found `3 -4`",
            ),
            (
                "%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n1 1 1\n",
                "a.mtx:2: a symmetric matrix must be square, not 3 x 4",
            ),
            (
                "%%MatrixMarket matrix array real general\n0 99999999999999\n",
                "a.mtx:2: no data (0 rows, 99999999999999 columns); at least one of each is needed",
            ),
        ],
    );
}

#[test]
fn matrix_market_entries() {
    let table = [
        ("2 2 2\n1 1 1\n", "a.mtx: 2 entries are declared but there are only 1; the file is truncated"),
        ("2 2 1\n1 1 1\n% c\n\n2 2 1\n", "a.mtx:6: more than the 1 entries declared"),
        (
            "2 3 1\n3 1 1\n",
            "a.mtx:3: position (3, 1) is outside the 2 x 3 matrix; positions are counted from 1",
        ),
        (
            "2 3 1\n0 1 1\n",
            "a.mtx:3: position (0, 1) is outside the 2 x 3 matrix; positions are counted from 1",
        ),
        ("2 3 1\n1 1\n", "a.mtx:3: expected `row column value`, found `1 1`"),
        ("2 3 1\n1 1 1 1\n", "a.mtx:3: expected `row column value`, found `1 1 1 1`"),
        ("2 3 1\n1 x 1\n", "a.mtx:3: expected `row column value`, found `1 x 1`"),
        ("2 3 1\n1 1 x\n", "a.mtx:3: the value `x` is not a number"),
        (
            "2 3 1\n2 3 -inf\n",
            "a.mtx:3: the value in row 2, column 3 (counted from 1) is -inf; \
             all values must be finite: remove the row or fill the value in",
        ),
        (
            "4 99999999999 1\n1 1 1\n",
            "a.mtx: a sparse matrix with 99999999999 columns but only 1 entries is refused \
             (at most 16777216 for so few); check the sizes or indices",
        ),
        (
            "4 4 18446744073709551615\n1 1 1\n",
            "a.mtx: 18446744073709551615 entries are declared but there are only 1; the file is truncated",
        ),
        (
            "2 2 2\n1 1 1.7e308\n1 1 1.7e308\n",
            "a.mtx: the value in row 1, column 1 (counted from 1) is inf; \
             all values must be finite: remove the row or fill the value in",
        ),
    ];
    for (body, expected) in table {
        let content = format!("%%MatrixMarket matrix coordinate real general\n{body}");
        assert_eq!(message("a.mtx", &content), expected, "for {body:?}");
    }
}

#[test]
fn matrix_market_triangles_and_arrays() {
    expect_messages(
        "a.mtx",
        &[
            (
                "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n1 3 1\n",
                "a.mtx:4: entry (1, 3) is not in the triangle of earlier entries; \
                 a symmetric file stores one triangle (or declare it general)",
            ),
            (
                "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 1\n",
                "a.mtx:3: a skew-symmetric matrix has zeros on its diagonal",
            ),
            (
                "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n2 2 1\n",
                "a.mtx:3: expected `row column`, found `2 2 1`",
            ),
            (
                "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
                "a.mtx: 4 values are declared but there are only 3; the file is truncated",
            ),
            (
                "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n",
                "a.mtx:6: more than the 3 values declared",
            ),
            (
                "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3,5\n4\n",
                "a.mtx:5: the value `3,5` is not a number",
            ),
            (
                "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\nnan\n6\n",
                "a.mtx:7: the value in row 3, column 2 (counted from 1) is NaN; \
                 all values must be finite: remove the row or fill the value in",
            ),
            (
                "%%MatrixMarket matrix array real general\n99999999999 99999999999\n1\n",
                "a.mtx:2: a 99999999999 x 99999999999 matrix is too large",
            ),
        ],
    );
}

#[test]
fn csv() {
    expect_messages(
        "a.csv",
        &[
            ("a,b\n1,2\n3\n", "a.csv:3: 1 field where line 1 has 2; every line needs the same number"),
            ("1,2\n3,4,5\n", "a.csv:2: 3 fields where line 1 has 2; every line needs the same number"),
            ("a,b\n1,2,3,4\n", "a.csv:2: 4 fields where line 1 has 2; every line needs the same number"),
            (
                "a,b\n1,2\n3,x\n",
                "a.csv:3: `x` in column 2 (`b`) is not a number; if it stands for a missing value, say option `na` = x (option \
                 `missing` says how missing values are treated), and if the column holds text, option `drop` = b leaves it out",
            ),
            (
                "1,2\n3,x\n",
                "a.csv:2: `x` in column 2 is not a number; if it stands for a missing value, say option `na` = x (option \
                 `missing` says how missing values are treated), and if the column holds text, option `drop` = 2 leaves it out",
            ),
            (
                "a,b\n1,2\n\n3,\n",
                "a.csv:4: row 2, column 2 (`b`) has a missing value (the cell is empty); fill it in, remove the row or \
                 column, or choose how missing values are treated: mean (of the column), drop (the row) or em",
            ),
            (
                "1,NA,3\n4,5,6\n",
                "a.csv:1: row 1, column 2 has a missing value (`NA`); fill it in, remove the \
                 row or column, or choose how missing values are treated: mean (of the column), drop (the row) or em",
            ),
            (
                "id,a,b\nx,1,2\ny,3,nan\n",
                "a.csv:3: row 2, column 2 (`b`) has a missing value (`nan`); fill it in, remove the row or column, or \
                 choose how missing values are treated: mean (of the column), drop (the row) or em",
            ),
            (
                "a,b\n1,2\n3,-inf\n",
                "a.csv:3: the value in row 2, column 2 (counted from 1) is -inf; \
                 all values must be finite: remove the row or fill the value in",
            ),
            (
                "a,b\n1,2;3\n",
                "a.csv:2: `2;3` in column 2 (`b`) is not a number; the first line has another separator",
            ),
            (
                "q,b\nx,2\n3,4\n",
                "a.csv:3: the first column holds `3` here but `x` in the first row; \
                 it must be numbers or names throughout: option `row-names` = q takes it as names",
            ),
            (
                "x,1,2\ny,3,4\n",
                "a.csv:1: this line could be column names or the first row: only its first field is text, \
                 as in every row; add a line of column names, write `name` as its first field, or say option `header` = yes \
                 (names) or option `header` = no (a row)",
            ),
            (
                "\"a\",\"b\"\r\n\r\n1,2\r\n3,x\r\n",
                "a.csv:4: `x` in column 2 (`b`) is not a number; if it stands for a missing value, say option `na` = x (option \
                 `missing` says how missing values are treated), and if the column holds text, option `drop` = b leaves it out",
            ),
            (
                "\"a\nb\",c\n1,2\n3,x\n",
                "a.csv:4: `x` in column 2 (`c`) is not a number; if it stands for a missing value, say option `na` = x (option \
                 `missing` says how missing values are treated), and if the column holds text, option `drop` = c leaves it out",
            ),
            ("\"a,b\n1,2\n", "a.csv:1: a quoted field is not closed"),
            ("a,b\n", "a.csv: no data (0 rows, 2 columns); at least one of each is needed"),
            ("\n \n", "a.csv: no data (0 rows, 0 columns); at least one of each is needed"),
            ("", "a.csv: the file is empty"),
        ],
    );
    expect_messages(
        "a.tsv",
        &[(
            "a\tb\n1\t2x\n",
            "a.tsv:2: `2x` in column 2 (`b`) is a number with the unit `x`: option `strip` = b reads the numbers alone, option `drop` = b leaves the column out",
        )],
    );
}

#[test]
fn broken_text_is_shown_safely() {
    let long = format!("1 {}:1", "é".repeat(1000));
    let expected = format!("the index in `{}...` is not", "é".repeat(40));
    assert!(message("a.svm", long).contains(&expected));
    let wide = |count: usize| format!("1{}\n2{}\n", ",3 id".repeat(count), ",4 ix".repeat(count));
    let advice = message("a.csv", wide(2));
    let both = "in column 2 is a number with the unit `id`, and so in 1 more cell (`4 ix`): option `strip` = 2,3 reads the \
                numbers alone, option `drop` = 2 leaves the column out; `3 id` in column 3 is";
    assert!(advice.contains(both), "{advice}");
    let advice = message("a.csv", wide(1000));
    assert!(
        advice.contains("and so in 999 more columns, which are left out by option `drop` = 2-1001")
            && advice.len() < 350,
        "{advice}"
    );
    // a code that is the same in all columns is one for missing values, and no reason to leave them all out
    let coded = message("a.csv", "a,b,c,d,e,f\n1,2,3,4,5,6\nk.A.,k.A.,k.A.,k.A.,k.A.,k.A.\n");
    assert!(coded.contains("say option `na` = k.A. (option `missing` says how"), "{coded}");
    assert!(coded.ends_with("; and so in 5 more columns"), "{coded}");
    let long = "9.2".repeat(1000);
    let advice = message("a.csv", format!("a,b\n1,2\n3,{long}\n"));
    assert!(
        advice.len() < 250 && advice.contains("option `drop` = b") && !advice.contains("`na`"),
        "{advice}"
    );
    assert!(message("a.svm", b"1 \xff\xfe\x00:1").contains("the index in `\u{fffd}\u{fffd}\\0:1`"));
    assert!(matches!(read("a.svm", b"1 1:x"), Err(DataError::Line { line: 1, .. })));
}
