# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs whose inner values leave f16, or need more digits than a low type has,
# however they are spelled. Results in bf16 and fp16 are close to those in f32, and
# products of data are low.
#
# REQUIRES: jax
# RUN: %jax_python %s amp-opt
"""Usage: numerics.py <amp-opt>"""

import functools
import re
import sys

import amp_jax
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PROGRAMS = []
rng = np.random.default_rng(0)
targets = np.random.default_rng(1)
PRODUCT = re.compile(r'"stablehlo\.dot_general"\(.*? : \(([^)]*)\) ->')


def normal(*shape, size=1.0):
    return jnp.asarray(size * rng.standard_normal(shape), jnp.float32)


def program(f, wide=0, extra=()):
    """`f(x, w, v, *extra)` has `wide` products whose operands stay f32."""
    PROGRAMS.append((f, wide, extra))
    return f


# --- Squares, as products of a value with itself. They leave f16 from 256 on. ---
@program
def root_mean_square_by_einsum(x, w, v):
    h = 400 * (x @ w)
    return (h / jnp.sqrt(jnp.einsum("bi,bi->b", h, h) / 64 + 1e-6)[:, None]) @ v


@program
def variance_by_einsum(x, w, v):
    h = (500 * (x @ w)).reshape(128, 8, 8)
    m, q = jnp.einsum("bgi->bg", h) / 8, jnp.einsum("bgi,bgi->bg", h, h) / 8
    return ((h - m[..., None]) * lax.rsqrt(q - m * m + 1e-5)[..., None]).reshape(128, 64) @ v


@program
def power_iteration(x, w, v):
    a = (x @ w).T @ (x @ w) + 1000 * jnp.eye(64)

    def step(c):
        u = a @ c[1]
        return c[0] + 1, u / jnp.sqrt(u @ u)

    return lax.while_loop(lambda c: c[0] < 20, step, (0, jnp.ones(64)))[1]


@program
def trace_of_a_gram_matrix(x, w, v):
    h = 300 * (x @ w)
    return 100 * (h / jnp.sqrt(jnp.trace(h @ h.T))) @ v


# Transposes and dimensions tell whether a square matrix meets its own rows.
@program
def covariance(x, w, v):
    h = 500 * (x @ w)[:64]
    c = h - h.mean(0)
    return (c.T @ c) / 64 * 1e-5 @ v


@program
def kernel_matrix(x, w, v):
    h = 50 * (x @ w)[:64]
    g = h @ h.T
    d = jnp.diag(g)
    return jnp.exp((2 * g - d[:, None] - d[None]) / 160000) @ v


# The statistics of a distance are not those of the product that it subtracts.
@program
def distances(x, w, v):
    h = 100 * (x @ w)
    n = jnp.sum(h * h, 1)
    return jnp.sqrt(jnp.maximum(n[:, None] + n[None] - 2 * h @ h.T, 0.0) + 1e-6) @ (x @ v)


# A sum of squares that is written as a product with ones is f32 like any sum.
@functools.partial(program, wide=1)
def squares_added_by_a_product(x, w, v):
    h = 500 * (x @ w)
    return (h * lax.rsqrt(jnp.square(h) @ jnp.ones((64, 1)))) @ v


@program
def running_variance(x, w, v):
    h = 300 * (x @ w)

    def step(c, y):
        n, m, s = c
        d = y - m
        m = m + d / (n + 1)
        return (n + 1, m, s + d * (y - m)), None

    start = (jnp.float32(0), jnp.zeros(64), jnp.zeros(64))
    (n, m, s), _ = lax.scan(step, start, h)
    return ((h - m) * lax.rsqrt(s / n + 1e-5)) @ v


# --- Functions of the batch that amplify errors. ---
prices = 50000 + jnp.cumsum(3 * normal(128, 64), 0)
times = jnp.asarray(rng.uniform(0, 1, 128), jnp.float32)
kelvins = 300 + 2 * normal(128, 64)


@functools.partial(program, extra=(prices,))
def logarithms_of_ratios_of_slices(x, w, v, p):
    return (jnp.log(p[1:] / p[:-1]) * 1e4) @ w


@functools.partial(program, extra=(kelvins,))
def data_minus_a_moving_average(x, w, v, t):
    average = lax.scan(lambda c, q: (0.1 * q + 0.9 * c,) * 2, t[0], t)[1]
    return (t - average) @ w


@functools.partial(program, extra=(times,))
def rows_by_rounded_times(x, w, v, t):
    return ((x @ w)[jnp.floor(t * 127).astype(jnp.int32)]) @ v


@functools.partial(program, extra=(kelvins,))
def quantized_data(x, w, v, t):
    return (jnp.round(t * 4) / 4 - 300) @ w


@functools.partial(program, extra=(kelvins,))
def exponentials_of_quotients(x, w, v, t):
    return jnp.exp(-t / 5 + 60) @ w


@functools.partial(program, extra=(kelvins / 300,))
def powers_of_ratios(x, w, v, t):
    return (t**50) @ w


@program
def complex_exponentials_of_angles(x, w, v):
    angles = jnp.linspace(0.0, 3.1, 64) * jnp.arange(128)[:, None]
    return ((x @ w) * jnp.real(jnp.exp(1j * angles))) @ v


@program
def buckets_of_distances(x, w, v):
    distance = jnp.abs(jnp.arange(128)[:, None] - jnp.arange(128)[None])
    large = 16 + (jnp.log(jnp.maximum(distance, 1) / 16) / np.log(8) * 16).astype(jnp.int32)
    bucket = jnp.where(distance < 16, distance, jnp.minimum(large, 31))
    return (jnp.take(v[:, 0], bucket)) @ (x @ w)


# --- Differences of sums and of parts of one value. ---
@program
def window_means_by_stacked_sums(x, w, v):
    h = jnp.abs(x @ w) + 3
    sums = lax.scan(lambda c, y: (c + y,) * 2, jnp.zeros(64), h)[1]
    return ((sums[8:] - sums[:-8]) / 8 - 3) @ v


@program
def window_means_by_prefix_sums(x, w, v):
    sums = lax.associative_scan(jnp.add, jnp.abs(x @ w) + 3)
    return ((sums[8:] - sums[:-8]) / 8 - 3) @ v


@program
def running_sum_without_its_start(x, w, v):
    sums = lax.scan(lambda c, y: (c + y,) * 2, jnp.zeros(64) + 2000, jnp.abs(x @ w))[1]
    return (sums - 2000) @ v


@program
def deviations_from_a_sum(x, w, v):
    h = jnp.abs(x @ w) + 30
    return (h * 128 - lax.fori_loop(0, 128, lambda i, c: c + h[i], jnp.zeros(64))) @ v


@program
def deviations_from_an_updated_mean(x, w, v):
    h = x @ w + 50

    def step(c, y):
        n, m, s = c
        d = y - m
        m = m + d / (n + 1)
        return (n + 1, m, s + d * (y - m)), None

    (n, m, s), _ = lax.scan(step, (jnp.float32(0), jnp.zeros(64), jnp.zeros(64)), h)
    return ((h - m) * lax.rsqrt(s / n + 1e-5)) @ v


@program
def second_differences(x, w, v):
    h = 0.1 * (x @ w) + 20
    return (h[2:] - 2 * h[1:-1] + h[:-2]) @ v


@program
def differences_of_shifted_rows(x, w, v):
    h = 0.1 * (x @ w) + 20
    return (jnp.roll(h, 1, 0) - h) @ v


@program
def gradients_on_a_grid(x, w, v):
    h = (0.1 * (x @ w) + 20).reshape(8, 16, 64)
    return ((h[1:, 1:] - h[1:, :-1]) + (h[1:, 1:] - h[:-1, 1:])) @ v


# --- Small steps of a loop. ---
@program
def moving_average_by_steps(x, w, v):
    return lax.scan(lambda m, y: (m + 0.001 * (y - m),) * 2, jnp.zeros(64), x @ w)[1] @ v


@program
def euler_steps(x, w, v):
    return lax.scan(lambda y, _: (y + 0.01 * jnp.tanh(y @ w) - y / 100, None), x, None, length=100)[0] @ v


# --- Values that calls of jitted functions pass. ---
@program
def root_mean_square_in_a_function(x, w, v):
    h = 300 * (x @ w)
    dot = jax.jit(lambda a, b: jnp.einsum("bi,bi->b", a, b))
    return (h / jnp.sqrt(dot(h, h) / 64)[:, None]) @ v


@program
def moving_average_in_a_function(x, w, v):
    step = jax.jit(lambda c, y, d: d * c + (1 - d) * y)
    return lax.scan(lambda c, y: (step(c, y, 0.999),) * 2, jnp.zeros(64), x @ w)[1] @ v


@program
def constants_in_a_function(x, w, v):
    fill = jax.jit(lambda h, a, b: jnp.where(x > 0, h, jnp.full_like(h, a) * jnp.full_like(h, b)))
    return (fill(x @ w, 300.0, 300.0) / 9e4) @ v


# --- Loops whose decay is near 1. ---
@program
def moving_average(x, w, v):
    def step(c, y):
        c = 0.999 * c + 0.001 * y
        return c, c

    return lax.scan(step, jnp.zeros(64), x @ w)[1] @ v


@program
def discounted_returns(x, w, v):
    def step(c, y):
        c = y + 0.99 * c
        return c, c

    return lax.scan(step, jnp.zeros(64), jnp.abs(x @ w), reverse=True)[1] @ v


# --- Positions. ---
def frequencies():
    return 1.0 / (10000.0 ** (jnp.arange(0, 64, 2) / 64))


def rotate(q, angle):
    c, s = jnp.cos(angle), jnp.sin(angle)
    a, b = q[:, :32], q[:, 32:]
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1)


@functools.partial(program, wide=1)
def rotary_positions_by_an_outer_product(x, w, v):
    q = jnp.tile(x @ w, (16, 1))
    return rotate(q, jnp.einsum("i,j->ij", jnp.arange(2048, dtype=jnp.float32), frequencies())) @ v


@program
def sines_of_positions(x, w, v):
    f = jnp.exp(-jnp.arange(32) / 32 * 9.2)
    angle = jnp.arange(4096.0)[:, None] * f
    return jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1) @ w


@program
def sines_of_coordinates(x, w, v):
    angle = x[:, :8, None] * 2.0 ** jnp.arange(8) * jnp.pi
    angle = angle.reshape(128, 64)
    return (jnp.sin(angle) + jnp.cos(angle)) @ w


POSITIONS = jnp.arange(1000, 1128, dtype=jnp.int32)


@functools.partial(program, extra=(POSITIONS, frequencies()))
def rotary_positions_of_the_batch(x, w, v, p, f):
    return rotate(x @ w, p[:, None].astype(jnp.float32) * f) @ v


@functools.partial(program, wide=1, extra=(POSITIONS,))
def rotary_positions_of_the_batch_by_an_outer_product(x, w, v, p):
    return rotate(x @ w, jnp.einsum("i,j->ij", p.astype(jnp.float32), frequencies())) @ v


@functools.partial(program, wide=1, extra=(POSITIONS.reshape(4, 32), frequencies()))
def rotary_positions_of_batches(x, w, v, p, f):
    angle = jnp.matmul(jnp.broadcast_to(f[None, :, None], (4, 32, 1)), p[:, None].astype(jnp.float32))
    return rotate(x @ w, angle.swapaxes(1, 2).reshape(128, 32)) @ v


@program
def linear_biases(x, w, v):
    s = (x @ w) @ x.T / 8
    d = (jnp.arange(128)[None] - jnp.arange(128)[:, None]).astype(jnp.float32)
    return jax.nn.softmax(s + jnp.where(d <= 0, d * 2.0**-4, -1e9)) @ (x @ v)


# --- Differences before steep functions. ---
@program
def logarithm_of_the_complement(x, w, v):
    p = jax.nn.sigmoid(3 * (x @ w))
    return (jnp.log(1 - p) + p @ v) @ v


@program
def density_of_a_squashed_action(x, w, v):
    a = jnp.tanh(2 * (x @ w))
    return (jnp.log(1 - a * a + 1e-6) + a @ v) @ v


@program
def weights_of_a_noise_schedule(x, w, v):
    noise = 0.9999 - 0.0001 * jax.nn.sigmoid(x @ w)
    return (x / jnp.sqrt(1 - noise)) @ v + (jnp.sqrt(noise) * x) @ w


@program
def sum_of_a_geometric_series(x, w, v):
    a = 0.996 * jax.nn.sigmoid(2 * (x @ w))
    return (a / (1.0 - a)) @ v


@program
def ratio_of_policies(x, w, v):
    new, old = jax.nn.log_softmax(8 * (x @ w)), jax.nn.log_softmax(8 * (x @ v))
    return jnp.exp(jnp.clip(new - old, -20.0, 2.0)) @ v


# --- Differences and comparisons of inputs, which no product computes. ---
PRESSURES = 101325 + normal(128, 64, size=800.0)


@functools.partial(program, extra=(PRESSURES,))
def standardized_by_constants(x, w, v, p):
    return ((p - 101325.0) / 800) @ w


@functools.partial(program, extra=(PRESSURES, jnp.full(64, 101325.0), jnp.full(64, 800.0)))
def standardized_by_arguments(x, w, v, p, mean, deviation):
    return ((p - mean) / deviation) @ w


@functools.partial(program, extra=(1000 + normal(128, 3, size=5.0), 1000 + normal(128, 3, size=5.0)))
def distances_of_points(x, w, v, a, b):
    return jnp.exp(-jnp.sqrt(jnp.sum((a[:, None] - b[None]) ** 2, -1)) / 10) @ x @ w


@functools.partial(program, extra=(jnp.asarray(rng.integers(2048, 4096, 128), jnp.float32),))
def parity_of_positions(x, w, v, i):
    return (x * (i - 2 * jnp.floor(i / 2))[:, None]) @ w


@functools.partial(program, extra=(jnp.asarray(rng.integers(0, 1000, 128), jnp.int32),))
def noise_schedule(x, w, v, t):
    beta = jnp.linspace(1e-4, 0.02, 1000)
    signal = jnp.cumprod(1 - beta)
    before = jnp.concatenate([jnp.ones(1), signal[:-1]])
    return (10 * x * jnp.sqrt(beta * (1 - before) / (1 - signal))[t][:, None]) @ w


@functools.partial(program, extra=(jnp.asarray(rng.integers(0, 300000, (128, 64)), jnp.int32),))
def counts(x, w, v, n):
    return (n.astype(jnp.float32) * 1e-5) @ w


@program
def grid_of_times(x, w, v):
    time = jnp.linspace(0.0, 1.0, 129)

    def step(h, i):
        h = jnp.tanh(h @ w)
        return h, 128 * (time[i + 1] - time[i]) * h

    return lax.scan(step, x, jnp.arange(124, 128))[1].mean(0) @ v


@program
def mask_of_float_positions(x, w, v):
    i = jnp.arange(2048.0)
    q = jnp.tile(x @ w, (16, 1))
    s = jnp.where(i[:, None] >= i[None], q @ q.T / 8, -1e9)
    return (jax.nn.softmax(s) @ q)[:128] @ v


@program
def ranks(x, w, v):
    h = jnp.tile(x[:, 0], 32) + jnp.arange(4096) * 1e-5
    rank = (h[:, None] < h[None]).astype(jnp.float32).sum(1)
    return (jnp.sin(rank * jnp.pi / 2)[:128, None] * x) @ w


@functools.partial(program, extra=(jnp.asarray(rng.uniform(0, 1000, 128), jnp.float32),))
def bins(x, w, v, d):
    return (d[:, None] > jnp.linspace(0, 1000, 64)).astype(jnp.float32) @ w


# --- Predictions and targets of one size, and likelihoods of counts. ---
@functools.partial(program, extra=(jnp.asarray(targets.normal(300, 1, (128, 64)), jnp.float32),))
def offset_of_targets(x, w, v, y):
    return (jnp.tanh(x @ w) + 300 - y) @ v


@functools.partial(program, extra=(jnp.asarray(targets.normal(101325, 800, (128, 64)), jnp.float32),))
def gradient_of_a_denormalised_loss(x, w, v, y):
    return jax.grad(lambda u: jnp.mean(((x @ u) * 800 + 101325 - y) ** 2))(w)


@functools.partial(program, extra=(jnp.asarray(targets.poisson(400, (128, 64)), jnp.float32),))
def negative_binomial(x, w, v, y):
    r = jax.nn.softplus(x @ w) + 0.1
    h = jnp.sqrt(1 + jnp.mean(y, 1, keepdims=True))
    log_gamma = jax.scipy.special.gammaln
    return log_gamma(y + r / h) - log_gamma(r / h) - log_gamma(y + 1)


# --- A filter whose coefficients have a sum near 1. ---
@program
def resonance(x, w, v):
    def step(c, u):
        y = u + 1.96 * c[0] - 0.9608 * c[1]
        return (y, c[0]), y

    return lax.scan(step, (jnp.zeros(64), jnp.zeros(64)), x @ w)[1] @ v


@program
def gradient_of_a_filter(x, w, v):
    def step(c, u):
        y = 0.0004 * u + c[0]
        return (0.0008 * u + 1.96 * y + c[1], 0.0004 * u - 0.9608 * y), y

    def f(u):
        return jnp.sum(lax.scan(step, (jnp.zeros(64), jnp.zeros(64)), x @ u)[1] * (x @ v))

    return jax.grad(f)(w)


# --- Constants that are computed. ---
@program
def computed_constant(x, w, v):
    h = x @ w
    far = jnp.full((128, 64), 300.0) * jnp.full((128, 64), 300.0)
    return (jnp.where(x > 0, h, far) / 9e4) @ v


@program
def masks(x, w, v):
    s = (x @ w) @ x.T / 8
    keep = (jnp.arange(128)[None] <= jnp.arange(128)[:, None]).astype(jnp.float32)
    lowest = jax.nn.softmax(jnp.where(keep > 0, s, jnp.finfo(jnp.float32).min)) @ (x @ v)
    return lowest + jax.nn.softmax(s - 1e9 * (1 - keep)) @ (x @ v)


# --- Branches that a select discards. ---
@program
def huber_loss(x, w, v):
    d = 1600 * (x @ w) - x
    a = jnp.abs(d)
    return jnp.where(a < 1, 0.5 * d * d, a - 0.5) / 1600 @ v


def main(amp_opt):
    arguments = (normal(128, 64), normal(64, 64, size=0.125), normal(64, 64, size=0.125))
    for f, wide, extra in PROGRAMS:
        text = amp_jax.generic(jax.jit(f, keep_unused=True).lower(*arguments, *extra))
        (expected,) = map(np.asarray, amp_jax.compile(text)(*arguments, *extra))
        for precision, low, most in (("bf16", "bf16", 3e-2), ("fp16", "f16", 4e-3)):
            rewritten = amp_jax.rewrite(text, precision, command=(amp_opt,))
            (found,) = map(np.asarray, amp_jax.compile(rewritten)(*arguments, *extra))
            error = np.abs(found - expected).max() / np.abs(expected).max()
            products = PRODUCT.findall(rewritten)
            kept = [types for types in products if types.count(f"x{low}>") != 2]
            print(f"{f.__name__} in {precision}: {error:.2e}, {len(kept)} of {len(products)} products f32", flush=True)
            assert error <= most, f"{f.__name__} in {precision} differs from f32"
            assert len(kept) == wide, f"{f.__name__} in {precision} has products of {kept}"


main(*sys.argv[1:])
