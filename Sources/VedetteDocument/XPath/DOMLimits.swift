// SPDX-License-Identifier: Apache-2.0

/// Limits on the size of a tree and on the work that is done on it. A tree costs about 120 bytes for each element, attribute
/// and text beside its text, so these limits are tighter than for a document that is only read through.
public struct DOMLimits: Hashable, Sendable {
    /// Elements inside each other. Deeper XML is refused; deeper HTML is flattened: the text of deeper elements is read as
    /// text of the deepest one kept. At most 250, since libxml2 gives up at 256.
    public var depth = 250
    /// Elements, attributes and namespace declarations together.
    public var nodes = 400_000
    /// Attributes and namespace declarations of one element.
    public var attributes = 256
    /// Bytes of the document, as UTF-8.
    public var bytes = 16 << 20
    /// The bytes of each text times its depth, summed: the cost of taking the text of every element once.
    public var weight = 256 << 20
    /// Steps of all XPath expressions on one document together, as libxml2 counts them.
    public var operations: UInt = 20_000_000
    /// Comparisons of nodes that all expressions on one document may take where they join node sets, which take about three
    /// seconds. One evaluation may take a third of them, or walk twice through a document of up to 60,000 nodes.
    public var comparisons: UInt = 12_000_000_000
    /// Nodes of one result.
    public var results = 100_000
    /// Bytes of all texts taken from one document together.
    public var textBytes = 32 << 20

    public init() {}
}
