# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes of torch.distributed that train a step together, such as those of torchrun."""

import ctypes

import torch
import torch.distributed as dist

from . import step_interface as c


def as_bytes(address, count):
    return torch.frombuffer((ctypes.c_uint8 * count).from_address(address), dtype=torch.uint8)


class Ranks:
    """The processes of torch's default group. They exchange bytes through a separate gloo
    group, so messages of a step do not mix with messages of the caller."""

    def __init__(self):
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.group = dist.new_group(backend="gloo")
        self.error = None
        # The step calls this function, so it must live as long as the step.
        self.function = c.EXCHANGE(self.exchange)
        self.functions = c.Exchange(None, self.function)

    def exchange(self, context, send, stride, receive, size):
        """Sends `size` bytes from send + i * stride to each rank i, and receives as many from each."""
        try:
            works = []
            ctypes.memmove(receive + self.rank * size, send + self.rank * stride, size)
            for other in range(self.size):
                if other != self.rank and size:
                    works.append(dist.isend(as_bytes(send + other * stride, size), other, group=self.group))
                    works.append(dist.irecv(as_bytes(receive + other * size, size), other, group=self.group))
            for work in works:
                work.wait()
            return 0
        except Exception as error:  # C code calls this function.
            self.error = error
            return 1

    def explain(self):
        """Returns and clears the error of the last exchange, as text."""
        text = "" if self.error is None else f": {str(self.error).strip().splitlines()[0]}"
        self.error = None
        return text

    def broadcast(self, tensors):
        """Copies the values of rank 0 to all ranks."""
        for tensor in tensors:
            own = tensor.detach().cpu().reshape(-1).view(torch.uint8).clone()
            dist.broadcast(own, 0, group=self.group)
            with torch.no_grad():
                tensor.copy_(own.view(tensor.dtype).view(tensor.shape))

    def check_rows(self, rows):
        """Fails on all ranks unless their batches have the same number of samples."""
        all_rows = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        dist.all_gather(all_rows, torch.tensor([rows]), group=self.group)
        counts = [int(count) for count in all_rows]
        if len(set(counts)) > 1:
            raise ValueError(f"the ranks have batches of {', '.join(map(str, counts))} samples; expected the same "
                             "number on each rank, as from torch.utils.data.DistributedSampler")


def find_ranks():
    """The ranks of this process, or None if it trains alone."""
    if not dist.is_available() or not dist.is_initialized() or dist.get_world_size() == 1:
        return None
    return Ranks()


__all__ = ["Ranks", "find_ranks"]
