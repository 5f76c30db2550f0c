// SPDX-License-Identifier: Apache-2.0

import Testing
import VedetteCore

@testable import VedetteConfig

/// A file as an interrupted editor or a bad disk leaves it: it is read or refused, never a crash.
struct MangledConfigurationTests {
    /// The example, and what it lacks: anchors, quotes, blocks, comments.
    static let text =
        example + """
            x-anchors: &a {b: [*c, "d\\u00e4\\n", 'e''f']} # comment
            ? [complex]
            : |+
              {{#block}}
            folded: >-
              text
              {{/x}}
            """

    /// 0 or 1 for the two halves of the work, which two cores share.
    @Test("every prefix of a file is read or refused", arguments: [0, 1])
    func prefixes(half: Int) {
        let scalars = Array(Self.text.unicodeScalars)
        for count in stride(from: half, through: scalars.count, by: 2) {
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars[..<count])
            _ = load(text, environment: exampleEnvironment)
        }
    }

    @Test(
        "every changed character is read or refused",
        arguments: ["\u{0}", "{", "*", ":", "\n", "\"", "\u{10FFFF}"] as [Unicode.Scalar])
    func replaced(by scalar: Unicode.Scalar) {
        let scalars = Array(Self.text.unicodeScalars)
        for i in stride(from: 0, to: scalars.count, by: 5) {
            var changed = scalars
            changed[(i + Int(scalar.value)) % scalars.count] = scalar
            var text = ""
            text.unicodeScalars.append(contentsOf: changed)
            for diagnostic in load(text, environment: exampleEnvironment).diagnostics {
                #expect(!diagnostic.message.contains("s3cret"))
            }
        }
    }
}
