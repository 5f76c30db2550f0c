// SPDX-License-Identifier: Apache-2.0

/// The address of a source that is a command: `command:` and its percent-encoded arguments, joined by `+`. No redirect, next
/// page or link can lead to one, since those must be http or https.
public enum CommandURL {
    private static let scheme = "command:"

    /// Returns the address of a command.
    public static func text(_ arguments: [String]) -> String {
        scheme + arguments.map(WebURL.encoded).joined(separator: "+")
    }

    /// Returns the arguments of an address, the program first; nil for any other address.
    public static func arguments(_ url: String) -> [String]? {
        guard url.hasPrefix(scheme) else { return nil }
        return url.dropFirst(scheme.count).split(separator: "+", omittingEmptySubsequences: false)
            .map(FormEncoding.decoded)
    }
}
