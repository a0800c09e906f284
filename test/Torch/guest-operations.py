# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The lists of ATen name the operations of many functions and their gradients. What they make low has a kernel for the
# low type, and gives the result of f32 within 3 % of its norm (fp16: 1 %).
#
# REQUIRES: torch-export
# RUN: env PYTHONPATH=%amp_src_root/tools/amp-torch %torch_python %s

import amp_torch
import torch
import torch.nn.functional as F
from amp_torch import guest
from torch import nn

ROWS = torch.arange(6)
TARGETS = torch.randint(0, 8, (6, 8), generator=torch.Generator().manual_seed(1))
SIGNS = TARGETS.remainder(2) * 2.0 - 1

# Functions of x[6, 8] in [0.1, 0.9].
FUNCTIONS = (
    # Inverse and steep functions.
    torch.acosh, torch.asinh, torch.atanh, torch.logit, torch.sinc, torch.i0, torch.special.entr, torch.special.ndtri,
    torch.special.i1e, torch.angle, torch.deg2rad, F.hardshrink, F.softshrink,
    lambda x: torch.polygamma(1, x + 1), lambda x: torch.mvlgamma(x + 2, 2), lambda x: torch.xlogy(2.0, x),
    lambda x: torch.hypot(x, 1 - x), lambda x: torch.ldexp(x, ROWS[:1]), lambda x: torch.logaddexp2(x, 1 - x),
    lambda x: torch.renorm(x, 2, 0, 1.0), lambda x: torch.copysign(x, -x.detach()),
    # Reductions and scans.
    lambda x: x.nansum(-1), lambda x: x.logcumsumexp(-1), lambda x: x.norm(2, -1), lambda x: torch.dist(x, 1 - x),
    lambda x: F.pdist(x), lambda x: x[:6, :6].trace(), lambda x: torch.aminmax(x, dim=-1)[1],
    lambda x: x.cummax(-1)[0], lambda x: x.cummin(-1)[0], lambda x: x.kthvalue(2, -1)[0], lambda x: x.median(),
    lambda x: x.median(-1)[0], lambda x: x.nanmedian(-1)[0], lambda x: x.mode(-1)[0],
    # Products.
    lambda x: torch.addr(x, x[:, 0], x[0]), lambda x: torch.linalg.cross(x[:, :3], x[:, 3:6]),
    lambda x: F.bilinear(x, x, torch.ones(4, 8, 8)),
    # Linear algebra.
    lambda x: torch.linalg.det(x[:6, :6] + torch.eye(6)), lambda x: torch.linalg.inv(x[:6, :6] + 5 * torch.eye(6)),
    lambda x: torch.linalg.solve(x[:6, :6] + 5 * torch.eye(6), x), lambda x: torch.linalg.svdvals(x),
    lambda x: torch.linalg.cholesky(x @ x.T + 9 * torch.eye(6)), lambda x: torch.matrix_exp(x[:6, :6]),
    # Movements.
    lambda x: x.index_copy(0, ROWS.flip(0), x * 2), lambda x: x.index_fill(0, ROWS[:1], 0.0),
    lambda x: x.masked_scatter(SIGNS > 0, x * 2), lambda x: torch.block_diag(x, x), lambda x: torch.rot90(x),
    # Images.
    lambda x: F.grid_sample(x[None, None], SIGNS[None, :, None, :2] * 0.5, align_corners=False),
    lambda x: F.affine_grid(x[:2, :6].reshape(2, 2, 3), (2, 3, 4, 4), align_corners=False),
    lambda x: F.interpolate(x[None, None], scale_factor=2, mode="nearest-exact"),
    lambda x: F.interpolate(x[None, None], scale_factor=0.5, mode="bilinear", antialias=True),
    lambda x: F.fractional_max_pool2d(x[None, None].repeat(1, 1, 2, 2), 2, 4, _random_samples=torch.ones(1, 1, 2) / 2),
    lambda x: F.avg_pool3d(x.reshape(1, 1, 2, 4, 6), 2),
    # Norms without parameters, whose statistics have the type of the input.
    lambda x: F.layer_norm(x, (8,)), lambda x: F.group_norm(x.reshape(1, 6, 8), 2),
    # Embeddings and losses.
    lambda x: F.embedding_bag(TARGETS % 6, x), lambda x: F.embedding_bag(TARGETS % 6, x, mode="max"),
    lambda x: F.soft_margin_loss(x, SIGNS), lambda x: F.multi_margin_loss(x, ROWS),
    lambda x: F.multilabel_margin_loss(x, TARGETS), lambda x: F.pairwise_distance(x, 1 - x),
    lambda x: F.ctc_loss(x[:, None].log_softmax(-1), TARGETS[:1, :3] % 7 + 1, [6], [3]),
)  # fmt: skip


class Functions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        x = torch.sigmoid(self.first(x))
        # acosh is for numbers above 1.
        results = [f(self.last(x) * 0 + x + (f is torch.acosh) * 1.5) for f in FUNCTIONS]
        noise = F.rrelu(self.last(x), 0.2, 0.2 + 1e-6, training=True)
        discrete = torch.floor_divide(x.detach(), 0.3) + torch.bucketize(x.detach(), x.detach().new_tensor([0.2, 0.7]))
        return [r.float() for r in results], x.frac().sum() + x.round(decimals=1).sum() + (noise + discrete).sum()


for precision, bound in (("bf16", 0.03), ("fp16", 0.01)):
    torch._dynamo.reset()
    torch.manual_seed(0)
    model, x = Functions(), torch.randn(6, 8)
    expected, _ = model(x)
    # A policy that is given decides alone: no bound by autocast.
    backend = amp_torch.backend(precision, policy=str(guest.POLICIES / "aten.yaml"))
    found, rest = torch.compile(model, backend=backend)(x)
    (sum(result.sum() for result in found) + rest).backward()
    assert torch.isfinite(model.first.weight.grad).all(), precision
    # PyTorch wraps calls of LAPACK with an operation that is not of ATen.
    unlisted = {name for report in backend.reports for name in report.unlisted}
    assert unlisted <= {"fx.with_effects"}, unlisted
    for number, (one, other) in enumerate(zip(found, expected)):
        error, size = torch.linalg.vector_norm(one - other).item(), torch.linalg.vector_norm(other).item()
        assert error <= bound * size, (precision, number, error, size)
    low = sum(report.low for report in backend.reports)
    assert low >= len(found), (precision, low)
    print(f"{precision}: {len(found)} functions, {low} low results")
