//===- GemmPlan.h - One planned matrix product ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_CUDA_GEMMPLAN_H
#define AMP_RUNTIME_CUDA_GEMMPLAN_H

#include "amp/Runtime/CUDA/GemmEpilogue.h"

#include <cublasLt.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace amp::cuda {

/// Checks `config` without calling the library.
inline Status verifyGemm(const GemmConfig &config) {
  std::string fault = findGemmFault(config);
  return fault.empty() ? Status() : Status(kInvalidArgument, fault);
}

inline cudaDataType_t toCudaType(Type type) {
  return type == Type::F16    ? CUDA_R_16F
         : type == Type::BF16 ? CUDA_R_16BF
                              : CUDA_R_32F;
}

/// The type of an operand: `type`, or `format` if that is an 8-bit float.
inline cudaDataType_t toCudaType(Type type, Float8 format) {
  return format == Float8::E4M3   ? CUDA_R_8F_E4M3
         : format == Float8::E5M2 ? CUDA_R_8F_E5M2
                                  : toCudaType(type);
}

inline cublasLtEpilogue_t toCublas(Epilogue epilogue) {
  constexpr cublasLtEpilogue_t table[] = {
      CUBLASLT_EPILOGUE_DEFAULT,
      CUBLASLT_EPILOGUE_BIAS,
      CUBLASLT_EPILOGUE_RELU,
      CUBLASLT_EPILOGUE_RELU_BIAS,
      CUBLASLT_EPILOGUE_RELU_AUX,
      CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_GELU,
      CUBLASLT_EPILOGUE_GELU_BIAS,
      CUBLASLT_EPILOGUE_GELU_AUX,
      CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DRELU,
      CUBLASLT_EPILOGUE_DRELU_BGRAD,
      CUBLASLT_EPILOGUE_DGELU,
      CUBLASLT_EPILOGUE_DGELU_BGRAD,
      // Our B is the library's A.
      CUBLASLT_EPILOGUE_BGRADB,
      CUBLASLT_EPILOGUE_BGRADA,
  };
  return table[int(epilogue)];
}

struct GemmLibrary;

/// How a product runs: the part of the epilogue that the library computes, and
/// its algorithm. Kernels compute the rest.
struct GemmChoice {
  Epilogue epilogue = Epilogue::None;
  cublasLtMatmulAlgo_t algorithm = {};
};

/// Descriptors and algorithm of one product.
struct GemmPlan {
  GemmConfig config;
  /// The part that the library computes. Kernels compute the rest of
  /// `config.epilogue`.
  Epilogue epilogue = Epilogue::None;
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};

  GemmPlan() = default;
  GemmPlan(const GemmPlan &) = delete;
  GemmPlan &operator=(const GemmPlan &) = delete;
  ~GemmPlan() { reset(); }

  void reset() {
    for (cublasLtMatrixLayout_t *layout : {&a, &b, &c, &d})
      if (*layout) {
        cublasLtMatrixLayoutDestroy(*layout);
        *layout = nullptr;
      }
    if (desc)
      cublasLtMatmulDescDestroy(desc);
    desc = nullptr;
  }

  /// Distances between rows and matrices, with defaults filled in.
  struct Strides {
    int64_t row, matrix, rows, columns;
  };
  static Strides resolve(int64_t row, int64_t matrix, int64_t rows,
                         int64_t columns) {
    int64_t stride = row ? row : columns;
    return {stride,
            matrix == -1 ? 0
            : matrix     ? matrix
                         : rows * stride,
            rows, columns};
  }
  Strides stridesA() const {
    const GemmConfig &g = config;
    return resolve(g.strideA, g.batchStrideA, g.transposeA ? g.k : g.m,
                   g.transposeA ? g.m : g.k);
  }
  Strides stridesB() const {
    const GemmConfig &g = config;
    return resolve(g.strideB, g.batchStrideB, g.transposeB ? g.n : g.k,
                   g.transposeB ? g.k : g.n);
  }
  Strides stridesC() const {
    return resolve(config.strideC ? config.strideC : config.strideD,
                   config.batchStrideC ? config.batchStrideC
                                       : config.batchStrideD,
                   config.m, config.n);
  }
  Strides stridesD() const {
    return resolve(config.strideD, config.batchStrideD, config.m, config.n);
  }

  bool hasKernels() const { return epilogue != config.epilogue; }

  /// Plans the product with its epilogue, or with the part that the library
  /// supports. Takes the first of `count` algorithms that the heuristic
  /// returns.
  inline Status create(GemmLibrary &library, int count);
  /// Plans the product by `choice` if the library accepts it. `taken` says
  /// whether it does.
  inline Status take(GemmLibrary &library, const GemmChoice &choice,
                     bool *taken);
  /// Asks for algorithms for the product with epilogue `what`. It is an error
  /// if the library offers no plan.
  inline Status propose(const GemmLibrary &library, Epilogue what, int count,
                        std::vector<cublasLtMatmulHeuristicResult_t> &results);
  /// Whether NaN passes the relu of the library with the current algorithm.
  /// True if there is no relu.
  inline Status passesNaN(GemmLibrary &library, bool *passes);

  inline Status run(const GemmLibrary &library, const GemmBuffers &buffers,
                    cudaStream_t stream) const;
  inline Status runProduct(const GemmLibrary &library,
                           const GemmBuffers &buffers, cudaStream_t stream,
                           const cublasLtMatmulAlgo_t &algo) const;
  inline Status runKernels(const GemmLibrary &library,
                           const GemmBuffers &buffers,
                           cudaStream_t stream) const;

  /// Describes everything that the choice of an algorithm depends on.
  inline std::string describe() const;

private:
  inline Status describeTo(const GemmLibrary &library, Epilogue what);
  inline Status ask(const GemmLibrary &library, int count,
                    std::vector<cublasLtMatmulHeuristicResult_t> &results);
  /// Whether the library accepts `algorithm` for this product, and how much of
  /// the workspace the algorithm needs.
  inline bool accepts(const GemmLibrary &library, int64_t *bytes) const;
  inline Status probe(GemmLibrary &library, bool *passes);
};

/// The handle and the workspace.
struct GemmLibrary {
  cublasLtHandle_t handle = nullptr;
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
  std::string device;
  /// The compute capability of the device, ten times the major and the minor
  /// number.
  int capability = 0;
  /// Whether NaN passes, for each kernel with a relu that was tested.
  std::map<std::string, bool> passesNaN;

  GemmLibrary() = default;
  GemmLibrary(const GemmLibrary &) = delete;
  GemmLibrary &operator=(const GemmLibrary &) = delete;
  ~GemmLibrary() {
    if (handle)
      cublasLtDestroy(handle);
  }

  Status create() {
    int number = 0;
    cudaDeviceProp properties;
    AMP_CUDA_CALL(cudaGetDevice(&number));
    AMP_CUDA_CALL(cudaGetDeviceProperties(&properties, number));
    device = properties.name;
    capability = 10 * properties.major + properties.minor;
    std::replace(device.begin(), device.end(), ' ', '_');
    AMP_CUDA_CALL(cublasLtCreate(&handle));
    return Status();
  }

  std::string describe() const {
    return device + " " + std::to_string(cublasLtGetVersion());
  }
};

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

inline Status makeLayout(cublasLtMatrixLayout_t *layout, cudaDataType_t type,
                         const GemmPlan::Strides &s, int64_t batch) {
  // A row-major matrix is the transposed column-major one.
  AMP_CUDA_CALL(
      cublasLtMatrixLayoutCreate(layout, type, s.columns, s.rows, s.row));
  if (batch == 1)
    return Status();
  auto count = int32_t(batch);
  AMP_CUDA_CALL(cublasLtMatrixLayoutSetAttribute(
      *layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)));
  AMP_CUDA_CALL(cublasLtMatrixLayoutSetAttribute(
      *layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &s.matrix,
      sizeof(s.matrix)));
  return Status();
}

/// Sets the pointers to the factors of 8-bit operands in `desc`. The library's
/// A is our B.
inline Status setScales(cublasLtMatmulDesc_t desc, const void *scaleA,
                        const void *scaleB) {
  AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
      desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &scaleB, sizeof(scaleB)));
  AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
      desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &scaleA, sizeof(scaleA)));
  return Status();
}

/// Returns the scale mode of cuBLASLt for `scale`.
inline int32_t toScaleMode(Float8Scale scale) {
  constexpr int32_t modes[] = {0, 3, 2, 4, 5}; // CUBLASLT_MATMUL_MATRIX_SCALE_*
  return modes[int(scale)];
}

/// Sets the scale modes of 8-bit operands. Toolkits before CUDA 12.9 do not
/// declare the enumerators, so this function uses their values.
inline Status setScaleModes(cublasLtMatmulDesc_t desc, Float8Scale scalesA,
                            Float8Scale scalesB) {
  constexpr int kModeA = 31, kModeB = 32; // CUBLASLT_MATMUL_DESC_*_SCALE_MODE
  const int32_t modeA = toScaleMode(scalesA), modeB = toScaleMode(scalesB);
  AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
      desc, cublasLtMatmulDescAttributes_t(kModeA), &modeB, sizeof(modeB)));
  AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
      desc, cublasLtMatmulDescAttributes_t(kModeB), &modeA, sizeof(modeA)));
  return Status();
}

/// Makes the descriptors of the product with epilogue `what`.
inline Status GemmPlan::describeTo(const GemmLibrary &library, Epilogue what) {
  reset();
  epilogue = what;
  const GemmConfig &g = config;
  AMP_CUDA_CALL(cublasLtMatmulDescCreate(&desc,
                                         g.compute == GemmCompute::TF32
                                             ? CUBLAS_COMPUTE_32F_FAST_TF32
                                             : CUBLAS_COMPUTE_32F,
                                         CUDA_R_32F));
  // The library's A is our B: Dᵀ = op(B)ᵀ · op(A)ᵀ.
  int32_t transA = g.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N;
  int32_t transB = g.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N;
  int32_t code = toCublas(what), type = toCudaType(g.typeD);
  // The library refuses an epilogue with null pointers. It takes their
  // alignment for that of every execution. It reads nothing here.
  void *aligned = library.workspace
                      ? library.workspace
                      : reinterpret_cast<void *>(kBufferAlignment);
  AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
      desc, CUBLASLT_MATMUL_DESC_TRANSA, &transA, sizeof(transA)));
  AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
      desc, CUBLASLT_MATMUL_DESC_TRANSB, &transB, sizeof(transB)));
  AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
      desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &code, sizeof(code)));
  if (addsBias(what) || writesBiasGrad(what)) {
    AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
        desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof(type)));
    AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
        desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &aligned, sizeof(aligned)));
  }
  // The type of aux stays unset, so aux has the type of D. Only FP8 needs
  // another. Before CUDA 12.8, setting it is an error for other types.
  if (usesAux(what)) {
    AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
        desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &g.strideAux,
        sizeof(g.strideAux)));
    AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
        desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aligned,
        sizeof(aligned)));
  }
  if (hasFloat8(g)) {
    AMP_RETURN_IF_ERROR(setScales(desc, aligned, aligned));
    // Older libraries support only the default mode.
    if (g.scalesA != Float8Scale::Tensor)
      AMP_RETURN_IF_ERROR(setScaleModes(desc, g.scalesA, g.scalesB));
    const auto fast = int8_t(g.fastAccumulation);
    AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
        desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof(fast)));
  }
  AMP_RETURN_IF_ERROR(
      makeLayout(&a, toCudaType(g.typeB, g.float8B), stridesB(), g.batch));
  AMP_RETURN_IF_ERROR(
      makeLayout(&b, toCudaType(g.typeA, g.float8A), stridesA(), g.batch));
  AMP_RETURN_IF_ERROR(makeLayout(&c, toCudaType(g.typeD), stridesC(), g.batch));
  return makeLayout(&d, toCudaType(g.typeD), stridesD(), g.batch);
}

/// Asks the heuristic for algorithms of the described product. Without a plan
/// the error code is kUnsupported.
inline Status
GemmPlan::ask(const GemmLibrary &library, int count,
              std::vector<cublasLtMatmulHeuristicResult_t> &results) {
  cublasLtMatmulPreference_t preference = nullptr;
  AMP_CUDA_CALL(cublasLtMatmulPreferenceCreate(&preference));
  auto finish = [&](cublasStatus_t status, const char *call) {
    cublasLtMatmulPreferenceDestroy(preference);
    return check(status, call);
  };
  uint64_t bytes = library.workspaceBytes;
  // Partial sums in a 16-bit result type, in the workspace or in place, would
  // add a rounding.
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  if (config.typeD != Type::F32)
    reductions &= ~uint32_t(CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE |
                            CUBLASLT_REDUCTION_SCHEME_INPLACE);
  auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                 const void *value, size_t size) {
    return cublasLtMatmulPreferenceSetAttribute(preference, attribute, value,
                                                size);
  };
  cublasStatus_t status =
      set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes));
  if (status == CUBLAS_STATUS_SUCCESS)
    status = set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions,
                 sizeof(reductions));
  // The groups of a convolution begin in the middle of rows.
  auto alignmentOf = [&](const Strides &s, Type type) {
    uint32_t alignment = 256;
    while (config.batch > 1 && s.matrix * byteWidth(type) % alignment)
      alignment /= 2;
    return alignment;
  };
  uint32_t alignments[] = {alignmentOf(stridesB(), config.typeB),
                           alignmentOf(stridesA(), config.typeA),
                           alignmentOf(stridesC(), config.typeD),
                           alignmentOf(stridesD(), config.typeD)};
  constexpr cublasLtMatmulPreferenceAttributes_t names[] = {
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  for (int i = 0; i < 4 && status == CUBLAS_STATUS_SUCCESS; ++i)
    status = set(names[i], &alignments[i], sizeof(uint32_t));
  if (status != CUBLAS_STATUS_SUCCESS)
    return finish(status, "cublasLtMatmulPreferenceSetAttribute");
  results.resize(std::max(count, 1));
  int found = 0;
  status = cublasLtMatmulAlgoGetHeuristic(library.handle, desc, a, b, c, d,
                                          preference, int(results.size()),
                                          results.data(), &found);
  // The other entries are not valid.
  results.resize(found);
  results.erase(std::remove_if(results.begin(), results.end(),
                               [](const auto &result) {
                                 return result.state != CUBLAS_STATUS_SUCCESS;
                               }),
                results.end());
  if (status == CUBLAS_STATUS_SUCCESS && results.empty())
    status = CUBLAS_STATUS_NOT_SUPPORTED;
  return finish(status, "cublasLtMatmulAlgoGetHeuristic");
}

inline Status
GemmPlan::propose(const GemmLibrary &library, Epilogue what, int count,
                  std::vector<cublasLtMatmulHeuristicResult_t> &results) {
  AMP_RETURN_IF_ERROR(describeTo(library, what));
  return ask(library, count, results);
}

inline Status GemmPlan::create(GemmLibrary &library, int count) {
  // The library reports a missing epilogue by various errors. Any error
  // therefore leads to the next choice. Without an epilogue it is returned.
  for (Epilogue choice = config.epilogue;; choice = simplerEpilogue(choice)) {
    std::vector<cublasLtMatmulHeuristicResult_t> results;
    Status status = propose(library, choice, count, results);
    bool passes = false;
    if (status.isOk()) {
      algorithm = results.front().algo;
      if (passesNaN(library, &passes).isOk() && passes)
        return Status();
    }
    if (choice == Epilogue::None)
      return status.getCode() != kUnsupported
                 ? status
                 : makeError(kUnsupported, "cuBLASLt has no algorithm for %s",
                             describe().c_str());
  }
}

inline Status GemmPlan::take(GemmLibrary &library, const GemmChoice &choice,
                             bool *taken) {
  *taken = false;
  Epilogue known = config.epilogue;
  while (known != choice.epilogue && known != Epilogue::None)
    known = simplerEpilogue(known);
  if (known != choice.epilogue)
    return Status();
  AMP_RETURN_IF_ERROR(describeTo(library, choice.epilogue));
  algorithm = choice.algorithm;
  int64_t bytes = 0;
  return accepts(library, &bytes) ? passesNaN(library, taken) : Status();
}

inline bool GemmPlan::accepts(const GemmLibrary &library,
                              int64_t *bytes) const {
  cublasLtMatmulHeuristicResult_t result = {};
  if (cublasLtMatmulAlgoCheck(library.handle, desc, a, b, c, d, &algorithm,
                              &result) != CUBLAS_STATUS_SUCCESS)
    return false;
  *bytes = int64_t(result.workspaceSize);
  return result.workspaceSize <= library.workspaceBytes;
}

inline std::string GemmPlan::describe() const {
  const GemmConfig &g = config;
  // The formats of 8-bit operands and how their products are added.
  std::string operands = typeName(g.typeA);
  if (hasFloat8(g)) {
    operands = g.float8A == Float8::E4M3 ? "e4m3" : "e5m2";
    operands += g.float8B == Float8::E4M3 ? ".e4m3" : ".e5m2";
    operands += g.fastAccumulation ? "-fast" : "";
    if (g.scalesA != Float8Scale::Tensor)
      operands += "-scales" + std::to_string(toScaleMode(g.scalesA)) + "." +
                  std::to_string(toScaleMode(g.scalesB));
  }
  char text[384];
  std::snprintf(
      text, sizeof(text),
      "%lldx%lldx%lld%s%s-%s-%s%s-e%d-b%lld-%s-s%lld.%lld.%lld.%lld.%lld"
      "-m%lld.%lld.%lld.%lld",
      (long long)g.m, (long long)g.n, (long long)g.k, g.transposeA ? "-ta" : "",
      g.transposeB ? "-tb" : "", operands.c_str(), typeName(g.typeD),
      g.compute == GemmCompute::TF32 ? "-tf32" : "", int(g.epilogue),
      (long long)g.batch, g.beta != 0 ? "c" : "n", (long long)stridesA().row,
      (long long)stridesB().row, (long long)stridesC().row,
      (long long)stridesD().row, (long long)g.strideAux,
      (long long)stridesA().matrix, (long long)stridesB().matrix,
      (long long)stridesC().matrix, (long long)stridesD().matrix);
  return text;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMMPLAN_H
