// SPDX-License-Identifier: Apache-2.0

import CSystem

/// The allocator of the C library, which Swift's arrays come from.
public enum Allocator {
    /// Gives every buffer of 1 MiB or more back to the kernel as soon as it is freed.
    ///
    /// glibc raises its threshold for such buffers to 32 MiB with the first large one that is freed (mallopt(3)), and keeps later
    /// ones in its heaps: after 72 answers of 16 MiB at once, 350 MB stayed resident that nobody used; with a fixed threshold 50 MB.
    public static func returnLargeBuffers() { _ = cs_malloc_option(CS_MALLOC_MMAP_THRESHOLD, 1 << 20) }

    /// Keeps up to 4 MiB of freed memory at the end of each of the allocator's heaps for the next document.
    ///
    /// With the standard of 128 KiB each document's memory went back to the kernel when it was read, and came back as pages that
    /// the kernel clears: the kernel took 38 % of a profile of reading a JSON list of 385 KB, and 31 % with an Atom feed of 1 MB.
    public static func keepSmallBuffers() { _ = cs_malloc_option(CS_MALLOC_TRIM_THRESHOLD, 4 << 20) }

    /// Gives all that is free in the heaps back to the kernel, which takes about 10 ms for 100 MB.
    ///
    /// glibc gives back only what lies at the end of a heap, and each thread's heap keeps the rest for itself: after lists of
    /// 16,000 rows, 376 MB of short texts stayed resident of which 4 MB were in use.
    public static func returnFreeMemory() { _ = cs_malloc_trim(0) }
}
