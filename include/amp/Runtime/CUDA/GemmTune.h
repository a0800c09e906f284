//===- GemmTune.h - Choosing algorithms by time -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_CUDA_GEMMTUNE_H
#define AMP_RUNTIME_CUDA_GEMMTUNE_H

#include "amp/Runtime/CUDA/GemmPlan.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>

namespace amp::cuda {

/// Chosen algorithms in a text file, one a line: device, library version,
/// product, and the bytes of the algorithm in hexadecimal. An algorithm of
/// another device or version is never found.
class GemmCache {
public:
  /// A file that does not exist is an empty cache.
  Status read(const std::string &path) {
    std::ifstream file(path);
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      if (line.empty() || line[0] == '#')
        continue;
      size_t split = line.rfind(' ');
      cublasLtMatmulAlgo_t algorithm;
      if (split == std::string::npos ||
          !parse(line.substr(split + 1), algorithm))
        return makeError(kFile, "'%s', line %d: not an algorithm", path.c_str(),
                         number);
      entries[line.substr(0, split)] = algorithm;
    }
    return Status();
  }

  Status write(const std::string &path) const {
    errno = 0;
    std::ofstream file(path, std::ios::trunc);
    file << "# cuBLASLt algorithms: device, version, product, algorithm\n";
    for (const auto &[key, algorithm] : entries)
      file << key << ' ' << print(algorithm) << '\n';
    file.close();
    if (!file)
      return makeError(kFile, "cannot write '%s': %s", path.c_str(),
                       std::strerror(errno ? errno : EIO));
    return Status();
  }

  bool find(const std::string &key, cublasLtMatmulAlgo_t &algorithm) const {
    auto found = entries.find(key);
    if (found == entries.end())
      return false;
    algorithm = found->second;
    return true;
  }
  void set(const std::string &key, const cublasLtMatmulAlgo_t &algorithm) {
    entries[key] = algorithm;
  }

private:
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

  std::map<std::string, cublasLtMatmulAlgo_t> entries;
};

/// Device memory of a tuning run.
struct TuneBuffer {
  unsigned char *data = nullptr;
  TuneBuffer() = default;
  TuneBuffer(const TuneBuffer &) = delete;
  TuneBuffer &operator=(const TuneBuffer &) = delete;
  ~TuneBuffer() { cudaFree(data); }

  /// Allocates `bytes` of normal random numbers of `type`. (Zeros would draw
  /// less power and run faster.)
  Status create(int64_t bytes, Type type, unsigned seed) {
    AMP_CUDA_CALL(cudaMalloc(&data, size_t(bytes)));
    std::vector<unsigned char> host(bytes, 0);
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i + byteWidth(type) <= bytes; i += byteWidth(type)) {
      float value = normal(random);
      if (type == Type::F16) {
        __half rounded = __float2half_rn(value);
        std::memcpy(&host[i], &rounded, 2);
      } else if (type == Type::BF16) {
        __nv_bfloat16 rounded = __float2bfloat16_rn(value);
        std::memcpy(&host[i], &rounded, 2);
      } else {
        std::memcpy(&host[i], &value, 4);
      }
    }
    return check(cudaMemcpy(data, host.data(), bytes, cudaMemcpyHostToDevice),
                 "cudaMemcpy");
  }
};

/// The operands of one execution, several times over so that they do not stay
/// in the second-level cache.
struct TuneOperands {
  TuneBuffer a, b, c, d, bias, aux;
  GemmBuffers buffers;

  Status create(const GemmPlan &plan, unsigned seed) {
    const GemmConfig &g = plan.config;
    auto span = [&](const GemmPlan::Strides &s, Type type) {
      return (s.rows * s.row + (g.batch - 1) * s.matrix) * byteWidth(type);
    };
    int64_t auxBytes =
        usesAux(g.epilogue)
            ? g.m * g.strideAux * (usesMask(g.epilogue) ? 1 : 8 * 4) / 8
            : 4;
    AMP_RETURN_IF_ERROR(
        a.create(span(plan.stridesA(), g.typeA), g.typeA, seed));
    AMP_RETURN_IF_ERROR(
        b.create(span(plan.stridesB(), g.typeB), g.typeB, seed + 1));
    AMP_RETURN_IF_ERROR(
        c.create(span(plan.stridesC(), g.typeD), g.typeD, seed + 2));
    AMP_RETURN_IF_ERROR(
        d.create(span(plan.stridesD(), g.typeD), g.typeD, seed + 3));
    AMP_RETURN_IF_ERROR(bias.create(std::max(g.m, g.n) * 4, g.typeD, seed + 4));
    AMP_RETURN_IF_ERROR(aux.create(auxBytes, g.typeD, seed + 5));
    buffers.a = a.data;
    buffers.b = b.data;
    buffers.c = c.data;
    buffers.d = d.data;
    buffers.bias = bias.data;
    buffers.biasGrad = bias.data;
    buffers.aux = aux.data;
    return Status();
  }
};

/// Whether two results agree to what reordered sums can differ by.
inline bool agree(const std::vector<unsigned char> &x,
                  const std::vector<unsigned char> &y, Type type) {
  auto value = [&](const std::vector<unsigned char> &bytes, size_t i) {
    if (type == Type::F32) {
      float f;
      std::memcpy(&f, &bytes[i], 4);
      return double(f);
    }
    uint16_t bits;
    std::memcpy(&bits, &bytes[i], 2);
    if (type == Type::BF16) {
      __nv_bfloat16 b;
      std::memcpy(&b, &bits, 2);
      return double(__bfloat162float(b));
    }
    __half h;
    std::memcpy(&h, &bits, 2);
    return double(__half2float(h));
  };
  double difference = 0, norm = 0;
  for (size_t i = 0; i + byteWidth(type) <= x.size(); i += byteWidth(type)) {
    double p = value(x, i), q = value(y, i);
    if (std::isfinite(p) && std::isfinite(q)) {
      difference += (p - q) * (p - q);
      norm += p * p;
    }
  }
  return std::sqrt(difference) <= 1e-2 * std::sqrt(norm);
}

/// Runs every candidate ten times after two warm-ups, rotating over copies of
/// the operands, and takes the one with the least median. Candidates that fail,
/// or whose result differs from that of the first, are left out.
inline Status
tuneGemm(const GemmLibrary &library, GemmPlan &plan,
         const std::vector<cublasLtMatmulHeuristicResult_t> &candidates) {
  const GemmConfig &g = plan.config;
  GemmPlan::Strides s = plan.stridesD();
  int64_t resultBytes =
      (s.rows * s.row + (g.batch - 1) * s.matrix) * byteWidth(g.typeD);
  int64_t bytes =
      (g.m * g.k + g.k * g.n) * g.batch * byteWidth(g.typeA) + resultBytes;
  int64_t wanted = ceilDiv(int64_t(128) << 20, bytes);
  size_t copies = size_t(wanted < 1 ? 1 : wanted > 4 ? 4 : wanted);
  std::vector<std::unique_ptr<TuneOperands>> operands;
  for (size_t i = 0; i < copies; ++i) {
    operands.push_back(std::make_unique<TuneOperands>());
    AMP_RETURN_IF_ERROR(operands.back()->create(plan, unsigned(6 * i + 1)));
  }
  cudaEvent_t start, stop;
  AMP_CUDA_CALL(cudaEventCreate(&start));
  AMP_CUDA_CALL(cudaEventCreate(&stop));

  constexpr int kRuns = 10;
  float best = INFINITY;
  std::vector<unsigned char> reference, result(resultBytes);
  auto run = [&](const cublasLtMatmulAlgo_t &algorithm, int index,
                 float *time) -> Status {
    const GemmBuffers &buffers = operands[index % copies]->buffers;
    AMP_CUDA_CALL(cudaEventRecord(start, nullptr));
    AMP_RETURN_IF_ERROR(plan.runProduct(library, buffers, nullptr, algorithm));
    AMP_CUDA_CALL(cudaEventRecord(stop, nullptr));
    AMP_CUDA_CALL(cudaEventSynchronize(stop));
    return check(cudaEventElapsedTime(time, start, stop),
                 "cudaEventElapsedTime");
  };
  // The median time, or infinity if the result is not that of the first.
  auto measure = [&](const cublasLtMatmulAlgo_t &algorithm,
                     float *median) -> Status {
    *median = INFINITY;
    float unused = 0;
    AMP_RETURN_IF_ERROR(run(algorithm, 0, &unused));
    AMP_CUDA_CALL(cudaMemcpy(result.data(), operands[0]->buffers.d, resultBytes,
                             cudaMemcpyDeviceToHost));
    if (reference.empty())
      reference = result;
    if (!agree(reference, result, g.typeD))
      return Status();
    AMP_RETURN_IF_ERROR(run(algorithm, 1, &unused));
    std::vector<float> times(kRuns);
    for (int i = 0; i < kRuns; ++i)
      AMP_RETURN_IF_ERROR(run(algorithm, i, &times[i]));
    std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
    *median = times[kRuns / 2];
    return Status();
  };
  for (const auto &candidate : candidates) {
    float median = INFINITY;
    // One that fails is left out.
    if (measure(candidate.algo, &median).isOk() && median < best) {
      best = median;
      plan.algorithm = candidate.algo;
    }
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  if (!(best < INFINITY))
    return makeError(kUnsupported, "no algorithm ran");
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMMTUNE_H
