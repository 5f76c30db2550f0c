// SPDX-License-Identifier: Apache-2.0
#include "delay-load.h"

    library "libical.so.3"
    function icalcomponent_free
    function icalcomponent_new_from_string
    function icalrecur_iterator_free
    function icalrecur_iterator_new
    function icalrecur_iterator_next
    function icalrecur_iterator_set_start
    function icalrecurrencetype_from_string
    function icaltime_from_timet_with_zone
    function icaltime_is_null_time
    function icaltime_null_time
    function icaltimezone_free
    function icaltimezone_get_builtin_timezone
    function icaltimezone_get_utc_offset_of_utc_time
    function icaltimezone_get_utc_timezone
    function icaltimezone_new
    function icaltimezone_set_component
