// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program that prints a secret: started without a shell, in a process group of its own, so that its time limit ends
/// its children too.
enum ChildProcess {
    struct Problem: Error {
        var detail: String
    }

    /// The first line that it prints. What it says to stderr is dropped: it could hold the secret.
    static func firstLine(of arguments: [String], within limit: Duration, most: Int) -> Result<String, Problem> {
        // A pair of sockets, since a pipe cannot be made close-on-exec in one step from Swift, and a copy of the writing
        // end in another child would hide the end of the output.
        var pipe: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pipe) == 0 else {
            return .failure(Problem(detail: "cannot be run: \(String(cString: strerror(errno)))"))
        }
        let started = spawn(arguments, output: pipe[1])
        close(pipe[1])
        defer { close(pipe[0]) }
        switch started {
        case .failure(let problem): return .failure(problem)
        case .success(let child):
            let read = readAll(pipe[0], until: .now + limit, most: most)
            if read == nil { kill(-child, SIGKILL) }
            let status = wait(child, until: .now + limit)
            return judge(read, status, limit)
        }
    }

    private static func judge(_ bytes: [UInt8]?, _ status: Int32?, _ limit: Duration) -> Result<String, Problem> {
        guard let bytes, let status else {
            return .failure(
                Problem(detail: "did not end within \(limit.components.seconds) s, or printed too much; mend it"))
        }
        guard status == 0 else {
            // The low seven bits are the signal, the next eight the exit status (wait(2)).
            let reason = status & 0x7F == 0 ? "exit status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
            return .failure(Problem(detail: "failed with \(reason); run it by hand"))
        }
        let line = bytes.prefix { $0 != 10 }
        guard let text = String(validating: line, as: UTF8.self) else {
            return .failure(Problem(detail: "printed no UTF-8"))
        }
        return .success(SecretOrigin.withoutLineEnd(text))
    }

    private static func spawn(_ arguments: [String], output: Int32) -> Result<pid_t, Problem> {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
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
        var child = pid_t()
        let code = posix_spawnp(&child, arguments[0], &actions, &attributes, &words, environ)
        guard code == 0 else {
            return .failure(
                Problem(detail: "cannot be run: \(String(cString: strerror(code))); check its path and mode"))
        }
        return .success(child)
    }

    /// Nil when time or room ran out.
    private static func readAll(_ descriptor: Int32, until end: ContinuousClock.Instant, most: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= most {
            let left = (end - .now).components
            guard left.seconds >= 0, left.attoseconds >= 0 else { return nil }
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&watched, 1, Int32(left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return nil }
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
        return nil
    }

    /// A child that closed its output may still linger.
    private static func wait(_ child: pid_t, until end: ContinuousClock.Instant) -> Int32? {
        var status: Int32 = 0
        while .now < end {
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { return status }
            if ended < 0, errno != EINTR { return nil }
            usleep(2000)
        }
        kill(-child, SIGKILL)
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return nil
    }
}
