// Must stand before the first header: Linux keeps statx behind it.
#define _GNU_SOURCE
#include "CFileStatus.h"

#include <sys/stat.h>

#ifdef __linux__

#include <fcntl.h>
#include <sys/sysmacros.h>

static int ask(int descriptor, const char *path, int flags, struct cfilestatus *status) {
  const unsigned mask =
      STATX_TYPE | STATX_MODE | STATX_UID | STATX_NLINK | STATX_SIZE | STATX_INO;
  struct statx found;
  int result = statx(descriptor, path, flags, mask, &found);
  if (result != 0) return result;
  status->mode = found.stx_mode;
  status->owner = found.stx_uid;
  status->links = found.stx_nlink;
  status->size = found.stx_size;
  status->device = makedev(found.stx_dev_major, found.stx_dev_minor);
  status->number = found.stx_ino;
  return 0;
}

int cfilestatus_of_descriptor(int descriptor, struct cfilestatus *status) {
  return ask(descriptor, "", AT_EMPTY_PATH, status);
}

int cfilestatus_of_path(const char *path, struct cfilestatus *status) {
  return ask(AT_FDCWD, path, 0, status);
}

#else

static int tell(int result, const struct stat *found, struct cfilestatus *status) {
  if (result != 0) return result;
  status->mode = found->st_mode;
  status->owner = found->st_uid;
  status->links = found->st_nlink;
  status->size = found->st_size > 0 ? (uint64_t)found->st_size : 0;
  status->device = (uint64_t)found->st_dev;
  status->number = (uint64_t)found->st_ino;
  return 0;
}

int cfilestatus_of_descriptor(int descriptor, struct cfilestatus *status) {
  struct stat found;
  return tell(fstat(descriptor, &found), &found, status);
}

int cfilestatus_of_path(const char *path, struct cfilestatus *status) {
  struct stat found;
  return tell(stat(path, &found), &found, status);
}

#endif
