/* status.c: texts of status codes. SPDX-License-Identifier: Apache-2.0 */
#include <tirgen_rt/model.h>

#include <stddef.h>

static const struct {
    int32_t status;
    const char *text;
} row[] = {
    { TIRGEN_RT_OK, "success" },
    { TIRGEN_RT_NAME_NOT_FOUND, "no such name" },
    { TIRGEN_RT_INDEX_INVALID, "index past the end" },
    { TIRGEN_RT_REGISTRY_FULL, "function registry full" },
    { TIRGEN_RT_ALREADY_DEFINED, "name already defined" },
    { TIRGEN_RT_BUFFER_TOO_SMALL, "buffer too small" },
    { TIRGEN_RT_FRAMING_INVALID_STATE, "framing: unexpected bytes" },
    { TIRGEN_RT_FRAMING_SHORT_PACKET, "framing: packet ended early" },
    { TIRGEN_RT_FRAMING_INVALID_ESCAPE, "framing: unknown escape" },
    { TIRGEN_RT_FRAMING_OVERFLOW, "framing: payload too large" },
    { TIRGEN_RT_FRAMING_INCOMPLETE, "framing: payload incomplete" },
    { TIRGEN_RT_WRITE_SHORT, "too few bytes written" },
    { TIRGEN_RT_WRITE_LONG, "too many bytes written" },
    { TIRGEN_RT_SESSION_INVALID_STATE, "session: message out of order" },
    { TIRGEN_RT_SESSION_BUSY, "session: receive buffer in use" },
    { TIRGEN_RT_SESSION_SHORT_WRITE, "session: receive buffer full" },
    { TIRGEN_RT_CHECK_FAILED, "check failed" },
    { TIRGEN_RT_MEMORY_INITIALISED, "memory manager exists already" },
    { TIRGEN_RT_SHUTDOWN, "platform shut down" },
    { TIRGEN_RT_NO_MEMORY, "out of memory" },
    { TIRGEN_RT_TIMER_BAD_STATE, "timer in the wrong state" },
    { TIRGEN_RT_BAD_FREE, "freed block is not the newest" },
    { TIRGEN_RT_STORAGE_INVALID, "no such storage" },
    { TIRGEN_RT_ALREADY_CREATED, "executor exists already" },
    { TIRGEN_RT_BAD_CONTEXT, "wrong device" },
    { TIRGEN_RT_NO_SUCH_INPUT, "no such input" },
    { TIRGEN_RT_ARGUMENT_COUNT, "wrong number of arguments" },
    { TIRGEN_RT_ARGUMENT_TYPE, "wrong type of argument" },
    { TIRGEN_RT_NOT_IMPLEMENTED, "not implemented" },
    { TIRGEN_RT_ARGUMENT_INVALID, "invalid argument" },
    { TIRGEN_RT_TIMER_BAD_HANDLE, "time evaluator is gone" },
};

const char *tirgen_rt_status_text(int32_t status)
{
    for (size_t i = 0; i < sizeof row / sizeof row[0]; ++i) {
        if (row[i].status == status) {
            return row[i].text;
        }
    }
    return status < 0 ? "platform error" : "unknown status";
}
