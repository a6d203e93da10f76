#' @rdname predict.sparse_pca
#' @export
plot.sparse_pca <- function(x, type = c("variances", "correlations"), main = deparse1(substitute(x)), ylab = "Variances",
                            components = 1:2, top = 16L, ...) {
    force(main)
    if (match.arg(type) == "correlations") return(invisible(circle(x, main, components, top, ...)))
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

# The circle of correlations: an arrow for each variable to its correlations with the scores of two components. Returns them.
circle <- function(x, main, components, top, ...) {
    if (length(components) != 2L || !all(components %in% seq_len(ncol(x$rotation)))) {
        fail("'components' are two of the ", ncol(x$rotation), " components, by their numbers")
    }
    tips <- x$correlations[, components, drop = FALSE]
    if (any(abs(tips) > 1 + 1e-6)) fail("'covmat' is not positive semidefinite: correlations with scores are above 1")
    shown <- head(order(-rowSums(tips^2)), top)
    shown <- shown[rowSums(tips[shown, , drop = FALSE]^2) > 0]
    far <- tips[shown, , drop = FALSE]
    labels <- if (is.null(rownames(tips))) paste("variable", shown) else rownames(tips)[shown]
    titles <- paste("correlation with", colnames(tips))
    plot(0, 0, type = "n", asp = 1, xlim = c(-1.4, 1.4), ylim = c(-1.4, 1.4), main = main, xlab = titles[1L], ylab = titles[2L], ...)
    abline(h = 0, v = 0, col = "grey85")
    turn <- seq(0, 2 * pi, length.out = 361L)
    lines(cos(turn), sin(turn), col = "grey60")
    arrows(0, 0, far[, 1L], far[, 2L], length = 0.08)
    at <- apart(far, strwidth(labels), 1.3 * strheight(labels), par("usr"))
    segments(far[, 1L], far[, 2L], at[, 1L], at[, 2L], col = "grey80")
    text(at, labels)
    tips
}

# Places of labels beyond tips of arrows: inside the frame, off all labels before them and, if near enough, off the arrows.
apart <- function(tips, wide, high, frame) {
    places <- matrix(0, nrow(tips), 2L)
    along <- do.call(rbind, lapply(seq(0, 1, length.out = 60L), function(share) share * tips))
    up <- seq(-40, 40) / 2
    for (i in seq_len(nrow(tips))) {
        beyond <- tips[i, ] + sign(tips[i, ]) * c(wide[i], high[i]) * abs(tips[i, ]) / sqrt(sum(tips[i, ]^2)) / 2
        tried <- expand.grid(x = beyond[1L] + c(0, -0.5, 0.5) * wide[i], y = beyond[2L] + up * high[i])
        tried$x <- pmin(pmax(tried$x, frame[1L] + wide[i] / 2), frame[2L] - wide[i] / 2)
        tried$y <- pmin(pmax(tried$y, frame[3L] + high[i] / 2), frame[4L] - high[i] / 2)
        before <- seq_len(i - 1L)
        meets <- function(x, y) any(abs(x - places[before, 1L]) < (wide[i] + wide[before]) / 2 &
                                    abs(y - places[before, 2L]) < (high[i] + high[before]) / 2)
        covers <- function(x, y) any(abs(along[, 1L] - x) < wide[i] / 2 & abs(along[, 2L] - y) < high[i] / 2)
        distance <- sqrt((tried$x - beyond[1L])^2 + (tried$y - beyond[2L])^2) + 4 * high[i] * mapply(covers, tried$x, tried$y)
        places[i, ] <- unlist(tried[order(mapply(meets, tried$x, tried$y), distance)[1L], ])
    }
    places
}
