// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteTestSupport

/// A small file system of its own for a watcher, in a user namespace.
private enum SmallDisk {
    /// Mounts 8 MiB at the directory of the first argument and becomes the program behind it.
    private static let script = #"mount -t tmpfs -o size=8m,mode=700 none "$0" && exec "$@""#

    static func arguments(_ arguments: [String]) -> [String] { ["-Urm", "sh", "-c", script] + arguments }

    static let isPossible: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        process.arguments = arguments(["/mnt", "true"])
        process.standardError = FileHandle.nullDevice
        guard (try? process.runUnblocked()) != nil else { return false }
        return process.waitForEnd() == 0
    }()
}

@Suite(
    "A disk that is full", .timeLimit(.minutes(10)),
    .enabled(if: SmallDisk.isPossible, "no mount in a user namespace"))
struct FullDiskTests {
    @Test(
        "case 39: a full disk is told once, and what changed meanwhile is told once when there is room")
    func full() async throws {
        let home = try Home()
        let list = home.directory.appending(path: "list.json")
        // The journal's log has room of its own: a change must be larger than that.
        func serve(_ state: String, bytes: Int = 0) throws {
            let text = String(repeating: "x", count: bytes)
            try Data(#"[{"id": 1, "title": "prod-1", "state": "\#(state)", "text": "\#(text)"}]"#.utf8)
                .write(to: list, options: .atomic)
        }
        try serve("First")
        let notes = (0..<24).map { "n\($0): text" }.joined(separator: ", ")
        try home.write(
            """
            sources:
              s: {kind: json, url: "file://\(list.path)", state: state, every: 200ms, notes: {\(notes)}}
            sinks:
              out: {kind: stdout, format: json}
            rules:
              - {name: any, when: {field: state}, notify: [out]}
            """)
        try FileManager.default.createDirectory(at: home.state, withIntermediateDirectories: true)
        let watcher = try Child(
            "/usr/bin/unshare", SmallDisk.arguments([home.state.path, Program.path, "run"] + home.places))
        try await watcher.wait(for: .err) { $0.contains { $0.contains("baseline") } }
        // The mount is in the watcher's namespace alone.
        let filler = "/proc/\(watcher.pid)/root\(home.state.path)/filler"
        try fill(filler)
        try serve("Second", bytes: 60_000)
        try await watcher.wait(for: .err) { $0.contains { $0.contains("is full: make room") } }
        // The journal is no source of the configuration: it is told past it, to a sink that needs no network.
        try await watcher.wait { $0.contains { $0.contains("io.vedette.source.failing") } }
        try serve("Third", bytes: 60_000)
        unlink(filler)
        let lines = try await watcher.wait { $0.contains { $0.contains(#""to":"Third""#) } }
        let events = lines.compactMap(Program.object)
        #expect(events.first?.text("type") == "io.vedette.source.failing", "\(lines)")
        #expect(events.first?.text("data", "source") == "journal")
        // A commit of the second state may be tried once more just after there is room.
        let changes = lines.dropFirst().map { line in
            ["First", "Second", "Third"].filter { line.contains("\"\($0)\"") }
        }
        #expect([[["First", "Third"]], [["First", "Second"], ["Second", "Third"]]].contains(changes), "\(lines)")
        #expect(await watcher.stop() == 0)
    }

    @Test("a backup for which a disk has no room names that disk, and leaves no file there")
    func backup() async throws {
        let home = try Home()
        try home.write("sources: {s: {kind: text, command: [echo, '1']}}")
        #expect(try await home.vedette("run", "--once").code == 0)
        let disk = home.directory.appending(path: "disk")
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
        // `head` ends where there is no room.
        let script = #"""
            disk=$1; shift
            head -c 20m /dev/zero 2>/dev/null >"$disk/filler"
            "$@"
            code=$?
            ls "$disk"
            exit $code
            """#
        let copy = disk.path + "/b.db"
        let backup = try Child(
            "/usr/bin/unshare",
            SmallDisk.arguments(
                [disk.path, "sh", "-c", script, "sh", disk.path, Program.path, "journal", "backup", copy]
                    + home.places))
        #expect(await backup.end() == 74)
        #expect(backup.text(of: .err).contains("the disk that holds \(copy) is full"), "\(backup.text(of: .err))")
        #expect(backup.lines(of: .out) == ["filler"])
    }

    /// Writes zeros until no byte more has room.
    private func fill(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Trouble("failed to create \(path): \(errno)") }
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: 4096)
        while write(file, zeros, zeros.count) > 0 {}
        guard errno == ENOSPC else { throw Trouble("failed to fill the disk: \(errno)") }
    }
}
