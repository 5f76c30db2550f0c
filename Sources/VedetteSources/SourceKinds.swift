// SPDX-License-Identifier: Apache-2.0

public import VedetteCore

/// The table of source kinds. A new kind needs its file and a row here.
public enum SourceKinds {
    public static let all: [SourceKindEntry] = [
        CloudBurst.entry, Connections.entry, Feed.entry, JSONResource.entry, XMLResource.entry, HTMLResource.entry,
        TextResource.entry, CalendarResource.entry, HTTPResource.entry,
    ]
}
