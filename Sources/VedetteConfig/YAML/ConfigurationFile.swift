// SPDX-License-Identifier: Apache-2.0

import Foundation
import VedetteCore

/// The text of one file.
struct ConfigurationFile: Sendable {
    /// The path as diagnostics print it.
    var path: String
    var text: String
    /// Whether only its owner can read it, so that it may contain secrets.
    var isPrivate: Bool

    /// The largest size in bytes.
    static let maximumSize = 4 << 20

    /// The directory that relative paths in the file are resolved against.
    var directory: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }

    /// Whether a word may be in it. A quoted text can hold it in escapes.
    func mentions(_ word: String) -> Bool { text.contains(word) || text.utf8.contains(UInt8(ascii: "\\")) }

    /// Reads every `*.yaml` in a directory and in `rules/` below it, or one file. A file that cannot be read is an error.
    static func all(in directory: String, _ findings: Findings) -> [ConfigurationFile] {
        if directory.hasSuffix(".yaml"), !isDirectory(directory) { return read(directory, findings).map { [$0] } ?? [] }
        let names =
            list(directory, findings) + list(directory + "/rules", findings, isOptional: true).map { "rules/" + $0 }
        let base = directory.hasSuffix("/") ? directory : directory + "/"
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { read(base + $0, findings) }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func list(_ directory: String, _ findings: Findings, isOptional: Bool = false) -> [String] {
        if isOptional, access(directory, F_OK) != 0 { return [] }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            findings.error(Place(file: directory), "this directory cannot be read; check its permissions")
            return []
        }
        // An editor's lock and swap files begin with a dot.
        let visible = names.filter { !$0.hasPrefix(".") }
        for name in visible where name.hasSuffix(".yml") {
            findings.warn(Place(file: directory + "/" + name), "only *.yaml is read; rename it")
        }
        return visible.filter { $0.hasSuffix(".yaml") }
    }

    private static func read(_ path: String, _ findings: Findings) -> ConfigurationFile? {
        let place = Place(file: path)
        switch BoundedFile.read(path, most: maximumSize) {
        case .failure(let problem):
            findings.error(place, problem.detail)
            return nil
        case .success(let file):
            guard let text = String(validating: file.bytes, as: UTF8.self) else {
                findings.error(position(ofBadByteIn: file.bytes, place), "the file is not UTF-8 here; save it as UTF-8")
                return nil
            }
            return ConfigurationFile(path: path, text: text, isPrivate: file.mode & 0o077 == 0)
        }
    }

    /// Returns where the longest valid prefix ends.
    private static func position(ofBadByteIn bytes: [UInt8], _ place: Place) -> Place {
        var decoder = UTF8()
        var rest = bytes.makeIterator()
        var place = Place(file: place.file, line: 1, column: 1)
        while case .scalarValue(let scalar) = decoder.decode(&rest) {
            if scalar == "\n" { (place.line, place.column) = (place.line + 1, 1) } else { place.column += 1 }
        }
        return place
    }
}
