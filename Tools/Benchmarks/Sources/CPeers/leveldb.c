#include "CPeers.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// The functions of leveldb/c.h that are used, as it declares them.
struct functions {
  void *(*options_create)(void);
  void (*options_set_create_if_missing)(void *, unsigned char);
  void (*options_set_compression)(void *, int);
  void *(*writeoptions_create)(void);
  void (*writeoptions_set_sync)(void *, unsigned char);
  void *(*open)(const void *, const char *, char **);
  void (*put)(void *, const void *, const char *, size_t, const char *, size_t, char **);
  void (*close)(void *);
};

struct peers_leveldb {
  struct functions call;
  void *database;
  void *write_options;
};

static int find(void *library, struct functions *call) {
  struct {
    void *place;
    const char *name;
  } wanted[] = {
      {&call->options_create, "leveldb_options_create"},
      {&call->options_set_create_if_missing, "leveldb_options_set_create_if_missing"},
      {&call->options_set_compression, "leveldb_options_set_compression"},
      {&call->writeoptions_create, "leveldb_writeoptions_create"},
      {&call->writeoptions_set_sync, "leveldb_writeoptions_set_sync"},
      {&call->open, "leveldb_open"},
      {&call->put, "leveldb_put"},
      {&call->close, "leveldb_close"},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    void *found = dlsym(library, wanted[i].name);
    if (!found) return 0;
    memcpy(wanted[i].place, &found, sizeof found);
  }
  return 1;
}

peers_leveldb *peers_leveldb_open(const char *folder, int *missing, char **problem) {
  static const char *names[] = {"libleveldb.so", "libleveldb.so.1d", "libleveldb.so.1",
                                "libleveldb.dylib"};
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  }
  peers_leveldb *peer = calloc(1, sizeof *peer);
  *missing = !library || !peer || !find(library, &peer->call);
  if (*missing) {
    free(peer);
    return NULL;
  }
  void *options = peer->call.options_create();
  peer->call.options_set_create_if_missing(options, 1);
  peer->call.options_set_compression(options, 0);
  peer->write_options = peer->call.writeoptions_create();
  peer->call.writeoptions_set_sync(peer->write_options, 1);
  peer->database = peer->call.open(options, folder, problem);
  if (!peer->database) {
    free(peer);
    return NULL;
  }
  return peer;
}

int peers_leveldb_put(peers_leveldb *peer, const void *key, size_t key_length, const void *value,
                      size_t value_length, char **problem) {
  *problem = NULL;
  peer->call.put(peer->database, peer->write_options, key, key_length, value, value_length,
                 problem);
  return *problem != NULL;
}

void peers_leveldb_close(peers_leveldb *peer) {
  peer->call.close(peer->database);
  free(peer);
}
