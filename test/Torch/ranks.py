# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Under torchrun the same script trains data-parallel. The losses and states of two ranks are equal, bit
# for bit, to those of one rank with two micro-batches. Ranks that divide the state of the optimizer write
# the same files as ranks that do not.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Runs itself alone, and under torchrun with two processes, which also use their own gloo group."""

import os
import subprocess
import sys
import warnings

import torch
import torch.distributed as dist

SIZE, STEPS = 8, 6


def make(seed, dropout):
    torch.manual_seed(seed)
    layers = [torch.nn.Linear(6, 16), torch.nn.ReLU(), *([torch.nn.Dropout(0.5)] if dropout else []), torch.nn.Linear(16, 3)]
    return torch.nn.Sequential(*layers)


class Data(torch.utils.data.Dataset):
    """Random rows and labels."""

    def __init__(self):
        generator = torch.Generator().manual_seed(1)
        self.x, self.y = torch.randn(STEPS * SIZE, 6, generator=generator), torch.randint(0, 3, (STEPS * SIZE,), generator=generator)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def train(folder, precision, kind, shard=False):
    """Trains alone with two micro-batches, or as one of two ranks. Rank 0 writes its losses and states."""
    import amp_torch
    ranks, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    # Rank 1 starts with different weights and receives those of rank 0.
    dropout = kind == "dropout"
    model = make(3 + rank, dropout)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01) if kind == "adamw" else torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = Data()
    own = SIZE // ranks
    # DistributedSampler gives rank r the rows r, r + N and so on. A single rank takes the rows in the same order.
    sampler = torch.utils.data.DistributedSampler(data, ranks, rank, shuffle=False)
    rows = list(sampler)
    if ranks == 1:
        halves = [list(torch.utils.data.DistributedSampler(data, 2, part, shuffle=False)) for part in range(2)]
        rows = [row for step in range(STEPS) for half in halves for row in half[step * SIZE // 2:(step + 1) * SIZE // 2]]
    loss = torch.nn.CrossEntropyLoss()
    example = data[rows[:own]]
    parts = {"shard_optimizer": True, "pipeline": "shard-min-elements=1"} if shard else {}
    step = amp_torch.compile(model, loss, optimizer, example, precision=precision, threads=1, seed=7 if dropout else None,
                             accumulate=1 if ranks > 1 or dropout else 2, **parts)
    if kind == "die" and rank == 1:
        step(*data[rows[:own]])
        os._exit(3)
    losses = []
    for start in range(0, STEPS * own, own):
        losses.append(step(*data[rows[start:start + own]]))
        if ranks > 1:
            # The caller can use its own group between steps.
            seen = losses[-1].clone()
            dist.all_reduce(seen)
            assert seen == 2 * losses[-1], (seen, losses[-1])
    if kind == "rows":
        try:
            step(*data[rows[:own - rank]])
        except ValueError as error:
            assert "the ranks have batches of 4, 3 samples; expected the same number on each rank" in str(error), error
        else:
            raise AssertionError("the numbers of rows differ")
    name = f"{precision}-{kind}-{'parts' if shard else ranks}"
    step.save(f"{folder}/{name}.npz")
    if shard:
        check_parts(folder, precision, kind, step, optimizer, data[rows[:own]], losses, rank)
        return
    if rank == 0:
        torch.save({"losses": losses, "states": {name: tensor.clone() for name, tensor in step.states.items()}},
                   f"{folder}/{name}.pt")
        torch.save(optimizer.state_dict(), f"{folder}/{name}-optimizer.pt")
    if ranks > 1:
        all_states = [None, None]
        dist.all_gather_object(all_states, {name: tensor.clone() for name, tensor in step.states.items()})
        assert all(torch.equal(all_states[0][name], all_states[1][name]) for name in all_states[0])


def check_parts(folder, precision, kind, step, optimizer, batch, losses, rank):
    """Ranks that divide the state of the optimizer have the losses and files of ranks that do not."""
    keys = {"exp_avg", "exp_avg_sq"} if kind == "adamw" else {"momentum_buffer"}
    assert step.part_slots and not any(name.split(".")[-1] in keys for name in step.states), step.states.keys()
    dist.barrier()
    if rank == 0:
        whole = torch.load(f"{folder}/{precision}-{kind}-2.pt")
        assert all(torch.equal(one, other) for one, other in zip(whole["losses"], losses))
        with open(f"{folder}/{precision}-{kind}-2.npz", "rb") as one, open(f"{folder}/{precision}-{kind}-parts.npz", "rb") as other:
            assert one.read() == other.read()
    # The optimizer has the states after consolidate, until the next step.
    assert not any(keys & entry.keys() for entry in optimizer.state.values()), optimizer.state
    step.consolidate()
    if rank == 0:
        state = optimizer.state_dict()["state"]
        expected = torch.load(f"{folder}/{precision}-{kind}-2-optimizer.pt")
        for number, entry in expected["state"].items():
            assert all(torch.equal(entry[key], state[number][key]) for key in keys), (number, entry, state[number])
    # All ranks load the same state of an optimizer, and go on with it.
    expected = torch.load(f"{folder}/{precision}-{kind}-2-optimizer.pt")
    half = {key: value for key, value in expected.items()}
    half["state"] = {number: {key: value / 2 if key in keys else value for key, value in entry.items()}
                     for number, entry in expected["state"].items()}
    optimizer.load_state_dict(half)
    step.consolidate()
    if rank == 0:
        for number, entry in half["state"].items():
            assert all(torch.equal(entry[key], optimizer.state_dict()["state"][number][key]) for key in keys), number
    # Another number of samples has a program of its own, whose instance takes the parts over.
    step(*[tensor[:2] for tensor in batch])
    step(*batch)
    assert not any(keys & entry.keys() for entry in optimizer.state.values()), optimizer.state


def start(folder, *arguments, ranks=1):
    command = [sys.executable, *(["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"] if ranks > 1 else []),
               __file__, folder, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, env={**os.environ, "OMP_NUM_THREADS": "1"})


CASES = [("f32", "sgd"), ("fp16", "adamw"), ("f32", "dropout")]


def check(folder):
    import amp_torch
    for ranks in (1, 2):
        done = start(folder, "all", ranks=ranks)
        assert done.returncode == 0, (ranks, done.stderr[-3000:])
    for precision, kind in CASES:
        one, two = (torch.load(f"{folder}/{precision}-{kind}-{ranks}.pt") for ranks in (1, 2))
        print(precision, kind, [loss.item() for loss in two["losses"]], flush=True)
        # Two ranks draw the masks of the whole batch, but one rank sums in another order.
        tolerance = 1e-5 if kind == "dropout" else 0
        for one_loss, other in zip(one["losses"], two["losses"]):
            torch.testing.assert_close(one_loss, other, rtol=tolerance, atol=tolerance)
        for name, tensor in one["states"].items():
            torch.testing.assert_close(tensor, two["states"][name], rtol=tolerance, atol=tolerance)
        assert os.path.exists(f"{folder}/{precision}-{kind}-2.npz")
    # One process has nothing to divide.
    model = make(3, False)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        amp_torch.compile(model, torch.nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.1), Data()[[0, 1]], shard_optimizer=True)
    assert any("shard_optimizer has no effect, because this process trains alone" in str(each.message) for each in seen), seen
    # If a rank exits, the run fails.
    done = start(folder, "die", ranks=2)
    assert done.returncode != 0, done.stdout


def run(folder, what):
    ranks = int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        dist.init_process_group("gloo")
    for precision, kind in CASES if what == "all" else [("f32", what)]:
        train(folder, precision, kind)
    if what == "all" and ranks > 1:
        train(folder, "f32", "sgd", shard=True)
        train(folder, "fp16", "adamw", shard=True)
        train(folder, "f32", "rows")
        dist.destroy_process_group()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        check(sys.argv[1])
    else:
        run(*sys.argv[1:])
