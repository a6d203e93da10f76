% [text, names] = orthopt_options (pairs)
% Names and values as JSON with all digits; 'names' are of the data. A struct stands for its fields.
function [text, names] = orthopt_options (pairs)
  names = {};
  if numel (pairs) == 1 && isstruct (pairs{1})
    pairs = [fieldnames(pairs{1})'; struct2cell(pairs{1})'];
  end
  if mod (numel (pairs), 2) ~= 0
    error ('orthopt:ArgumentError', 'options are pairs of a name and a value, or one struct');
  end
  parts = {};
  for k = 1:2:numel (pairs)
    name = pairs{k};
    if ~ischar (name)
      error ('orthopt:ArgumentError', 'the name of an option is a text; argument %d of the options is none', k);
    elseif strcmp (name, 'names')
      names = pairs{k + 1};
    else
      parts{end + 1} = [quoted(name) ': ' json(pairs{k + 1}, name)];
    end
  end
  text = ['{' strjoin(parts, ', ') '}'];
end

function text = json (value, name)
  if ischar (value)
    text = quoted (value);
  elseif islogical (value) && isscalar (value)
    words = {'false', 'true'};
    text = words{value + 1};
  elseif isnumeric (value) && isreal (value) && isempty (value)
    text = 'null';
  elseif isnumeric (value) && isreal (value) && all (isfinite (value(:)))
    if isscalar (value)
      text = sprintf ('%.17g', value);
    elseif isvector (value)
      text = ['[' strjoin(arrayfun (@(v) sprintf ('%.17g', v), value(:)', 'UniformOutput', false), ', ') ']'];
    else
      rows = arrayfun (@(i) json (full (value(i, :)), name), 1:rows_of (value), 'UniformOutput', false);
      text = ['[' strjoin(rows, ', ') ']'];
    end
  else
    error ('orthopt:InvalidOptionError', '%s has a value that no option has: expected finite real numbers, a text, true or false', name);
  end
end

function m = rows_of (value)
  m = size (value, 1);
end

function text = quoted (word)
  text = ['"' strrep(strrep (word, '\', '\\'), '"', '\"') '"'];
end
