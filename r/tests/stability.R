# Halves of the rows: planted loadings are nearly always there.
library(orthopt)

set.seed(1)
m <- 80L
factors <- matrix(rnorm(2 * m), m)
x <- cbind(1.5 * factors[, c(1, 1, 1)], 1.2 * factors[, c(2, 2, 2)], matrix(0, m, 4)) + matrix(rnorm(10 * m), m)
colnames(x) <- letters[1:10]

s <- stability(x, 2, nonzeros = 3, scale. = TRUE, B = 12)
stopifnot(inherits(s, "stability"), s$pairs == 12, s$requested == 12, s$failed == 0)
stopifnot(identical(dimnames(s$frequency), list(letters[1:10], c("PC1", "PC2"))))
stopifnot(all(s$frequency[1:3, "PC1"] >= 0.9), all(s$frequency[4:6, "PC2"] >= 0.9), all(s$used[7:10] < 0.4))
stopifnot(all(s$low <= s$high), all(s$simultaneous <= s$frequency), all(s$cosine > 0.9))
stopifnot(all.equal(unname(s$expected_false), rep(9 / (0.8 * 10), 2)))

# the components are those of sparse_pca, and the halves do not depend on the threads
found <- sparse_pca(x, ncomp = 2, nonzeros = 3, scale. = TRUE, stability = 12, threads = 1)
stopifnot(identical(found$stability, s), identical(found$rotation, s$rotation))
stopifnot(is.null(sparse_pca(x, ncomp = 2, nonzeros = 3)$stability))

printed <- capture.output(print(s))
stopifnot(any(grepl("^12 of 12 pairs", printed)), any(grepl("a, b, c|a, c, b|b, a, c|b, c, a|c, a, b|c, b, a", printed)))
pdf(NULL)
stopifnot(is.matrix(plot(s)))
dev.off()

error <- function(expr) tryCatch({ expr; "none" }, orthopt_error = conditionMessage)
stopifnot(grepl("at least 4 rows", error(stability(x[1:3, ], 1, nonzeros = 2))))
stopifnot(grepl("only C is there", error(sparse_pca(covmat = cor(x), ncomp = 1, nonzeros = 2, stability = 3))))
stopifnot(grepl(">= 1", error(stability(x, 1, nonzeros = 2, B = 0))))
