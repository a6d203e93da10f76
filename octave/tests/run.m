% Tests of the package: octave --no-gui --quiet octave/tests/run.m. Ends with an error where one fails.
here = fileparts (mfilename ('fullpath'));
addpath (fileparts (here));

function refused (call, id, says)
  try
    call ();
  catch problem
    ok = strcmp (problem.identifier, id) && ~isempty (strfind (problem.message, says));
    if ~ok, error ('expected %s, %s; got %s: %s', id, says, problem.identifier, problem.message); end
    return
  end
  error ('nothing was refused: expected %s, %s', id, says);
end

function [f, G] = rayleigh (X, A)
  f = -trace (X' * A * X) / 2;
  G = -A * X;
end

function [f, G] = broken (X)
  f = 1;
  G = X(:, 1);
end

% a limit of nonzeros, and what is said of it
s = orthopt_solve ('l0-pca', 'builtin:pitprops', 'rank', 2, 'nonzeros', 4, 'effort', 'quick');
assert (size (s.X), [13, 2]);
assert (sum (s.X ~= 0), [4, 4]);
assert (s.X' * s.X, eye (2), 1e-12);
assert (numel (s.names) == 13);
b = orthopt_bound ('l0-pca', 'builtin:pitprops', s.X, 'nonzeros', 4, 'time_limit', 5);
assert (b.bound <= s.objective + 1e-9 && size (b.X, 1) == 13);
c = orthopt_certify ('l0-pca', 'builtin:pitprops', s.X, 'lambda', 0.1);
assert (c.certificate.pairs_total > 50 && c.feasibility < 1e-12);

% matrices of Octave, full and sparse, where they are; options as a struct
rand ('twister', 1);
A = rand (60, 20) .* (rand (60, 20) < 0.3);
full_ = orthopt_solve ('l0-pca', A, 'rank', 3, 'nonzeros', 4, 'effort', 'quick');
sparse_ = orthopt_solve ('l0-pca', sparse (A), struct ('rank', 3, 'nonzeros', 4, 'effort', 'quick'));
assert (abs (full_.objective - sparse_.objective) < 1e-9 * abs (full_.objective));
of_c = orthopt_solve ('pca', A' * A, 'gram', true, 'rank', 2);
assert (of_c.objective, -sum (eigs (A' * A, 2)) / 2, 1e-9);
[p, scores] = orthopt_sparsepca (A, 'rank', 3, 'nonzeros', [5, 4, 3], 'effort', 'quick');
assert (sort (sum (p.X ~= 0)), [3, 4, 5]);
assert (mean (scores), zeros (1, 3), 1e-12);
names = arrayfun (@(k) sprintf ('v%d', k), 1:20, 'UniformOutput', false);
named = orthopt_sparsepca (A, 'rank', 1, 'nonzeros', 2, 'names', names, 'effort', 'quick');
assert (named.names', names);

% functions of one's own
D = diag (1:10);
m = orthopt_minimize (@(X) rayleigh (X, D), [10, 2], 'certify', true);
assert (m.objective, -9.5, 1e-8);
assert (m.criticality < 1e-3);
[Q, ~] = qr (reshape (sin (1:20), 10, 2), 0);
m = orthopt_minimize (struct ('cost', @(X) -trace (X' * D * X) / 2, 'egrad', @(X) -D * X), Q);
assert (m.objective, -9.5, 1e-8);
assert (strcmp (m.status, 'converged') && m.evaluations > 1 && m.starts == 1);
m = orthopt_minimize (@(X) rayleigh (X, D), [10, 2], 'penalty', 'l1', 'lambda', 0.5);
assert (m.nonsmooth > 0);

% what is wrong is said
refused (@() orthopt_solve ('l0-pcb', A), 'orthopt:UnknownNameError', 'did you mean');
refused (@() orthopt_solve ('l0-pca', A, 'ranks', 2), 'orthopt:UnknownNameError', 'there is no option');
refused (@() orthopt_solve ('l0-pca', A, 'rank'), 'orthopt:ArgumentError', 'pairs of a name and a value');
refused (@() orthopt_solve ('l0-pca', A, 'rank', {1}), 'orthopt:InvalidOptionError', 'rank has a value');
refused (@() orthopt_solve ('l0-pca', single (A), 'rank', 2), 'orthopt:ArgumentError', 'matrix of doubles');
refused (@() orthopt_solve ('l0-pca', [A; nan(1, 20)], 'rank', 2), 'orthopt:NotFiniteError', 'row 61');
refused (@() orthopt_solve ('l0-pca', A, 'rank', 2, 'names', {'a'}), 'orthopt:ArgumentError', '1 names for 20 columns');
refused (@() orthopt_certify ('l0-pca', A, ones (20, 2), 'lambda', 1), 'orthopt:NotOrthonormalError', 'not orthonormal');
refused (@() orthopt_minimize (@broken, [4, 2]), 'orthopt:CallbackError', 'the shape of X');
refused (@() orthopt_minimize (@(X) error ('mine:own', 'no luck'), [4, 2]), 'mine:own', 'no luck');
refused (@() orthopt_list ('things'), 'orthopt:UnknownNameError', 'choose one of');

% lists and help
problems = orthopt_list ('problems');
assert (any (strcmp ({problems.name}, 'l0-pca')));
for name = {'solve', 'sparsepca', 'bound', 'certify', 'minimize', 'list', 'plot'}
  assert (~isempty (strfind (help (['orthopt_' name{1}]), 'Example')) || any (strcmp (name{1}, {'list', 'plot'})));
end
assert (~isempty (strfind (help ('orthopt_solve'), 'nonzeros')));

% a picture of loadings
if ~isempty (available_graphics_toolkits ())
  figure ('visible', 'off');
  assert (numel (orthopt_plot (s)), 2);
  close all
else
  disp ('orthopt_plot is left out: this Octave has no graphics toolkit');
end

disp ('octave: all tests passed');
