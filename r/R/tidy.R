# Methods for the generics tidy and glance of the package generics, which broom exports. Scores and loadings are those of prcomp;
# shares of the variance are not, as scores of sparse components are correlated.

#' @rdname predict.sparse_pca
#' @method tidy sparse_pca
#' @exportS3Method generics::tidy sparse_pca
tidy.sparse_pca <- function(x, matrix = "u", ...) {
    if (!matrix %in% c("d", "eigenvalues", "pcs")) return(NextMethod())
    total <- x$total_variance
    data.frame(PC = seq_along(x$sdev), std.dev = x$sdev, percent = x$sdev^2 / total, adjusted = unname(x$adjusted) / total,
               cumulative = cumsum(unname(x$adjusted)) / total, nonzeros = unname(x$nonzeros))
}

#' @rdname predict.sparse_pca
#' @method glance sparse_pca
#' @exportS3Method generics::glance sparse_pca
glance.sparse_pca <- function(x, ...) {
    known <- function(value) if (is.null(value)) NA_real_ else value
    data.frame(components = ncol(x$rotation), nonzeros = sum(x$nonzeros), explained = sum(x$adjusted) / x$total_variance,
               objective = x$objective, bound = known(x$bound), gap = known(x$gap), status = x$status,
               feasibility = x$feasibility, nobs = x$n)
}
