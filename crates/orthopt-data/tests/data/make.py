"""Writes the golden files of this folder, with NumPy 2.4.6 and SciPy 1.17.1; its tables with pandas 3.1.1, pyarrow 26.0.1 and polars 2.1.0,
with columns a to d and rows x to z.

They hold the same 3 x 4 matrix unless their name says otherwise:

    1.5   0    -2     0
    0     0     0.1   0
    0     3     0     4
"""

import numpy as np
import pandas as pd
import polars as pl
import scipy.io
import scipy.sparse

a = np.array([[1.5, 0, -2, 0], [0, 0, 0.1, 0], [0, 3, 0, 4]])
np.save("f8.npy", a)
np.save("f8_fortran.npy", np.asfortranarray(a))
np.save("f4_big_endian_of_10a.npy", (10 * a).astype(">f4"))
np.savez("named.npz", other=np.arange(5), X=a, y=np.array([1, -1, 1]))
scipy.sparse.save_npz("csr.npz", scipy.sparse.csr_matrix(a))
scipy.sparse.save_npz("csc.npz", scipy.sparse.csc_matrix(a))
scipy.sparse.save_npz("coo.npz", scipy.sparse.coo_matrix(a))
scipy.io.mmwrite("coordinate.mtx", scipy.sparse.coo_matrix(a), comment="written by SciPy")
scipy.io.mmwrite("array_symmetric_of_aat.mtx", a @ a.T, symmetry="symmetric")

names, rows = list("abcd"), list("xyz")
frame = pd.DataFrame(a, columns=names, index=rows)
frame.to_parquet("pandas_index.parquet")
frame.reset_index(names="row").to_feather("pandas.feather")
table = pl.DataFrame({"row": rows} | {name: a[:, j] for j, name in enumerate(names)})
table.write_parquet("polars.parquet")
table.write_ipc("polars.arrow", compression="lz4")

labels = np.array([[1], [-1], [1]])
scipy.io.savemat("full.mat", {"note": "words", "X": a, "y": labels, "other": np.arange(5)})
scipy.io.savemat("compressed.mat", {"fea": a, "gnd": labels, "cells": np.array(["a", 1.5], object)}, do_compression=True)
scipy.io.savemat("csc.mat", {"a_very_long_name_of_a_matrix": scipy.sparse.csc_matrix(a)}, do_compression=True)
scipy.io.savemat("i2_of_10a.mat", {"ten": (10 * a).astype("i2"), "vector": np.arange(3)})
