// SPDX-License-Identifier: Apache-2.0
//
// The least that polls over libcurl can cost: a plain curl_multi_poll loop with handles that are reused, bodies thrown away.
//
//     loop FLIGHT COUNT STATUS [PAUSE AUTHORITY HEADER...] <urls
//
// One uncounted round over the URLs opens the connections and learns ETag and Last-Modified, which are sent from then on where
// there were any. Then COUNT requests, FLIGHT at a time, each of which must be answered with STATUS. Prints user + system CPU
// and wall seconds of these. Handle h takes URL h, h + FLIGHT, …: where the URLs alternate between origins it stays at its own.
//
// With PAUSE a request begins every so many microseconds instead, each with the next URL and any handle that is free; the
// servers' certificates must be signed by one of AUTHORITY, a PEM file, and each request has the HEADERs.
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>

struct target {
  char *url;
  struct curl_slist *headers;
};

struct slot {
  CURL *easy;
  size_t next;
};

static struct target *targets;
static size_t target_count;
static struct curl_slist *common;
static long pause_us;

static void fail(const char *what) {
  fprintf(stderr, "loop: %s\n", what);
  exit(1);
}

static void read_targets(void) {
  char line[2048];
  size_t room = 0;
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    if (target_count == room) {
      room = room ? 2 * room : 1024;
      targets = realloc(targets, room * sizeof *targets);
      if (!targets) fail("out of memory");
    }
    targets[target_count].headers = NULL;
    for (struct curl_slist *header = common; header; header = header->next)
      targets[target_count].headers = curl_slist_append(targets[target_count].headers, header->data);
    targets[target_count].url = strdup(line);
    if (!targets[target_count++].url) fail("out of memory");
  }
}

static size_t discard(char *bytes, size_t size, size_t count, void *user) {
  (void)bytes;
  (void)user;
  return size * count;
}

// Of a header line with the given name, the request header that asks whether it still holds.
static void learn_one(struct target *target, const char *line, size_t size, const char *name, const char *ask) {
  size_t length = strlen(name);
  char header[512];
  if (size <= length || strncasecmp(line, name, length) != 0) return;
  const char *value = line + length;
  size_t rest = size - length;
  while (rest && *value == ' ') value++, rest--;
  while (rest && (value[rest - 1] == '\r' || value[rest - 1] == '\n')) rest--;
  snprintf(header, sizeof header, "%s: %.*s", ask, (int)rest, value);
  target->headers = curl_slist_append(target->headers, header);
}

static size_t learn(char *bytes, size_t size, size_t count, void *user) {
  learn_one(user, bytes, size * count, "ETag:", "If-None-Match");
  learn_one(user, bytes, size * count, "Last-Modified:", "If-Modified-Since");
  return size * count;
}

static void start(CURLM *multi, struct slot *slot, struct target *target, int learning) {
  curl_easy_setopt(slot->easy, CURLOPT_URL, target->url);
  curl_easy_setopt(slot->easy, CURLOPT_HTTPHEADER, learning ? common : target->headers);
  curl_easy_setopt(slot->easy, CURLOPT_HEADERDATA, target);
  if (curl_multi_add_handle(multi, slot->easy) != CURLM_OK) fail("a request could not be started");
}

// False when the handle has been through its URLs and is to learn each of them once only.
static int aim(CURLM *multi, struct slot *slot, size_t flight, int learning) {
  if (slot->next >= target_count && learning) return 0;
  if (slot->next >= target_count) slot->next %= flight;
  struct target *target = &targets[slot->next];
  slot->next += flight;
  start(multi, slot, target, learning);
  return 1;
}

static void finished(CURLMsg *message, long status) {
  long got = 0;
  if (message->data.result != CURLE_OK) fail(curl_easy_strerror(message->data.result));
  curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &got);
  if (got != status) {
    fprintf(stderr, "loop: the answer was %ld, not %ld\n", got, status);
    exit(1);
  }
}

static void request(CURLM *multi, struct slot *slots, size_t flight, size_t count, long status, int learning) {
  size_t started = 0, done = 0;
  for (size_t h = 0; h < flight; h++) {
    slots[h].next = h;
    curl_easy_setopt(slots[h].easy, CURLOPT_HEADERFUNCTION, learning ? learn : NULL);
    if (started < count) started += aim(multi, &slots[h], flight, learning);
  }
  while (done < started) {
    int running, left;
    CURLMsg *message;
    if (curl_multi_perform(multi, &running) != CURLM_OK) fail("curl_multi_perform");
    while ((message = curl_multi_info_read(multi, &left))) {
      if (message->msg != CURLMSG_DONE) continue;
      struct slot *slot = NULL;
      finished(message, status);
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
      curl_multi_remove_handle(multi, slot->easy);
      done++;
      if (started < count) started += aim(multi, slot, flight, learning);
    }
    if (done < started) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
}

static double cpu(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double wall(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

// Begins a request every PAUSE microseconds.
static void pace(CURLM *multi, struct slot *slots, size_t flight, size_t count, long status) {
  struct slot **spare = calloc(flight, sizeof *spare);
  if (!spare) fail("out of memory");
  size_t spares = 0, started = 0, done = 0;
  for (size_t h = 0; h < flight; h++) {
    spare[spares++] = &slots[h];
    curl_easy_setopt(slots[h].easy, CURLOPT_HEADERFUNCTION, NULL);
  }
  double begin = wall();
  while (done < count) {
    int running, left;
    CURLMsg *message;
    if (curl_multi_perform(multi, &running) != CURLM_OK) fail("curl_multi_perform");
    while ((message = curl_multi_info_read(multi, &left))) {
      if (message->msg != CURLMSG_DONE) continue;
      struct slot *slot = NULL;
      finished(message, status);
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
      curl_multi_remove_handle(multi, slot->easy);
      spare[spares++] = slot;
      done++;
    }
    double wait = 1;
    while (started < count && spares) {
      wait = begin + started * pause_us / 1e6 - wall();
      if (wait > 0) break;
      start(multi, spare[--spares], &targets[started++ % target_count], 0);
      wait = 0;
    }
    if (done < count) curl_multi_poll(multi, NULL, 0, wait > 1 ? 1000 : (int)(wait * 1000 + 0.999), NULL);
  }
  free(spare);
}

int main(int argc, char **argv) {
  if (argc != 4 && argc < 6) fail("usage: loop FLIGHT COUNT STATUS [PAUSE AUTHORITY HEADER...] <urls");
  size_t flight = strtoul(argv[1], NULL, 10), count = strtoul(argv[2], NULL, 10);
  long status = strtol(argv[3], NULL, 10);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (argc > 4) pause_us = strtol(argv[4], NULL, 10);
  for (int i = 6; i < argc; i++) common = curl_slist_append(common, argv[i]);
  read_targets();
  if (!flight || target_count < flight) fail("there are fewer URLs than requests in flight");
  CURLM *multi = curl_multi_init();
  struct slot *slots = calloc(flight, sizeof *slots);
  if (!multi || !slots) fail("out of memory");
  if (pause_us) curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 8192L);
  for (size_t h = 0; h < flight; h++) {
    slots[h].easy = curl_easy_init();
    if (!slots[h].easy) fail("out of memory");
    curl_easy_setopt(slots[h].easy, CURLOPT_PRIVATE, &slots[h]);
    curl_easy_setopt(slots[h].easy, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(slots[h].easy, CURLOPT_NOSIGNAL, 1L);
    if (argc > 5) curl_easy_setopt(slots[h].easy, CURLOPT_CAINFO, argv[5]);
  }
  request(multi, slots, flight, target_count, 200, 1);
  double cpu_before = cpu(), wall_before = wall();
  if (pause_us) pace(multi, slots, flight, count, status);
  else request(multi, slots, flight, count, status, 0);
  printf("%.6f %.6f\n", cpu() - cpu_before, wall() - wall_before);
  return 0;
}
