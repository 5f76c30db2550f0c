// SPDX-License-Identifier: Apache-2.0
// Functions of glibc that Swift's Glibc module does not show, since they stand behind _GNU_SOURCE. No header of the C library
// is included: its types would become this module's, and every user of Glibc would have to import this one too.
#ifndef VEDETTE_CSYSTEM_H
#define VEDETTE_CSYSTEM_H

// <spawn.h>, of glibc 2.34, 2.29 and 2.26. `actions` is a posix_spawn_file_actions_t.
extern int cs_spawn_add_close_from(void *actions, int first) __asm__("posix_spawn_file_actions_addclosefrom_np");
extern int cs_spawn_add_chdir(void *actions, const char *path) __asm__("posix_spawn_file_actions_addchdir_np");
#define CS_SPAWN_SETSID 0x80

// <fcntl.h>: a pipe whose ends get their flags in the same step; `ends` has two elements.
extern int cs_pipe2(int *ends, int flags) __asm__("pipe2");

// <sys/socket.h>: a connection whose descriptor gets its flags in the same step. `name` is a struct sockaddr or a null pointer,
// `length` the socklen_t of its size.
extern int cs_accept(int socket, void *name, unsigned int *length, int flags) __asm__("accept4");

// <sys/pidfd.h>, of glibc 2.36: a descriptor, close-on-exec, that poll(2) reports as readable when the process has ended;
// -1 where the kernel or a sandbox refuses it.
extern int cs_pidfd_open(int process, unsigned int flags) __asm__("pidfd_open");

// <sys/timex.h>: `timex` is a struct timex, of at most 256 bytes; with zeros it changes nothing.
extern int cs_adjtimex(void *timex) __asm__("adjtimex");
// The clock is not synchronized (STA_UNSYNC).
#define CS_TIME_ERROR 5

// <malloc.h>: 1 on success.
extern int cs_malloc_option(int option, int value) __asm__("mallopt");
#define CS_MALLOC_TRIM_THRESHOLD (-1)
#define CS_MALLOC_MMAP_THRESHOLD (-3)
extern int cs_malloc_trim(unsigned long pad) __asm__("malloc_trim");

#endif
