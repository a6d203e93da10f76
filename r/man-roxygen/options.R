# `cargo xtask generate` writes this file from the table of options.
#' @param ... further options:
#'   * `storage`: Storage of the data in f: C (dense), A (gram), or the cheaper one (auto) \[default: auto\].
#'   * `max_memory`: Refuse data and problems that need more memory: 500M, 8G \[default: nine tenths of what is
#'     free\].
#'   * `samples`: Number of rows behind C, for a rank of auto.
#'   * `lambda_share`: Weight of the penalty as a share of the mean of the r largest C_ii.
#'   * `relative_lambda`: Weight of the penalty l0 or l1 as a share of the largest useful one.
#'   * `total_nonzeros`: At most K nonzeros in all components together.
#'   * `variables`: At most K variables in all components together; with `lambda` each variable costs LAMBDA.
#'   * `order`: joint: all components together; sequential: each the best one beside those before it \[default:
#'     joint\].
#'   * `min_nonzeros`: Least number of nonzeros in a component, with `total_nonzeros` \[default: 1\].
#'   * `max_nonzeros`: Largest number of nonzeros in a component, with `total_nonzeros` \[default: all\].
#'   * `map`: A in h(A(X)): differences, rows:LIST, columns:LIST, or a file with B, A(X) = BX; or a matrix.
#'   * `solver`: `orthopt list solvers` shows all; A+B runs B from the result of A \[default: auto, which
#'     chooses and gives the reason\].
#'   * `init`: Starting point X0: a name (`orthopt list starts` shows all) or a file; or a matrix.
#'   * `restarts`: Further starts of one solver; the best X is returned \[default: as the time limit allows;
#'     auto searches instead, see `effort`\].
#'   * `threads`: Threads to use \[default: all\]; X does not depend on it.
#'   * `max_iters`: Stop after this many iterations (working sets tried).
#'   * `tol`: Converged when no pair lowers F by more than TOL * (scale + |F|), or stationarity is at most 1000
#'     TOL \[default: 1e-9\].
#'   * `min_decrease`: Stop as stalled when a pass lowers F by less \[default: 0, never\].
#'   * `working_set`: B, rule for choosing rows \[default: random\].
#'   * `block`: k, number of rows in B; subproblems of 2 are solved globally \[default: 2\].
#'   * `model`: Q, model of a block: exact (8) or diagonal (9) \[default: exact\].
#'   * `alpha`: alpha, weight of the proximal term alpha/2 ||V - I||^2, relative to the scale of F \[default:
#'     1e-5\].
#'   * `candidates`: pairs scored by the greedy rules; min(n, 200) unless set \[default: auto\].
#'   * `jacobi`: rounds of n/2 disjoint pairs in parallel with the diagonal model (Appendix C.4) \[default:
#'     false\].
#'   * `stability`: Also solve B pairs of disjoint halves of the rows, and say how often each loading is not
#'     zero \[50 pairs if none are given\].
#'
#'   Besides, the constants of solvers and penalties, such as `mcp_gamma`. A name that does not exist is answered with
#'   those that do. An argument that does not apply with the others is an error and is never ignored.
