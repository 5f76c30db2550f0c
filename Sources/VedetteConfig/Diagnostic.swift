// SPDX-License-Identifier: Apache-2.0

/// One thing that is wrong in the configuration, with its place and the remedy. It never holds a secret's value.
public struct Diagnostic: Sendable, Hashable, CustomStringConvertible {
    public enum Severity: String, Sendable, Hashable {
        /// The configuration cannot be used.
        case error
        case warning
    }

    /// The path as it was found.
    public var file: String
    /// From 1; 0 when the whole file is meant.
    public var line: Int
    /// From 1, in Unicode scalars; 0 when the whole file is meant.
    public var column: Int
    public var message: String
    public var severity: Severity

    public init(file: String, line: Int = 0, column: Int = 0, message: String, severity: Severity = .error) {
        (self.file, self.line, self.column) = (file, line, column)
        (self.message, self.severity) = (message, severity)
    }

    /// `file:line:column: message`
    public var description: String {
        let place = line == 0 ? file : "\(file):\(line):\(column)"
        return "\(place): " + (severity == .warning ? "warning: " : "") + message
    }
}

/// Where something stands in a file.
struct Place: Sendable, Hashable {
    var file: String
    var line = 0
    var column = 0

    /// As another diagnostic names it.
    var text: String { line == 0 ? file : "\(file):\(line):\(column)" }
}

/// Gathers everything that is wrong in one load, so that all of it is said at once.
final class Findings {
    private(set) var all: [Diagnostic] = []
    /// More would not be read by anybody.
    private static let most = 1000

    var hasErrors: Bool { all.contains { $0.severity == .error } }

    func error(_ place: Place, _ message: String) { add(place, message, .error) }

    /// The end of reading; it is said however much was found before.
    func end(_ place: Place, _ message: String) {
        all.append(Diagnostic(file: place.file, line: place.line, column: place.column, message: message))
    }

    func warn(_ place: Place, _ message: String) { add(place, message, .warning) }

    private func add(_ place: Place, _ message: String, _ severity: Diagnostic.Severity) {
        guard all.count < Findings.most else { return }
        all.append(
            Diagnostic(
                file: place.file, line: place.line, column: place.column, message: message, severity: severity))
    }

    /// By file and position, without repeats (an alias is read as often as it is used).
    func sorted() -> [Diagnostic] {
        var seen = Set<Diagnostic>()
        let unique = all.filter { seen.insert($0).inserted }
        return unique.enumerated().sorted { a, b in
            let (x, y) = (a.element, b.element)
            if x.file != y.file { return x.file.utf8.lexicographicallyPrecedes(y.file.utf8) }
            return (x.line, x.column, a.offset) < (y.line, y.column, b.offset)
        }.map(\.element)
    }
}
