// SPDX-License-Identifier: Apache-2.0

import Glibc
public import VedetteCore

/// Wakes those who read a journal when something was committed to it or asked of it. A wake-up is a hint: it may come for
/// nothing, several may come as one, and every two seconds there is one in any case, for a file system that reports
/// nothing.
public final class JournalWatch: Sendable {
    /// For one reader.
    public let wakes: AsyncStream<Void>
    /// The thread ends when this end of its pipe is closed.
    private let leash: Int32

    public convenience init(directory: String) throws(JournalError) {
        try self.init(directory: directory, fallback: 2000)
    }

    /// - Parameter fallback: milliseconds between two wake-ups at most; -1 for never.
    init(directory: String, fallback: Int32) throws(JournalError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw JournalError.system(errno, "\(directory) cannot be watched", "raise the limit of open files")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        leash = ends[1]
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.wakes = wakes
        // When the user has no inotify instance left the thread lives by its timer alone.
        let thread = WatchThread(
            directory: directory, fallback: fallback, leash: ends[0], inotify: inotify_init1(Int32(IN_CLOEXEC)),
            wake: wake)
        guard thread.start() else {
            thread.closeFiles()
            throw JournalError.system(EAGAIN, "\(directory) cannot be watched", "raise the limit of threads")
        }
    }

    deinit { Glibc.close(leash) }
}

/// The thread that sleeps in poll(2) on the directory.
private final class WatchThread: Sendable {
    private let directory: String
    private let fallback: Int32
    private let leash: Int32
    private let inotify: Int32
    private let wake: AsyncStream<Void>.Continuation

    init(
        directory: String, fallback: Int32, leash: Int32, inotify: Int32, wake: AsyncStream<Void>.Continuation
    ) {
        (self.directory, self.fallback) = (directory, fallback)
        (self.leash, self.inotify, self.wake) = (leash, inotify, wake)
    }

    func start() -> Bool {
        var thread: pthread_t = 0
        let box = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { box in
                // Signals are for the threads that wait for them.
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
        Glibc.close(leash)
        if inotify >= 0 { Glibc.close(inotify) }
    }

    private func run() {
        var watched: Int32 = -1
        while true {
            if watched < 0, inotify >= 0 {
                let mask = IN_ATTRIB | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
                watched = inotify_add_watch(inotify, directory, UInt32(mask))
                // What happened before the watch stood was not heard.
                if watched >= 0 { wake.yield() }
            }
            var files = [
                pollfd(fd: leash, events: 0, revents: 0),
                pollfd(fd: inotify, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&files, 2, fallback)
            if files[0].revents != 0 { break }
            if ready == 0 { wake.yield() }
            guard files[1].revents != 0 else { continue }
            let heard = hear()
            if heard.isJournal { wake.yield() }
            if heard.isGone {
                inotify_rm_watch(inotify, watched)
                watched = -1
            }
        }
        wake.finish()
        closeFiles()
    }

    /// Reads all that is queued, once.
    private func hear() -> (isJournal: Bool, isGone: Bool) {
        var heard = (isJournal: false, isGone: false)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(inotify, &bytes, bytes.count)
        var at = 0
        let header = MemoryLayout<inotify_event>.size
        while at + header <= count {
            let event = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: inotify_event.self) }
            let name = bytes[(at + header)...].prefix(Int(event.len)).prefix { $0 != 0 }
            at += header + Int(event.len)
            let isGone = event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0
            if isGone { heard.isGone = true }
            if isGone || event.mask & UInt32(IN_Q_OVERFLOW) != 0 || WatchThread.names.contains(Array(name)) {
                heard.isJournal = true
            }
        }
        return heard
    }

    private static let names = [JournalFiles.databaseName, JournalFiles.lockName].map { Array($0.utf8) }
}
