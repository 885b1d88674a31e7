/* tirgen_rt/model.h: the status codes of the runtime and of models. SPDX-License-Identifier: Apache-2.0 */
#ifndef TIRGEN_RT_MODEL_H
#define TIRGEN_RT_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What calls answer with: 0 is success. Bits 8 to 15 are the category, bits 0 to 7 the code within it; a negative number
 * comes from the platform. The numbers are those of TVM's C runtime, so that hosts which know them understand ours.
 */
enum tirgen_rt_status {
    TIRGEN_RT_OK = 0,
    TIRGEN_RT_NAME_NOT_FOUND = 0x100,          /**< No function or tensor of that name. */
    TIRGEN_RT_INDEX_INVALID = 0x101,           /**< An index is past the end. */
    TIRGEN_RT_REGISTRY_FULL = 0x102,           /**< No room for another function. */
    TIRGEN_RT_ALREADY_DEFINED = 0x103,         /**< The name is taken. */
    TIRGEN_RT_BUFFER_TOO_SMALL = 0x104,        /**< The memory given does not hold what it must. */
    TIRGEN_RT_FRAMING_INVALID_STATE = 0x200,   /**< Bytes came when none were expected. */
    TIRGEN_RT_FRAMING_SHORT_PACKET = 0x201,    /**< A packet ended early. */
    TIRGEN_RT_FRAMING_INVALID_ESCAPE = 0x202,  /**< An escape sequence does not exist. */
    TIRGEN_RT_FRAMING_OVERFLOW = 0x203,        /**< A payload is larger than the buffer. */
    TIRGEN_RT_FRAMING_INCOMPLETE = 0x204,      /**< A payload is not complete. */
    TIRGEN_RT_WRITE_SHORT = 0x300,             /**< Fewer bytes were written than asked for. */
    TIRGEN_RT_WRITE_LONG = 0x301,              /**< More bytes were written than asked for. */
    TIRGEN_RT_SESSION_INVALID_STATE = 0x400,   /**< The session is not in a state for this message. */
    TIRGEN_RT_SESSION_BUSY = 0x401,            /**< The receive buffer is in use. */
    TIRGEN_RT_SESSION_SHORT_WRITE = 0x402,     /**< The receive buffer took only a part. */
    TIRGEN_RT_CHECK_FAILED = 0x500,            /**< A condition that the model's author asserted does not hold. */
    TIRGEN_RT_MEMORY_INITIALISED = 0x501,      /**< The memory manager exists already. */
    TIRGEN_RT_SHUTDOWN = 0x502,                /**< The platform is going down. */
    TIRGEN_RT_NO_MEMORY = 0x503,               /**< The memory given is used up. */
    TIRGEN_RT_TIMER_BAD_STATE = 0x504,         /**< The timer runs already, or does not run. */
    TIRGEN_RT_BAD_FREE = 0x505,                /**< The block is not the newest one, or not one of this allocator. */
    TIRGEN_RT_STORAGE_INVALID = 0x600,         /**< A storage number does not exist. */
    TIRGEN_RT_ALREADY_CREATED = 0x700,         /**< The executor exists already. */
    TIRGEN_RT_BAD_CONTEXT = 0x701,             /**< The device is not one of this executor. */
    TIRGEN_RT_NO_SUCH_INPUT = 0x702,           /**< The model has no input of that name. */
    TIRGEN_RT_ARGUMENT_COUNT = 0x800,          /**< Too few or too many arguments. */
    TIRGEN_RT_ARGUMENT_TYPE = 0x801,           /**< Kind, dtype, rank or shape of an argument. */
    TIRGEN_RT_NOT_IMPLEMENTED = 0x802,         /**< Not part of this build. */
    TIRGEN_RT_ARGUMENT_INVALID = 0x803,        /**< NULL, not aligned, or otherwise unfit. */
    TIRGEN_RT_TIMER_BAD_HANDLE = 0x900         /**< The time evaluator is gone. */
};

/**
 * @param status  A status code.
 * @return A short English text, static storage, never NULL.
 */
const char *tirgen_rt_status_text(int32_t status);

#ifdef __cplusplus
}
#endif
#endif
