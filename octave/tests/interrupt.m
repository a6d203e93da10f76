% Runs for ten minutes unless Ctrl-C ends it; prints how it ended.
addpath (fileparts (fileparts (mfilename ('fullpath'))));
printf ('running\n');
fflush (stdout);
s = orthopt_solve ('l0-pca', 'randn:400:300:1', 'rank', 20, 'nonzeros', 30, 'time_limit', 600, 'effort', 'thorough');
printf ('%s %d %d\n', s.status, size (s.X));
