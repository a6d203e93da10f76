//! A set of rows that can be drawn from: constant time to add, remove, look up and draw.

/// Rows in any order, and where each of them is.
#[derive(Clone, Debug)]
pub struct RowSet {
    list: Vec<usize>,
    place: Vec<u32>, // position in `list`, or ABSENT
}

const ABSENT: u32 = u32::MAX;

impl RowSet {
    /// None of n rows.
    pub fn empty(n: usize) -> Self {
        Self { list: Vec::new(), place: vec![ABSENT; n] }
    }

    /// All of n rows.
    pub fn all(n: usize) -> Self {
        Self { list: (0..n).collect(), place: (0..n as u32).collect() }
    }

    /// Puts row i in.
    #[inline]
    pub fn insert(&mut self, i: usize) {
        if !self.contains(i) {
            self.place[i] = self.list.len() as u32;
            self.list.push(i);
        }
    }

    /// Takes row i out.
    #[inline]
    pub fn remove(&mut self, i: usize) {
        if !self.contains(i) {
            return;
        }
        let at = self.place[i] as usize;
        self.list.swap_remove(at);
        if let Some(moved) = self.list.get(at) {
            self.place[*moved] = at as u32;
        }
        self.place[i] = ABSENT;
    }

    /// True if row i is in.
    #[inline]
    pub fn contains(&self, i: usize) -> bool {
        self.place[i] != ABSENT
    }

    /// The rows, in the order in which they came, as far as none has left.
    #[inline]
    pub fn list(&self) -> &[usize] {
        &self.list
    }

    /// Rows that may be in it.
    pub fn capacity(&self) -> usize {
        self.place.len()
    }
}
