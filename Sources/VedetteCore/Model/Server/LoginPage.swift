// SPDX-License-Identifier: Apache-2.0

/// The login form of a page: a form that asks for a password.
public struct LoginPage: Sendable, Hashable {
    /// The absolute URL that the form is sent to.
    public var action: String
    /// The fields that the page fills in itself, such as a token against forged requests.
    public var hidden: [HiddenField]

    /// A field with its value.
    public struct HiddenField: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a field.
        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// Creates a page.
    public init(action: String, hidden: [HiddenField]) { (self.action, self.hidden) = (action, hidden) }
}
