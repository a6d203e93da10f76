# Bounds, certificates, nonnegative loadings, and the choices of the library.
library(orthopt)

# One component with 4 loadings: all 715 supports are tried here.
c4 <- as.matrix(pitprops)
largest <- max(combn(13, 4, function(s) eigen(c4[s, s], TRUE, only.values = TRUE)$values[1]))
one <- sparse_pca(covmat = pitprops, ncomp = 1, nonzeros = 4, bound = 30)
stopifnot(abs(one$objective + largest / 2) < 1e-9, one$bound <= -largest / 2, one$gap > 0)

# One component with a price of its loadings: all 8191 supports, and a proof.
worth <- function(s) 0.1 * length(s) - eigen(c4[s, s], TRUE, only.values = TRUE)$values[1] / 2
least <- min(vapply(1:13, function(k) min(combn(13, k, worth)), 0))
priced <- sparse_pca(covmat = pitprops, ncomp = 1, lambda = 0.1, bound = 60)
stopifnot(abs(priced$objective - least) < 1e-9, identical(priced$proof, "optimal"), priced$gap < 1e-6)

# The table itself: the first component of all 13 variables explains 32.4 %, two 50.7 %, as is published.
plain <- summary(sparse_pca(covmat = pitprops, ncomp = 2, penalty = "none"))$importance
stopifnot(abs(100 * plain["Together", ] - c(32.4, 50.7)) < 0.1)

# lambda buys nonzeros, and pairs of rows are checked.
sparse <- lapply(c(0.05, 0.3), function(lambda) {
    sparse_pca(covmat = pitprops, ncomp = 3, lambda = lambda, certify = TRUE)
})
stopifnot(sum(sparse[[1]]$nonzeros) > sum(sparse[[2]]$nonzeros))
for (found in sparse) {
    stopifnot(found$certificate$holds, found$feasibility < 1e-12)
    stopifnot(found$certificate$pairs_checked == found$certificate$pairs_total)
    stopifnot(is.null(found$bound) || found$bound <= found$objective + 1e-8) # a search proves what costs little
}
few <- sparse_pca(covmat = pitprops, ncomp = 3, lambda = 0.3, certify = 10)
stopifnot(few$certificate$pairs_checked == 10)

# Other penalties, nonnegative loadings.
for (penalty in c("l1", "mcp", "scad")) {
    found <- sparse_pca(covmat = pitprops, ncomp = 2, penalty = penalty, lambda = 0.2, effort = "quick")
    stopifnot(found$report$problem == paste0(penalty, "-pca"), found$feasibility < 1e-10)
}
positive <- sparse_pca(USArrests, ncomp = 2, nonneg = TRUE, scale. = TRUE)
stopifnot(all(positive$rotation >= 0), all(rowSums(positive$rotation != 0) <= 1))

# What is left open is chosen and said.
auto <- sparse_pca(mtcars, ncomp = 2, scale. = TRUE)
stopifnot(any(grepl("knee", auto$reasons)), length(unique(auto$nonzeros)) == 1L)

# The same seed, any number of threads.
a <- sparse_pca(mtcars, ncomp = 3, nonzeros = 3, scale. = TRUE, seed = 7, threads = 1)
b <- sparse_pca(mtcars, ncomp = 3, nonzeros = 3, scale. = TRUE, seed = 7, threads = 2)
stopifnot(identical(a$rotation, b$rotation), b$report$threads == 2)

# A start of one's own, one solver, few iterations.
x0 <- qr.Q(qr(matrix(sin(1:26), 13)))
short <- sparse_pca(covmat = pitprops, ncomp = 2, lambda = 0.1, init = x0, solver = "obcd", max_iters = 1)
stopifnot(identical(short$status, "max_iters"), short$report$iterations == 1)
