// SPDX-License-Identifier: Apache-2.0
// Variadic functions and unions of libmicrohttpd, which Swift cannot call.
#ifndef VEDETTE_CMICROHTTPD_H
#define VEDETTE_CMICROHTTPD_H

#include <microhttpd.h>
#include <netinet/in.h>

struct cm_limits {
    unsigned int connections;
    // Of one connection: its headers, and the part of the response that is being written.
    size_t memory;
};

// Starts a daemon that neither listens nor has a thread: its owner accepts connections, polls the descriptor of `cm_epoll` and
// calls MHD_run. All callbacks get `context`.
static inline struct MHD_Daemon *cm_start(
    void *context, struct cm_limits limits, MHD_AccessHandlerCallback handle,
    void *(*begin)(void *context, const char *target, struct MHD_Connection *connection),
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connection,
    size_t (*unescape)(void *context, struct MHD_Connection *connection, char *text)) {
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, handle, context,
        MHD_OPTION_CONNECTION_LIMIT, limits.connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.memory,
        MHD_OPTION_CONNECTION_TIMEOUT, 0U,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_URI_LOG_CALLBACK, begin, context,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context,
        MHD_OPTION_NOTIFY_CONNECTION, connection, context,
        MHD_OPTION_END);
}

// The descriptor that is readable when MHD_run has work; -1 for none.
static inline int cm_epoll(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

static inline int cm_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

// The client's address; NULL for none.
static inline const struct sockaddr *cm_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

// POLLRDHUP of poll(2), which <poll.h> has with _GNU_SOURCE alone: the other end sends no more.
static const short cm_closed_by_peer = 0x2000;

#define CM_STREAM_END MHD_CONTENT_READER_END_OF_STREAM
static const uint64_t cm_unknown_size = MHD_SIZE_UNKNOWN;

#endif
