//===- ModelBuilder.h - Construction of training steps ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the module of one training step: layers in program order, their
// parameters as arguments of the function, then gradients, clipping, schedule
// and optimizer. The models of Models.h use it.
//
//   ModelBuilder b(&context);
//   Value x = b.addBatch("x", {ModelBuilder::kBatch, 64}, b.getF32Type());
//   Value labels = b.addBatch("labels", {ModelBuilder::kBatch},
//                             b.getBuilder().getI64Type());
//   {
//     ModelBuilder::Scope scope(b, "fc");
//     x = b.linear(x, 10);
//   }
//   OwningOpRef<ModuleOp> module = b.finish(b.crossEntropy(x, labels), {});
//
//===----------------------------------------------------------------------===//

#ifndef AMP_NETWORKS_MODELBUILDER_H
#define AMP_NETWORKS_MODELBUILDER_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/Train/IR/TrainBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"

#include <utility>

namespace mlir::amp {

/// The optimizer and the schedule of a step.
struct TrainingOptions {
  enum class Optimizer { SGD, AdamW };
  Optimizer optimizer = Optimizer::AdamW;
  /// The largest rate of the schedule. It is the initial value of the
  /// hyperparameter 'lr'.
  double learningRate = 1e-3;
  double weightDecay = 0.0;
  double momentum = 0.9;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  /// The largest global norm of the gradients. 0 disables clipping.
  double maxNorm = 0.0;
  /// The number of steps over which the rate rises from 0. 0 disables the rise.
  int64_t warmupSteps = 0;
  /// The number of steps after which the rate has fallen, along a cosine, to
  /// `finalFraction` of the largest. 0 keeps it constant.
  int64_t decaySteps = 0;
  double finalFraction = 0.1;
};

/// Builds one training step. Values are f32; labels and tokens are i64.
///
/// An extent that a layer cannot have, such as a stride of 0, is an error at
/// the location of the layer. The builder continues with another extent, so
/// that later layers need no check, and `finish` returns null.
class ModelBuilder {
public:
  /// The extent of the batch dimension of a step for any batch size.
  static constexpr int64_t kBatch = ShapedType::kDynamic;

  explicit ModelBuilder(MLIRContext *context, StringRef function = "step");

  /// Names the parameters and locations that are built during its lifetime:
  /// parameters "outer.inner.weight", locations "outer.inner".
  class Scope {
  public:
    Scope(ModelBuilder &builder, const Twine &name) : builder(builder) {
      builder.scopes.push_back(name.str());
    }
    ~Scope() { builder.scopes.pop_back(); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    ModelBuilder &builder;
  };

  OpBuilder &getBuilder() { return builder; }
  Type getF32Type() { return builder.getF32Type(); }
  /// The location of the innermost scope.
  Location getLoc() const;
  /// Emits operations at that location.
  train::TrainBuilder at() { return {builder, getLoc()}; }

  /// The number of elements of all parameters added so far.
  int64_t getNumParameters() const { return numParameters; }

  //===--- Arguments and results ------------------------------------------===//

  InitAttr getInit(InitKind kind);
  InitAttr getInit(InitKind kind, double value);

  /// A parameter of static shape. Weight decay applies to it if `decays` is
  /// set.
  Value addParameter(StringRef name, ArrayRef<int64_t> shape, InitAttr init,
                     bool decays);
  /// A state of the model. `setState` sets its next value.
  Value addModelState(StringRef name, RankedTensorType type, InitAttr init);
  /// Sets the next value of a result of `addModelState`. Any other value is an
  /// error.
  void setState(Value state, Value next);
  Value addBatch(StringRef name, ArrayRef<int64_t> shape, Type element);
  void addMetric(StringRef name, Value value);
  void addPrediction(StringRef name, Value value);

  //===--- Layers ---------------------------------------------------------===//
  // It is an error if the operand has a rank that the layer does not take. The
  // layer then returns its first operand.

  /// Weight [in, out] and, unless `bias` is false, a bias of zeros. Without
  /// `init` the initial weight is Kaiming-uniform with a gain of 1/√3, as in
  /// torch.
  Value linear(Value x, int64_t features, bool bias = true, InitAttr init = {});
  /// A product with the transpose of `weight` [out, in], for tied weights.
  Value tiedLinear(Value x, Value weight, Value bias = {});
  Value layerNorm(Value x, double epsilon);
  /// A norm over the last dimension with a weight of ones and no bias.
  Value rmsNorm(Value x, double epsilon);
  /// Statistics move by 0.1. `gamma` is the initial scale.
  Value batchNorm(Value x, double gamma = 1.0);
  /// A square filter with equal padding on all sides.
  Value conv(Value x, int64_t filters, int64_t size, int64_t stride,
             int64_t padding, bool bias = false, int64_t groups = 1);
  Value maxPool(Value x, int64_t size, int64_t stride, int64_t padding = 0);
  /// The mean of each channel of [N, H, W, C], a `reduce_mean`.
  Value globalAveragePool(Value x);
  /// Rows of `table` by integer, a `gather` along dimension 0.
  Value embedding(Value table, Value tokens);
  /// Computes gate · sigmoid(gate) · up.
  Value gatedSilu(Value gate, Value up);
  Value relu(Value x);
  Value silu(Value x);
  Value gelu(Value x, bool tanh = false);
  Value tanh(Value x);
  /// Drops elements with probability `rate`. The first use adds the state of
  /// the generator.
  Value dropout(Value x, double rate);
  /// Attention of `heads` heads on [N, S, heads · D] queries, keys and values.
  /// `rate` drops weights.
  Value attention(Value query, Value key, Value value, int64_t heads,
                  bool causal, Value mask = {}, double rate = 0.0);
  /// The heads of `x`, [N, S, heads · D], as [N, heads, S, D].
  Value splitHeads(Value x, int64_t heads);
  /// Attention on [N, H, S, D] queries and [N, G, T, D] keys and values, where
  /// H is a multiple of G. Returns [N, S, H · D].
  Value headAttention(Value query, Value key, Value value, bool causal,
                      Value mask = {}, double rate = 0.0);
  /// The mask of packed sequences of `positions` tokens with the cumulative
  /// lengths of their documents, [N, documents + 1].
  Value documentMask(Value cumulativeLengths, int64_t positions);
  /// The cosines and sines, [positions, size / 2] each, of the angles by which
  /// a rotary embedding turns the pairs of a head of `size` elements: position
  /// p turns pair i by p · base^(-2i / size).
  std::pair<Value, Value> rotaryTables(int64_t positions, int64_t size,
                                       double base = 10000.0);
  /// Turns the pairs (i, i + D/2) of [.., S, D] by the angles of `tables`.
  Value rotate(Value x, std::pair<Value, Value> tables);
  /// The elements of dimension `dim` that start at `offset`.
  Value slice(Value x, int64_t dim, int64_t offset, int64_t size);
  Value concat(ArrayRef<Value> parts, int64_t dim);

  //===--- The end --------------------------------------------------------===//

  Value crossEntropy(Value logits, Value labels, double labelSmoothing = 0.0);
  /// Adds the metric 'accuracy': the fraction of rows of `logits` whose first
  /// largest element has the index of the label.
  void addAccuracy(Value logits, Value labels);
  /// Adds gradients of `loss`, the schedule, the optimizer and the metric
  /// 'loss', and returns the module. This is the last call. Returns null after
  /// an error: that of an earlier layer, an option that is invalid or that f32
  /// cannot hold, a module that does not verify, or a second call.
  OwningOpRef<ModuleOp> finish(Value loss, const TrainingOptions &options);

private:
  struct Parameter {
    Value value;
    std::string name;
    bool decays;
  };
  struct Result {
    Value value;
    StringRef kind;
    std::string name;
  };

  /// Emits an error at the location. `finish` then returns null.
  InFlightDiagnostic fail();
  /// Whether `value`, named `name`, is a tensor of `rank` dimensions, or of at
  /// least as many if `orMore` is set. Emits an error if it is not.
  bool hasRank(StringRef layer, StringRef name, Value value, int64_t rank,
               bool orMore = false);
  /// Whether the tensor `value` has the dimension `dim`. Emits an error if not.
  bool hasDim(StringRef layer, Value value, int64_t dim);
  /// Returns `value`. Emits an error and returns `least` if `layer` cannot have
  /// it.
  int64_t checkExtent(StringRef layer, StringRef name, int64_t value,
                      int64_t least = 1);
  /// Returns `heads`. Emits an error and returns 1 if the last dimension of `x`
  /// does not consist of that many heads.
  int64_t checkHeads(Value x, int64_t heads);
  /// The output extent of a window of `size` on `extent`.
  int64_t slide(StringRef layer, int64_t extent, int64_t size, int64_t stride,
                int64_t padding);
  std::string join(StringRef last = {}) const;
  Value addArgument(unsigned group, StringRef role, const Twine &name,
                    RankedTensorType type, InitAttr init);
  /// The rate of this step, given `lr` and the number of the step.
  Value buildSchedule(Value rate, Value step, const TrainingOptions &options);
  SmallVector<Value> buildGradients(Value loss, const TrainingOptions &options);
  Value buildUpdate(const Parameter &parameter, Value gradient, Value rate,
                    Value step, const TrainingOptions &options,
                    SmallVectorImpl<Result> &moments);
  void buildReturn(ArrayRef<Result> all);

  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  OpBuilder builder;
  Block *entry;
  std::vector<std::string> scopes;
  /// Arguments by group: parameters, optimizer and model state,
  /// hyperparameters, batch.
  SmallVector<SmallVector<DictionaryAttr>> attributes;
  SmallVector<Parameter> parameters;
  SmallVector<std::pair<Value, std::string>> states;
  SmallVector<Result> updates, outputs;
  /// The state of the random generator, which the first use adds.
  Value getRng();
  Value rng;
  int32_t numDropouts = 0;
  int64_t numParameters = 0;
  bool hasFailed = false;
};

} // namespace mlir::amp

#endif // AMP_NETWORKS_MODELBUILDER_H
