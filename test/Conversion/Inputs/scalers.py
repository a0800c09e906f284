# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rules of frameworks for the loss scale, one class each.

Written from the documented formulas of each framework, in the number type that
it keeps the scale in, and in its own terms: none is an instance of another, and
none knows the machine under test. `step` is told whether the gradients are
finite; `scale`, `tracker` and `hysteresis` are what our state should be.
"""

import numpy as np

f32 = np.float32


class PyTorch:
    """torch.amp.GradScaler."""

    double = False

    def __init__(self, scale, tracker, interval, hysteresis):
        self.s, self.c, self.n, self.h = f32(scale), tracker, interval, hysteresis

    def step(self, finite):
        self.h = 1 if finite else self.h - 1
        if not finite:
            self.s = f32(self.s * f32(0.5))
            self.c = 0
            return
        successful = self.c + 1
        if successful == self.n:
            new = f32(self.s * f32(2))
            if np.isfinite(new):
                self.s = new
            self.c = 0
        else:
            self.c = successful

    scale = property(lambda self: self.s)
    tracker = property(lambda self: self.c)
    hysteresis = property(lambda self: self.h)


class Apex:
    """apex.amp's LossScaler."""

    double = True

    def __init__(self, scale, tracker, interval, hysteresis):
        self.s, self.unskipped, self.window = float(scale), tracker, interval
        self.h = hysteresis

    def step(self, finite):
        self.h = 1 if finite else self.h - 1
        if finite:
            self.unskipped += 1
        else:
            self.s /= 2
            self.unskipped = 0
        if self.unskipped == self.window:
            self.s = min(2.0**24, self.s * 2)
            self.unskipped = 0

    scale = property(lambda self: self.s)
    tracker = property(lambda self: self.unskipped)
    hysteresis = property(lambda self: self.h)


class DeepSpeed:
    """DynamicLossScaler of ZeRO, consecutive_hysteresis off."""

    double = True

    def __init__(self, scale, tracker, interval, hysteresis):
        self.s, self.window = float(scale), interval
        self.shift = self.h = hysteresis
        self.iteration, self.last = 0, -1 - tracker

    def step(self, finite):
        if not finite:
            if self.shift == 1 or self.h == 1:
                self.s = max(self.s / 2, 1)
            else:
                self.h -= 1
            self.last = self.iteration
        elif (self.iteration - self.last) % self.window == 0:
            self.h = self.shift
            self.s *= 2
        self.iteration += 1

    scale = property(lambda self: self.s)
    # Steps since the last overflow or growth.
    tracker = property(lambda self: (self.iteration - 1 - self.last) % self.window)
    hysteresis = property(lambda self: self.h)


class Megatron:
    """DynamicGradScaler of Megatron-LM."""

    double = False

    def __init__(self, scale, tracker, interval, hysteresis):
        self.s, self.growth, self.interval = f32(scale), tracker, interval
        self.full = self.h = hysteresis

    def step(self, finite):
        if not finite:
            self.growth = 0
            self.h -= 1
            if self.h <= 0:
                self.s = max(f32(self.s * f32(0.5)), f32(1))
        else:
            self.growth += 1
            if self.growth == self.interval:
                self.growth, self.h = 0, self.full
                self.s = f32(self.s * f32(2))

    scale = property(lambda self: self.s)
    tracker = property(lambda self: self.growth)
    hysteresis = property(lambda self: self.h)


class TFKeras:
    """LossScaleOptimizer of tf-keras."""

    double = False

    def __init__(self, scale, tracker, interval, hysteresis):
        self.s, self.counter, self.steps = f32(scale), tracker, interval
        self.h = hysteresis

    def step(self, finite):
        self.h = 1 if finite else self.h - 1
        if not finite:
            self.counter = 0
            self.s = max(f32(self.s / f32(2)), f32(1))
        elif self.counter + 1 >= self.steps:
            doubled = f32(self.s * f32(2))
            self.s = doubled if np.isfinite(doubled) else self.s
            self.counter = 0
        else:
            self.counter += 1

    scale = property(lambda self: self.s)
    tracker = property(lambda self: self.counter)
    hysteresis = property(lambda self: self.h)


class Keras:
    """LossScaleOptimizer of Keras 3."""

    double = False

    def __init__(self, scale, tracker, interval, hysteresis):
        self.s, self.counter, self.steps = f32(scale), tracker, interval
        self.h = hysteresis

    def step(self, finite):
        self.h = 1 if finite else self.h - 1
        if not finite:
            self.s, self.counter = f32(self.s / f32(2)), 0
        elif self.counter == self.steps - 1:
            self.s, self.counter = f32(self.s * f32(2)), 0
        else:
            self.counter += 1

    scale = property(lambda self: self.s)
    tracker = property(lambda self: self.counter)
    hysteresis = property(lambda self: self.h)


class MXNet:
    """LossScaler of mxnet.amp: its decision becomes its scale one step later."""

    double = True

    def __init__(self, scale, tracker, interval, hysteresis):
        self.current = self.next = float(scale)
        self.unskipped, self.window, self.h = tracker, interval, hysteresis

    def step(self, finite):
        self.h = 1 if finite else self.h - 1
        self.current = self.next
        if finite:
            self.unskipped += 1
        else:
            self.next = self.current / 2
            self.unskipped = 0
        if self.unskipped == self.window:
            self.next = min(2.0**24, self.current * 2)
            self.unskipped = 0

    scale = property(lambda self: self.next)
    tracker = property(lambda self: self.unskipped)
    hysteresis = property(lambda self: self.h)


class Paddle:
    """paddle.amp.GradScaler; `hysteresis` is decr_every_n_nan_or_inf."""

    double = False

    def __init__(self, scale, tracker, interval, hysteresis):
        self.s, self.good, self.bad = f32(scale), tracker, 0
        self.incr_every, self.decr_every = interval, hysteresis

    def step(self, finite):
        if finite:
            self.bad = 0
            self.good += 1
            if self.good == self.incr_every:
                grown = f32(self.s * f32(2))
                if np.isfinite(grown):
                    self.s = grown
                self.good = 0
        else:
            self.good = 0
            self.bad += 1
            if self.bad == self.decr_every:
                self.s = max(f32(self.s * f32(0.5)), f32(1))
                self.bad = 0

    scale = property(lambda self: self.s)
    tracker = property(lambda self: self.good)
    hysteresis = property(lambda self: self.decr_every - self.bad)


MODELS = {
    "pytorch": PyTorch,
    "apex": Apex,
    "deepspeed": DeepSpeed,
    "megatron": Megatron,
    "tf-keras": TFKeras,
    "keras": Keras,
    "mxnet": MXNet,
    "paddle": Paddle,
}
# Initial scale, growth interval and hysteresis by default.
DEFAULTS = {
    "pytorch": (2.0**16, 2000, 1),
    "apex": (2.0**16, 2000, 1),
    "deepspeed": (2.0**16, 1000, 2),
    "megatron": (2.0**32, 1000, 2),
    "tf-keras": (2.0**15, 2000, 1),
    "keras": (2.0**15, 2000, 1),
    "mxnet": (2.0**16, 2000, 1),
    "paddle": (2.0**16, 2000, 1),
}
