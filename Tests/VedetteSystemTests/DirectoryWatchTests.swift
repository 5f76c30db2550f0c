// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteSystem

@Suite("Watching directories", .timeLimit(.minutes(10)))
struct DirectoryWatchTests {
    /// A directory with room for others; gone at the end.
    final class Place: Sendable {
        let root = FileManager.default.temporaryDirectory.appending(path: "vedette-watch-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: root) }

        func path(_ name: String) -> String { root.appending(path: name).path }

        func make(_ name: String) throws {
            try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        }

        func write(_ name: String) throws { try Data("x".utf8).write(to: root.appending(path: name)) }
    }

    @Test("a written, a moved and a deleted file are reported")
    func files() async throws {
        let place = try Place()
        let watch = try #require(DirectoryWatch([place.root.path]))
        var changes = watch.changes.makeAsyncIterator()
        try place.write("a")
        #expect(await changes.next() != nil)
        try FileManager.default.moveItem(atPath: place.path("a"), toPath: place.path("b"))
        #expect(await changes.next() != nil)
        try FileManager.default.removeItem(atPath: place.path("b"))
        #expect(await changes.next() != nil)
    }

    @Test("a directory that is made later is watched")
    func madeLater() async throws {
        let place = try Place()
        let watch = try #require(DirectoryWatch([place.path("a")]))
        var changes = watch.changes.makeAsyncIterator()
        try place.make("a")
        #expect(await changes.next() != nil)
        try place.write("a/file")
        #expect(await changes.next() != nil)
    }

    @Test("a directory that replaces another is watched")
    func replaced() async throws {
        let place = try Place()
        try place.make("a")
        let watch = try #require(DirectoryWatch([place.path("a")]))
        var changes = watch.changes.makeAsyncIterator()
        try FileManager.default.moveItem(atPath: place.path("a"), toPath: place.path("old"))
        #expect(await changes.next() != nil)
        try place.make("a")
        // Its appearance, at the latest after a second.
        #expect(await changes.next() != nil)
        try place.write("a/file")
        #expect(await changes.next() != nil)
    }

    @Test(
        "a directory that cannot be watched is reported once, and watched when it can be; one that is not there is no failure"
    )
    func unwatched() async throws {
        let place = try Place()
        // Root may read every directory, but nobody a link to itself.
        try FileManager.default.createSymbolicLink(atPath: place.path("loop"), withDestinationPath: place.path("loop"))
        let (failures, continuation) = AsyncStream.makeStream(of: [String].self)
        let watch = try #require(
            DirectoryWatch([place.path("none"), place.path("loop")], fallback: .milliseconds(100)) { directory, code in
                continuation.yield([directory, "\(code)"])
            })
        var changes = watch.changes.makeAsyncIterator()
        for _ in 0..<3 { #expect(await changes.next() != nil) }
        try FileManager.default.removeItem(atPath: place.path("loop"))
        try place.make("loop")
        try place.write("loop/file")
        #expect(await changes.next() != nil)
        continuation.finish()
        var all: [[String]] = []
        for await failure in failures { all.append(failure) }
        #expect(all == [[place.path("loop"), "\(ELOOP)"]])
    }

    @Test("many quick changes do not end it")
    func quick() async throws {
        let place = try Place()
        let watch = try #require(DirectoryWatch([place.root.path]))
        let last = place.path("last")
        let reader = Task {
            for await _ in watch.changes where FileManager.default.fileExists(atPath: last) { return true }
            return false
        }
        for number in 0..<500 { try place.write("f\(number % 7)") }
        try place.write("last")
        #expect(await reader.value)
    }

    @Test("of certain files alone changes are reported")
    func touches() async throws {
        let place = try Place()
        try place.write("journal")
        let watch = try #require(DirectoryWatch([place.root.path], files: ["journal"]))
        var changes = watch.changes.makeAsyncIterator()
        try place.write("other")
        utimes(place.path("journal"), nil)
        #expect(await changes.next() != nil)
    }

    @Test("a fallback reports while a directory is missing")
    func fallbackWithoutDirectory() async throws {
        let watch = try #require(DirectoryWatch(["/none/such"], fallback: .milliseconds(1100)))
        var changes = watch.changes.makeAsyncIterator()
        #expect(await changes.next() != nil)
    }

    @Test("changes of other files delay no fallback")
    func fallbackBesideOthers() async throws {
        let place = try Place()
        let watch = try #require(
            DirectoryWatch([place.root.path], files: ["journal"], fallback: .milliseconds(50)))
        let writer = Task.detached {
            while !Task.isCancelled {
                try place.write("other")
                await Task.yield()
            }
        }
        var changes = watch.changes.makeAsyncIterator()
        #expect(await changes.next() != nil)
        writer.cancel()
        _ = await writer.result
    }

    @Test("a fallback reports without any change")
    func fallback() async throws {
        let place = try Place()
        let watch = try #require(DirectoryWatch([place.root.path], fallback: .milliseconds(1)))
        var changes = watch.changes.makeAsyncIterator()
        for _ in 0..<3 { #expect(await changes.next() != nil) }
    }
}
