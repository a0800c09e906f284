//===- KernelRates.h - Rates that real kernels reach ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the rates of GPUModels.h that kernels reach. The estimate of the
// cost report is made of them. Only two were measured, on an H200: a copy on
// the device, and a product of 8192x8192 bf16 matrices of random numbers. Rates
// of collectives are published. The others are assumptions from these two,
// until the table of --profile of a run on a GPU replaces them. An assumption
// holds for every GPU alike.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_KERNELRATES_H
#define AMP_RUNTIME_HOST_KERNELRATES_H

namespace amphost {

/// Bytes per second, as parts of the bandwidth of the data sheet.
namespace bandwidthPart {
/// Measured on an H200: 4.3 of 4.8 TB/s, read and written. No kernel is faster.
inline constexpr double copy = 4.3 / 4.8;
/// Assumed: kernels over elements and rows, with other reads than a copy.
inline constexpr double elementwise = 4.1 / 4.8;
/// Assumed: kernels that read single elements at computed places, such as
/// transposes, slices and pads.
inline constexpr double gather = 2.3 / 4.8;
/// Assumed: gradients of layer norms, which also sum over rows, and batches of
/// small products.
inline constexpr double mixed = 3.6 / 4.8;
/// Assumed: batch norms, which pass over their input twice.
inline constexpr double batchNorm = 3.3 / 4.8;
} // namespace bandwidthPart

/// Operations per second, as parts of the rate of the tensor cores.
namespace productPart {
/// Measured on an H200, as above: 788 of 989 TFLOP/s. No product is faster.
inline constexpr double large = 788 / 989.4;
/// Assumed: the products of a network.
inline constexpr double layer = 680 / 989.4;
/// Assumed: gradients of weights, which sum over the batch.
inline constexpr double weightGrad = 620 / 989.4;
} // namespace productPart

/// Collectives of NCCL, from published measurements of nccl-tests and answers
/// of the authors of NCCL. docs/data-parallel.md compares estimates with them.
namespace collectives {
/// Bytes per second of a ring, as parts of NVLink and of a network card. Rings
/// reach 365 to 370 of 450 GB/s (NVIDIA/nccl#1455, H100) and 230 of 300 GB/s
/// (NVIDIA/nccl-tests#149, A100), and 24 of 25 GB/s of a card
/// (NVIDIA/nccl-tests#119).
inline constexpr double linkPart = 0.8, networkPart = 0.96;
/// The bytes per second that all-reduces of a node reach if the switches add,
/// as a part of NVLink. This needs compute capability 9.0 and pays for more
/// than 4 GPUs: 8 GPUs take 31.4 ms for 8 GiB (NVIDIA/nccl-tests#347).
inline constexpr double switchPart = 0.61;
inline constexpr int switchCapability = 90;
/// The time that such an all-reduce takes longer than a ring to start: 256 MiB
/// reach 250 GB/s instead of 274 (NVIDIA/nccl-tests#212).
inline constexpr double switchSeconds = 60e-6;
/// Seconds of a start, and of each level of a tree within a node. An all-reduce
/// of few bytes takes 10.1 us for 2 GPUs (NVIDIA/nccl#583) and 12.5 us for 8
/// (deepseek-ai/DeepEP#303).
inline constexpr double startSeconds = 8.9e-6, linkSeconds = 0.6e-6;
/// Seconds of a start between nodes, and of each level of a tree of nodes. An
/// all-reduce of few bytes takes 46 us for 2 nodes (NVIDIA/nccl#1244) and 62 us
/// for 16 (NVIDIA/nccl#1469).
inline constexpr double networkStartSeconds = 28.6e-6, networkSeconds = 2.6e-6;
} // namespace collectives

/// Assumed: the time between two nodes of a graph, in seconds.
inline constexpr double kNodeSeconds = 1.8e-6;

/// 32-bit integer operations per f32 operation of the data sheet. A
/// multiprocessor of an A100 or later has 64 lanes for integers and 128, with
/// two operations each, for f32 (CUDA C++ Programming Guide, throughput of
/// arithmetic instructions; an A100 has 64 for f32).
inline constexpr double kIntegerPart = 0.25;
/// Assumed: integer operations of a division by a number that is not constant.
inline constexpr double kDivisionOperations = 20;
/// Divisions that find the place of a pack of elements in a patch.
inline constexpr double kPatchDivisions = 6;

/// By how much sums of such estimates were too low where they could be compared
/// with published times of whole steps: 5 to 8 %.
inline constexpr double kEstimateError = 0.08;

} // namespace amphost

#endif // AMP_RUNTIME_HOST_KERNELRATES_H
