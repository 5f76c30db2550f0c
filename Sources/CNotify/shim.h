// SPDX-License-Identifier: Apache-2.0
// Function-like macros do not reach Swift: each one that is needed stands here as an inline function.
#ifndef VEDETTE_CNOTIFY_H
#define VEDETTE_CNOTIFY_H

#include <gio/gio.h>
#include <libnotify/notify.h>
#include <spawn.h>

typedef void (*cn_closed_callback)(NotifyNotification *notification, gpointer data);

static inline void cn_on_closed(NotifyNotification *notification, cn_closed_callback callback, gpointer data) {
    g_signal_connect(notification, "closed", G_CALLBACK(callback), data);
}

static inline gboolean cn_is_name_has_no_owner(const GError *error) {
    return g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_NAME_HAS_NO_OWNER);
}

// g_variant_new is variadic: the parameters of a call that takes one string.
static inline GVariant *cn_one_string(const char *text) { return g_variant_new("(s)", text); }

// GNU extensions that <spawn.h> hides from Swift: glibc 2.34, and POSIX_SPAWN_SETSID of 2.26.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);
#define CN_SPAWN_SETSID 0x80

static inline void cn_child_ended(GPid child, gint status, gpointer data) { (void)child, (void)status, (void)data; }

// Waits for the end of a child in the calling thread's main context, so that it leaves no zombie. GLib calls it through
// another type of function than GSourceFunc, which Swift cannot cast.
static inline void cn_collect(GPid child) {
    GSource *source = g_child_watch_source_new(child);
    g_source_set_callback(source, G_SOURCE_FUNC(cn_child_ended), NULL, NULL);
    g_source_attach(source, g_main_context_get_thread_default());
    g_source_unref(source);
}

#endif
