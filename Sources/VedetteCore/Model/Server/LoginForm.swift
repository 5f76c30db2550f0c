// SPDX-License-Identifier: Apache-2.0

/// A session that begins with a form: its fields are posted, and the cookies of the response belong to every further request.
public struct LoginForm: Sendable {
    /// A field of the form.
    public struct Field: Sendable {
        /// The name.
        public var name: String
        /// The value; a secret one is never printed.
        public var content: Header.Content

        /// Creates a field.
        public init(_ name: String, _ content: Header.Content) { (self.name, self.content) = (name, content) }

        /// The value as it is sent.
        public var value: String {
            switch content {
            case .plain(let value): value
            case .secret(let secret): secret.value
            }
        }
    }

    /// The absolute URL of the form's page, on the origin of the server: no other origin gets the fields (I9).
    public var url: String
    /// The fields that a person fills in.
    public var fields: [Field]

    /// Creates a login.
    public init(url: String, fields: [Field]) { (self.url, self.fields) = (url, fields) }

    /// The secrets among the fields.
    public var secrets: [Secret] {
        fields.compactMap { if case .secret(let secret) = $0.content { secret } else { nil } }
    }
}
