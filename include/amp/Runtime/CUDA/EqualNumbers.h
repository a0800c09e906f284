//===- EqualNumbers.h - What ranks of a program have in common --*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_EQUALNUMBERS_H
#define AMP_RUNTIME_CUDA_EQUALNUMBERS_H

#include "amp/Runtime/CUDA/ProgramInfo.h"
#include "amp/Runtime/Host/Zip.h"
#include "amp/Runtime/Step/EqualRanks.h"

#include <utility>

namespace amp::cuda {

/// Returns a checksum of the program. Different programs rarely share one.
inline int64_t identifyProgram(const ProgramInfo &info) {
  std::string text = std::string(info.name) + "\n" +
                     std::to_string(info.identity.fingerprint) + "\n" +
                     (info.identity.precision ? info.identity.precision : "") +
                     "\n" + info.identity.scaler;
  for (int i = 0; i < info.collectives.numCollectives; ++i) {
    const CollectiveInfo &collective = info.collectives.collectives[i];
    text += std::string("\n") + collective.name + " " +
            std::to_string(collective.elements);
  }
  amphost::zip::Checksum sum;
  sum.update(text.data(), text.size());
  return sum.get();
}

/// Returns the numbers of a program that must be equal on all ranks.
inline std::vector<amphost::EqualNumber>
listNumbersOfProgram(const ProgramInfo &info) {
  int64_t samples = 1;
  for (int i = info.numBuffers - 1; i >= 0; --i)
    if (const TensorInfo tensor = describeBuffer(info.buffers[i]);
        tensor.role == Role::Batch && !tensor.shape.empty())
      samples = tensor.shape[0];
  return {{"batch size of a rank", samples},
          {"checksum of the program", identifyProgram(info)}};
}

/// Compares `numbers` and the options of the ranks of a caller that `group`
/// connects. All ranks call this function, before `prepare`, and all return the
/// same error.
inline Status compareRanksOf(RankGroup &group,
                             const amphost::StepSettings &settings,
                             std::vector<amphost::EqualNumber> numbers) {
  struct Context {
    RankGroup &group;
    Status status;
  } context{group, Status()};
  amp_step_exchange exchange = {};
  exchange.context = &context;
  exchange.exchange = [](void *pointer, const void *send, uint64_t,
                         void *receive, uint64_t bytes) -> int32_t {
    auto &own = *static_cast<Context *>(pointer);
    Status status = own.group.share(send, int64_t(bytes),
                                    "the comparison of the ranks", receive);
    const bool isOk = status.isOk();
    std::swap(own.status, status);
    return isOk ? 0 : 1;
  };
  amphost::StepSettings own = settings;
  own.exchange = &exchange;
  Status status = amphost::compareRanks(own, std::move(numbers));
  return context.status.isOk() ? status : context.status;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_EQUALNUMBERS_H
