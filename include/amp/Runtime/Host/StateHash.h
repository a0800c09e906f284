//===- StateHash.h - Hashes of states, to compare ranks ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_STATEHASH_H
#define AMP_RUNTIME_HOST_STATEHASH_H

#include "amp/Runtime/Host/Step.h"
#include "amp/Runtime/Host/Zip.h"

#include <vector>

namespace amphost {

/// Returns a checksum of a state. Ranks with equal values get equal checksums,
/// and ranks with different values almost certainly get different ones.
inline uint32_t hashState(const Array &value) {
  zip::Checksum sum;
  sum.update(value.data(), value.getNumBytes());
  return sum.get();
}

/// Compares the hashes of `states`, which are indices of tensors of `step`.
/// `all` contains the hashes of rank 0, then the hashes of rank 1, and so on.
inline Status compareStates(const Step &step, const std::vector<size_t> &states,
                            const uint32_t *all, int64_t ranks) {
  const size_t count = states.size();
  for (size_t i = 0; i < count; ++i)
    for (size_t rank = 1; rank < size_t(ranks); ++rank)
      if (all[rank * count + i] != all[i])
        return makeError(
            kInvalidArgument,
            "after step %lld, rank %zu and rank 0 have different values of "
            "'%s'; expected equal values on all ranks",
            (long long)step.progress.step, rank,
            step.getTensors()[states[i]].name.c_str());
  return Status();
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_STATEHASH_H
