// SPDX-License-Identifier: Apache-2.0

/// What a server says about a request that it refuses, as it is stored and shown.
public enum ServerWords {
    /// Bytes of the words that are shown.
    public static let longest = 300

    /// A text with one of these repeats the request, which a person knows, with what identifies it.
    private static let heads = ["authorization:", "cookie:"]

    /// Returns one line without control characters and secrets, cut at the end of a character; nil for no words, and for
    /// words that repeat the request.
    public static func shown(_ text: String, _ redactor: SecretRedactor?) -> String? {
        // A secret that the cut divides would no longer be found.
        let clean = redactor?.redacted(text) ?? text
        let lowercased = clean.lowercased()
        guard !heads.contains(where: { lowercased.contains($0) }) else { return nil }
        let separators = clean.unicodeScalars.split {
            $0.properties.isWhitespace || $0.properties.generalCategory == .control
        }
        let line = TerminalText.safe(separators.map(String.init).joined(separator: " "), limit: .max)
        guard line.utf8.count > longest else { return line.isEmpty ? nil : line }
        var shown = ""
        for character in line {
            guard shown.utf8.count + character.utf8.count + 3 <= longest else { break }
            shown.append(character)
        }
        return shown + "…"
    }
}
