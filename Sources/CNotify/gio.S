// SPDX-License-Identifier: Apache-2.0
#include "delay-load.h"

    library "libgio-2.0.so.0"
    function g_bus_get_sync
    function g_dbus_address_get_for_bus_sync
    function g_dbus_connection_call_sync
    function g_dbus_connection_is_closed
    function g_dbus_connection_set_exit_on_close
    function g_dbus_connection_signal_subscribe
    function g_dbus_connection_signal_unsubscribe
    function g_dbus_error_quark
