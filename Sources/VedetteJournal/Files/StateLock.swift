// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import VedetteCore

/// The lock that one `run` holds on a state directory. The kernel releases it however the process ends, so the file
/// stays and its existence means nothing.
final class StateLock: Sendable {
    /// Nil once released.
    private let file: Mutex<Int32?>

    init(_ files: JournalFiles) throws(JournalError) { file = Mutex(try StateLock.acquire(files)) }

    deinit { release() }

    func release() {
        file.withLock { file in
            guard let open = file else { return }
            // Unlocked explicitly: a child that is just being spawned holds a copy of the descriptor, and with it the lock,
            // until it runs its program.
            flock(open, LOCK_UN)
            Glibc.close(open)
            file = nil
        }
    }

    private static func acquire(_ files: JournalFiles) throws(JournalError) -> Int32 {
        let file = Glibc.open(files.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw JournalError.system(errno, "the lock \(files.lock) cannot be opened", "check its owner and mode")
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let (code, holder) = (errno, holder(of: file))
            Glibc.close(file)
            guard code == EWOULDBLOCK else {
                throw JournalError.system(code, "\(files.lock) cannot be locked", "use a local file system")
            }
            let who = holder.map { "process \($0)" } ?? "another process"
            throw JournalError(
                .locked(pid: holder),
                "\(who) is watching with the state in \(files.directory): stop it, or use another --state")
        }
        let text = "\(getpid())\n"
        // Only people and the message of a second process read it, so a failure here does not matter.
        if ftruncate(file, 0) == 0 { _ = pwrite(file, text, text.utf8.count, 0) }
        return file
    }

    /// The process that holds the lock now; nil when none does.
    static func holder(_ files: JournalFiles) -> Int32? {
        let file = Glibc.open(files.lock, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { Glibc.close(file) }
        // The lock is tried only when its holder seems to be alive, so that this call hardly ever collides with the start
        // of a watcher.
        guard let pid = holder(of: file), pid > 0, kill(pid, 0) == 0 || errno == EPERM else { return nil }
        return flock(file, LOCK_SH | LOCK_NB) == 0 ? nil : pid
    }

    private static func holder(of file: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(file, &bytes, bytes.count, 0)
        return count > 0 ? Int32(String(decoding: bytes[..<count], as: UTF8.self).trimmed()) : nil
    }
}
