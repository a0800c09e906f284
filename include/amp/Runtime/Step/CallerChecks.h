//===- CallerChecks.h - Checks of what callers of C pass --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_STEP_CALLERCHECKS_H
#define AMP_RUNTIME_STEP_CALLERCHECKS_H

#include "amp/Runtime/Step/InterfaceStep.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace amphost {

static_assert(int(Role::Parameter) == AMP_STEP_PARAMETER &&
                  int(Role::ScalerState) == AMP_STEP_SCALER_STATE &&
                  int(Role::Hyperparameter) == AMP_STEP_HYPERPARAMETER &&
                  int(Role::Batch) == AMP_STEP_BATCH &&
                  int(Role::Metric) == AMP_STEP_METRIC &&
                  int(Role::Prediction) == AMP_STEP_PREDICTION,
              "roles of the C interface");
static_assert(int(ElementType::Bool) == AMP_STEP_BOOL &&
                  int(ElementType::U8) == AMP_STEP_U8 &&
                  int(ElementType::F16) == AMP_STEP_F16 &&
                  int(ElementType::F64) == AMP_STEP_F64,
              "element types of the C interface");
static_assert(int(WatchFormat::Table) == AMP_STEP_WATCH_TABLE &&
                  int(WatchFormat::Page) == AMP_STEP_WATCH_PAGE,
              "forms of reports of the C interface");

inline constexpr ErrorCode kUnsupportedRequest =
                               ErrorCode(AMP_STEP_UNSUPPORTED),
                           kWrongVersion = ErrorCode(AMP_STEP_WRONG_VERSION);
inline constexpr int kNumLists = AMP_STEP_LIST_PREDICTIONS + 1;

/// The tensors of each list, by index.
using TensorLists = std::array<std::vector<size_t>, kNumLists>;

inline TensorLists listTensors(const std::vector<TensorInfo> &tensors) {
  TensorLists lists;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Role role = tensors[i].role;
    if (isState(role))
      lists[AMP_STEP_LIST_STATES].push_back(i);
    else if (role <= Role::Prediction)
      lists[size_t(AMP_STEP_LIST_HYPERPARAMETERS) + size_t(role) -
            size_t(Role::Hyperparameter)]
          .push_back(i);
  }
  return lists;
}

} // namespace amphost

/// The object behind a handle of the C interface.
struct amp_step {
  explicit amp_step(std::unique_ptr<amphost::InterfaceStep> own, int numSlots,
                    bool isForward)
      : step(std::move(own)), lists(amphost::listTensors(step->getTensors())),
        numSlots(numSlots), isForward(isForward) {}

  std::unique_ptr<amphost::InterfaceStep> step;
  amphost::TensorLists lists;
  int numSlots;
  bool isForward;
  int rank = 0;
  bool hidesStates = false;
  /// The last text of `report_watched`.
  std::string watched;
};

namespace amphost {

/// Fails if a structure of the caller is smaller than that of this version, or
/// has a member of a later one. `data` begins with the size.
inline Status checkStructure(const void *data, size_t size, const char *name,
                             bool isInput) {
  if (!data)
    return makeError(kInvalidArgument, "the %s is null", name);
  uint32_t given;
  std::memcpy(&given, data, sizeof(given));
  if (given < size)
    return makeError(kInvalidArgument,
                     "the size of %s is %u, expected at least %zu", name, given,
                     size);
  const char *bytes = static_cast<const char *>(data);
  for (size_t i = size; isInput && i < given; ++i)
    if (bytes[i] != 0)
      return makeError(kUnsupportedRequest,
                       "%s sets a member beyond its first %zu bytes, which "
                       "version %d of the interface does not have",
                       name, size, AMP_STEP_VERSION);
  return Status();
}

/// The tensor `index` of a list.
inline Status findTensor(const TensorLists &lists, int32_t list, int32_t index,
                         size_t *tensor) {
  if (list < 0 || list >= kNumLists)
    return makeError(kInvalidArgument, "list %d, expected 0 to %d", list,
                     kNumLists - 1);
  const std::vector<size_t> &tensors = lists[size_t(list)];
  if (index < 0 || size_t(index) >= tensors.size())
    return makeError(kInvalidArgument, "tensor %d of list %d, which has %zu",
                     index, list, tensors.size());
  *tensor = tensors[size_t(index)];
  return Status();
}

/// The bytes of a tensor of a shape; -1 if an extent is open.
inline int64_t countBytes(ElementType type, const Shape &shape) {
  int64_t bytes = byteWidth(type);
  for (int64_t extent : shape) {
    if (extent < 0)
      return -1;
    bytes *= extent;
  }
  return bytes;
}

inline Status describe(const TensorInfo &info, void *data,
                       amp_step_tensor *tensor) {
  AMP_RETURN_IF_ERROR(checkStructure(tensor, sizeof(amp_step_tensor),
                                     "amp_step_tensor", /*isInput=*/false));
  const uint32_t size = tensor->size;
  std::memset(static_cast<void *>(tensor), 0, size);
  tensor->size = size;
  tensor->role = int32_t(info.role);
  tensor->type = int32_t(info.type);
  tensor->rank = int32_t(info.shape.size());
  tensor->shape = info.shape.data();
  tensor->name = info.name.c_str();
  tensor->data = data;
  tensor->bytes = countBytes(info.type, info.shape);
  tensor->classes = info.classes;
  return Status();
}

/// Checks the options of a caller that concern ranks, for a program of
/// `numRanks` ranks.
inline Status checkRanks(int numRanks, StepSettings *settings) {
  if (settings->numRanks < 1)
    return makeError(kInvalidArgument, "num_ranks is %d, expected at least 0",
                     settings->numRanks);
  if (settings->rank < 0 || settings->rank >= settings->numRanks)
    return makeError(kInvalidArgument, "rank %d of %d, expected 0 to %d",
                     settings->rank, settings->numRanks,
                     settings->numRanks - 1);
  if (numRanks >= 0 && settings->numRanks != std::max(numRanks, 1))
    return makeError(
        kInvalidArgument, "the program is for %d rank%s, but num_ranks is %d",
        std::max(numRanks, 1), numRanks > 1 ? "s" : "", settings->numRanks);
  if (settings->exchange && !settings->exchange->exchange)
    return makeError(kInvalidArgument,
                     "the exchange of the ranks has no function");
  if (numRanks >= 0 && numRanks <= 1 &&
      (settings->communicator || settings->exchange))
    return makeError(kUnsupportedRequest,
                     "a communicator or an exchange, but this program runs on "
                     "one rank");
  return Status();
}

/// Checks options of the caller, which may be null, for a program of `numRanks`
/// ranks.
inline Status readSettings(const amp_step_options *options, int numRanks,
                           StepSettings *settings) {
  if (!options)
    return checkRanks(numRanks, settings);
  AMP_RETURN_IF_ERROR(checkStructure(options, sizeof(amp_step_options),
                                     "amp_step_options", /*isInput=*/true));
  constexpr uint32_t kFlags = 2 * AMP_STEP_NO_STATE_ADDRESSES - 1;
  if (options->flags & ~kFlags)
    return makeError(kUnsupportedRequest,
                     "unknown flags 0x%x in amp_step_options",
                     options->flags & ~kFlags);
  if (options->num_slots < 0 || options->num_slots > kMaxSlots)
    return makeError(kInvalidArgument, "%d slots, expected 1 or 2",
                     options->num_slots);
  if (!options->allocator.allocate != !options->allocator.deallocate)
    return makeError(kInvalidArgument,
                     "an allocator with one function, expected both or none");
  if (options->caller.context && !options->caller.call)
    return makeError(kInvalidArgument,
                     "a caller with a context and no function, expected both");
  if (options->deadline > uint64_t(INT32_MAX))
    return makeError(kInvalidArgument, "a deadline of more than %d seconds",
                     INT32_MAX);
  settings->rank = options->rank;
  settings->numRanks = options->num_ranks == 0 ? 1 : options->num_ranks;
  settings->communicator = options->communicator;
  settings->exchange = options->exchange;
  if (options->deadline)
    settings->deadline = int64_t(options->deadline);
  AMP_RETURN_IF_ERROR(checkRanks(numRanks, settings));
  for (uint64_t word : options->reserved)
    if (word != 0)
      return makeError(kUnsupportedRequest,
                       "a reserved member of amp_step_options is not 0");
  const uint32_t flags = options->flags;
  if (options->stream && !(flags & AMP_STEP_CALLER_STREAM))
    return makeError(kInvalidArgument,
                     "a stream without the flag AMP_STEP_CALLER_STREAM");
  settings->device = options->device;
  settings->numSlots = std::max(options->num_slots, 1);
  if (flags & AMP_STEP_CALLER_STREAM)
    settings->stream = options->stream;
  settings->allocator = options->allocator;
  settings->caller = options->caller;
  settings->seed = options->seed;
  settings->tuneCache = options->tune_cache ? options->tune_cache : "";
  settings->zeroStates = flags & AMP_STEP_ZERO_STATES;
  settings->useGraph = !(flags & AMP_STEP_NO_GRAPH);
  settings->poison = flags & AMP_STEP_POISON;
  settings->tune = flags & AMP_STEP_TUNE;
  settings->predictions = !(flags & AMP_STEP_NO_PREDICTIONS);
  settings->hidesStates = flags & AMP_STEP_NO_STATE_ADDRESSES;
  settings->tolerance.otherScaler = flags & AMP_STEP_OTHER_SCALER;
  settings->tolerance.otherBatchSize = flags & AMP_STEP_OTHER_BATCH_SIZE;
  return Status();
}

/// Checks a batch of the caller.
inline Status readBatch(const amp_step &handle, const amp_step_batch *batch,
                        BatchData *data) {
  AMP_RETURN_IF_ERROR(checkStructure(batch, sizeof(amp_step_batch),
                                     "amp_step_batch", /*isInput=*/true));
  AMP_RETURN_IF_ERROR(findTensor(handle.lists, AMP_STEP_LIST_BATCHES,
                                 batch->index, &data->tensor));
  const TensorInfo &info = handle.step->getTensors()[data->tensor];
  if (batch->slot < 0 || batch->slot >= handle.numSlots)
    return makeError(kInvalidArgument, "slot %d of a step with %d", batch->slot,
                     handle.numSlots);
  if (batch->memory != AMP_STEP_HOST && batch->memory != AMP_STEP_DEVICE)
    return makeError(kInvalidArgument,
                     "memory %d, expected AMP_STEP_HOST or AMP_STEP_DEVICE",
                     batch->memory);
  if ((batch->flags & ~uint32_t(AMP_STEP_COPY_STREAM)) || batch->reserved)
    return makeError(kUnsupportedRequest,
                     "unknown flags or a reserved member in amp_step_batch");
  if (batch->stream && !(batch->flags & AMP_STEP_COPY_STREAM))
    return makeError(kInvalidArgument,
                     "a stream without the flag AMP_STEP_COPY_STREAM");
  if (batch->type < 0 || batch->type >= kNumElementTypes || batch->rank < 0 ||
      batch->rank > 64 || (batch->rank > 0 && !batch->shape))
    return makeError(kInvalidArgument,
                     "batch '%s' has type %d, rank %d and %s shape, expected "
                     "%s",
                     info.name.c_str(), batch->type, batch->rank,
                     batch->shape ? "a" : "no", info.describe().c_str());
  data->shape.assign(batch->shape, batch->shape + batch->rank);
  for (size_t i = 0; i < data->shape.size(); ++i)
    if (data->shape[i] < 1)
      return makeError(kInvalidArgument,
                       "extent %zu of batch '%s' is %lld, expected a positive "
                       "number of %s",
                       i, info.name.c_str(), (long long)data->shape[i],
                       i == 0 ? "samples" : "elements");
  bool fits = ElementType(batch->type) == info.type &&
              data->shape.size() == info.shape.size();
  for (size_t i = 0; fits && i < info.shape.size(); ++i)
    fits = info.shape[i] < 0 ? data->shape[i] >= 1
                             : data->shape[i] == info.shape[i];
  if (!fits)
    return makeError(
        kInvalidArgument, "batch '%s' is %s, expected %s", info.name.c_str(),
        describeShape(data->shape, ElementType(batch->type)).c_str(),
        info.describe().c_str());
  data->bytes = size_t(countBytes(info.type, data->shape));
  if (!batch->data && data->bytes)
    return makeError(kInvalidArgument, "the data of batch '%s' are null",
                     info.name.c_str());
  data->slot = batch->slot;
  data->isOnDevice = batch->memory == AMP_STEP_DEVICE;
  data->data = batch->data;
  if (batch->flags & AMP_STEP_COPY_STREAM)
    data->stream = batch->stream;
  return Status();
}

/// Checks a copy between the host and a tensor, which is set.
inline Status findValue(const amp_step &handle, int32_t list, int32_t index,
                        const void *data, uint64_t bytes, bool isRead,
                        size_t *tensor) {
  const bool takes = isRead ? list != AMP_STEP_LIST_BATCHES
                            : list == AMP_STEP_LIST_STATES ||
                                  list == AMP_STEP_LIST_HYPERPARAMETERS;
  if (!takes)
    return makeError(kInvalidArgument, "tensors of list %d cannot be %s", list,
                     isRead ? "read" : "written");
  AMP_RETURN_IF_ERROR(findTensor(handle.lists, list, index, tensor));
  const TensorInfo &info = handle.step->getTensors()[*tensor];
  const int64_t expected = countBytes(info.type, info.shape);
  if (expected >= 0 && uint64_t(expected) != bytes)
    return makeError(kInvalidArgument,
                     "%llu bytes for '%s', expected %lld (%s)",
                     (unsigned long long)bytes, info.name.c_str(),
                     (long long)expected, info.describe().c_str());
  if (!data && bytes)
    return makeError(kInvalidArgument, "the data for '%s' are null",
                     info.name.c_str());
  return Status();
}

} // namespace amphost

#endif // AMP_RUNTIME_STEP_CALLERCHECKS_H
