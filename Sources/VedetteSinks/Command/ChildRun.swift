// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import VedetteCore

/// One run of a program in a process group of its own, watched by a thread of its own: a program that hangs holds up
/// neither transfers nor tasks.
final class ChildRun: Sendable {
    enum End: Sendable, Hashable {
        /// With what it printed, both outputs together, the last 64 KiB of it.
        case exited(Int32, [UInt8])
        case killed(Int32, [UInt8])
        case late
        case cancelled
        case notStarted(Int32)
        /// It ended, but where SIGCHLD is ignored the kernel keeps no exit status (wait(2)).
        case lost
    }

    static let mostOutput = 64 << 10

    private let arguments: [String]
    private let environment: [(name: String, value: String)]
    private let input: [UInt8]
    private let limit: Duration
    private let isCancelled = Atomic(false)

    init(
        arguments: [String], environment: [(name: String, value: String)], input: [UInt8],
        limit: Duration
    ) {
        (self.arguments, self.environment) = (arguments, environment)
        (self.input, self.limit) = (input, limit)
    }

    /// From any thread; the group is killed within a tenth of a second.
    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    func result() async -> End {
        let (ends, end) = AsyncStream<End>.makeStream()
        let job = Job {
            end.yield(self.run()); end.finish()
        }
        var thread = pthread_t()
        let held = Unmanaged.passRetained(job)
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, held.toOpaque())
        guard code == 0 else {
            held.release()
            return .notStarted(code)
        }
        pthread_detach(thread)
        // A stream of its own, waited for whatever becomes of the task: the thread ends soon after a cancellation.
        return await Task.detached { await ends.first { _ in true } ?? .cancelled }.value
    }

    private final class Job: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private func run() -> End {
        // Sockets, since Swift cannot make a pipe close-on-exec in one step, and a copy in another child would hide its end.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        var (feed, output): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard socketpair(AF_UNIX, kind, 0, &feed) == 0 else { return .notStarted(errno) }
        defer { close(feed[0]) }
        guard socketpair(AF_UNIX, kind, 0, &output) == 0 else {
            let code = errno
            close(feed[1])
            return .notStarted(code)
        }
        defer { close(output[0]) }
        var child = pid_t()
        let code = spawn(&child, input: feed[1], output: output[1])
        close(feed[1])
        close(output[1])
        return code == 0 ? watch(child, feed[0], output[0]) : .notStarted(code)
    }

    private func spawn(_ child: inout pid_t, input: Int32, output: Int32) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, output, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that the watcher ignores or blocks are the child's again.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.name)=\($0.value)") } + [nil]
        defer { for word in words + variables { free(word) } }
        return posix_spawnp(&child, arguments[0], &actions, &attributes, &words, &variables)
    }

    private func watch(_ child: pid_t, _ feed: Int32, _ output: Int32) -> End {
        var (rest, printed, status) = (input[...], [UInt8](), Int32(0))
        let end = ContinuousClock.now + limit
        while true {
            let ended = waitpid(child, &status, WNOHANG)
            let isLost = ended < 0 && errno != EINTR
            rest = ChildRun.feed(rest, to: feed)
            let isOpen = ChildRun.read(output, into: &printed)
            if ended == child { return ChildRun.end(status, printed) }
            if isLost { return .lost }
            let isCancelled = isCancelled.load(ordering: .relaxed)
            if isCancelled || ContinuousClock.now >= end {
                kill(-child, SIGKILL)
                while waitpid(child, &status, 0) < 0, errno == EINTR {}
                return isCancelled ? .cancelled : .late
            }
            ChildRun.rest(until: output, isOpen: isOpen)
        }
    }

    /// The low seven bits are the signal, the next eight the exit status (wait(2)).
    private static func end(_ status: Int32, _ printed: [UInt8]) -> End {
        status & 0x7F == 0 ? .exited(status >> 8 & 0xFF, printed) : .killed(status & 0x7F, printed)
    }

    /// What the program has not taken yet. One that reads nothing is none the worse.
    private static func feed(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> ArraySlice<UInt8> {
        guard !bytes.isEmpty else { return bytes }
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
        let isGone = count < 0 && errno != EAGAIN && errno != EINTR
        let rest = isGone ? [] : bytes.dropFirst(max(0, count))
        if rest.isEmpty { shutdown(descriptor, Int32(SHUT_WR)) }
        return rest
    }

    /// - Returns: whether more may come.
    private static func read(_ descriptor: Int32, into printed: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return count < 0 }
            printed += buffer[..<count]
            if printed.count > mostOutput { printed.removeFirst(printed.count - mostOutput) }
        }
    }

    /// Until it prints or a moment has passed: its end, the time limit and a cancellation are looked for anew.
    private static func rest(until output: Int32, isOpen: Bool) {
        var watched = pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0)
        poll(&watched, 1, isOpen ? 20 : 2)
    }
}
