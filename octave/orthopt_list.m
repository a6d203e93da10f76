% entries = orthopt_list (list)
%
% Names with one line each: 'problems', 'solvers', 'penalties', 'maps', 'starts', 'working-sets', 'sides',
% 'options', 'constants'. Without an output they are printed.
%
% See also orthopt_solve
function entries = orthopt_list (list)
  if nargin < 1, list = 'problems'; end
  [~, text] = orthopt_mex ('list', list);
  entries = jsondecode (text);
  if nargout == 0
    for k = 1:numel (entries)
      printed = sprintf ('%-20s %s', entries(k).name, entries(k).doc);
      disp (printed);
    end
    clear entries
  end
end
