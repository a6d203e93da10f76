% found = orthopt_call (what, first, data, pairs, X)
% Calls the compiled half with options as names and values, and makes a struct of its answer.
function found = orthopt_call (what, first, data, pairs, X)
  [options, names] = orthopt_options (pairs);
  if strcmp (what, 'minimize')
    [X, text] = orthopt_mex (what, first, data, options);
  else
    if nargin < 5, X = []; end
    [X, text] = orthopt_mex (what, first, data, options, names, X);
  end
  found = jsondecode (text);
  found.X = X;
end
