//===- QuantizerProof.h - Proof that histories are kept right ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The proof that each step enters the magnitude of a tensor once into the
// history of its quantiser, after all uses of the scale, and that the history
// belongs to the tensor which the scale multiplies.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_QUANTIZERPROOF_H
#define AMP_LOSSSCALING_QUANTIZERPROOF_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

/// Returns failure, after errors, if `function`, a step, does not keep the
/// state of its quantisers:
///
///  - an update reads state of role `quantizer_state`, in the body of the step,
///    and is the only one that reads it,
///  - its results only replace this state,
///  - the scale multiplies only the tensors whose magnitude it uses,
///  - each state of this role has an update, or stays as it is.
LogicalResult checkQuantizers(FunctionOpInterface function);

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_QUANTIZERPROOF_H
