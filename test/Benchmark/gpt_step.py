# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time per training step of the character-level GPT on the CPU: amp-run against
eager PyTorch.

    tools/dev bench gpt_step

The same network (4 layers of 128, 64 positions), batch of 16, clipping and AdamW
on both sides, measured in turn in one run; of each the median over the rounds.
Both use one thread first and then one for each processor. Exits non-zero if f32
takes more than twice PyTorch's time with either.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

LAYERS, WIDTH, HEADS, VOCABULARY, POSITIONS, BATCH = 4, 128, 4, 62, 64, 16
ROUNDS, STEPS = 3, 15
LIMIT = 2.0


def make_torch_step(torch):
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.fc, self.out = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x, mask):
            n, s, c = x.shape
            q, k, v = (t.view(n, s, HEADS, c // HEADS).transpose(1, 2) for t in self.qkv(self.ln_1(x)).split(c, 2))
            y = torch.softmax(q @ k.transpose(-1, -2) * (c // HEADS) ** -0.5 + mask, -1) @ v
            x = x + self.proj(y.transpose(1, 2).reshape(n, s, c))
            return x + self.out(F.gelu(self.fc(self.ln_2(x)), approximate="tanh"))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(POSITIONS, WIDTH)
            nn.init.normal_(self.wte.weight, std=0.02)
            self.h = nn.ModuleList(Block() for _ in range(LAYERS))
            self.ln_f = nn.LayerNorm(WIDTH)
            self.register_buffer("mask", torch.full((POSITIONS, POSITIONS), float("-inf")).triu(1))

        def forward(self, tokens):
            x = self.wte(tokens) + self.wpe.weight
            for block in self.h:
                x = block(x, self.mask)
            return self.ln_f(x) @ self.wte.weight.T

    torch.manual_seed(0)
    network = Gpt()
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=0.1)

    def step(tokens, targets):
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(network(tokens).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step


def time_torch(torch, step, batches, threads):
    """Milliseconds per eager step."""
    torch.set_num_threads(threads)
    step(*batches[0])
    start = time.perf_counter()
    for batch in batches:
        step(*batch)
    return (time.perf_counter() - start) * 1e3 / len(batches)


def time_amp(bin_dir, folder, precision, threads):
    """Milliseconds per step, without compilation."""
    out = os.path.join(folder, "metrics.json")
    subprocess.run(
        [os.path.join(bin_dir, "amp-run"), os.path.join(folder, "gpt.mlir"), "--data",
         os.path.join(folder, "text.npz"), "--precision", precision, "--batch-size", str(BATCH),
         "--steps", str(STEPS), "--num-threads", str(threads), "--quiet", "--metrics-json", out],
        check=True, capture_output=True)
    with open(out) as file:
        return json.load(file)["runs"][0]["results"]["ms per step"]


def main():
    bin_dir = sys.argv[1]
    try:
        import torch
    except ImportError:
        print("gpt_step: PyTorch is not installed; tools/dev setup says how to get it")
        return 1
    rng = np.random.default_rng(0)
    text = rng.integers(0, VOCABULARY, (STEPS * BATCH, POSITIONS + 1))
    step = make_torch_step(torch)
    batches = [(torch.from_numpy(t[:, :-1].copy()), torch.from_numpy(t[:, 1:].copy()))
               for t in text.reshape(STEPS, BATCH, -1)]
    times = {}
    counts = sorted({1, len(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        np.savez(os.path.join(folder, "text.npz"), tokens=text[:, :-1], targets=text[:, 1:])
        subprocess.run(
            [os.path.join(bin_dir, "amp-model"), "gpt2", f"--layers={LAYERS}", f"--width={WIDTH}", f"--heads={HEADS}",
             f"--vocabulary={VOCABULARY}", f"--positions={POSITIONS}", "--dropout=0", "-o",
             os.path.join(folder, "gpt.mlir")],
            check=True)
        for _ in range(ROUNDS):
            for threads in counts:
                times.setdefault((threads, "torch"), []).append(time_torch(torch, step, batches, threads))
                for precision in ("f32", "fp16", "bf16"):
                    times.setdefault((threads, precision), []).append(time_amp(bin_dir, folder, precision, threads))
    print(f"PyTorch {torch.__version__}, batch {BATCH}, {STEPS} steps, median of {ROUNDS} rounds, ms per step")
    worst = 0
    for threads in counts:
        t = {key: statistics.median(values) for (count, key), values in times.items() if count == threads}
        print(f"threads {threads}: " + "  ".join(f"{key} {value:.1f}" for key, value in t.items()))
        ratio = t["f32"] / t["torch"]
        worst = max(worst, ratio)
        print(f"  f32/torch {ratio:.2f}  fp16/f32 {t['fp16'] / t['f32']:.2f}  bf16/f32 {t['bf16'] / t['f32']:.2f}")
    if worst > LIMIT:
        print(f"gpt_step: f32 to PyTorch is {worst:.2f}, expected at most {LIMIT}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
