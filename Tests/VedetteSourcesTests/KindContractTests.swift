// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VedetteCore

@testable import VedetteSources

/// What a row of the table of source kinds brings with it: its page, its example, a sample, and how it reads.
@Suite("The contract of source kinds")
struct KindContractTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let names = SourceKinds.all.map(\.name)
    static let pages = "Sources/vedette/Documentation.docc"

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The texts in back-quotes.
    private static func quoted(_ text: some StringProtocol) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    /// The rows of a page's tables of options: the names in the first cell, and the whole row.
    private static func rows(_ kind: String) throws -> [(names: [String], text: String)] {
        let lines = try text("\(pages)/\(kind).md").split(
            separator: "\n", omittingEmptySubsequences: false)
        let tables = lines.split { !$0.hasPrefix("| ") && !$0.hasPrefix("|--") }
        return tables.filter { $0.first?.hasPrefix("| option |") == true }.flatMap { $0.dropFirst(2) }
            .map { row in
                (quoted(row.split(separator: "|").first ?? ""), String(row))
            }
    }

    @Test(
        "every kind has a page that names each of its options and no other, and the overview leads to it",
        arguments: names)
    func pages(_ name: String) throws {
        #expect(try Self.text("\(Self.pages)/\(name).md").hasPrefix("# The \(name) kind\n"))
        #expect(try Self.text("\(Self.pages)/vedette.md").contains("[\(name)](\(name).md)"))
        let options = SourceKinds.all.first { $0.name == name }?.options.map(\.name) ?? []
        #expect(try Self.rows(name).flatMap(\.names).sorted() == options.sorted())
    }

    @Test("every option's row of the page names its default", arguments: names)
    func defaults(_ name: String) throws {
        let rows = try Self.rows(name)
        for option in SourceKinds.all.first(where: { $0.name == name })?.options ?? [] {
            guard let standard = option.documentedDefault else { continue }
            let row = rows.first { $0.names.contains(option.name) }?.text ?? ""
            // A value is quoted in the page; of words about it at least those stand there that are values.
            let values =
                standard.contains("`") ? Self.quoted(standard) : standard.components(separatedBy: ", ")
            for value in values where !value.contains(" ") || standard.hasPrefix("{") {
                let words = standard.hasPrefix("{") ? standard : value
                #expect(row.contains("`\(words)`"), "\(name): '\(option.name)' is \(standard) unless given")
            }
        }
    }

    @Test("every kind has an example under rules/", arguments: names)
    func example(_ name: String) throws {
        let text = try Self.text("rules/\(name).yaml")
        #expect(text.contains("kind: \(name)\n") || text.contains("kind: \(name),"))
    }

    @Test("every kind has a sample, and every sample a kind")
    func samples() {
        #expect(KindSample.all.map(\.kind).sorted() == Self.names.sorted())
    }

    @Test(
        "reading is deterministic, and fields, notes and states are among the declared ones",
        arguments: names)
    func reading(_ name: String) throws {
        let sample = try #require(KindSample.of(name))
        let bytes = try sample.bytes()
        let (one, two) = (try sample.read(bytes), try sample.read(bytes))
        #expect(one.items.count == sample.count)
        #expect(one.items == two.items && one.next == two.next && one.warnings == two.warnings)
        #expect(one.items.map(\.digest) == two.items.map(\.digest))
        let (kind, other) = (try sample.made(), try sample.made())
        #expect(kind.identity == other.identity && kind.fingerprints == other.fingerprints)
        #expect(kind.fingerprints[SnapshotHead.everyField] != nil, "the version of the reading")
        guard let known = kind.fieldNames else { return }
        #expect(Set(known).count == known.count)
        let found = Set(
            one.items.flatMap { [$0.fields, $0.notes, $0.measures].flatMap { $0.map(\.name) } })
        #expect(found.subtracting(known).isEmpty)
        #expect(!found.isEmpty)
        #expect(kind.noteNames.subtracting(known).isEmpty)
        #expect(kind.noteNames.isDisjoint(with: one.items.flatMap { $0.fields.map(\.name) }))
        // A note that may be compared as the options say is not among them.
        #expect(Set(one.items.flatMap { $0.notes.map(\.name) }).subtracting(kind.noteNames).isEmpty)
        #expect(
            kind.measureNames.isDisjoint(with: one.items.flatMap { [$0.fields, $0.notes].flatMap { $0.map(\.name) } }))
        #expect(Set(one.items.flatMap { $0.measures.map(\.name) }).subtracting(kind.measureNames).isEmpty)
        guard let states = kind.stateNames else { return }
        #expect(one.items.allSatisfy { $0.state.map(states.contains) ?? states.isNone })
    }

    @Test("an empty, a cut and a huge body are an error, never items", arguments: names)
    func broken(_ name: String) throws {
        let sample = try #require(KindSample.of(name))
        let text = String(decoding: try sample.bytes(), as: UTF8.self)
        let whole = Array(
            text.reversed().drop { $0.isWhitespace }.reversed().map(String.init).joined().utf8)
        let places = (1..<64).map { $0 * whole.count / 64 } + [whole.count - 1]
        var bodies: [(String, [UInt8])] = [("empty", []), ("of white space", Array("\n \n".utf8))]
        bodies += places.map { ("cut to \($0) of \(whole.count)", Array(whole[..<$0])) }
        let huge = try #require(text.range(of: sample.words))
        // Many of one letter are appended one by one.
        let long = String(repeating: String(repeating: "x", count: 1024), count: 33 << 10)
        bodies.append(
            ("huge", Array(text.replacingCharacters(in: huge, with: sample.words + long).utf8)))
        for (what, body) in bodies {
            if sample.takesAnything != nil {
                #expect(try sample.read(body).items.count == 1, "\(what)")
            } else {
                #expect(throws: ReadError.self, "\(what)") { try sample.read(body) }
            }
        }
    }

    @Test("a text of eleven megabytes is an error, or every item around it is there", arguments: names)
    func long(_ name: String) throws {
        let sample = try #require(KindSample.of(name))
        let text = String(decoding: try sample.bytes(), as: UTF8.self)
        let place = try #require(text.range(of: sample.words))
        let long = sample.words + String(repeating: " more", count: 2_300_000)
        guard let page = try? sample.read(Array(text.replacingCharacters(in: place, with: long).utf8)) else { return }
        #expect(page.items.count == sample.count)
        let values = page.items.flatMap { [$0.fields, $0.notes, $0.measures].flatMap { $0.map(\.value.description) } }
        let longest = (values + page.items.flatMap { [$0.key, $0.title ?? ""] }).map(\.utf8.count).max() ?? 0
        #expect(longest <= 65_536)
    }

    @Test(
        "another choice of items or keys is another identity", arguments: names)
    func identities(_ name: String) throws {
        let sample = try #require(KindSample.of(name))
        let all = try [sample.made().identity] + sample.identities.map { try sample.made($0).identity }
        #expect(Set(all).count == all.count)
        let options = Set(SourceKinds.all.first { $0.name == name }?.options.map(\.name) ?? [])
        for option in ["items", "key", "mode"] where options.contains(option) {
            #expect(sample.identities.contains { $0[option] != nil }, "no other '\(option)' is tried")
        }
    }
}
