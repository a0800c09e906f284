//===- GemmRun.h - Running a planned matrix product -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_CUDA_GEMMRUN_H
#define AMP_RUNTIME_CUDA_GEMMRUN_H

#include "amp/Runtime/CUDA/GemmPlan.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

namespace amp::cuda {

inline Status GemmPlan::runProduct(const GemmLibrary &library,
                                   const GemmBuffers &buffers,
                                   cudaStream_t stream,
                                   const cublasLtMatmulAlgo_t &algo) const {
  const void *bias = addsBias(epilogue) ? buffers.bias : buffers.biasGrad;
  if (addsBias(epilogue) || writesBiasGrad(epilogue))
    AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
        desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)));
  if (usesAux(epilogue))
    AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
        desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &buffers.aux,
        sizeof(buffers.aux)));
  if (hasFloat8(config))
    AMP_RETURN_IF_ERROR(setScales(desc, buffers.scaleA, buffers.scaleB));
  AMP_ON_LAUNCH(config.name);
  return check(cublasLtMatmul(library.handle, desc, &config.alpha, buffers.b, a,
                              buffers.a, b, &config.beta,
                              buffers.c ? buffers.c : buffers.d, c, buffers.d,
                              d, &algo, library.workspace,
                              library.workspaceBytes, stream),
               config.name);
}

inline Status GemmPlan::run(const GemmLibrary &library,
                            const GemmBuffers &buffers,
                            cudaStream_t stream) const {
  const Epilogue wanted = config.epilogue;
  if (!buffers.a || !buffers.b || !buffers.d ||
      (addsBias(wanted) && !buffers.bias) ||
      (writesBiasGrad(wanted) && !buffers.biasGrad) ||
      (usesAux(wanted) && !buffers.aux) ||
      (hasFloat8(config) && (!buffers.scaleA || !buffers.scaleB)))
    return makeError(kInvalidArgument, "product '%s' lacks a buffer",
                     config.name);
  AMP_RETURN_IF_ERROR(runProduct(library, buffers, stream, algorithm));
  return hasKernels() ? runKernels(library, buffers, stream) : Status();
}

/// Computes the bias, activation and sums that the library did not.
inline Status GemmPlan::runKernels(const GemmLibrary &library,
                                   const GemmBuffers &buffers,
                                   cudaStream_t stream) const {
  const GemmConfig &g = config;
  const Epilogue e = g.epilogue, activation = activationOf(e);
  auto sum = [&](auto *out, auto *in, const Strides &s, Epilogue gradient) {
    return sumColumns(g.name, stream, out, in, s.rows, s.columns, s.row,
                      gradient, buffers.aux, g.strideAux, library.workspace,
                      int64_t(library.workspaceBytes));
  };
  return dispatchFloat(g.typeD, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    auto *d = static_cast<T *>(buffers.d);
    auto *biasGrad = static_cast<T *>(buffers.biasGrad);
    if (e == Epilogue::BiasGradA || e == Epilogue::BiasGradB)
      return dispatchFloat(g.typeA, [&](auto *operand) {
        using Operand = std::remove_pointer_t<decltype(operand)>;
        const bool ofA = e == Epilogue::BiasGradA;
        if constexpr (std::is_same_v<T, Operand> || std::is_same_v<T, float>)
          return sum(biasGrad,
                     static_cast<const Operand *>(ofA ? buffers.a : buffers.b),
                     ofA ? stridesA() : stridesB(), Epilogue::None);
        return makeError(kInvalidArgument, "a sum of %s in %s",
                         typeName(g.typeA), typeName(g.typeD));
      });
    if (writesBiasGrad(e))
      return sum(biasGrad, d, stridesD(),
                 epilogue == activation ? Epilogue::None : activation);
    const void *bias =
        addsBias(e) && epilogue == Epilogue::None ? buffers.bias : nullptr;
    return applyEpilogue(g.name, stream, d, g.m, g.n, stridesD().row,
                         static_cast<const T *>(bias), buffers.aux, g.strideAux,
                         activation);
  });
}

//===----------------------------------------------------------------------===//
// NaN
//===----------------------------------------------------------------------===//

/// Device memory used while a program is created.
struct GemmMemory {
  unsigned char *data = nullptr;
  GemmMemory() = default;
  GemmMemory(const GemmMemory &) = delete;
  GemmMemory &operator=(const GemmMemory &) = delete;
  ~GemmMemory() { cudaFree(data); }

  Status allocate(int64_t bytes) {
    return check(cudaMalloc(&data, size_t(bytes)), "cudaMalloc");
  }
};

/// Bytes from the first matrix to the end of the last, aligned.
inline int64_t spanOf(const GemmPlan::Strides &s, Type type, int64_t batch) {
  return alignTo((s.rows * s.row + (batch - 1) * s.matrix) * byteWidth(type),
                 kBufferAlignment);
}
/// Bytes of aux.
inline int64_t auxBytesOf(const GemmConfig &g) {
  if (!usesAux(g.epilogue))
    return 0;
  const int64_t bits = usesMask(g.epilogue) ? 1 : 8 * byteWidth(g.typeD);
  return alignTo(g.m * g.strideAux * bits / 8, kBufferAlignment);
}

inline Status GemmPlan::passesNaN(GemmLibrary &library, bool *passes) {
  *passes = true;
  if (!isRelu(epilogue))
    return Status();
  // The properties that tell one kernel of the library from another.
  const GemmConfig &g = config;
  char key[sizeof(algorithm) + 16] = {};
  std::memcpy(key, &algorithm, sizeof(algorithm));
  const int kind[] = {int(g.typeA),
                      int(g.typeD),
                      int(g.compute),
                      int(epilogue),
                      int(g.transposeA),
                      int(g.transposeB),
                      int(stridesA().row % 16),
                      int(stridesB().row % 16),
                      int(stridesD().row % 16)};
  std::copy(std::begin(kind), std::end(kind), key + sizeof(algorithm));
  auto [known, isNew] =
      library.passesNaN.emplace(std::string(key, sizeof(key)), false);
  if (isNew)
    AMP_RETURN_IF_ERROR(probe(library, &known->second));
  *passes = known->second;
  return Status();
}

/// Runs the product on NaN alone, before there is any data, and inspects the
/// result. The operands are in the workspace if it is large enough. If there is
/// no memory, the result is unknown and counts as one that loses NaN.
inline Status GemmPlan::probe(GemmLibrary &library, bool *passes) {
  const GemmConfig &g = config;
  const int64_t resultBytes = spanOf(stridesD(), g.typeD, 1);
  // A, B and the bias share one buffer.
  const int64_t operandBytes =
      std::max({spanOf(stridesA(), g.typeA, 1), spanOf(stridesB(), g.typeB, 1),
                alignTo(g.n * byteWidth(g.typeD), kBufferAlignment)});
  const int64_t bytes = operandBytes + resultBytes + auxBytesOf(g);
  int64_t own = 0;
  *passes = false;
  if (!accepts(library, &own))
    return Status();
  own = alignTo(own, kBufferAlignment);
  GemmMemory memory;
  unsigned char *data = static_cast<unsigned char *>(library.workspace) + own;
  if (own + bytes > int64_t(library.workspaceBytes)) {
    own = int64_t(library.workspaceBytes);
    if (cudaMalloc(&memory.data, size_t(bytes)) != cudaSuccess) {
      cudaGetLastError(); // reset the error, which is handled
      return Status();
    }
    data = memory.data;
  }
  GemmBuffers buffers;
  buffers.a = buffers.b = buffers.bias = data;
  buffers.d = data + operandBytes;
  buffers.aux = data + operandBytes + resultBytes;
  AMP_CUDA_CALL(cudaMemset(data, 0xff, operandBytes));
  AMP_CUDA_CALL(cudaMemset(buffers.d, 0, resultBytes));
  const char *name = std::exchange(config.name, "NaN probe");
  const size_t all = std::exchange(library.workspaceBytes, size_t(own));
  Status ran = runProduct(library, buffers, nullptr, algorithm);
  library.workspaceBytes = all;
  config.name = name;
  AMP_RETURN_IF_ERROR(ran);
  // NaN has an exponent of ones and 0 has none. Inspect the leading bits of the
  // first and of the last element.
  const int64_t width = byteWidth(g.typeD);
  const int64_t last = ((g.m - 1) * stridesD().row + g.n - 1) * width;
  *passes = true;
  for (int64_t at : {int64_t(0), last}) {
    unsigned char bits = 0;
    AMP_CUDA_CALL(cudaMemcpy(
        &bits, static_cast<unsigned char *>(buffers.d) + at + width - 1, 1,
        cudaMemcpyDeviceToHost));
    *passes = *passes && (bits & 0x7c) == 0x7c;
  }
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMMRUN_H
