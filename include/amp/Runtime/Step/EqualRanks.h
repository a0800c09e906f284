//===- EqualRanks.h - Compares the ranks of a step --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Before the ranks of the C interface connect, each of them sends its numbers
// to all others. All ranks then find the same difference.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_STEP_EQUALRANKS_H
#define AMP_RUNTIME_STEP_EQUALRANKS_H

#include "amp/Runtime/Host/Launcher.h"
#include "amp/Runtime/Host/Zip.h"
#include "amp/Runtime/Step/InterfaceStep.h"

#include <cassert>

namespace amphost {

/// What a rank sends. The size is the same in all versions of the interface.
struct RankRecord {
  static constexpr size_t kMostNumbers = 13;
  int64_t version = AMP_STEP_VERSION;
  int64_t rank = 0;
  int64_t names = 0; ///< the checksum of the names of the numbers
  int64_t numbers[kMostNumbers] = {};
};

/// Returns the numbers of the options of a caller that must be equal on all
/// ranks.
inline std::vector<EqualNumber> listNumbersOf(const StepSettings &settings) {
  return {{"AMP_STEP_NO_GRAPH", !settings.useGraph, /*isFlag=*/true},
          {"AMP_STEP_ZERO_STATES", settings.zeroStates, /*isFlag=*/true},
          // Without initial values, the seed has no effect.
          {"seed", settings.zeroStates ? 0 : int64_t(settings.seed)}};
}

/// Returns the record of rank `rank` with `numbers`.
inline RankRecord makeRecord(int rank,
                             const std::vector<EqualNumber> &numbers) {
  assert(numbers.size() <= RankRecord::kMostNumbers && "too many numbers");
  RankRecord own;
  own.rank = rank;
  zip::Checksum names;
  for (size_t i = 0; i < numbers.size(); ++i) {
    names.update(numbers[i].name.data(), numbers[i].name.size());
    own.numbers[i] = numbers[i].value;
  }
  own.names = names.get();
  return own;
}

/// Compares the records of all ranks with the record of rank 0. `numbers` has
/// the names of their numbers. All ranks return the same error.
inline Status compareRecords(const std::vector<EqualNumber> &numbers,
                             const std::vector<RankRecord> &all) {
  const auto ranks = int64_t(all.size());
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const RankRecord &other = all[size_t(rank)];
    if (other.rank != rank)
      return makeError(kInvalidArgument,
                       "the exchange returned the bytes of rank %lld as those "
                       "of rank %lld, expected the order of the ranks",
                       (long long)other.rank, (long long)rank);
    if (other.version != all[0].version)
      return explainDifference({"version of the interface", other.version},
                               all[0].version, rank, ranks);
    if (other.names != all[0].names)
      return explainDifference({"kind of program", other.names}, all[0].names,
                               rank, ranks);
    for (size_t i = 0; i < numbers.size(); ++i)
      if (other.numbers[i] != all[0].numbers[i])
        return explainDifference(
            {numbers[i].name, other.numbers[i], numbers[i].isFlag},
            all[0].numbers[i], rank, ranks);
  }
  return Status();
}

/// Compares `numbers` and the options of all ranks, if they have an exchange.
/// Fails on every rank if a rank differs from rank 0.
inline Status compareRanks(const StepSettings &settings,
                           std::vector<EqualNumber> numbers) {
  if (!settings.exchange)
    return Status();
  for (EqualNumber &number : listNumbersOf(settings))
    numbers.push_back(std::move(number));
  const RankRecord own = makeRecord(settings.rank, numbers);
  std::vector<RankRecord> all{size_t(settings.numRanks)};
  if (const int32_t code = settings.exchange->exchange(
          settings.exchange->context, &own, 0, all.data(), sizeof(own)))
    return makeError(kInvalidArgument,
                     "the exchange of the ranks returned %d, expected 0", code);
  return compareRecords(numbers, all);
}

} // namespace amphost

#endif // AMP_RUNTIME_STEP_EQUALRANKS_H
