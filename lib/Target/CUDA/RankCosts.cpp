//===- RankCosts.cpp - Costs of collectives -------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The time of a step on several ranks: the launches follow one another on the
// first stream, and the collectives on the second one.
//
//===----------------------------------------------------------------------===//

#include "RankCosts.h"

#include "CollectiveRanges.h"
#include "amp/Runtime/Host/KernelRates.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <optional>

using namespace mlir;
using namespace mlir::cuda;

namespace {
/// A collective, and the time for which the step waits for it.
struct Exchange {
  LaunchOpInterface launch;
  double bytes = 0, seconds = 0, end = 0, exposed = 0;
};
} // namespace

/// The bytes of the buffers that a collective reduces or gathers.
static double getExchangedBytes(LaunchOpInterface launch) {
  double bytes = 0;
  for (unsigned i = 0; i < launch.getInputs().size(); ++i)
    bytes += double(std::max(getBytes(launch.getInputType(i)),
                             getBytes(launch.getTargetType(i))));
  return bytes;
}

/// Whether `launch` only copies the elements of one buffer.
static bool isCopy(LaunchOpInterface launch) {
  auto kernel = dyn_cast<KernelOp>(launch.getOperation());
  return kernel && !kernel.isReduction() && kernel.getInputs().size() == 1 &&
         llvm::hasSingleElement(kernel.getBody().front());
}

/// Prints the number of NCCL calls that exchange the operands of all
/// collectives of `program`, and the bytes that launches copy for them.
static void printCalls(ProgramOp program, raw_ostream &os) {
  size_t operands = 0, calls = 0;
  int64_t copied = 0;
  llvm::DenseSet<Operation *> exchanged;
  auto launches = program.getBody().front().getOps<LaunchOpInterface>();
  for (LaunchOpInterface launch : launches) {
    if (!launch.isCollective())
      continue;
    operands += launch.getInputs().size();
    calls += getCollectiveRanges(launch).size();
    for (Value operand : launch->getOperands())
      exchanged.insert(getBuffer(operand));
  }
  for (LaunchOpInterface launch : launches)
    if (isCopy(launch) &&
        llvm::any_of(launch->getOperands(), [&](Value operand) {
          BufferOp buffer = getBuffer(operand);
          return !buffer.getRole() && exchanged.contains(buffer);
        }))
      copied += getTrafficBytes(launch);
  os << llvm::formatv("{0} tensors in {1} calls of NCCL; launches copy {2} "
                      "bytes for them\n",
                      operands, calls, copied);
}

/// Returns the seconds of a ring through all ranks that passes `bytes` bytes
/// `passes` times. Between nodes, all their network cards work together.
static double estimateRing(double bytes, double passes,
                           const RankLayout &layout,
                           const amphost::GPUModel &target) {
  namespace rates = amphost::collectives;
  const auto ranks = double(layout.ranks), nodes = double(layout.nodes);
  double rate = target.link * rates::linkPart;
  if (nodes == ranks)
    rate = target.network * rates::networkPart;
  else if (nodes > 1)
    rate = std::min(rate, ranks / nodes * target.network * rates::networkPart);
  return passes * (ranks - 1) / ranks * bytes / rate;
}

/// Returns the seconds of an all-reduce of a node whose switches add, or
/// nothing if they cannot.
static std::optional<double> estimateSwitches(double bytes,
                                              const RankLayout &layout,
                                              const amphost::GPUModel &target) {
  namespace rates = amphost::collectives;
  if (layout.nodes > 1 || layout.ranks <= 4 ||
      target.capability < rates::switchCapability)
    return std::nullopt;
  return rates::switchSeconds + bytes / (target.link * rates::switchPart);
}

double mlir::cuda::estimateCollective(LaunchOpInterface launch,
                                      const RankLayout &layout,
                                      const amphost::GPUModel &target) {
  namespace rates = amphost::collectives;
  const double bytes = getExchangedBytes(launch);
  const bool isAllReduce = isa<AllReduceOp>(launch.getOperation());
  const double passes = isAllReduce ? 2 : 1;
  double seconds = estimateRing(bytes, passes, layout, target);
  if (isAllReduce)
    if (std::optional<double> other = estimateSwitches(bytes, layout, target))
      seconds = std::min(seconds, *other);
  // Messages of few bytes go through trees.
  const double inside = std::log2(double(layout.ranks / layout.nodes)),
               between = std::log2(double(layout.nodes));
  seconds += rates::startSeconds + passes * inside * rates::linkSeconds;
  if (layout.nodes > 1)
    seconds +=
        rates::networkStartSeconds + passes * between * rates::networkSeconds;
  return seconds;
}

void mlir::cuda::printRankCosts(
    ProgramOp program, const RankLayout &layout,
    const amphost::GPUModel &target,
    function_ref<double(LaunchOpInterface)> estimate, raw_ostream &os) {
  SmallVector<Exchange> exchanges;
  size_t awaited = 0;
  double now = 0, busy = 0;
  for (Operation &op : program.getBody().front()) {
    if (auto await = dyn_cast<AwaitOp>(op)) {
      while (awaited < exchanges.size()) {
        Exchange &next = exchanges[awaited++];
        next.exposed = std::max(0.0, next.end - now);
        now += next.exposed;
        if (next.launch.getName() == await.getCollective())
          break;
      }
      continue;
    }
    auto launch = dyn_cast<LaunchOpInterface>(op);
    if (!launch || !isInEachStep(launch))
      continue;
    if (!launch.isCollective()) {
      now += estimate(launch);
      continue;
    }
    Exchange exchange{launch, getExchangedBytes(launch),
                      estimateCollective(launch, layout, target)};
    // It begins when the launches before it and the last collective are done.
    exchange.end =
        std::max(now, exchanges.empty() ? 0.0 : exchanges.back().end) +
        exchange.seconds;
    busy += exchange.seconds;
    exchanges.push_back(exchange);
  }
  os << llvm::formatv("{0} ranks on {1} node{2}, estimated:\n", layout.ranks,
                      layout.nodes, layout.nodes == 1 ? "" : "s")
     << llvm::formatv("{0,-32} {1,14} {2,12} {3,12}\n", "collective", "bytes",
                      "time, us", "exposed, us");
  double exposed = 0;
  for (const Exchange &exchange : exchanges) {
    exposed += exchange.exposed;
    os << llvm::formatv("{0,-32} {1,14:f0} {2,12:f3} {3,12:f3}\n",
                        Exchange(exchange).launch.getName().value_or(""),
                        exchange.bytes, exchange.seconds * 1e6,
                        exchange.exposed * 1e6);
  }
  os << llvm::formatv(
      "step of all ranks {0:f3} us; collectives take {1:f3} us, "
      "of which {2:f3} us ({3:f2} % of the step) are exposed\n",
      now * 1e6, busy * 1e6, exposed * 1e6,
      now > 0 ? exposed / now * 100 : 0.0);
  printCalls(program, os);
}
