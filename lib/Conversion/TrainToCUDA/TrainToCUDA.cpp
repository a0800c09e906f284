//===- TrainToCUDA.cpp - Training steps as launches over tensors ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "amp/Analysis/IndexBound.h"
#include "amp/CodeGen/Passes.h"
#include "amp/Conversion/Passes.h"
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/AMP/IR/Watched.h"
#include "amp/Dialect/Train/IR/Evaluation.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::amp {
#define GEN_PASS_DEF_CONVERTTRAINTOCUDA
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::cuda;

Location mlir::cuda::getNamedLocation(Operation *op) {
  return NameLoc::get(
      StringAttr::get(op->getContext(), op->getName().getStringRef()),
      op->getLoc());
}

void mlir::cuda::reportDecomposed(Operation *op, StringRef name,
                                  StringRef obstacle) {
  auto function = op->getParentOfType<func::FuncOp>();
  remark::missed(op->getLoc(),
                 remark::RemarkOpts::name(name).category("amp").function(
                     function.getName()))
      << remark::metric("Op", op->getName().getStringRef())
      << remark::reason("{0}", obstacle);
}

/// Verifies that programs can hold a value of type `type`.
static LogicalResult verifyValue(Operation *op, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return success();
  if (!shaped.hasStaticShape())
    return op->emitOpError("has the dynamic shape ")
           << type << ", expected a static one; 'train-set-batch' gives the "
           << "batch dimension its size";
  Type element = shaped.getElementType();
  if (element.isF16() || element.isBF16() || element.isF32() ||
      element.isInteger(1) || element.isInteger(8) || element.isInteger(32) ||
      element.isInteger(64))
    return success();
  // The sums of squares of a clip and of a norm are f64.
  if (element.isF64() &&
      isa<mlir::amp::AllReduceOp, mlir::amp::CastOp, mlir::amp::SquareSumOp,
          arith::AddFOp, arith::TruncFOp, train::AddOp, train::ConstantOp,
          train::ReduceSumOp, train::SquareOp>(op))
    return success();
  // Only products of quantised tensors know these types.
  if (mlir::amp::getFloat8Format(element) &&
      isa<mlir::amp::DequantizeOp, mlir::amp::QuantizeOp,
          mlir::amp::ScaledMatmulOp>(op))
    return success();
  return op->emitOpError("has the element type ")
         << element << ", which a program for a GPU does not hold; expected "
         << "f32, f16, bf16, i1, i8, i32 or i64";
}

static LogicalResult verifyStep(func::FuncOp step) {
  if (failed(mlir::amp::verifyStepBody(step)))
    return failure();
  // Report at the operation that defines the value, if there is one.
  WalkResult result = step.walk([&](Operation *op) {
    if (op == step.getOperation())
      return WalkResult::advance();
    for (TypeRange types :
         {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
      for (Type type : types)
        if (failed(verifyValue(op, type)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (Type type : step.getArgumentTypes())
    if (failed(verifyValue(step, type)))
      return failure();
  return success();
}

/// How often loops are fused and cheap values copied at most.
static constexpr int kMaxFusionRounds = 4;

/// Records on `step` how its predictions are judged, for 'cuda-plan-memory'.
static LogicalResult noteEvaluation(func::FuncOp step) {
  FailureOr<mlir::amp::StepSignature> signature =
      mlir::amp::StepSignature::get(step);
  if (failed(signature))
    return failure();
  using Kind = mlir::amp::EvaluationRule::Kind;
  SmallVector<Attribute> rules;
  for (const mlir::amp::EvaluationRule &rule :
       mlir::amp::findEvaluationRules(step, *signature)) {
    Judge judge = rule.kind == Kind::CrossEntropy ? Judge::CrossEntropy
                  : rule.kind == Kind::MSE        ? Judge::MSE
                                                  : Judge::L1;
    rules.push_back(EvaluationAttr::get(step.getContext(), judge,
                                        rule.prediction, rule.target));
  }
  if (!rules.empty())
    step->setAttr(kEvaluationAttr, ArrayAttr::get(step.getContext(), rules));
  return success();
}

/// Verifies that an attention of `step` takes documents as samples, if
/// `isPlanned` plans compute attention. The forward function of a step has the
/// options of the step, but perhaps not its attention.
static LogicalResult verifyDocumentOffsets(func::FuncOp step, bool isPlanned) {
  if (step->hasAttr(mlir::amp::kInferenceOfAttr))
    return success();
  if (!isPlanned)
    return step.emitOpError("cannot be lowered with documents 'offsets' where "
                            "products compute attention, expected attention by "
                            "cuDNN");
  if (llvm::any_of(step.getOps<SDPAOp>(), [](SDPAOp launch) {
        return launch.getDocuments().has_value();
      }))
    return success();
  return step.emitOpError("cannot be lowered with documents 'offsets', because "
                          "no attention by cuDNN has the documents of its "
                          "samples as its mask; expected such an attention "
                          "without dropout, or documents 'bias'");
}

/// Records the bounds of index elements, and cumulative lengths, on the batch
/// arguments of `step`, for 'cuda-plan-memory'. The operations that bound them
/// do not exist any more then.
static LogicalResult noteIndexBounds(func::FuncOp step) {
  FailureOr<mlir::amp::StepSignature> signature =
      mlir::amp::StepSignature::get(step);
  if (failed(signature))
    return failure();
  Builder builder(step.getContext());
  for (const mlir::amp::StepArgument &argument : signature->arguments) {
    Type element = argument.type.getElementType();
    if (argument.role != mlir::amp::Role::Batch ||
        !(element.isInteger(32) || element.isInteger(64)))
      continue;
    std::optional<int64_t> bound =
        mlir::amp::getIndexBound(step.getArgument(argument.index));
    if (bound && *bound > 0)
      step.setArgAttr(argument.index, kIndexBoundAttr,
                      builder.getI64IntegerAttr(*bound));
    if (mlir::amp::isCumulative(step.getArgument(argument.index)))
      step.setArgAttr(argument.index, kCumulativeAttr, builder.getUnitAttr());
  }
  return success();
}

/// Marks the locations of operations in the backward pass and in the update,
/// for 'cuda-watch'.
static void noteParts(func::FuncOp step) {
  using mlir::amp::StepPart;
  Block &body = step.getBody().front();
  for (auto [op, part] : mlir::amp::findStepParts(body)) {
    if (part == StepPart::Forward)
      continue;
    auto name =
        StringAttr::get(step.getContext(), mlir::amp::stringifyPart(part));
    op->walk([&](Operation *nested) {
      nested->setLoc(
          FusedLoc::get(nested->getContext(), nested->getLoc(), name));
    });
  }
}

namespace {

struct ConvertTrainToCUDA
    : mlir::amp::impl::ConvertTrainToCUDABase<ConvertTrainToCUDA> {
  using ConvertTrainToCUDABase::ConvertTrainToCUDABase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<mlir::amp::AMPDialect, train::TrainDialect, cuda::CUDADialect,
                arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                tensor::TensorDialect>();
  }

  /// Applies patterns without other simplifications.
  void apply(func::FuncOp step,
             function_ref<void(RewritePatternSet &)> populate) {
    RewritePatternSet patterns(&getContext());
    populate(patterns);
    // Patterns that do not converge leave a correct function.
    (void)applyPatternsGreedily(step, std::move(patterns));
  }

  /// Whether plans of cuDNN compute attention. Their roundings are not those of
  /// the CPU.
  bool plansAttention() const {
    return attention == "cudnn" ||
           (attention == "auto" && AMP_HAS_CUDNN && !strictRounding);
  }

  /// Whether plans of cuDNN compute convolutions. They round once, as the CPU
  /// does.
  bool plansConvolutions() const {
    return convolutions == "cudnn" || (convolutions == "auto" && AMP_HAS_CUDNN);
  }

  /// Verifies the options that choose a library.
  LogicalResult verifyChoices(func::FuncOp step) {
    auto verify = [&](StringRef name, StringRef value,
                      StringRef otherwise) -> LogicalResult {
      if (value == "auto" || value == "cudnn" || value == otherwise)
        return success();
      return step.emitOpError("cannot be lowered with ")
             << name << " '" << value << "', expected auto, cudnn or "
             << otherwise;
    };
    if (failed(verify("attention", attention, "decomposed")) ||
        failed(verify("convolutions", convolutions, "patches")))
      return failure();
    if (documents != "bias" && documents != "offsets")
      return step.emitOpError("cannot be lowered with documents '")
             << documents << "', expected bias or offsets";
    if (ranks < 0)
      return step.emitOpError("cannot be lowered for 'ranks' ")
             << int64_t(ranks) << ", expected at least 0";
    if (logitBytes < 0)
      return step.emitOpError("cannot be lowered with 'logit-bytes' ")
             << int64_t(logitBytes) << ", expected at least 0";
    for (auto [name, value] :
         {std::pair<StringRef, int64_t>("attention-bytes", attentionBytes),
          std::pair<StringRef, int64_t>("recompute-rate", recomputeRate)})
      if (value < 0)
        return step.emitOpError("cannot be lowered with '")
               << name << "' " << value << ", expected at least 0";
    if (attention == "cudnn" && strictRounding)
      return step.emitOpError("cannot be lowered with attention by cuDNN and "
                              "strict rounding, expected one of them");
    return success();
  }

  LogicalResult convert(func::FuncOp step) {
    if (failed(verifyStep(step)) || failed(verifyCollectives(step, ranks)) ||
        failed(noteEvaluation(step)) || failed(noteIndexBounds(step)))
      return failure();
    noteParts(step);
    if (failed(flattenRegions(step)))
      return failure();
    auto run = [&](ArrayRef<function_ref<std::unique_ptr<Pass>()>> passes) {
      sortTopologically(&step.getBody().front());
      OpPassManager pm(func::FuncOp::getOperationName());
      for (auto pass : passes)
        pm.addPass(pass());
      return runPipeline(pm, step);
    };
    auto canonicalizer = [] { return createCanonicalizerPass(); };
    auto cse = [] { return createCSEPass(); };
    if (failed(run({canonicalizer, cse})) ||
        failed(convertScaledProducts(step)))
      return failure();

    convertParts(step);
    convertOptimizers(step);
    splitParameters(step);
    mergeParameterCasts(step);
    if (plansAttention())
      convertAttention(step, {deterministic, libraryDropout,
                              /*documentOffsets=*/documents == "offsets",
                              attentionBytes});
    if (documents == "offsets" &&
        failed(verifyDocumentOffsets(step, plansAttention())))
      return failure();
    if (plansConvolutions())
      convertConvolutions(step, deterministic);
    apply(step, [&](RewritePatternSet &patterns) {
      populateProductsToCUDA(patterns, tf32);
      populateCompositesToCUDA(patterns);
      populateCollectives(patterns);
    });
    apply(step, [&](RewritePatternSet &patterns) {
      populateCanonicalProducts(patterns, strictRounding);
    });
    fuseProductsHorizontally(step);
    readHeadsByStrides(step);
    placeNormRows(step);
    if (epilogues)
      apply(step, [&](RewritePatternSet &patterns) {
        populateEpilogues(patterns, strictRounding);
        populateBatchNorms(patterns, strictRounding);
        populateSums(patterns, strictRounding);
      });
    mergeCrossEntropy(step);
    if (fuseLinearLosses(step, logitBytes))
      apply(step, [&](RewritePatternSet &patterns) {
        populateCanonicalProducts(patterns, strictRounding);
      });
    // Names come from attributes that the lowering of the amp dialect removes.
    nameLaunches(step);
    step.walk([&](Operation *op) {
      if (!op->getDialect() ||
          isa<CUDADialect, func::FuncDialect>(op->getDialect()))
        return;
      if (op->getNumResults() > 0)
        op->setLoc(getNamedLocation(op));
    });

    apply(step, populateRotations);
    if (failed(run({[] { return train::createTrainDecompose(); }, canonicalizer,
                    cse, [] { return mlir::amp::createConvertTrainToLinalg(); },
                    [] { return mlir::amp::createConvertAMPToLinalg(); },
                    [] { return createConvertElementwiseToLinalgPass(); },
                    [] { return createLinalgGeneralizeNamedOpsPass(); }})))
      return failure();
    apply(step, populateSlicesToLoops);
    // Fusion shows how many kernels read a value, and a copy in each of them
    // makes more fusion possible.
    for (int round = 1;; ++round) {
      if (failed(run({[] { return mlir::amp::createFuseElementwise(); },
                      canonicalizer, cse})))
        return failure();
      if (round == kMaxFusionRounds || !recomputeCheapValues(step))
        break;
    }
    if (failed(convertKernels(step)) || failed(run({canonicalizer, cse})))
      return failure();
    mergeKernels(step);
    if (failed(run({cse})))
      return failure();
    // Common subexpression elimination would undo this.
    if (recomputeLaunches(step, recomputeRate))
      mergeKernels(step);
    if (epilogues) {
      fuseQuantizations(step);
      quantizeInOptimizers(step);
    }
    startCollectivesEarly(step);
    nameLaunches(step);
    step.walk([&](LaunchOpInterface) { ++numLaunches; });
    return success();
  }

  void runOnOperation() override {
    func::FuncOp step = getOperation();
    if (step.isExternal() || !mlir::amp::isStepFunction(step))
      return;
    if (failed(verifyChoices(step)) || failed(convert(step)))
      signalPassFailure();
  }
};

} // namespace
