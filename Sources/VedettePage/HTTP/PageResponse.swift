// SPDX-License-Identifier: Apache-2.0

/// The response to a request.
public struct PageResponse: Sendable {
    /// The content.
    public enum Body: Sendable {
        /// All of it.
        case bytes([UInt8])
        /// A part at a time, until the stream or the client ends.
        case stream(any PageStream)
    }

    /// The status code.
    public var status: Int
    /// The media type, with its charset.
    public var contentType: String
    /// Headers besides Content-Type and those that every response has.
    public var headers: [HeaderField]
    /// The content.
    public var body: Body

    /// Creates a response.
    public init(_ status: Int = 200, contentType: String, headers: [HeaderField] = [], body: Body) {
        (self.status, self.contentType, self.headers, self.body) = (status, contentType, headers, body)
    }

    /// Creates a response of one text.
    public static func text(
        _ text: String, status: Int = 200, contentType: String = "text/plain; charset=utf-8",
        headers: [HeaderField] = []
    ) -> PageResponse {
        PageResponse(status, contentType: contentType, headers: headers, body: .bytes(Array(text.utf8)))
    }

    /// Creates the response to a request that is refused before it reaches its route: one sentence, and the headers that
    /// every response has.
    static func refusal(_ status: Int, _ sentence: String, headers: [HeaderField] = [])
        -> PageResponse
    {
        var response = PageResponse.text(sentence + "\n", status: status, headers: headers)
        SecurityHeaders.add(to: &response)
        return response
    }

    /// Creates a redirect that is followed with GET.
    /// - Parameter location: an encoded path.
    public static func redirect(to location: String, headers: [HeaderField] = []) -> PageResponse {
        .text("", status: 303, headers: [HeaderField("Location", location)] + headers)
    }
}
