//===- GemmTune.h - Choosing algorithms by time -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_CUDA_GEMMTUNE_H
#define AMP_RUNTIME_CUDA_GEMMTUNE_H

#include "amp/Runtime/CUDA/GemmRun.h"
#include "amp/Runtime/CUDA/Random.h"
#include "amp/Runtime/Host/InputFile.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace amp::cuda {

/// Choices in a text file, one per line: device, library version, product, `e`
/// and the number of the epilogue that the library computes, and the bytes of
/// the algorithm in hexadecimal. A lookup ignores choices of other devices and
/// versions. A user can keep lines so that a program runs the same kernels
/// again.
class GemmCache {
public:
  /// A file that does not exist is an empty cache.
  Status read(const std::string &path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error))
      return Status();
    AMP_RETURN_IF_ERROR(amphost::checkInputFile(path, kMaxBytes));
    std::ifstream file(path);
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      if (line.empty() || line[0] == '#')
        continue;
      size_t split = line.rfind(' '), before = line.rfind(' ', split - 1);
      GemmChoice choice;
      if (split == std::string::npos ||
          !parse(line.substr(split + 1), choice.algorithm))
        return makeError(kFile, "'%s', line %d: not an algorithm", path.c_str(),
                         number);
      const char *epilogue = line.c_str() + before + 1;
      if (before == std::string::npos || *epilogue != 'e')
        return makeError(
            kFile,
            "'%s', line %d: an algorithm without the epilogue that "
            "it is for, from an older version; tune to another "
            "file",
            path.c_str(), number);
      // An epilogue that this product lacks is never used.
      char *end = nullptr;
      const long code = std::strtol(epilogue + 1, &end, 10);
      if (*end != ' ' || code < 0 || code > long(Epilogue::BiasGradB))
        return makeError(kFile, "'%s', line %d: not an epilogue", path.c_str(),
                         number);
      choice.epilogue = Epilogue(code);
      entries[line.substr(0, before)] = choice;
    }
    return Status();
  }

  Status write(const std::string &path) const {
    errno = 0;
    std::ofstream file(path, std::ios::trunc);
    file << "# cuBLASLt algorithms: device, version, product, epilogue, "
            "algorithm\n";
    for (const auto &[key, choice] : entries)
      file << key << " e" << int(choice.epilogue) << ' '
           << print(choice.algorithm) << '\n';
    file.close();
    if (!file)
      return makeError(kFile, "cannot write '%s': %s", path.c_str(),
                       std::strerror(errno ? errno : EIO));
    return Status();
  }

  /// Null if absent.
  const GemmChoice *find(const std::string &key) const {
    auto found = entries.find(key);
    return found == entries.end() ? nullptr : &found->second;
  }
  void set(const std::string &key, const GemmChoice &choice) {
    entries[key] = choice;
  }

private:
  static constexpr uint64_t kMaxBytes = uint64_t(64) << 20;

  static std::string print(const cublasLtMatmulAlgo_t &algorithm) {
    std::string text;
    char digits[3];
    const auto *bytes = reinterpret_cast<const unsigned char *>(&algorithm);
    for (size_t i = 0; i < sizeof(algorithm); ++i) {
      std::snprintf(digits, sizeof(digits), "%02x", bytes[i]);
      text += digits;
    }
    return text;
  }
  static bool parse(const std::string &text, cublasLtMatmulAlgo_t &algorithm) {
    auto *bytes = reinterpret_cast<unsigned char *>(&algorithm);
    if (text.size() != 2 * sizeof(algorithm) ||
        text.find_first_not_of("0123456789abcdef") != std::string::npos)
      return false;
    for (size_t i = 0; i < sizeof(algorithm); ++i)
      bytes[i] = (unsigned char)std::stoi(text.substr(2 * i, 2), nullptr, 16);
    return true;
  }

  std::map<std::string, GemmChoice> entries;
};

/// Sums of four random bytes, with mean 0 and variance 1: nearly normal. Zeros
/// would draw less power and run faster. `count` is a multiple of 4.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    fillRandomKernel(T *out, int64_t count, int64_t seed) {
  elementwise<1>(count / 4, [=](auto at) {
    const auto words = randomBlock(at.index, seed, 0, 0);
    Pack<float, 4> values;
#pragma unroll
    for (int lane = 0; lane < 4; ++lane) {
      const uint32_t word = words[lane];
      const uint32_t sum = (word & 255u) + (word >> 8 & 255u) +
                           (word >> 16 & 255u) + (word >> 24);
      values[lane] = (float(int(sum)) - 510.0f) / 147.8f;
    }
    store<4>(out + at.index * 4, values);
  });
}

/// Random codes of magnitudes below 2, four in a word. No code is a NaN.
template <typename = void>
__global__ void __launch_bounds__(kThreads)
    fillFloat8Kernel(uint32_t *out, int64_t count, int64_t seed) {
  elementwise<1>(count / 4, [=](auto at) {
    const auto words = randomBlock(at.index, seed, 0, 0);
    Pack<uint32_t, 4> codes;
#pragma unroll
    for (int lane = 0; lane < 4; ++lane)
      codes[lane] = words[lane] & 0xbfbfbfbfu;
    store<4>(out + at.index * 4, codes);
  });
}

/// The difference of two results in sums of squares.
struct Deviation {
  float difference, norm;
};
struct SumOfDeviations {
  using type = Deviation;
  static AMP_DEVICE Deviation identity() { return {0.0f, 0.0f}; }
  static AMP_DEVICE Deviation combine(Deviation a, Deviation b) {
    return {a.difference + b.difference, a.norm + b.norm};
  }
};

template <typename T>
__global__ void __launch_bounds__(kThreads)
    deviationKernel(Deviation *out, const T *x, const T *y, int64_t count,
                    Deviation *partials, unsigned *arrivalCounter) {
  reduceAll<SumOfDeviations, kVectorWidth<T>>(
      count, partials, arrivalCounter,
      [=](auto at) {
        return at.map(
            [](float p, float q) {
              // Two overflows agree.
              if (!isFinite(p) && !isFinite(q))
                return Deviation{0.0f, 0.0f};
              return Deviation{(p - q) * (p - q), p * p};
            },
            at.load(x), at.load(y));
      },
      [=](Deviation sum) {
        storeOne(&out->difference, sum.difference);
        storeOne(&out->norm, sum.norm);
      });
}

/// Several copies of the operands of one execution, so that they do not stay in
/// the second-level cache.
struct TuneOperands {
  GemmMemory memory;
  GemmBuffers buffers;

  /// Returns factors of 1, as many as the operand with more factors has.
  static std::vector<unsigned char> makeFactors(const GemmConfig &g) {
    const int64_t bytes = std::max(float8ScaleBytes(g.scalesA, g.m, g.k),
                                   float8ScaleBytes(g.scalesB, g.n, g.k));
    // 127 is the exponent of 1. The other layouts hold f32 values.
    std::vector<unsigned char> factors(size_t(bytes), 127);
    const float one = 1.0f;
    for (int64_t i = 0; g.scalesA != Float8Scale::Vector32 && i < bytes;
         i += int64_t(sizeof(one)))
      std::memcpy(&factors[size_t(i)], &one, sizeof(one));
    return factors;
  }

  Status create(const GemmPlan &plan, int64_t seed) {
    const GemmConfig &g = plan.config;
    const int64_t bias =
        alignTo(std::max(g.m, g.n) * byteWidth(g.typeD), kBufferAlignment);
    struct {
      const void **buffer;
      int64_t bytes;
      Type type;
    } const parts[] = {
        {&buffers.a, spanOf(plan.stridesA(), g.typeA, g.batch), g.typeA},
        {&buffers.b, spanOf(plan.stridesB(), g.typeB, g.batch), g.typeB},
        {&buffers.c,
         g.beta != 0 ? spanOf(plan.stridesC(), g.typeD, g.batch) : 0, g.typeD},
        {const_cast<const void **>(&buffers.d),
         spanOf(plan.stridesD(), g.typeD, g.batch), g.typeD},
        {&buffers.bias, bias, g.typeD},
        {const_cast<const void **>(&buffers.biasGrad), bias, g.typeD},
        {const_cast<const void **>(&buffers.aux), auxBytesOf(g), g.typeD}};
    // Factors of 1, which both operands read.
    const std::vector<unsigned char> factors = makeFactors(g);
    const int64_t factorBytes =
        alignTo(int64_t(factors.size()), kBufferAlignment);
    int64_t bytes = factorBytes;
    for (const auto &part : parts)
      bytes += part.bytes;
    AMP_RETURN_IF_ERROR(memory.allocate(bytes));
    unsigned char *at = memory.data;
    AMP_CUDA_CALL(
        cudaMemcpy(at, factors.data(), factors.size(), cudaMemcpyHostToDevice));
    buffers.scaleA = buffers.scaleB = at;
    at += factorBytes;
    for (const auto &part : parts) {
      if (part.bytes == 0)
        continue;
      *part.buffer = at;
      if (part.type == Type::U8) {
        AMP_RETURN_IF_ERROR(
            launch("tuning", nullptr, elementwiseShape(part.bytes / 4, 4),
                   fillFloat8Kernel<>, reinterpret_cast<uint32_t *>(at),
                   part.bytes / 4, seed + (at - memory.data)));
        at += part.bytes;
        continue;
      }
      AMP_RETURN_IF_ERROR(dispatchFloat(part.type, [&](auto *type) {
        using T = std::remove_pointer_t<decltype(type)>;
        const int64_t count = part.bytes / int64_t(sizeof(T));
        return launch("tuning", nullptr, elementwiseShape(count, 4),
                      fillRandomKernel<T>, reinterpret_cast<T *>(at), count,
                      seed + (at - memory.data));
      }));
      at += part.bytes;
    }
    return Status();
  }
};

/// Times one product.
class GemmTimer {
public:
  GemmTimer(const GemmLibrary &library, const GemmPlan &plan)
      : library(library), plan(plan) {}
  ~GemmTimer() {
    for (cudaEvent_t event : {start, stop})
      if (event)
        cudaEventDestroy(event);
  }

  Status create() {
    const GemmConfig &g = plan.config;
    resultBytes = spanOf(plan.stridesD(), g.typeD, g.batch);
    const int64_t bytes = spanOf(plan.stridesA(), g.typeA, g.batch) +
                          spanOf(plan.stridesB(), g.typeB, g.batch) +
                          resultBytes;
    const int64_t wanted = ceilDiv(int64_t(128) << 20, bytes);
    for (int64_t i = 0; i < (wanted < 4 ? wanted : 4); ++i) {
      operands.push_back(std::make_unique<TuneOperands>());
      AMP_RETURN_IF_ERROR(operands.back()->create(plan, i << 48));
    }
    const int64_t scratch = alignTo(kPartials, kBufferAlignment);
    AMP_RETURN_IF_ERROR(memory.allocate(scratch + resultBytes));
    reference = memory.data + scratch;
    AMP_CUDA_CALL(cudaMemset(memory.data, 0, size_t(scratch)));
    AMP_CUDA_CALL(cudaEventCreate(&start));
    return check(cudaEventCreate(&stop), "cudaEventCreate");
  }

  /// Runs every candidate with its kernels ten times after two warm-ups,
  /// rotates over copies of the operands, and selects the one with the least
  /// median. Returns that median. Leaves out candidates that fail or whose
  /// result differs from that of the first. Returns infinity if no candidate is
  /// left.
  float choose(const std::vector<cublasLtMatmulHeuristicResult_t> &candidates,
               GemmChoice *choice) {
    float best = INFINITY;
    hasReference = false;
    for (const auto &candidate : candidates) {
      float median = INFINITY;
      if (!measure(candidate.algo, &median).isOk() || !(median < best))
        continue;
      best = median;
      *choice = {plan.epilogue, candidate.algo};
    }
    return best;
  }

private:
  /// Partial results, the result and an arrival counter of a comparison.
  static constexpr int64_t kPartials = (512 + 2) * sizeof(Deviation);

  Status run(const cublasLtMatmulAlgo_t &algorithm, size_t index, float *time) {
    const GemmBuffers &buffers = operands[index % operands.size()]->buffers;
    AMP_CUDA_CALL(cudaEventRecord(start, nullptr));
    AMP_RETURN_IF_ERROR(plan.runProduct(library, buffers, nullptr, algorithm));
    if (plan.hasKernels())
      AMP_RETURN_IF_ERROR(plan.runKernels(library, buffers, nullptr));
    AMP_CUDA_CALL(cudaEventRecord(stop, nullptr));
    AMP_CUDA_CALL(cudaEventSynchronize(stop));
    return check(cudaEventElapsedTime(time, start, stop),
                 "cudaEventElapsedTime");
  }

  /// Whether the result agrees with that of the first candidate, up to the
  /// error of reordered sums.
  Status agrees(bool *same) {
    const void *result = operands[0]->buffers.d;
    *same = true;
    if (!std::exchange(hasReference, true))
      return check(cudaMemcpy(reference, result, size_t(resultBytes),
                              cudaMemcpyDeviceToDevice),
                   "cudaMemcpy");
    auto *partials = reinterpret_cast<Deviation *>(memory.data);
    auto *sum = partials + 512;
    AMP_RETURN_IF_ERROR(dispatchFloat(plan.config.typeD, [&](auto *type) {
      using T = std::remove_pointer_t<decltype(type)>;
      const int64_t count = resultBytes / int64_t(sizeof(T));
      return launch("tuning", nullptr, reduceShape(count), deviationKernel<T>,
                    sum, reinterpret_cast<const T *>(reference),
                    static_cast<const T *>(result), count, partials,
                    reinterpret_cast<unsigned *>(sum + 1));
    }));
    Deviation deviation;
    AMP_CUDA_CALL(
        cudaMemcpy(&deviation, sum, sizeof(deviation), cudaMemcpyDeviceToHost));
    *same =
        std::sqrt(deviation.difference) <= 1e-2f * std::sqrt(deviation.norm);
    return Status();
  }

  /// Returns the median time, or infinity if the result differs from the
  /// first one.
  Status measure(const cublasLtMatmulAlgo_t &algorithm, float *median) {
    constexpr int kRuns = 10;
    float unused = 0;
    bool same = false;
    AMP_RETURN_IF_ERROR(run(algorithm, 0, &unused));
    AMP_RETURN_IF_ERROR(agrees(&same));
    if (!same)
      return Status();
    AMP_RETURN_IF_ERROR(run(algorithm, 1, &unused));
    std::vector<float> times(kRuns);
    for (size_t i = 0; i < kRuns; ++i)
      AMP_RETURN_IF_ERROR(run(algorithm, i, &times[i]));
    std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
    *median = times[kRuns / 2];
    return Status();
  }

  const GemmLibrary &library;
  const GemmPlan &plan;
  std::vector<std::unique_ptr<TuneOperands>> operands;
  GemmMemory memory;
  unsigned char *reference = nullptr;
  int64_t resultBytes = 0;
  bool hasReference = false;
  cudaEvent_t start = nullptr, stop = nullptr;
};

/// Times the product with its epilogue in the library and with each part that
/// kernels can compute, and selects the fastest. With some epilogues the
/// library uses kernels that are slower by more than a pass over the result.
inline Status tuneGemm(GemmLibrary &library, GemmPlan &plan, int count) {
  GemmTimer timer(library, plan);
  AMP_RETURN_IF_ERROR(timer.create());
  GemmChoice choice;
  float best = INFINITY;
  auto attempt = [&](Epilogue each) -> Status {
    std::vector<cublasLtMatmulHeuristicResult_t> candidates;
    AMP_RETURN_IF_ERROR(plan.propose(library, each, count, candidates));
    GemmChoice fastest;
    float time = timer.choose(candidates, &fastest);
    if (!(time < best))
      return Status();
    bool passes = false;
    plan.algorithm = fastest.algorithm;
    AMP_RETURN_IF_ERROR(plan.passesNaN(library, &passes));
    if (passes) {
      best = time;
      choice = fastest;
    }
    return Status();
  };
  for (Epilogue each = plan.config.epilogue;; each = simplerEpilogue(each)) {
    Status status = attempt(each);
    if (each != Epilogue::None)
      continue;
    if (!(best < INFINITY) && !status.isOk())
      return status;
    break;
  }
  if (!(best < INFINITY))
    return makeError(kUnsupported, "no algorithm of cuBLASLt ran for %s",
                     plan.describe().c_str());
  bool taken = false;
  AMP_RETURN_IF_ERROR(plan.take(library, choice, &taken));
  return taken ? Status()
               : makeError(kUnsupported, "cuBLASLt no longer takes %s",
                           plan.describe().c_str());
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMMTUNE_H
