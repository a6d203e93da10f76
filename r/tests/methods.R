# The methods of prcomp's kin.
library(orthopt)

train <- USArrests[1:40, ]
found <- sparse_pca(train, ncomp = 2, nonzeros = 2, scale. = TRUE, bound = 1)
new <- USArrests[41:50, ]

scores <- predict(found, new)
by_hand <- scale(as.matrix(new), found$center, found$scale) %*% found$rotation
stopifnot(all.equal(scores, by_hand, check.attributes = FALSE), identical(rownames(scores), rownames(new)))
stopifnot(identical(predict(found), found$x), all.equal(predict(found, train), found$x, check.attributes = FALSE))
stopifnot(identical(predict(found, cbind(new[4:1], Other = "text")), scores))
error <- function(expr) tryCatch({ expr; "none" }, orthopt_error = conditionMessage)
stopifnot(grepl("no columns called Rape", error(predict(found, new[1:3]))))
stopifnot(grepl("3 columns", error(predict(found, unname(as.matrix(new[1:3]))))))
stopifnot(all.equal(predict(found, unname(as.matrix(new))), scores, check.attributes = FALSE))

importance <- summary(found)$importance
stopifnot(identical(dim(importance), c(5L, 2L)), all(importance["Nonzero Loadings", ] == found$nonzeros))
adjusted <- importance["Added Proportion", ]
stopifnot(all(adjusted <= importance["Proportion of Variance", ] + 1e-12))
stopifnot(all.equal(unname(cumsum(adjusted)), unname(importance["Together", ])))

printed <- capture.output(print(found))
stopifnot(any(grepl("no components have one below", printed)), any(grepl("^Murder.* \\.$", printed)))
stopifnot(any(grepl("^Together [0-9.]+ % of the variance; PCA with as many components: [0-9.]+ %$", printed)))
stopifnot(any(grepl("Nonzero Loadings +2 +2", capture.output(print(summary(found))))))
checked <- capture.output(print(sparse_pca(train, ncomp = 2, lambda = 50, certify = TRUE)))
stopifnot(any(grepl("^Certified: 5 of 5 pairs", checked)))

pdf(NULL)
bars <- plot(found)
stopifnot(identical(dim(bars), c(2L, 2L)))
biplot(found)
circle <- plot(found, "correlations")
dev.off()
stopifnot(all.equal(circle, cor(train, found$x)), identical(circle, found$correlations))
# not centred, and of C itself
apart <- sparse_pca(train, ncomp = 2, nonzeros = 2, center = FALSE)
stopifnot(all.equal(apart$correlations, cor(train, apart$x)))
far <- sparse_pca(train + 1e6, ncomp = 2, nonzeros = 2, center = FALSE)
stopifnot(all.equal(far$correlations, cor(train, far$x), tolerance = 1e-6))
of_c <- sparse_pca(covmat = cor(train), ncomp = 2, nonzeros = 2)
stopifnot(all.equal(abs(of_c$correlations), abs(cor(train, found$x)), tolerance = 1e-7))
constant <- sparse_pca(cbind(as.matrix(train), none = 3), ncomp = 2, nonzeros = 2)
stopifnot(all(constant$correlations["none", ] == 0), all(is.finite(constant$correlations)))
stopifnot(grepl("two of the 2 components", error(plot(found, "correlations", components = 2:3))))
stopifnot(grepl("two of the 1 components", error(plot(sparse_pca(train, ncomp = 1), "correlations"))))
# labels of many variables do not meet
tips <- cbind(seq(0.8, 0.9, length.out = 16L), 0.01)
places <- orthopt:::apart(tips, rep(0.4, 16L), rep(0.1, 16L), c(-1.3, 1.3, -1.3, 1.3))
for (i in 2:16) {
    before <- seq_len(i - 1L)
    near <- abs(places[before, 1L] - places[i, 1L]) < 0.4 - 1e-9 & abs(places[before, 2L] - places[i, 2L]) < 0.1 - 1e-9
    stopifnot(!near)
}
stopifnot(grepl("two components", error(biplot(sparse_pca(train, ncomp = 1)))))
stopifnot(grepl("scores", error(biplot(sparse_pca(train, ncomp = 2, retx = FALSE)))))
stopifnot(grepl("retx", error(predict(sparse_pca(covmat = cor(train), ncomp = 2)))))
