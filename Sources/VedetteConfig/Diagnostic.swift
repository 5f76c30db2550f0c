// SPDX-License-Identifier: Apache-2.0

/// An error or warning about the configuration, with its place and the remedy. It never contains a secret.
public struct Diagnostic: Sendable, Hashable, CustomStringConvertible {
    /// How bad it is.
    public enum Severity: String, Sendable, Hashable {
        /// The configuration cannot be used.
        case error
        /// The configuration can be used.
        case warning
    }

    /// The path as it was found.
    public var file: String
    /// From 1; 0 when the whole file is meant.
    public var line: Int
    /// From 1, in Unicode scalars; 0 when the whole file is meant.
    public var column: Int
    /// What is wrong, and what to do.
    public var message: String
    /// How bad it is.
    public var severity: Severity
    /// Whether the error may go away without an edit, such as a secret that does not exist yet.
    public var mayPass: Bool
    /// Whether it is a warning about a rule's own test, which `vedette check` counts as an error.
    public var isFailedTest: Bool

    /// Creates a diagnostic.
    public init(
        file: String, line: Int = 0, column: Int = 0, message: String, severity: Severity = .error,
        mayPass: Bool = false, isFailedTest: Bool = false
    ) {
        (self.file, self.line, self.column) = (file, line, column)
        (self.message, self.severity, self.mayPass, self.isFailedTest) = (message, severity, mayPass, isFailedTest)
    }

    /// The diagnostic as it is printed: `file:line:column: message`.
    public var description: String { "\(place): " + (severity == .warning ? "warning: " : "") + message }

    /// The diagnostic for a log, which has its own word for a warning.
    public var text: String { "\(place): \(message)" }

    private var place: String { line == 0 ? file : "\(file):\(line):\(column)" }
}

/// A position in a file.
struct Place: Sendable, Hashable {
    var file: String
    var line = 0
    var column = 0
    /// The values of `each` with which what is there was read.
    var expansion: YAMLExpansion?

    /// The position as another diagnostic refers to it.
    var text: String { line == 0 ? file : "\(file):\(line):\(column)" }
}

/// Collects the diagnostics of one load, so that all of them are reported at once.
final class Findings {
    private(set) var all: [Diagnostic] = []
    /// What was said of one source that `each` made, and is not repeated for each other.
    private var expanded: Set<Diagnostic> = []
    /// Diagnostics that are kept; nobody reads more.
    private static let maximum = 1000

    var hasErrors: Bool { all.contains { $0.severity == .error } }

    func error(_ place: Place, _ message: String, mayPass: Bool = false) { add(place, message, .error, mayPass) }

    /// Adds the error that ends a load, also when the maximum is reached.
    func end(_ place: Place, _ message: String) {
        all.append(Diagnostic(file: place.file, line: place.line, column: place.column, message: message))
    }

    func warn(_ place: Place, _ message: String) { add(place, message, .warning) }

    func failedTest(_ place: Place, _ message: String) { add(place, message, .warning, isFailedTest: true) }

    private func add(
        _ place: Place, _ message: String, _ severity: Diagnostic.Severity, _ mayPass: Bool = false,
        isFailedTest: Bool = false
    ) {
        guard all.count < Findings.maximum else { return }
        var diagnostic = Diagnostic(
            file: place.file, line: place.line, column: place.column, message: message, severity: severity,
            mayPass: mayPass, isFailedTest: isFailedTest)
        if let expansion = place.expansion {
            diagnostic.message = message.replacing("'\(expansion.to)'", with: "'\(expansion.from)'")
            guard expanded.insert(diagnostic).inserted else { return }
            diagnostic.message = "\(message) (with \(expansion.values) of 'each')"
        }
        all.append(diagnostic)
    }

    /// Returns the diagnostics by file and position, without duplicates: an alias is read as often as it is used.
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
