print.sparse_pca <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
    p <- ncol(x$rotation)
    cat("Standard deviations (1, .., p=", p, "):\n", sep = "")
    print(x$sdev, digits = digits, ...)
    cat("\nRotation (n x k) = (", nrow(x$rotation), " x ", p, "), zeros as '.':\n", sep = "")
    print(with_dots(x$rotation, digits), quote = FALSE, right = TRUE, ...)
    cat("\nObjective ", format(x$objective, digits = digits + 3L), " (", x$status, ")", told_bound(x, digits),
        "\n", sep = "")
    told_certificate(x$certificate)
    invisible(x)
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

summary.sparse_pca <- function(object, ...) {
    total <- object$total_variance
    share <- object$sdev^2 / total
    adjusted <- object$adjusted / total
    importance <- rbind(
        "Standard deviation" = object$sdev,
        "Proportion of Variance" = share,
        "Adjusted Proportion" = adjusted,
        "Cumulative Adjusted" = cumsum(adjusted),
        "Nonzero Loadings" = object$nonzeros
    )
    colnames(importance) <- colnames(object$rotation)
    object$importance <- importance
    class(object) <- c("summary.sparse_pca", class(object))
    object
}

print.summary.sparse_pca <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
    cat("Importance of components:\n")
    counts <- nrow(x$importance)
    text <- format(round(x$importance[-counts, , drop = FALSE], digits), digits = digits)
    text <- rbind(text, format(x$importance[counts, , drop = FALSE]))
    print(text, quote = FALSE, right = TRUE, ...)
    cat("\nAdjusted: what a component adds to those before it, as scores of sparse components are correlated.\n")
    invisible(x)
}

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
