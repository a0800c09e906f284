/* Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Trains through the C interface alone. With DRIVER_COMPILES the program comes
 * from a module that is compiled here, else from the library that is linked. */

#ifdef DRIVER_COMPILES
#include "amp-c/CompileStep.h"
#include "caller.h"

static const amp_step_program *get_program(char **argv) {
  const amp_step_program *program = NULL;
  const char *message = NULL;
  long length = 0;
  char *text = read_file(argv[2], &length);
  if (amp_step_compile(AMP_STEP_VERSION, text, (uint64_t)length, NULL, &program,
                       &message) != AMP_STEP_OK)
    fprintf(stderr, "error: %s\n", message);
  free(text);
  return program;
}
#else
#include "amp/Runtime/Step/Interface.h"
#include "caller.h"

static const amp_step_program *get_program(char **argv) {
  const amp_step_program *program = NULL;
  const char *message = NULL;
  (void)argv;
  if (step_get_program(AMP_STEP_VERSION, &program, &message) != AMP_STEP_OK)
    fprintf(stderr, "error: %s\n", message);
  return program;
}
#endif

int main(int argc, char **argv) {
  const amp_step_program *program;
  amp_step *step = NULL;
  amp_step_options options;
  float x[8][4];
  int32_t y[8];
  const int64_t shape[] = {8, 4};
  double metrics[16], first = 0, last = 0;
  int32_t count = 0, i, j;
  if (argc < 2 || !(program = get_program(argv)))
    return 2;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  options.seed = 3;
  options.num_slots = 2;
  check(program, program->create(program, &options, &step));
  check(program,
        program->count_tensors(program, AMP_STEP_LIST_METRICS, &count));
  for (i = 0; i < 8; ++i) {
    y[i] = i % 3;
    for (j = 0; j < 4; ++j)
      x[i][j] = (float)((i * 5 + j * 3) % 7) / 3.0f + (j == y[i] ? 1.0f : 0.0f);
  }
  for (i = 0; i < 20; ++i) {
    set_batch(program, step, i % 2, 0, AMP_STEP_F32, 2, shape, x);
    set_batch(program, step, i % 2, 1, AMP_STEP_I32, 1, shape, y);
    check(program, program->run(step, i % 2, 1));
    check(program, program->read_metrics(step, metrics, count));
    last = metrics[0];
    if (i == 0)
      first = last;
  }
  check(program, program->save(step, argv[1]));
  program->destroy(step);
  printf("%s: loss %.4f to %.4f\n", program->backend, first, last);
  program->release(program);
  return last < first ? 0 : 1;
}
