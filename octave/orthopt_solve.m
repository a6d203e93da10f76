% found = orthopt_solve (problem, data, name, value, ...)
%
% Finds X that minimises F(X) = -1/2 tr(X'CX) + h(X), or another F of a problem with a name, over matrices with
% orthonormal columns. orthopt_list ('problems') lists the problems.
%
% problem  a name: 'l0-pca', 'l1-pca', 'nonneg-pca', 'pca', 'brockett', ...
% data     a full or sparse matrix whose rows are samples (C = A'A), C itself with 'gram', true, or a text: a
%          file, 'randn:100:20', 'builtin:pitprops'
% found    a struct: X (n x r), objective, smooth, nonsmooth, status, message, nnz, feasibility, seconds,
%          explained_variance, bound, gap, proof, notes, ... as the command writes them with --json
%
% Ctrl-C ends the run, and the best X so far is returned with the status 'interrupted'. 'names' is a cell array
% with a name for each column. Options, as names and values or as one struct:
%
% Data
%   'gram'  Give C itself (symmetric, n x n) instead of DATA
%   'center'  Subtract the mean of each column (sparse data stay sparse)
%   'scale'  Scale the columns, after centring: std (standard deviation 1: C holds correlations; implies
%       'covariance' and 'center'), unit (2-norm 1), none, or a factor [default: none]
%   'covariance'  C = A'A/(m - 1) of the centred columns, so that lambda does not depend on the number of
%       samples
%   'missing'  Missing values (NA, empty cells, NaN): error, mean of the column, drop the row, or em, a model of
%       a few components [default: error]; one of error, mean, drop, em
%   'features'  Keep the first N columns only
%   'storage'  Storage of the data in f: C (dense), A (gram), or the cheaper one (auto) [default: auto]; one of
%       auto, dense, gram
%   'max_memory'  Refuse data and problems that need more memory: 500M, 8G [default: nine tenths of what is
%       free]
% Table
%   'layout'  Read the table as another one was read: a result (solve 'json'), or a JSON object of the options
%       below
%   'header'  Whether the first line holds the names of the columns, or how many lines do [default: auto]
%   'skip'  Leave out N lines in front of the table
%   'footer'  Leave out N rows at the end of the table
%   'columns'  Columns to read: names, numbers, ranges, patterns with * and ? (a,b,5-9,gene*)
%   'drop'  Columns to leave out, as with 'columns'; `text` leaves out all columns of text
%   'row_names'  The column that names the rows: auto, none, or a column [default: auto]
%   'drop_rows'  Rows to leave out, by names or numbers, beside totals and means: auto, none, or a list
%       [default: auto]
%   'strip'  Columns of numbers with something beside them (5 kg, 5.1*, 5.1 (0.2)) that is taken off
%   'weights'  Weights of the rows: a column, or a file with one per line; a row counts as often as its weight
%       says
%   'transpose'  Rows are variables, columns are samples
%   'na'  Further codes of a missing value, beside NA and empty cells, such as -999,<LOD
%   'decimal'  Decimal mark, . or , [default: the table decides]
%   'thousands'  Mark between groups of three digits: . , ' space or none [default: the table decides]
%   'sheet'  Sheet of a spreadsheet, by its name or number [default: the first with data]
%   'names'  Names of the columns, one per line, or a column of a table (FILE:2, FILE:symbol)
%   'nearest'  Replace C by a positive semidefinite matrix with the same diagonal, the nearest one in
%       correlations
% Problem
%   'rank'  Number of components r; 90%: as many as PCA needs for 90 % of the variance; auto: as many as exceed
%       noise [default: 5, or one fewer than the variables]
%   'samples'  Number of rows behind C, for a rank of auto
%   'lambda'  Weight of the penalty [default: l0 uses 'nonzeros' auto instead; other penalties use a share of
%       the mean of the r largest C_ii]
%   'lambda_share'  Weight of the penalty as a share of the mean of the r largest C_ii
%   'relative_lambda'  Weight of the penalty l0 or l1 as a share of the largest useful one
%   'nonzeros'  At most K nonzeros in each component (K1,K2,...: one number for each; auto: the knee of variance
%       against nonzeros) instead of lambda [default: auto for l0 without lambda]
%   'total_nonzeros'  At most K nonzeros in all components together
%   'variables'  At most K variables in all components together; with 'lambda' each variable costs LAMBDA
%   'constraint'  Relation between two components: orthogonal loadings (X'X = I), uncorrelated scores (X'CX
%       diagonal, columns of length 1), or both, for l0-pca with a number of nonzeros [default: orthogonal]
%   'maximise'  Measure to maximise: variance; adjusted: variance that earlier components do not have; polar:
%       the same, all components on equal terms; explained: variance of all variables predicted from the scores
%       [default: adjusted with a number of nonzeros, otherwise variance]
%   'order'  joint: all components together; sequential: each the best one beside those before it [default:
%       joint]
%   'min_nonzeros'  Least number of nonzeros in a component, with 'total_nonzeros' [default: 1]
%   'max_nonzeros'  Largest number of nonzeros in a component, with 'total_nonzeros' [default: all]
%   'penalty'  Another penalty for a PCA problem; `orthopt list penalties` shows all; one of none, l0, l1, l21,
%       nonneg, mcp, scad, capped-l1, elastic-net, box, l1-largest-k, fused-l1
%   'k'  k of dc-pca and l1-largest-k: number of entries of X without penalty [default: 5 %]
%   'map'  A in h(A(X)): differences, rows:LIST, columns:LIST, or a file with B, A(X) = BX; or a matrix
%   'signature'  J of X'JX = J: P ones (below 1: a share of them), then minus ones, or a file with signs
%       [default: half]
%   'ridge'  hyperbolic-eig: add R * tr(C)/n to the diagonal of C [default: 0]
%   'reproduction'  hyperbolic-eig as the paper prints it, min -tr(X'CX) with C = A'A, which has no lower bound
%   'distances'  probe: distances to match, m x m [default: Euclidean ones]; or a matrix
%   'radius'  probe: radius of the ultrahyperbolic space [default: 1]
%   'placement'  probe: position of phi, after X (phi(DX)) or before X (phi(D)X, as the paper prints it: F is
%       then the same for every feasible X) [default: after]; one of after, before
%   'linear'  nonlinear-eig, and procrustes of C itself: E of the linear term, a file or randn[:SEED]; or a
%       matrix
%   'target'  procrustes: B of ||AX - B||, one row for each sample; centred where these are; or a matrix
%   'component_weights'  brockett: weights of the components, D1,D2,... of tr(X'CXD) [default: falling evenly,
%       with mean 1]
% Solver and start
%   'solver'  `orthopt list solvers` shows all; A+B runs B from the result of A [default: auto, which chooses
%       and gives the reason]
%   'init'  Starting point X0: a name (`orthopt list starts` shows all) or a file; or a matrix
%   'effort'  Length of the search of auto: quick, normal or thorough [default: normal; with a limit, until the
%       limit]; one of quick, normal, thorough
%   'restarts'  Further starts of one solver; the best X is returned [default: as the time limit allows; auto
%       searches instead, see 'effort']
%   'seed'  Seed of all random choices [default: 0]
%   'threads'  Threads to use [default: all]; X does not depend on it
% Stopping
%   'max_iters'  Stop after this many iterations (working sets tried)
%   'time_limit'  Seconds for the whole call after the data are read, setting up the problem too; those of
%       `bound` come on top
%   'tol'  Converged when no pair lowers F by more than TOL * (scale + |F|), or stationarity is at most 1000 TOL
%       [default: 1e-9]
%   'min_decrease'  Stop as stalled when a pass lowers F by less [default: 0, never]
% OBCD and JOBCD
%   'working_set'  B, rule for choosing rows [default: random]; one of random, active, cyclic, greedy-sv,
%       greedy-or
%   'block'  k, number of rows in B; subproblems of 2 are solved globally [default: 2]
%   'model'  Q, model of a block: exact (8) or diagonal (9) [default: exact]; one of exact, diagonal
%   'alpha'  α, weight of the proximal term alpha/2 ||V - I||^2, relative to the scale of F [default: 1e-5]
%   'candidates'  pairs scored by the greedy rules; min(n, 200) unless set [default: auto]
%   'side'  JOBCD: pairs of rows of X (the paper), of columns, or auto: columns where that decouples them
%       [default: auto]; one of auto, rows, columns
%   'jacobi'  rounds of n/2 disjoint pairs in parallel with the diagonal model (Appendix C.4) [default: false]
% Certificate
%   'certify'  Check all pairs of rows: certify block-2 stationarity, or report the largest decrease of F
%   'certify_sample'  Check this many random pairs instead of all
%   'bound'  Also compute a lower bound of F over all feasible X, and the gap, in these seconds beyond the time
%       limit [60]
% Output
%   'title'  Title of the pictures, in place of "3 sparse components of 13 variables"
%
% Besides, the constants of solvers and penalties: orthopt_list ('constants'). Options that do not apply are refused.
%
% Example
%   found = orthopt_solve ('l0-pca', 'builtin:pitprops', 'rank', 3, 'lambda', 0.1, 'certify', true);
%   orthopt_plot (found)
%
% See also orthopt_sparsepca, orthopt_bound, orthopt_certify, orthopt_minimize, orthopt_list
function found = orthopt_solve (problem, data, varargin)
  found = orthopt_call ('solve', problem, data, varargin);
end
