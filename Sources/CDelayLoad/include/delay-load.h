// SPDX-License-Identifier: Apache-2.0
//
// Libraries that are loaded at the first call of one of their functions. libcurl with libssl, libpq, libnotify and libmicrohttpd
// bring forty others: loading them took two thirds of the time of `vedette --help`.
//
// A list of a library's functions, in assembler:
//
//     #include "delay-load.h"
//     library "libcurl.so.4"
//     function curl_easy_init
//
// Each line defines a function of that name that jumps to the library's. So callers use the library's own header, and the
// linker reports a function that is in no list.
#ifndef DELAY_LOAD_H
#define DELAY_LOAD_H

#ifdef __ASSEMBLER__

    .section .note.GNU-stack, "", %progbits

    .macro library file
    .section .rodata
delay_load_library:
    .asciz "\file"
    .endm

    // The jump leaves the arguments in their registers and on the stack, of variadic functions, too.
    .macro function name
    .section .rodata
delay_load_name_\name:
    .asciz "\name"
    // struct delay_load_function
    .section delay_load, "aw"
    .p2align 3
delay_load_function_\name:
    .quad delay_load_bind
    .quad delay_load_name_\name
    .quad delay_load_library
    .text
    .globl \name
    .hidden \name
    .type \name, %function
    .p2align 4
\name:
    .cfi_startproc
#if defined(__x86_64__)
    endbr64
    leaq delay_load_function_\name(%rip), %r11
    jmp *(%r11)
#elif defined(__aarch64__)
    hint #34 // bti c
    adrp x16, delay_load_function_\name
    add x16, x16, :lo12:delay_load_function_\name
    ldr x17, [x16]
    br x17
#else
#error "delay-load.h has no code for this processor"
#endif
    .cfi_endproc
    .size \name, . - \name
    .endm

#else

/// Loads every library and finds every function now. Ends the process with a message when one is missing.
void delay_load_all(void);

#endif
#endif
