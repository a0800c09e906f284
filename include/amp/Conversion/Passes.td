//===- Passes.td - Passes from one dialect to another ------*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CONVERSION_PASSES_TD
#define AMP_CONVERSION_PASSES_TD

include "amp/Support/CheckedPass.td"

def ConvertTrainToLinalg : CheckedPass<"convert-train-to-linalg"> {
  let summary = "Lowers the primitives of the train dialect to linalg on tensors";
  let description = [{
    Expects decomposed composites (`train-decompose`) and static shapes
    (`train-set-batch`). Bodies compute in f32 (f64 for f64 operands): operands
    are widened with `arith.extf`, results are rounded once with `arith.truncf`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def ConvertAMPToLinalg : CheckedPass<"convert-amp-to-linalg"> {
  let summary = "Lowers the amp dialect to linalg on tensors";
  let description = [{
    Lowers casts, unscaling with its finite check and the update of the loss
    scale to loops over tensors and scalar arithmetic. It works on a step of any
    dialect with static shapes. The pass removes attributes of operations.
    Attributes of functions, their arguments and results stay.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def ConvertAMPToUpstream : CheckedPass<"convert-amp-to-upstream"> {
  let summary = "Removes the amp dialect from a module";
  let description = [{
    Prepares a module for a compiler that does not know the dialect. Operations
    become linalg, arith, math and tensor operations as in
    `convert-amp-to-linalg`, but shapes may be dynamic. Attributes such as
    `amp.role` and `amp.inserted` are removed.
  }];
  let options = [
    Option<"keepAttributes", "keep-attributes", "bool", "false",
           "Keep the attributes, which the other compiler ignores">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def ConvertAMPToStableHLO : CheckedPass<"convert-amp-to-stablehlo"> {
  let summary = "Lowers the amp dialect to StableHLO in generic form";
  let description = [{
    Prepares a step for JAX, XLA or IREE. The operations of loss scaling and
    master weights, and the arith, scf and tensor operations of the overflow
    guard, become StableHLO. The guard becomes a `stablehlo.select` for each
    value. Attributes such as `amp.role` and `amp.inserted` are removed.

    StableHLO need not be linked in. Its operations are built unregistered, so
    the context must allow unregistered dialects. Any other operation of these
    dialects is an error.
  }];
}

def StableHLOToTrain : CheckedPass<"stablehlo-to-train", "::mlir::ModuleOp"> {
  let summary = "Turns a loss in StableHLO into a training step";
  let description = [{
    Takes the forward pass of a loss in generic form, as JAX dumps it, with
    `amp.role` and `amp.name` on its arguments. Rewrites it with operations of
    the train dialect, so that differentiation, the CPU and CUDA work on it.
    Functions that it calls are inlined. With an optimizer, the loss is its only
    result, with `amp.metric = "loss"`, and the pass adds the gradients, the
    updates and the state that they need.

    A `stablehlo.while` whose trip count is a constant, as a scan has, becomes an
    `scf.for`, and slices at computed places become slices of the tensor
    dialect.
    The new loop does not carry values that the loop only counts or passes on.
    Other loops become `scf.while`, and `stablehlo.case` and `stablehlo.if`
    become `scf.if`. Gathers and scatters of any form become `train.gather` and
    `train.scatter_add` with computed places, and a sort becomes ranks and a
    gather. Integers that are not known become operations of arith, tensor and
    linalg, among them random bits. Unsigned arguments become signless ones.

    StableHLO need not be linked in. An operation without a counterpart is an
    error. The message names each such kind with its number, says what would be
    accepted where a form of it is, and the module does not change.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", /*default=*/"\"none\"",
           "none, sgd or adam">,
    Option<"learningRate", "learning-rate", "double", /*default=*/"0.001",
           "The initial value of the hyperparameter lr">,
  ];
  let dependentDialects = ["::mlir::train::TrainDialect",
                           "::mlir::amp::AMPDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertTrainToCUDA
    : CheckedPass<"convert-train-to-cuda", "::mlir::func::FuncOp"> {
  let summary = "Lowers a training step to launches over tensors";
  let description = [{
    Expects expanded gradients (`train-autodiff`) and static shapes
    (`train-set-batch`). The step becomes a list of operations of the `cuda`
    dialect on tensors:

    - Products and convolutions become library calls. Transposes, casts,
      constant scales and the addition of a residual move into them. Then relu,
      gelu in its tanh form, the gradients of both, biases and bias gradients
      do.
    - Attention in f16 or bf16 becomes plans of cuDNN, with `attention=cudnn`.
      They read queries, keys and values by strides where slices, transposes and
      reshapes take them from one product, and write the gradients of the three
      to one tensor where the backward pass joins them. A boolean mask becomes a
      bias. Dropout becomes part of a plan with `library-dropout`: cuDNN draws
      other random numbers than the CPU. Other attention, and each attention
      with `attention=decomposed`, becomes products and a softmax.
    - Convolutions in f16 or bf16 and their gradients become plans of cuDNN,
      with `convolutions=cudnn`, if their results have 16 bits too. A bias and a
      relu move into them. Other convolutions, and each convolution with
      `convolutions=patches`, become products over a matrix of patches.
      Pointwise convolutions are products.
    - A classifier whose logits take more than `logit-bytes` becomes one launch
      with its cross-entropy and the gradients of both, which goes through the
      rows in chunks. The logits of the whole batch are then never in memory.
      Predictions that need them compute them a second time.
    - Composites become the tuned kernels of the same names. The optimizer
      operations of one kind become a single `cuda.optimizer`, which unscales,
      clips and writes the low-precision copies.
    - Horizontal fusion: products of one matrix, such as queries, keys and
      values, become one product with the columns of all, if that moves fewer
      bytes.
    - RMS norms and their gradients have kernels too.
    - If products read a tensor in 8 bits and the scale is known in advance, the
      kernel or norm that computes the tensor also quantises it. Otherwise, this
      launch finds the magnitude that determines the scale. The tensor itself is
      stored only if other operations read it.
    - All other operations become loops over elements, as for the CPU, which are
      fused and become `cuda.kernel`. If a loop with several readers reads no
      more memory than it writes, each reader computes it.
    - At the end, values of the forward pass that add to the most memory in use
      are computed again in the backward pass: results of kernels over elements,
      layer norms and batch norms whose operands are in memory anyway. Those
      that free most bytes per microsecond come first, down to
      `recompute-rate`. A kernel of the backward pass that reads the same
      operands computes the value too, so that no launch is added. Results are
      the same bit for bit.

    - Consecutive collectives of `amp` become one launch. If the number of ranks
      does not divide the number of elements of a tensor, its flat parts
      (`amp-shard-optimizer`) use a buffer that is padded with zeros.

    An `scf.if` whose condition is not a constant computes both branches and
    selects. The guard of an optimizer becomes the flag of the launch. An
    `scf.for` with constant bounds is unrolled. Outer loops come first because
    inner bounds may depend on their induction variables.
  }];
  let options = [
    Option<"tf32", "tf32", "bool", "false",
           "Multiply f32 operands on tensor cores, rounded to TF32">,
    Option<"epilogues", "epilogues", "bool", "true",
           "Move activations and bias gradients into products, and "
           "quantisations into the kernels that compute their operands">,
    Option<"strictRounding", "strict-rounding", "bool", "false",
           "Round the result of each operation to its type, as the CPU does, "
           "also where a product could absorb adjacent operations">,
    Option<"attention", "attention", "std::string", "\"auto\"",
           "cudnn, decomposed, or auto: by cuDNN if this build has its library "
           "and rounding is not strict">,
    Option<"convolutions", "convolutions", "std::string", "\"auto\"",
           "cudnn, patches, or auto: by cuDNN if this build has its library">,
    Option<"deterministic", "deterministic", "bool", "true",
           "Choose library kernels that give the same bits in each run">,
    Option<"logitBytes", "logit-bytes", "int64_t", "int64_t(1) << 30",
           "The most memory for the logits of a classifier, in bytes. The loss "
           "of larger ones goes through the rows in chunks. 0 sets no limit">,
    Option<"attentionBytes", "attention-bytes", "int64_t", "int64_t(2) << 30",
           "The most scratch memory for the gradient of an attention, in bytes. "
           "A larger one computes its samples in parts. 0 sets no limit">,
    Option<"libraryDropout", "library-dropout", "bool", "false",
           "Let cuDNN draw the random numbers of dropout within attention, "
           "which are not those of the CPU. Such attention is decomposed "
           "otherwise">,
    Option<"documents", "documents", "std::string", "\"bias\"",
           "How plans of attention read the documents of packed sequences. "
           "bias: as a mask, which is added to all scores. offsets: each "
           "document as a sample, so that no score between documents is "
           "computed. The gradient then needs compute capability 9.0. It is "
           "an error if no attention of the step can take offsets">,
    Option<"recomputeRate", "recompute-rate", "int64_t", "500000",
           "The fewest bytes of memory that computing a value of the forward "
           "pass again frees per microsecond. 0 keeps all values">,
    Option<"ranks", "ranks", "int64_t", "0",
           "The number of ranks, for a step with flat parts of tensors "
           "(amp-shard-optimizer)">];
  let statistics = [
    Statistic<"numLaunches", "launches", "Number of launches">];
}

#endif // AMP_CONVERSION_PASSES_TD
