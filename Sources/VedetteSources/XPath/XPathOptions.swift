// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// The options that the `xml` and the `html` kind share, and how a kind reads expressions from its own.
struct XPathOptions {
    let options: Options
    let namespaces: XPathNamespaces

    init(_ options: Options) throws(OptionProblem) {
        self.options = options
        do throws(XPath.Invalid) {
            namespaces = try XPathNamespaces(options.map("namespaces").map { (prefix: $0.name, uri: $0.value) })
        } catch {
            throw XPathOptions.problem(["namespaces", error.subject], error.reason)
        }
    }

    static func title(_ standard: String) -> OptionSpec {
        OptionSpec(
            "title", .oneOrMany(.text), "XPath of an item's title; of several the first that is not empty.",
            default: standard)
    }

    static let rows = [
        OptionSpec(
            "state", .oneOrMany(.text),
            "XPath or XPaths of an item's state; several are joined by `/` where they are not empty."),
        OptionSpec("link", .text, "XPath of the address where a person looks at an item; it may be relative."),
        OptionSpec("time", .text, "XPath of the time an item was last changed: ISO 8601, RFC 2822, or since 1970."),
        OptionSpec("fields", .map(.text), "Further fields that are compared: name to XPath."),
        OptionSpec("notes", .map(.text), "Fields that are stored and shown, never compared: name to XPath."),
        OptionSpec("measures", .map(.text), "Numbers that only bounds are compared with: name to XPath."),
        OptionSpec("require", .map(.oneOrMany(.text)), "What a good document says: XPath to value or values."),
        OptionSpec(
            "error", .oneOrMany(.text), "XPath or XPaths of the text with which a document says that it failed."),
        OptionSpec("next", .text, "XPath of the next page's address."),
        OptionSpec(
            "mode", .choice(["list", "window"]),
            "`list`: what is absent is gone; `window`: only the newest items are shown.", default: "list"),
    ]

    /// - Parameter place: the option, and inside of a map or a list the place in it.
    func path(_ text: String, _ place: [String]) throws(OptionProblem) -> XPath {
        do throws(XPath.Invalid) {
            return try XPath(text, namespaces: namespaces)
        } catch {
            throw XPathOptions.problem(place, "'\(text)' is no XPath that can be read: \(error.reason)")
        }
    }

    func path(_ option: String) throws(OptionProblem) -> XPath? {
        guard let text = options.text(option) else { return nil }
        return try path(text, [option])
    }

    /// An expression that must yield nodes, as rows do.
    func nodes(_ option: String) throws(OptionProblem) -> XPath? {
        guard let path = try path(option) else { return nil }
        return try nodes(path, [option])
    }

    func nodes(_ path: XPath, _ place: [String]) throws(OptionProblem) -> XPath {
        if path.result == .nodes { return path }
        let yield = path.result == .boolean ? "a truth value" : "a \(path.result.rawValue)"
        throw XPathOptions.problem(place, "'\(path)' yields \(yield); '\(place[0])' needs nodes")
    }

    func paths(_ option: String, standard: [String] = []) throws(OptionProblem) -> [XPath] {
        let given = options.texts(option)
        var paths: [XPath] = []
        for text in given.isEmpty ? standard : given { paths.append(try path(text, [option, text])) }
        return paths
    }

    func named(_ option: String, taken: inout Set<String>) throws(OptionProblem) -> [(name: String, path: XPath)] {
        var paths: [(name: String, path: XPath)] = []
        for (name, text) in options.map(option) {
            if XPathOptions.reserved.contains(name) {
                throw XPathOptions.problem(
                    [option, name], "'\(name)' is an option of its own; write it beside '\(option)'")
            }
            if !taken.insert(name).inserted {
                throw XPathOptions.problem([option, name], "'\(name)' is named twice")
            }
            paths.append((name, try path(text, [option, name])))
        }
        return paths
    }

    static func problem(_ place: [String], _ detail: String) -> OptionProblem {
        var problem = OptionProblem(detail: detail)
        problem.path = place
        return problem
    }

    private static let reserved: Set<String> = ["key", "title", "state", "url", "link", "time"]
}
