//! Small tables that come with the crate, as text under `builtin/` and one line in the registry.

use crate::dataset::{DataSet, Role};
use crate::error::DataError;
use crate::format::{LoadOptions, read_builtin_csv};

struct Table {
    name: &'static str,
    about: &'static str,
    role: Role,
    csv: &'static str,
}

#[rustfmt::skip]
const TABLES: &[Table] = &[
    Table { name: "pitprops", role: Role::Gram, csv: include_str!("builtin/pitprops.csv"),
        about: "13 x 13 correlations of properties of pine props (Jeffers 1967); C itself, not samples" },
];

/// The built-in tables: how to name each as `DATA`, and one line about it.
pub fn builtins() -> Vec<(String, &'static str)> {
    TABLES.iter().map(|table| (format!("builtin:{}", table.name), table.about)).collect()
}

/// `name` is what follows `builtin:` in `spec`.
pub(crate) fn load(spec: &str, name: &str, options: &LoadOptions) -> Result<DataSet, DataError> {
    let Some(table) = TABLES.iter().find(|table| table.name == name) else {
        let known: Vec<_> = builtins().into_iter().map(|(name, _)| name).collect();
        return Err(DataError::Spec {
            spec: spec.into(),
            problem: "there is no such table".into(),
            expected: known.join(" or "),
        });
    };
    read_builtin_csv(spec, table.csv, &LoadOptions { gram: table.role == Role::Gram, ..options.clone() })
}
