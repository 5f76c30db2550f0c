// SPDX-License-Identifier: Apache-2.0

import Glibc
import VedetteCore

/// Wakes a task when a journal changed (inotify(7)). A wake-up is a hint: it may come for nothing, and several may come
/// as one.
struct JournalWatch {
    /// Which changes wake.
    enum Interest {
        /// Changes by commands only.
        case requests
        /// Commits, changes by commands, another journal in this place, the end of the watcher.
        case all
    }

    /// For one consumer. The watch ends with its consumer.
    let wakes: AsyncStream<Void>

    /// - Parameter fallback: milliseconds between two wake-ups at most, for a file system that reports nothing; -1 for
    ///   never.
    init(_ files: JournalFiles, _ interest: Interest, fallback: Int32 = 5000) throws(JournalError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw JournalError.system(errno, "failed to watch \(files.directory)", "raise the limit of open files")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wakes = wakes
        // Without an inotify instance the thread has its timer alone.
        let thread = WatchThread(
            files: files, interest: interest, fallback: fallback, stopPipe: ends[0],
            inotify: inotify_init1(Int32(IN_CLOEXEC)), wake: wake)
        guard thread.start() else {
            thread.closeFiles()
            Glibc.close(ends[1])
            throw JournalError.system(EAGAIN, "failed to watch \(files.directory)", "raise the limit of threads")
        }
        // The thread ends when this end of its pipe is closed.
        let end = ends[1]
        wake.onTermination = { _ in Glibc.close(end) }
    }
}

/// The thread that sleeps in poll(2) on the directory.
private final class WatchThread: Sendable {
    /// Milliseconds between two tries to watch a directory that does not exist yet.
    private static let retry: Int32 = 1000

    private let directory: String
    private let names: [[UInt8]]
    private let fallback: Int32
    private let stopPipe: Int32
    private let inotify: Int32
    private let wake: AsyncStream<Void>.Continuation

    init(
        files: JournalFiles, interest: JournalWatch.Interest, fallback: Int32, stopPipe: Int32, inotify: Int32,
        wake: AsyncStream<Void>.Continuation
    ) {
        let watched =
            interest == .all ? [JournalFiles.databaseName, JournalFiles.lockName] : [JournalFiles.databaseName]
        (directory, names) = (files.directory, watched.map { Array($0.utf8) })
        (self.fallback, self.stopPipe, self.inotify, self.wake) = (fallback, stopPipe, inotify, wake)
    }

    func start() -> Bool {
        var thread: pthread_t = 0
        let box = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { box in
                // Signals go to the threads that wait for them.
                var all = sigset_t()
                sigfillset(&all)
                pthread_sigmask(SIG_SETMASK, &all, nil)
                if let box { Unmanaged<WatchThread>.fromOpaque(box).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        if code == 0 { pthread_detach(thread) } else { box.release() }
        return code == 0
    }

    func closeFiles() {
        Glibc.close(stopPipe)
        if inotify >= 0 { Glibc.close(inotify) }
    }

    private func run() {
        var watched: Int32 = -1
        while true {
            if watched < 0, inotify >= 0 {
                // The end of the watcher closes the lock file, which it has open for writing.
                let mask =
                    IN_ATTRIB | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
                watched = inotify_add_watch(inotify, directory, UInt32(mask))
                // Changes before the watch was in place were not reported.
                if watched >= 0 { wake.yield() }
            }
            var files = [
                pollfd(fd: stopPipe, events: 0, revents: 0),
                pollfd(fd: inotify, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&files, 2, watched >= 0 ? fallback : WatchThread.retry)
            if files[0].revents != 0 { break }
            if ready == 0 { wake.yield() }
            guard files[1].revents != 0 else { continue }
            let (isJournal, isGone) = readEvents()
            if isJournal { wake.yield() }
            if isGone {
                inotify_rm_watch(inotify, watched)
                watched = -1
            }
        }
        wake.finish()
        closeFiles()
    }

    /// Reads the queued events.
    /// - Returns: whether a watched file changed, and whether the directory is gone.
    private func readEvents() -> (isJournal: Bool, isGone: Bool) {
        var result = (isJournal: false, isGone: false)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(inotify, &bytes, bytes.count)
        var at = 0
        let header = MemoryLayout<inotify_event>.size
        while at + header <= count {
            let event = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: inotify_event.self) }
            let name = bytes[(at + header)...].prefix(Int(event.len)).prefix { $0 != 0 }
            at += header + Int(event.len)
            let isGone = event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0
            if isGone { result.isGone = true }
            if isGone || event.mask & UInt32(IN_Q_OVERFLOW) != 0 || names.contains(Array(name)) {
                result.isJournal = true
            }
        }
        return result
    }
}
