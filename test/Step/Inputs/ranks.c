/* Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Starts ranks that train a step together through the C interface alone. The
 * ranks exchange bytes over shared memory. With RANKS_OF_CUDA, the step is
 * linked to this program, and this file is C++. Otherwise this program compiles
 * a module, and this file is C99.
 *
 *   ranks <number> <data> <rows> <out.npz> <module or way>
 *         <shard|whole|fail|seed|graph|layout>
 *
 * With seed, graph and layout, rank 1 has other options than the other ranks,
 * and every rank expects an error.
 *
 * The data file contains the rows of x as f32[4], then the rows of y as i32. */

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#ifdef RANKS_OF_CUDA
#include "amp/Runtime/Step/Interface.h"
#include "nccl.h"
#include "step.h"
#else
#include "amp-c/CompileStep.h"
#endif
#include "caller.h"

enum { MOST_RANKS = 4, AREA = 1 << 16, STEPS = 6, FEATURES = 4, BATCH = 24 };

/* The memory that the ranks share, with an area for each pair of ranks. */
typedef struct Shared {
  pthread_barrier_t barrier;
  char areas[MOST_RANKS][MOST_RANKS][AREA];
} Shared;

typedef struct Rank {
  Shared *shared;
  int rank, ranks;
  int calls, failing; /* the number of the call that fails, or 0 */
} Rank;

static int32_t exchange(void *context, const void *send, uint64_t stride,
                        void *receive, uint64_t bytes) {
  Rank *own = (Rank *)context;
  int other;
  if (bytes > AREA)
    return 7;
  if (++own->calls == own->failing)
    return 5;
  for (other = 0; other < own->ranks; ++other)
    memcpy(own->shared->areas[own->rank][other],
           (const char *)send + (uint64_t)other * stride, bytes);
  pthread_barrier_wait(&own->shared->barrier);
  for (other = 0; other < own->ranks; ++other)
    memcpy((char *)receive + (uint64_t)other * bytes,
           own->shared->areas[other][own->rank], bytes);
  pthread_barrier_wait(&own->shared->barrier);
  return 0;
}

/* Fails unless `code` is an error whose message contains `text`. */
static void expect(const amp_step_program *program, int32_t code,
                   const char *text) {
  if (code != AMP_STEP_OK && strstr(program->last_error(), text))
    return;
  fprintf(stderr, "expected '%s', got %d '%s'\n", text, code,
          program->last_error());
  _exit(1);
}

static const amp_step_program *get_program(const char *module, int rank,
                                           int ranks, int shards) {
  const amp_step_program *program = NULL;
  const char *message = NULL;
  int32_t code;
#ifdef RANKS_OF_CUDA
  (void)module, (void)rank, (void)ranks, (void)shards;
  code = step_get_program(AMP_STEP_VERSION, &program, &message);
#else
  long length = 0;
  char *text = read_file(module, &length);
  amp_step_compile_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.precision = "f32";
  options.threads = 1;
  options.num_ranks = ranks;
  options.rank = rank;
  options.flags = shards ? AMP_STEP_SHARD_OPTIMIZER : 0;
  options.pipeline = shards ? "shard-min-elements=1" : NULL;
  code = amp_step_compile(AMP_STEP_VERSION, text, (uint64_t)length, &options,
                          &program, &message);
  free(text);
#endif
  if (code != AMP_STEP_OK) {
    fprintf(stderr, "error %d: %s\n", code, message);
    _exit(1);
  }
  return program;
}

/* With `shards`, each rank has a part of the velocity, and no rank can read it
 * before all ranks gather it. */
static void check_parts(const amp_step_program *program, amp_step *step,
                        int rank, int shards) {
  float velocity[FEATURES * 3];
  amp_step_tensor tensor;
  int32_t index;
  tensor.size = sizeof(tensor);
  for (index = 0; program->get_tensor(step, AMP_STEP_LIST_STATES, index,
                                      &tensor) == AMP_STEP_OK;
       ++index)
    if (strcmp(tensor.name, "velocity") == 0)
      break;
  if ((tensor.data == NULL) != shards || tensor.rank != 2)
    _exit(3);
  if (shards)
    check(program, program->gather_states(step));
  if (rank == 0 || !shards)
    check(program, program->read(step, AMP_STEP_LIST_STATES, index, velocity,
                                 sizeof(velocity)));
  else if (program->read(step, AMP_STEP_LIST_STATES, index, velocity,
                         sizeof(velocity)) == AMP_STEP_OK)
    _exit(4);
}

/* Gives rank 1 other options. Returns the error that every rank expects, or
 * NULL if the ranks are equal. */
static const char *differ(const char *way, int rank,
                          amp_step_options *options) {
  if (strcmp(way, "seed") == 0) {
    options->seed += rank == 1;
    return "'seed' is 4 on rank 1 of 2, but 3 on rank 0";
  }
  if (strcmp(way, "graph") == 0) {
    options->flags = rank == 1 ? AMP_STEP_NO_GRAPH : 0;
    return "'AMP_STEP_NO_GRAPH' is given on rank 1 of 2, but not on rank 0";
  }
  if (strcmp(way, "layout") == 0)
    return "'AMP_STEP_SHARD_OPTIMIZER' is given on rank 1 of 2, but not on "
           "rank "
           "0";
  return NULL;
}

static int run_rank(Rank *own, char **argv) {
  const int shards = strcmp(argv[6], "shard") == 0 ||
                     (strcmp(argv[6], "layout") == 0 && own->rank == 1);
  const char *difference;
  const amp_step_program *program =
      get_program(argv[5], own->rank, own->ranks, shards);
  const int64_t part = BATCH / own->ranks, shape[2] = {part, FEATURES};
  long length = 0;
  char *data = read_file(argv[2], &length);
  const long rows = atol(argv[3]);
  amp_step_exchange functions;
  amp_step_options options;
  amp_step *step = NULL;
  double loss = 0;
  int i;
  functions.context = own;
  functions.exchange = exchange;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.seed = 3;
  options.rank = own->rank;
  expect(program, program->create(program, &options, &step),
         own->rank ? "expected 0 to 0" : "but num_ranks is 1");
  options.num_ranks = own->ranks;
  options.exchange = &functions;
  options.deadline = 20;
#ifdef RANKS_OF_CUDA
  if (strcmp(argv[5], "communicator") == 0) {
    ncclUniqueId own_id, ids[MOST_RANKS];
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t communicator = NULL;
    ncclResult_t state = ncclInProgress;
    memset(&own_id, 0, sizeof(own_id));
    if (own->rank == 0)
      ncclGetUniqueId(&own_id);
    exchange(own, &own_id, 0, ids, sizeof(own_id));
    ncclCommInitRankConfig(&communicator, own->ranks, ids[0], own->rank,
                           &config);
    while (state == ncclInProgress)
      ncclCommGetAsyncError(communicator, &state);
    options.communicator = communicator;
    options.exchange = NULL;
    options.rank = (own->rank + 1) % own->ranks;
    expect(program, program->create(program, &options, &step),
           "but the options say rank");
    options.rank = own->rank;
  }
#else
  options.communicator = own;
  expect(program, program->create(program, &options, &step),
         "takes no communicator, expected an exchange");
  options.communicator = NULL;
#endif
  if ((difference = differ(argv[6], own->rank, &options))) {
    expect(program, program->create(program, &options, &step), difference);
    printf("refused\n");
    fflush(stdout);
    return 0;
  }
  check(program, program->create(program, &options, &step));
  check(program, program->set_hyperparameter(step, "lr", 0.25));
  for (i = 0; i < STEPS; ++i) {
    const long row = (long)i * BATCH + own->rank * (long)part;
    if (strcmp(argv[6], "fail") == 0 && own->rank == 1 && i == 2)
      own->failing = own->calls + 3;
    set_batch(program, step, 0, 0, AMP_STEP_F32, 2, shape,
              data + row * FEATURES * 4);
    set_batch(program, step, 0, 1, AMP_STEP_I32, 1, shape,
              data + rows * FEATURES * 4 + row * 4);
    if (own->failing) {
      /* This rank ends here, because the other ranks wait for it. */
      expect(program, program->run(step, 0, 1),
             "the exchange of the caller returned 5 in collective");
      printf("failed\n");
      fflush(stdout);
      _exit(0);
    }
    check(program, program->run(step, 0, 1));
  }
  check(program, program->read_metrics(step, &loss, 1));
  check_parts(program, step, own->rank, shards);
  check(program, program->save(step, argv[4]));
  if (own->rank == 0)
    printf("loss %.9g ranks %d\n", loss, program->num_ranks);
  program->destroy(step);
  fflush(stdout);
  return 0;
}

int main(int argc, char **argv) {
  pthread_barrierattr_t attributes;
  Shared *shared = (Shared *)mmap(NULL, sizeof(Shared), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Rank own = {shared, 0, 0, 0, 0};
  int code = 0, status, child, ended = 0;
  pid_t children[MOST_RANKS];
  if (argc != 7 || shared == MAP_FAILED)
    return 2;
  own.ranks = atoi(argv[1]);
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, (unsigned)own.ranks);
  for (own.rank = 0; own.rank < own.ranks; ++own.rank) {
    children[own.rank] = fork();
    if (children[own.rank] == 0)
      _exit(run_rank(&own, argv));
  }
  while (ended < own.ranks && wait(&status) > 0) {
    ++ended;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      code = 1;
    /* If a rank has ended early, the others wait for it. */
    if (code || strcmp(argv[6], "fail") == 0)
      for (child = 0; child < own.ranks; ++child)
        kill(children[child], 9), ended = own.ranks;
  }
  return code;
}
