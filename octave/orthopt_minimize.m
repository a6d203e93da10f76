% found = orthopt_minimize (fun, x0, name, value, ...)
%
% Minimises f(X) + h(X) for a smooth f of your own over matrices with X'X = I, or f(X) over X'JX = J.
%
% fun  [f, G] = fun (X): f and the matrix of all its partial derivatives, as if there were no constraint (the egrad
%      of Manopt); or a struct with the fields cost and egrad, as a problem of Manopt has them
% x0   a start with orthonormal columns, or its size [n r] for random starts, until two of them agree
%
% 'penalty', 'lambda'  h and its weight: 'l1', 'l0', 'nonneg', 'l21', ... (orthopt_list ('penalties'))
% 'signature'          J, as the number of its leading ones or a vector of signs: the constraint X'JX = J
% 'solver'             'lbfgs' is the default without a penalty (orthopt_list ('solvers'))
% 'lipschitz'          the Lipschitz constant of the gradient, where it is known
% 'certify'            true: measure criticality
%
% and 'max_iters', 'time_limit', 'tol', 'seed', 'restarts'. found has X, objective, status, message, iterations,
% evaluations, starts, criticality. Ctrl-C between two calls of fun ends the run with the best X so far.
%
% Example
%   A = diag (1:10);
%   found = orthopt_minimize (@(X) deal (-trace (X' * A * X) / 2, -A * X), [10 2]);
%
% See also orthopt_solve
function found = orthopt_minimize (fun, x0, varargin)
  if isstruct (fun)
    fun = @(X) deal (fun.cost (X), fun.egrad (X));
  end
  found = orthopt_call ('minimize', @(X) checked (fun, X), x0, varargin);
end

% f and its gradient, or why there are none: nothing may leave through the library.
function [f, G, id, message] = checked (fun, X)
  f = 0; G = []; id = 'orthopt:CallbackError'; message = '';
  try
    [f, G] = fun (X);
  catch problem
    id = problem.identifier;
    message = ['fun: ' problem.message];
    return
  end
  if ~(isnumeric (f) && isreal (f) && isscalar (f))
    message = 'f(X) that fun returned is not one real number';
  elseif ~(isnumeric (G) && isreal (G) && isequal (size (G), size (X)))
    message = sprintf ('the gradient that fun returned is not a real %d x %d matrix, the shape of X', size (X));
  end
  f = double (f);
  G = full (double (G));
end
