//===- KernelRates.h - Rates that real kernels reach ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the rates of GPUModels.h that kernels reach. The estimate of the
// cost report is made of them. Only two were measured, on an H200: a copy on
// the device, and a product of 8192x8192 bf16 matrices of random numbers. The
// others are assumptions from these two, until the table of --profile of a run
// on a GPU replaces them. An assumption holds for every GPU alike.
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

/// Collectives of NCCL. All are assumed.
namespace collectives {
/// Bytes per second, as parts of NVLink and of the network card.
inline constexpr double linkPart = 0.8, networkPart = 0.9;
/// Seconds of a start, and of a message to a GPU of the node and of another
/// one.
inline constexpr double startSeconds = 10e-6, linkSeconds = 1.5e-6,
                        networkSeconds = 6e-6;
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
