//===- CPUPipeline.cpp - From a step to code for the CPU ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Pipelines/CPUPipeline.h"

#include "amp/CodeGen/Passes.h"
#include "amp/Conversion/Passes.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/Replication/Passes.h"
#include "amp/Support/OptionText.h"
#include "amp/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::amp;

/// Adds the passes from the dialects of training graphs to linalg on tensors.
static void addTensorPasses(OpPassManager &pm,
                            const CPUPipelineOptions &options) {
  pm.addPass(createCheckSymbolTables());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  SetRanksPassOptions ranks;
  ranks.ranks = options.ranks;
  ranks.rank = options.rank;
  pm.addPass(createSetRanksPass(ranks));
  pm.addPass(train::createTrainDecompose());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createConvertTrainToLinalg());
  pm.addPass(createConvertAMPToLinalg());
  // Lower operations of other dialects on tensors.
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createLinalgGeneralizeNamedOpsPass());
  // No CSE from here on: destinations of equal contents must stay distinct, or
  // all but the last would have to be copied.
  pm.addPass(createFuseElementwise());
  pm.addPass(createCanonicalizerPass());
}

/// Adds the passes from tensors to buffers that are allocated and freed.
static void addBufferPasses(OpPassManager &pm) {
  pm.addPass(createLowerStep());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  bufferization::buildBufferDeallocationPipeline(pm);
  // Up to here every buffer is freed at the end.
  pm.addNestedPass<func::FuncOp>(
      bufferization::createOptimizeAllocationLivenessPass());
  pm.addPass(createCSEPass());
}

void mlir::amp::buildLoopsToLLVMPipeline(OpPassManager &pm,
                                         const CPUPipelineOptions &options) {
  // Arithmetic in f16 and bf16, if a foreign step has it, computes in f32. The
  // conversion from f32 to bf16 is integer arithmetic because the instructions
  // for it flush subnormals.
  arith::ArithEmulateUnsupportedFloatsOptions floats;
  floats.sourceTypeStrs = {"f16", "bf16"};
  pm.addPass(math::createMathExtendToSupportedTypes());
  pm.addPass(arith::createArithEmulateUnsupportedFloats(floats));
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(createMathToCalls());
  // The conversion of vectors to LLVM does not lower reads of elements that are
  // not contiguous.
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  ConvertMathToLLVMPassOptions math;
  math.approximateLog1p = false;
  pm.addPass(createConvertMathToLLVMPass(math));
  pm.addPass(createConvertVectorToLLVMPass());
  // With malloc and manual alignment LLVM would not see that buffers differ.
  FinalizeMemRefToLLVMConversionPassOptions memref;
  memref.useAlignedAlloc = true;
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(memref));
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  if (options.threads > 1)
    pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createFinishLLVM());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mlir::amp::buildCPUPipeline(OpPassManager &pm,
                                 const CPUPipelineOptions &options) {
  addTensorPasses(pm, options);
  addBufferPasses(pm);
  pm.addPass(createCopiesToLoops());
  pm.addPass(createPackContractions());
  pm.addPass(createOutlineKernels());
  DivideKernelsOptions division;
  division.threads = options.threads;
  pm.addPass(createDivideKernels(division));
  VectorizeContractionsOptions contractions;
  contractions.vectorBits = options.vectorBits;
  pm.addPass(createVectorizeContractions(contractions));
  pm.addPass(createConvertLinalgToLoopsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (options.toLLVM)
    buildLoopsToLLVMPipeline(pm, options);
}

void mlir::amp::registerCPUPipeline() {
  registerPipeline<CPUPipelineOptions>(
      "amp-cpu-pipeline",
      "Lowers step functions with static shapes to the LLVM dialect",
      buildCPUPipeline);
}
