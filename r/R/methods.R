#' Methods for sparse principal components
#'
#' Scores of new data, tables and pictures for the result of [sparse_pca()].
#'
#' @param object,x a result of `sparse_pca`, or its summary.
#' @param newdata a matrix or a data frame. Its columns are matched by name if both have names, and other columns
#'   are ignored.
#' @param digits significant digits.
#' @param type `"variances"`: bars of the variance of each component, its own and the one that it adds;
#'   `"correlations"`: the circle of correlations of the variables with the scores of two components.
#' @param main,ylab titles of the plot.
#' @param components the two components of the circle.
#' @param top the number of variables in the circle: those with the longest arrows.
#' @param matrix `"u"` or `"scores"`, `"v"` or `"loadings"`, as for `tidy` of a [prcomp()]; `"d"`: one row for each
#'   component.
#' @param ... passed on: by `print` to [print.default()], by `plot` to [barplot()] or [plot.default()], by `biplot` to
#'   [biplot.prcomp()].
#' @returns `predict` returns scores, one row for each row of `newdata`; without `newdata` those of the data.
#'   `summary` returns the object with the matrix `importance`. `plot` returns the places of its bars, or the correlations.
#'
#'   `tidy` and `glance` are methods for the generics of the package generics, which broom exports, and return data
#'   frames. `tidy(x, "d")` has for each component its share of the variance (`percent`), the share that it adds to
#'   those before it (`adjusted`), the cumulated shares, and its `nonzeros`; `glance(x)` is one row for all.
#' @keywords multivariate
#' @examples
#' found <- sparse_pca(USArrests[1:40, ], ncomp = 2, nonzeros = 2, scale. = TRUE)
#' predict(found, USArrests[41:50, ])
#' summary(found)$importance
#' plot(found)
#' plot(found, "correlations")
#' biplot(found)
#' @export
predict.sparse_pca <- function(object, newdata, ...) {
    if (missing(newdata)) {
        if (is.null(object$x)) fail("no scores are available: refit with 'retx = TRUE' and data, not 'covmat'")
        return(object$x)
    }
    newdata <- matched(newdata, object$rotation)
    if (is_sparse(newdata)) return(sparse_scores(newdata, object$rotation, object$center, object$scale))
    scale(newdata, object$center, object$scale) %*% object$rotation
}

# The columns of new data in the order of the loadings; by name where both have names.
matched <- function(newdata, rotation) {
    wanted <- rownames(rotation)
    if (!is.null(wanted) && !is.null(colnames(newdata))) {
        missing <- setdiff(wanted, colnames(newdata))
        if (length(missing) > 0L) fail("'newdata' has no columns called ", listed(missing))
        newdata <- newdata[, wanted, drop = FALSE]
    }
    if (!is_sparse(newdata)) newdata <- numbers(newdata, "newdata")
    if (ncol(newdata) != nrow(rotation)) {
        fail("'newdata' has ", ncol(newdata), " columns, and the components have ", nrow(rotation), " variables")
    }
    newdata
}

#' @rdname predict.sparse_pca
#' @export
print.sparse_pca <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
    cat("Rotation (n x k) = (", nrow(x$rotation), " x ", ncol(x$rotation), "), zeros as '.':\n", sep = "")
    print(with_dots(x$rotation, digits), quote = FALSE, right = TRUE, ...)
    cat("\nStandard deviations: ", paste(format(x$sdev, digits = digits), collapse = " "), "\n", sep = "")
    cat(told_together(x, digits), "\n", sep = "")
    cat("Objective ", format(x$objective, digits = digits + 3L), " (", x$status, ")", told_bound(x, digits),
        "\n", sep = "")
    told_certificate(x$certificate)
    invisible(x)
}

# The number to put beside that of PCA.
told_together <- function(x, digits) {
    percent <- function(share) paste0(format(100 * share, digits = digits, nsmall = 1L), " %")
    pca <- x$report$pca_share
    paste0("Together ", percent(sum(x$adjusted) / x$total_variance), " of the variance",
           if (!is.null(pca)) paste0("; PCA with as many components: ", percent(pca)))
}

# Numbers with a dot for every exact zero.
with_dots <- function(x, digits) {
    text <- format(round(x, digits), digits = digits)
    text[x == 0] <- "."
    text
}

told_bound <- function(x, digits) {
    if (is.null(x$bound)) return("")
    proof <- if (identical(x$proof, "optimal")) ": proved to be the minimum" else ""
    gap <- if (is.null(x$gap)) "" else paste0(", gap ", format(100 * x$gap, digits = 3L), " %")
    paste0("; no components have one below ", format(x$bound, digits = digits + 3L), gap, proof)
}

told_certificate <- function(found) {
    if (is.null(found)) return(invisible())
    cat(if (found$holds) "Certified: " else "Not certified: ", found$pairs_checked, " of ", found$pairs_total,
        " pairs of rows checked, largest decrease ", format(found$max_decrease, digits = 3L), "\n", sep = "")
}

#' @rdname predict.sparse_pca
#' @export
summary.sparse_pca <- function(object, ...) {
    total <- object$total_variance
    share <- object$sdev^2 / total
    adjusted <- object$adjusted / total
    importance <- rbind(
        "Standard deviation" = object$sdev,
        "Proportion of Variance" = share,
        "Added Proportion" = adjusted,
        "Together" = cumsum(adjusted),
        "Nonzero Loadings" = object$nonzeros
    )
    colnames(importance) <- colnames(object$rotation)
    object$importance <- importance
    class(object) <- c("summary.sparse_pca", class(object))
    object
}

#' @rdname predict.sparse_pca
#' @export
print.summary.sparse_pca <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
    cat("Importance of components:\n")
    counts <- nrow(x$importance)
    text <- format(round(x$importance[-counts, , drop = FALSE], digits), digits = digits)
    text <- rbind(text, format(x$importance[counts, , drop = FALSE]))
    print(text, quote = FALSE, right = TRUE, ...)
    cat("\n", told_together(x, digits), "\n", sep = "")
    invisible(x)
}
