#' How often each loading is not zero in halves of the rows
#'
#' Finds components of all rows with [sparse_pca()], and those of pairs of disjoint random halves of the rows, with
#' the number of nonzeros or the \eqn{\lambda} of all rows. Centring and scaling are those of each half. Components
#' of a half are matched with those of all rows by the assignment with the largest sum of absolute cosines.
#'
#' @details By Theorem 1 of Shah and Samworth (2013) at most \eqn{q^2/((2\tau - 1)n)} variables are expected to
#' reach a frequency of \eqn{\tau} that a half takes no more often than a variable on the average, where \eqn{q} is
#' the mean number of nonzeros over the halves and \eqn{n} the number of variables. The theorem takes rows to be
#' independent and alike.
#'
#' Half of the rows without replacement makes estimates vary about as much as a bootstrap of all rows does. `low`
#' and `high` are percentiles over the halves, zeros included, and no confidence intervals of a proved level.
#'
#' Ctrl-C ends the halves with the pairs that are complete.
#'
#' @param x the data, as for [sparse_pca()], with at least four rows; for the methods a result of `stability`.
#' @param ncomp the number of components.
#' @param ... further arguments of [sparse_pca()]; for the methods those of [print()] and [image()]. A `time_limit`
#'   is of all: half of it is for the components of all rows.
#' @param B the number of pairs of halves.
#' @param digits the number of digits after the point.
#' @param main the title.
#' @returns An object of class `"stability"`:
#'   \item{pairs, requested, failed, limited}{the number of complete pairs, of which all numbers are; of those
#'     asked for; of those with a half without a solution; and of the halves whose search a limit of time ended.}
#'   \item{frequency}{the share of the halves in which each loading is not zero.}
#'   \item{simultaneous}{the share of the pairs in which it is zero in neither half.}
#'   \item{low, high}{the 2.5 % and 97.5 % percentiles of the loadings over the halves.}
#'   \item{cosine}{the mean absolute cosine between each component and the one of a half.}
#'   \item{used}{the share of the halves in which any component uses the variable.}
#'   \item{selected, selected_together}{the mean number of nonzeros of each component, and of variables of all of
#'     them.}
#'   \item{threshold, expected_false, expected_false_together}{\eqn{\tau} and the bounds at it.}
#'   \item{rotation}{the loadings of all rows.}
#' @references R. D. Shah, R. J. Samworth: Variable selection with error control: another look at stability
#'   selection. Journal of the Royal Statistical Society B 75 (2013), 55--80.
#' @seealso [sparse_pca()].
#' @keywords multivariate
#' @examples
#' s <- stability(USArrests, 2, nonzeros = 2, scale. = TRUE, B = 10)
#' s
#' plot(s)
#' @export
stability <- function(x, ncomp = NULL, ..., B = 50) {
    found <- sparse_pca(x, ncomp = ncomp, ..., stability = B)$stability
    if (is.null(found)) fail("no pair of halves of the rows was complete when the run was ended")
    found
}

# What halves of the rows say, from the report; NULL where they were not asked for.
stability_of <- function(found, rotation) {
    if (is.null(found)) return(NULL)
    by_rows <- function(rows) matrix(unlist(rows), nrow(rotation), byrow = TRUE, dimnames = dimnames(rotation))
    matrices <- lapply(found[c("frequency", "simultaneous", "low", "high")], by_rows)
    of_components <- lapply(found[c("cosine", "selected", "expected_false")],
                            function(values) setNames(unlist(values), colnames(rotation)))
    structure(class = "stability", c(
        found[c("pairs", "requested", "failed", "limited")], matrices, of_components,
        list(used = setNames(unlist(found$used), rownames(rotation)), selected_together = found$selected_together,
             threshold = found$threshold, expected_false_together = found$expected_false_together, rotation = rotation)
    ))
}

#' @rdname stability
#' @export
print.stability <- function(x, digits = 3L, ...) {
    cat(x$pairs, " of ", x$requested, " pairs of halves of the rows\n\n", sep = "")
    labels <- rownames(x$frequency)
    if (is.null(labels)) labels <- seq_len(nrow(x$frequency))
    often <- apply(x$frequency, 2L, function(share) listed(labels[order(-share)][seq_len(sum(share >= x$threshold))]))
    print(data.frame(cosine = round(x$cosine, digits), false = round(x$expected_false, digits), often = often,
                     row.names = colnames(x$frequency)), right = FALSE, ...)
    cat("\noften: variables whose loading is not zero in at least ", 100 * x$threshold, " % of the halves\n",
        "false: at most so many of them are expected that are no likelier in a half than the average variable\n", sep = "")
    invisible(x)
}

# The frequencies; frames are loadings that are not zero in all rows.
#' @rdname stability
#' @export
plot.stability <- function(x, main = "Selection frequency", ...) {
    shown <- which(rowSums(x$frequency) > 0)
    share <- x$frequency[shown, , drop = FALSE]
    n <- nrow(share)
    r <- ncol(share)
    image(seq_len(r), seq_len(n), t(share[n:1, , drop = FALSE]), zlim = c(0, 1), col = rev(hcl.colors(64, "Oranges")),
          axes = FALSE, xlab = "", ylab = "", main = main, ...)
    axis(1, seq_len(r), paste0(colnames(share), " (cosine ", round(x$cosine, 2), ")"), tick = FALSE)
    axis(2, n:1, if (is.null(rownames(share))) shown else rownames(share), las = 1, tick = FALSE)
    text(col(share), n + 1 - row(share), ifelse(share > 0, format(round(share, 2)), ""),
         col = ifelse(share > 0.55, "white", "black"))
    inside <- which(x$rotation[shown, , drop = FALSE] != 0, arr.ind = TRUE)
    rect(inside[, 2L] - 0.48, n + 0.52 - inside[, 1L], inside[, 2L] + 0.48, n + 1.48 - inside[, 1L], lwd = 2)
    invisible(share)
}
