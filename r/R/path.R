# Components along numbers of nonzeros, with a bound for each, and the number that held-out rows choose.

# Numbers of variables in each component that are tried.
COUNTS <- c(1, 2, 3, 5, 7, 10, 14, 20, 30)

#' Sparse components along numbers of nonzeros
#'
#' Finds components for several numbers of nonzeros in each, bounds what any components with so many could explain,
#' and chooses a number by the knee of the curve or by cross-validation.
#'
#' @details More nonzeros never explain less: where the search for a number finds less than the components of the
#' number before it, which are allowed for it, it starts from these. Held-out rows are centred and scaled with the
#' means and scales of the others; the share of their variance that the components keep is averaged over the folds,
#' and the smallest number of nonzeros whose mean is within one standard error of the best is chosen. Without
#' cross-validation it is the knee of the curve.
#'
#' @param x a numeric matrix or data frame, or a sparse matrix of the package Matrix, samples in rows; for the
#'   methods, the object.
#' @param ncomp the number of components, or `"auto"`: those that exceed noise (parallel analysis).
#' @param counts numbers of nonzeros in each component. Default: 1, 2, 3, 5, 7, 10, 14, 20 and 30, as far as there
#'   are variables.
#' @param cv number of folds of the rows for cross-validation; `NULL` for none.
#' @param bound `TRUE` or a number of seconds for each point (60): bound what any components with so many nonzeros
#'   explain.
#' @param time_limit seconds of all searches together; bounds have their own.
#' @param center,scale.,effort,seed,na.action,... as for [sparse_pca()]; `...` in `print` and `plot` is passed on
#'   to [print.data.frame()] and [plot()].
#' @param digits decimals that are printed.
#' @param xlab,ylab,ylim as for [plot()].
#' @returns An object of class `"sparse_path"`: `components`, the chosen object of [sparse_pca()], and `nonzeros`,
#'   its number of nonzeros in each component; `path`, all such objects; `counts`; `shares` of the variance in the
#'   measure `maximise`, and `bounds` of them, `NA` without; `held_out` with its `held_out_error`; `chosen` and
#'   `knee`, places in `counts`; whether it was `interrupted`.
#' @seealso [sparse_pca()], [explore()].
#' @keywords multivariate
#' @examples
#' \donttest{
#' found <- sparse_path(USArrests, ncomp = 2, scale. = TRUE, cv = 5, bound = 5)
#' found
#' plot(found)
#' found$components
#' }
#' @export
sparse_path <- function(x, ncomp = "auto", counts = NULL, cv = NULL, bound = FALSE, center = TRUE, scale. = FALSE,
                        time_limit = NULL, effort = "quick", seed = 0, na.action = NULL, ...) {
    call <- match.call()
    sparse <- is_sparse(x)
    if (!sparse) x <- samples(x, na.action)
    counts <- path_counts(counts, ncol(x))
    cv <- whole(cv, "cv", 2)
    if (!is.null(cv) && cv > nrow(x)) fail("'cv' is ", cv, ": the data have ", nrow(x), " rows")
    time_limit <- number(time_limit, "time_limit")
    # every fold walks a path of its own, and then there is the one of all rows
    share <- if (!is.null(time_limit)) time_limit / (1 + if (is.null(cv)) 0 else cv) / length(counts)
    fit <- function(x, ncomp, k, ...) {
        quietly(sparse_pca(x, ncomp = ncomp, nonzeros = k, center = center, scale. = scale., effort = effort,
                           seed = seed, time_limit = share, ...))
    }
    path <- walk(function(...) fit(x, ..., bound = bound), ncomp, counts, ...)
    counts <- counts[seq_along(path)]
    interrupted <- path[[length(path)]]$status == "interrupted"
    maximise <- path[[1L]]$report$explained_variance$maximised
    shares <- vapply(path, share_of, 0, maximise = maximise)
    at <- knee(counts, shares)$place
    held <- NULL
    if (!is.null(cv) && !interrupted) {
        r <- ncol(path[[1L]]$rotation)
        held <- held_out(x, cv, seed, length(counts), function(train) {
            walk(function(...) fit(train, ..., retx = FALSE), r, counts, ...)
        })
    }
    chosen <- if (is.null(held)) at else held$chosen
    structure(class = "sparse_path", list(
        components = path[[chosen]], path = path, counts = counts, nonzeros = counts[chosen], chosen = chosen, knee = at,
        shares = shares, bounds = vapply(path, share_bound, 0, maximise = maximise), maximise = maximise,
        held_out = held$mean, held_out_error = held$error, interrupted = interrupted, call = call
    ))
}

path_counts <- function(counts, n) {
    if (is.null(counts)) return(unique(pmin(COUNTS, n)))
    good <- is.numeric(counts) && length(counts) > 0L && all(is.finite(counts)) && all(counts == round(counts)) &&
        all(counts >= 1 & counts <= n)
    if (!good) fail("'counts' is ", shown(counts), ": expected whole numbers from 1 to ", n, ", the variables")
    sort(unique(counts))
}

# Fits for all counts, sparse ones first. None has a higher objective than the one before it, whose components are feasible for it.
walk <- function(fit, ncomp, counts, ...) {
    path <- list()
    for (k in counts) {
        found <- fit(ncomp = ncomp, k = k, ...)
        before <- if (length(path) > 0L) path[[length(path)]]
        if (!is.null(before) && before$objective < found$objective) {
            again <- fit(ncomp = ncomp, k = k, init = unname(before$rotation), ...)
            if (again$objective < found$objective) found <- again
        }
        path[[length(path) + 1L]] <- found
        if (found$status == "interrupted") break
        ncomp <- ncol(path[[1L]]$rotation)
    }
    path
}

# The share of the variance of held-out rows that each of 'points' points keeps, mean and standard error over the folds, and the
# sparsest point whose mean is within one standard error of the best.
held_out <- function(x, cv, seed, points, walked) {
    of_row <- folds(nrow(x), cv, seed)
    kept <- matrix(NA_real_, points, cv)
    for (fold in seq_len(cv)) {
        path <- walked(x[of_row != fold, , drop = FALSE])
        if (length(path) < points) return(NULL) # interrupted
        rows <- x[of_row == fold, , drop = FALSE]
        kept[, fold] <- vapply(path, function(found) sum(predict(found, rows)^2) / squares(rows, found), 0)
    }
    mean <- rowMeans(kept)
    error <- apply(kept, 1L, sd) / sqrt(cv)
    best <- which.max(mean)
    list(mean = mean, error = error, chosen = which(mean >= mean[best] - error[best])[1L])
}

# The sum of squares of rows in the units of the components.
squares <- function(rows, found) {
    if (!is_sparse(rows)) return(sum(scale(rows, found$center, found$scale)^2))
    shift <- if (isFALSE(found$center)) 0 else found$center
    divisor <- if (isFALSE(found$scale)) 1 else found$scale
    sum((Matrix::colSums(rows^2) - 2 * shift * Matrix::colSums(rows) + nrow(rows) * shift^2) / divisor^2)
}

# The fold of each row, by chance from the seed; the random numbers of the session go on as if nothing had been drawn.
folds <- function(m, cv, seed) {
    before <- get0(".Random.seed", globalenv(), inherits = FALSE)
    on.exit(if (is.null(before)) rm(".Random.seed", envir = globalenv()) else assign(".Random.seed", before, globalenv()))
    set.seed(seed %% .Machine$integer.max)
    sample(rep_len(seq_len(cv), m))
}

# An upper bound of the share over all components with so many nonzeros; NA without a bound.
share_bound <- function(found, maximise) {
    if (is.null(found$bound)) return(NA_real_)
    min(1, share_of(found, maximise) * found$bound / found$objective)
}

#' @rdname sparse_path
#' @export
print.sparse_path <- function(x, digits = 4L, ...) {
    columns <- list(nonzeros = x$counts, explained = x$shares)
    if (!all(is.na(x$bounds))) columns$at_most <- x$bounds
    if (!is.null(x$held_out)) {
        columns$held_out <- x$held_out
        columns$error <- x$held_out_error
    }
    chosen <- ifelse(seq_along(x$counts) == x$chosen, "*", "")
    cat("Share of the variance (", x$maximise, ") by nonzeros in each component; * is chosen by ",
        if (is.null(x$held_out)) "the knee" else "cross-validation", "\n", sep = "")
    print(data.frame(" " = chosen, lapply(columns, round, digits), check.names = FALSE), row.names = FALSE, ...)
    invisible(x)
}

#' @rdname sparse_path
#' @export
plot.sparse_path <- function(x, xlab = "variables in each component", ylab = "share of the variance", ylim = NULL, ...) {
    if (is.null(ylim)) ylim <- c(0, max(x$shares, x$bounds, x$held_out + x$held_out_error, na.rm = TRUE))
    plot(x$counts, x$shares, type = "b", xlab = xlab, ylab = ylab, ylim = ylim, ...)
    legend <- c(explained = 1L)
    if (!all(is.na(x$bounds))) {
        lines(x$counts, x$bounds, type = "b", pch = 4L, lty = 2L)
        legend <- c(legend, "at most" = 4L)
    }
    if (!is.null(x$held_out)) {
        lines(x$counts, x$held_out, type = "b", pch = 2L, lty = 3L)
        low <- x$held_out - x$held_out_error
        segments(x$counts, low, x$counts, low + 2 * x$held_out_error)
        legend <- c(legend, "held out" = 2L)
    }
    points(x$nonzeros, x$shares[x$chosen], cex = 2.5)
    if (length(legend) > 1L) legend("bottomright", names(legend), pch = legend, lty = seq_along(legend), bty = "n")
    invisible(x)
}

# Notes of the runs are not said of each point.
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
