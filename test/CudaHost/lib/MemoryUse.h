//===- MemoryUse.h - Memory that collectives use ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From its start until other work waits for it, a collective uses the memory of
// its operands. Each stream and each event knows the collectives that precede
// it. Other work that touches such memory is a violation if its stream does not
// know the collective.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_CUDAHOST_LIB_MEMORYUSE_H
#define AMP_TEST_CUDAHOST_LIB_MEMORYUSE_H

#include <cstddef>
#include <cstdint>
#include <map>

namespace amp::cuda::host {

/// The number of the last collective of each stream that precedes a point of
/// another stream.
struct Precedents {
  std::map<const void *, uint64_t> last;
  void add(const Precedents &others);
};

/// Work of `stream` begins, after `precedents`. Null: no work runs.
void setStreamOfWork(const void *stream, Precedents *precedents);
/// A collective begins on the current stream.
void startCollective();
/// The collective that has begun reads or writes memory.
void useMemory(const void *begin, size_t bytes, bool writes);
/// Reports a violation if the current work, `what`, touches memory of a
/// collective that does not precede it.
void checkUse(const char *what, const void *begin, size_t bytes, bool writes);

} // namespace amp::cuda::host

#endif // AMP_TEST_CUDAHOST_LIB_MEMORYUSE_H
