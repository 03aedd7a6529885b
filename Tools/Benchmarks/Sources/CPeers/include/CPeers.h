#ifndef CPEERS_H
#define CPEERS_H

#include <stddef.h>
#include <stdint.h>

/// The CRC32C of Sources/CChecksum, which SessionJournal brings along: the limit of a reader that
/// verifies every byte.
uint32_t cchecksum_crc32c(uint32_t crc, const void *bytes, size_t length);

/// Nanoseconds that this process has spent in fsync and fdatasync; stays 0 where they cannot be
/// timed from outside (anything but Linux).
uint64_t peers_sync_nanoseconds(void);

/// Gives free memory back to the system, so that what a process keeps can be counted; does nothing
/// where the C library has no call for it.
void peers_release_memory(void);

/// A LevelDB database; found at run time, so that the package builds without it.
typedef struct peers_leveldb peers_leveldb;

/// Opens a new database in the folder; null with a text in `problem` where that is not possible.
/// `missing` is set to 1 where LevelDB is not installed. The text is the caller's to free.
peers_leveldb *peers_leveldb_open(const char *folder, int *missing, char **problem);

/// Puts one value, synced; 0, or 1 with a text in `problem`.
int peers_leveldb_put(peers_leveldb *database, const void *key, size_t key_length,
                      const void *value, size_t value_length, char **problem);

/// Lets go of the database.
void peers_leveldb_close(peers_leveldb *database);

#endif
