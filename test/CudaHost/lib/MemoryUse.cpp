//===- MemoryUse.cpp - Memory that collectives use ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryUse.h"

#include "amp/CudaHost/Host.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace amp::cuda::host;

namespace {

/// Memory that collective `number` of `stream` uses.
struct Use {
  uintptr_t begin, end;
  bool writes;
  const void *stream;
  uint64_t number;
};

struct UsedMemory {
  const void *stream = nullptr;
  Precedents *precedents = nullptr;
  std::map<const void *, uint64_t> numbers;
  std::vector<Use> uses;
};

} // namespace

static UsedMemory &usedMemory() {
  static UsedMemory instance;
  return instance;
}

void Precedents::add(const Precedents &others) {
  for (auto [stream, number] : others.last)
    last[stream] = std::max(last[stream], number);
}

void amp::cuda::host::setStreamOfWork(const void *stream,
                                      Precedents *precedents) {
  usedMemory().stream = stream;
  usedMemory().precedents = precedents;
}

void amp::cuda::host::startCollective() {
  UsedMemory &s = usedMemory();
  if (s.precedents)
    s.precedents->last[s.stream] = ++s.numbers[s.stream];
}

void amp::cuda::host::useMemory(const void *begin, size_t bytes, bool writes) {
  UsedMemory &s = usedMemory();
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const Use use{address, address + bytes, writes, s.stream,
                s.numbers[s.stream]};
  // A later collective of the stream with the same memory follows this one.
  for (Use &known : s.uses)
    if (known.begin == use.begin && known.end == use.end &&
        known.stream == use.stream) {
      known.writes = writes;
      known.number = use.number;
      return;
    }
  s.uses.push_back(use);
}

void amp::cuda::host::checkUse(const char *what, const void *begin,
                               size_t bytes, bool writes) {
  UsedMemory &s = usedMemory();
  if (!s.precedents)
    return;
  const auto first = reinterpret_cast<uintptr_t>(begin);
  for (const Use &use : s.uses) {
    if (use.end <= first || first + bytes <= use.begin ||
        !(writes || use.writes) || use.stream == s.stream)
      continue;
    auto known = s.precedents->last.find(use.stream);
    if (known != s.precedents->last.end() && known->second >= use.number)
      continue;
    violate(std::string("'") + what + "' " + (writes ? "writes" : "reads") +
            " memory that a collective uses, and does not wait for it");
    return;
  }
}
