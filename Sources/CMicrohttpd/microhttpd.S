// SPDX-License-Identifier: Apache-2.0
#include "delay-load.h"

    library "libmicrohttpd.so.12"
    function MHD_add_connection
    function MHD_add_response_header
    function MHD_create_response_from_buffer
    function MHD_create_response_from_callback
    function MHD_destroy_response
    function MHD_get_connection_info
    function MHD_get_connection_values
    function MHD_get_daemon_info
    function MHD_get_timeout
    function MHD_queue_response
    function MHD_resume_connection
    function MHD_run
    function MHD_start_daemon
    function MHD_stop_daemon
    function MHD_suspend_connection
