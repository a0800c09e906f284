//===- count-messages.cpp - A library of MPI with a fault -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the messages that a process sends by Open MPI. With
// AMP_TEST_KILL=rank:number, this rank is killed at the message of this number.
//
//===----------------------------------------------------------------------===//

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

static long sent = 0;

extern "C" {
int MPI_Isend(const void *data, int count, void *type, int to, int tag,
              void *among, void *request) {
  using Function = int (*)(const void *, int, void *, int, int, void *, void *);
  static const auto next =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "MPI_Isend"));
  static const char *kill = std::getenv("AMP_TEST_KILL");
  static const char *own = std::getenv("OMPI_COMM_WORLD_RANK");
  long rank = -1, number = -1;
  if (kill && own && std::sscanf(kill, "%ld:%ld", &rank, &number) == 2 &&
      ++sent == number && std::atol(own) == rank)
    std::raise(SIGKILL);
  return next(data, count, type, to, tag, among, request);
}

int MPI_Finalize() {
  std::fprintf(stderr, "sent %ld messages\n", sent);
  return reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "MPI_Finalize"))();
}
}
