//===- ModelBuilder.cpp - Construction of training steps ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Networks/ModelBuilder.h"

#include "ModelChecks.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;
using train::TrainBuilder;

/// The groups of arguments, in order.
enum Group : unsigned {
  ParameterGroup,
  OptimizerGroup,
  ModelGroup,
  HyperparameterGroup,
  BatchGroup,
  NumGroups
};

ModelBuilder::ModelBuilder(MLIRContext *context, StringRef name)
    : builder(context), attributes(NumGroups) {
  context->loadDialect<AMPDialect, train::TrainDialect, func::FuncDialect>();
  Location loc = builder.getUnknownLoc();
  module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  function =
      func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
}

std::string ModelBuilder::join(StringRef last) const {
  std::string name = llvm::join(scopes, ".");
  if (!last.empty())
    name += (name.empty() ? "" : ".") + last.str();
  return name;
}

Location ModelBuilder::getLoc() const {
  MLIRContext *context = builder.getContext();
  if (scopes.empty())
    return UnknownLoc::get(context);
  return NameLoc::get(StringAttr::get(context, join()));
}

InFlightDiagnostic ModelBuilder::fail() {
  hasFailed = true;
  return emitError(getLoc());
}

int64_t ModelBuilder::checkExtent(StringRef layer, StringRef name,
                                  int64_t value, int64_t least) {
  if (succeeded(ModelChecks(getLoc(), layer).size(name, value, least)))
    return value;
  hasFailed = true;
  return least;
}

bool ModelBuilder::hasRank(StringRef layer, StringRef name, Value value,
                           int64_t rank, bool orMore) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : nullptr;
  if (type && (orMore ? type.getRank() >= rank : type.getRank() == rank))
    return true;
  InFlightDiagnostic diagnostic = fail();
  diagnostic << layer << ": '" << name << "' must be a tensor of "
             << (orMore ? "at least " : "") << rank << " dimension"
             << (rank == 1 ? "" : "s") << ", got ";
  if (value)
    diagnostic << value.getType();
  else
    diagnostic << "nothing";
  return false;
}

bool ModelBuilder::hasDim(StringRef layer, Value value, int64_t dim) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  if (dim >= 0 && dim < rank)
    return true;
  fail() << layer << ": 'dim' must be in [0, " << rank << "), got " << dim;
  return false;
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

InitAttr ModelBuilder::getInit(InitKind kind) {
  return InitAttr::get(builder.getContext(), kind, FloatAttr(), IntegerAttr(),
                       StringAttr());
}

InitAttr ModelBuilder::getInit(InitKind kind, double value) {
  return InitAttr::get(builder.getContext(), kind,
                       builder.getF64FloatAttr(value), IntegerAttr(),
                       StringAttr());
}

Value ModelBuilder::addArgument(unsigned group, StringRef role,
                                const Twine &name, RankedTensorType type,
                                InitAttr init) {
  NamedAttrList list;
  StringAttr label = builder.getStringAttr(name);
  list.append(AMPDialect::kRoleAttr, builder.getStringAttr(role));
  list.append(AMPDialect::kNameAttr, label);
  if (init)
    list.append(AMPDialect::kInitAttr, init);
  unsigned index = 0;
  for (unsigned i = 0; i <= group; ++i)
    index += attributes[i].size();
  attributes[group].push_back(list.getDictionary(builder.getContext()));
  return entry->insertArgument(index, type, NameLoc::get(label));
}

Value ModelBuilder::addParameter(StringRef name, ArrayRef<int64_t> shape,
                                 InitAttr init, bool decays) {
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  std::string label = join(name);
  Value value = addArgument(ParameterGroup, "parameter", label, type, init);
  parameters.push_back({value, label, decays});
  if (type.hasStaticShape())
    numParameters += type.getNumElements();
  else
    fail() << "parameter '" << label << "' must have a static shape, got "
           << type;
  return value;
}

Value ModelBuilder::addModelState(StringRef name, RankedTensorType type,
                                  InitAttr init) {
  std::string label = join(name);
  Value state = addArgument(ModelGroup, "model_state", label, type, init);
  states.emplace_back(state, label);
  return state;
}

void ModelBuilder::setState(Value state, Value next) {
  for (const auto &entry : states)
    if (entry.first == state) {
      updates.push_back({next, AMPDialect::kUpdatesAttr, entry.second});
      return;
    }
  fail() << "'setState' expects a state of 'addModelState', got another value";
}

Value ModelBuilder::addBatch(StringRef name, ArrayRef<int64_t> shape,
                             Type element) {
  return addArgument(BatchGroup, "batch", name,
                     RankedTensorType::get(shape, element), InitAttr());
}

void ModelBuilder::addMetric(StringRef name, Value value) {
  outputs.push_back({value, AMPDialect::kMetricAttr, name.str()});
}

void ModelBuilder::addPrediction(StringRef name, Value value) {
  outputs.push_back({value, AMPDialect::kPredictionAttr, name.str()});
}

//===----------------------------------------------------------------------===//
// Loss and updates
//===----------------------------------------------------------------------===//

Value ModelBuilder::crossEntropy(Value logits, Value labels,
                                 double labelSmoothing) {
  return train::CrossEntropyOp::create(
      builder, getLoc(), RankedTensorType::get({}, builder.getF32Type()),
      logits, labels, APFloat(labelSmoothing));
}

void ModelBuilder::addAccuracy(Value logits, Value labels) {
  Scope scope(*this, "accuracy");
  if (!hasRank("accuracy", "logits", logits, 1, /*orMore=*/true) ||
      !hasRank("accuracy", "labels", labels, 0, /*orMore=*/true))
    return;
  TrainBuilder t = at();
  auto type = typeOf(logits);
  int64_t axis = type.getRank() - 1;
  Value best = train::ArgmaxOp::create(builder, getLoc(),
                                       cast<RankedTensorType>(labels.getType()),
                                       logits, static_cast<uint64_t>(axis));
  Value hit = t.compare(train::ComparePredicate::EQ, best, labels);
  Value share =
      t.select(hit, t.scalar(1.0, getF32Type()), t.scalar(0.0, getF32Type()));
  addMetric("accuracy", t.mean(share, t.allDims(share)));
}

Value ModelBuilder::buildSchedule(Value rate, Value step,
                                  const TrainingOptions &options) {
  Scope scope(*this, "schedule");
  TrainBuilder t = at();
  double warmup = options.warmupSteps, decay = options.decaySteps;
  if (warmup > 0) {
    Value share = t.mul(step, 1.0 / warmup);
    rate = t.mul(rate, t.minimum(share, t.scalar(1.0, share)));
  }
  if (decay > warmup) {
    // This rises from 0 at the end of the warm-up to 1 at `decaySteps`.
    Value done = t.mul(t.add(step, -warmup), 1.0 / (decay - warmup));
    done = t.minimum(t.maximum(done, t.scalar(0.0, done)), t.scalar(1.0, done));
    Value wave = t.add(t.cos(t.mul(done, M_PI)), 1.0);
    double end = options.finalFraction;
    rate = t.mul(rate, t.add(t.mul(wave, 0.5 * (1.0 - end)), end));
  }
  return rate;
}

/// Returns the gradients of the parameters, clipped if `options` says so.
SmallVector<Value>
ModelBuilder::buildGradients(Value loss, const TrainingOptions &options) {
  SmallVector<Value> values;
  SmallVector<Type> types;
  for (const Parameter &parameter : parameters) {
    values.push_back(parameter.value);
    types.push_back(parameter.value.getType());
  }
  SmallVector<Value> gradients;
  {
    Scope scope(*this, "gradients");
    auto emitted = train::GradientsOp::create(builder, getLoc(), types, loss,
                                              values, "loss");
    gradients.assign(emitted.getGradients().begin(),
                     emitted.getGradients().end());
  }
  if (options.maxNorm > 0) {
    Scope scope(*this, "clip");
    auto clip = train::ClipByGlobalNormOp::create(
        builder, getLoc(), types,
        RankedTensorType::get({}, builder.getF32Type()), gradients,
        APFloat(options.maxNorm));
    gradients.assign(clip.getClipped().begin(), clip.getClipped().end());
    addMetric("grad_norm", clip.getNorm());
  }
  return gradients;
}

/// Returns the update of `parameter`, and adds those of its moments to
/// `moments`.
Value ModelBuilder::buildUpdate(const Parameter &parameter, Value gradient,
                                Value rate, Value step,
                                const TrainingOptions &options,
                                SmallVectorImpl<Result> &moments) {
  Location loc =
      NameLoc::get(builder.getStringAttr("update." + parameter.name));
  auto type = cast<RankedTensorType>(parameter.value.getType());
  auto addMoment = [&](StringRef name) {
    return addArgument(OptimizerGroup, "optimizer_state",
                       parameter.name + "." + name, type,
                       getInit(InitKind::Zeros));
  };
  auto record = [&](Value next, StringRef name) {
    moments.push_back(
        {next, AMPDialect::kUpdatesAttr, (parameter.name + "." + name).str()});
  };
  double decay = parameter.decays ? options.weightDecay : 0.0;
  if (options.optimizer == TrainingOptions::Optimizer::AdamW) {
    Value m = addMoment("exp_avg"), v = addMoment("exp_avg_sq");
    auto update = train::AdamWOp::create(
        builder, loc, type, type, type, parameter.value, gradient, rate, m, v,
        step, APFloat(options.beta1), APFloat(options.beta2),
        APFloat(options.epsilon), APFloat(decay));
    record(update.getNewExpAvg(), "exp_avg");
    record(update.getNewExpAvgSq(), "exp_avg_sq");
    return update.getNewParameter();
  }
  Value velocity;
  if (options.momentum != 0)
    velocity = addMoment("velocity");
  auto update = train::SGDOp::create(
      builder, loc, type, velocity ? Type(type) : Type(), parameter.value,
      gradient, rate, velocity, APFloat(options.momentum), APFloat(decay),
      /*nesterov=*/false);
  if (velocity)
    record(update.getNewVelocity(), "velocity");
  return update.getNewParameter();
}

/// Returns `all` from the function, with their attributes.
void ModelBuilder::buildReturn(ArrayRef<Result> all) {
  SmallVector<Value> returned;
  SmallVector<Type> results;
  SmallVector<DictionaryAttr> resultAttributes;
  for (const Result &result : all) {
    returned.push_back(result.value);
    results.push_back(result.value.getType());
    NamedAttrList list;
    list.append(result.kind, builder.getStringAttr(result.name));
    resultAttributes.push_back(list.getDictionary(builder.getContext()));
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), returned);
  function.setFunctionType(
      builder.getFunctionType(entry->getArgumentTypes(), results));
  SmallVector<DictionaryAttr> arguments;
  for (const auto &group : attributes)
    llvm::append_range(arguments, group);
  function.setAllArgAttrs(arguments);
  function.setAllResultAttrs(resultAttributes);
}

OwningOpRef<ModuleOp> ModelBuilder::finish(Value loss,
                                           const TrainingOptions &options) {
  if (!module) {
    fail() << "expected one call of 'finish', got another";
    return {};
  }
  ModelChecks checks(builder.getContext(), function.getName());
  if (hasFailed || failed(checkTraining(checks, options)))
    return {};
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  outputs.insert(outputs.begin(), {loss, AMPDialect::kMetricAttr, "loss"});
  SmallVector<Value> gradients = buildGradients(loss, options);

  Value rate = addArgument(HyperparameterGroup, "hyperparameter", "lr", scalar,
                           getInit(InitKind::Constant, options.learningRate));
  SmallVector<Result> all, moments;
  Value step;
  if (options.optimizer == TrainingOptions::Optimizer::AdamW ||
      options.warmupSteps > 0 || options.decaySteps > 0) {
    Value last = addArgument(OptimizerGroup, "optimizer_state", "step", scalar,
                             getInit(InitKind::Zeros));
    Scope scope(*this, "step");
    step = at().add(last, 1.0);
    moments.push_back({step, AMPDialect::kUpdatesAttr, "step"});
    rate = buildSchedule(rate, step, options);
  }
  for (auto [parameter, gradient] : llvm::zip_equal(parameters, gradients))
    all.push_back(
        {buildUpdate(parameter, gradient, rate, step, options, moments),
         AMPDialect::kUpdatesAttr, parameter.name});
  if (rng) {
    Value next = train::AdvanceRngOp::create(builder, getLoc(), rng);
    setState(rng, next);
  }
  llvm::append_range(all, moments);
  llvm::append_range(all, updates);
  llvm::append_range(all, outputs);
  buildReturn(all);
  OwningOpRef<ModuleOp> finished = std::move(module);
  if (failed(verify(*finished)))
    return {};
  return finished;
}
