// SPDX-License-Identifier: Apache-2.0

/// Finds the login form of a page. The network layer reads no documents itself.
public protocol LoginPageReader: Sendable {
    /// Returns the first form of a page that asks for a password; nil for none.
    func loginPage(in response: Response) -> LoginPage?
}
