#include "CFileDB.h"

#ifdef __APPLE__
#include <sys/mount.h>

int filedb_has_own_clock(const char *path) {
  struct statfs disk;
  if (statfs(path, &disk) < 0) return -1;
  return (disk.f_flags & MNT_LOCAL) != 0;
}

#else
#include <sys/vfs.h>

int filedb_has_own_clock(const char *path) {
  struct statfs disk;
  if (statfs(path, &disk) < 0) return -1;
  switch ((uint32_t)disk.f_type) {
    case 0x6969:      // NFS
    case 0xFF534D42:  // SMB
    case 0xFE534D42:
    case 0x517B:
    case 0x65735546:  // FUSE
    case 0x01021997:  // 9P
    case 0x00C36400:  // Ceph
    case 0x5346414F:  // AFS
    case 0x6B414653:
    case 0x01161970:  // GFS2
    case 0x7461636F:  // OCFS2
    case 0x0BD00BD0:  // Lustre
    case 0x786F4256:  // VirtualBox
    case 0xBACBACBC:  // VMware
    case 0x7C7C6673:  // Parallels
      return 0;
    default:
      return 1;
  }
}
#endif
