// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The three streams of a child, each a pair of sockets: a pipe cannot be made close-on-exec in one step from Swift, and a
/// copy of the writing end in another child would hide the end of the output.
struct ChildStreams {
    /// An errno of posix_spawn(3).
    struct CannotSpawn: Error {
        var code: Int32
    }

    private(set) var ours: [Int32] = []
    private var theirs: [Int32] = []

    /// False with errno when there are no more descriptors.
    mutating func open() -> Bool {
        for _ in 0..<3 {
            var pair: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { return false }
            ours.append(pair[0])
            theirs.append(pair[1])
        }
        return ours.allSatisfy { fcntl($0, F_SETFL, O_NONBLOCK) == 0 }
    }

    mutating func closeTheirs() {
        for descriptor in theirs { Glibc.close(descriptor) }
        theirs = []
    }

    /// The child reads the end of its input.
    mutating func closeInput() {
        guard ours[0] >= 0 else { return }
        Glibc.close(ours[0])
        ours[0] = -1
    }

    mutating func close() {
        for descriptor in ours + theirs where descriptor >= 0 { Glibc.close(descriptor) }
        (ours, theirs) = ([], [])
    }

    /// In a process group of its own, so that a limit ends its children too, and with an empty environment.
    func spawn(_ arguments: [String]) -> Result<pid_t, CannotSpawn> {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in theirs.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        for descriptor in ChildStreams.inherited() { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that the watcher ignores or blocks are the child's again.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var child = pid_t()
        let code = posix_spawn(&child, arguments[0], &actions, &attributes, &words, &environment)
        return code == 0 ? .success(child) : .failure(CannotSpawn(code: code))
    }
}

extension ChildStreams {
    /// What this program opens is close-on-exec; what it was started with may not be.
    private static func inherited() -> [Int32] {
        guard let directory = opendir("/proc/self/fd") else { return [] }
        defer { closedir(directory) }
        var found: [Int32] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let descriptor = Int32(name), descriptor > 2 else { continue }
            let flags = fcntl(descriptor, F_GETFD)
            if flags >= 0, flags & FD_CLOEXEC == 0 { found.append(descriptor) }
        }
        return found
    }
}

extension BoundedChild {
    private static let mostSaid = 4096

    /// Writes the input and reads both outputs, whichever is ready, until both have ended.
    func exchange(
        _ streams: inout ChildStreams, _ input: [UInt8], until end: ContinuousClock.Instant, most: Int
    ) -> Result<Output, Problem> {
        var output = Output()
        var written = 0
        var open = [true, true]
        if input.isEmpty { streams.closeInput() }
        while open.contains(true) {
            guard let left = BoundedChild.milliseconds(until: end) else { return .failure(.tooLong) }
            var watched = [
                pollfd(fd: streams.ours[0], events: Int16(POLLOUT), revents: 0),
                pollfd(fd: open[0] ? streams.ours[1] : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: open[1] ? streams.ours[2] : -1, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&watched, 3, left) < 0, errno != EINTR { return .failure(.cannotRun(errno)) }
            if watched[0].revents != 0 {
                written = BoundedChild.write(input, from: written, to: streams.ours[0])
                if written == input.count { streams.closeInput() }
            }
            if watched[1].revents != 0 { open[0] = BoundedChild.read(streams.ours[1], into: &output.out, most: .max) }
            if watched[2].revents != 0 {
                open[1] = BoundedChild.read(streams.ours[2], into: &output.said, most: BoundedChild.mostSaid)
            }
            if output.out.count > most { return .failure(.tooMuch) }
        }
        return .success(output)
    }

    private static func milliseconds(until end: ContinuousClock.Instant) -> Int32? {
        let left = (end - .now).components
        guard left.seconds >= 0, left.attoseconds >= 0 else { return nil }
        return Int32(clamping: left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// How much is written now; all of it once the child wants no more.
    private static func write(_ input: [UInt8], from start: Int, to descriptor: Int32) -> Int {
        let count = input.withUnsafeBytes { bytes in
            send(descriptor, bytes.baseAddress.map { $0 + start }, bytes.count - start, Int32(MSG_NOSIGNAL))
        }
        if count >= 0 { return start + count }
        return errno == EAGAIN || errno == EINTR ? start : input.count
    }

    /// False at the end. What is beyond `most` is read and forgotten.
    private static func read(_ descriptor: Int32, into bytes: inout [UInt8], most: Int) -> Bool {
        let room = 64 << 10
        var buffer = [UInt8](repeating: 0, count: room)
        let count = Glibc.read(descriptor, &buffer, room)
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        bytes += buffer.prefix(min(count, max(0, most - bytes.count)))
        return count > 0
    }
}
