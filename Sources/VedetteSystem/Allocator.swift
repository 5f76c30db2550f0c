// SPDX-License-Identifier: Apache-2.0

import CSystem

/// The allocator of the C library, which Swift's arrays come from.
public enum Allocator {
    /// Gives every buffer of 1 MiB or more back to the kernel as soon as it is freed.
    ///
    /// glibc raises its threshold for such buffers to 32 MiB with the first large one that is freed (mallopt(3)), and keeps later
    /// ones in its heaps: after 72 answers of 16 MiB at once, 350 MB stayed resident that nobody used; with a fixed threshold 50 MB.
    public static func returnLargeBuffers() { _ = cs_malloc_option(CS_MALLOC_MMAP_THRESHOLD, 1 << 20) }
}
