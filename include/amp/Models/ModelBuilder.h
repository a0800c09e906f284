//===- ModelBuilder.h - Writing training steps layer by layer ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the module of one training step: layers in the order in which they are
// applied, their parameters as arguments of the function, then gradients,
// clipping, schedule and optimizer. The models of Models.h are written with it.
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

#ifndef AMP_MODELS_MODELBUILDER_H
#define AMP_MODELS_MODELBUILDER_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/Train/IR/TrainBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::amp {

/// How a step turns gradients into updates.
struct TrainingOptions {
  enum class Optimizer { SGD, AdamW };
  Optimizer optimizer = Optimizer::AdamW;
  /// The largest rate of the schedule, the initial value of the
  /// hyperparameter 'lr'.
  double learningRate = 1e-3;
  double weightDecay = 0.0;
  double momentum = 0.9;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  /// The largest global norm of the gradients; 0 does not clip.
  double maxNorm = 0.0;
  /// Steps over which the rate rises from 0; 0 for none.
  int64_t warmupSteps = 0;
  /// Steps after which the rate has fallen, along a cosine, to `finalFraction`
  /// of the largest; 0 keeps it constant.
  int64_t decaySteps = 0;
  double finalFraction = 0.1;
};

/// Builds one training step. Values are of f32 (labels and tokens of i64).
///
/// An extent that no layer can have, such as a stride of 0, is an error at the
/// location of the layer. Building goes on with another extent, so that layers
/// behind it need no check, and `finish` returns null.
class ModelBuilder {
public:
  /// The extent of the batch dimension of a step for any batch size.
  static constexpr int64_t kBatch = ShapedType::kDynamic;

  explicit ModelBuilder(MLIRContext *context, StringRef function = "step");

  /// Names what is built while it lives: parameters "outer.inner.weight",
  /// locations "outer.inner".
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

  /// A parameter of static shape, which weight decay acts on if `decays` is
  /// set.
  Value addParameter(StringRef name, ArrayRef<int64_t> shape, InitAttr init,
                     bool decays);
  /// A state of the model, whose next value `setState` gives.
  Value addModelState(StringRef name, RankedTensorType type, InitAttr init);
  /// Gives the next value of what `addModelState` returned; an error for any
  /// other value.
  void setState(Value state, Value next);
  Value addBatch(StringRef name, ArrayRef<int64_t> shape, Type element);
  void addMetric(StringRef name, Value value);
  void addPrediction(StringRef name, Value value);

  //===--- Layers ---------------------------------------------------------===//
  // An operand of another rank than the layer takes is an error; the layer then
  // returns its first operand.

  /// Weight [in, out] and, unless `bias` is false, a bias of zeros. Without
  /// `init` the weight starts Kaiming-uniform with a gain of 1/√3, as in torch.
  Value linear(Value x, int64_t features, bool bias = true, InitAttr init = {});
  /// A product with the transpose of `weight` [out, in], for tied weights.
  Value tiedLinear(Value x, Value weight, Value bias = {});
  Value layerNorm(Value x, double epsilon);
  /// Statistics move by 0.1; `gamma` is the initial scale.
  Value batchNorm(Value x, double gamma = 1.0);
  /// A square filter with equal padding on all sides.
  Value conv(Value x, int64_t filters, int64_t size, int64_t stride,
             int64_t padding, bool bias = false, int64_t groups = 1);
  Value maxPool(Value x, int64_t size, int64_t stride, int64_t padding = 0);
  /// The mean of each channel of [N, H, W, C], which is a `reduce_mean`.
  Value globalAveragePool(Value x);
  /// Rows of `table` by integer, which is a `gather` along dimension 0.
  Value embedding(Value table, Value tokens);
  /// x · sigmoid(x) of the gate, times `up`.
  Value gatedSilu(Value gate, Value up);
  Value relu(Value x);
  Value silu(Value x);
  Value gelu(Value x, bool tanh = false);
  Value tanh(Value x);
  /// Drops elements with probability `rate`; the generator's state is added on
  /// first use.
  Value dropout(Value x, double rate);
  /// Attention of `heads` heads on [N, S, heads · D] queries, keys and values.
  Value attention(Value query, Value key, Value value, int64_t heads,
                  bool causal, Value mask = {});
  /// The elements from `offset` on of dimension `dim`.
  Value slice(Value x, int64_t dim, int64_t offset, int64_t size);
  Value concat(ArrayRef<Value> parts, int64_t dim);

  //===--- The end --------------------------------------------------------===//

  Value crossEntropy(Value logits, Value labels, double labelSmoothing = 0.0);
  /// Adds the metric 'accuracy', the share of rows of `logits` whose first
  /// largest element is the label's.
  void addAccuracy(Value logits, Value labels);
  /// Adds gradients of `loss`, the schedule and the optimizer, the metric
  /// 'loss', and returns the module. Nothing can be added after. Returns null
  /// after an error: that of a layer before, an option that cannot work or that
  /// f32 cannot hold, a module that does not verify, or a second call.
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

  /// Emits an error at the location, for which `finish` returns null.
  InFlightDiagnostic fail();
  /// Whether `value`, called `name`, is a tensor of `rank` dimensions, or of at
  /// least as many if `orMore` is set; emits an error if it is not.
  bool hasRank(StringRef layer, StringRef name, Value value, int64_t rank,
               bool orMore = false);
  /// Whether the tensor `value` has the dimension `dim`; emits an error if not.
  bool hasDim(StringRef layer, Value value, int64_t dim);
  /// Returns `value`, or `least` after an error if `layer` cannot have it.
  int64_t checkExtent(StringRef layer, StringRef name, int64_t value,
                      int64_t least = 1);
  /// The extent that a window of `size` leaves of `extent`.
  int64_t slide(StringRef layer, int64_t extent, int64_t size, int64_t stride,
                int64_t padding);
  std::string join(StringRef last = {}) const;
  Value addArgument(unsigned group, StringRef role, const Twine &name,
                    RankedTensorType type, InitAttr init);
  /// The rate of this step, given `lr` and the number of the step.
  Value buildSchedule(Value rate, Value step, const TrainingOptions &options);

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
  Value rng;
  int32_t numDropouts = 0;
  int64_t numParameters = 0;
  bool hasFailed = false;
};

} // namespace mlir::amp

#endif // AMP_MODELS_MODELBUILDER_H
