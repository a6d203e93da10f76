% [found, scores] = orthopt_sparsepca (A, name, value, ...)
%
% Sparse principal components with orthonormal loadings. Rows of A are samples; columns are centred, as by the
% function pca, unless 'center', false says otherwise.
%
% 'rank'            the number of components
% 'nonzeros'        the largest number of loadings that are not zero, or one for each component
% 'total_nonzeros'  the same for all components together
% 'variables'       the largest number of variables that any component uses
% 'lambda'          a weight for each loading instead
%
% and all options of orthopt_solve. found.X are the loadings, and scores are those of the rows.
%
% Example
%   found = orthopt_sparsepca (randn (100, 20), 'rank', 3, 'nonzeros', 5);
%
% See also orthopt_solve, orthopt_plot
function [found, scores] = orthopt_sparsepca (A, varargin)
  given = [varargin(1:2:end) {''}];
  if ~any (ismember ({'center', 'gram'}, given(cellfun (@ischar, given))))
    varargin = [varargin {'center', true}];
  end
  found = orthopt_call ('solve', 'l0-pca', A, varargin);
  if nargout > 1
    scores = A * found.X;
    if ~isempty (found.means), scores = scores - found.means(:)' * found.X; end
  end
end
