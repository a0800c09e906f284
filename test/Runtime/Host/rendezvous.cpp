//===- rendezvous.cpp - The first messages between ranks ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks exchange messages by files and by TCP, in any order of their starts,
// also next to messages of an earlier start. A rank that is missing, or that
// expects another number of ranks, is named.
//
// RUN: rm -rf %t && mkdir %t
// RUN: %host_cxx %s -o %t/rank
// RUN: %python %S/Inputs/rendezvous.py %t
//
//===----------------------------------------------------------------------===//

#include "amp/Runtime/Host/Rendezvous.h"

#include <cstdio>
#include <cstdlib>

using namespace amphost;

/// Usage: rank <rank> <number of ranks> <rendezvous> <seconds> <message>
int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  LaunchedProcess process;
  process.rank = std::atoi(argv[1]);
  process.ranks = std::atoi(argv[2]);
  process.rendezvous = argv[3];
  process.job = "test";
  const Deadline deadline(std::atoi(argv[4]));
  std::string all;
  Rendezvous rendezvous(process, deadline);
  const Status status = rendezvous.gather(argv[5], &all);
  std::printf("%s\n",
              status.isOk() ? all.c_str() : status.getMessage().c_str());
  return status.isOk() ? 0 : 1;
}
