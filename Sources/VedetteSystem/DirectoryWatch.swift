// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reports changes in directories (inotify(7)). A report is a hint without content: several changes may come as one, and
/// the reader finds out what changed.
///
/// Changes after `init` are reported, so a reader makes the watch first and then reads. The appearance of a directory that
/// did not exist, was replaced or was moved away is a change; it is looked for every second, unless its parent is watched.
public struct DirectoryWatch: Sendable {
    /// For one reader; the watch ends with it.
    public let changes: AsyncStream<Void>

    /// - Parameters:
    ///   - files: the names whose changes are reported; nil for all.
    ///   - reportsStart: the first report comes at once.
    ///   - fallback: the longest time between two reports, for a file system that reports nothing; nil for no limit.
    ///   - unwatched: is called with a directory that is there and cannot be watched, and errno, once until it can be: that is
    ///     tried each second. During `init`, and later from the thread of the watch.
    /// - Returns: nil when the system has no descriptor or thread for it, with errno.
    public init?(
        _ directories: [String], files: [String]? = nil, reportsStart: Bool = false, fallback: Duration? = nil,
        unwatched: @escaping @Sendable (_ directory: String, _ code: Int32) -> Void = { _, _ in }
    ) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            return nil
        }
        // Without an inotify instance the thread has its timer alone.
        let inotify = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard inotify >= 0 || fallback != nil else {
            let code = errno
            for end in ends { close(end) }
            errno = code
            return nil
        }
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.changes = changes
        var first = WatchLoop(
            directories: directories, files: files?.map { Array($0.utf8) }, inotify: inotify, stop: ends[0],
            fallback: fallback, reportUnwatched: unwatched)
        _ = first.watchMissing()
        if reportsStart { continuation.yield() }
        let code = SystemThread.start { [first] in
            var loop = first
            loop.run { continuation.yield() }
            continuation.finish()
        }
        guard code == 0 else {
            for descriptor in ends + [inotify] where descriptor >= 0 { close(descriptor) }
            errno = code
            return nil
        }
        // The thread ends when this end of its pair is closed.
        continuation.onTermination = { [end = ends[1]] _ in close(end) }
    }
}

/// The thread of a watch and its state.
private struct WatchLoop {
    let directories: [String]
    let files: [[UInt8]]?
    let inotify: Int32
    let stop: Int32
    let fallback: Duration?
    let reportUnwatched: @Sendable (String, Int32) -> Void
    /// Directories by their watch.
    var watched: [Int32: String] = [:]
    /// Whether nothing reports the appearance of a missing directory, so that it is looked for.
    var mustLook = false
    /// Directories whose failure was reported.
    var unwatched: Set<String> = []

    private static let events =
        IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF
        | Int32(IN_ONLYDIR)

    mutating func run(_ report: () -> Void) {
        var due = fallback.map { ContinuousClock.now + $0 }
        while true {
            var polled = [
                pollfd(fd: stop, events: 0, revents: 0), pollfd(fd: inotify, events: Int16(POLLIN), revents: 0),
            ]
            let left = due.map { Int32(clamping: Int64(($0 - .now) / .milliseconds(1) + 1)) }
            let limit = [left.map { max($0, 0) }, mustLook ? 1000 : nil].compactMap { $0 }.min() ?? -1
            _ = poll(&polled, 2, limit)
            if polled[0].revents != 0 { break }
            let hasChanges = polled[1].revents != 0 && readEvents()
            // What happened before the watch was in place was not seen, so the appearance of a directory is reported.
            let hasAppeared = watchMissing()
            let isDue = due.map { $0 <= .now } ?? false
            guard isDue || hasChanges || hasAppeared else { continue }
            report()
            due = fallback.map { ContinuousClock.now + $0 }
        }
        for descriptor in [stop, inotify] where descriptor >= 0 { close(descriptor) }
    }

    /// Returns whether a directory is watched that was not.
    mutating func watchMissing() -> Bool {
        guard inotify >= 0 else { return false }
        let before = watched.count
        mustLook = false
        for directory in directories where !watched.values.contains(directory) {
            let isReported = watched.values.contains(WatchLoop.parent(of: directory))
            let watch = inotify_add_watch(inotify, directory, UInt32(WatchLoop.events))
            let code = errno
            if watch >= 0 {
                watched[watch] = directory
                unwatched.remove(directory)
                continue
            }
            // A link that leads nowhere, a file in its place or a lack of watches ends without an event in the parent.
            if !isReported || !WatchLoop.isAbsent(directory) { mustLook = true }
            if code == ENOENT || code == ENOTDIR {
                unwatched.remove(directory)
            } else if unwatched.insert(directory).inserted {
                reportUnwatched(directory, code)
            }
        }
        return watched.count > before
    }

    private static func parent(of directory: String) -> String {
        String(directory[..<(directory.lastIndex(of: "/") ?? directory.startIndex)])
    }

    private static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) < 0 && errno == ENOENT
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
                let name = Array(bytes[(at + header)...].prefix(Int(event.len)).prefix { $0 != 0 })
                at += header + Int(event.len)
                let hasOverflowed = event.mask & UInt32(IN_Q_OVERFLOW) != 0
                guard hasOverflowed || watched[event.wd] != nil else { continue }
                let isGone = event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0
                if isGone {
                    watched[event.wd] = nil
                    // A directory that was moved away would be watched for ever.
                    inotify_rm_watch(inotify, event.wd)
                }
                if isGone || hasOverflowed || files?.contains(name) != false { isReported = true }
            }
        }
        return isReported
    }
}
