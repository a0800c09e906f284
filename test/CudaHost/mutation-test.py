# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# REQUIRES: long
# RUN: %python %s %amp_src_root %t.dir '%plain_cuda_host_cxx' '%plain_cuda_host_lib'
"""Usage: mutation-test.py <source root> <scratch folder> <compile> <library>

A mutation test: makes one mistake at a time in a copy of the runtime headers; the test that its
entry names must then fail. A mistake that no test sees is a hole in the tests.
"""

import pathlib
import shlex
import shutil
import subprocess
import sys

MUTATIONS = [
    # header, text, replacement, test
    ("Reduce.h", "  __syncthreads();\n  value = shared[0];", "  value = shared[0];", "Kernels"),
    ("Reduce.h", "    __threadfence();\n    *shared", "    *shared", "Kernels"),
    ("Reduce.h", "for (unsigned part = threadIdx.x;", "for (unsigned part = threadIdx.x + 1;", "Kernels"),
    ("Elementwise.h", "for (int64_t i = packs * Width + thread;", "for (int64_t i = count;", "Kernels"),
    ("GemmPlan.h", "transA = g.transposeB", "transA = g.transposeA", "Gemm"),
    ("GemmPlan.h", "s.columns, s.rows, s.row)", "s.columns, s.rows, s.columns)", "Gemm"),
    ("GemmPlan.h", "s.columns, s.rows, s.row)", "s.rows, s.columns, s.row)", "Gemm"),
    ("GemmPlan.h", "? library.workspace\n", "? nullptr\n", "Gemm"),
    ("GemmPlan.h", "reinterpret_cast<void *>(kBufferAlignment)", "nullptr", "GemmPlan"),
    ("GemmPlan.h", "  if (addsBias(what) || writesBiasGrad(what)) {", "  {", "Gemm"),
    ("GemmPlan.h", "CUBLASLT_REDUCTION_SCHEME_INPLACE)", "0)", "Gemm"),
    ("GemmPlan.h", "return result.state != CUBLAS_STATUS_SUCCESS;", "return false;", "GemmPlan"),
    ("GemmPlan.h", "    if (choice == Epilogue::None)\n", "    if (status.getCode() != kUnsupported || choice == Epilogue::None)\n", "GemmPlan"),
    ("GemmConfig.h", "writesBiasGrad(e) ? activationOf(e) : Epilogue::None", "Epilogue::None", "GemmPlan"),
    ("GemmRun.h", "*passes = *passes && (bits & 0x7c) == 0x7c;", "", "GemmPlan"),
    ("GemmRun.h", "epilogue == activation ? Epilogue::None : activation", "activation", "Gemm"),
    ("GemmTune.h", "if (!(time < best))", "if (best < INFINITY)", "GemmPlan"),
    ("GemmTune.h", "if (passes) {", "{", "GemmPlan"),
    ("GemmEpilogue.h", "cudaMemsetAsync(arrivalCounters, 0, kArrivalCounterBytes", "cudaMemsetAsync(arrivalCounters, 0, 4", "GemmEpilogue"),
    ("GemmEpilogue.h", "bits >> (column % 8 + i)", "bits >> i", "GemmEpilogue"),
    ("GemmEpilogue.h", "return columns % 8 == 0 && stride % 8 == 0", "return columns % 8 == 0", "GemmEpilogue"),
    ("Optimizer.h", "result.norm = sqrtf(float(total.squares))", "result.norm = float(total.squares)", "Optimizer"),
    ("Optimizer.h", "float(1.0 / double(loadOne(scale)))", "state->inverseScale", "Optimizer"),
    ("Optimizer.h", "total.nonFinite |= !isFinite(gradient[lane])", "total.nonFinite |= 0u", "Optimizer"),
    ("Optimizer.h", "  if (!guarded(guard))\n    return;\n", "", "Optimizer"),
    ("StepState.h", "steps >= config.growthInterval", "steps > config.growthInterval", "Optimizer"),
    ("CrossEntropy.h", "loadOne(lossGrad) / float(rows)", "loadOne(lossGrad)", "CrossEntropy"),
    ("Rows.h", "    __syncthreads(); // the last result has been read\n", "", "Softmax"),
    ("Elementwise.h", "      values[lane] += more[lane];\n", "      ;\n", "Norm"),
    ("Norm.h", "(outer - sample * rows.heads) * rows.head", "outer * rows.head", "Norm"),
    ("Rows.h", "    if (rows % (32 / threads) == 0)\n", "", "Norm"),
    ("BatchNorm.h", "squares / (count - 1.0)", "squares / count", "Norm"),
    ("BatchNorm.h", "a[lane] - s.center[lane]", "a[lane]", "Norm"),
    ("BatchNorm.h", "    coefficients = read(channel);\n", "", "Norm"),
    ("Pool.h", "(at - window) / stride + 1", "(at - window) / stride", "Pool"),
    ("Conv.h", "if (++c < s.perGroup)", "if (++c <= s.perGroup)", "Conv"),
    ("Elementwise.h", "body(first + image, i - image * size)", "body(image, i - image * size)", "Kernels"),
    ("Reduce.h", "teams != 0 ? kColumnTeam : 1)", "1)", "Kernels"),
    ("Conv.h", "config.transposeB = true", "config.transposeB = false", "Conv"),
    ("Random.h", "uint64_t(seed) ^ key", "uint64_t(seed)", "Pool"),
    ("Documents.h", "begin = entry > begin ? entry : begin", "begin = entry", "Documents"),
    ("Documents.h", "columns = (count + 2) / 2 * 2", "columns = count + 1", "Documents"),
    ("ScatterAdd.h", "      __syncthreads(); // the last", "      // the last", "ScatterAdd"),
    ("SortedScatterAdd.h", "chunk == first, column", "false, column", "ScatterAdd"),
    ("SortedScatterAdd.h", "begin == 0 || ", "", "ScatterAdd"),
    ("SortedScatterAdd.h", "          hasBegun = true;\n", "", "ScatterAdd"),
    ("SortedScatterAdd.h", "while (extent >> bits)", "while (extent >> (bits + 1))", "ScatterAdd"),
    ("Quantize.h", "codes[(first + lane) * kQuantizePitch + line]", "codes[line * kQuantizePitch + first + lane]", "Quantize"),
    ("Quantize.h", "  __syncthreads(); // the last tile has been read\n", "", "Quantize"),
    ("Quantize.h", "config.saturate && !isKept", "config.saturate", "Quantize"),
    ("QuantizedNorm.h", "widen(roundTo<Y>(values[lane]))", "values[lane]", "QuantizedNorm"),
    ("QuantizedNorm.h", "codes[(first + lane) * pitch + column]", "codes[lane * pitch + column]", "QuantizedNorm"),
    ("QuantizedNorm.h", "    __syncthreads(); // the codes have been read\n", "", "QuantizedNorm"),
    ("QuantizedNorm.h", "if (begin + first >= paddedRows)", "if (begin >= paddedRows)", "QuantizedNorm"),
    ("QuantizedNorm.h", "amax = maximum(amax, fabsf(value));", "amax = fabsf(value);", "QuantizedNorm"),
    ("QuantizedBlocks.h", "    __syncthreads(); // the scales and codes of the last tile have been read\n", "", "QuantizedBlocks"),
    ("QuantizedBlocks.h", "most = maximum(most, shuffleXor(most, 4));", "", "QuantizedBlocks"),
    ("QuantizedBlocks.h", "most = maximum(most, shuffleXor(most, 16));", "", "QuantizedBlocks"),
    ("QuantizedBlocks.h", "isInside ? 1.0f / scale : 0.0f", "1.0f / scale", "QuantizedBlocks"),
    ("QuantizedBlocks.h", "for (int64_t next = at + 1; next < columns; ++next)", "for (int64_t next = at + 1; next < at; ++next)", "QuantizedBlocks"),
    ("QuantizedBlocks.h", "codes[(first + lane) * kBlockPitch + across]", "codes[lane * kBlockPitch + across]", "QuantizedBlocks"),
    ("QuantizedBlocks.h", "return rule.ignoreNonFinite ? 1.0f : NAN;", "return NAN;", "QuantizedBlocks"),
    ("QuantizedBlocks.h", "maximum(amax, rule.epsilon)", "amax", "QuantizedBlocks"),
    ("QuantizedBlocks.h", "const int64_t begin = isInside ? config.columns : 0;", "const int64_t begin = config.columns;", "QuantizedBlocks"),
    ("QuantizedOptimizer.h", "if (of != copies)\n      finish();", "", "QuantizedOptimizer"),
    ("QuantizedOptimizer.h", "      if (updates)\n        forEachInChunk", "      forEachInChunk", "QuantizedOptimizer"),
    ("QuantizedOptimizer.h", "    __syncthreads(); // the last magnitude has been read\n", "", "QuantizedOptimizer"),
    ("QuantizedOptimizer.h", "+ tiles == all", "+ tiles != all", "QuantizedOptimizer"),
    ("QuantizedOptimizer.h", "        atomicCAS(&copies->most, bits, 0u);\n", "", "QuantizedOptimizer"),
    ("QuantizedOptimizer.h", "Lanes<8>{at.index + 8}", "Lanes<8>{at.index}", "QuantizedOptimizer"),
    ("Optimizer.h", "uint32_t(upper[lane]) << 16);\n    return values;", "uint32_t(upper[lane]) << 16 | 1);\n    return values;", "QuantizedOptimizer"),
    ("Quantize.h", "loadOne(history + i - 1)", "loadOne(history + i)", "Quantize"),
    ("GemmPlan.h", "g.typeB, g.float8B", "g.typeA, g.float8A", "GemmFloat8"),
    ("ProgramRun.h", "options.ranks || i + 1 == steps ? last : Reader::Training;", "Reader::Training;", "Program"),
    ("Staging.h", "    AMP_CUDA_CALL(cudaEventSynchronize(buffers[next].copied));\n", "", "Program"),
    ("ProgramRun.h", "  DeviceScope scope(options.device);\n  AMP_RETURN_IF_ERROR(slots.begin", "  AMP_RETURN_IF_ERROR(slots.begin", "Program"),
]

root, folder = map(pathlib.Path, sys.argv[1:3])
compile_command, library = map(shlex.split, sys.argv[3:])
tests = root / "test" / "CudaHost"
headers = folder / "include" / "amp" / "Runtime" / "CUDA"
unseen = []
for number, (header, old, new, test) in enumerate(MUTATIONS):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / "include" / "amp" / "Runtime" / "CUDA", headers)
    text = (headers / header).read_text()
    if old not in text:
        sys.exit(f"{header} has no text '{old}' to change")
    (headers / header).write_text(text.replace(old, new, 1))
    # The copy comes first on the path.
    command = compile_command[:1] + [f"-I{folder / 'include'}", "-Wno-unused"] + compile_command[1:]
    program = folder / "test"
    subprocess.run(
        command + [tests / f"{test}.cu"] + library + ["-o", program], check=True
    )
    try:
        result = subprocess.run([program, folder / "scratch"], capture_output=True, timeout=60)
        seen = result.returncode != 0
    except subprocess.TimeoutExpired:
        seen = True
    print(f"{number + 1}/{len(MUTATIONS)} {header} ({test}): {'seen' if seen else 'NOT SEEN'}")
    if not seen:
        unseen.append(f"{header}: '{old}' -> '{new}', by {test}.cu")
if unseen:
    sys.exit("mistakes that no test sees:\n" + "\n".join(unseen))
