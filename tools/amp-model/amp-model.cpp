//===- amp-model.cpp - Writes training steps of well-known models ---------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Networks/Models.h"
#include "amp/Support/OptionCheck.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

#include <memory>
#include <type_traits>

using namespace mlir;
using namespace mlir::amp;
namespace cl = llvm::cl;

static cl::OptionCategory category("amp-model options");

#define AMP_OPTION(TYPE, VARIABLE, NAME, TEXT)                                 \
  static cl::opt<TYPE> VARIABLE(NAME, cl::desc(TEXT), cl::cat(category))

static cl::opt<std::string> modelName(cl::Positional, cl::Required,
                                      cl::desc("<model>"), cl::cat(category));
static cl::opt<std::string> outputName("o", cl::desc("file to write"),
                                       cl::value_desc("file"), cl::init("-"),
                                       cl::cat(category));
static cl::opt<bool>
    printLocations("locations", cl::init(true),
                   cl::desc("write locations, which carry the layer names"),
                   cl::cat(category));
AMP_OPTION(bool, onlyCount, "count",
           "print the number of parameters and nothing else");

AMP_OPTION(std::string, batch, "batch", "size of the batch, or '?' for any");
AMP_OPTION(int64_t, sequence, "sequence",
           "tokens of a sample (gpt2, decoder, bert)");
AMP_OPTION(int64_t, layers, "layers", "blocks of a transformer");
AMP_OPTION(int64_t, width, "width",
           "features of a transformer, channels of the first stage of a "
           "residual network");
AMP_OPTION(int64_t, heads, "heads", "attention heads");
AMP_OPTION(int64_t, keyHeads, "key-heads",
           "attention heads of keys and values (decoder)");
AMP_OPTION(int64_t, feedForward, "feed-forward",
           "features of the hidden layer of a block (decoder)");
AMP_OPTION(int64_t, vocabulary, "vocabulary", "number of tokens");
AMP_OPTION(
    int64_t, documents, "documents",
    "documents of a sequence, with their cumulative lengths in the batch "
    "(decoder)");
AMP_OPTION(int64_t, positions, "positions", "longest sequence");
AMP_OPTION(int64_t, imageSize, "image-size", "height and width of images");
AMP_OPTION(int64_t, patch, "patch", "height and width of a patch (vit)");
AMP_OPTION(int64_t, classes, "classes", "number of classes");
AMP_OPTION(int64_t, features, "features", "features of a sample (mlp)");
AMP_OPTION(double, dropout, "dropout", "rate of dropout (transformers)");
AMP_OPTION(double, attentionDropout, "attention-dropout",
           "rate of dropout of the weights of attentions (transformers)");
AMP_OPTION(double, labelSmoothing, "label-smoothing",
           "smoothing of the labels (resnet, vit)");
static cl::list<int64_t> hidden("hidden", cl::CommaSeparated,
                                cl::desc("widths of hidden layers (mlp)"),
                                cl::cat(category));

namespace {
/// Names the choices for a wrong value.
struct OptimizerParser : cl::parser<TrainingOptions::Optimizer> {
  using parser::parser;
  bool parse(cl::Option &option, StringRef, StringRef text,
             TrainingOptions::Optimizer &value) {
    if (text != "sgd" && text != "adamw")
      return option.error("unknown optimizer '" + text +
                          "', expected sgd or adamw");
    value = text == "sgd" ? TrainingOptions::Optimizer::SGD
                          : TrainingOptions::Optimizer::AdamW;
    return false;
  }
};
} // namespace

static cl::opt<TrainingOptions::Optimizer, false, OptimizerParser> optimizer(
    "optimizer",
    cl::desc("optimizer; sgd for mlp, lenet and resnet by default"),
    cl::values(clEnumValN(TrainingOptions::Optimizer::SGD, "sgd",
                          "SGD with momentum"),
               clEnumValN(TrainingOptions::Optimizer::AdamW, "adamw", "AdamW")),
    cl::cat(category));
AMP_OPTION(double, learningRate, "lr", "largest learning rate");
AMP_OPTION(double, weightDecay, "weight-decay",
           "decay of weights; norms, biases and tokens do not decay");
AMP_OPTION(double, momentum, "momentum", "momentum of sgd");
AMP_OPTION(double, maxNorm, "clip", "largest norm of the gradients, 0 for any");
AMP_OPTION(int64_t, warmupSteps, "warmup-steps",
           "steps over which the rate rises");
AMP_OPTION(int64_t, decaySteps, "decay-steps",
           "step at which the rate has fallen along a cosine, 0 for constant");

/// The options that the chosen model, or every model, reads.
static llvm::SmallPtrSet<const cl::Option *, 32> consulted;

/// Sets `value` if the option was given.
template <typename T, typename Option>
static void take(const Option &option, T &value) {
  consulted.insert(&option);
  if (option.getNumOccurrences() > 0)
    value = option;
}

/// An unread option would have no effect: its user has another model in mind.
static LogicalResult rejectOthers() {
  SmallVector<StringRef> others;
  for (const auto &entry : cl::getRegisteredOptions()) {
    const cl::Option *option = entry.second;
    if (option->getNumOccurrences() > 0 && !consulted.contains(option) &&
        llvm::is_contained(option->Categories, &category))
      others.push_back(option->ArgStr);
  }
  // The table of options is not sorted.
  llvm::sort(others);
  for (StringRef other : others)
    llvm::errs() << "amp-model: error: " << modelName << " has no option '--"
                 << other << "'\n";
  return success(others.empty());
}

static LogicalResult takeBatch(int64_t &value) {
  consulted.insert(&batch);
  if (batch.getNumOccurrences() == 0 || batch == "?")
    return success();
  if (!StringRef(batch).getAsInteger(10, value))
    return success();
  llvm::errs() << "amp-model: error: '--batch' must be a number or '?', got '"
               << batch << "'\n";
  return failure();
}

static void takeBlocks(TransformerOptions &options) {
  take(layers, options.layers);
  take(width, options.width);
  take(heads, options.heads);
}

static void takeTransformer(TransformerOptions &options) {
  takeBlocks(options);
  take(dropout, options.dropout);
  take(attentionDropout, options.attentionDropout);
}

/// The published settings of the model `name`.
static TrainingOptions getPublishedTraining(StringRef name) {
  TrainingOptions training;
  const bool isDecoder = name == "gpt2" || name == "decoder";
  if (isDecoder || name == "bert" || name == "vit") {
    training.learningRate = isDecoder ? 6e-4 : name == "bert" ? 5e-5 : 1e-3;
    training.weightDecay = isDecoder ? 0.1 : name == "bert" ? 0.01 : 0.05;
    training.beta2 = isDecoder ? 0.95 : 0.999;
    training.maxNorm = 1.0;
    training.warmupSteps = 2000;
    training.decaySteps = 100000;
    return training;
  }
  bool isResNet = name.starts_with("resnet");
  training.optimizer = TrainingOptions::Optimizer::SGD;
  training.learningRate = isResNet ? 0.1 : 0.05;
  training.weightDecay = isResNet ? 1e-4 : 0.0;
  if (isResNet) {
    training.warmupSteps = 2500;
    training.decaySteps = 450000;
    training.finalFraction = 0.0;
  }
  return training;
}

static LogicalResult takeTraining(TrainingOptions &training) {
  bool wasSGD = training.optimizer == TrainingOptions::Optimizer::SGD;
  take(optimizer, training.optimizer);
  // A rate of SGD is too large for AdamW, whose steps have the size of the
  // rate.
  if (wasSGD && training.optimizer == TrainingOptions::Optimizer::AdamW)
    training.learningRate = 1e-3;
  take(learningRate, training.learningRate);
  take(weightDecay, training.weightDecay);
  take(momentum, training.momentum);
  if (momentum.getNumOccurrences() > 0 &&
      training.optimizer != TrainingOptions::Optimizer::SGD) {
    llvm::errs() << "amp-model: error: '--momentum' belongs to "
                    "'--optimizer=sgd', but the "
                    "optimizer of "
                 << modelName << " is adamw\n";
    return failure();
  }
  take(maxNorm, training.maxNorm);
  take(warmupSteps, training.warmupSteps);
  take(decaySteps, training.decaySteps);
  return success();
}

static FailureOr<Model> build(MLIRContext *context, int64_t batchSize) {
  StringRef name = modelName;
  TrainingOptions training = getPublishedTraining(name);
  if (failed(takeTraining(training)))
    return failure();

  auto finish = [&](auto *buildModel, const auto &options) -> FailureOr<Model> {
    if (failed(rejectOthers()))
      return failure();
    return buildModel(context, options, training);
  };
  auto sized = [&](auto options) {
    options.batch = batchSize;
    if constexpr (!std::is_same_v<decltype(options), GPT2Options> &&
                  !std::is_same_v<decltype(options), DecoderOptions>)
      take(classes, options.classes);
    return options;
  };
  if (name == "mlp") {
    MLPOptions options = sized(MLPOptions());
    take(features, options.features);
    // A list has its own operator '&'.
    consulted.insert(std::addressof(hidden));
    if (hidden.getNumOccurrences() > 0)
      options.hidden.assign(hidden.begin(), hidden.end());
    return finish(buildMLP, options);
  }
  if (name == "lenet") {
    LeNetOptions options = sized(LeNetOptions());
    take(imageSize, options.imageSize);
    return finish(buildLeNet, options);
  }
  if (name == "resnet18" || name == "resnet50") {
    ResNetOptions options = sized(ResNetOptions());
    options.depth = name == "resnet18" ? 18 : 50;
    take(imageSize, options.imageSize);
    take(width, options.width);
    take(labelSmoothing, options.labelSmoothing);
    return finish(buildResNet, options);
  }
  if (name == "gpt2") {
    GPT2Options options = sized(GPT2Options());
    take(vocabulary, options.vocabulary);
    take(positions, options.positions);
    options.sequence = options.positions;
    take(sequence, options.sequence);
    takeTransformer(options);
    return finish(buildGPT2, options);
  }
  if (name == "decoder") {
    DecoderOptions options = sized(DecoderOptions());
    take(vocabulary, options.vocabulary);
    take(sequence, options.sequence);
    takeBlocks(options);
    take(keyHeads, options.keyHeads);
    take(feedForward, options.feedForward);
    take(documents, options.documents);
    return finish(buildDecoder, options);
  }
  if (name == "bert") {
    BertOptions options = sized(BertOptions());
    take(vocabulary, options.vocabulary);
    take(positions, options.positions);
    options.sequence = options.positions;
    take(sequence, options.sequence);
    takeTransformer(options);
    return finish(buildBert, options);
  }
  if (name == "vit") {
    ViTOptions options = sized(ViTOptions());
    take(imageSize, options.imageSize);
    take(patch, options.patch);
    take(labelSmoothing, options.labelSmoothing);
    takeTransformer(options);
    return finish(buildViT, options);
  }
  llvm::errs() << "amp-model: error: unknown model '" << name
               << "', expected mlp, lenet, resnet18, resnet50, gpt2, decoder, "
               << "bert or vit\n";
  return failure();
}

/// Prints the names and types of the arrays that a batch of `module` has.
static void printBatch(ModuleOp module, raw_ostream &os) {
  auto step = *module.getOps<FunctionOpInterface>().begin();
  FailureOr<amp::StepSignature> signature = amp::StepSignature::get(step);
  os << "batch arguments:";
  for (const amp::StepArgument &argument : signature->arguments)
    if (argument.role == amp::Role::Batch)
      os << " '" << argument.name << "' " << argument.type;
  os << '\n';
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (failed(amp::checkOptionNames("amp-model", argc, argv, {},
                                   {{"batch-size", "--batch"}})))
    return 1;
  cl::ParseCommandLineOptions(
      argc, argv,
      "Writes the training step of a model: mlp, lenet, resnet18, resnet50, "
      "gpt2, decoder, bert or vit\n");
  consulted.insert_range(
      ArrayRef<const cl::Option *>{&outputName, &printLocations, &onlyCount});
  MLIRContext context;
  int64_t batchSize = ModelBuilder::kBatch;
  if (failed(takeBatch(batchSize)))
    return 1;
  FailureOr<Model> model = build(&context, batchSize);
  if (failed(model))
    return 1;

  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file =
      openOutputFile(outputName, &message);
  if (!file) {
    llvm::errs() << "amp-model: error: " << message << "\n";
    return 1;
  }
  if (onlyCount) {
    file->os() << model->numParameters << "\n";
  } else {
    OpPrintingFlags flags;
    flags.printNameLocAsPrefix();
    if (printLocations)
      flags.enableDebugInfo(true, /*prettyForm=*/false);
    model->module->print(file->os(), flags);
    file->os() << "\n";
  }
  file->keep();
  if (outputName != "-" && !onlyCount)
    printBatch(*model->module, llvm::outs());
  return 0;
}
