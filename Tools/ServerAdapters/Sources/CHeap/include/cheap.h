#ifndef CHEAP_H
#define CHEAP_H

// The bytes that the allocator has given out and not got back, or 0 if it does not say.
unsigned long bytes_in_use(void);

#endif
