// SPDX-License-Identifier: Apache-2.0

/// The options of the `feed` kind.
struct FeedOptions: Sendable {
    /// Fields that are compared beside the title: few, so that a search is faster than a hash.
    var compared = ["content"]
    /// Bytes of an entry's content that are kept and compared.
    var contentLimit = FeedOptions.standardLimit

    /// What keys an entry, by the user's choice; empty for what the feed offers.
    var key: [String] = []

    static let keys = ["guid", "link", "title"]
    static let standardLimit = 2000
    static let comparable = ["content", "link", "enclosure", "author", "categories", "published", "updated"]
}
