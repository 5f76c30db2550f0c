// SPDX-License-Identifier: Apache-2.0

/// A resource of IBM Lotus / HCL Connections that lists updates.
enum ConnectionsResource: String, CaseIterable, Sendable {
    case `public`, person, status, newsfeed, top, community, saved, search

    /// The path in the Updates API, under the News application, or in the Search API.
    var atomPath: String {
        switch self {
        case .public: "/news/atom/stories/public"
        case .person: "/news/atom/stories/public/person"
        case .status: "/news/atom/stories/statusupdates"
        case .newsfeed, .top, .community, .saved: "/news/atom/stories/\(rawValue)"
        case .search: "/search/atom/search/results"
        }
    }

    /// User and group of the activity stream; nil where it has no such view.
    private var streamView: String? {
        switch self {
        case .public, .person, .status: "@public/@all"
        case .newsfeed: "@me/@all"
        case .saved: "@me/@saved"
        case .top, .community, .search: nil
        }
    }

    /// Returns the path of the later JSON activity stream. Its part `basic` selects basic authentication.
    func streamPath(_ application: ConnectionsApplication?) -> String? {
        streamView.map { view in
            let last = self == .status ? "@status" : application?.streamName ?? "@all"
            return "/connections/opensocial/basic/rest/activitystreams/\(view)/\(last)"
        }
    }
}

/// An application that updates come from.
enum ConnectionsApplication: String, CaseIterable, Sendable {
    case activities, blogs, bookmarks, communities, files, forums, profiles, wikis

    /// The name in Search and in the stream, where bookmarks have the application's old name.
    var streamName: String { self == .bookmarks ? "dogear" : rawValue }
}
