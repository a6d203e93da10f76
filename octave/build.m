% build (folder)
%
% Compiles the half of this package that is C, against the library that cargo has built in the checkout:
%   cargo rustc --release -p orthopt-capi --crate-type cdylib
% The folder of the library is target/release unless another one is named.
function build (folder)
  here = fileparts (mfilename ('fullpath'));
  root = fileparts (here);
  if nargin < 1, folder = fullfile (root, 'target', 'release'); end
  if isempty (dir (fullfile (folder, '*orthopt_capi*')))
    error ('orthopt:ArgumentError', 'there is no C library in %s: help build says how it is made', folder);
  end
  source = fullfile (here, 'private', 'orthopt_mex.cpp');
  include = ['-I' fullfile(root, 'crates', 'orthopt-capi', 'include')];
  if exist ('OCTAVE_VERSION', 'builtin')
    out = fullfile (here, 'private', 'orthopt_mex.mex');
    mkoctfile ('--mex', include, ['-L' folder], '-lorthopt_capi', ['-Wl,-rpath,' folder], '-o', out, source);
  else
    mex (include, ['-L' folder], '-lorthopt_capi', '-lut', ['LDFLAGS=$LDFLAGS -Wl,-rpath,' folder], '-outdir', ...
         fullfile (here, 'private'), source);
  end
end
