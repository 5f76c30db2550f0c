// SPDX-License-Identifier: Apache-2.0

import VedetteCore
import VedetteDocument

/// Passes the elements of a document to a `FeedReading`, which is a struct, because Swift checks exclusive access to each property
/// of a class.
final class FeedHandler: XMLHandler {
    static let reader = XMLReader(FeedName.vocabulary)

    private let fresh: FeedReading
    private(set) var reading: FeedReading

    init(url: String, options: FeedOptions, receivedAt: Timestamp) {
        fresh = FeedReading(url: url, options: options, receivedAt: receivedAt)
        reading = fresh
    }

    func start(_ element: borrowing XMLElement) throws(DocumentError) -> XMLAction { try reading.start(element) }
    func end(_ element: borrowing XMLEnd) throws(DocumentError) { reading.end(element) }

    func restart() -> Bool {
        reading = fresh
        return true
    }

    /// Returns the reading after the end of the document.
    func finish() throws(DocumentError) -> FeedReading {
        try reading.finish()
        return reading
    }
}
