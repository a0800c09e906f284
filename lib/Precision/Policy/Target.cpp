//===- Target.cpp - What low precision gains on a machine -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy/Target.h"

#include "amp/Runtime/Host/GPUModels.h"

using namespace mlir;
using namespace mlir::amp;

std::string mlir::amp::listTargets() { return amphost::listGPUTargets(); }

std::optional<GPURates> mlir::amp::getGPURates(StringRef name) {
  const amphost::GPUModel *model = amphost::findGPUTarget(name);
  if (!model)
    return std::nullopt;
  return GPURates{model->capability, model->half, model->getFloat8Rate(),
                  model->bandwidth};
}

std::optional<Target> mlir::amp::getTarget(StringRef name) {
  const amphost::GPUModel *model = amphost::findGPUTarget(name);
  if (!model)
    return std::nullopt;
  Target target;
  target.name = name.str();
  target.lowFlopPerByte = model->half / model->bandwidth;
  target.f32FlopPerByte = model->f32 / model->bandwidth;
  return target;
}
