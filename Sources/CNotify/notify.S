// SPDX-License-Identifier: Apache-2.0
#include "delay-load.h"

    library "libnotify.so.4"
    function notify_init
    function notify_is_initted
    function notify_notification_add_action
    function notify_notification_clear_actions
    function notify_notification_close
    function notify_notification_new
    function notify_notification_set_category
    function notify_notification_set_hint
    function notify_notification_set_urgency
    function notify_notification_show
    function notify_notification_update
    function notify_uninit
