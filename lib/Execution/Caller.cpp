//===- Caller.cpp - Operations of the program that runs a step ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Caller.h"

#include "StridedBuffer.h"
#include "amp/Execution/Errors.h"
#include "amp/Execution/StepMemory.h"
#include <csetjmp>
#include <string>
#include <vector>

using namespace mlir::amp;

namespace {

/// An operand or a result of the next call.
struct CallBuffer : StridedBuffer {
  CallBuffer(int32_t type, size_t width, int64_t rank, const void *descriptor)
      : StridedBuffer(width, rank, descriptor), type(type) {}
  int32_t type;
};

/// The run of a step on this thread.
struct CallingRun {
  const amp_step_caller *caller;
  /// The run during which the caller started this run, or null.
  CallingRun *outer;
  void *memory;
  std::vector<CallBuffer> buffers;
  std::string error;
  /// The target of the jump after an error.
  std::jmp_buf end;
};

} // namespace

static thread_local CallingRun *currentRun = nullptr;

template <int32_t type, size_t width>
static void addCallBuffer(int64_t rank, void *descriptor) {
  currentRun->buffers.emplace_back(type, width, rank, descriptor);
}

/// Keeps a buffer allocated until this call.
static void releaseBuffer(int64_t, void *) {}

/// Describes a buffer as a tensor. Packs the elements into `storage` unless
/// they are contiguous.
static amp_step_tensor describeBuffer(const CallBuffer &buffer,
                                      std::vector<char> &storage) {
  void *data = buffer.getData();
  if (!buffer.isContiguous()) {
    storage.resize(buffer.getNumBytes());
    buffer.pack(storage.data());
    data = storage.data();
  }
  amp_step_tensor tensor = {};
  tensor.size = sizeof(tensor);
  tensor.role = -1;
  tensor.type = buffer.type;
  tensor.rank = int32_t(buffer.getShape().size());
  tensor.shape = buffer.getShape().data();
  tensor.data = data;
  tensor.bytes = int64_t(buffer.getNumBytes());
  return tensor;
}

/// Calls the operation `name` on the buffers of the run. Returns whether it
/// succeeded.
static bool callOperation(CallingRun &run, std::string name,
                          const int64_t *numbers) {
  const size_t numOperands = size_t(numbers[0]);
  std::vector<std::vector<char>> storage(run.buffers.size());
  std::vector<amp_step_tensor> tensors;
  for (size_t i = 0; i < run.buffers.size(); ++i)
    tensors.push_back(describeBuffer(run.buffers[i], storage[i]));
  amp_step_call call = {};
  call.size = sizeof(call);
  call.name = name.c_str();
  call.num_operands = int32_t(numOperands);
  call.operands = tensors.data();
  call.num_results = int32_t(tensors.size() - numOperands);
  call.results = tensors.data() + numOperands;
  call.num_seeds = int32_t(numbers[1]);
  call.seeds = numbers + 2;
  call.wrt = numbers + 2 + numbers[1];
  const int32_t code = run.caller->call(run.caller->context, &call);
  run.buffers.clear();
  if (code == AMP_STEP_OK)
    return true;
  run.error = "the caller's operation '" + name + "' failed with error " +
              std::to_string(code);
  return false;
}

static void runCall(int64_t, void *name, int64_t, void *numbers) {
  {
    StridedBuffer letters(/*width=*/1, /*rank=*/1, name);
    StridedBuffer list(sizeof(int64_t), /*rank=*/1, numbers);
    if (callOperation(*currentRun,
                      std::string(letters.getData(), letters.getNumBytes()),
                      reinterpret_cast<const int64_t *>(list.getData())))
      return;
  }
  // Compiled code has no destructors to run.
  std::longjmp(currentRun->end, 1);
}

/// Runs the code and returns false if it ended early. An error jumps back to
/// this function, so it has no objects with destructors.
static bool runToEnd(CallingRun &run, void (*code)(void **), void **arguments) {
  if (setjmp(run.end))
    return false;
  code(arguments);
  return true;
}

llvm::Error mlir::amp::runWithCaller(const amp_step_caller &caller,
                                     void (*code)(void **), void **arguments) {
  CallingRun run = {&caller, currentRun, markStepMemory(), {}, {}, {}};
  currentRun = &run;
  const bool isWhole = runToEnd(run, code, arguments);
  currentRun = run.outer;
  if (isWhole)
    return llvm::Error::success();
  freeStepMemory(run.memory);
  return makeError("{0}", run.error);
}

void mlir::amp::defineCalls(
    llvm::function_ref<void(llvm::StringRef, void *)> define) {
  const std::pair<llvm::StringRef, void (*)(int64_t, void *)> adders[] = {
      {"i1", &addCallBuffer<AMP_STEP_BOOL, 1>},
      {"i32", &addCallBuffer<AMP_STEP_I32, 4>},
      {"i64", &addCallBuffer<AMP_STEP_I64, 8>},
      {"f16", &addCallBuffer<AMP_STEP_F16, 2>},
      {"bf16", &addCallBuffer<AMP_STEP_BF16, 2>},
      {"f32", &addCallBuffer<AMP_STEP_F32, 4>},
      {"f64", &addCallBuffer<AMP_STEP_F64, 8>}};
  for (auto [type, function] : adders) {
    define(("amp_call_add_" + type).str(), reinterpret_cast<void *>(function));
    define(("amp_call_release_" + type).str(),
           reinterpret_cast<void *>(&releaseBuffer));
  }
  define("amp_call_run", reinterpret_cast<void *>(&runCall));
}
