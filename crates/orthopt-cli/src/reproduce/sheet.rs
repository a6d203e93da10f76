//! A table as text, and a picture with one.

/// A picture, with a table of what is in it.
#[derive(Clone, Debug)]
pub struct Drawing {
    pub svg: String,
    pub grid: Grid,
    pub notes: Vec<String>,
}

/// A table as text cells.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}
