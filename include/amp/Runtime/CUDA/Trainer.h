//===- Trainer.h - The main function of a trainer ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trainer with the options of amp-run, for programs emitted with --emit-main:
//
//   int main(int argc, char **argv) {
//     return amp::cuda::trainerMain(argc, argv, kProgram);
//   }
//
//   --data f.npz[,g.npz]  --train-prefix train_  --synthetic  --steps N
//   --epochs N  --set name=value  --init w.npz  --load s.npz  --save s.npz
//   --seed N  --metrics-csv f  --metrics-json f  --predict out.npz  --quiet
//   --no-graph  --tune  --tune-cache f  --profile  --poison  --device N
//
// Batches are drawn in the order of amp-run: the same seed gives the same data
// in the same steps. The batch size is that of the program.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_TRAINER_H
#define AMP_RUNTIME_CUDA_TRAINER_H

#include "amp/Runtime/CUDA/Program.h"

namespace amp::cuda {

/// Parses the options, trains and writes the results. Returns the exit status;
/// errors go to the standard error.
inline int trainerMain(int argc, char **argv, const ProgramInfo &info);

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_TRAINER_H
