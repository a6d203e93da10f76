# Data and options are checked here, where they have names; the compiled half takes finite numbers.

# A matrix of doubles from a matrix or a data frame.
numbers <- function(x, what) {
    if (is.data.frame(x)) {
        numeric <- vapply(x, is.numeric, NA)
        if (!all(numeric)) {
            fail("'", what, "' has columns that are not numeric: ", listed(names(x)[!numeric]), "; ", what,
                 "[sapply(", what, ", is.numeric)] leaves them out")
        }
    }
    x <- as.matrix(x)
    if (nrow(x) == 0L || ncol(x) == 0L) fail("'", what, "' is empty: ", nrow(x), " x ", ncol(x))
    if (!is.numeric(x)) fail("'", what, "' is not numeric, but of type ", typeof(x))
    storage.mode(x) <- "double"
    x
}

# Arguments that say how a frame is read, as the options of files.
FRAME_OPTIONS <- c("columns", "drop", "row_names", "drop_rows", "strip", "na", "decimal", "thousands")

# A data frame by the rules of files: without words and columns that only tell the rows apart, and without rows that are no
# samples, such as totals. Of a matrix with names of rows these are checked alone.
arranged <- function(x, options = list()) {
    if (nrow(x) == 0L || ncol(x) == 0L) return(x)
    frame <- is.data.frame(x)
    if (!frame && (is.null(rownames(x)) || !is.numeric(x))) return(x)
    columns <- if (frame) unclass(x) else lapply(seq_len(ncol(x)), function(j) x[, j])
    if (!frame && is.null(options$columns)) options$columns <- "*"
    cells <- lapply(columns, cells_of)
    names <- if (is.null(colnames(x))) paste0("x", seq_len(ncol(x))) else colnames(x)
    own <- if (frame) is.character(attr(x, "row.names")) else TRUE
    found <- checked(frame_of(names, unname(cells), nrow(x), if (own) rownames(x), options))
    for (note in found$notes) warn(note)
    for (k in seq_along(found$at)) x[[found$at[k]]] <- found$numbers[[k]]
    # rows without names of their own keep none
    if (length(found$rows) < nrow(x)) x <- x[found$rows, , drop = FALSE]
    x <- if (frame) x[found$columns] else x[, found$columns, drop = FALSE]
    if (frame) x[] <- lapply(x, function(column) if (is.logical(column)) as.numeric(column) else column)
    x
}

# Doubles, strings, or NULL of what is neither.
cells_of <- function(column) {
    if (is.numeric(column) || is.logical(column)) return(as.double(column))
    if (is.list(column) || is.complex(column) || is.raw(column)) return(NULL)
    words <- as.character(column)
    words[is.na(words)] <- ""
    words
}

# The same for data to be analysed: missing values are dropped or refused as na.action says.
samples <- function(x, na.action, options = list()) {
    if (is.data.frame(x) || is.matrix(x)) x <- arranged(x, options)
    if (!is.null(na.action)) x <- match.fun(na.action)(x)
    dropped <- attr(x, "na.action")
    x <- numbers(x, "x")
    attr(x, "na.action") <- dropped
    refuse_missing(x, "x")
    for (note in remarks_on(x, FALSE)) warn(note)
    x
}

refuse_missing <- function(x, what) {
    bad <- which(!is.finite(x), arr.ind = TRUE, useNames = FALSE)
    if (nrow(bad) == 0L) return(invisible())
    at <- bad[order(bad[, 1L], bad[, 2L])[1L], ]
    more <- if (nrow(bad) > 1L) paste0(" (", nrow(bad), " such values in all)") else ""
    fail("'", what, "' is ", x[at[1L], at[2L]], " in row ", named(rownames(x), at[1L]), ", column ",
         named(colnames(x), at[2L]), more, "; na.action = na.omit leaves such rows out where they are NA")
}

named <- function(names, i) if (is.null(names)) i else paste0(i, " (", names[i], ")")

# A covariance or correlation matrix.
covariances <- function(covmat) {
    covmat <- numbers(covmat, "covmat")
    refuse_missing(covmat, "covmat")
    if (nrow(covmat) != ncol(covmat)) fail("'covmat' is ", nrow(covmat), " x ", ncol(covmat), ", not square")
    if (is.null(colnames(covmat))) colnames(covmat) <- rownames(covmat)
    covmat
}

# Centred and scaled as prcomp does it.
prepared <- function(x, center, scale.) {
    x <- scale(x, center = center, scale = scale.)
    if (any(attr(x, "scaled:scale") == 0)) {
        constant <- which(attr(x, "scaled:scale") == 0)
        fail("column ", named(colnames(x), constant[1L]), " is constant and cannot be scaled to unit variance")
    }
    x
}

listed <- function(names) paste(names, collapse = ", ")

# One finite number >= least, or NULL; whole numbers where 'whole'.
number <- function(value, name, least = 0, whole = FALSE) {
    if (is.null(value)) return(NULL)
    kind <- if (whole) "a whole number" else "a finite number"
    good <- is.numeric(value) && length(value) == 1L && is.finite(value) && value >= least
    if (!good || (whole && value != round(value))) {
        fail("'", name, "' is ", shown(value), ": expected ", kind, " >= ", least)
    }
    as.double(value)
}

whole <- function(value, name, least = 0) number(value, name, least, whole = TRUE)

# One word, or NULL.
word <- function(value, name) {
    if (is.null(value)) return(NULL)
    if (!is.character(value) || length(value) != 1L || is.na(value)) {
        fail("'", name, "' is ", shown(value), ": expected one string")
    }
    value
}

flag <- function(value, name) {
    if (!is.logical(value) || length(value) != 1L || is.na(value)) {
        fail("'", name, "' is ", shown(value), ": expected TRUE or FALSE")
    }
    value
}

shown <- function(value) paste(deparse(value, nlines = 1L), collapse = "")
