// SPDX-License-Identifier: Apache-2.0
// Function-like macros do not reach Swift: each one that is needed stands here as an inline function.
#ifndef VEDETTE_CNOTIFY_H
#define VEDETTE_CNOTIFY_H

#include <gio/gio.h>
#include <libnotify/notify.h>

typedef void (*cn_closed_callback)(NotifyNotification *notification, gpointer data);

static inline void cn_on_closed(NotifyNotification *notification, cn_closed_callback callback, gpointer data) {
    g_signal_connect(notification, "closed", G_CALLBACK(callback), data);
}

static inline gboolean cn_is_name_has_no_owner(const GError *error) {
    return g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_NAME_HAS_NO_OWNER);
}

// g_variant_new is variadic: the parameters of a call that takes one string.
static inline GVariant *cn_one_string(const char *text) { return g_variant_new("(s)", text); }

#endif
