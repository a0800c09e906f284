//===- Angles.h - Values that periodic functions read -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rounded angle is wrong by a part of its size, and a periodic function of a
// large angle is then any number. So the angles of positions, times and
// coordinates are computed in f32: from the operand of the function back
// through factors, movements, and products that add nothing.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_ASSIGNMENT_ANGLES_H
#define AMP_LIB_PRECISION_ASSIGNMENT_ANGLES_H

#include "amp/Precision/Assignment/SlotGraph.h"

namespace mlir::amp {

/// Returns the slots of `graph` that compute angles, each with the slot of the
/// periodic function that reads them. Functions count whose slot `isWide`.
SmallVector<std::pair<VertexId, VertexId>>
findAngles(const SlotGraph &graph, llvm::function_ref<bool(VertexId)> isWide);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_ASSIGNMENT_ANGLES_H
