// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// A strict subset of Mustache (mustache(5)): `{{name}}`, sections, inverted sections, dotted names and comments. Texts
/// are plain, so `{{{name}}}` and `{{&name}}` mean the same as `{{name}}`; code that puts the result into markup, JSON or a URL
/// gives the context an escape. A name is always looked up whole, never along the stack of sections.
///
/// Unknown names, `{{}}`, partials and changed delimiters, which Mustache ignores, are errors here.
public struct MustacheTemplate: Template {
    indirect enum Part: Sendable {
        case text(String)
        case value(String)
        /// `{{.}}`: the element of the section around it.
        case element
        case section(String, isInverted: Bool, [Part])
    }

    private let parts: [Part]

    /// Bytes of the longest template that is accepted.
    public static let maximumLength = 16 << 10
    /// The deepest nesting of sections.
    public static let maximumNesting = 16
    /// The end of a text that a limit cut, so that its reader sees the cut.
    public static let cutMark = "… [cut: the template renders too much text]"

    public init(_ text: String, names: TemplateVocabulary) throws(TemplateError) {
        parts = try TemplateParser.parse(text, names: names)
    }

    public var names: Set<String> { MustacheTemplate.names(in: parts) }

    private static func names(in parts: [Part]) -> Set<String> {
        parts.reduce(into: []) { names, part in
            switch part {
            case .text, .element: break
            case .value(let name): names.insert(name)
            case .section(let name, _, let inner): names.formUnion(MustacheTemplate.names(in: inner).union([name]))
            }
        }
    }

    public func render(_ context: TemplateContext) -> String {
        var renderer = Renderer(context: context)
        renderer.render(parts, element: nil)
        return renderer.text + (renderer.isCut ? MustacheTemplate.cutMark : "")
    }
}

/// Renders one text within limits, because a list inside itself, inside itself, grows as a power of its length.
private struct Renderer {
    let context: TemplateContext
    var text = ""
    /// A limit was reached, so the text lacks its end.
    var isCut = false
    private var stepsLeft = 100_000
    private var bytesLeft = 1 << 20

    init(context: TemplateContext) { self.context = context }

    mutating func render(_ parts: [MustacheTemplate.Part], element: String?) {
        for part in parts where !isCut {
            stepsLeft -= 1
            switch part {
            case .text(let literal): append(literal)
            case .value(let name): append(context.escape(context[name]?.description ?? ""))
            case .element: append(context.escape(element ?? ""))
            case .section(let name, let isInverted, let inner):
                let elements = elements(of: name)
                if isInverted {
                    if elements.isEmpty { render(inner, element: element) }
                } else {
                    for element in elements where !isCut { render(inner, element: element) }
                }
            }
            if stepsLeft < 0 { isCut = true }
        }
    }

    /// The elements of a list, or a text as the only one; none when the value is absent or empty.
    private func elements(of name: String) -> [String] {
        switch context[name] {
        case nil, .text(""): []
        case .text(let text): [text]
        case .list(let list): list
        }
    }

    private mutating func append(_ more: String) {
        bytesLeft -= more.utf8.count
        if bytesLeft < 0 { isCut = true } else { text += more }
    }
}
