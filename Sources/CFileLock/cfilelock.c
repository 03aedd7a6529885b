// Must stand before the first header: Linux keeps these locks behind it.
#define _GNU_SOURCE
#include "CFileLock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(__linux__) && defined(F_OFD_SETLK)

#include <sys/vfs.h>

static struct flock one_byte(uint64_t byte) {
  struct flock lock = {0};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = (off_t)byte;
  lock.l_len = 1;
  return lock;
}

int cfilelock_take(int descriptor, uint64_t byte) {
  struct flock lock = one_byte(byte);
  if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0) return 1;
  return errno == EAGAIN || errno == EACCES ? 0 : -1;
}

int cfilelock_release(int descriptor, uint64_t byte) {
  struct flock lock = one_byte(byte);
  lock.l_type = F_UNLCK;
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0 ? 1 : -1;
}

int cfilelock_is_taken(int descriptor, uint64_t byte) {
  struct flock lock = one_byte(byte);
  if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return -1;
  return lock.l_type != F_UNLCK;
}

static int is_local(const struct statfs *found) {
  switch ((uint32_t)found->f_type) {
    case 0x6969u:      // NFS
    case 0x517Bu:      // SMB
    case 0xFE534D42u:  // SMB 2
    case 0xFF534D42u:  // CIFS
    case 0x65735546u:  // FUSE, virtiofs among them
    case 0x01021997u:  // 9P
    case 0x00C36400u:  // Ceph
    case 0x5346414Fu:  // AFS
    case 0x6B414653u:  // AFS of the kernel
    case 0x73757245u:  // Coda
    case 0x564Cu:      // NCP
    case 0x7461636Fu:  // OCFS2
    case 0x01161970u:  // GFS2
    case 0x0BD00BD0u:  // Lustre
    case 0x47504653u:  // GPFS
    case 0x19830326u:  // BeeGFS
    case 0x20030528u:  // OrangeFS
    case 0xAAD7AAEAu:  // PanFS
    case 0x786F4256u:  // VirtualBox's shared folders
    case 0x7C7C6673u:  // Parallels' shared folders
      return 0;
    default:
      return 1;
  }
}

int cfilelock_is_local(int descriptor) {
  struct statfs found;
  return fstatfs(descriptor, &found) == 0 ? is_local(&found) : -1;
}

int cfilelock_path_is_local(const char *path) {
  struct statfs found;
  return statfs(path, &found) == 0 ? is_local(&found) : -1;
}

#else

static int refuse(void) {
  errno = ENOTSUP;
  return -1;
}

int cfilelock_take(int descriptor, uint64_t byte) {
  (void)descriptor, (void)byte;
  return refuse();
}

int cfilelock_release(int descriptor, uint64_t byte) {
  (void)descriptor, (void)byte;
  return refuse();
}

int cfilelock_is_taken(int descriptor, uint64_t byte) {
  (void)descriptor, (void)byte;
  return refuse();
}

int cfilelock_is_local(int descriptor) {
  (void)descriptor;
  return refuse();
}

int cfilelock_path_is_local(const char *path) {
  (void)path;
  return refuse();
}

#endif
