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
dev.off()
stopifnot(grepl("two components", error(biplot(sparse_pca(train, ncomp = 1)))))
stopifnot(grepl("scores", error(biplot(sparse_pca(train, ncomp = 2, retx = FALSE)))))
stopifnot(grepl("retx", error(predict(sparse_pca(covmat = cor(train), ncomp = 2)))))
