// SPDX-License-Identifier: Apache-2.0

import CSystem
import Glibc

/// The three streams of a child process. They are pipes, since Linux does not open a socket by its name, as /dev/stderr is
/// opened in scripts. Both ends are close-on-exec from the start: a copy of a writing end in another child would hide the
/// end of the output.
struct ChildStreams {
    private(set) var output: [UInt8] = []
    private(set) var errorOutput: [UInt8] = []

    /// -1 once closed.
    private var ends: [Int32] = []
    private(set) var childEnds: [Int32] = []
    private var input: ArraySlice<UInt8>
    private let limits: (output: ChildCommand.OutputLimit, errorOutput: ChildCommand.OutputLimit)
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    init(_ command: ChildCommand) throws(ChildProcess.Failure) {
        input = command.input[...]
        limits = (command.output, command.errorOutput)
        for number in 0..<3 {
            var pair: [Int32] = [-1, -1]
            guard cs_pipe2(&pair, O_CLOEXEC) == 0 else {
                let code = errno
                close()
                throw .cannotStart(code)
            }
            let (own, child) = number == 0 ? (pair[1], pair[0]) : (pair[0], pair[1])
            ends.append(own)
            childEnds.append(child)
            // The child's end stays blocking: programs do not expect another one.
            _ = fcntl(own, F_SETFL, O_NONBLOCK)
        }
    }

    mutating func closeChildEnds() {
        for descriptor in childEnds { Glibc.close(descriptor) }
        childEnds = []
    }

    mutating func close() {
        for descriptor in ends + childEnds where descriptor >= 0 { Glibc.close(descriptor) }
        (ends, childEnds) = ([], [])
    }

    /// Writes the input and reads the outputs until the child ends.
    /// - Returns: the limit that was exceeded; nil when the child ended before.
    mutating func exchange(with child: pid_t, until deadline: ContinuousClock.Instant) -> ChildProcess.Failure? {
        // Old kernels and some containers have no descriptor for a process; then its end is looked for every 20 ms.
        let process = cs_pidfd_open(child, 0)
        let pipeSignal = BlockedPipeSignal()
        defer {
            if process >= 0 { Glibc.close(process) }
            pipeSignal.restore()
        }
        while true {
            let hasEnded = ChildStreams.hasEnded(child)
            write()
            // After the end of the child this reads what it left behind.
            guard read(1, into: \.output, limits.output), read(2, into: \.errorOutput, limits.errorOutput) else {
                return .tooMuchOutput
            }
            if hasEnded { return nil }
            guard let left = ChildStreams.milliseconds(until: deadline) else { return .timedOut }
            var watched = [
                pollfd(fd: process, events: Int16(POLLIN), revents: 0),
                pollfd(fd: ends[0], events: Int16(POLLOUT), revents: 0),
                pollfd(fd: ends[1], events: Int16(POLLIN), revents: 0),
                pollfd(fd: ends[2], events: Int16(POLLIN), revents: 0),
            ]
            poll(&watched, 4, process >= 0 ? left : min(left, 20))
        }
    }

    private static func hasEnded(_ child: pid_t) -> Bool {
        var info = siginfo_t()
        if waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT | WNOHANG) < 0 { return errno != EINTR }
        return info.si_signo != 0
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32? {
        let left = (deadline - .now) / .milliseconds(1)
        return left < 0 ? nil : Int32(min(left + 1, 86_400_000))
    }

    private mutating func closeEnd(_ number: Int) {
        guard ends[number] >= 0 else { return }
        Glibc.close(ends[number])
        ends[number] = -1
    }

    /// Writes as much as the child takes now. A child that closed its input needs no more of it.
    private mutating func write() {
        while !input.isEmpty, ends[0] >= 0 {
            let count = input.withUnsafeBytes { Glibc.write(ends[0], $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            input = count < 0 ? [] : input.dropFirst(count)
        }
        closeEnd(0)
    }

    /// Reads what is there now, but no more than a few buffers, since a child that never stops must not pass its deadline.
    /// - Returns: false when it is more than the child may print.
    private mutating func read(
        _ number: Int, into bytes: WritableKeyPath<ChildStreams, [UInt8]>, _ limit: ChildCommand.OutputLimit
    ) -> Bool {
        for _ in 0..<16 where ends[number] >= 0 {
            let count = Glibc.read(ends[number], &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return true }
            guard count > 0 else {
                closeEnd(number)
                return true
            }
            let room = limit.bytes - self[keyPath: bytes].count
            switch limit.excess {
            case .fails where count > room: return false
            case .fails, .dropsEnd: self[keyPath: bytes] += buffer.prefix(min(count, room))
            case .dropsBeginning:
                self[keyPath: bytes] += buffer.prefix(count)
                let excess = self[keyPath: bytes].count - limit.bytes
                if excess > 0 { self[keyPath: bytes].removeFirst(excess) }
            }
        }
        return true
    }
}

/// Keeps a write to a program that closed its input from ending this one: the calling thread blocks SIGPIPE and takes the
/// one that is pending before it unblocks the signal again.
private struct BlockedPipeSignal {
    private var before = sigset_t()
    private var pipe = sigset_t()

    init() {
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
    }

    func restore() {
        var (before, pipe, now) = (before, pipe, timespec())
        // Where it was blocked before, a pending one stays pending and does no harm.
        if sigismember(&before, SIGPIPE) == 0 { while sigtimedwait(&pipe, nil, &now) < 0, errno == EINTR {} }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
