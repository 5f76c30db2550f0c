// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

/// A mount that never answers, in a user namespace.
private enum HungMount {
    /// Mounts a file system that never answers at the directory of its first argument and becomes the program behind it.
    /// The mount lives as long as the descriptor, which the program inherits.
    private static let script = """
        import ctypes, os, sys
        device = os.open("/dev/fuse", os.O_RDWR)
        os.set_inheritable(device, True)
        libc = ctypes.CDLL(None, use_errno=True)
        options = "fd=%d,rootmode=40000,user_id=0,group_id=0" % device
        if libc.mount(b"hung", sys.argv[1].encode(), b"fuse", 0, options.encode()) != 0: sys.exit(77)
        if len(sys.argv) > 2: os.execv(sys.argv[2], sys.argv[2:])
        """

    static func arguments(_ arguments: [String]) -> [String] { ["-Urm", "python3", "-c", script] + arguments }

    static let isPossible: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        process.arguments = arguments(["/mnt"])
        process.standardError = FileHandle.nullDevice
        guard (try? process.runUnblocked()) != nil else { return false }
        return process.waitForEnd() == 0
    }()
}

@Suite(
    "Files that hang", .timeLimit(.minutes(10)), .enabled(if: HungMount.isPossible, "no FUSE mount in a user namespace")
)
struct HungFileTests {
    /// Two sources whose changes go to standard output, beside what hangs.
    private struct World {
        let home: Home
        let dead: URL
        let watcher: Child

        init(_ configuration: (World.Paths) -> String) async throws {
            home = try Home()
            let paths = Paths(directory: home.directory.path)
            dead = home.directory.appending(path: "dead")
            try FileManager.default.createDirectory(at: dead, withIntermediateDirectories: true)
            try World.write("a", to: home)
            try home.write(configuration(paths))
            watcher = try Child(
                "/usr/bin/unshare", HungMount.arguments([dead.path, Program.path, "run"] + home.places))
            try await watcher.wait(for: .err) { $0.contains { $0.contains("watching") } }
        }

        struct Paths {
            var directory: String
        }

        static func write(_ state: String, to home: Home) throws {
            for name in ["one", "two"] {
                try Data(#"[{"id": "\#(name)", "state": "\#(state)"}]"#.utf8)
                    .write(to: home.directory.appending(path: name + ".json"), options: .atomic)
            }
        }

        /// Changes both lists and waits until standard output has both changes.
        func change(to state: String) async throws {
            try World.write(state, to: home)
            try await watcher.wait { $0.count { $0.contains(#""to":"\#(state)""#) } == 2 }
        }

        /// Waits for the baseline of both lists.
        func begin() async throws {
            try await watcher.wait(for: .err) { $0.count { $0.contains("baseline") } >= 2 }
        }
    }

    @Test(
        "I7 and I10: a file sink on a mount that never answers delays no poll, no other sink and no SIGTERM",
        .tags(.I7, .I10))
    func sink() async throws {
        let world = try await World { paths in
            """
            sources:
              one: {kind: json, url: "file://\(paths.directory)/one.json", state: state, every: 200ms}
              two: {kind: json, url: "file://\(paths.directory)/two.json", state: state, every: 200ms}
            sinks:
              dead: {kind: file, path: "\(paths.directory)/dead/log"}
              gone: {kind: file, path: "\(paths.directory)/dead/log2"}
              out: {kind: stdout, format: json}
            rules:
              - {name: any, when: {field: state}, notify: [dead, gone, out]}
            """
        }
        try await world.begin()
        for state in ["b", "c", "d"] { try await world.change(to: state) }
        #expect(await world.watcher.stop() == 0)
    }

    @Test(
        "I7 and I10: file sources that are pipes or on a mount that never answers delay no other source and no SIGTERM",
        .tags(.I7, .I10))
    func source() async throws {
        let world = try await World { paths in
            for name in ["p", "q"] { mkfifo("\(paths.directory)/\(name)", 0o600) }
            return """
                sources:
                  one: {kind: json, url: "file://\(paths.directory)/one.json", state: state, every: 200ms}
                  two: {kind: json, url: "file://\(paths.directory)/two.json", state: state, every: 200ms}
                  p: {kind: json, url: "file://\(paths.directory)/p", every: 200ms}
                  q: {kind: json, url: "file://\(paths.directory)/q", every: 200ms}
                  dead: {kind: json, url: "file://\(paths.directory)/dead/x", every: 200ms}
                  gone: {kind: json, url: "file://\(paths.directory)/dead/y", every: 200ms}
                sinks:
                  out: {kind: stdout, format: json}
                rules:
                  - {name: any, when: {field: state}, notify: [out]}
                """
        }
        try await world.begin()
        for state in ["b", "c", "d"] { try await world.change(to: state) }
        #expect(await world.watcher.stop() == 0)
    }
}
