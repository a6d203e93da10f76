% found = orthopt_bound (problem, data, X, name, value, ...)
%
% A lower bound of F over all feasible X, and the gap of the given X to it: with a gap of 0 no X is better. With
% X = [] an X is searched for first, in .3 of the time.
%
% 'time_limit'  seconds (60)
% 'nodes'       limit on the nodes of branch and bound
%
% and the options of orthopt_solve that state the problem: 'nonzeros', 'lambda', 'center', 'gram', ...
% found has bound, objective, gap, proof ('optimal' where the gap is closed), status, nodes, and X, the best known.
%
% Example
%   s = orthopt_solve ('l0-pca', 'builtin:pitprops', 'rank', 2, 'nonzeros', 5);
%   b = orthopt_bound ('l0-pca', 'builtin:pitprops', s.X, 'nonzeros', 5);
%
% See also orthopt_solve, orthopt_certify
function found = orthopt_bound (problem, data, X, varargin)
  if nargin < 3, X = []; end
  found = orthopt_call ('bound', problem, data, varargin, X);
end
