"""Three sparse, orthogonal components of a table of tumours, with names and a picture."""

import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from orthopt import SparsePCA, plots

table = load_breast_cancer()
X = StandardScaler().fit_transform(table.data)
pca = SparsePCA(n_components=3, alpha=0.3, random_state=0).fit(X)

for k, row in enumerate(pca.components_):
    print(f"component {k + 1}: {pca.explained_variance_ratio_[k]:.1%} of the variance")
    for i in abs(row).argsort()[::-1]:
        if row[i] != 0:
            print(f"    {row[i]:6.3f}  {table.feature_names[i]}")
print(pca.certificate_)

axes = plots.loadings(pca, table.feature_names)
picture = Path(tempfile.gettempdir()) / "breast_cancer.svg"
axes[0].figure.savefig(picture)
print(f"picture: {picture}")
