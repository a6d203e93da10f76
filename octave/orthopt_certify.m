% found = orthopt_certify (problem, data, X, name, value, ...)
%
% Checks an X from anywhere: feasibility, F and its parts, criticality, and whether a change of two rows of X lowers
% F (block-2 stationarity). Options are those of orthopt_solve that state the problem; 'certify_sample', N checks N
% random pairs of rows instead of all.
%
% found has feasibility, objective, criticality, certificate (pairs_checked, pairs_total, max_decrease), tolerance
% and certified.
%
% Example
%   s = orthopt_solve ('l0-pca', 'builtin:pitprops', 'rank', 3, 'lambda', 0.1);
%   c = orthopt_certify ('l0-pca', 'builtin:pitprops', s.X, 'lambda', 0.1);
%
% See also orthopt_solve, orthopt_bound
function found = orthopt_certify (problem, data, X, varargin)
  found = orthopt_call ('certify', problem, data, varargin, X);
end
