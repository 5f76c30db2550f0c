// SPDX-License-Identifier: Apache-2.0

/// A resource of IBM Lotus / HCL Connections that lists updates.
enum ConnectionsResource: String, CaseIterable, Sendable {
    case `public`, person, status, newsfeed, top, community, saved, search, responses, actions, mentions

    /// The path in the Updates API, under the News application, or in the Search API; nil where the stream alone has the view.
    var atomPath: String? {
        switch self {
        case .public: "/news/atom/stories/public"
        case .person: "/news/atom/stories/public/person"
        case .status: "/news/atom/stories/statusupdates"
        case .newsfeed, .top, .community, .saved: "/news/atom/stories/\(rawValue)"
        case .search: "/search/atom/search/results"
        case .responses, .actions, .mentions: nil
        }
    }

    /// User and group of the activity stream; nil where it has no such view.
    private var streamView: String? {
        switch self {
        case .public, .person, .status: "@public/@all"
        case .newsfeed, .community: "@me/@all"
        case .saved, .responses, .actions, .mentions: "@me/@\(rawValue)"
        case .top, .search: nil
        }
    }

    /// What stands in the place of an application and leaves no room for one; nil where an application may be named.
    private var streamSubject: String? {
        switch self {
        case .status: "@status"
        case .community: "@communities"
        default: nil
        }
    }

    /// Whether updates of one application can be requested from the stream's view.
    func streamTakesApplication(community: String?) -> Bool { streamSubject == nil || community != nil }

    /// Returns the path of the later JSON activity stream. Its part `basic` selects basic authentication.
    ///
    /// - Parameter community: the id of the one community whose own stream is read.
    func streamPath(_ application: ConnectionsApplication?, community: String?) -> String? {
        let name = application?.streamName ?? "@all"
        let view: String? =
            if let community {
                "urn:lsid:lconn.ibm.com:communities.community:\(community)/@all/\(name)"
            } else {
                streamView.map { "\($0)/\(streamSubject ?? name)" }
            }
        return view.map { "/connections/opensocial/basic/rest/activitystreams/\($0)" }
    }
}

/// An application that updates come from.
enum ConnectionsApplication: String, CaseIterable, Sendable {
    case activities, blogs, bookmarks, communities, files, forums, profiles, wikis

    /// The name in Search and in the stream, where bookmarks have the application's old name.
    var streamName: String { self == .bookmarks ? "dogear" : rawValue }
}
