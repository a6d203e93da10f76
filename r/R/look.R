# What looks like something else: the command says the same of a file.

# Entries of a symmetric table may differ by this share of the largest, as rounded numbers do.
SYMMETRIC <- 1e-9
# Variables from which on no eigenvalue is looked for.
LARGE <- 4000L

is_symmetric <- function(x) nrow(x) == ncol(x) && all(abs(x - t(x)) <= SYMMETRIC * max(abs(x)))

# Warns of samples that look like a covariance or correlation matrix, or like distances.
look_at_samples <- function(x) {
    n <- ncol(x)
    if (n < 3L || nrow(x) != n || all(x == 0) || !is_symmetric(x)) return(invisible())
    variances <- unname(diag(x))
    if (all(variances == 0)) {
        warn("the table is symmetric and has zeros on its diagonal: it looks like ", if (all(x >= 0)) "distances" else "differences",
             " (or a graph) between ", n, " objects and is read as samples")
    } else if (all(variances >= 0) && all(abs(x) <= sqrt(outer(variances, variances)) * (1 + SYMMETRIC))) {
        kind <- if (all(abs(variances - variances[1L]) <= SYMMETRIC * max(abs(x)))) "correlation" else "covariance"
        warn("the table is symmetric: it looks like a ", kind, " matrix and is read as samples; covmat takes it as C itself")
    }
}

# Covariances with an empty triangle filled by the other one; warns of negative eigenvalues.
look_at_covariances <- function(covmat) {
    upper <- any(covmat[upper.tri(covmat)] != 0)
    lower <- any(covmat[lower.tri(covmat)] != 0)
    if (upper != lower) {
        covmat[] <- covmat + t(covmat) - diag(diag(covmat), nrow(covmat))
        warn("the table is triangular: its ", if (upper) "upper" else "lower", " triangle is used for both")
    }
    if (nrow(covmat) <= LARGE && is_symmetric(covmat)) {
        lowest <- min(eigen(covmat, symmetric = TRUE, only.values = TRUE)$values)
        total <- sum(diag(covmat))
        if (lowest < -SYMMETRIC * nrow(covmat) * max(abs(diag(covmat)))) {
            warn("C is indefinite: its smallest eigenvalue is ", format(lowest, digits = 4L), " (",
                 format(100 * abs(lowest / total), digits = 2L), " % of the trace), so it is no matrix of variances ",
                 "(correlations by pairs of variables are such), and percentages may add up to more than 100 %; ",
                 "Matrix::nearPD finds the nearest matrix that is one")
        }
    }
    covmat
}
