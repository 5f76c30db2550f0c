// SPDX-License-Identifier: Apache-2.0

import CSystem
import Glibc

/// The arguments of one posix_spawn(3).
struct Spawn {
    var arguments: [String]
    var environment: [String: String]
    var directory: String?
    /// The child's standard input, output and error; nil for /dev/null and a session of its own.
    var streams: [Int32]?

    /// Starts the program: in a group of its own, with no other descriptor, and with no signal blocked or ignored.
    func start() throws(ChildProcess.Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for number: Int32 in 0...2 {
            if let streams {
                posix_spawn_file_actions_adddup2(&actions, streams[Int(number)], number)
            } else {
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            }
        }
        // What this program opens is close-on-exec; what it was started with may not be.
        cs_spawn_add_close_from(&actions, 3)
        if let directory { cs_spawn_add_chdir(&actions, directory) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let group = streams == nil ? CS_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var child = pid_t()
        let code = posix_spawnp(&child, arguments[0], &actions, &attributes, &words, &variables)
        guard code == 0 else { throw .cannotStart(code) }
        return child
    }
}
