// SPDX-License-Identifier: Apache-2.0

import VedetteCore

/// The style sheet, the script and the icon. They are part of the program, so that nothing is fetched from elsewhere.
enum Assets {
    /// Part of their addresses: a browser keeps them until the program changes them.
    static let version: String = {
        var digest = StableHash()
        digest.add(style)
        digest.add(script)
        return String(digest.value, radix: 36)
    }()

    static func response(_ text: String, _ contentType: String) -> PageResponse {
        .text(
            text, contentType: contentType,
            headers: [HeaderField("Cache-Control", "public, max-age=31536000, immutable")])
    }
}
