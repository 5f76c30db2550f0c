// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reports changes in directories (inotify(7)). A report is a hint without content: several changes may come as one, and
/// the reader finds out what changed.
///
/// Changes after `init` are reported, so a reader makes the watch first and then reads. A directory that does not exist, was
/// replaced or was moved away is looked for every second, and its appearance is a change.
public final class DirectoryWatch: Sendable {
    /// Which changes are reported.
    public enum Subject: Sendable {
        /// Files that were written, made, moved, deleted, or got another mode.
        case contents
        /// These files alone, when they are made, moved here, or touched. Writing and closing them is not reported, so a
        /// reader that opens one does not wake itself.
        case touches([String])

        fileprivate var events: UInt32 {
            let directory = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | Int32(IN_ONLYDIR)
            switch self {
            case .contents: return UInt32(directory | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_DELETE)
            case .touches: return UInt32(directory)
            }
        }

        fileprivate func includes(_ name: [UInt8]) -> Bool {
            switch self {
            case .contents: true
            case .touches(let names): names.contains { Array($0.utf8) == name }
            }
        }
    }

    /// For one reader. It ends when watching is impossible.
    public let changes: AsyncStream<Void>
    /// The thread ends when this end of its pair is closed.
    private let stopEnd: Int32

    /// - Parameter fallback: a report comes at least this often, for a file system that reports nothing; nil for never.
    /// - Returns: nil when the system has no descriptor or thread for it, with errno.
    public init?(_ directories: [String], _ subject: Subject = .contents, fallback: Duration? = nil) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return nil
        }
        stopEnd = ends[1]
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.changes = changes
        // Without an inotify instance the thread lives by its timer alone.
        let inotify = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard inotify >= 0 || fallback != nil else {
            for end in ends { close(end) }
            return nil
        }
        let fallback = fallback.map { Int32(clamping: Int64($0 / .milliseconds(1))) }
        var first = Loop(directories: directories, subject: subject, inotify: inotify)
        _ = first.watchMissing()
        let code = SystemThread.start { [stop = ends[0], first] in
            var loop = first
            loop.run(stop: stop, fallback: fallback) { continuation.yield() }
            continuation.finish()
            for descriptor in [stop, inotify] where descriptor >= 0 { close(descriptor) }
        }
        guard code == 0 else {
            for descriptor in ends + [inotify] where descriptor >= 0 { close(descriptor) }
            errno = code
            return nil
        }
    }

    deinit { close(stopEnd) }

    /// The state of the thread.
    private struct Loop {
        let directories: [String]
        let subject: Subject
        let inotify: Int32
        /// Directories by their watch.
        var watched: [Int32: String] = [:]

        mutating func run(stop: Int32, fallback: Int32?, report: () -> Void) {
            while true {
                var files = [
                    pollfd(fd: stop, events: 0, revents: 0),
                    pollfd(fd: inotify, events: Int16(POLLIN), revents: 0),
                ]
                let isWhole = inotify < 0 || watched.count == directories.count
                let limit = isWhole ? fallback ?? -1 : min(fallback ?? 1000, 1000)
                let ready = poll(&files, 2, limit)
                if files[0].revents != 0 { return }
                let isDue = ready == 0 && limit == fallback
                let hasChanges = files[1].revents != 0 && readEvents()
                // What happened before the watch stood was not seen, so the appearance of a directory is reported.
                let hasAppeared = watchMissing()
                if isDue || hasChanges || hasAppeared { report() }
            }
        }

        /// Returns whether a directory is watched that was not.
        mutating func watchMissing() -> Bool {
            guard inotify >= 0 else { return false }
            let before = watched.count
            for directory in directories where !watched.values.contains(directory) {
                let watch = inotify_add_watch(inotify, directory, subject.events)
                if watch >= 0 { watched[watch] = directory }
            }
            return watched.count > before
        }

        /// Reads all that is queued; returns whether some of it is to be reported.
        private mutating func readEvents() -> Bool {
            var isReported = false
            var bytes = [UInt8](repeating: 0, count: 4096)
            let header = MemoryLayout<inotify_event>.size
            while case let count = read(inotify, &bytes, bytes.count), count > 0 {
                var at = 0
                while at + header <= count {
                    let event = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: inotify_event.self) }
                    let name = bytes[(at + header)...].prefix(Int(event.len)).prefix { $0 != 0 }
                    at += header + Int(event.len)
                    let hasOverflowed = event.mask & UInt32(IN_Q_OVERFLOW) != 0
                    guard hasOverflowed || watched[event.wd] != nil else { continue }
                    let isGone = event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0
                    if isGone {
                        watched[event.wd] = nil
                        // A directory that was moved away would be watched for ever.
                        inotify_rm_watch(inotify, event.wd)
                    }
                    if isGone || hasOverflowed || subject.includes(Array(name)) { isReported = true }
                }
            }
            return isReported
        }
    }
}
