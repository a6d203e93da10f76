# What looks like something else, as the command says it of a file.

# Covariances with an empty triangle filled by the other one; warns of negative eigenvalues.
look_at_covariances <- function(covmat) {
    if (has_one_triangle(covmat)) {
        upper <- any(covmat[upper.tri(covmat)] != 0)
        covmat[] <- covmat + t(covmat) - diag(diag(covmat), nrow(covmat))
        warn("the table is triangular: its ", if (upper) "upper" else "lower", " triangle is used for both")
    }
    for (note in remarks_on(covmat, TRUE)) warn(note)
    covmat
}
