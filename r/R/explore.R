# Numbers of variables in each component that are looked at.
COUNTS <- c(1, 2, 3, 5, 7, 10, 14, 20, 30)
# Pairs of halves of the rows.
PAIRS <- 25L
# Seconds of the bound where there is no limit.
BOUND <- 3

#' From a table to sparse components
#'
#' Says how many components a table has, how many variables each needs, which they are, how sure that is and how
#' far from the best.
#'
#' @details The number of variables in each component is the knee of the variance along 1, 2, 3, 5, 7, 10, 14, 20
#' and 30 of them. The components are those of `sparse_pca(x, ncomp, nonzeros)`.
#'
#' @param x a numeric matrix or data frame, samples in rows; for the methods, the object.
#' @param ncomp the number of components, or `"auto"`: those that exceed noise (parallel analysis).
#' @param center,scale.,seed,na.action as for [sparse_pca()]; columns are scaled by default.
#' @param maximise the measure to maximise, as for [sparse_pca()].
#' @param time_limit seconds of all steps together; `NULL`: each search ends by itself, and the same table has the same components; the bound has three
#'   seconds, so that it may differ.
#' @param xlab,ylab,... passed on to [plot()].
#' @returns An object of class `"explore"`: `components`, the object of [sparse_pca()]; `counts` and `shares` of
#'   the path; `nonzeros`, the number that was chosen, and whether the curve `bends` there.
#' @seealso [sparse_pca()], [stability()].
#' @keywords multivariate
#' @examples
#' \donttest{
#' found <- explore(USArrests, ncomp = 2, time_limit = 5)
#' found
#' plot(found)
#' }
#' @export
explore <- function(x, ncomp = "auto", center = TRUE, scale. = TRUE, maximise = NULL, time_limit = NULL,
                    seed = 0, na.action = NULL) {
    call <- match.call()
    begun <- proc.time()[["elapsed"]]
    # seconds of a share of what is left of the limit, if there is one
    left <- function(share) {
        if (!is.null(time_limit)) share * max(0.1, time_limit - (proc.time()[["elapsed"]] - begun))
    }
    fit <- function(...) {
        quietly(sparse_pca(x, center = center, scale. = scale., maximise = maximise, seed = seed,
                           na.action = na.action, ...))
    }
    n <- ncol(samples(x, na.action))
    counts <- unique(pmin(COUNTS, n))
    path <- list()
    for (k in counts) {
        share <- 0.4 / (length(counts) - length(path))
        path[[length(path) + 1L]] <- fit(ncomp = ncomp, nonzeros = k, effort = "quick", time_limit = left(share))
        if (path[[length(path)]]$status == "interrupted") break
        ncomp <- ncol(path[[1L]]$rotation)
    }
    counts <- counts[seq_along(path)]
    maximise <- path[[1L]]$report$explained_variance$maximised
    shares <- vapply(path, share_of, 0, maximise = maximise)
    chosen <- knee(counts, shares)
    found <- path[[chosen$place]]
    if (found$status != "interrupted") {
        best <- fit(ncomp = ncomp, nonzeros = counts[chosen$place], effort = "normal", time_limit = left(0.4),
                    stability = PAIRS, bound = if (is.null(time_limit)) BOUND else left(0.2))
        if (best$objective <= found$objective) found <- best
    }
    structure(class = "explore", list(components = found, counts = counts, shares = shares,
                                      nonzeros = counts[chosen$place], bends = chosen$bends, maximise = maximise,
                                      reasons = path[[1L]]$reasons, call = call))
}

# Notes of the runs are in the answers.
quietly <- function(expr) withCallingHandlers(expr, orthopt_warning = function(w) invokeRestart("muffleWarning"))

# Share of the variance in the measure that was maximised.
share_of <- function(found, maximise) {
    measure <- c(variance = "projected", adjusted = "total", polar = "polar", explained = "predicted")
    found$report$explained_variance[[measure[[maximise]]]]
}

# The point furthest above the chord, both axes as shares of their range: that of the command. Single variables are no
# components, and without a knee the middle is taken.
knee <- function(counts, shares) {
    first <- if (length(counts) > 2L && counts[1L] == 1) 2L else 1L
    use <- first:length(counts)
    width <- diff(range(counts[use]))
    height <- shares[length(shares)] - shares[first]
    if (width <= 0 || height <= 0) return(list(place = length(counts) %/% 2L + 1L, bends = FALSE))
    above <- (shares[use] - shares[first]) / height - (counts[use] - counts[first]) / width
    best <- which.max(above)
    if (above[best] < 0.05) return(list(place = length(counts) %/% 2L + 1L, bends = FALSE))
    list(place = use[best], bends = TRUE)
}

#' @rdname explore
#' @export
print.explore <- function(x, ...) {
    found <- x$components
    explained <- found$report$explained_variance
    percent <- function(share) paste0(format(100 * share, digits = 3L), " %")
    cat("How many components?\n  ", ncol(found$rotation), sep = "")
    chosen <- grep("eigenvalue|variance", x$reasons, value = TRUE)
    cat(if (length(chosen) > 0L) paste0(": ", chosen[1L]), "\n", sep = "")
    cat("How many variables in each component?\n  ", x$nonzeros, " of ", nrow(found$rotation),
        if (x$bends) ", the knee of the curve" else ", the middle of the path: the curve has no knee", "\n", sep = "")
    cat("Which components?\n  together they explain ", percent(explained$total), " of the variance (adjusted), ",
        percent(explained$predicted), " by regression on the scores\n", sep = "")
    print(found$rotation[rowSums(found$rotation != 0) > 0, , drop = FALSE], digits = 2L)
    if (!is.null(found$stability)) {
        cat("How sure?\n")
        print(found$stability)
    }
    if (!is.null(found$bound)) {
        most <- share_bound(found, x$maximise)
        cat("How far from the best?\n  no components with so many variables explain more than ", percent(most), " (",
            x$maximise, "); these explain ", percent(share_of(found, x$maximise)), "\n", sep = "")
    }
    invisible(x)
}

#' @rdname explore
#' @export
plot.explore <- function(x, xlab = "variables in each component", ylab = "share of the variance", ...) {
    plot(x$counts, x$shares, type = "b", xlab = xlab, ylab = ylab, ...)
    place <- match(x$nonzeros, x$counts)
    points(x$nonzeros, x$shares[place], cex = 2.5)
    invisible(x)
}
