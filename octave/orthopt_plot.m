% h = orthopt_plot (found)
%
% Draws the loadings of a result: a panel of bars for each component, and a line with its name for each variable.
%
% See also orthopt_solve, orthopt_sparsepca
function h = orthopt_plot (found)
  [n, r] = size (found.X);
  names = arrayfun (@(i) sprintf ('x%d', i), 1:n, 'UniformOutput', false);
  if isfield (found, 'names') && ~isempty (found.names)
    names = found.names;
  end
  h = zeros (1, r);
  for k = 1:r
    subplot (1, r, k);
    h(k) = barh (found.X(:, k));
    set (gca, 'xlim', [-1, 1], 'ylim', [0.5, n + 0.5], 'ydir', 'reverse', 'ytick', 1:n, 'yticklabel', {});
    title (sprintf ('%d', k));
    if k == 1
      set (gca, 'yticklabel', names);
    end
  end
end
