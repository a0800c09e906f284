//===- GPUModels.h - Peak rates of GPUs -------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of peak rates. The choice of types, the cost report and the profile
// of a program read it.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_GPUMODELS_H
#define AMP_RUNTIME_HOST_GPUMODELS_H

#include <string>
#include <string_view>

namespace amphost {

/// A GPU model with its peak rates without sparsity, in operations per second,
/// where a multiply-add counts as two. The bandwidth is in bytes per second.
struct GPUModel {
  /// A part of the device name that the driver reports. It identifies the
  /// model.
  const char *device;
  /// The value of the option `target` that selects the model. Null if absent.
  const char *target;
  double f32;       ///< outside of tensor cores
  double tf32;      ///< on tensor cores
  double half;      ///< f16 and bf16 on tensor cores
  double bandwidth; ///< of the device's memory
  /// The compute capability of CUDA, ten times the major and the minor number.
  int capability = 90;
  /// Bytes per second that a GPU sends to the others of its node by NVLink, and
  /// at the same time receives. 0 for models without a switch for all GPUs.
  double link = 0;
  /// Bytes per second of the network card of a GPU, in each direction.
  double network = 0;

  /// The rate of 8-bit floats on tensor cores, or 0 without such products. The
  /// publications below give twice the rate of f16 for each model that has
  /// them.
  double getFloat8Rate() const { return capability >= 89 ? 2 * half : 0; }
};

/// Rates from NVIDIA's publications. If these give a rate with sparsity, the
/// rate here is half of it. A name that is part of another name comes after it.
inline constexpr GPUModel gpuModels[] = {
    // NVIDIA A100 Tensor Core GPU, data sheets of the models of 80 and 40 GB.
    {"A100 80GB PCIe", nullptr, 19.5e12, 156e12, 312e12, 1.935e12, 80},
    {"A100-PCIE-40GB", nullptr, 19.5e12, 156e12, 312e12, 1.555e12, 80},
    {"A100-SXM4-40GB", nullptr, 19.5e12, 156e12, 312e12, 1.555e12, 80},
    // SXM, 80 GB. NVLink has 600 GB/s in both directions together (data sheet).
    // A DGX A100 has a card of 200 Gb/s for each GPU (its data sheet).
    {"A100", "a100", 19.5e12, 156e12, 312e12, 2.039e12, 80, 300e9, 25e9},
    // NVIDIA H100 Tensor Core GPU, data sheet: with sparsity TF32 756 and 835,
    // FP16 1,513 and 1,671.
    {"H100 PCIe", nullptr, 51e12, 378e12, 756.5e12, 2.0e12},
    {"H100 NVL", nullptr, 60e12, 417.5e12, 835.5e12, 3.9e12},
    // NVIDIA H100 Tensor Core GPU Architecture, table of H100 SXM5. It has one
    // more digit than the data sheet (67, 989 and 1,979 with sparsity). The
    // data sheet gives the bandwidth, and the 900 GB/s of NVLink in both
    // directions. A DGX H100 has a card of 400 Gb/s for each GPU (its data
    // sheet).
    {"H100", "h100", 66.9e12, 494.7e12, 989.4e12, 3.35e12, 90, 450e9, 50e9},
    // NVIDIA H200 Tensor Core GPU, data sheet: with sparsity TF32 835, FP16
    // 1,671.
    {"H200 NVL", nullptr, 60e12, 417.5e12, 835.5e12, 4.8e12},
    // The bandwidth comes from the data sheet, and the rates from the H100,
    // which has the same chip.
    {"H200", "h200", 66.9e12, 494.7e12, 989.4e12, 4.8e12, 90, 450e9, 50e9},
    // NVIDIA Blackwell Architecture Technical Brief, table 3, HGX B200,
    // with 1.8 TB/s of NVLink in both directions. A DGX B200 has a card of
    // 400 Gb/s for each GPU (its data sheet).
    {"B200", "b200", 80e12, 1.1e15, 2.25e15, 8e12, 100, 900e9, 50e9},
};

/// Returns the model that the option value `target` names, or null.
inline const GPUModel *findGPUTarget(std::string_view target) {
  for (const GPUModel &model : gpuModels)
    if (model.target && target == model.target)
      return &model;
  return nullptr;
}

/// Returns the model of the GPU that the driver calls `name`, such as "NVIDIA
/// H100 80GB HBM3". Returns null for a part of a GPU and for an unknown GPU. A
/// GH200 is unknown because its memory differs from that of an H200.
inline const GPUModel *findGPUDevice(std::string_view name) {
  if (name.find(" MIG ") != std::string_view::npos)
    return nullptr;
  for (const GPUModel &model : gpuModels) {
    const size_t at = name.find(model.device);
    if (at != std::string_view::npos && (at == 0 || name[at - 1] == ' '))
      return &model;
  }
  return nullptr;
}

/// Returns the values of the option `target`, with `separator` between them.
inline std::string listGPUTargets(std::string_view separator = ", ") {
  std::string text;
  for (const GPUModel &model : gpuModels) {
    if (!model.target)
      continue;
    if (!text.empty())
      text += separator;
    text += model.target;
  }
  return text;
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_GPUMODELS_H
