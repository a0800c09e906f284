//===- InitialValue.cpp - amp.init for the host runtime -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/InitialValue.h"

#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;
using ::amphost::InitInfo;

static InitInfo::Kind convertKind(InitKind kind) {
  switch (kind) {
  case InitKind::Zeros:
    return InitInfo::Kind::Zeros;
  case InitKind::Ones:
    return InitInfo::Kind::Ones;
  case InitKind::Constant:
    return InitInfo::Kind::Constant;
  case InitKind::Normal:
    return InitInfo::Kind::Normal;
  case InitKind::Uniform:
    return InitInfo::Kind::Uniform;
  case InitKind::KaimingUniform:
    return InitInfo::Kind::KaimingUniform;
  case InitKind::KaimingNormal:
    return InitInfo::Kind::KaimingNormal;
  case InitKind::XavierUniform:
    return InitInfo::Kind::XavierUniform;
  case InitKind::XavierNormal:
    return InitInfo::Kind::XavierNormal;
  case InitKind::CopyOf:
    return InitInfo::Kind::CopyOf;
  case InitKind::RngState:
    return InitInfo::Kind::RngState;
  }
  llvm_unreachable("unknown kind of initial value");
}

InitInfo mlir::amp::getInitialValue(InitAttr init, StringRef name) {
  InitInfo info;
  info.kind = convertKind(init.getKind());
  info.stream = llvm::xxh3_64bits(name);
  if (init.getSeed()) {
    info.hasSeed = true;
    info.seed = uint64_t(init.getSeed().getInt());
  }
  std::optional<double> value;
  if (init.getValue())
    value = init.getValue().getValueAsDouble();
  switch (init.getKind()) {
  case InitKind::Constant:
    info.first = *value;
    break;
  case InitKind::Normal:
    info.second = *value;
    break;
  case InitKind::Uniform:
    info.first = -*value;
    info.second = *value;
    break;
  case InitKind::KaimingUniform:
  case InitKind::KaimingNormal:
    info.gain = value.value_or(std::sqrt(2.0));
    break;
  case InitKind::XavierUniform:
  case InitKind::XavierNormal:
    info.gain = value.value_or(1.0);
    break;
  default:
    break;
  }
  return info;
}
