"""Further keywords of the calls with their types, for type checkers. `cargo xtask generate` writes this file from the table
of options."""

from __future__ import annotations

from typing import Any, Literal, Sequence, TypedDict


class Constants(TypedDict, total=False):
    """Constants of solvers and penalties (:func:`orthopt.constants`)."""

    manpg_t: float | str | None
    manpg_gamma: float | str | None
    manpg_delta: float | str | None
    manpg_ada_t: float | str | None
    manpg_ada_gamma: float | str | None
    manpg_ada_delta: float | str | None
    manpg_ada_tau: float | str | None
    irpg_phi: float | str | None
    irpg_gamma: float | str | None
    irpg_delta: float | str | None
    irpg_memory: float | str | None
    irpg_longest: float | str | None
    amanpg_step: float | str | None
    amanpg_phi: float | str | None
    amanpg_gamma: float | str | None
    amanpg_delta: float | str | None
    amanpg_rotate: float | str | None
    slpg_inner: float | str | None
    slpg_memory: float | str | None
    slpg_longest: float | str | None
    rsubgrad_eta: float | str | None
    rsubgrad_p: float | str | None
    ladmm_beta: float | str | None
    ladmm_rho: float | str | None
    ladmm_most: float | str | None
    ladmm_near: float | str | None
    spm_beta: float | str | None
    spm_rho: float | str | None
    spm_most: float | str | None
    soc_beta: float | str | None
    ep4orth_sigma: float | str | None
    ep4orth_growth: float | str | None
    ep4orth_accuracy: float | str | None
    ep4orth_inner: float | str | None
    support_rho0: float | str | None
    support_growth: float | str | None
    support_kappa: float | str | None
    support_patience: float | str | None
    lbfgs_memory: float | str | None
    optm_qr_sigma: float | str | None
    optm_qr_eta: float | str | None
    optm_qr_gamma: float | str | None
    optm_cayley_sigma: float | str | None
    optm_cayley_eta: float | str | None
    optm_cayley_gamma: float | str | None
    foforth_gr_sigma: float | str | None
    foforth_gr_eta: float | str | None
    foforth_gr_gamma: float | str | None
    foforth_p_sigma: float | str | None
    foforth_p_eta: float | str | None
    foforth_p_gamma: float | str | None
    foforth_qr_sigma: float | str | None
    foforth_qr_eta: float | str | None
    foforth_qr_gamma: float | str | None
    trust_region_kappa: float | str | None
    trust_region_theta: float | str | None
    trust_region_inner: float | str | None
    oadmm_chi: float | str | None
    oadmm_beta0: float | str | None
    oadmm_xi: float | str | None
    oadmm_p: float | str | None
    oadmm_sigma: float | str | None
    oadmm_theta: float | str | None
    oadmm_alpha: float | str | None
    oadmm_lf: float | str | None
    oadmm_ep_chi: float | str | None
    oadmm_ep_beta0: float | str | None
    oadmm_ep_xi: float | str | None
    oadmm_ep_p: float | str | None
    oadmm_ep_sigma: float | str | None
    oadmm_ep_theta: float | str | None
    oadmm_ep_alpha: float | str | None
    oadmm_ep_lf: float | str | None
    oadmm_rr_chi: float | str | None
    oadmm_rr_beta0: float | str | None
    oadmm_rr_xi: float | str | None
    oadmm_rr_p: float | str | None
    oadmm_rr_sigma: float | str | None
    oadmm_rr_rho: float | str | None
    oadmm_rr_gamma: float | str | None
    oadmm_rr_delta: float | str | None
    oadmm_rr_b: float | str | None
    oadmm_rr_bb: float | str | None
    oadmm_rr_bb2: float | str | None
    oadmm_rr_qr: float | str | None
    oadmm_rr_lf: float | str | None
    radmm_beta: float | str | None
    radmm_chi: float | str | None
    spgm_ep_mu0: float | str | None
    spgm_rr_mu0: float | str | None
    subgrad_a0: float | str | None
    madmm_beta: float | str | None
    madmm_inner: float | str | None
    manial_sigma0: float | str | None
    manial_growth: float | str | None
    manial_eps0: float | str | None
    manial_inner: float | str | None
    rial_sigma0: float | str | None
    rial_growth: float | str | None
    rial_eps0: float | str | None
    rial_inner: float | str | None
    rada_rgd_beta1: float | str | None
    rada_rgd_rho: float | str | None
    rada_rgd_steps: float | str | None
    rada_rgd_epsilon: float | str | None
    rada_rgd_tau1: float | str | None
    rada_rgd_tau2: float | str | None
    gs_jobcd_theta: float | str | None
    gs_jobcd_tol: float | str | None
    gs_jobcd_mu_max: float | str | None
    gs_jobcd_norm_limit: float | str | None
    j_jobcd_theta: float | str | None
    j_jobcd_tol: float | str | None
    j_jobcd_s: float | str | None
    j_jobcd_mu_max: float | str | None
    j_jobcd_norm_limit: float | str | None
    vr_j_jobcd_theta: float | str | None
    vr_j_jobcd_batch: float | str | None
    vr_j_jobcd_s: float | str | None
    vr_j_jobcd_mu_max: float | str | None
    vr_j_jobcd_norm_limit: float | str | None
    j_admm_beta: float | str | None
    j_admm_l: float | str | None
    j_admm_double: float | str | None
    j_admm_beta_max: float | str | None
    j_admm_norm_limit: float | str | None
    umcm_beta: float | str | None
    umcm_lr: float | str | None
    umcm_double: float | str | None
    umcm_beta_max: float | str | None
    umcm_norm_limit: float | str | None
    csdm_lr: float | str | None
    csdm_norm_limit: float | str | None
    j_lbfgs_memory: float | str | None
    j_lbfgs_radius: float | str | None
    j_lbfgs_norm_limit: float | str | None
    mcp_gamma: float | str | None
    scad_a: float | str | None
    scad_weight: float | str | None
    capped_l1_cap: float | str | None
    elastic_net_eta: float | str | None
    box_lower: float | str | None
    box_upper: float | str | None


class SolveOptions(Constants, total=False):
    """Those of :func:`orthopt.solve`."""

    gram: bool | None
    center: bool | None
    scale: str | float | None
    covariance: bool | None
    missing: Literal["error", "mean", "drop", "em"] | None
    layout: str | None
    header: str | float | None
    skip: int | None
    footer: int | None
    columns: str | float | None
    drop: str | float | None
    row_names: str | float | None
    drop_rows: str | float | None
    strip: str | float | None
    weights: str | float | None
    transpose: bool | None
    na: str | float | None
    decimal: str | None
    thousands: str | None
    sheet: str | float | None
    names: str | None
    nearest: bool | None
    features: int | None
    storage: Literal["auto", "dense", "gram"] | None
    max_memory: int | str | None
    samples: int | None
    lam_share: float | None
    relative_lam: float | None
    nonzeros: int | Sequence[int] | str | None
    total_nonzeros: int | None
    variables: int | None
    constraint: str | None
    maximise: str | None
    order: str | None
    min_nonzeros: int | None
    max_nonzeros: int | None
    penalty: Literal["none", "l0", "l1", "l21", "nonneg", "mcp", "scad", "capped-l1", "elastic-net", "box", "l1-largest-k", "fused-l1"] | None
    k: int | None
    map: Any | None
    signature: str | float | Sequence[int] | None
    ridge: float | None
    reproduction: bool | None
    distances: Any | None
    radius: float | None
    placement: Literal["after", "before"] | None
    linear: Any | None
    target: Any | None
    component_weights: str | float | Sequence[float] | None
    effort: Literal["quick", "normal", "thorough"] | None
    restarts: int | None
    seed: int | None
    threads: int | None
    max_iters: int | None
    time_limit: float | None
    tol: float | None
    min_decrease: float | None
    working_set: Literal["random", "active", "cyclic", "greedy-sv", "greedy-or"] | None
    block: int | None
    model: Literal["exact", "diagonal"] | None
    alpha: float | None
    candidates: str | float | None
    side: Literal["auto", "rows", "columns"] | None
    jacobi: bool | None
    title: str | None


class CompareOptions(Constants, total=False):
    """Those of :func:`orthopt.compare`."""

    gram: bool | None
    center: bool | None
    scale: str | float | None
    covariance: bool | None
    missing: Literal["error", "mean", "drop", "em"] | None
    layout: str | None
    header: str | float | None
    skip: int | None
    footer: int | None
    columns: str | float | None
    drop: str | float | None
    row_names: str | float | None
    drop_rows: str | float | None
    strip: str | float | None
    weights: str | float | None
    transpose: bool | None
    na: str | float | None
    decimal: str | None
    thousands: str | None
    sheet: str | float | None
    names: str | None
    nearest: bool | None
    features: int | None
    storage: Literal["auto", "dense", "gram"] | None
    max_memory: int | str | None
    samples: int | None
    lam_share: float | None
    relative_lam: float | None
    nonzeros: int | Sequence[int] | str | None
    total_nonzeros: int | None
    variables: int | None
    constraint: str | None
    maximise: str | None
    order: str | None
    min_nonzeros: int | None
    max_nonzeros: int | None
    penalty: Literal["none", "l0", "l1", "l21", "nonneg", "mcp", "scad", "capped-l1", "elastic-net", "box", "l1-largest-k", "fused-l1"] | None
    k: int | None
    map: Any | None
    signature: str | float | Sequence[int] | None
    ridge: float | None
    reproduction: bool | None
    distances: Any | None
    radius: float | None
    placement: Literal["after", "before"] | None
    linear: Any | None
    target: Any | None
    component_weights: str | float | Sequence[float] | None
    effort: Literal["quick", "normal", "thorough"] | None
    restarts: int | None
    seed: int | None
    threads: int | None
    max_iters: int | None
    time_limit: float | None
    tol: float | None
    min_decrease: float | None
    working_set: Literal["random", "active", "cyclic", "greedy-sv", "greedy-or"] | None
    block: int | None
    model: Literal["exact", "diagonal"] | None
    alpha: float | None
    candidates: str | float | None
    side: Literal["auto", "rows", "columns"] | None
    jacobi: bool | None
    title: str | None


class PathOptions(Constants, total=False):
    """Those of :func:`orthopt.path`."""

    gram: bool | None
    center: bool | None
    scale: str | float | None
    covariance: bool | None
    missing: Literal["error", "mean", "drop", "em"] | None
    layout: str | None
    header: str | float | None
    skip: int | None
    footer: int | None
    columns: str | float | None
    drop: str | float | None
    row_names: str | float | None
    drop_rows: str | float | None
    strip: str | float | None
    weights: str | float | None
    transpose: bool | None
    na: str | float | None
    decimal: str | None
    thousands: str | None
    sheet: str | float | None
    names: str | None
    nearest: bool | None
    features: int | None
    storage: Literal["auto", "dense", "gram"] | None
    max_memory: int | str | None
    samples: int | None
    lam: float | None
    lam_share: float | None
    relative_lam: float | None
    nonzeros: int | Sequence[int] | str | None
    total_nonzeros: int | None
    variables: int | None
    constraint: str | None
    maximise: str | None
    order: str | None
    min_nonzeros: int | None
    max_nonzeros: int | None
    penalty: Literal["none", "l0", "l1", "l21", "nonneg", "mcp", "scad", "capped-l1", "elastic-net", "box", "l1-largest-k", "fused-l1"] | None
    k: int | None
    map: Any | None
    signature: str | float | Sequence[int] | None
    ridge: float | None
    reproduction: bool | None
    distances: Any | None
    radius: float | None
    placement: Literal["after", "before"] | None
    linear: Any | None
    target: Any | None
    component_weights: str | float | Sequence[float] | None
    solver: str | None
    effort: Literal["quick", "normal", "thorough"] | None
    seed: int | None
    threads: int | None
    max_iters: int | None
    time_limit: float | None
    tol: float | None
    min_decrease: float | None
    working_set: Literal["random", "active", "cyclic", "greedy-sv", "greedy-or"] | None
    block: int | None
    model: Literal["exact", "diagonal"] | None
    alpha: float | None
    candidates: str | float | None
    side: Literal["auto", "rows", "columns"] | None
    jacobi: bool | None
    title: str | None


class BoundOptions(Constants, total=False):
    """Those of :func:`orthopt.bound`."""

    gram: bool | None
    center: bool | None
    scale: str | float | None
    covariance: bool | None
    missing: Literal["error", "mean", "drop", "em"] | None
    layout: str | None
    header: str | float | None
    skip: int | None
    footer: int | None
    columns: str | float | None
    drop: str | float | None
    row_names: str | float | None
    drop_rows: str | float | None
    strip: str | float | None
    weights: str | float | None
    transpose: bool | None
    na: str | float | None
    decimal: str | None
    thousands: str | None
    sheet: str | float | None
    names: str | None
    nearest: bool | None
    features: int | None
    storage: Literal["auto", "dense", "gram"] | None
    max_memory: int | str | None
    samples: int | None
    lam_share: float | None
    relative_lam: float | None
    nonzeros: int | Sequence[int] | str | None
    total_nonzeros: int | None
    variables: int | None
    constraint: str | None
    maximise: str | None
    order: str | None
    min_nonzeros: int | None
    max_nonzeros: int | None
    penalty: Literal["none", "l0", "l1", "l21", "nonneg", "mcp", "scad", "capped-l1", "elastic-net", "box", "l1-largest-k", "fused-l1"] | None
    k: int | None
    map: Any | None
    signature: str | float | Sequence[int] | None
    ridge: float | None
    reproduction: bool | None
    distances: Any | None
    radius: float | None
    placement: Literal["after", "before"] | None
    linear: Any | None
    target: Any | None
    component_weights: str | float | Sequence[float] | None
    solver: str | None
    init: Any | None
    effort: Literal["quick", "normal", "thorough"] | None
    restarts: int | None
    seed: int | None
    threads: int | None
    max_iters: int | None
    tol: float | None
    min_decrease: float | None
    working_set: Literal["random", "active", "cyclic", "greedy-sv", "greedy-or"] | None
    block: int | None
    model: Literal["exact", "diagonal"] | None
    alpha: float | None
    candidates: str | float | None
    side: Literal["auto", "rows", "columns"] | None
    jacobi: bool | None
    title: str | None


class CertifyOptions(Constants, total=False):
    """Those of :func:`orthopt.certify`."""

    gram: bool | None
    center: bool | None
    scale: str | float | None
    covariance: bool | None
    missing: Literal["error", "mean", "drop", "em"] | None
    layout: str | None
    header: str | float | None
    skip: int | None
    footer: int | None
    columns: str | float | None
    drop: str | float | None
    row_names: str | float | None
    drop_rows: str | float | None
    strip: str | float | None
    weights: str | float | None
    transpose: bool | None
    na: str | float | None
    decimal: str | None
    thousands: str | None
    sheet: str | float | None
    names: str | None
    nearest: bool | None
    features: int | None
    storage: Literal["auto", "dense", "gram"] | None
    max_memory: int | str | None
    lam_share: float | None
    relative_lam: float | None
    nonzeros: int | Sequence[int] | str | None
    total_nonzeros: int | None
    variables: int | None
    constraint: str | None
    maximise: str | None
    order: str | None
    min_nonzeros: int | None
    max_nonzeros: int | None
    penalty: Literal["none", "l0", "l1", "l21", "nonneg", "mcp", "scad", "capped-l1", "elastic-net", "box", "l1-largest-k", "fused-l1"] | None
    k: int | None
    map: Any | None
    signature: str | float | Sequence[int] | None
    ridge: float | None
    reproduction: bool | None
    distances: Any | None
    radius: float | None
    placement: Literal["after", "before"] | None
    linear: Any | None
    target: Any | None
    component_weights: str | float | Sequence[float] | None
    seed: int | None
    threads: int | None
    certify: int | None


class ExploreOptions(Constants, total=False):
    """Those of :func:`orthopt.explore`."""

    gram: bool | None
    center: bool | None
    scale: str | float | None
    covariance: bool | None
    missing: Literal["error", "mean", "drop", "em"] | None
    layout: str | None
    header: str | float | None
    skip: int | None
    footer: int | None
    columns: str | float | None
    drop: str | float | None
    row_names: str | float | None
    drop_rows: str | float | None
    strip: str | float | None
    weights: str | float | None
    transpose: bool | None
    na: str | float | None
    decimal: str | None
    thousands: str | None
    sheet: str | float | None
    names: str | None
    nearest: bool | None
    features: int | None
    storage: Literal["auto", "dense", "gram"] | None
    max_memory: int | str | None
    samples: int | None
    maximise: str | None
    seed: int | None
    threads: int | None
    time_limit: float | None
    title: str | None


class MinimizeOptions(Constants, total=False):
    """Those of :func:`orthopt.minimize`."""

    restarts: int | None
    seed: int | None
    max_iters: int | None
    time_limit: float | None
    tol: float | None
    min_decrease: float | None
    working_set: Literal["random", "active", "cyclic", "greedy-sv", "greedy-or"] | None
    block: int | None
    model: Literal["exact", "diagonal"] | None
    alpha: float | None
    candidates: str | float | None
    side: Literal["auto", "rows", "columns"] | None
    jacobi: bool | None
