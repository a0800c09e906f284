# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks of Flax with optimizers of Optax, as their users write them.

Each program is a module, a function from the outputs and the labels to the loss, an
optimizer and batches. Dropout takes its key from the batch.
"""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import kinds
import optax


def labelled(outputs, labels):
    return optax.softmax_cross_entropy_with_integer_labels(outputs, labels).mean()


class Perceptron(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (64, 32):
            x = nn.LayerNorm()(nn.gelu(nn.Dense(width)(x)))
            x = nn.Dropout(0.1, deterministic=False)(x)
        return nn.Dense(4)(x)


class Convolutions(nn.Module):
    """Batch norm with the statistics of the batch."""

    @nn.compact
    def __call__(self, x):
        x = x.reshape(-1, 4, 4, 1)
        for channels in (8, 16):
            x = nn.Conv(channels, (3, 3), use_bias=False)(x)
            x = nn.relu(nn.BatchNorm(use_running_average=False)(x))
        x = nn.avg_pool(x, (2, 2), (2, 2)).reshape(x.shape[0], -1)
        return nn.Dense(4)(x)


class Transformer(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(32, 32)(tokens)
        x = x + self.param("position", nn.initializers.normal(0.02), (16, 32))
        mask = nn.make_causal_mask(tokens)
        for _ in range(2):
            y = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=4)(y, y, mask=mask)
            y = nn.RMSNorm()(x)
            x = x + nn.Dense(32)(nn.silu(nn.Dense(64)(y)))
        return nn.Dense(32)(nn.LayerNorm()(x))


class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x):
        states = nn.RNN(nn.OptimizedLSTMCell(24))(x)
        states = nn.RNN(nn.GRUCell(24))(states)
        return nn.Dense(4)(states.mean(axis=1))


class Groups(nn.Module):
    """Weight norm, group norm and a residual."""

    @nn.compact
    def __call__(self, x):
        x = nn.WeightNorm(nn.Dense(32))(x)
        y = nn.GroupNorm(num_groups=4)(nn.swish(nn.Dense(32)(x)))
        return nn.Dense(4)(x + y)


def next_tokens(steps):
    for (tokens,) in kinds.tokens(steps):
        yield tokens[:, :-1], tokens[:, 1:]


# An optimizer that estimates its learning rate from inner products of gradients and parameters.
PRODIGY = optax.contrib.prodigy(1.0)
# The number of products in the update, which stay in f32.
UPDATE_PRODUCTS = {"prodigy": 10}
schedule = optax.warmup_cosine_decay_schedule(1e-3, 1e-2, 5, 60)
PROGRAMS = {
    "perceptron": (Perceptron, labelled, optax.adamw(5e-3), functools.partial(kinds.classes, key=True)),
    "convolutions": (Convolutions, labelled, optax.sgd(0.1, momentum=0.9, nesterov=True), kinds.classes),
    "transformer": (
        Transformer,
        labelled,
        optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=0.01)),
        next_tokens,
    ),
    "recurrent": (Recurrent, labelled, optax.rmsprop(3e-3), kinds.sequences),
    "groups": (Groups, labelled, optax.lion(2e-3), kinds.classes),
    "prodigy": (Perceptron, labelled, PRODIGY, functools.partial(kinds.classes, key=True)),
    "factored": (Perceptron, labelled, optax.adafactor(3e-2), functools.partial(kinds.classes, key=True)),
}


def make(name):
    """The loss, the update, parameters, the state of the optimizer, and batches."""
    module, criterion, optimizer, data = PROGRAMS[name]
    network = module()

    def loss(params, inputs, labels, key=None):
        rngs = {} if key is None else {"dropout": key}
        outputs, _ = network.apply({"params": params}, inputs, rngs=rngs, mutable=["batch_stats"])
        return criterion(outputs, labels)

    def update(params, state, gradients):
        changes, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, changes), state

    first = next(iter(data(1)))
    keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
    params = network.init(keys, jnp.asarray(first[0]))["params"]
    return loss, update, params, optimizer.init(params), data
