# The arguments of the default method come first in the help.
#' @rdname sparse_pca
#' @order 3
#' @export
sparse_pca <- function(x, ...) UseMethod("sparse_pca")

# The variables of a one-sided formula, as prcomp takes them. Missing values go on to the default method.
#' @rdname sparse_pca
#' @order 2
#' @export
sparse_pca.formula <- function(formula, data = NULL, subset, na.action = NULL, ...) {
    described <- terms(formula, data = data)
    if (attr(described, "response") > 0L) fail("the formula has a response: write ~ a + b, without a left side")
    call <- frame <- match.call()
    frame <- frame[c(1L, match(c("formula", "data", "subset"), names(frame), 0L))]
    frame[[1L]] <- quote(stats::model.frame)
    frame$na.action <- quote(stats::na.pass)
    variables <- eval.parent(frame)
    numeric <- vapply(variables, is.numeric, NA)
    if (!all(numeric)) fail("the formula has variables that are not numeric: ", listed(names(variables)[!numeric]))
    described <- attr(variables, "terms")
    attr(described, "intercept") <- 0L
    x <- model.matrix(described, variables)
    attr(x, "assign") <- NULL
    found <- sparse_pca.default(x, na.action = na.action, ...)
    call[[1L]] <- as.name("sparse_pca")
    found$call <- call
    found
}
