// Must stand before the first header: the GNU library keeps two of these calls behind it.
#define _GNU_SOURCE
#include "CProcess.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

static int add_actions(posix_spawn_file_actions_t *actions, const char *folder,
                       const int streams[3]) {
  int error = 0;
  if (folder) error = posix_spawn_file_actions_addchdir_np(actions, folder);
  for (int stream = 0; stream < 3 && !error; stream++) {
    error = streams[stream] < 0
                ? posix_spawn_file_actions_addopen(actions, stream, "/dev/null", O_RDWR, 0)
                : posix_spawn_file_actions_adddup2(actions, streams[stream], stream);
  }
#if !defined(__APPLE__)
  if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, 3);
#endif
  return error;
}

static int set_attributes(posix_spawnattr_t *attributes) {
  short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK;
#if defined(__APPLE__)
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
  sigset_t none;
  sigemptyset(&none);
  int error = posix_spawnattr_setsigmask(attributes, &none);
  return error ? error : posix_spawnattr_setflags(attributes, flags);
}

int cprocess_start(pid_t *process, char *const arguments[], char *const environment[],
                 const char *folder, const int streams[3]) {
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  posix_spawnattr_t attributes;
  error = posix_spawnattr_init(&attributes);
  if (!error) {
    error = add_actions(&actions, folder, streams);
    if (!error) error = set_attributes(&attributes);
    if (!error) {
      error = posix_spawn(process, arguments[0], &actions, &attributes, arguments, environment);
    }
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}
