# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of the stages of a step that right and wrong kinds share."""

from builder import S


def use_two_scales(k):
    """Makes w use the scale `loss_scale` and b the scale `other`, in two backward passes."""
    def backward():
        k.s2 = k.state("other", S, "scaler_state", "constant, value = 512.0")
        k.ds2 = k.raw("amp.scale {0} by {1} : {r}", S, k.raw('amp.gradient_seed "second" : {r}', S), k.s2)
        first = k.gradient(k.xl, k.yl, k.p, k.ds)
        second = k.gradient(k.xl, k.yl, k.p, k.ds2)
        k.g = {"w": first["w"], "b": second["b"]}

    def unscale():
        (a,), fa = k.unscale_by([k.g["w"]], k.s)
        (b,), fb = k.unscale_by([k.g["b"]], k.s2)
        k.u, k.flags, k.ok = {"w": a, "b": b}, [fa, fb], k.both(fa, fb)

    k.backward, k.unscale = backward, unscale
    k.scaler = lambda: update_two_scales(k, k.flags)


def update_two_scales(k, flags):
    """Updates both scales, each on its element of `flags`."""
    ta, tb = k.scaler_trackers(), k.scaler_trackers("_b")
    oa, ob = k.update_scale(k.s, ta, flags[0]), k.update_scale(k.s2, tb, flags[1])
    k.updates.update(dict(zip(["loss_scale", "growth_tracker", "hysteresis_tracker"], oa)))
    k.updates.update(dict(zip(["other", "growth_tracker_b", "hysteresis_tracker_b"], ob)))


def wrapped(stage, f):
    """Returns a change that runs `f` after the stage of that name."""
    def change(k):
        before = getattr(k, stage)

        def both():
            before()
            f(k)
        setattr(k, stage, both)
    return change
