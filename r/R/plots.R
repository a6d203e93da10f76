#' @rdname predict.sparse_pca
#' @export
plot.sparse_pca <- function(x, main = deparse1(substitute(x)), ylab = "Variances", ...) {
    force(main)
    heights <- rbind(Own = x$sdev^2, Added = x$adjusted)
    colnames(heights) <- colnames(x$rotation)
    at <- barplot(heights, beside = TRUE, main = main, ylab = ylab, legend.text = TRUE, ...)
    invisible(at)
}

# The picture of prcomp, whose conventions the object keeps.
#' @rdname predict.sparse_pca
#' @export
biplot.sparse_pca <- function(x, ...) {
    if (is.null(x$x)) fail("a biplot shows scores: refit with 'retx = TRUE' and data, not 'covmat'")
    if (ncol(x$rotation) < 2L) fail("a biplot needs two components, and there is one")
    class(x) <- "prcomp"
    biplot(x, ...)
}
