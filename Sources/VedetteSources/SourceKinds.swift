// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The table of source kinds: a new kind is its file and its row here.
public enum SourceKinds {
    public static let all: [SourceKindEntry] = [
        CloudBurst.entry, Connections.entry, Feed.entry, JSONResource.entry, XMLResource.entry, HTMLPage.entry,
        HTTPResource.entry,
    ]
}
