# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a compiled peer of peers.py takes because it is fastest on this machine."""

import time

import torch

import peer_networks


def measure_seconds(peer, body):
    """The least of five times of a function, after two runs of it."""
    times = []
    for _ in range(7):
        peer.wait()
        start = time.perf_counter()
        body()
        peer.wait()
        times.append(time.perf_counter() - start)
    return min(times[2:])


def choose(peer, candidates, body):
    """The candidate with which `body` is fastest, or None. One that fails is out."""
    times = {}
    for candidate in candidates:
        try:
            times[candidate] = measure_seconds(peer, lambda: body(candidate))
        except Exception:  # a kernel that does not take these sizes, or one that lacks memory
            continue
    return min(times, key=times.get) if times else None


def choose_attention(peer, device):
    """The fastest kernel of attention for the network. PyTorch does not choose by time. None leaves
    the choice to it: on a CPU, and where a mask decides."""
    options = peer.options
    if "heads" not in options or not peer.low or device != "cuda" or options["model"] == "bert":
        return None
    from torch.nn.attention import SDPBackend

    tokens = options.get("sequence") or (options["image-size"] // options["patch"]) ** 2 + 1
    size, causal = options["width"] // options["heads"], options["model"] in ("gpt2", "decoder")
    keys = options.get("key-heads", options["heads"])
    q, k, v = (torch.randn(peer.size, heads, tokens, size, device=device, dtype=peer.low, requires_grad=True)
               for heads in (options["heads"], keys, keys))
    gradient = torch.randn_like(q)

    def run(backend):
        settings = peer_networks.Settings()
        settings.attention = backend
        torch.autograd.grad(peer_networks.attend(q, k, v, settings, causal=causal), (q, k, v), gradient)

    return choose(peer, (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION), run)


def choose_loss(peer, device):
    """Whether the function of head and loss is faster than both, compiled."""
    options = peer.options
    if options["model"] not in ("gpt2", "decoder") or device != "cuda" or not hasattr(torch.nn.functional, "linear_cross_entropy"):
        return False
    dtype = peer.low or torch.float32
    x = torch.randn(peer.size, options["sequence"], options["width"], device=device, dtype=dtype, requires_grad=True)
    weight = peer.network.get_parameter("embed.weight" if options["model"] == "decoder" else "wte.weight")
    functions = {True: peer_networks.linear_loss, False: torch.compile(peer_networks.linear_loss)}

    def run(fuses):
        settings = peer_networks.Settings()
        settings.fuses_loss = fuses
        with torch.autocast(device, dtype=dtype, enabled=peer.low is not None):
            loss = functions[fuses](x, weight, peer.batch["targets"], settings)
        torch.autograd.grad(loss, (x, weight))

    return bool(choose(peer, (False, True), run))
