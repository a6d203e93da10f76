# Sparse matrices of the package Matrix: their rows are never filled. What is analysed is their covariance matrix (n x n), whose
# centring and scaling are done in its own entries.

is_sparse <- function(x) is(x, "sparseMatrix")

from_sparse <- function(x, center, scale., na.action) {
    if (!requireNamespace("Matrix", quietly = TRUE)) fail("'x' is a sparse matrix: install the package Matrix")
    if (!is.null(na.action)) fail("'na.action' does not apply with a sparse matrix: leave out rows beforehand")
    if (nrow(x) == 0L || ncol(x) == 0L) fail("'x' is empty: ", nrow(x), " x ", ncol(x))
    x <- as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
    if (!all(is.finite(x@x))) fail("'x' has stored values that are not finite")
    m <- nrow(x)
    units <- sparse_units(x, center, scale.)
    c <- as.matrix(Matrix::crossprod(x))
    means <- Matrix::colMeans(x)
    # the sum of (x - center)(x - center)'
    c <- c - m * (outer(means, units$shift) + outer(units$shift, means) - outer(units$shift, units$shift))
    c <- c / outer(units$divisor, units$divisor) / max(1, m - 1)
    dimnames(c) <- list(colnames(x), colnames(x))
    list(matrix = c, scores = x, gram = TRUE, names = colnames(x), center = units$center, scale = units$scale,
         variances = diag(c), rows = m)
}

# Centres and scales as prcomp has them.
sparse_units <- function(x, center, scale.) {
    n <- ncol(x)
    units <- function(given, name, usual, found) {
        value <- if (isTRUE(given)) found else if (isFALSE(given)) rep(usual, n) else given
        if (!is.numeric(value) || length(value) != n) fail("'", name, "' is ", shown(given), ": expected TRUE, FALSE or ", n, " numbers")
        setNames(as.double(value), colnames(x))
    }
    shift <- units(center, "center", 0, Matrix::colMeans(x))
    squares <- Matrix::colSums(x^2) - nrow(x) * (2 * shift * Matrix::colMeans(x) - shift^2)
    divisor <- units(scale., "scale.", 1, sqrt(pmax(squares, 0) / max(1, nrow(x) - 1)))
    if (any(divisor == 0)) {
        fail("column ", named(colnames(x), which(divisor == 0)[1L]), " is constant and cannot be scaled to unit variance")
    }
    list(shift = shift, divisor = divisor, center = if (isFALSE(center)) FALSE else shift,
         scale = if (isFALSE(scale.)) FALSE else divisor)
}

# Scores of sparse rows.
sparse_scores <- function(x, rotation, center, scale) {
    weights <- if (isFALSE(scale)) rotation else rotation / scale
    scores <- as.matrix(x %*% weights)
    if (!isFALSE(center)) scores <- sweep(scores, 2L, drop(center %*% weights))
    dimnames(scores) <- list(rownames(x), colnames(rotation))
    scores
}
