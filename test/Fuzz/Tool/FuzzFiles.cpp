//===- FuzzFiles.cpp - Arrays and checkpoints -----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "amp/Runtime/Host/CheckpointFile.h"
#include "amp/Runtime/Host/Npz.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace mlir::amp;
using llvm::StringRef;

namespace {

/// A file in a folder of this process, which the process removes.
class ScratchFolder {
public:
  static std::string getPath(StringRef name) {
    static ScratchFolder folder;
    return (folder.path + "/" + name).str();
  }

private:
  ScratchFolder() {
    fuzz::require(!llvm::sys::fs::createUniqueDirectory("amp-fuzz", path),
                  "there is a folder for temporary files");
  }
  ~ScratchFolder() { llvm::sys::fs::remove_directories(path); }

  llvm::SmallString<128> path;
};

/// A step that only has states.
class StateStep : public amphost::Step {
public:
  StateStep() {
    auto add = [&](const char *name, amphost::Role role,
                   amphost::ElementType type, amphost::Shape shape) {
      amphost::TensorInfo info;
      info.name = name;
      info.role = role;
      info.type = type;
      info.shape = std::move(shape);
      info.isLossScale = StringRef(name) == "loss_scale";
      values.emplace_back(type, info.shape);
      tensors.push_back(std::move(info));
    };
    using amphost::ElementType;
    using amphost::Role;
    add("w", Role::Parameter, ElementType::F32, {2, 3});
    add("w.low", Role::Parameter, ElementType::BF16, {2, 3});
    add("m", Role::OptimizerState, ElementType::F16, {6});
    add("mean", Role::ModelState, ElementType::F64, {});
    add("loss_scale", Role::ScalerState, ElementType::F32, {});
    add("growth", Role::ScalerState, ElementType::I32, {});
    values[4].fill(65536.0);
  }

  const std::vector<amphost::TensorInfo> &getTensors() const override {
    return tensors;
  }
  amphost::CheckpointIdentity getIdentity() const override {
    return {"bf16", 7, "scaler = dynamic\ngrowth-interval = 2000\n"};
  }
  int64_t getFixedBatch() const override { return 4; }
  amphost::Status prepare(int64_t) override { return {}; }
  amphost::Status read(size_t tensor, amphost::Array *value) override {
    *value = values[tensor].clone();
    return {};
  }
  amphost::Status write(size_t tensor, amphost::Array value) override {
    fuzz::require(tensors[tensor].fits(value) && value.isValid(),
                  "a state that is written has its type and shape");
    values[tensor] = std::move(value);
    return {};
  }
  amphost::Status fill(size_t, int64_t, size_t,
                       const std::function<void(void *)> &) override {
    return {};
  }
  amphost::Status run(int) override { return {}; }
  amphost::Status wait() override { return {}; }
  bool isAsynchronous() const override { return false; }
  amphost::Status readMetrics(std::vector<double> *) override { return {}; }
  void addMemory(amphost::Results *) override {}
  amphost::Status createForward(std::unique_ptr<Step> *) override { return {}; }
  std::vector<amphost::EvaluationRule> getEvaluationRules() const override {
    return {};
  }

private:
  std::vector<amphost::TensorInfo> tensors;
  std::vector<amphost::Array> values;
};

} // namespace

/// Writes the bytes of a file.
static void write(const std::string &path, StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  os << bytes;
  os.close();
  fuzz::require(!error && !os.has_error(), "temporary files can be written");
}

/// Writes an archive of the members that `input` lists. Its checksums are
/// right, which random changes of an archive never make them.
static void writeMembers(const std::string &path, StringRef input) {
  amphost::OutputFile file;
  fuzz::require(file.open(path).isOk(), "temporary files can be written");
  amphost::ZipWriter archive(file);
  while (!input.empty()) {
    auto [line, rest] = input.split('\n');
    auto [name, number] = line.rsplit(':');
    size_t size = 0;
    if (number.getAsInteger(10, size))
      size = rest.size();
    StringRef bytes = rest.take_front(size);
    input = rest.drop_front(bytes.size());
    fuzz::require(
        archive.add(name.str() + ".npy", "", bytes.data(), bytes.size()).isOk(),
        "temporary files can be written");
  }
  fuzz::require(archive.finish().isOk() && file.commit().isOk(),
                "temporary files can be written");
}

/// Writes the file that `input` describes and returns its path.
static std::string writeInput(StringRef input) {
  std::string path = ScratchFolder::getPath(
      input.starts_with("\x93NUMPY") ? "input.npy" : "input.npz");
  if (input.consume_front("M"))
    writeMembers(path, input);
  else
    write(path, input);
  return path;
}

void fuzz::fuzzArrays(StringRef input) {
  const std::string path = writeInput(input);
  amphost::ArrayMap arrays, again;
  if (!amphost::readArrays(path, &arrays).isOk())
    return;
  const std::string copy = ScratchFolder::getPath("copy.npz");
  if (!amphost::writeArrays(copy, arrays).isOk())
    return;
  require(amphost::readArrays(copy, &again).isOk(),
          "arrays that are written can be read");
  require(arrays.size() == again.size(), "no array is lost");
  for (const auto &[name, array] : arrays) {
    const amphost::Array *other = again.lookup(name);
    require(other && other->getShape() == array.getShape() &&
                other->getType() == array.getType() &&
                !std::memcmp(other->data(), array.data(), array.getNumBytes()),
            "an array that is written and read stays the same");
  }
}

void fuzz::fuzzState(StringRef input) {
  const std::string path = writeInput(input);
  amphost::CheckpointTolerance tolerance;
  for (bool tolerates : {false, true}) {
    tolerance.otherScaler = tolerance.otherBatchSize = tolerates;
    StateStep step;
    if (!amphost::loadCheckpoint(step, path, tolerance).isOk())
      continue;
    const std::string copy = ScratchFolder::getPath("copy.npz");
    require(amphost::saveCheckpoint(step, copy).isOk(),
            "a state that is loaded can be saved");
    StateStep resumed;
    require(amphost::loadCheckpoint(resumed, copy, tolerance).isOk(),
            "a state that is saved can be loaded");
  }
  StateStep step;
  amphost::ArrayMap weights;
  std::vector<std::string> missing;
  if (amphost::readWeights(step, path, &weights, &missing).isOk())
    (void)amphost::initialize(step, 0, &weights, path, /*partial=*/true).isOk();
}
