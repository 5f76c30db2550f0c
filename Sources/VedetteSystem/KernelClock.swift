// SPDX-License-Identifier: Apache-2.0

import CSystem

/// What the kernel knows of the wall clock.
public enum KernelClock {
    /// False when the kernel reports it as not synchronized (adjtimex(2)). True where it cannot be asked.
    public static var isSynchronized: Bool {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { timex in
            timex.initializeMemory(as: UInt8.self, repeating: 0)
            return cs_adjtimex(timex.baseAddress) != CS_TIME_ERROR
        }
    }
}
