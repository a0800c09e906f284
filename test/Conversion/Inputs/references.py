# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers, losses and optimizers in NumPy, and their gradients."""

import numpy as np

# The learning rate of `sgd` and `adam`.
RATE = 0.05


def taps(size, window, strides, padding, dilations):
    """Yields (kh, kw, rows, columns, out rows, out columns): which elements of
    the unpadded input each tap reads for which results."""
    out = [
        (size[i] + padding[2 * i] + padding[2 * i + 1] - dilations[i] * (window[i] - 1) - 1)
        // strides[i] + 1
        for i in range(2)
    ]
    for kh in range(window[0]):
        for kw in range(window[1]):
            pairs = []
            for i, k in enumerate((kh, kw)):
                at = np.arange(out[i]) * strides[i] + k * dilations[i] - padding[2 * i]
                inside = (at >= 0) & (at < size[i])
                pairs.append((at[inside], np.arange(out[i])[inside]))
            (rows, out_rows), (columns, out_columns) = pairs
            yield kh, kw, np.ix_(rows, columns), np.ix_(out_rows, out_columns), out


def conv_all(x, w, dy, strides, padding, dilations, groups):
    """The convolution and both of its gradients, group by group."""
    n, height, width, channels = x.shape
    kh_size, kw_size, per_group, filters = w.shape
    window = (kh_size, kw_size)
    steps = list(taps((height, width), window, strides, padding, dilations))
    out = steps[0][4]
    y = np.zeros((n, *out, filters))
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    for kh, kw, here, there, _ in steps:
        for g in range(groups):
            c = slice(g * per_group, (g + 1) * per_group)
            f = slice(g * filters // groups, (g + 1) * filters // groups)
            part = x[:, here[0], here[1], c]
            grad = dy[:, there[0], there[1], f]
            y[:, there[0], there[1], f] += part @ w[kh, kw, :, f]
            dx[:, here[0], here[1], c] += grad @ w[kh, kw, :, f].T
            dw[kh, kw, :, f] += np.einsum("nhwc,nhwf->cf", part, grad)
    return y, dx, dw


def pool_all(x, dy, window, strides, padding):
    """The maxima, the means, and the gradients of both. The first maximum in row-major
    order takes the gradient; padding never does."""
    steps = list(taps(x.shape[1:3], window, strides, padding, (1, 1)))
    out = steps[0][4]
    shape = (x.shape[0], *out, x.shape[3])
    maximum, total = np.full(shape, -np.inf), np.zeros(shape)
    for _, _, here, there, _ in steps:
        part = x[:, here[0], here[1], :]
        maximum[:, there[0], there[1], :] = np.maximum(maximum[:, there[0], there[1], :], part)
        total[:, there[0], there[1], :] += part
    taken = np.zeros(shape, bool)
    dmax, davg = np.zeros_like(x), np.zeros_like(x)
    size = window[0] * window[1]
    for _, _, here, there, _ in steps:
        part = x[:, here[0], here[1], :]
        best = maximum[:, there[0], there[1], :]
        first = ((part == best) | np.isnan(part)) & ~taken[:, there[0], there[1], :]
        taken[:, there[0], there[1], :] |= first
        grad = dy[:, there[0], there[1], :]
        dmax[:, here[0], here[1], :] += np.where(first, grad, 0)
        davg[:, here[0], here[1], :] += grad / size
    return maximum, total / size, dmax, davg


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def log_softmax(x, axis):
    s = x - x.max(axis=axis, keepdims=True)
    return s - np.log(np.exp(s).sum(axis=axis, keepdims=True))


def norm_backward(dy, x, gamma, mean, rstd, axes, gamma_axes):
    hat = (x - mean) * rstd
    g = dy * gamma
    dx = rstd * (g - g.mean(axes, keepdims=True) - hat * (g * hat).mean(axes, keepdims=True))
    return dx, (dy * hat).sum(gamma_axes), dy.sum(gamma_axes)


def sgd(w, g, v, t, momentum=0.0, weight_decay=0.0, nesterov=False):
    g = g + weight_decay * w
    if v is None:
        return w - RATE * g, None
    v = momentum * v + g
    return w - RATE * (g + momentum * v if nesterov else v), v


def adam(w, g, state, t, beta1=0.9, beta2=0.999, epsilon=1e-8, weight_decay=0.0, decoupled=False):
    m, v = state
    if decoupled:
        w = w * (1 - RATE * weight_decay)
    else:
        g = g + weight_decay * w
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    update = (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + epsilon)
    return w - RATE * update, (m, v)


def attention(q, k, v, scale, mask):
    """The result, the logarithms of the sums, and the weights."""
    s = np.where(mask, q @ np.swapaxes(k, -1, -2) * scale, -np.inf)
    with np.errstate(all="ignore"):
        lse = np.log(np.exp(s).sum(-1))
        p = np.where(np.isfinite(s), np.exp(s - lse[..., None]), 0)
    return p @ v, lse, p
