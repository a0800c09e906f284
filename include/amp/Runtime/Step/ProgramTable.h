//===- ProgramTable.h - Exports steps through the C interface ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the functions of Interface.h over InterfaceStep.h, for all
// backends. CallerChecks.h checks every argument.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_STEP_PROGRAMTABLE_H
#define AMP_RUNTIME_STEP_PROGRAMTABLE_H

#include "amp/Runtime/Step/CallerChecks.h"
#include "amp/Runtime/Step/LastError.h"

#include <algorithm>
#include <cstring>

namespace amphost {

namespace table {

inline const InterfaceProgram *get(const amp_step_program *program) {
  return program ? static_cast<const InterfaceProgram *>(program->internal)
                 : nullptr;
}

/// Reports `body(object)`, or an error if the handle is null.
template <typename Object, typename Body>
int32_t call(Object *object, Body &&body) {
  return reportCall([&] {
    if (!object)
      return makeError(kInvalidArgument, "the program or step is null");
    return Status(body(*object)).rename(nameForC);
  });
}

/// Fails if a place for a result is null.
inline Status checkOutput(const void *output) {
  return output
             ? Status()
             : makeError(kInvalidArgument, "the place for the result is null");
}

inline void release(const amp_step_program *program) {
  if (const InterfaceProgram *object = get(program))
    object->release();
}

inline int32_t countTensors(const amp_step_program *program, int32_t list,
                            int32_t *count) {
  return call(get(program), [&](const InterfaceProgram &object) {
    AMP_RETURN_IF_ERROR(checkOutput(count));
    if (list < 0 || list >= kNumLists)
      return makeError(kInvalidArgument, "list %d, expected 0 to %d", list,
                       kNumLists - 1);
    *count = int32_t(listTensors(object.getTensors())[size_t(list)].size());
    return Status();
  });
}

inline int32_t describeTensor(const amp_step_program *program, int32_t list,
                              int32_t index, amp_step_tensor *tensor) {
  return call(get(program), [&](const InterfaceProgram &object) {
    size_t number = 0;
    AMP_RETURN_IF_ERROR(
        findTensor(listTensors(object.getTensors()), list, index, &number));
    return describe(object.getTensors()[number], nullptr, tensor);
  });
}

inline int32_t create(const amp_step_program *program,
                      const amp_step_options *options, amp_step **handle) {
  return call(get(program), [&](const InterfaceProgram &object) {
    AMP_RETURN_IF_ERROR(checkOutput(handle));
    *handle = nullptr;
    StepSettings settings;
    AMP_RETURN_IF_ERROR(readSettings(options, object.getNumRanks(), &settings));
    std::unique_ptr<InterfaceStep> step;
    AMP_RETURN_IF_ERROR(object.create(settings, &step));
    step->tolerance = settings.tolerance;
    AMP_RETURN_IF_ERROR(
        initialize(*step, settings.seed, nullptr, "", /*partial=*/true));
    if (settings.zeroStates)
      AMP_RETURN_IF_ERROR(step->zeroStates());
    *handle = new amp_step(std::move(step), settings.numSlots,
                           /*isForward=*/false);
    (*handle)->rank = settings.rank;
    (*handle)->hidesStates = settings.hidesStates;
    return Status();
  });
}

inline void destroy(amp_step *handle) {
  reportCall([&] {
    delete handle;
    return Status();
  });
}

inline int32_t getTensor(amp_step *handle, int32_t list, int32_t index,
                         amp_step_tensor *tensor) {
  return call(handle, [&](amp_step &object) {
    size_t number = 0;
    AMP_RETURN_IF_ERROR(findTensor(object.lists, list, index, &number));
    const bool hasAddress =
        list != AMP_STEP_LIST_BATCHES &&
        !(list == AMP_STEP_LIST_STATES && object.hidesStates);
    return describe(object.step->getTensors()[number],
                    hasAddress ? object.step->getData(number) : nullptr,
                    tensor);
  });
}

inline int32_t getMemory(amp_step *handle, int64_t *bytes) {
  return call(handle, [&](amp_step &object) {
    AMP_RETURN_IF_ERROR(checkOutput(bytes));
    *bytes = object.step->getMemoryBytes();
    return Status();
  });
}

inline int32_t getSteps(amp_step *handle, int64_t *steps) {
  return call(handle, [&](amp_step &object) {
    AMP_RETURN_IF_ERROR(checkOutput(steps));
    *steps = object.step->progress.step;
    return Status();
  });
}

inline int32_t initializeStates(amp_step *handle, uint64_t seed) {
  return call(handle, [&](amp_step &object) {
    return initialize(*object.step, seed, nullptr, "", /*partial=*/true);
  });
}

inline int32_t load(amp_step *handle, const char *path) {
  return call(handle, [&](amp_step &object) {
    if (!path)
      return makeError(kInvalidArgument, "the path is null");
    return loadCheckpoint(*object.step, path, object.step->tolerance);
  });
}

inline int32_t save(amp_step *handle, const char *path) {
  return call(handle, [&](amp_step &object) {
    if (!path)
      return makeError(kInvalidArgument, "the path is null");
    AMP_RETURN_IF_ERROR(object.step->gatherStates());
    return object.rank == 0 ? saveCheckpoint(*object.step, path) : Status();
  });
}

inline int32_t gatherStates(amp_step *handle) {
  return call(handle,
              [&](amp_step &object) { return object.step->gatherStates(); });
}

inline int32_t read(amp_step *handle, int32_t list, int32_t index, void *data,
                    uint64_t bytes) {
  return call(handle, [&](amp_step &object) {
    size_t tensor = 0;
    AMP_RETURN_IF_ERROR(findValue(object, list, index, data, bytes,
                                  /*isRead=*/true, &tensor));
    Array value;
    AMP_RETURN_IF_ERROR(object.step->read(tensor, &value));
    if (value.getNumBytes() != bytes)
      return makeError(kInvalidArgument, "%llu bytes for '%s', which has %zu",
                       (unsigned long long)bytes,
                       object.step->getTensors()[tensor].name.c_str(),
                       value.getNumBytes());
    if (bytes)
      std::memcpy(data, value.data(), bytes);
    return Status();
  });
}

inline int32_t write(amp_step *handle, int32_t list, int32_t index,
                     const void *data, uint64_t bytes) {
  return call(handle, [&](amp_step &object) {
    size_t tensor = 0;
    AMP_RETURN_IF_ERROR(findValue(object, list, index, data, bytes,
                                  /*isRead=*/false, &tensor));
    const TensorInfo &info = object.step->getTensors()[tensor];
    Array value(info.type, info.shape);
    if (bytes)
      std::memcpy(value.data(), data, bytes);
    return object.step->write(tensor, std::move(value));
  });
}

inline int32_t setHyperparameter(amp_step *handle, const char *name,
                                 double value) {
  return call(handle, [&](amp_step &object) {
    if (!name)
      return makeError(kInvalidArgument, "the name is null");
    size_t tensor = 0;
    AMP_RETURN_IF_ERROR(findHyperparameter(*object.step, name, &tensor));
    return object.step->enqueueHyperparameter(tensor, value);
  });
}

inline int32_t setStream(amp_step *handle, void *stream) {
  return call(handle,
              [&](amp_step &object) { return object.step->setStream(stream); });
}

inline int32_t setBatch(amp_step *handle, const amp_step_batch *batch) {
  return call(handle, [&](amp_step &object) {
    BatchData data;
    AMP_RETURN_IF_ERROR(readBatch(object, batch, &data));
    return object.step->setBatch(data);
  });
}

inline int32_t run(amp_step *handle, int32_t slot, int32_t steps) {
  return call(handle, [&](amp_step &object) {
    if (slot < 0 || slot >= object.numSlots)
      return makeError(kInvalidArgument, "slot %d of a step with %d", slot,
                       object.numSlots);
    if (steps < 0)
      return makeError(kInvalidArgument,
                       "%d steps to run, expected a number that is not "
                       "negative",
                       steps);
    return object.step->runWatched(slot, steps);
  });
}

inline int32_t synchronize(amp_step *handle) {
  return call(handle, [](amp_step &object) { return object.step->wait(); });
}

inline int32_t readMetrics(amp_step *handle, double *values, int32_t count) {
  return call(handle, [&](amp_step &object) {
    const size_t metrics = object.lists[AMP_STEP_LIST_METRICS].size();
    if (count < 0 || size_t(count) != metrics)
      return makeError(kInvalidArgument, "%d metrics asked for, there are %zu",
                       count, metrics);
    if (count)
      AMP_RETURN_IF_ERROR(checkOutput(values));
    std::vector<double> numbers;
    AMP_RETURN_IF_ERROR(object.step->readMetrics(&numbers));
    std::copy(numbers.begin(), numbers.end(), values);
    return Status();
  });
}

inline int32_t watch(amp_step *handle, int64_t every, int64_t done) {
  return call(handle, [&](amp_step &object) {
    if (every < 0 || done < -1)
      return makeError(kInvalidArgument,
                       "'every' is %lld and 'done' is %lld, expected at least "
                       "0 and at least -1",
                       (long long)every, (long long)done);
    AMP_RETURN_IF_ERROR(object.step->watch(every));
    if (done >= 0)
      object.step->progress.step = done;
    return Status();
  });
}

inline int32_t reportWatched(amp_step *handle, int32_t format,
                             const char *title, const char **text) {
  return call(handle, [&](amp_step &object) {
    AMP_RETURN_IF_ERROR(checkOutput(text));
    if (format < 0 || format > AMP_STEP_WATCH_PAGE || !title)
      return makeError(kInvalidArgument,
                       "format %d with %s title, expected a format from 0 to "
                       "%d and a title",
                       format, title ? "a" : "no", AMP_STEP_WATCH_PAGE);
    AMP_RETURN_IF_ERROR(
        object.step->printWatched(WatchFormat(format), title, &object.watched));
    *text = object.watched.c_str();
    return Status();
  });
}

inline int32_t createForward(amp_step *handle, amp_step **forward) {
  return call(handle, [&](amp_step &object) {
    AMP_RETURN_IF_ERROR(checkOutput(forward));
    *forward = nullptr;
    if (object.isForward)
      return makeError(kInvalidArgument, "the step is a forward function");
    std::unique_ptr<InterfaceStep> step;
    AMP_RETURN_IF_ERROR(object.step->createForwardStep(&step));
    AMP_RETURN_IF_ERROR(step->prepare(step->getFixedBatch()));
    AMP_RETURN_IF_ERROR(step->useStates(*object.step));
    *forward =
        new amp_step(std::move(step), object.numSlots, /*isForward=*/true);
    return Status();
  });
}

inline int32_t useStates(amp_step *forward, amp_step *handle) {
  return call(forward, [&](amp_step &object) {
    if (!handle || !object.isForward || handle->isForward)
      return makeError(kInvalidArgument,
                       "expected a forward function and its step");
    return object.step->useStates(*handle->step);
  });
}

} // namespace table

/// The description of a program.
struct ProgramLabels {
  const char *name = "", *backend = "", *precision = "";
  uint64_t fingerprint = 0;
  int64_t fixedBatch = 0;
  bool hasForward = false;
};

/// The table of `program`, which must outlive it.
inline amp_step_program makeTable(const InterfaceProgram &program,
                                  const ProgramLabels &labels) {
  amp_step_program result = {};
  result.version = AMP_STEP_VERSION;
  result.size = sizeof(result);
  result.last_error = [] { return lastError(); };
  result.name = labels.name;
  result.backend = labels.backend;
  result.precision = labels.precision ? labels.precision : "";
  result.fingerprint = labels.fingerprint;
  result.fixed_batch = labels.fixedBatch;
  result.has_forward = labels.hasForward;
  result.internal = &program;
  result.release = table::release;
  result.count_tensors = table::countTensors;
  result.describe_tensor = table::describeTensor;
  result.create = table::create;
  result.destroy = table::destroy;
  result.get_tensor = table::getTensor;
  result.get_memory = table::getMemory;
  result.get_steps = table::getSteps;
  result.initialize = table::initializeStates;
  result.load = table::load;
  result.save = table::save;
  result.read = table::read;
  result.write = table::write;
  result.set_hyperparameter = table::setHyperparameter;
  result.set_stream = table::setStream;
  result.set_batch = table::setBatch;
  result.run = table::run;
  result.synchronize = table::synchronize;
  result.read_metrics = table::readMetrics;
  result.create_forward = table::createForward;
  result.use_states = table::useStates;
  result.num_ranks = program.getNumRanks();
  result.gather_states = table::gatherStates;
  result.watch = table::watch;
  result.report_watched = table::reportWatched;
  return result;
}

/// Answers `amp_step_get_program` and checks the version of the caller.
inline int32_t checkVersion(uint32_t version, const amp_step_program **program,
                            const char **message) {
  const int32_t code = reportCall([&] {
    AMP_RETURN_IF_ERROR(table::checkOutput(program));
    *program = nullptr;
    if (version != AMP_STEP_VERSION)
      return makeError(kWrongVersion,
                       "the caller asks for version %u of the interface, but "
                       "this program has version %d",
                       version, AMP_STEP_VERSION);
    return Status();
  });
  if (message)
    *message = code == AMP_STEP_OK ? nullptr : lastError();
  return code;
}

} // namespace amphost

#endif // AMP_RUNTIME_STEP_PROGRAMTABLE_H
