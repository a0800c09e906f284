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
#include <string>
#include <vector>

namespace amp::cuda {

/// Checks `config` without calling the library.
inline Status verifyGemm(const GemmConfig &config) {
  std::string fault = findGemmFault(config);
  return fault.empty() ? Status() : Status(kInvalidArgument, fault);
}

struct GemmOptions {
  /// Candidates asked of the heuristic; the first is taken unless tuned.
  int candidates = 8;
  /// Times the candidates on random data and takes the fastest.
  bool tune = false;
  /// Text file with chosen algorithms, by device, library version and
  /// product; read if it exists, rewritten after tuning. Empty: none.
  std::string cachePath;
};

inline cudaDataType_t toCudaType(Type type) {
  return type == Type::F16    ? CUDA_R_16F
         : type == Type::BF16 ? CUDA_R_16BF
                              : CUDA_R_32F;
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

/// Descriptors and algorithm of one product.
struct GemmPlan {
  GemmConfig config;
  /// What the library does, and whether kernels do the rest.
  Epilogue epilogue = Epilogue::None;
  bool post = false;
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

  inline Status create(const GemmLibrary &library, const GemmConfig &from,
                       int count, bool avoidRelu,
                       std::vector<cublasLtMatmulHeuristicResult_t> &results);
  inline Status describeTo(const GemmLibrary &library, Epilogue what);
  inline Status ask(const GemmLibrary &library, int count,
                    std::vector<cublasLtMatmulHeuristicResult_t> &results);
  /// Whether the library takes `algorithm` for this product.
  inline bool accepts(const GemmLibrary &library) const;
  inline Status run(const GemmLibrary &library, const GemmBuffers &buffers,
                    cudaStream_t stream) const;
  inline Status runProduct(const GemmLibrary &library,
                           const GemmBuffers &buffers, cudaStream_t stream,
                           const cublasLtMatmulAlgo_t &algo) const;
  inline Status runKernels(const GemmBuffers &buffers,
                           cudaStream_t stream) const;
  template <typename T>
  Status applyTo(const GemmBuffers &buffers, cudaStream_t stream) const;
  template <typename R, typename T>
  Status sumBias(const GemmBuffers &buffers, cudaStream_t stream) const;
  /// All that the choice of an algorithm depends on.
  inline std::string describe() const;
};

/// The handle and the workspace.
struct GemmLibrary {
  cublasLtHandle_t handle = nullptr;
  void *workspace = nullptr;
  size_t workspaceBytes = 0;
  std::string device;
  /// By element type, once asked: whether relu turns NaN into 0.
  int dropsNaN[3] = {-1, -1, -1};

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
    std::replace(device.begin(), device.end(), ' ', '_');
    AMP_CUDA_CALL(cublasLtCreate(&handle));
    return Status();
  }

  std::string describe() const {
    return device + " " + std::to_string(cublasLtGetVersion());
  }

  /// Multiplies NaN by 1 with a relu in the workspace and looks. For use at
  /// creation.
  inline Status reluDropsNaN(Type type, bool *drops);
};

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

inline Status makeLayout(cublasLtMatrixLayout_t *layout, Type type,
                         const GemmPlan::Strides &s, int64_t batch) {
  // A row-major matrix is the transposed column-major one.
  AMP_CUDA_CALL(cublasLtMatrixLayoutCreate(layout, toCudaType(type), s.columns,
                                           s.rows, s.row));
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
  // The library refuses an epilogue whose pointers are null, and takes their
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
  // The type of aux stays unset, which is that of D: setting it is for FP8, and
  // before CUDA 12.8 an error else.
  if (usesAux(what)) {
    AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
        desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &g.strideAux,
        sizeof(g.strideAux)));
    AMP_CUDA_CALL(cublasLtMatmulDescSetAttribute(
        desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aligned,
        sizeof(aligned)));
  }
  AMP_RETURN_IF_ERROR(makeLayout(&a, g.typeB, stridesB(), g.batch));
  AMP_RETURN_IF_ERROR(makeLayout(&b, g.typeA, stridesA(), g.batch));
  AMP_RETURN_IF_ERROR(makeLayout(&c, g.typeD, stridesC(), g.batch));
  return makeLayout(&d, g.typeD, stridesD(), g.batch);
}

/// Asks the heuristic for algorithms. None is an error with code kUnsupported.
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
  // Partial sums in a 16-bit type of the result, in the workspace or in place,
  // would be rounded once too often.
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
  // Groups of a convolution begin in the middle of rows.
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
  results.resize(found);
  if (status == CUBLAS_STATUS_SUCCESS && found == 0)
    status = CUBLAS_STATUS_NOT_SUPPORTED;
  return finish(status, "cublasLtMatmulAlgoGetHeuristic");
}

/// Plans the product with its epilogue, or with what is possible of it.
inline Status
GemmPlan::create(const GemmLibrary &library, const GemmConfig &from, int count,
                 bool avoidRelu,
                 std::vector<cublasLtMatmulHeuristicResult_t> &results) {
  config = from;
  const Epilogue choices[] = {config.epilogue,
                              addsBias(config.epilogue) ? Epilogue::Bias
                                                        : Epilogue::None,
                              Epilogue::None};
  for (Epilogue choice : choices) {
    if (avoidRelu && isRelu(choice))
      continue;
    AMP_RETURN_IF_ERROR(describeTo(library, choice));
    post = choice != config.epilogue;
    Status status = ask(library, count, results);
    if (status.getCode() != kUnsupported)
      return status;
  }
  return makeError(kUnsupported, "cuBLASLt has no algorithm for %s",
                   describe().c_str());
}

inline bool GemmPlan::accepts(const GemmLibrary &library) const {
  cublasLtMatmulHeuristicResult_t result = {};
  return cublasLtMatmulAlgoCheck(library.handle, desc, a, b, c, d, &algorithm,
                                 &result) == CUBLAS_STATUS_SUCCESS &&
         result.workspaceSize <= library.workspaceBytes;
}

inline std::string GemmPlan::describe() const {
  const GemmConfig &g = config;
  char text[256];
  std::snprintf(
      text, sizeof(text),
      "%lldx%lldx%lld%s%s-%s-%s%s-e%d-b%lld-%s-s%lld.%lld.%lld.%lld.%lld",
      (long long)g.m, (long long)g.n, (long long)g.k, g.transposeA ? "-ta" : "",
      g.transposeB ? "-tb" : "", typeName(g.typeA), typeName(g.typeD),
      g.compute == GemmCompute::TF32 ? "-tf32" : "", int(epilogue),
      (long long)g.batch, g.beta != 0 ? "c" : "n", (long long)stridesA().row,
      (long long)stridesB().row, (long long)stridesC().row,
      (long long)stridesD().row, (long long)g.strideAux);
  return text;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

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
      (usesAux(wanted) && !buffers.aux))
    return makeError(kInvalidArgument, "product '%s' lacks a buffer",
                     config.name);
  AMP_RETURN_IF_ERROR(runProduct(library, buffers, stream, algorithm));
  return post ? runKernels(buffers, stream) : Status();
}

/// The activation or its gradient, and the bias if the library did not add it.
template <typename T>
Status GemmPlan::applyTo(const GemmBuffers &buffers,
                         cudaStream_t stream) const {
  const T *bias = addsBias(config.epilogue) && epilogue == Epilogue::None
                      ? static_cast<const T *>(buffers.bias)
                      : nullptr;
  int64_t count = config.m * ceilDiv(config.n, 8);
  return launch(config.name, stream, elementwiseShape(count, 1),
                applyEpilogue<T>, static_cast<T *>(buffers.d), config.m,
                config.n, stridesD().row, bias, buffers.aux, config.strideAux,
                config.epilogue);
}

/// The bias gradient: sums over rows of D, or over k of an operand.
template <typename R, typename T>
Status GemmPlan::sumBias(const GemmBuffers &buffers,
                         cudaStream_t stream) const {
  auto *out = static_cast<R *>(buffers.biasGrad);
  auto sum = [&](const auto *in, int64_t lines, int64_t length,
                 int64_t lineStride, int64_t step) {
    using Element = std::remove_const_t<std::remove_pointer_t<decltype(in)>>;
    return launch(config.name, stream, rowShape<32>(lines),
                  sumLines<R, Element>, out, in, lines, length, lineStride,
                  step);
  };
  const GemmConfig &g = config;
  if (g.epilogue == Epilogue::BiasGradA)
    return sum(static_cast<const T *>(buffers.a), g.m, g.k,
               g.transposeA ? 1 : stridesA().row,
               g.transposeA ? stridesA().row : 1);
  if (g.epilogue == Epilogue::BiasGradB)
    return sum(static_cast<const T *>(buffers.b), g.n, g.k,
               g.transposeB ? stridesB().row : 1,
               g.transposeB ? 1 : stridesB().row);
  return sum(static_cast<const R *>(buffers.d), g.n, g.m, 1, stridesD().row);
}

inline Status GemmPlan::runKernels(const GemmBuffers &buffers,
                                   cudaStream_t stream) const {
  Epilogue e = config.epilogue;
  if (e != Epilogue::BiasGradA && e != Epilogue::BiasGradB)
    AMP_RETURN_IF_ERROR(dispatchFloat(config.typeD, [&](auto *type) {
      return applyTo<std::remove_pointer_t<decltype(type)>>(buffers, stream);
    }));
  if (!writesBiasGrad(e))
    return Status();
  return dispatchFloat(config.typeD, [&](auto *result) {
    return dispatchFloat(config.typeA, [&](auto *operand) {
      return sumBias<std::remove_pointer_t<decltype(result)>,
                     std::remove_pointer_t<decltype(operand)>>(buffers, stream);
    });
  });
}

inline Status GemmLibrary::reluDropsNaN(Type type, bool *drops) {
  int &known = dropsNaN[type == Type::F16 ? 0 : type == Type::BF16 ? 1 : 2];
  if (known < 0) {
    constexpr int64_t n = 64;
    int64_t bytes = n * n * byteWidth(type);
    // Three matrices of NaN at the end of the workspace, if there is room.
    if (int64_t(workspaceBytes) < 4 * bytes) {
      *drops = true;
      return Status();
    }
    GemmConfig config;
    config.name = "NaN probe";
    config.m = config.n = config.k = n;
    config.typeA = config.typeB = config.typeD = type;
    config.epilogue = Epilogue::Relu;
    GemmLibrary reduced;
    reduced.workspace = workspace;
    reduced.workspaceBytes = 0;
    AMP_RETURN_IF_ERROR(reduced.create());
    GemmPlan plan;
    std::vector<cublasLtMatmulHeuristicResult_t> candidates;
    AMP_RETURN_IF_ERROR(
        plan.create(reduced, config, 1, /*avoidRelu=*/false, candidates));
    auto *base = static_cast<unsigned char *>(workspace);
    AMP_CUDA_CALL(cudaMemset(base, 0xff, 3 * bytes));
    GemmBuffers buffers;
    buffers.a = base;
    buffers.b = base + bytes;
    buffers.d = base + 2 * bytes;
    AMP_RETURN_IF_ERROR(
        plan.runProduct(reduced, buffers, nullptr, candidates.front().algo));
    unsigned char result[4] = {};
    AMP_CUDA_CALL(
        cudaMemcpy(result, buffers.d, byteWidth(type), cudaMemcpyDeviceToHost));
    // NaN has an exponent of ones, 0 has none: look at the leading bits.
    known = (result[byteWidth(type) - 1] & 0x7c) != 0x7c;
  }
  *drops = known != 0;
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_GEMMPLAN_H
