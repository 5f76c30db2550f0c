// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteText

/// Compiles templates, and reports errors at their place inside the text.
struct TemplateReader {
    let findings: Findings
    var vocabulary = TemplateVocabulary.message

    /// - Parameter replacement: what is read in the place of the node's text.
    func template(_ node: YAMLNode, _ what: String, as replacement: String? = nil) -> (any Template)? {
        guard let text = replacement ?? ScalarReader(findings: findings).text(node, what) else { return nil }
        do throws(TemplateError) {
            return try MustacheTemplate(text, names: vocabulary)
        } catch {
            findings.error(node.place(ofLine: error.line, column: error.column), "in \(what): \(error.detail)")
            return nil
        }
    }
}
