// SPDX-License-Identifier: Apache-2.0

/// The names that servers give to members.
enum JSONNames {
    static func steps(_ path: String) -> [String] { path.split(separator: ".").map(String.init) }

    /// The name of a field for a member: letters, digits and `_`.
    static func fieldName(_ member: String) -> String {
        String(member.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    static let id = [
        "id", "uid", "uuid", "guid", "gid", "fingerprint", "key", "metadata.uid", "_id", "identifier", "data.id", "sku",
    ]
    static let foreign: Set<String> = [
        "parent", "owner", "user", "group", "project", "author", "account", "tenant", "creator", "template", "session",
    ]
    static let key = [
        "name", "metadata.name", "full_name", "display_name", "displayName",
        "slug",
        "url", "unescapedUrl", "href", "link",
    ]
    static let keyPairs = [
        ["type", "id"], ["kind", "id"], ["namespace", "name"], ["metadata.namespace", "metadata.name"],
        ["host", "name"], ["node", "checkid"], ["vhost", "name"],
    ]
    static let title = [
        "display_title", "title", "name", "display_name", "displayName", "metadata.name", "summary", "subject",
        "full_name", "message", "label", "attributes.friendly_name", "attributes.name", "attributes.title",
        "data.title",
        "annotations.summary", "labels.alertname", "labels.instance", "labels.name", "names.0", "tag_name", "index",
        "text",
        "description", "external_desc", "content", "title.$", "name.$",
    ]
    static let state = [
        "currentstatus", "status", "state", "state_string", "attrs.state", "phase", "health", "status.phase",
        "status.state", "status.health", "status.health.status", "status.value", "attributes.status",
        "attributes.state", "laststatus",
        "status.indicator", "health.status", "lifecycle", "stage", "conclusion", "result", "most_recent_update.status",
    ]
    /// Truth values that say how a thing is, also as `isOpen` and `is_open`.
    static let flags = [
        "connected", "healthy", "sealed", "online", "offline", "ready", "running", "alive", "in_stock", "inStock",
        "onlineAvailability", "available", "open", "up", "ok", "active", "enabled",
    ].flatMap { [$0, "is" + $0, "is_" + $0] }
    /// What is a state of some things, as a job's `color`, and of others a quality that stays.
    static let qualities = ["color", "condition"]
    static let link = [
        "html_url", "web_url", "webUrl", "permalink", "shortlink", "links.html.href", "_links.html.href",
        "_links.web.href",
        "link", "url", "href", "unescapedUrl", "self", "data.permalink",
    ]
    static let time = [
        "updated_at", "updatedAt", "updated", "modified", "last_modified", "modified_at", "finished", "published_at",
        "published", "date_published", "created_at", "createdAt", "created", "metadata.creationTimestamp", "time",
        "timestamp",
        "date", "started_at", "startDate", "lastScrape", "activeAt", "last_changed", "last_updated", "mtime", "clock",
        "attributes.updated_at", "attributes.last_checked_at",
    ]
    static let fields: [(name: String, path: String)] = [
        ("branch", "head_branch"), ("branch", "branch"), ("branch", "ref"), ("environment", "environment"),
        ("namespace", "metadata.namespace"), ("project", "project.name"), ("node", "node"), ("owner", "owner.login"),
        ("owner", "owner"), ("author", "author.name"), ("author", "author.login"), ("author", "user.login"),
        ("author", "author"), ("actor", "actor.login"), ("assignee", "assignee.login"), ("priority", "priority"),
        ("severity", "severity"), ("impact", "impact"), ("type", "type"), ("version", "version"),
    ]
}
