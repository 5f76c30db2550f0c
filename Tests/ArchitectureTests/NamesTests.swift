// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Names")
struct NamesTests {
    @Test("every path that the pages for engineers name exists")
    func paths() throws {
        var count = 0
        for page in ["Sources/vedette/Documentation.docc/Architecture.md", "CONTRIBUTING.md", "README.md"] {
            let text = try String(contentsOf: Tree.root.appending(path: page), encoding: .utf8)
            for match in text.matches(of: /`((?:Sources|Tests|contrib|rules)\/[^`\s*]*)`/) {
                count += 1
                let exists = FileManager.default.fileExists(atPath: Tree.root.appending(path: String(match.1)).path())
                #expect(exists, "\(page): there is no \(match.1)")
            }
        }
        #expect(count > 50)
    }
}
