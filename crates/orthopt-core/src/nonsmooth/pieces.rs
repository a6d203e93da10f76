//! Penalties of |x| that are quadratic between kinks (mcp, scad, capped ℓ1). Their pair search is
//! [`crate::pair::pieces`].

/// c + s·x + ½q·x² for x ≥ `from`, up to the next piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Lower end of the interval of the piece.
    pub from: f64,
    /// c.
    pub constant: f64,
    /// s.
    pub slope: f64,
    /// q.
    pub bend: f64,
}

impl Piece {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        self.constant + (self.slope + 0.5 * self.bend * x) * x
    }

    fn derivative(&self, x: f64) -> f64 {
        self.slope + self.bend * x
    }
}

/// A continuous penalty of |x|, piece by piece from 0 on.
#[derive(Clone, Debug, PartialEq)]
pub struct Pieces {
    #[doc(hidden)]
    pub pieces: Vec<Piece>,
    kinks: Vec<f64>, // where pieces meet, with both signs, and 0
}

impl Pieces {
    /// The penalty with the given pieces, the first from 0 and the others in order.
    pub fn new(pieces: Vec<Piece>) -> Self {
        let mut kinks: Vec<f64> = pieces.iter().skip(1).flat_map(|p| [-p.from, p.from]).collect();
        kinks.push(0.0);
        Self { pieces, kinks }
    }

    /// The piece of the size x ≥ 0.
    #[inline(always)]
    #[doc(hidden)]
    pub fn at(&self, size: f64) -> &Piece {
        let k = self.pieces.iter().skip(1).take_while(|p| p.from < size).count();
        &self.pieces[k]
    }

    /// h(x).
    #[inline(always)]
    pub fn entry(&self, x: f64) -> f64 {
        let size = x.abs();
        self.at(size).value(size)
    }

    /// See [`crate::nonsmooth::Nonsmooth::affine`].
    pub fn affine(&self, x: f64) -> (f64, f64) {
        let piece = self.at(x.abs());
        (piece.constant, piece.slope * x.signum())
    }

    /// See [`crate::nonsmooth::Nonsmooth::bend`].
    pub fn bend(&self, x: f64) -> f64 {
        self.at(x.abs()).bend
    }

    /// See [`crate::nonsmooth::Nonsmooth::kinks`].
    pub fn kinks(&self) -> &[f64] {
        &self.kinks
    }

    /// The limiting subdifferential, where it is not an interval the smallest one around it.
    pub fn subdifferential(&self, x: f64) -> (f64, f64) {
        let size = x.abs();
        if size == 0.0 {
            let slope = self.pieces[0].slope;
            return (-slope, slope);
        }
        let before = self.at(size).derivative(size);
        let after = self.pieces.iter().find(|p| p.from == size).map_or(before, |p| p.derivative(size));
        let (lo, hi) = (before.min(after), before.max(after));
        if x > 0.0 { (lo, hi) } else { (-hi, -lo) }
    }

    /// A global minimiser of (x − v)²/(2μ) + h(x), whatever μ > 0 is: the best of the minimisers
    /// over the pieces. The closed forms of the penalties are tested against it.
    pub fn prox(&self, v: f64, mu: f64) -> f64 {
        let size = v.abs();
        let mut best = (f64::INFINITY, 0.0);
        let mut offer = |x: f64| {
            let cost = 0.5 * (x - size) * (x - size) / mu + self.entry(x);
            if cost < best.0 {
                best = (cost, x);
            }
        };
        offer(0.0);
        for (k, piece) in self.pieces.iter().enumerate() {
            let end = self.pieces.get(k + 1).map_or(f64::INFINITY, |p| p.from);
            offer(piece.from);
            let convex = 1.0 + mu * piece.bend;
            if convex > 0.0 {
                offer(((size - mu * piece.slope) / convex).clamp(piece.from, end));
            }
        }
        v.signum() * best.1
    }
}
