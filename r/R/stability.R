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
        found[c("pairs", "requested", "failed")], matrices, of_components,
        list(used = setNames(unlist(found$used), rownames(rotation)), selected_together = found$selected_together,
             threshold = found$threshold, expected_false_together = found$expected_false_together, rotation = rotation)
    ))
}

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
