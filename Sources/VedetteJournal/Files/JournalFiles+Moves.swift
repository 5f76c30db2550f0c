// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

extension JournalFiles {
    /// Writes a file or the entries of a directory to the disk. Not every file system can do that for a directory.
    func flush(_ path: String) throws(JournalError) {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return try attempt(to: "open \(path)") { -1 } }
        defer { Glibc.close(file) }
        try attempt(to: "write \(path) to the disk") { fsync(file) == 0 || errno == EINVAL ? 0 : -1 }
    }

    /// Makes a system call that returns 0 unless it fails.
    func attempt(to what: String, _ call: () -> CInt) throws(JournalError) {
        guard call() != 0 else { return }
        throw JournalError.system(errno, "failed to \(what)", "check the owner and mode of \(directory)")
    }
}
