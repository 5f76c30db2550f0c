// SPDX-License-Identifier: Apache-2.0

/// The token that clients of the page show.
public enum PageToken {
    /// A shorter one can be guessed.
    private static let shortest = 16

    /// Returns why a text cannot be the token, as the end of a sentence about it; nil when it can.
    public static func problem(of token: String) -> String? {
        guard token.utf8.count >= shortest else {
            return "needs at least \(shortest) characters; `openssl rand -hex 16` makes one"
        }
        // Around what a client shows, spaces are no part of it.
        guard token.first?.isWhitespace == false, token.last?.isWhitespace == false else {
            return "must not begin or end with a space"
        }
        return nil
    }
}
