# Proofs that can be cited: what is written is checked, and nothing else is.
library(orthopt)

refused <- function(expr, words) {
    error <- tryCatch({ expr; NULL }, orthopt_error = conditionMessage)
    if (is.null(error) || !grepl(words, error, fixed = TRUE)) stop("expected `", words, "`, not `", error, "`")
}

# Covariances, correlations, sums about zero, C itself, a price, nonnegative loadings; from the text and from a file.
file <- tempfile(fileext = ".json")
for (how in list(list(scale. = TRUE), list(), list(center = FALSE), list(scale. = TRUE, center = FALSE))) {
    found <- do.call(sparse_pca, c(list(USArrests, ncomp = 2, nonzeros = 2, bound = 20, proof = TRUE), how))
    writeLines(found$proof_file, file)
    for (proof in c(file, found$proof_file)) {
        checked <- check_proof(proof, USArrests)
        stopifnot(startsWith(checked$claim, "Of all 4 x 2 matrices X with X'X = I, at most 2 nonzeros in each component"))
        stopifnot(checked$bound <= checked$objective, isTRUE(all.equal(checked$objective, found$objective)))
        stopifnot(identical(checked$proof, found$proof), abs(checked$gap - found$gap) < 1e-6)
    }
    stopifnot(identical(checked, do.call(check_proof, c(list(file, USArrests, ncomp = 2, nonzeros = 2, maximise = "adjusted"), how))))
}
for (of in list(list(lambda = 0.2), list(nonneg = TRUE), list(nonzeros = 3, maximise = "variance"))) {
    found <- do.call(sparse_pca, c(list(covmat = pitprops, ncomp = 2, bound = 5, proof = TRUE), of))
    checked <- do.call(check_proof, c(list(found$proof_file, covmat = pitprops), of))
    stopifnot(checked$bound <= found$objective, identical(checked, check_proof(found$proof_file, covmat = pitprops)))
}
stopifnot(identical(gsub("[ \n]+", " ", paste(capture.output(print(checked)), collapse = " ")), checked$claim))

# Another table, another problem, altered numbers.
found <- sparse_pca(USArrests, ncomp = 2, nonzeros = 2, scale. = TRUE, bound = 20, proof = TRUE)
proof <- found$proof_file
refused(check_proof(proof, USArrests, ncomp = 3), "rank 2, and 3 is asked for")
refused(check_proof(proof, USArrests, nonzeros = 3), "at most 2")
refused(check_proof(proof, USArrests, maximise = "polar"), "measure adjusted")
refused(check_proof(proof, USArrests, nonneg = TRUE), "the problem l0-pca")
refused(check_proof(proof, USArrests, scale. = FALSE), "another table")
refused(check_proof(proof, USArrests[-1, ]), "another table")
refused(check_proof(proof, USArrests[4:1]), "another table")
refused(check_proof(proof, USArrests, seed = 2), "seed")
refused(check_proof(sub('"bound":-', '"bound":-0', proof, fixed = TRUE), USArrests), "proof")
refused(check_proof(sub('"bound":-', '"bound":-1', proof, fixed = TRUE), USArrests), "proves nothing")
refused(check_proof("{}", USArrests), "is not a file that")
refused(check_proof("none.json", USArrests), "neither a proof nor the name of a file")
refused(check_proof(NULL, USArrests), "keeps one")
refused(sparse_pca(USArrests, ncomp = 2, nonzeros = 2, proof = TRUE), "'bound'")
refused(sparse_pca(USArrests, ncomp = 2, penalty = "l1", bound = 1, proof = TRUE), "no proof to cite for l1")
stopifnot(is.null(sparse_pca(USArrests, ncomp = 2, nonzeros = 2, bound = 1)$proof_file))
